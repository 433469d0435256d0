// CuPy's <cupy/complex.cuh>: thrust::complex<T>, its operators and functions. The same text is read
// by the C++ compiler and, as a check, by NVRTC.
#ifndef STANDIN_COMPLEX_H
#define STANDIN_COMPLEX_H

// Of the macros of the C library, those that CuPy's header has.
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define FLT_MANT_DIG 24
#define FLT_MAX_EXP 128
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MANT_DIG 53
#define DBL_MAX_EXP 1024

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
  __device__ T real() const volatile { return re_; }
  __device__ T imag() const volatile { return im_; }
  __device__ void real(T value) volatile { re_ = value; }
  __device__ void imag(T value) volatile { im_ = value; }

  __device__ complex &operator+=(complex z) { return *this = *this + z; }
  __device__ complex &operator-=(complex z) { return *this = *this - z; }
  __device__ complex &operator*=(complex z) { return *this = *this * z; }
  __device__ complex &operator/=(complex z) { return *this = *this / z; }

 private:
  T re_, im_;
};

// The other operand is complex or a number of the same T: `2 * z` compiles as little as in CuPy.
// Both parts of one are read at once, as a GPU does.
#define STANDIN_OPERATOR(result, op, A, B, value)                              \
  template <typename T>                                                        \
  __device__ result operator op(const A &left, const B &right) {               \
    const A a = left;                                                          \
    const B b = right;                                                         \
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
#define STANDIN_COMPARISON(op, value)                           \
  STANDIN_OPERATOR(bool, op, complex<T>, complex<T>, value)     \
  STANDIN_OPERATOR(bool, op, complex<T>, T, a op complex<T>(b)) \
  STANDIN_OPERATOR(bool, op, T, complex<T>, complex<T>(a) op b)
STANDIN_COMPARISON(==, a.real() == b.real() && a.imag() == b.imag())
STANDIN_COMPARISON(!=, !(a == b))
// NumPy's order: by the real parts, and where they are equal by the imaginary ones.
STANDIN_COMPARISON(<, a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag()))
STANDIN_COMPARISON(>, b < a)
STANDIN_COMPARISON(<=, a < b || a == b)
STANDIN_COMPARISON(>=, b <= a)

// As CuPy has it: scaled by |re| + |im|, so that |b|**2 cannot overflow, and NaN where that is infinite.
template <typename T> __device__ complex<T> standin_quotient(complex<T> a, complex<T> b) {
  const T scale = T(1) / (::fabs(b.real()) + ::fabs(b.imag()));
  const complex<T> p = a * scale, q = b * scale;
  const T whole = T(1) / (q.real() * q.real() + q.imag() * q.imag());
  return complex<T>((p.real() * q.real() + p.imag() * q.imag()) * whole,
                    (p.imag() * q.real() - p.real() * q.imag()) * whole);
}
STANDIN_OPERATOR(complex<T>, /, complex<T>, complex<T>, standin_quotient(a, b))
template <typename T> __device__ complex<T> operator+(const complex<T> &a) { return a; }
template <typename T> __device__ complex<T> operator-(const complex<T> &right) {
  const complex<T> a = right;
  return complex<T>(-a.real(), -a.imag());
}

template <typename T> __device__ T real(const complex<T> &z) { return z.real(); }
template <typename T> __device__ T imag(const complex<T> &z) { return z.imag(); }
template <typename T> __device__ T abs(const complex<T> &given) {
  const complex<T> z = given;
  return static_cast<T>(::hypot(z.real(), z.imag()));
}
template <typename T> __device__ T arg(const complex<T> &given) {
  const complex<T> z = given;
  return static_cast<T>(::atan2(z.imag(), z.real()));
}
template <typename T> __device__ T norm(const complex<T> &given) {
  const complex<T> z = given;
  return z.real() * z.real() + z.imag() * z.imag();
}
template <typename T> __device__ complex<T> conj(const complex<T> &given) {
  const complex<T> z = given;
  return complex<T>(z.real(), -z.imag());
}
template <typename T> __device__ complex<T> proj(const complex<T> &z) {  // of infinities: one
  return isinf(z.real()) || isinf(z.imag()) ? complex<T>(abs(z), ::copysign(T(), z.imag())) : z;
}
template <typename T> __device__ complex<T> polar(const T &radius, const T &angle = T()) {
  return complex<T>(static_cast<T>(radius * ::cos(angle)), static_cast<T>(radius * ::sin(angle)));
}

// The C library's functions of a complex number, of both precisions. NVRTC, which has none and runs
// nothing here, sees that they are declared.
#ifndef STANDIN_NVRTC
template <typename C, typename T> inline C standin_c(const complex<T> &given) {
  const complex<T> z = given;
  C value;
  __real__ value = z.real();
  __imag__ value = z.imag();
  return value;
}
#define STANDIN_PRECISION(name, T, function)                                       \
  template <> __device__ inline complex<T> name(const complex<T> &z) {             \
    const auto value = __builtin_##function(standin_c<T _Complex>(z));             \
    return complex<T>(__real__ value, __imag__ value);                             \
  }
