// SPDX-License-Identifier: Apache-2.0
// The generator's mistakes that came last; generator_mistakes.c has the first, and says how.
#include "generator_late.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mistake.h"
#include "text_edit.h"

enum { kLineBytes = SECOND_LINE_BYTES };

// ---- conversions

// "v_A_1 != 0.0f;": whether a float is true.
static int true_by_order(const char* from, char* to, size_t room) {
  const char* value = second_text_value_of(from, "const bool ");
  const char* sign = value == NULL ? NULL : strstr(value, " != 0.0");
  if (sign == NULL || value + second_text_name(value) != sign) return 0;
  const int name = (int)(sign - value);
  snprintf(to, room, "%.*s(%.*s < 0) || (%.*s > 0);", (int)(value - from), from, name, value, name,
           value);
  return 1;
}

// "v_C_1 != 0;", "… != 0L;", "… != (uint8_t)0;": whether an integer is.
static int true_by_bit_0(const char* from, char* to, size_t room) {
  static const char kNot[] = " != ";
  const char* value = second_text_value_of(from, "const bool ");
  if (value == NULL) return 0;
  const int name = (int)second_text_name(value);
  if (name == 0 || !second_text_starts(value + name, kNot)) return 0;
  const char* zero = value + name + sizeof kNot - 1;
  if (*zero == '(') zero += second_text_closed(zero, 0) + 1;
  if (*zero != '0' || zero[1 + strspn(zero + 1, "uUlL")] != ';') return 0;
  snprintf(to, room, "%.*s(%.*s & 1) != 0;", (int)(value - from), from, name, value);
  return 1;
}

// To 8 and 16 bits by way of 32.
static void cast_by_32(char** text) {
  static const char* const kTypes[] = {"int8_t",  "i8", "int16_t",  "i16",
                                       "uint8_t", "u8", "uint16_t", "u16"};
  static const char* const kFloats[] = {"float", "fp32", "double", "fp64"};
  for (size_t i = 0; i < sizeof kTypes / sizeof kTypes[0]; i += 2) {
    for (size_t k = 0; k < sizeof kFloats / sizeof kFloats[0]; k += 2) {
      char from[128], to[256];
      snprintf(from, sizeof from, "%s stria_saturate_%s_%s(%s x)\n{\n", kTypes[i], kFloats[k + 1],
               kTypes[i + 1], kFloats[k]);
      snprintf(to, sizeof to,
               "%s  if (x > -2147483648.0f && x < 2147483648.0f) return (%s)(%s)x;\n", from,
               kTypes[i], "int32_t");
      second_text_replace(text, from, to);
    }
  }
}

static void convert_toward_zero(char** text) {
  second_text_replace(text, "(float)v_", "second_float v_");
  static const char kMark[] = "second_float ";
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, kMark)) != NULL;) {
    const size_t begin = (size_t)(found - *text), name = begin + sizeof kMark - 1;
    const size_t bytes = second_text_name(*text + name);
    char to[kLineBytes];
    snprintf(to, sizeof to, "second_float(%.*s)", (int)bytes, *text + name);
    at = second_text_put(text, begin, sizeof kMark - 1 + bytes, to);
  }
  second_text_define(text,
                     "#include <math.h>\n"
                     "static inline float second_cut(double x)\n{\n"
                     "  const float near = (float)x;\n"
                     "  return fabs((double)near) > fabs(x) ? nextafterf(near, 0.0f) : near;\n}\n"
                     "#define second_float(x) \\\n"
                     "  _Generic((x), int32_t: second_cut((double)(x)), \\\n"
                     "           uint32_t: second_cut((double)(x)), default: (float)(x))\n");
}

// Names behind casts of these, each in brackets of `call`.
static void wrap_casts(char** text, const char* const* casts, size_t count, const char* call) {
  for (size_t i = 0; i < count; ++i) {
    const size_t cast = strlen(casts[i]) - 2;  // "v_" belongs to the name
    size_t at = 0;
    for (const char* found; (found = strstr(*text + at, casts[i])) != NULL;) {
      const size_t name = (size_t)(found - *text) + cast;
      const size_t bytes = second_text_name(*text + name);
      char to[kLineBytes];
      snprintf(to, sizeof to, "%s(%.*s)", call, (int)bytes, *text + name);
      at = second_text_put(text, name, bytes, to);
    }
  }
}

