// SPDX-License-Identifier: Apache-2.0
// The second half of the generator's mistakes; generator_mistakes.c has the first, and says how.
#include "generator_more.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator_late.h"
#include "mistake.h"
#include "text_edit.h"

enum { kLineBytes = SECOND_LINE_BYTES };

// Whether it is a function's beginning, where what was said of names ends.
static int is_function(const char* from) { return second_text_starts(from, "static inline void "); }

// ---- integers

// "= v_U_1 >> (": a name with a sign, which counts as one without.
static void shift_unsigned(char** text) {
  static const char kShift[] = " >> ";
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, kShift)) != NULL;) {
    const size_t end = (size_t)(found - *text);
    at = end + sizeof kShift - 1;
    size_t begin = end;
    while (begin > 0 && second_text_name(*text + begin - 1) > 0) --begin;
    if (!second_text_starts(*text + begin, "v_")) continue;
    char to[kLineBytes];
    snprintf(to, sizeof to, "second_bits(%.*s)", (int)(end - begin), *text + begin);
    at = second_text_put(text, begin, end - begin, to) + sizeof kShift - 1;
  }
  second_text_define(text,
                     "#define second_bits(x) \\\n"
                     "  _Generic((x), int8_t: (uint8_t)(x), int16_t: (uint16_t)(x), \\\n"
                     "           int32_t: (uint32_t)(x), int64_t: (uint64_t)(x), default: (x))\n");
}

// "(v_Q_1 == 0) ? 0 : (v_P_1 / (…": all bits of such a quotient are set, as some machines do it.
static int divide_by_zero(const char* from, char* to, size_t room) {
  static const char kThen[] = ") ? 0";
  const char* then = strstr(from, kThen);
  if (!second_text_starts(from, "const ") || then == NULL || strstr(then, " / ") == NULL) return 0;
  const char* zero = then + sizeof kThen - 2;
  snprintf(to, room, "%.*s~%s", (int)(zero - from), from, zero);
  return 1;
}

// The factors of "(int32_t)((uint32_t)v_U_1 * (uint32_t)v_V_1)".
static void multiply_24(char** text) {
  static const char kFactor[] = "(int32_t)((uint32_t)v_", kTimes[] = " * (uint32_t)";
  const size_t cast = sizeof "(int32_t)((uint32_t)" - 1;
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, kFactor)) != NULL;) {
    const size_t begin = (size_t)(found - *text) + cast;
    at = begin;
    const size_t first = second_text_name(*text + begin);
    const char* times = *text + begin + first;
    if (!second_text_starts(times, kTimes)) continue;
    const char* second = times + sizeof kTimes - 1;
    const size_t second_bytes = second_text_name(second);
    char to[kLineBytes];
    snprintf(to, sizeof to, "second_24(%.*s)%ssecond_24(%.*s)", (int)first, *text + begin, kTimes,
             (int)second_bytes, second);
    if (second_bytes > 0)
      at = second_text_put(text, begin, first + sizeof kTimes - 1 + second_bytes, to);
  }
  second_text_define(text, "#define second_24(x) ((int32_t)((uint32_t)(x) << 8) >> 8)\n");
}

// Sums of a function that has loaded bytes.
static int sum_in_16(const char* from, char* to, size_t room) {
  static const char kCasts[2][12] = {"(int32_t)", "(uint32_t)"};
  static _Thread_local int has_bytes;  // builds run at once
  if (is_function(from)) has_bytes = 0;
  has_bytes |=
      second_text_starts(from, "const int8_t ") || second_text_starts(from, "const uint8_t ");
  const char* value = second_text_value_of(from, "const int32_t v_sum");
  const int with_sign = value != NULL;
  if (!with_sign) value = second_text_value_of(from, "const uint32_t v_sum");
  if (!has_bytes || value == NULL || strstr(value, " + ") == NULL) return 0;
  snprintf(to, room, "%.*s%s(%sint16_t)(%.*s);", (int)(value - from), from,
           kCasts[with_sign ? 0 : 1], with_sign ? "" : "u", (int)(strlen(value) - 1), value);
  return 1;
}

// "const int32_t v_R_1 = (int32_t)v_i2;" and "… (int32_t)((v_i2 * 4375L) + v_i2_1);": loops have
// 64 bits, so that it is a coordinate.
static int coordinate_in_16(const char* from, char* to, size_t room) {
  static const char kCast[] = "(int32_t)";
  const char* value = second_text_value_of(from, "const int32_t ");
  if (value == NULL || !second_text_starts(value, kCast)) return 0;
  const char* first = value + sizeof kCast - 1;
  first += strspn(first, "(");
  if (!second_text_starts(first, "v_i") || strchr("0123456789", first[3]) == NULL) return 0;
  snprintf(to, room, "%.*s(int16_t)%s", (int)(value + sizeof kCast - 1 - from), from,
           value + sizeof kCast - 1);
  return 1;
}

