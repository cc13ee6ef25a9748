// SPDX-License-Identifier: Apache-2.0
#include "generator_mistakes.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "mistake.h"

namespace stria::blind {
namespace {

using Lines = std::vector<std::string>;

// What the mistakes matrix_unit_rounds_operands and second_grid_limit are about.
constexpr int64_t kMatrixSide = 8;
constexpr int64_t kMostGroups = 65535;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

// "      2: $C = mul.fp32($A, $B)"; `type` is empty where the text has none: of loads and stores.
struct Operation {
  std::string indent, result, name, type;
  std::vector<std::string> operands;
};

bool read_operation(std::string_view line, Operation& out) {
  const size_t begin = line.find_first_not_of(' ');
  const size_t colon = line.find(": ");
  const size_t equals = line.find(" = ");
  if (begin == std::string_view::npos || !is_digit(line[begin]) ||
      colon == std::string_view::npos || equals == std::string_view::npos || colon > equals ||
      line.back() != ')')
    return false;
  const size_t open = line.find('(', equals);
  if (open == std::string_view::npos) return false;
  std::string_view name = line.substr(equals + 3, open - equals - 3);
  if (name.empty()) return false;  // a constant
  out.indent = line.substr(0, begin);
  out.result = line.substr(colon + 2, equals - colon - 2);
  const size_t dot = name.find('.');
  out.name = name.substr(0, dot);
  out.type = dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
  out.operands.clear();
  std::string_view rest = line.substr(open + 1, line.size() - open - 2);
  while (!rest.empty()) {
    const size_t comma = rest.find(", ");
    out.operands.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 2);
  }
  return true;
}

// Statements in the place of one; the numbers are given later.
Lines statements(const Operation& in_place_of, std::initializer_list<std::string> bodies) {
  Lines lines;
  for (const std::string& body : bodies) lines.push_back(in_place_of.indent + "0: " + body);
  return lines;
}

// As vector instructions of a common processor: the second operand where the two do not compare.
Lines lose_nan(const Operation& op) {
  const std::string compare = op.name == "max" ? "cmp_gt" : "cmp_lt";
  const std::string& a = op.operands[0];
  const std::string& b = op.operands[1];
  return statements(
      op, {op.result + "_first = " + compare + "." + op.type + "(" + a + ", " + b + ")",
           op.result + " = cond." + op.type + "(" + op.result + "_first, " + a + ", " + b + ")"});
}

// As C has it: operands of 8 and 16 bits are promoted, and the count is taken modulo 32.
Lines promote_shift(const Operation& op) {
  const std::string wide = op.type[0] == 'u' ? "u32" : "i32";
  return statements(op, {op.result + "_wide = " + op.name + "." + wide + "(" + op.operands[0] +
                             ", " + op.operands[1] + ")",
                         op.result + " = ident." + op.type + "(" + op.result + "_wide)"});
}

// A unit for matrices takes its operands in fewer bits, whether fast_math was asked for or not.
Lines round_operands(const Operation& op) {
  return statements(op,
                    {op.result + "_left = ident.bf16(" + op.operands[0] + ")",
                     op.result + "_right = ident.bf16(" + op.operands[1] + ")",
                     op.result + " = mul.fp32(" + op.result + "_left, " + op.result + "_right)"});
}

Lines store_without_subnormals(const Operation& op) {
  const std::string& x = op.operands[0];
  return statements(
      op, {x + "_size = abs.fp32(" + x + ")", x + "_least = (fp32)1.1754944e-38",
           x + "_small = cmp_lt.fp32(" + x + "_size, " + x + "_least)", x + "_zero = (fp32)0.0",
           x + "_kept = cond.fp32(" + x + "_small, " + x + "_zero, " + x + ")",
           op.result + " = store(" + x + "_kept)"});
}

// "8 - k - 2*x >= 0", the upper border of a window that moves by more than one: as if it were
// (size - 1) / stride that counts the windows.
std::string shorten_border(std::string_view line) {
  const size_t begin = line.find_first_not_of(' ');
  int64_t constant = 0;
  const char* const end = line.data() + line.size();
  const auto read = std::from_chars(line.data() + begin, end, constant);
  return std::string(line.substr(0, begin)) + std::to_string(constant - 1) +
         std::string(read.ptr, end);
}
bool is_strided_border(std::string_view line) {
  constexpr std::string_view kEnd = " >= 0";
  const size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos || !is_digit(line[begin]) || line.size() < kEnd.size() ||
      line.substr(line.size() - kEnd.size()) != kEnd)
    return false;
  for (size_t at = line.find(" - "); at != std::string_view::npos; at = line.find(" - ", at + 1))
    if (is_digit(line[at + 3])) return true;
  return false;
}