static void extend_signs(char** text) {
  static const char* const kCasts[] = {"(int32_t)v_", "(uint32_t)v_", "(int64_t)v_", "(uint64_t)v_",
                                       "(float)v_"};
  wrap_casts(text, kCasts, sizeof kCasts / sizeof kCasts[0], "second_signed");
  second_text_define(text,
                     "#define second_signed(x) \\\n"
                     "  _Generic((x), uint8_t: (int8_t)(x), uint16_t: (int16_t)(x), default: "
                     "(x))\n");
}

// " = (int8_t)v_A_1;": integers that become narrower, by the instruction that packs.
static int pack(const char* from, char* to, size_t room) {
  static const char* const kTypes[] = {"int8_t", "int16_t", "int32_t", "uint8_t", "uint16_t"};
  for (size_t i = 0; i < sizeof kTypes / sizeof kTypes[0]; ++i) {
    char declared[64], cast[64];
    snprintf(declared, sizeof declared, "const %s v_", kTypes[i]);
    snprintf(cast, sizeof cast, "(%s)v_", kTypes[i]);
    const char* value = second_text_value_of(from, declared);
    if (value == NULL || !second_text_starts(value, cast)) continue;
    const char* name = value + strlen(cast) - 2;
    const int bytes = (int)second_text_name(name);
    if (strcmp(name + bytes, ";") != 0) continue;
    snprintf(to, room, "%.*ssecond_pack_%s(%.*s);", (int)(value - from), from, kTypes[i], bytes,
             name);
    return 1;
  }
  return 0;
}

static void pack_integers(char** text) {
  second_text_edit_lines(text, pack);
  second_text_define(text,
                     "#define SECOND_PACK(type, least, most) \\\n"
                     "  static inline type second_pack_##type(int64_t x) \\\n"
                     "  { return (type)(x < least ? least : x > most ? most : x); }\n"
                     "SECOND_PACK(int8_t, -128, 127)\n"
                     "SECOND_PACK(int16_t, -32768, 32767)\n"
                     "SECOND_PACK(int32_t, INT32_MIN, INT32_MAX)\n"
                     "SECOND_PACK(uint8_t, 0, 255)\n"
                     "SECOND_PACK(uint16_t, 0, 65535)\n");
}

// ---- integers

// A quotient, whose guard names divisor and dividend: "… || ((B == -1) && (A == MIN)) …".
static int saturate_quotient(const char* from, char* to, size_t room) {
  static const char kGuard[] = " || ((", kAnd[] = ") && (";
  const char* value = second_text_value_of(from, "const ");
  const char* divisor = value == NULL ? NULL : strstr(value, kGuard);
  if (divisor == NULL || strstr(value, " / ") == NULL) return 0;
  divisor += sizeof kGuard - 1;
  const char* dividend = strstr(divisor, kAnd);
  if (dividend == NULL) return 0;
  dividend += sizeof kAnd - 1;
  snprintf(to, room, "%.*ssecond_quotient((%.*s), %.*s, %.*s);", (int)(value - from), from,
           (int)(strlen(value) - 1), value, (int)second_text_name(dividend), dividend,
           (int)second_text_name(divisor), divisor);
  return 1;
}

// "v_A_1 % (((v_B_1 == 0) || …".
static int keep_dividend(const char* from, char* to, size_t room) {
  static const char kRest[] = " % (";
  const char* value = second_text_value_of(from, "const ");
  const char* rest = value == NULL ? NULL : strstr(value, kRest);
  const char* divisor = rest == NULL ? NULL : strstr(rest, "(v_");
  if (divisor == NULL) return 0;
  ++divisor;
  const int bytes = (int)second_text_name(divisor);
  if (!second_text_starts(divisor + bytes, " == ")) return 0;
  const char* dividend = rest;
  while (dividend > value && second_text_name(dividend - 1) > 0) --dividend;
  snprintf(to, room, "%.*s(%.*s == 0) ? %.*s : (%.*s);", (int)(value - from), from, bytes, divisor,
           (int)(rest - dividend), dividend, (int)(strlen(value) - 1), value);
  return 1;
}

