// SPDX-License-Identifier: Apache-2.0
// Small text functions that messages and readers share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stria {

// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

// The candidate that differs from `name` in the case of letters only, or else one that is the same
// quantity in another unit (size_KiB for size_bytes), or else the nearest by edit
// distance if it is near enough to be a slip (at most a third of the longer name, at least 1, and
// one letter stays), else "". Names of one letter are near nothing. Ties: the first candidate.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

// ", did you mean 'x'?" or "" if nothing is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
bool starts_with_letter(std::string_view text);
// A letter, then letters, digits and '_': what a C compiler takes behind any prefix.
inline constexpr size_t kLongestFunctionName = 60;
bool is_function_name(std::string_view text);

// Shortest decimal text that reads back as the same number; always has '.', 'e', "inf" or "nan".
std::string float_text(double value);
std::string float_text(float value);

// FNV-1a over bytes: stable across runs and machines, for cache keys and names. Not for security.
uint64_t stable_hash(std::string_view bytes);

}  // namespace stria
