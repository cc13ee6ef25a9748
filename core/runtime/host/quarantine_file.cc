// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/quarantine_file.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stria/base/shown_text.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/files/folder_identity.h"
#include "stria/runtime/host/user_cache.h"

namespace stria {
namespace {

// How long the first failure keeps a device out, and any failure at most.
struct Waits {
  double first_s, longest_s;
};
constexpr double kMinute = 60, kHour = 60 * kMinute;
Waits waits_of(Quarantine::Cause cause) {
  return cause == Quarantine::Cause::lost ? Waits{kMinute, kHour} : Waits{kHour, 24 * kHour};
}

double wait_after(Quarantine::Cause cause, int in_a_row) {
  const Waits waits = waits_of(cause);
  // 2^20 times the first wait is beyond the longest one.
  constexpr int kMostDoublings = 20;
  return std::min(waits.first_s * std::exp2(std::min(in_a_row - 1, kMostDoublings)),
                  waits.longest_s);
}

constexpr Quarantine::Cause kCauses[] = {Quarantine::Cause::lost, Quarantine::Cause::wrong};
constexpr size_t kMostTextBytes = 300;
constexpr int kMostInARow = 1'000'000;

hal::DiskCache& quarantine_cache() { return user_cache("quarantine", 1 << 20); }

double seconds_since_boot() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// "14:05", here: the first whole minute at which so many seconds are over.
std::string time_of_day_in(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds + kMinute - 1));
  const std::time_t at = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() +
                                                              std::chrono::seconds(whole));
  std::tm parts{};
  ::localtime_r(&at, &parts);
  return fmt::format("{:02}:{:02}", parts.tm_hour, parts.tm_min);
}

}  // namespace

struct QuarantineFile::Entry {
  std::string program, why;
  int in_a_row = 1;
  double at = 0;  // of the last failure

  std::string to_text() const {
    const nlohmann::json json = {
        {"program", program}, {"why", why}, {"in_a_row", in_a_row}, {"at", at}};
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  // nullopt for what this class has not written, and for a failure that is still to come.
  static std::optional<Entry> of_text(const std::string& text, double now) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    const auto find = [&](const char* key) { return json.value(key, nlohmann::json()); };
    const nlohmann::json program = find("program"), why = find("why"), at = find("at"),
                         in_a_row = find("in_a_row");
    if (!program.is_string() || !why.is_string() || !at.is_number() ||
        !in_a_row.is_number_unsigned())
      return std::nullopt;
    Entry out;
    out.program = shown_name(program.get<std::string>(), kMostTextBytes);
    out.why = shown_name(why.get<std::string>(), kMostTextBytes);
    out.at = at.get<double>();
    const auto count = in_a_row.get<uint64_t>();
    if (count < 1 || count > kMostInARow || !std::isfinite(out.at) || out.at > now)
      return std::nullopt;
    out.in_a_row = static_cast<int>(count);
    return out;
  }
};

QuarantineFile::QuarantineFile(Clock clock) : clock_(std::move(clock)) {
  if (!clock_) clock_ = seconds_since_boot;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::getline(file, boot_);
}

std::string QuarantineFile::key_of(const DeviceInfo& device, Quarantine::Cause cause) const {
  return fmt::format("quarantine 2\n{}\n{}\n{}\n{}\n{}\n{}", boot_, name_of(cause), device.plugin,
                     device.id, device.name, hal::folder_lines(device.folder));
}

std::optional<QuarantineFile::Entry> QuarantineFile::entry_of(const DeviceInfo& device,
                                                              Quarantine::Cause cause) const {
  const std::optional<std::string> kept = quarantine_cache().get(key_of(device, cause));
  return kept ? Entry::of_text(*kept, now()) : std::nullopt;
}

std::optional<Quarantine> QuarantineFile::find(const DeviceInfo& device) const {
  std::optional<Quarantine> longest;
  for (const Quarantine::Cause cause : kCauses) {
    const std::optional<Entry> entry = entry_of(device, cause);
    if (!entry) continue;
    Quarantine out;
    out.ago_s = now() - entry->at;
    out.left_s = wait_after(cause, entry->in_a_row) - out.ago_s;
    if (out.left_s <= 0 || (longest && longest->left_s >= out.left_s)) continue;
    out.cause = cause;
    out.program = entry->program;
    out.why = entry->why;
    out.in_a_row = entry->in_a_row;
    out.again_at = time_of_day_in(out.left_s);
    longest = std::move(out);
  }
  return longest;
}

void QuarantineFile::failed(const DeviceInfo& device, Quarantine::Cause cause,
                            std::string_view program, std::string_view why, double began) const {
  const std::optional<Entry> before = entry_of(device, cause);
  if (before && before->at >= began) return;
  Entry entry;
  entry.program = shown_name(hal::one_line(program), kMostTextBytes);
  entry.why = shown_name(hal::one_line(why), kMostTextBytes);
  entry.at = now();
  if (before) entry.in_a_row = std::min(before->in_a_row + 1, kMostInARow);
  quarantine_cache().put(key_of(device, cause), entry.to_text());
}

void QuarantineFile::ended_well(const DeviceInfo& device, bool compared) const {
  (void)clear(device, Quarantine::Cause::lost);
  if (compared) (void)clear(device, Quarantine::Cause::wrong);
}

bool QuarantineFile::clear(const DeviceInfo& device) const {
  bool any = false;
  for (const Quarantine::Cause cause : kCauses) any = clear(device, cause) || any;
  return any;
}

bool QuarantineFile::clear(const DeviceInfo& device, Quarantine::Cause cause) const {
  if (!entry_of(device, cause)) return false;
  quarantine_cache().put(key_of(device, cause), "{}");
  return true;
}

}  // namespace stria