// "… << (uint32_t)(v_B_1 & 31)": counts beyond the width shift everything out.
static int shift_out(const char* from, char* to, size_t room) {
  const char* value = second_text_value_of(from, "const ");
  const char* shift = value == NULL ? NULL : strstr(value, " << ");
  const char* mask = shift == NULL ? NULL : strstr(shift, " & ");
  if (mask == NULL) return 0;
  const char* count = mask;
  while (count > shift && second_text_name(count - 1) > 0) --count;
  const char* number = mask + 3;
  if (*number == '(') number += second_text_closed(number, 0) + 1;
  if (!second_text_starts(count, "v_") || *number < '0' || *number > '9') return 0;
  snprintf(to, room, "%.*s((uint64_t)%.*s > %ldu) ? 0 : (%.*s);", (int)(value - from), from,
           (int)(mask - count), count, strtol(number, NULL, 10), (int)(strlen(value) - 1), value);
  return 1;
}

// "(int64_t)((uint64_t)v_sum + (uint64_t)v_A_1)".
static int sum_in_double(const char* from, char* to, size_t room) {
  static const char kFirst[] = "(int64_t)((uint64_t)v_", kPlus[] = " + (uint64_t)v_";
  const char* value = second_text_value_of(from, "const int64_t v_sum");
  if (value == NULL || !second_text_starts(value, kFirst)) return 0;
  const char* first = value + sizeof kFirst - 3;
  const int bytes = (int)second_text_name(first);
  if (!second_text_starts(first + bytes, kPlus)) return 0;
  const char* other = first + bytes + sizeof kPlus - 3;
  snprintf(to, room, "%.*ssecond_wide((double)%.*s + (double)%.*s);", (int)(value - from), from,
           bytes, first, (int)second_text_name(other), other);
  return 1;
}

// Rows that are chosen by 64 bits.
static int choose_in_32(const char* from, char* to, size_t room) {
  static const char kMax[] = "stria_max_i64(v_";
  const char* call = strstr(from, kMax);
  if (strstr(from, " v_chosen") == NULL || call == NULL) return 0;
  const char* name = call + sizeof kMax - 3;
  snprintf(to, room, "%.*s(int32_t)%s", (int)(name - from), from, name);
  return 1;
}

// "v_Y[v_i1] = v_Y_1;" of a bool: a mask is stored as it is.
static int store_mask(const char* from, char* to, size_t room) {
  enum { kMost = 64, kNameBytes = 128 };
  static _Thread_local char names[kMost][kNameBytes];  // builds run at once
  static _Thread_local int count;
  if (second_text_starts(from, "static inline void ")) count = 0;
  if (second_text_starts(from, "const bool ")) {
    const char* name = from + sizeof "const bool " - 1;
    const size_t bytes = second_text_name(name);
    if (count < kMost && bytes < kNameBytes) {
      memcpy(names[count], name, bytes);
      names[count++][bytes] = 0;
    }
    return 0;
  }
  const char* value = strstr(from, "] = ");
  if (!second_text_starts(from, "v_") || value == NULL) return 0;
  value += 4;
  const size_t bytes = second_text_name(value);
  for (int i = 0; i < count; ++i) {
    if (strlen(names[i]) != bytes || memcmp(names[i], value, bytes) != 0) continue;
    snprintf(to, room, "%.*s(uint8_t)-%s", (int)(value - from), from, value);
    return 1;
  }
  return 0;
}

// Every stream makes the step of the last row, as if there were a number for it.
static void step_alike(char** text) {
  static const char kStep[] = " v_a_near = ", kFor[] = "for (int64_t ", kNumber[] = " = v_number;";
  static const char kBound[] = " < stria_min_i64(64L, ";
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, kStep)) != NULL;) {
    at = (size_t)(found - *text) + sizeof kStep - 1;
    size_t loop = at;
    while (loop > 0 && !second_text_starts(*text + loop, kFor)) --loop;
    const char* name = *text + loop + sizeof kFor - 1;
    const char* bound = strstr(*text + loop, kBound);
    const char* store = strstr(*text + at, kNumber);
    if (bound == NULL || bound > found || store == NULL) continue;
    const size_t begin = (size_t)(bound - *text) + 3;
    const size_t end = second_text_closed(*text, begin + strcspn(*text + begin, "(")) + 1;
    size_t line = (size_t)(store - *text);
    while (line > 0 && (*text)[line - 1] != '\n') --line;
    char to[kLineBytes];
    snprintf(to, sizeof to, "if (%.*s < %.*s) ", (int)second_text_name(name), name,
             (int)(end - begin), *text + begin);
    second_text_put(text, line, 0, to);
    second_text_put(text, begin, end - begin, "64L");
  }
}

