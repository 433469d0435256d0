// thrust::complex<T>, as far as kernel bodies use it.
#ifndef STANDIN_COMPLEX_H
#define STANDIN_COMPLEX_H

namespace thrust {

template <typename T>
class __align__(2 * sizeof(T)) complex {
 public:
  typedef T value_type;

  complex() = default;  // holds anything
  __device__ complex(T re, T im = T()) : re_(re), im_(im) {}
  template <typename U>
  __device__ complex(const complex<U> &z)
      : re_(static_cast<T>(z.real())), im_(static_cast<T>(z.imag())) {}

  __device__ T real() const { return re_; }
  __device__ T imag() const { return im_; }
  __device__ void real(T value) { re_ = value; }
  __device__ void imag(T value) { im_ = value; }

  __device__ complex &operator+=(complex z) { return *this = *this + z; }
  __device__ complex &operator-=(complex z) { return *this = *this - z; }
  __device__ complex &operator*=(complex z) { return *this = *this * z; }
  __device__ complex &operator/=(complex z) { return *this = *this / z; }

 private:
  T re_, im_;
};

// The other operand is complex or a number of the same T: `2 * z` compiles as little as in CuPy.
#define STANDIN_OPERATOR(result, op, A, B, value)                              \
  template <typename T>                                                        \
  __device__ result operator op(const A &a, const B &b) {                      \
    return value;                                                              \
  }
#define STANDIN_ARITHMETIC(op, A, B, re, im) \
  STANDIN_OPERATOR(complex<T>, op, A, B, (complex<T>(re, im)))
STANDIN_ARITHMETIC(+, complex<T>, complex<T>, a.real() + b.real(), a.imag() + b.imag())
STANDIN_ARITHMETIC(+, complex<T>, T, a.real() + b, a.imag())
STANDIN_ARITHMETIC(+, T, complex<T>, a + b.real(), b.imag())
STANDIN_ARITHMETIC(-, complex<T>, complex<T>, a.real() - b.real(), a.imag() - b.imag())
STANDIN_ARITHMETIC(-, complex<T>, T, a.real() - b, a.imag())
STANDIN_ARITHMETIC(-, T, complex<T>, a - b.real(), -b.imag())
STANDIN_ARITHMETIC(*, complex<T>, complex<T>, a.real() * b.real() - a.imag() * b.imag(),
                   a.real() * b.imag() + a.imag() * b.real())
STANDIN_ARITHMETIC(*, complex<T>, T, a.real() * b, a.imag() * b)
STANDIN_ARITHMETIC(*, T, complex<T>, a * b.real(), a * b.imag())
STANDIN_ARITHMETIC(/, complex<T>, T, a.real() / b, a.imag() / b)
STANDIN_OPERATOR(complex<T>, /, T, complex<T>, complex<T>(a) / b)
STANDIN_OPERATOR(bool, ==, complex<T>, complex<T>, a.real() == b.real() && a.imag() == b.imag())
STANDIN_OPERATOR(bool, ==, complex<T>, T, a == complex<T>(b))
STANDIN_OPERATOR(bool, ==, T, complex<T>, complex<T>(a) == b)
STANDIN_OPERATOR(bool, !=, complex<T>, complex<T>, !(a == b))
STANDIN_OPERATOR(bool, !=, complex<T>, T, !(a == b))
STANDIN_OPERATOR(bool, !=, T, complex<T>, !(a == b))

// Smith's division: scaled by the larger part of b, so that |b|**2 cannot overflow.
template <typename T> __device__ complex<T> operator/(const complex<T> &a, const complex<T> &b) {
  const T re = b.real(), im = b.imag();
  if ((re < 0 ? -re : re) >= (im < 0 ? -im : im)) {
    const T ratio = im / re, scale = re + im * ratio;
    return complex<T>((a.real() + a.imag() * ratio) / scale, (a.imag() - a.real() * ratio) / scale);
  }
  const T ratio = re / im, scale = re * ratio + im;
  return complex<T>((a.real() * ratio + a.imag()) / scale, (a.imag() * ratio - a.real()) / scale);
}
template <typename T> __device__ complex<T> operator+(const complex<T> &a) { return a; }
template <typename T> __device__ complex<T> operator-(const complex<T> &a) {
  return complex<T>(-a.real(), -a.imag());
}

template <typename T> __device__ T real(const complex<T> &z) { return z.real(); }
template <typename T> __device__ T imag(const complex<T> &z) { return z.imag(); }
template <typename T> __device__ T abs(const complex<T> &z) {
  return static_cast<T>(::hypot(z.real(), z.imag()));
}
template <typename T> __device__ T arg(const complex<T> &z) {
  return static_cast<T>(::atan2(z.imag(), z.real()));
}
template <typename T> __device__ T norm(const complex<T> &z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <typename T> __device__ complex<T> conj(const complex<T> &z) {
  return complex<T>(z.real(), -z.imag());
}
template <typename T> __device__ complex<T> polar(T radius, T angle = T()) {
  return complex<T>(static_cast<T>(radius * ::cos(angle)), static_cast<T>(radius * ::sin(angle)));
}

// The C library's: right where a part is infinite or very large, as thrust's are.
#ifdef STANDIN_NVRTC  // only a check, which knows no such functions
#define STANDIN_COMPLEX(name) \
  template <typename T> __device__ complex<T> name(const complex<T> &z) { return z; }
#else
#define STANDIN_COMPLEX(name)                                                  \
  template <typename T> __device__ complex<T> name(const complex<T> &z) {      \
    __complex__ double w;                                                      \
    __real__ w = z.real(), __imag__ w = z.imag();                              \
    w = __builtin_c##name(w);                                                  \
    return complex<T>(static_cast<T>(__real__ w), static_cast<T>(__imag__ w)); \
  }
#endif
STANDIN_COMPLEX(exp)
STANDIN_COMPLEX(log)
STANDIN_COMPLEX(sqrt)
STANDIN_COMPLEX(sin)
STANDIN_COMPLEX(cos)
STANDIN_COMPLEX(tan)
STANDIN_COMPLEX(sinh)
STANDIN_COMPLEX(cosh)
STANDIN_COMPLEX(tanh)
#undef STANDIN_COMPLEX
template <typename T> __device__ complex<T> pow(const complex<T> &z, const complex<T> &w) {
  return exp(log(z) * w);  // of 0 to the power 0, no number
}
template <typename T> __device__ complex<T> pow(const complex<T> &z, T w) {
  return exp(log(z) * w);
}

}  // namespace thrust

// CuPy's header makes these names global too.
using thrust::complex;
using thrust::arg;
using thrust::conj;
using thrust::cos;
using thrust::cosh;
using thrust::exp;
using thrust::imag;
using thrust::log;
using thrust::real;
using thrust::sin;
using thrust::sinh;
using thrust::tan;
using thrust::tanh;
template <typename T> __device__ bool isnan(const complex<T> &z) {
  return isnan(z.real()) || isnan(z.imag());
}
template <typename T> __device__ bool isinf(const complex<T> &z) {
  return isinf(z.real()) || isinf(z.imag());
}
template <typename T> __device__ bool isfinite(const complex<T> &z) {
  return isfinite(z.real()) && isfinite(z.imag());
}

#endif
