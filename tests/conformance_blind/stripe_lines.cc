// SPDX-License-Identifier: Apache-2.0
#include "stripe_lines.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "generator_mistakes.h"
#include "mistake.h"

namespace stria::blind {
namespace {

bool is_of_numbers(Mistake mistake) {
  switch (mistake) {
    case Mistake::min_max_lose_nan:
    case Mistake::narrow_shifts_in_32_bits:
    case Mistake::matrix_unit_rounds_operands:
    case Mistake::strided_border_lost:
    case Mistake::second_grid_limit:
    case Mistake::scatter_overwrites:
    case Mistake::subnormals_to_zero: return true;
    default: return false;
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// "i:3, j:5" of "1: #kernel block [i:3, j:5] ( // kernel_0"; false for any other line.
bool find_indices(std::string_view line, std::string_view& indices) {
  constexpr std::string_view kBlock = "block [";
  const size_t begin = line.find(kBlock);
  if (begin == std::string_view::npos) return false;
  const size_t end = line.find("] (", begin);
  if (end == std::string_view::npos) return false;
  indices = line.substr(begin + kBlock.size(), end - begin - kBlock.size());
  return true;
}

std::vector<int64_t> ranges_of(std::string_view indices) {
  std::vector<int64_t> ranges;
  for (size_t at = indices.find(':'); at != std::string_view::npos;
       at = indices.find(':', at + 1)) {
    int64_t range = 1;
    std::from_chars(indices.data() + at + 1, indices.data() + indices.size(), range);
    ranges.push_back(range);
  }
  return ranges;
}

// A text whose statements are numbered as they come.
class Numbered {
 public:
  // A line of the old text, or one in its place.
  void add(std::string_view line) {
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    std::string_view body = line.substr(begin);
    const bool comment = body.substr(0, 2) == "//";
    if (body == "}" && next_.size() > 1) next_.pop_back();
    text_.append(line.substr(0, begin));
    const size_t digits = std::min(body.find_first_not_of("0123456789"), body.size());
    if (digits > 0 && body.substr(digits, 2) == ": ") {
      text_ += std::to_string(next_.back()++);
      body.remove_prefix(digits);
    }
    text_.append(body) += '\n';
    constexpr std::string_view kOpens = ") {";
    if (!comment && body.size() >= kOpens.size() &&
        body.substr(body.size() - kOpens.size()) == kOpens)
      next_.push_back(0);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::vector<uint64_t> next_{0};  // numbers of the statements that come, innermost block last
};

}  // namespace

std::string with_wrong_numbers(std::string_view stripe) {
  if (!is_of_numbers(chosen_mistake())) return std::string(stripe);
  Numbered out;
  GeneratorMistakes mistakes;
  for (const std::string_view line : lines_of(stripe)) {
    std::string_view indices;
    if (find_indices(line, indices)) mistakes.enter(line, ranges_of(indices));
    for (const std::string& own : mistakes.replace(line)) out.add(own);
  }
  return out.take();
}

uint64_t points_of(std::string_view stripe) {
  uint64_t points = 0;
  for (const std::string_view line : lines_of(stripe)) {
    std::string_view indices;
    if (line.find("#kernel ") == std::string_view::npos || !find_indices(line, indices)) continue;
    uint64_t own = 1;
    for (const int64_t range : ranges_of(indices)) own *= static_cast<uint64_t>(range);
    points += own;
  }
  return points;
}

}  // namespace stria::blind
