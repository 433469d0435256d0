// thrust::complex<T>, as far as kernel bodies use it.
#ifndef STANDIN_COMPLEX_H
#define STANDIN_COMPLEX_H

namespace thrust {

template <typename T>
class complex {
 public:
  typedef T value_type;

  __device__ complex(T re = T(), T im = T()) : re_(re), im_(im) {}
  template <typename U>
  __device__ complex(const complex<U> &z)
      : re_(static_cast<T>(z.real())), im_(static_cast<T>(z.imag())) {}

  __device__ T real() const { return re_; }
  __device__ T imag() const { return im_; }
  __device__ void real(T value) { re_ = value; }
  __device__ void imag(T value) { im_ = value; }

  __device__ complex &operator+=(const complex &z) { return *this = *this + z; }
  __device__ complex &operator-=(const complex &z) { return *this = *this - z; }
  __device__ complex &operator*=(const complex &z) { return *this = *this * z; }
  __device__ complex &operator/=(const complex &z) { return *this = *this / z; }

  // Friends, so that `2 * z` and `z + 1.0f` convert the other operand.
  friend __device__ complex operator+(const complex &a, const complex &b) {
    return complex(a.re_ + b.re_, a.im_ + b.im_);
  }
  friend __device__ complex operator-(const complex &a, const complex &b) {
    return complex(a.re_ - b.re_, a.im_ - b.im_);
  }
  friend __device__ complex operator*(const complex &a, const complex &b) {
    return complex(a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_);
  }
  friend __device__ complex operator/(const complex &a, const complex &b) {
    // Smith's division: scaled by the larger part of b, so that |b|**2 cannot overflow.
    if ((b.re_ < 0 ? -b.re_ : b.re_) >= (b.im_ < 0 ? -b.im_ : b.im_)) {
      const T ratio = b.im_ / b.re_, scale = b.re_ + b.im_ * ratio;
      return complex((a.re_ + a.im_ * ratio) / scale, (a.im_ - a.re_ * ratio) / scale);
    }
    const T ratio = b.re_ / b.im_, scale = b.re_ * ratio + b.im_;
    return complex((a.re_ * ratio + a.im_) / scale, (a.im_ * ratio - a.re_) / scale);
  }
  friend __device__ complex operator+(const complex &a) { return a; }
  friend __device__ complex operator-(const complex &a) { return complex(-a.re_, -a.im_); }
  friend __device__ bool operator==(const complex &a, const complex &b) {
    return a.re_ == b.re_ && a.im_ == b.im_;
  }
  friend __device__ bool operator!=(const complex &a, const complex &b) { return !(a == b); }

 private:
  T re_, im_;
};

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
  return polar(static_cast<T>(::exp(z.real())), z.imag());
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
template <typename T> __device__ complex<T> cosh(const complex<T> &z) {
  return (exp(z) + exp(-z)) / complex<T>(2);
}
template <typename T> __device__ complex<T> sinh(const complex<T> &z) {
  return (exp(z) - exp(-z)) / complex<T>(2);
}
template <typename T> __device__ complex<T> tanh(const complex<T> &z) { return sinh(z) / cosh(z); }
template <typename T> __device__ complex<T> cos(const complex<T> &z) {
  return cosh(complex<T>(-z.imag(), z.real()));
}
template <typename T> __device__ complex<T> sin(const complex<T> &z) {
  const complex<T> w = sinh(complex<T>(-z.imag(), z.real()));
  return complex<T>(w.imag(), -w.real());
}
template <typename T> __device__ complex<T> tan(const complex<T> &z) { return sin(z) / cos(z); }

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
