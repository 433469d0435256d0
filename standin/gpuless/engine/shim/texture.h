// Textures and surfaces: memory that is read by coordinates, through an object that says how.
//
// An object is the address of a StandinTexture in device memory, which cupy/cuda/texture.py fills.
#pragma once
#include "bits.h"

typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

enum StandinObject : long long { STANDIN_DESTROYED, STANDIN_TEXTURE = 0x7e81de5c7e81de5c, STANDIN_SURFACE };
enum StandinAddressMode { STANDIN_WRAP, STANDIN_CLAMP, STANDIN_MIRROR, STANDIN_BORDER };
enum StandinFormat { STANDIN_SIGNED, STANDIN_UNSIGNED, STANDIN_FLOAT };

struct StandinTexture {
    long long object;  // a StandinObject
    char *data;
    long long stride[3];  // bytes from one texel to the next along x, y and z
    double border[4];     // the channels of what lies beyond an edge
    int size[3];          // texels
    int dimensions;       // 0: linear memory
    int bits, channels, format;  // bits of one channel; a StandinFormat
    int address_mode[3];
    int linear;      // whether neighbours are blended
    int normalized;  // whether coordinates run from 0 to 1
    int to_float;    // whether integers are read as numbers from 0, or -1, to 1
};

// The line of a call. A type of its own: no argument of the reader's becomes one.
struct StandinLine {
    int number;
};
#define STANDIN_CALLED StandinLine line = {__builtin_LINE()}

// What a surface may hold; and a texture, of `count` parts.
template <class T>
struct StandinStored;
template <class T>
struct StandinTexel;
#define STANDIN_STORED(T)      \
    template <>                \
    struct StandinStored<T> {  \
        typedef T type;        \
        typedef void nothing;  \
    };
#define STANDIN_TEXEL(T, Part, parts)   \
    STANDIN_STORED(T)                   \
    template <>                         \
    struct StandinTexel<T> {            \
        typedef T type;                 \
        typedef Part part;              \
        static const int count = parts; \
    };
