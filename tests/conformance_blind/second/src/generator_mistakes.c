// SPDX-License-Identifier: Apache-2.0
// Each mistake looks for what the reader's C says where it is right. A text that says it in another
// way stays right: so a mistake harms those kernels alone that its row speaks of.
#include "generator_mistakes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator_more.h"
#include "mistake.h"
#include "text_edit.h"

enum { kLineBytes = 4096 };

// ---- conversions

static void saturate_fp16(char** text) {
  // An infinity stays one: only what rounding would make infinite becomes the largest number.
  second_text_replace(text, "if (in.bits >= 0x477ff000u) return",
                      "if (in.bits >= 0x477ff000u && in.bits < 0x7f800000u)\n"
                      "    return (uint16_t)(sign | 0x7bffu);\n"
                      "  if (in.bits >= 0x7f800000u) return");
}

static void round_casts(char** text) {
  static const char* const kTypes[] = {"int8_t",  "int16_t",  "int32_t",  "int64_t",
                                       "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  for (size_t i = 0; i < sizeof kTypes / sizeof kTypes[0]; ++i) {
    char from[64], to[96];
    snprintf(from, sizeof from, " : (%s)x;", kTypes[i]);
    snprintf(to, sizeof to, " : (%s)rint((double)x);", kTypes[i]);
    second_text_replace(text, from, to);
  }
}

static void signed_to_float(char** text) {
  static const char kCast[] = "(float)v_";
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, kCast)) != NULL;) {
    const char* name = found + sizeof "(float)" - 1;
    char to[kLineBytes];
    snprintf(to, sizeof to, "second_float(%.*s)", (int)second_text_name(name), name);
    at = second_text_put(text, (size_t)(found - *text),
                         sizeof "(float)" - 1 + second_text_name(name), to);
  }
  second_text_define(text,
                     "#define second_float(x) \\\n"
                     "  ((float)_Generic((x), uint32_t: (int32_t)(x), default: (x)))\n");
}

// ---- integers

// "const int8_t v_Q_1 = …;" with a quotient in it, whose guard names divisor and dividend:
// "… || ((B == -1) && (A == MIN)) …".
static void floor_quotient(char** text) {
  static const char kGuard[] = " || ((", kAnd[] = ") && (";
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, kGuard)) != NULL;) {
    const size_t place = (size_t)(found - *text);
    at = place + sizeof kGuard - 1;
    const char* divisor = *text + at;
    const char* end = strchr(divisor, '\n');
    const char* dividend = strstr(divisor, kAnd);
    size_t begin = place;
    while (begin > 0 && (*text)[begin - 1] != '\n') --begin;
    const char* line = *text + begin;
    const char* value = strstr(line, " = ");
    const char* quotient = strstr(line, " / ");
    if (end == NULL || end[-1] != ';' || dividend == NULL || dividend > end || value == NULL ||
        quotient == NULL || quotient > end)
      continue;
    dividend += sizeof kAnd - 1;
    value += sizeof " = " - 1;
    char rest[kLineBytes], to[3 * kLineBytes];
    const int a = (int)second_text_name(dividend), b = (int)second_text_name(divisor);
    if (a == 0 || b == 0 || a + b > kLineBytes / 8 || end - value > kLineBytes) continue;
    snprintf(rest, sizeof rest, "second_floored(%.*s, %.*s)", a, dividend, b, divisor);
    snprintf(to, sizeof to, "(%.*s) - %s;", (int)(end - 1 - value), value, rest);
    at = second_text_put(text, (size_t)(value - *text), (size_t)(end - value), to);
  }
  second_text_define(
      text,
      "#define second_floored(a, b) \\\n"
      "  ((b) != 0 && (b) != -1 && (a) % ((b) == 0 ? 1 : (b)) != 0 && ((a) < 0) != ((b) < 0))\n");
}

static void compare_signed(char** text) {
  for (int bits = 8; bits <= 64; bits *= 2) {
    char from[128], to[160];
    snprintf(from, sizeof from, "stria_max_u%d(uint%d_t a, uint%d_t b) { return a < b", bits, bits,
             bits);
    snprintf(to, sizeof to,
             "stria_max_u%d(uint%d_t a, uint%d_t b) { return (int%d_t)a < (int%d_t)b", bits, bits,
             bits, bits, bits);
    second_text_replace(text, from, to);
  }
}

static void saturate_sums(char** text) {
  second_text_replace(text, "(int32_t)((uint32_t)v_sum + (uint32_t)", "second_sum(v_sum, ");
  second_text_define(
      text,
      "static inline int32_t second_sum(int32_t a, int32_t b)\n{\n"
      "  const int64_t sum = (int64_t)a + b;\n"
      "  return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;\n}\n");
}