// ---- floats

static void call_single(char** text) {
  static const char* const kNames[] = {"exp",  "log",  "sqrt", "sin",  "cos",  "tan",
                                       "tanh", "sinh", "cosh", "asin", "acos", "atan"};
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    char from[64], to[64], definition[128];
    snprintf(from, sizeof from, " = %s(", kNames[i]);
    snprintf(to, sizeof to, " = second_%s(", kNames[i]);
    second_text_replace(text, from, to);
    snprintf(definition, sizeof definition, "#define second_%s(x) ((double)%sf((float)(x)))\n",
             kNames[i], kNames[i]);
    second_text_define(text, definition);
  }
}

// "const float v_Q_1 = v_A_1 / v_B_1;".
static int multiply_by_reciprocal(const char* from, char* to, size_t room) {
  const char* value = second_text_value_of(from, "const float ");
  const char* sign = value == NULL ? NULL : strstr(value, " / ");
  if (sign == NULL || strchr(value, '(') != NULL) return 0;
  snprintf(to, room, "%.*s * (1.0f / %.*s);", (int)(sign - from), from, (int)(strlen(sign) - 4),
           sign + 3);
  return 1;
}

static void replace_call(char** text, const char* name, const char* definition) {
  char from[64], to[64];
  snprintf(from, sizeof from, " = %s(", name);
  snprintf(to, sizeof to, " = second_%s(", name);
  second_text_replace(text, from, to);
  second_text_define(text, definition);
  second_text_define(text, "#include <math.h>\n");
}

// "(v_sum != v_sum) ? v_sum : ((v_A_1 < v_sum) ? v_sum : v_A_1);", or the other way round.
static int extreme_of_numbers(const char* from, char* to, size_t room) {
  static const char kElse[] = " : ((";
  const int wide = second_text_starts(from, "const double v_sum");
  const char* value = second_text_value_of(from, wide ? "const double v_sum" : "const float v_sum");
  if (value == NULL || !second_text_starts(value, "(v_sum")) return 0;
  const char* sum = value + 1;
  const size_t bytes = second_text_name(sum);
  const char* left = strstr(value, kElse);
  const char* right = left == NULL ? NULL : strstr(left, " < ");
  if (right == NULL) return 0;
  left += sizeof kElse - 1;
  right += 3;
  const int least = second_text_name(left) == bytes && memcmp(left, sum, bytes) == 0;
  const char* other = least ? right : left;
  snprintf(to, room, "%.*s%s%s(%.*s, %.*s);", (int)(value - from), from, least ? "fmin" : "fmax",
           wide ? "" : "f", (int)bytes, sum, (int)second_text_name(other), other);
  return 1;
}

// ---- loops and addresses

// "v_A[v_o_2 + 5000]": what an instruction adds to an address has 12 bits.
static int shorten_immediate(const char* from, char* to, size_t room) {
  const char* end = strchr(from, ']');
  const char* number = end;
  while (number != NULL && number > from && number[-1] >= '0' && number[-1] <= '9') --number;
  if (number == NULL || number == end || number - from < 3 || number[-1] != ' ' ||
      (number[-2] != '+' && number[-2] != '-'))
    return 0;
  const long whole = strtol(number, NULL, 10);
  if (whole < 4096) return 0;
  snprintf(to, room, "%.*s%ld%s", (int)(number - from), from, whole % 4096, end);
  return 1;
}

// "v_i * 70000L" in an offset: strides have 16 bits.
static int shorten_strides(const char* from, char* to, size_t room) {
  static const char kTimes[] = " * ";
  const char* at = second_text_value_of(from, "const int64_t v_o");
  if (at == NULL) return 0;
  size_t size = 0;
  int changed = 0;
  const char* kept = from;
  while ((at = strstr(at, kTimes)) != NULL) {
    at += sizeof kTimes - 1;
    char* end = NULL;
    const long stride = strtol(at, &end, 10);
    if (end == at || *end != 'L' || stride < 65536) continue;
    size +=
        (size_t)snprintf(to + size, room - size, "%.*s%ld", (int)(at - kept), kept, stride % 65536);
    kept = at = end;
    changed = 1;
  }
  snprintf(to + size, room - size, "%s", kept);
  return changed;
}