#define STANDIN_TEXELS(name, Part) \
    STANDIN_TEXEL(Part, Part, 1)   \
    STANDIN_TEXEL(name##1, Part, 1) STANDIN_TEXEL(name##2, Part, 2) STANDIN_TEXEL(name##4, Part, 4)
STANDIN_TEXEL(char, char, 1)
STANDIN_TEXELS(char, signed char)
STANDIN_TEXELS(uchar, unsigned char)
STANDIN_TEXELS(short, short)
STANDIN_TEXELS(ushort, unsigned short)
STANDIN_TEXELS(int, int)
STANDIN_TEXELS(uint, unsigned int)
STANDIN_TEXELS(float, float)
STANDIN_STORED(long long)
STANDIN_STORED(unsigned long long)
STANDIN_STORED(longlong1)
STANDIN_STORED(ulonglong1)
STANDIN_STORED(longlong2)
STANDIN_STORED(ulonglong2)

inline const StandinTexture &standin_object(unsigned long long handle, StandinObject kind, int dimensions,
                                            const char *what, int line) {
    const StandinTexture *object = (const StandinTexture *)handle;
    const char *wanted = kind == STANDIN_TEXTURE ? "texture" : "surface";
    if (!handle || handle % 8 || object->object != kind)
        standin_fail(STANDIN_FAULT, "line %d: %s is given %llu, which is no %s object that is alive", line, what,
                     handle, wanted);
    if (object->dimensions != dimensions)
        standin_fail(STANDIN_FAULT, "line %d: %s of a %s of %c dimensions (0: linear memory, for tex1Dfetch)", line,
                     what, wanted, '0' + object->dimensions);
    return *object;
}

template <class T>
const StandinTexture &standin_texture(unsigned long long handle, int dimensions, const char *what, int line) {
    const StandinTexture &t = standin_object(handle, STANDIN_TEXTURE, dimensions, what, line);
    const int bits = 8 * sizeof(typename StandinTexel<T>::part), count = StandinTexel<T>::count;
    const bool wants = StandinKind<typename StandinTexel<T>::part>::value == 'f';
    const bool gives = t.format == STANDIN_FLOAT || t.to_float;
    if (wants != gives)
        standin_fail(STANDIN_FAULT, "line %d: %s reads %s as %s: a GPU hands over their bits as they are", line, what,
                     gives ? "floating-point numbers" : "integers", wants ? "floating-point numbers" : "integers");
    if (count > t.channels || (!gives && bits < t.bits))
        standin_fail(STANDIN_FAULT, "line %d: %s reads %d of %d bits from a texture with channels of %d, %d bits each",
                     line, what, count, bits, t.channels, t.bits);
    return t;
}

inline double standin_channel(const StandinTexture &t, const char *p) {
    double value = 0;
    switch (t.bits | t.format) {
        case 8 | STANDIN_SIGNED: value = *(const signed char *)p; break;
        case 8 | STANDIN_UNSIGNED: value = *(const unsigned char *)p; break;
        case 16 | STANDIN_SIGNED: value = *(const short *)p; break;
        case 16 | STANDIN_UNSIGNED: value = *(const unsigned short *)p; break;
        case 16 | STANDIN_FLOAT: return standin_half_to_float(*(const unsigned short *)p);
        case 32 | STANDIN_SIGNED: value = *(const int *)p; break;
        case 32 | STANDIN_UNSIGNED: value = *(const unsigned int *)p; break;
        case 32 | STANDIN_FLOAT: return *(const float *)p;
    }
    if (t.to_float) value /= (1ll << (t.bits - (t.format == STANDIN_SIGNED))) - 1;
    return t.to_float && value < -1 ? -1 : value;
}

inline void standin_part(double x, float &part) { part = (float)x; }
template <class Part>
void standin_part(double x, Part &part) {
    part = (Part)(long long)x;
}
template <class T>
T standin_texel(const double *channels) {
    typedef typename StandinTexel<T>::part Part;
    T made;
    for (int c = 0; c < StandinTexel<T>::count; ++c) standin_part(channels[c], reinterpret_cast<Part *>(&made)[c]);
    return made;
}

// The texel that stands for number i of n; -1: that is the border.
inline int standin_edge(long long i, int n, int mode) {
    if (i >= 0 && i < n) return (int)i;
    if (mode == STANDIN_BORDER) return -1;
    if (mode == STANDIN_CLAMP) return i < 0 ? 0 : n - 1;
    const int period = mode == STANDIN_MIRROR ? 2 * n : n;
    const int k = (int)(i % period + period) % period;
    return k < n ? k : period - 1 - k;
}

// Which texels count on one axis, and how much: of two, in units of 1/256.
struct StandinTaps {
    int at[2];
    double weight[2];
};
inline StandinTaps standin_taps(const StandinTexture &t, int axis, float x, const char *what, int line) {
    if (isnan(x)) standin_fail(STANDIN_FAULT, "line %d: %s at %c = NaN", line, what, "xyz"[axis]);
    const int n = t.size[axis], mode = t.address_mode[axis];
    double place = t.normalized ? (double)x * n : x;
    if (t.linear) place = (place - 0.5) * 256 + 0.5;
    place = floor(place);
    const double far = 0x1p62;
    long long i = (long long)(place < -far ? -far : place > far ? far : place);
    if (!t.linear) return {{standin_edge(i, n, mode), 0}, {1, 0}};
    const double second = (i & 255) / 256.0;
    i >>= 8;
    return {{standin_edge(i, n, mode), standin_edge(i + 1, n, mode)}, {1 - second, second}};
}

template <class T, int N>
T standin_sample(cudaTextureObject_t handle, const float (&x)[N], const char *what, int line) {
    const StandinTexture &t = standin_texture<T>(handle, N, what, line);
    StandinTaps taps[N];
    for (int axis = 0; axis < N; ++axis) taps[axis] = standin_taps(t, axis, x[axis], what, line);
    double sum[4] = {-0.0, -0.0, -0.0, -0.0};
    for (int corner = 0; corner < (t.linear ? 1 << N : 1); ++corner) {
        double weight = 1;
        long long offset = 0;
        bool outside = false;
        for (int axis = 0; axis < N; ++axis) {
            const int side = corner >> axis & 1, at = taps[axis].at[side];
            weight *= taps[axis].weight[side];
            offset += at * t.stride[axis];
            outside |= at < 0;
        }
        if (weight == 0) continue;
        for (int c = 0; c < t.channels; ++c)
            sum[c] += weight * (outside ? t.border[c] : standin_channel(t, t.data + offset + c * t.bits / 8));
    }
    return standin_texel<T>(sum);
}

// Beyond the end of linear memory there are zeros.
template <class T>
T standin_fetch(cudaTextureObject_t handle, int x, const char *what, int line) {
    const StandinTexture &t = standin_texture<T>(handle, 0, what, line);
    double channels[4] = {};
    if (x >= 0 && x < t.size[0])
        for (int c = 0; c < t.channels; ++c)
            channels[c] = standin_channel(t, t.data + x * t.stride[0] + c * t.bits / 8);
    return standin_texel<T>(channels);
}

// In brackets: the parameters, and the same as arguments.
#define STANDIN_BARE(...) __VA_ARGS__
#define STANDIN_READ(name, Object, Trait, parameters, read, arguments)                   \
    template <class T>                                                                   \
    typename Trait<T>::type name(Object object, STANDIN_BARE parameters, STANDIN_CALLED) { \
        return read;                                                                     \
    }                                                                                    \
    template <class T>                                                                   \
    typename StandinStored<T>::nothing name(T *to, Object object, STANDIN_BARE parameters, STANDIN_CALLED) { \
        *to = name<T>(object, STANDIN_BARE arguments, line);                             \
    }
#define STANDIN_SAMPLES(name, parameters, read, arguments) \
    STANDIN_READ(name, cudaTextureObject_t, StandinTexel, parameters, read, arguments)
STANDIN_SAMPLES(tex1Dfetch, (int x), standin_fetch<T>(object, x, "tex1Dfetch", line.number), (x))
STANDIN_SAMPLES(tex1D, (float x), (standin_sample<T, 1>(object, {x}, "tex1D", line.number)), (x))
STANDIN_SAMPLES(tex2D, (float x, float y), (standin_sample<T, 2>(object, {x, y}, "tex2D", line.number)), (x, y))
STANDIN_SAMPLES(tex3D, (float x, float y, float z),
                (standin_sample<T, 3>(object, {x, y, z}, "tex3D", line.number)), (x, y, z))

// Where an element of a surface lies, of which x counts the bytes; null where a boundary mode says so.
template <class T, int N>
char *standin_place(cudaSurfaceObject_t handle, const int (&x)[N], cudaSurfaceBoundaryMode mode, const char *what,
                    int line) {
    const StandinTexture &s = standin_object(handle, STANDIN_SURFACE, N, what, line);
    const int bytes = sizeof(T);
    if (x[0] % bytes)
        standin_fail(STANDIN_FAULT,
                     "line %d: %s at x = %d: it counts bytes, and is a multiple of the %d that are moved", line, what,
                     x[0], bytes);
    char *p = s.data;
    for (int axis = 0; axis < N; ++axis) {
        const long long stride = axis ? s.stride[axis] : bytes;
        const long long n = axis ? s.size[axis] : s.stride[0] * s.size[0] / bytes;
        long long i = axis ? x[axis] : x[0] / bytes;
        if (i < 0 || i >= n) {
            if (mode == cudaBoundaryModeZero) return nullptr;
            if (mode != cudaBoundaryModeClamp)
                standin_fail(STANDIN_FAULT,
                             "line %d: %s at %c = %d, outside the surface, which ends at %lld%s. A GPU stops the "
                             "whole program there",
                             line, what, "xyz"[axis], x[axis], axis ? n : n * bytes, axis ? "" : " bytes");
            i = i < 0 ? 0 : n - 1;
        }
        p += i * stride;
    }
    return p;
}
template <class T, int N>
T standin_load(cudaSurfaceObject_t handle, const int (&x)[N], cudaSurfaceBoundaryMode mode, const char *what,
               int line) {
    T value = {};
    if (const char *p = standin_place<T, N>(handle, x, mode, what, line)) __builtin_memcpy(&value, p, sizeof value);
    return value;
}

#define STANDIN_SURFACES(N, parameters, arguments)                                                     \
    STANDIN_READ(surf##N##Dread, cudaSurfaceObject_t, StandinStored,                                       \
                 (STANDIN_BARE parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap),           \
                 (standin_load<T, N>(object, {STANDIN_BARE arguments}, mode, "surf" #N "Dread", line.number)), \
                 (STANDIN_BARE arguments, mode))                                                           \
    template <class T>                                                                                     \
    typename StandinStored<T>::nothing surf##N##Dwrite(                                                    \
        T value, cudaSurfaceObject_t object, STANDIN_BARE parameters,                                      \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, STANDIN_CALLED) {                             \
        if (char *p = standin_place<T, N>(object, {STANDIN_BARE arguments}, mode, "surf" #N "Dwrite", line.number)) \
            __builtin_memcpy(p, &value, sizeof value);                                                     \
    }
STANDIN_SURFACES(1, (int x), (x))
STANDIN_SURFACES(2, (int x, int y), (x, y))
STANDIN_SURFACES(3, (int x, int y, int z), (x, y, z))