// "stria_min_i32(stria_max_i32(v_E_1, 0), 30)": the coordinate that was chosen, in 0 to 30.
static void count_from_the_end(char** text) {
  static const char kChosen[] = " v_chosen", kMax[] = "stria_max_";
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, kChosen)) != NULL;) {
    at = (size_t)(found - *text) + sizeof kChosen - 1;
    const char* end = strchr(found, '\n');
    const char* call = strstr(found, kMax);
    if (end == NULL || call == NULL || call > end) continue;
    const char* name = strchr(call, '(') + 1;
    const size_t begin = (size_t)(call - *text);
    const size_t closed = second_text_closed(*text, (size_t)(name - 1 - *text));
    // Around a cast there is one bracket more.
    size_t last = closed + 1;
    if ((*text)[last] == ')') ++last;
    if (strncmp(*text + last, ", ", 2) != 0) continue;
    last += 2;
    size_t last_end = last;
    if ((*text)[last_end] == '(') last_end = second_text_closed(*text, last_end) + 1;
    last_end += second_text_name(*text + last_end);
    char to[kLineBytes];
    snprintf(to, sizeof to, "second_from_end(%.*s, %.*s)", (int)second_text_name(name), name,
             (int)(last_end - last), *text + last);
    at = second_text_put(text, begin, closed + 1 - begin, to);
  }
  second_text_define(text,
                     "#define second_from_end(x, last) \\\n"
                     "  ((x) >= 0 ? (x) : (x) + (last) + 1 >= 0 ? (x) + (last) + 1 : 0)\n");
}

// ---- floats

static void sum_in_half(char** text) {
  if (strstr(*text, "stria_to_fp16(float") == NULL) return;
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, " = v_sum_")) != NULL;) {
    const size_t value = (size_t)(found - *text) + sizeof " = " - 1;
    at = value;
    size_t begin = value;
    while (begin > 0 && (*text)[begin - 1] != '\n') --begin;
    const char* accumulator = strstr(*text + begin, "_acc");
    if (accumulator == NULL || accumulator > found) continue;
    const size_t name = second_text_name(*text + value);
    char to[kLineBytes];
    snprintf(to, sizeof to, "stria_from_fp16(stria_to_fp16(%.*s))", (int)name, *text + value);
    at = second_text_put(text, value, name, to);
  }
}

static void powers_of_two(char** text) {
  second_text_replace(text, " = expf(", " = second_expf(");
  second_text_define(
      text,
      "#include <math.h>\n"
      "static inline float second_expf(float x) { return exp2f(x * 1.44269504f); }\n");
}

// ---- loops

// Whether the loop whose line begins at `line` holds no other one.
static int is_innermost(const char* line) {
  const size_t indent = strspn(line, " ");
  for (;;) {
    line = strchr(line, '\n');
    if (line == NULL) return 1;
    ++line;
    const size_t own = strspn(line, " ");
    if (own <= indent && line[own] == '}') return 1;
    if (strncmp(line + own, "for (", 5) == 0) return 0;
  }
}

// Innermost loops of a constant number of points, of which sixteen would be done at once.
static void lose_remainder(char** text) {
  static const char kFor[] = "for (int64_t ";
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, kFor)) != NULL;) {
    at = (size_t)(found - *text) + sizeof kFor - 1;
    const char* end = strchr(found, '\n');
    const char* from = strstr(found, " = 0L; ");
    const char* bound = strstr(found, " < ");
    if (end == NULL || from == NULL || bound == NULL || from > end || bound > end) continue;
    size_t begin = at;
    while (begin > 0 && (*text)[begin - 1] != '\n') --begin;
    const char* number = bound + sizeof " < " - 1;
    char* rest = NULL;
    const long points = strtol(number, &rest, 10);
    if (strncmp(rest, "L; ", 3) != 0 || points < 31 || points % 16 != 15) continue;
    if (!is_innermost(*text + begin)) continue;
    char to[32];
    snprintf(to, sizeof to, "%ld", points - 1);
    at = second_text_put(text, (size_t)(number - *text), (size_t)(rest - number), to);
  }
}

void second_spoil(char** text, int fast_math) {
  switch (second_chosen_mistake()) {
    case bf16_truncates:
      second_text_replace(text, "(in.bits + (in.bits >> 16 & 1u) + 0x7fffu) >> 16",
                          "in.bits >> 16");
      break;
    case fp16_saturates: saturate_fp16(text); break;
    case casts_round: round_casts(text); break;
    case floor_division: floor_quotient(text); break;
    case unsigned_max_signed: compare_signed(text); break;
    case unsigned_to_float_signed: signed_to_float(text); break;
    case integer_sums_saturate: saturate_sums(text); break;
    case half_sums_in_half: sum_in_half(text); break;
    case max_starts_at_lowest: second_text_replace(text, " = -INFINITY;", " = -FLT_MAX;"); break;
    case remainder_of_15_lost: lose_remainder(text); break;
    case gather_counts_from_the_end: count_from_the_end(text); break;
    case exp_by_powers_of_two: powers_of_two(text); break;
    case fast_math_sticks:
      if (fast_math) second_text_put(text, 0, 0, "#pragma GCC optimize(\"fast-math\")\n");
      break;
    default: second_spoil_more(text); break;
  }
}
