// What the body of an ElementwiseKernel or a ReductionKernel sees: CArray (an array with its shape
// and strides) and CIndexer (`_ind`). Every member is one 8-byte word, so the caller can build both
// as a row of integers. The same text is read by the C++ compiler and, as a check, by NVRTC.
#ifndef STANDIN_CARRAY_H
#define STANDIN_CARRAY_H

#include "complex.h"

class float16;  // only declared, as in CuPy's header: what float16.h has is for who includes that

#define M_PI 3.1415926535897932384626433832795

#define CUPY_FOR(i, n)                                                                   \
  for (ptrdiff_t i = static_cast<ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x;      \
       i < (n); i += static_cast<ptrdiff_t>(blockDim.x) * gridDim.x)

// An index outside a raw array reads or writes memory of somebody else on a GPU. Here the first one
// is recorded, the access goes to a scratch cell instead, and the caller raises.
#ifndef STANDIN_NVRTC  // defined for the check
struct CArrayRecord { ptrdiff_t found, parameter, axis, index, length; };
static CArrayRecord carray_record;
alignas(16) static char carray_scratch[64];

__attribute__((noinline, cold)) static void *carray_outside(
    ptrdiff_t parameter, ptrdiff_t axis, ptrdiff_t index, ptrdiff_t length) {
  if (!carray_record.found) carray_record = {1, parameter, axis, index, length};
  __builtin_memset(carray_scratch, 0xff, sizeof carray_scratch);
  return carray_scratch;
}
#define CARRAY_CHECK(axis, index, length)                                   \
  if (static_cast<size_t>(index) >= static_cast<size_t>(length))            \
    return *static_cast<T *>(carray_outside(parameter_, axis, index, length))
#else
#define CARRAY_CHECK(axis, index, length)
#endif

template <typename T, int _ndim, bool _c_contiguous = false, bool _use_32bit_indexing = false>
class CArray {
 public:
  static const int ndim = _ndim;
  static const int rank = _ndim > 0 ? _ndim : 1;  // C++ has no arrays of length 0

  T *data_;
  ptrdiff_t size_, shape_[rank], strides_[rank], parameter_;

  __device__ ptrdiff_t size() const { return size_; }
  __device__ const ptrdiff_t *shape() const { return shape_; }
  __device__ const ptrdiff_t *strides() const { return strides_; }  // in bytes

  // x[i]: the i-th element in C order, whatever the strides are.
  __device__ T &operator[](ptrdiff_t i) { return flat(i); }
  __device__ const T &operator[](ptrdiff_t i) const { return flat(i); }

  // x[{i, j}], or x[idx] with an array of ndim integers.
  template <typename Int, int N>
  __device__ T &operator[](const Int (&index)[N]) { return many(index); }
  template <typename Int, int N>
  __device__ const T &operator[](const Int (&index)[N]) const { return many(index); }

  // The element at a multi-index that is known to be inside: what a parameter without `raw` is.
  __device__ T &at(const ptrdiff_t (&index)[rank]) const {
    const ptrdiff_t *strides = strides_, *at = index;  // pointers: no test of each subscript
    if (ndim == 1 && _c_contiguous) return data_[*at];
    ptrdiff_t offset = 0;
    for (int axis = 0; axis < ndim; ++axis) offset += strides[axis] * at[axis];
    return element(offset);
  }

 private:
  __device__ T &element(ptrdiff_t offset) const {
    return *reinterpret_cast<T *>(
        const_cast<char *>(reinterpret_cast<const char *>(data_)) + offset);
  }

  __device__ T &flat(ptrdiff_t i) const {
    if (ndim == 0) return *data_;
    CARRAY_CHECK(-1, i, size_);
    if (_c_contiguous) return data_[i];
    const ptrdiff_t *shape = shape_, *strides = strides_;
    ptrdiff_t offset = 0;
    for (int axis = rank; --axis > 0;) {
      const ptrdiff_t quotient = i / shape[axis];
      offset += strides[axis] * (i - quotient * shape[axis]);
      i = quotient;
    }
    return element(offset + *strides * i);
  }

  template <typename Int, int N>
  __device__ T &many(const Int (&index)[N]) const {
    static_assert(N == rank, "the number of indices is not the array's ndim");
    const ptrdiff_t *shape = shape_, *strides = strides_;
    const Int *at = index;
    ptrdiff_t offset = 0;
    for (int axis = 0; axis < ndim; ++axis) {
      CARRAY_CHECK(axis, static_cast<ptrdiff_t>(at[axis]), shape[axis]);
      offset += strides[axis] * static_cast<ptrdiff_t>(at[axis]);
    }
    return element(offset);
  }
};

template <int _ndim, bool _use_32bit_indexing = false>
class CIndexer {
 public:
  static const int ndim = _ndim;
  static const int rank = _ndim > 0 ? _ndim : 1;

  ptrdiff_t size_, shape_[rank], index_[rank];

  __device__ ptrdiff_t size() const { return size_; }
  __device__ const ptrdiff_t (&get() const)[rank] { return index_; }

  __device__ void set(ptrdiff_t i) {
    if (size_ <= 0xffffffffLL) {
      split(static_cast<unsigned int>(i));  // 32-bit division costs a third of the 64-bit one
    } else {
      split(static_cast<unsigned long long>(i));
    }
  }

  // From one element to the next in C order, without a division.
  __device__ void next() {
    const ptrdiff_t *shape = shape_;
    ptrdiff_t *index = index_;
    for (int axis = rank - 1; axis > 0; --axis) {
      if (++index[axis] < shape[axis]) return;
      index[axis] = 0;
    }
    ++*index;
  }

 private:
  template <typename Unsigned>
  __device__ void split(Unsigned i) {
    const ptrdiff_t *shape = shape_;
    ptrdiff_t *index = index_;
    for (int axis = rank - 1; axis > 0; --axis) {
      const Unsigned length = static_cast<Unsigned>(shape[axis]), quotient = i / length;
      index[axis] = static_cast<ptrdiff_t>(i - quotient * length);
      i = quotient;
    }
    *index = static_cast<ptrdiff_t>(i);
  }
};

#endif
