// SPDX-License-Identifier: Apache-2.0
#include "stria/base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace stria {
namespace {

template <typename T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// "size" of "size_bytes"; "" if there is no unit behind an underscore.
std::string_view without_unit(std::string_view name) {
  constexpr std::string_view kUnits[] = {
      "bytes", "KiB",  "kib", "KB", "kb", "MiB", "mib", "MB", "mb", "GiB", "gib",    "GB",
      "gb",    "bits", "s",   "ms", "us", "ns",  "ps",  "hz", "Hz", "khz", "mhz",    "MHz",
      "ghz",   "GHz",  "pj",  "pJ", "nj", "nJ",  "mw",  "mW", "w",  "W",   "cycles", "seconds"};
  const size_t at = name.rfind('_');
  if (at == std::string_view::npos) return "";
  const std::string_view unit = name.substr(at + 1);
  return std::find(std::begin(kUnits), std::end(kUnits), unit) == std::end(kUnits)
             ? std::string_view()
             : name.substr(0, at);
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = static_cast<int>(i);
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      int replace = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  // One letter is no hint at what was meant: every other letter is as near.
  if (name.size() < 2) return "";
  // The same letters in another case are the nearest there is.
  auto same_letters = [&](const std::string& candidate) {
    return std::equal(name.begin(), name.end(), candidate.begin(), candidate.end(),
                      [](char a, char b) {
                        return std::tolower(static_cast<unsigned char>(a)) ==
                               std::tolower(static_cast<unsigned char>(b));
                      });
  };
  for (const std::string& candidate : candidates)
    if (!candidate.empty() && same_letters(candidate)) return candidate;
  // The same quantity in another unit.
  if (const std::string_view stem = without_unit(name); !stem.empty())
    for (const std::string& candidate : candidates)
      if (without_unit(candidate) == stem) return candidate;
  std::string best;
  int best_distance = 0;
  for (const std::string& candidate : candidates) {
    // Names of wild length are no slips, and the table above is quadratic.
    if (candidate.size() < 2 || candidate.size() > 256 || name.size() > 256) continue;
    int distance = edit_distance(name, candidate);
    const int longer = static_cast<int>(std::max(name.size(), candidate.size()));
    // A name of which no letter is left is no slip: 'Q' is not meant as 'A'.
    if (distance > std::max(1, longer / 3) || distance >= longer) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  std::string near = nearest_name(name, candidates);
  return near.empty() ? "" : ", did you mean '" + near + "'?";
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    size_t end = text.find(separator, begin);
    if (end == std::string_view::npos) {
      parts.emplace_back(text.substr(begin));
      return parts;
    }
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

bool starts_with_letter(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front()));
}

bool is_function_name(std::string_view text) {
  return text.size() <= kLongestFunctionName && starts_with_letter(text) &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::string float_text(double value) { return shortest(value); }
std::string float_text(float value) { return shortest(value); }

uint64_t stable_hash(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

}  // namespace stria
