// SPDX-License-Identifier: Apache-2.0
#include "transcript.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace stria::end_to_end {
namespace {

// Without the blank ones: these end what an indented block shows.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) out.push_back(line);
  return out;
}

// Lines from `s` on against lines from `p` on.
bool fits(const std::vector<std::string>& shown, size_t s, const std::vector<std::string>& printed,
          size_t p) {
  for (; s < shown.size(); ++s, ++p) {
    if (shown[s] == "…") {
      for (size_t rest = p; rest <= printed.size(); ++rest)
        if (fits(shown, s + 1, printed, rest)) return true;
      return false;
    }
    if (p == printed.size() || shown[s] != printed[p]) return false;
  }
  return p == printed.size();
}

}  // namespace

std::string read_page(const std::string& path) {
  std::ifstream in(STRIA_SOURCE_DIR "/" + path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string between(const std::string& text, const std::string& start, const std::string& end) {
  const size_t first = text.find(start);
  if (first == std::string::npos) throw std::runtime_error("the page has no '" + start + "'");
  const size_t from = first + start.size();
  return text.substr(from, text.find(end, from) - from);
}

std::vector<Step> steps_of(const std::string& text) {
  std::vector<Step> steps;
  std::istringstream lines(text);
  bool goes_on = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("    ", 0) != 0) continue;
    line.erase(0, 4);
    const bool starts = line.rfind("$ ", 0) == 0;
    if (starts) steps.push_back({});
    if (steps.empty()) throw std::runtime_error("no command before: " + line);
    if (starts || goes_on) {
      goes_on = line.back() == '\\';
      if (goes_on) line.pop_back();
      steps.back().command += starts ? line.substr(2) : line;
    } else {
      steps.back().output += line + "\n";
    }
  }
  return steps;
}

bool shows(const std::string& shown, const std::string& printed) {
  return fits(lines_of(shown), 0, lines_of(printed), 0);
}

}  // namespace stria::end_to_end