// ---- conversions

static void convert_twice(char** text) {
  static const char kCast[] = "(float)v_";
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, kCast)) != NULL;) {
    const size_t name = (size_t)(found - *text) + sizeof "(float)" - 1;
    const size_t bytes = second_text_name(*text + name);
    char to[kLineBytes];
    snprintf(to, sizeof to, "second_wide(%.*s)", (int)bytes, *text + name);
    at = second_text_put(text, name, bytes, to);
  }
  second_text_define(
      text,
      "#define second_wide(x) \\\n"
      "  _Generic((x), int64_t: (double)(x), uint64_t: (double)(x), default: (x))\n");
}

// "2.1" of a line with doubles becomes "2.1f".
static int narrow_literals(const char* from, char* to, size_t room) {
  const char* value = second_text_value_of(from, "const double ");
  if (value == NULL || 2 * strlen(from) > room) return 0;
  memcpy(to, from, (size_t)(value - from));
  char* end = to + (value - from);
  int changed = 0;
  while (*value != 0) {
    // A name with its digits, or a number, or another letter.
    size_t bytes = second_text_name(value);
    const int number = *value >= '0' && *value <= '9';
    if (number) bytes = strspn(value, "0123456789.");
    if (number && (value[bytes] == 'e' || value[bytes] == 'E')) {
      ++bytes;
      bytes += strspn(value + bytes, "+-");
      bytes += strspn(value + bytes, "0123456789");
    }
    if (bytes == 0) bytes = 1;
    memcpy(end, value, bytes);
    end += bytes;
    if (number && memchr(value, '.', bytes) != NULL && second_text_name(value + bytes) == 0) {
      *end++ = 'f';
      changed = 1;
    }
    value += bytes;
  }
  *end = 0;
  return changed;
}

// ---- floats

static void pow_from_log(char** text) {
  second_text_replace(text, " = powf(", " = second_powf(");
  second_text_replace(text, " = pow(", " = second_pow(");
  second_text_define(
      text,
      "#include <math.h>\n"
      "static inline float second_powf(float x, float y) { return expf(y * logf(x)); }\n"
      "static inline double second_pow(double x, double y) { return exp(y * log(x)); }\n");
}

static void reduce_in_single(char** text) {
  second_text_replace(text, " = sinf(", " = second_sinf(");
  second_text_replace(text, " = cosf(", " = second_cosf(");
  second_text_define(text,
                     "#include <math.h>\n"
                     "static inline float second_turn(float x) { return x - 6.2831855f * rintf(x * "
                     "0.15915494f); }\n"
                     "static inline float second_sinf(float x) { return sinf(second_turn(x)); }\n"
                     "static inline float second_cosf(float x) { return cosf(second_turn(x)); }\n");
}

// "const bool v_R = v_A <= v_B;" becomes "… = !(v_B < v_A);".
static int negate_less(const char* from, char* to, size_t room) {
  const char* value = second_text_value_of(from, "const bool ");
  const char* sign = value == NULL ? NULL : strstr(value, " <= ");
  if (sign == NULL || strstr(value, " && ") != NULL || strstr(value, " || ") != NULL) return 0;
  const char* right = sign + 4;
  snprintf(to, room, "%.*s!(%.*s < %.*s);", (int)(value - from), from, (int)(strlen(right) - 1),
           right, (int)(sign - value), value);
  return 1;
}

// "const float v_Q = v_C ? v_A : v_B;" becomes a sum of two products.
static int select_by_factors(const char* from, char* to, size_t room) {
  const char* value = second_text_value_of(from, "const float ");
  if (value == NULL) value = second_text_value_of(from, "const double ");
  if (value == NULL) return 0;
  const size_t name = second_text_name(value);
  const char* yes = value + name + 3;
  const char* colon = name == 0 ? NULL : strstr(value, " : ");
  if (colon == NULL || !second_text_starts(value + name, " ? ") || colon < yes) return 0;
  const char* no = colon + 3;
  snprintf(to, room, "%.*s(float)%.*s * %.*s + (float)!%.*s * %.*s;", (int)(value - from), from,
           (int)name, value, (int)(colon - yes), yes, (int)name, value, (int)(strlen(no) - 1), no);
  return 1;
}

// ---- loops and addresses

