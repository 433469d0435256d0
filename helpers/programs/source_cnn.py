"""The network of chapter 50 with one layer as the blog post of 2020 wrote it.

Chapter 55 hunts for what makes it slow: whoever reads on knows the end of the story.
"""

import cupy as cp

from helpers.chapters.cnn_mnist import Network, PoolingLayer, build_cnn, col2im


class SourcePooling(PoolingLayer):
    """Chapter 50's layer, with the source's way back."""

    def backward(self, grad):
        """Return the gradient by the layer's input, (N, C, H, W), of `grad` (N, C, O_h, O_w)."""
        N, (C, H, W), G = len(grad), self.I_shape, grad.size
        grad_x = self.xp.zeros((G, self.pool**2), grad.dtype)
        grad_x[:, self.max_index] = grad.reshape(G, 1)
        grad_x = col2im(grad_x.T, (N * C, 1, H, W), **self.window)
        return grad_x.reshape(N, C, H, W)


def network_of_the_source(pooling=SourcePooling):
    """Return the network on the GPU, with the same first weights each time."""
    return build_cnn(Network((1, 28, 28), xp=cp), pooling=pooling)