#define STANDIN_FUNCTION(name)                                                     \
  template <typename T> __device__ complex<T> name(const complex<T> &z);           \
  STANDIN_PRECISION(name, double, c##name)                                         \
  STANDIN_PRECISION(name, float, c##name##f)
#else
#define STANDIN_FUNCTION(name) \
  template <typename T> __device__ complex<T> name(const complex<T> &z) { return z; }
#endif
STANDIN_FUNCTION(exp)
STANDIN_FUNCTION(log)
STANDIN_FUNCTION(sqrt)
STANDIN_FUNCTION(sin)
STANDIN_FUNCTION(cos)
STANDIN_FUNCTION(tan)
STANDIN_FUNCTION(sinh)
STANDIN_FUNCTION(cosh)
STANDIN_FUNCTION(tanh)
STANDIN_FUNCTION(asin)
STANDIN_FUNCTION(acos)
STANDIN_FUNCTION(atan)
STANDIN_FUNCTION(asinh)
STANDIN_FUNCTION(acosh)
STANDIN_FUNCTION(atanh)
template <typename T> __device__ complex<T> log10(const complex<T> &z) {
  return log(z) / T(2.30258509299404568402);
}

// As CuPy has it: 0 to the power 0 is NaN. A number of another type is taken as the larger of both,
// and where that is an integer CuPy computes in integers, which nobody means.
template <typename T, typename U, bool = (sizeof(T) > sizeof(U))> struct standin_larger {
  typedef T type;
};
template <typename T, typename U> struct standin_larger<T, U, false> {
  typedef U type;
};
template <typename T> __device__ complex<T> pow(const complex<T> &z, const complex<T> &w) {
  return exp(log(z) * w);
}
template <typename T> __device__ complex<T> pow(const complex<T> &z, const T &w) {
  return exp(log(z) * w);
}
template <typename T> __device__ complex<T> pow(const T &x, const complex<T> &w) {
  return exp(::log(x) * w);
}
template <typename T, typename U>
__device__ complex<typename standin_larger<T, U>::type> pow(const complex<T> &z, const U &w) {
  typedef typename standin_larger<T, U>::type Larger;
  static_assert(Larger(1) / 2 != 0, "pow would be computed in integers: give both the same type");
  return pow(complex<Larger>(z), static_cast<Larger>(w));
}
template <typename T, typename U>
__device__ complex<typename standin_larger<T, U>::type> pow(const T &x, const complex<U> &w) {
  typedef typename standin_larger<T, U>::type Larger;
  static_assert(Larger(1) / 2 != 0, "pow would be computed in integers: give both the same type");
  return pow(static_cast<Larger>(x), complex<Larger>(w));
}

}  // namespace thrust

// CuPy's header makes these names global too, and adds some.
using thrust::complex;
using thrust::acos;
using thrust::acosh;
using thrust::arg;
using thrust::asin;
using thrust::asinh;
using thrust::atan;
using thrust::atanh;
using thrust::conj;
using thrust::cos;
using thrust::cosh;
using thrust::exp;
using thrust::imag;
using thrust::log;
using thrust::log10;
using thrust::real;
using thrust::sin;
using thrust::sinh;
using thrust::tan;
using thrust::tanh;
template <typename T> __device__ bool isnan(complex<T> z) {
  return isnan(z.real()) || isnan(z.imag());
}
template <typename T> __device__ bool isinf(complex<T> z) {
  return isinf(z.real()) || isinf(z.imag());
}
template <typename T> __device__ bool isfinite(complex<T> z) {
  return isfinite(z.real()) && isfinite(z.imag());
}
// With complex numbers throughout, which shows in zeros' signs and where a part is infinite.
template <typename T> __device__ complex<T> log1p(complex<T> z) { return log(z += 1); }
template <typename T> __device__ complex<T> log2(complex<T> z) { return log(z) /= log(T(2)); }
template <typename T> __device__ complex<T> expm1(complex<T> z) { return exp(z) -= 1; }
template <typename T> __device__ complex<T> rint(complex<T> z) {
  return complex<T>(rint(z.real()), rint(z.imag()));
}
// A NaN gives the other number.
template <typename T> __device__ complex<T> min(complex<T> a, complex<T> b) {
  return isnan(a) || (!isnan(b) && !(a < b)) ? b : a;
}
template <typename T> __device__ complex<T> max(complex<T> a, complex<T> b) {
  return isnan(a) || (!isnan(b) && a < b) ? b : a;
}

#endif
