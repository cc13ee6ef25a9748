// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/pick/quantity.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "stria/base/number_text.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"

namespace stria {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKibi = 1024;
constexpr Unit kByteUnits[] = {{"B", 1},
                               {"K", kKibi},
                               {"KiB", kKibi},
                               {"KB", 1e3},
                               {"M", kKibi* kKibi},
                               {"MiB", kKibi* kKibi},
                               {"MB", 1e6},
                               {"G", kKibi* kKibi* kKibi},
                               {"GiB", kKibi* kKibi* kKibi},
                               {"GB", 1e9},
                               {"T", kKibi* kKibi* kKibi* kKibi},
                               {"TiB", kKibi* kKibi* kKibi* kKibi},
                               {"TB", 1e12}};
constexpr Unit kTimeUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"μs", 1e-6},
                               {"ms", 1e-3}, {"s", 1},     {"min", 60},  {"h", 3600}};
constexpr Unit kPowerUnits[] = {{"mW", 1e-3}, {"W", 1}, {"kW", 1e3}};

// What is wrong with a quantity, with its units.
template <typename... Args>
Status wrong(std::span<const Unit> units, std::string_view example,
             fmt::format_string<Args...> what, Args&&... args) {
  std::vector<std::string> names;
  for (const Unit& unit : units)
    if (unit.name != "μs") names.emplace_back(unit.name);  // it looks like the one before it
  return invalid_argument("{} (a number with a unit is asked for, as in {}; units: {})",
                          fmt::format(what, std::forward<Args>(args)...), example,
                          join(names, ", "));
}

struct NumberAndUnit {
  std::string_view number;
  const Unit* unit;
};

Result<NumberAndUnit> parts_of(std::string_view text, std::span<const Unit> units,
                               std::string_view example) {
  if (text.empty()) return wrong(units, example, "there is no number");
  // A unit is letters, and the bytes of µ.
  size_t at = text.size();
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<signed char>(c) < 0;
  };
  while (at > 0 && is_letter(text[at - 1])) --at;
  const std::string_view number = trim(text.substr(0, at)), unit = text.substr(at);
  if (number.empty()) return wrong(units, example, "'{}' has no number", shown_name(text));
  if (unit.empty()) return wrong(units, example, "'{}' has no unit", shown_name(text));
  for (const Unit& one : units)
    if (one.name == unit) return NumberAndUnit{number, &one};
  std::vector<std::string> names;
  for (const Unit& one : units) names.emplace_back(one.name);
  // The same letters in another case are near, even if there is one alone.
  std::string near = nearest_name(unit, names);
  for (const std::string& name : names)
    if (near.empty() && unit.size() == 1 && name.size() == 1 && (unit[0] ^ 0x20) == name[0])
      near = name;
  return wrong(units, example, "'{}' is no unit{}", shown_name(unit),
               near.empty() ? "" : ", did you mean '" + near + "'?");
}

Result<double> parse_positive(std::string_view text, std::span<const Unit> units,
                              std::string_view example) {
  constexpr double kMost = 1e9;
  STRIA_ASSIGN(const NumberAndUnit parts, parts_of(text, units, example));
  const Result<double> number = parse_number(parts.number, 0, kMost / parts.unit->factor);
  if (!number.ok()) return wrong(units, example, "{}", number.status().message());
  const double value = *number * parts.unit->factor;
  if (!(value > 0)) return wrong(units, example, "'{}' is not more than 0", shown_name(text));
  return value;
}

std::string shortest_text(double value) {
  char buffer[64];
  return std::string(buffer, std::to_chars(buffer, std::end(buffer), value).ptr);
}

}  // namespace

Result<uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view kExample = "8G";
  STRIA_ASSIGN(const NumberAndUnit parts, parts_of(text, kByteUnits, kExample));
  const auto factor = static_cast<uint64_t>(parts.unit->factor);
  if (parts.number.find_first_not_of("0123456789") == std::string_view::npos) {
    const Result<uint64_t> whole = parse_unsigned(parts.number, 0, UINT64_MAX / factor);
    if (!whole.ok()) return wrong(kByteUnits, kExample, "{}", whole.status().message());
    return *whole * factor;
  }
  constexpr double kMost = 9.2e18;  // exactly representable beside what follows it
  const Result<double> number = parse_number(parts.number, 0, kMost / parts.unit->factor);
  if (!number.ok()) return wrong(kByteUnits, kExample, "{}", number.status().message());
  return static_cast<uint64_t>(std::llround(*number * parts.unit->factor));
}

Result<double> parse_seconds(std::string_view text) {
  return parse_positive(text, kTimeUnits, "5ms");
}

Result<double> parse_watts(std::string_view text) {
  return parse_positive(text, kPowerUnits, "25W");
}

std::string bytes_text(uint64_t bytes) {
  const Unit* best = &kByteUnits[0];
  for (const Unit& unit : kByteUnits)
    if (unit.name.size() == 1 && bytes > 0 && bytes % static_cast<uint64_t>(unit.factor) == 0)
      best = &unit;
  return fmt::format("{}{}", bytes / static_cast<uint64_t>(best->factor), best->name);
}

std::string seconds_text(double seconds) { return shortest_text(seconds) + "s"; }
std::string watts_text(double watts) { return shortest_text(watts) + "W"; }

std::string shown_bytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  constexpr std::string_view kNames[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / kKibi;
  size_t at = 0;
  for (; value >= kKibi && at + 1 < std::size(kNames); ++at) value /= kKibi;
  // Rounded so, a number must not look like a limit that it does not reach.
  const double tenths = std::floor(value * 10) / 10;
  return fmt::format("{:g} {}", tenths, kNames[at]);
}

std::string shown_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string shown_range(const TimeRange& range) {
  return fmt::format("{} ({} .. {})", shown_seconds(range.seconds), shown_seconds(range.least),
                     shown_seconds(range.most));
}

}  // namespace stria
