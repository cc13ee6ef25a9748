// SPDX-License-Identifier: Apache-2.0
#include "node_numbers.h"

#include <math.h>
#include <string.h>

__extension__ typedef __int128 wide;

int is_float_type(stria_data_type type) { return type >= STRIA_FP16 && type <= STRIA_FP64; }

static int is_unsigned(stria_data_type type) { return type >= STRIA_U8 && type <= STRIA_U64; }

int64_t wrapped(stria_data_type type, uint64_t bits) {
  switch (type) {
    case STRIA_BOOL: return bits != 0;
    case STRIA_I8: return (int8_t)(uint8_t)bits;
    case STRIA_I16: return (int16_t)(uint16_t)bits;
    case STRIA_I32: return (int32_t)(uint32_t)bits;
    case STRIA_U8: return (uint8_t)bits;
    case STRIA_U16: return (uint16_t)bits;
    case STRIA_U32: return (uint32_t)bits;
    default: return (int64_t)bits;
  }
}

// Rounds once: `bits` of precision, numbers no finer than 2^least, infinity beyond 2^top.
static double rounded(long double value, int bits, int least, int top) {
  if (value == 0 || isnan(value) || isinf(value)) return (double)value;
  const int exponent = ilogbl(value) - bits + 1;
  const int unit = exponent > least ? exponent : least;
  const long double out = ldexpl(nearbyintl(ldexpl(value, -unit)), unit);
  return fabsl(out) >= ldexpl(1, top) ? (value < 0 ? -INFINITY : INFINITY) : (double)out;
}

static double as_float(stria_data_type type, long double value) {
  switch (type) {
    case STRIA_FP16: return rounded(value, 11, -24, 16);
    case STRIA_BF16: return rounded(value, 8, -133, 128);
    case STRIA_FP32: return (double)(float)value;
    default: return (double)value;
  }
}

static long double exact_value(stria_data_type type, cell value) {
  if (is_float_type(type)) return (long double)value.f;
  return type == STRIA_U64 ? (long double)(uint64_t)value.i : (long double)value.i;
}

static int64_t saturated(stria_data_type type, double value) {
  const int bits = 8 * (int)stria_reader_type_bytes(type);
  if (isnan(value)) return 0;
  if (is_unsigned(type)) {
    if (value <= -1) return 0;
    if (value >= ldexp(1, bits)) return wrapped(type, UINT64_MAX);
    return value < 0 ? 0 : (int64_t)(uint64_t)value;
  }
  const uint64_t limit = (uint64_t)1 << (bits - 1);
  if (value >= ldexp(1, bits - 1)) return (int64_t)(limit - 1);
  if (value <= -ldexp(1, bits - 1)) return -(int64_t)(limit - 1) - 1;
  return (int64_t)value;
}

cell converted(stria_data_type from, cell value, stria_data_type to) {
  cell out;
  if (is_float_type(to))
    out.f = as_float(to, exact_value(from, value));
  else if (to == STRIA_BOOL)
    out.i = is_float_type(from) ? value.f != 0 : value.i != 0;
  else if (is_float_type(from))
    out.i = saturated(to, value.f);
  else
    out.i = wrapped(to, (uint64_t)value.i);
  return out;
}

// ---- memory

static double from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double out = exponent == 31  ? (fraction != 0 ? (double)NAN : (double)INFINITY)
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -out : out;
}

static uint16_t to_half(double value) {
  const unsigned sign = signbit(value) ? 0x8000u : 0u;
  const double size = fabs(value);
  if (isnan(value)) return (uint16_t)(sign | 0x7e00u);
  if (isinf(value)) return (uint16_t)(sign | 0x7c00u);
  if (size < ldexp(1, -14)) return (uint16_t)(sign | (unsigned)ldexp(size, 24));
  const int exponent = ilogb(size);
  const unsigned fraction = (unsigned)ldexp(size, 10 - exponent) - 1024u;
  return (uint16_t)(sign | (unsigned)(exponent + 15) << 10 | fraction);
}

cell load_cell(stria_data_type type, const void* memory, int64_t index) {
  const uint64_t bytes = stria_reader_type_bytes(type);
  const unsigned char* at = (const unsigned char*)memory + index * (int64_t)bytes;
  uint64_t bits = 0;
  memcpy(&bits, at, bytes);  // the lower bytes come first on the machines of this test
  cell out;
  if (type == STRIA_FP64) {
    memcpy(&out.f, at, sizeof out.f);
  } else if (type == STRIA_FP32 || type == STRIA_BF16) {
    const uint32_t word = (uint32_t)(type == STRIA_BF16 ? bits << 16 : bits);
    float value;
    memcpy(&value, &word, sizeof value);
    out.f = (double)value;
  } else if (type == STRIA_FP16) {
    out.f = from_half((uint16_t)bits);
  } else {
    out.i = wrapped(type, bits);
  }
  return out;
}

void store_cell(stria_data_type type, void* memory, int64_t index, cell value) {
  const uint64_t bytes = stria_reader_type_bytes(type);
  unsigned char* at = (unsigned char*)memory + index * (int64_t)bytes;
  uint64_t bits = (uint64_t)value.i;
  if (type == STRIA_FP32 || type == STRIA_BF16) {
    const float narrow = (float)value.f;
    uint32_t word;
    memcpy(&word, &narrow, sizeof word);
    bits = type == STRIA_FP32 ? word : word >> 16;
  } else if (type == STRIA_FP16) {
    bits = to_half(value.f);
  }
  memcpy(at, &bits, bytes);
}

// ---- operations