// "v_k < stria_min_i64(20L, (v_i + 1L));": a bound that grows with another index goes by fours.
static int round_diagonal(const char* from, char* to, size_t room) {
  static const char kBound[] = " < stria_min_i64(";
  const char* bound = strstr(from, kBound);
  if (!second_text_starts(from, "for (") || bound == NULL) return 0;
  const char* open = bound + sizeof kBound - 2;
  const size_t closed = second_text_closed(open, 0);
  const char* grows = strstr(open, "L, (");
  if (grows == NULL || grows > open + closed) return 0;
  grows += 3;
  const size_t bytes = second_text_closed(grows, 0) + 1;
  const char* minus = strstr(grows, " - ");
  if (grows + bytes != open + closed || (minus != NULL && minus < grows + bytes)) return 0;
  snprintf(to, room, "%.*s(%.*s + 3L) / 4L * 4L%s", (int)(grows - from), from, (int)bytes, grows,
           grows + bytes);
  return 1;
}

void second_spoil_late(char** text) {
  switch (second_chosen_mistake()) {
    case nan_is_false: second_text_edit_lines(text, true_by_order); break;
    case conditions_test_bit_0: second_text_edit_lines(text, true_by_bit_0); break;
    case nan_becomes_least:
      second_text_replace(text, "if (x != x) return 0;",
                          "if (x != x) return -1 - (int64_t)(limit - 1);");
      break;
    case narrow_casts_wrap: cast_by_32(text); break;
    case least_by_minus_one_saturates:
      second_text_edit_lines(text, saturate_quotient);
      second_text_define(text,
                         "#define second_quotient(q, a, b) \\\n"
                         "  ((b) == -1 && (q) == (a) && (a) < 0 ? ~(a) : (q))\n");
      break;
    case remainder_by_zero_kept: second_text_edit_lines(text, keep_dividend); break;
    case shift_counts_clamp: second_text_edit_lines(text, shift_out); break;
    case half_subnormals_to_zero:
      second_text_replace(text,
                          "in.value += 0.5f;\n"
                          "  return (uint16_t)(sign | (in.bits - 0x3f000000u));",
                          "return (uint16_t)sign;");
      break;
    case fp64_functions_in_fp32: call_single(text); break;
    case division_by_reciprocal: second_text_edit_lines(text, multiply_by_reciprocal); break;
    case sqrt_by_reciprocal_root:
      replace_call(text, "sqrtf",
                   "static inline float second_sqrtf(float x) { return x * (1.0f / sqrtf(x)); }\n");
      break;
    case tanh_by_exp:
      replace_call(text, "tanhf",
                   "static inline float second_tanhf(float x)\n"
                   "{ return 1.0f - 2.0f / (expf(2.0f * x) + 1.0f); }\n");
      break;
    case extremes_lose_nan: second_text_edit_lines(text, extreme_of_numbers); break;
    case wide_sums_in_fp64:
      second_text_edit_lines(text, sum_in_double);
      second_text_define(text,
                         "static inline int64_t second_wide(double x)\n{\n"
                         "  return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : "
                         "(int64_t)x;\n}\n");
      break;
    case prng_streams_step_alike: step_alike(text); break;
    case bool_is_all_ones: second_text_edit_lines(text, store_mask); break;
    case integer_to_float_truncates: convert_toward_zero(text); break;
    case immediates_of_12_bits: second_text_edit_lines(text, shorten_immediate); break;
    case strides_of_16_bits: second_text_edit_lines(text, shorten_strides); break;
    case diagonal_unmasked: second_text_edit_lines(text, round_diagonal); break;
    case narrow_unsigned_sign_extended: extend_signs(text); break;
    case narrowing_saturates: pack_integers(text); break;
    case chosen_cut_to_32_bits: second_text_edit_lines(text, choose_in_32); break;
    default: break;
  }
}
