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
template <typename T> __device__ complex<T> exp(const complex<T> &z) {
  const T size = static_cast<T>(::exp(z.real()));
  return z.imag() == 0 ? complex<T>(size, z.imag()) : polar(size, z.imag());
}
template <typename T> __device__ complex<T> log(const complex<T> &z) {
  return complex<T>(static_cast<T>(::log(abs(z))), arg(z));
}
template <typename T> __device__ complex<T> sqrt(const complex<T> &z) {
  return polar(static_cast<T>(::sqrt(abs(z))), arg(z) / 2);
}
template <typename T> __device__ complex<T> pow(const complex<T> &z, const complex<T> &w) {
  return z == complex<T>() ? complex<T>(w == complex<T>()) : exp(w * log(z));
}
template <typename T> __device__ complex<T> pow(const complex<T> &z, T w) {
  return pow(z, complex<T>(w));
}
// Of a real number real: an infinite cosh(x) times the sine of 0 would be no number.
template <typename T> __device__ complex<T> cosh(const complex<T> &z) {
  const T x = z.real(), y = z.imag();
  if (y == 0) return complex<T>(static_cast<T>(::cosh(x)), x * y);
  return complex<T>(static_cast<T>(::cosh(x) * ::cos(y)), static_cast<T>(::sinh(x) * ::sin(y)));
}
template <typename T> __device__ complex<T> sinh(const complex<T> &z) {
  const T x = z.real(), y = z.imag();
  if (y == 0) return complex<T>(static_cast<T>(::sinh(x)), y);
  return complex<T>(static_cast<T>(::sinh(x) * ::cos(y)), static_cast<T>(::cosh(x) * ::sin(y)));
}
// Kahan's formula; of a large real part what is left of it, where sinh(x) squared may be infinite.
template <typename T> __device__ complex<T> tanh(const complex<T> &z) {
  const T x = z.real(), y = z.imag(), size = x < 0 ? -x : x;
  if (size > 22) {
    const T sign = static_cast<T>(::copysign(T(1), x));
    return complex<T>(sign, static_cast<T>(4 * ::sin(y) * ::cos(y) * ::exp(-2 * size)));
  }
  const T t = static_cast<T>(::tan(y)), beta = 1 + t * t, s = static_cast<T>(::sinh(x));
  const T rho = static_cast<T>(::sqrt(1 + s * s)), scale = 1 + beta * s * s;
  return complex<T>(beta * rho * s / scale, t / scale);
}
template <typename T> __device__ complex<T> cos(const complex<T> &z) {
  return cosh(complex<T>(-z.imag(), z.real()));
}
template <typename T> __device__ complex<T> sin(const complex<T> &z) {
  const complex<T> w = sinh(complex<T>(-z.imag(), z.real()));
  return complex<T>(w.imag(), -w.real());
}
template <typename T> __device__ complex<T> tan(const complex<T> &z) {
  const complex<T> w = tanh(complex<T>(-z.imag(), z.real()));
  return complex<T>(w.imag(), -w.real());
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