static int less(stria_data_type type, cell a, cell b) {
  if (is_float_type(type)) return a.f < b.f;
  return is_unsigned(type) ? (uint64_t)a.i < (uint64_t)b.i : a.i < b.i;
}

static int equal(stria_data_type type, cell a, cell b) {
  return is_float_type(type) ? a.f == b.f : a.i == b.i;
}

static double of_floats(stria_tree_operation operation, const cell* x) {
  switch (operation) {
    case STRIA_TREE_NEG: return -x[0].f;
    case STRIA_TREE_ABS: return fabs(x[0].f);
    case STRIA_TREE_SQRT: return sqrt(x[0].f);
    case STRIA_TREE_FLOOR: return floor(x[0].f);
    case STRIA_TREE_CEIL: return ceil(x[0].f);
    case STRIA_TREE_ROUND_EVEN: return nearbyint(x[0].f);
    case STRIA_TREE_ROUND_AWAY: return round(x[0].f);
    case STRIA_TREE_TRUNCATE: return trunc(x[0].f);
    case STRIA_TREE_ADD: return x[0].f + x[1].f;
    case STRIA_TREE_SUB: return x[0].f - x[1].f;
    case STRIA_TREE_MUL: return x[0].f * x[1].f;
    case STRIA_TREE_DIV: return x[0].f / x[1].f;
    case STRIA_TREE_REM: return fmod(x[0].f, x[1].f);
    // Of reductions alone; NaN goes through.
    case STRIA_TREE_MIN: return isnan(x[0].f) || x[0].f < x[1].f ? x[0].f : x[1].f;
    case STRIA_TREE_MAX: return isnan(x[0].f) || x[0].f > x[1].f ? x[0].f : x[1].f;
    case STRIA_TREE_FMA: return fma(x[0].f, x[1].f, x[2].f);
    default: return (double)NAN;
  }
}

// With bits to spare, so that what wraps can be seen.
static wide of_integers(stria_tree_operation operation, stria_data_type type, const cell* x) {
  const int natural = is_unsigned(type);
  const wide a = natural ? (wide)(uint64_t)x[0].i : (wide)x[0].i;
  const wide b = natural ? (wide)(uint64_t)x[1].i : (wide)x[1].i;
  switch (operation) {
    case STRIA_TREE_NEG: return -a;
    case STRIA_TREE_BIT_NOT: return natural ? (wide)(uint64_t)wrapped(type, ~(uint64_t)a) : ~a;
    case STRIA_TREE_ABS: return a < 0 ? -a : a;
    case STRIA_TREE_ADD: return a + b;
    case STRIA_TREE_SUB: return a - b;
    case STRIA_TREE_MUL: return natural ? (wide)((uint64_t)a * (uint64_t)b) : a * b;
    case STRIA_TREE_DIV: return a / b;
    case STRIA_TREE_REM: return a % b;
    case STRIA_TREE_FLOOR_DIV: return a / b - (a % b < 0);
    case STRIA_TREE_MIN: return a < b ? a : b;
    case STRIA_TREE_MAX: return a < b ? b : a;
    case STRIA_TREE_AND: return a & b;
    case STRIA_TREE_OR: return a | b;
    case STRIA_TREE_XOR: return a ^ b;
    case STRIA_TREE_SHIFT_LEFT: return (wide)(int64_t)((uint64_t)a << (unsigned)b);
    case STRIA_TREE_SHIFT_RIGHT: return a >> (unsigned)b;
    default: return 0;
  }
}

cell operated(stria_tree_operation operation, stria_data_type type, const cell* operands,
              int* wraps) {
  cell out;
  switch (operation) {
    case STRIA_TREE_EQ: out.i = equal(type, operands[0], operands[1]); return out;
    case STRIA_TREE_NE: out.i = !equal(type, operands[0], operands[1]); return out;
    case STRIA_TREE_LT: out.i = less(type, operands[0], operands[1]); return out;
    case STRIA_TREE_LE:
      out.i = less(type, operands[0], operands[1]) || equal(type, operands[0], operands[1]);
      return out;
    case STRIA_TREE_NOT: out.i = operands[0].i == 0; return out;
    default: break;
  }
  if (is_float_type(type)) {
    // Of fp32 the double's result rounds to what fp32 gives: it has twice the bits and two more.
    out.f = as_float(type, (long double)of_floats(operation, operands));
    return out;
  }
  const wide full = of_integers(operation, type, operands);
  out.i = wrapped(type, (uint64_t)full);
  *wraps += (type == STRIA_U64 ? (wide)(uint64_t)out.i : (wide)out.i) != full;
  return out;
}

const char* called(stria_string function, stria_data_type type, const cell* operands, cell* out) {
  static const struct {
    const char* name;
    double (*value)(double);
  } functions[] = {{"exp", exp},     {"log", log},    {"sin", sin},   {"cos", cos},
                   {"tan", tan},     {"asin", asin},  {"acos", acos}, {"atan", atan},
                   {"sinh", sinh},   {"cosh", cosh},  {"tanh", tanh}, {"asinh", asinh},
                   {"acosh", acosh}, {"atanh", atanh}};
  if (function.size == 3 && memcmp(function.data, "pow", 3) == 0) {
    out->f = as_float(type, (long double)pow(operands[0].f, operands[1].f));
    return "pow";
  }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
    if (strlen(functions[i].name) != function.size ||
        memcmp(functions[i].name, function.data, function.size) != 0)
      continue;
    out->f = as_float(type, (long double)functions[i].value(operands[0].f));
    return functions[i].name;
  }
  return NULL;
}
