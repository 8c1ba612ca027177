/* What the functions below need beside C99's library. Text that is included twice defines it once. */
#ifndef ELEMWISE_SUPPORT
#define ELEMWISE_SUPPORT

/* A float as an integer: cut off, the range saturates, NaN gives 0. `below` is the greatest double
   under the range, or its least value; `above` the first one over it, or its greatest value. */
#define ELEMWISE_TO_INTEGER(T, NAME, MIN, MAX, below, above) \
  static inline T elemwise_to_##NAME(double x) { \
    return x != x ? 0 : x <= (below) ? (MIN) : x >= (above) ? (MAX) : (T)x; \
  }
ELEMWISE_TO_INTEGER(int8_t, int8, INT8_MIN, INT8_MAX, -128.0, 127.0)
ELEMWISE_TO_INTEGER(int16_t, int16, INT16_MIN, INT16_MAX, -32768.0, 32767.0)
ELEMWISE_TO_INTEGER(int32_t, int32, INT32_MIN, INT32_MAX, -2147483648.0, 2147483647.0)
ELEMWISE_TO_INTEGER(int64_t, int64, INT64_MIN, INT64_MAX, -0x1p63, 0x1p63)
ELEMWISE_TO_INTEGER(uint8_t, uint8, 0, UINT8_MAX, 0.0, 255.0)
ELEMWISE_TO_INTEGER(uint16_t, uint16, 0, UINT16_MAX, 0.0, 65535.0)
ELEMWISE_TO_INTEGER(uint32_t, uint32, 0, UINT32_MAX, 0.0, 4294967295.0)
ELEMWISE_TO_INTEGER(uint64_t, uint64, 0, UINT64_MAX, 0.0, 0x1p64)

/* Floor division of integers, and what it leaves over: 0 if the divisor is 0. */
static inline int64_t elemwise_int_div(int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (y == -1) return (int64_t)(0 - (uint64_t)x);
  return x / y - ((x % y != 0) & ((x < 0) != (y < 0)));
}
static inline int64_t elemwise_mod(int64_t x, int64_t y) {
  if (y == 0 || y == -1) return 0;
  int64_t rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
static inline uint64_t elemwise_int_div_u(uint64_t x, uint64_t y) { return y ? x / y : 0; }
static inline uint64_t elemwise_mod_u(uint64_t x, uint64_t y) { return y ? x % y : 0; }

/* Powers of integers wrap around; to a negative power 1 is 1, -1 is 1 or -1, others are 0. */
static inline uint64_t elemwise_pow_u(uint64_t x, uint64_t y) {
  uint64_t power = 1;
  for (; y; y >>= 1, x *= x)
    if (y & 1) power *= x;
  return power;
}
static inline int64_t elemwise_pow(int64_t x, int64_t y) {
  if (y >= 0) return (int64_t)elemwise_pow_u((uint64_t)x, (uint64_t)y);
  return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
}

/* Of either float type; `F(name)` is C's function for it. */
#define ELEMWISE_FLOATS(T, NAME, F) \
  static inline T elemwise_##NAME##_maximum(T x, T y) { \
    if (x != x) return x; \
    if (y != y) return y; \
    return x > y ? x : y > x ? y : signbit(x) ? y : x; \
  } \
  static inline T elemwise_##NAME##_minimum(T x, T y) { \
    if (x != x) return x; \
    if (y != y) return y; \
    return x < y ? x : y < x ? y : signbit(x) ? x : y; \
  } \
  static inline T elemwise_##NAME##_mod(T x, T y) { \
    T rest = F(fmod)(x, y); \
    if (rest == 0) return y < 0 ? -(T)0 : (T)0; \
    return rest != rest || (rest < 0) == (y < 0) ? rest : rest + y; \
  } \
  static inline T elemwise_##NAME##_int_div(T x, T y) { \
    if (y == 0) return x / y; \
    T rest = F(fmod)(x, y), whole = (x - rest) / y, down; \
    if (rest < 0 ? y > 0 : rest > 0 && y < 0) whole -= 1; \
    if (whole == 0) return x / y * 0; \
    down = F(floor)(whole); \
    return whole - down > (T)0.5 ? down + 1 : down; \
  } \
  static inline T elemwise_##NAME##_sigmoid(T x) { \
    double e = exp(-fabs((double)x)); \
    return (T)(x != x ? x : x < 0 ? e / (1 + e) : 1 / (1 + e)); \
  } \
  static inline T elemwise_##NAME##_softplus(T x) { \
    return (T)((x < 0 ? 0 : (double)x) + log1p(exp(-fabs((double)x)))); \
  }
#define ELEMWISE_DOUBLE(name) name
#define ELEMWISE_FLOAT(name) name##f
ELEMWISE_FLOATS(double, float64, ELEMWISE_DOUBLE)
ELEMWISE_FLOATS(float, float32, ELEMWISE_FLOAT)
#endif