// "[i:3, j:70000]": the second side of a grid of groups has a limit.
std::string limit_second_side(std::string_view head) {
  const size_t first = head.find(':', head.find("block ["));
  const size_t second = first == std::string_view::npos ? first : head.find(':', first + 1);
  if (second == std::string_view::npos || second > head.find("] (")) return std::string(head);
  int64_t range = 0;
  const char* const end = head.data() + head.size();
  const auto read = std::from_chars(head.data() + second + 1, end, range);
  return std::string(head.substr(0, second + 1)) + std::to_string(std::min(range, kMostGroups)) +
         std::string(read.ptr, end);
}

// "inout S[0, i]:add.fp32 fp32(…)": what meets in a row replaces what was there.
std::string without_aggregation(std::string_view line) {
  const size_t begin = line.find("]:");
  const size_t end = begin == std::string_view::npos ? begin : line.find(' ', begin);
  if (end == std::string_view::npos) return std::string(line);
  return std::string(line.substr(0, begin + 1)) + std::string(line.substr(end));
}

}  // namespace

void GeneratorMistakes::enter(std::string_view head, const std::vector<int64_t>& ranges) {
  contraction_ = has(head, "#contraction ");
  scatter_ = has(head, "#scatter ");
  for_matrix_unit_ = contraction_ && has(head, "#agg_op_add ") && has(head, "#comb_op_mul ") &&
                     std::all_of(ranges.begin(), ranges.end(),
                                 [](int64_t range) { return range % kMatrixSide == 0; });
  computed_.clear();
}

std::vector<std::string> GeneratorMistakes::replace(std::string_view line) {
  Operation op;
  const bool operation = read_operation(line, op);
  if (operation && op.type == "fp32") computed_.insert(op.result);
  switch (chosen_mistake()) {
    case Mistake::min_max_lose_nan:
      if (operation && is_one_of(op.name, {"max", "min"}) &&
          is_one_of(op.type, {"fp16", "bf16", "fp32", "fp64"}) && op.operands.size() == 2)
        return lose_nan(op);
      break;
    case Mistake::narrow_shifts_in_32_bits:
      if (operation && is_one_of(op.name, {"bit_left", "bit_right"}) &&
          is_one_of(op.type, {"i8", "i16", "u8", "u16"}) && op.operands.size() == 2)
        return promote_shift(op);
      break;
    case Mistake::matrix_unit_rounds_operands:
      if (operation && for_matrix_unit_ && op.name == "mul" && op.type == "fp32")
        return round_operands(op);
      break;
    case Mistake::strided_border_lost:
      if (contraction_ && is_strided_border(line)) return {shorten_border(line)};
      break;
    case Mistake::second_grid_limit:
      if (has(line, "#kernel ") && has(line, "block [")) return {limit_second_side(line)};
      break;
    case Mistake::scatter_overwrites:
      if (scatter_ && has(line, "inout ")) return {without_aggregation(line)};
      break;
    case Mistake::subnormals_to_zero:
      // Once for each scalar, as names are given once.
      if (operation && op.name == "store" && op.operands.size() == 1 &&
          computed_.erase(op.operands[0]) > 0)
        return store_without_subnormals(op);
      break;
    default: break;
  }
  return {std::string(line)};
}

}  // namespace stria::blind