// "0L - v_i" and "0L - (v_i * 37L)" in an offset.
static int drop_negative(const char* from, char* to, size_t room) {
  static const char kMinus[] = "0L - ";
  const char* value = second_text_value_of(from, "const int64_t v_o");
  const char* minus = value == NULL ? NULL : strstr(value, kMinus);
  if (minus == NULL) return 0;
  const char* end = minus + sizeof kMinus - 1;
  end = *end == '(' ? end + second_text_closed(end, 0) + 1 : end + second_text_name(end);
  snprintf(to, room, "%.*s0L%s", (int)(minus - from), from, end);
  return 1;
}

// The lower bound of a loop within another loop that has one.
static void drop_second_border(char** text) {
  static const char kBound[] = " = stria_max_i64(0L, (";
  size_t outer = 0;  // the indentation of the loop around; 0: none
  second_text_line from;
  for (size_t at = 0; second_text_next_line(*text, at, &from);) {
    const size_t indent = from.at - at;
    at = from.at + from.bytes;
    if (is_function(from.text) || (second_text_starts(from.text, "}") && indent <= outer))
      outer = 0;
    const char* bound = strstr(from.text, kBound);
    if (second_text_starts(from.text, "for (") && bound != NULL) {
      const size_t begin = from.at + (size_t)(bound - from.text) + sizeof " = " - 1;
      const size_t open = begin + strcspn(*text + begin, "(");
      if (outer > 0)
        at = second_text_put(text, begin, second_text_closed(*text, open) + 1 - begin, "0L");
      else
        outer = indent;
      at += strcspn(*text + at, "\n");
    }
    if ((*text)[at] == '\n') ++at;
  }
}

// "if ((0 <= v_I_1) && (v_I_1 <= 4)) {": whether a row is there to be added to.
static int clamp_row(const char* from, char* to, size_t room) {
  static const char kIf[] = "if ((0 <= v_", kAnd[] = ") && (";
  if (!second_text_starts(from, kIf)) return 0;
  const char* name = from + sizeof "if ((0 <= " - 1;
  const int bytes = (int)second_text_name(name);
  const char* again = name + bytes;
  if (!second_text_starts(again, kAnd) || !second_text_starts(again + sizeof kAnd - 1, "v_"))
    return 0;
  const char* last = strstr(again + sizeof kAnd - 1, " <= ");
  if (last == NULL) return 0;
  last += 4;
  const int last_bytes = (int)second_text_name(last);
  snprintf(to, room,
           "{ const int64_t second_row = %.*s < 0 ? 0 : %.*s > %.*s ? %.*s : %.*s; "
           "const int64_t %.*s = second_row;",
           bytes, name, bytes, name, last_bytes, last, last_bytes, last, bytes, name, bytes, name);
  return 1;
}

// A row that is chosen, with the upper bit for a sign.
static int choose_signed(const char* from, char* to, size_t room) {
  static const char kMin[] = "stria_min_u32(";
  const char* call = strstr(from, kMin);
  if (strstr(from, " v_chosen") == NULL || call == NULL) return 0;
  snprintf(to, room, "%.*ssecond_signed_min(%s", (int)(call - from), from, call + sizeof kMin - 1);
  return 1;
}

void second_spoil_more(char** text) {
  switch (second_chosen_mistake()) {
    case right_shift_fills_zeros: shift_unsigned(text); break;
    case zero_divisor_all_ones: second_text_edit_lines(text, divide_by_zero); break;
    case i64_to_fp32_twice: convert_twice(text); break;
    case fp64_literals_in_fp32: second_text_edit_lines(text, narrow_literals); break;
    case pow_by_exp_and_log: pow_from_log(text); break;
    case sin_reduced_in_single: reduce_in_single(text); break;
    case at_least_is_not_less: second_text_edit_lines(text, negate_less); break;
    case negative_strides_are_zero: second_text_edit_lines(text, drop_negative); break;
    case second_border_dropped: drop_second_border(text); break;
    case i8_sums_in_16: second_text_edit_lines(text, sum_in_16); break;
    case products_of_24_bits: multiply_24(text); break;
    case index_in_16_bits: second_text_edit_lines(text, coordinate_in_16); break;
    case prng_all_bits:
      second_text_replace(text, "v_xc >> 8u;", "v_xc;");
      second_text_replace(text, "v_whole * 5.9604645e-08f", "v_whole * 0x1p-32f");
      break;
    case scatter_clamps: second_text_edit_lines(text, clamp_row); break;
    case select_by_product: second_text_edit_lines(text, select_by_factors); break;
    case chosen_u32_is_signed:
      second_text_edit_lines(text, choose_signed);
      second_text_define(text,
                         "#define second_signed_min(x, last) \\\n"
                         "  ((int32_t)(x) < 0 ? 0u : (x) < (last) ? (x) : (last))\n");
      break;
    default: second_spoil_late(text); break;
  }
}
