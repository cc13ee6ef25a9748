// SPDX-License-Identifier: Apache-2.0
// Numbers with units, as selectors have them. A unit is never left out: "8" could be bytes or GiB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stria/base/status.h"
#include "stria/base/time_range.h"

namespace stria {

// "8G" "8GiB" (2^30) "8GB" (10^9) "1.5G" "512M" "4096B"; K, M, G and T so. At most 2^64 - 1 bytes.
// invalid_argument says what is wrong: no number, no unit, an unknown unit, too much.
Result<uint64_t> parse_bytes(std::string_view text);
// "5ms" "1.5s" "200us" "200µs" "80ns" "2min" "1h"; more than 0, at most 1e9 s. In seconds.
Result<double> parse_seconds(std::string_view text);
// "25W" "500mW" "1.2kW"; more than 0, at most 1e9 W.
Result<double> parse_watts(std::string_view text);

// They read back as the same number: "8G", "4096B", "0.005s", "25W".
std::string bytes_text(uint64_t bytes);
std::string seconds_text(double seconds);
std::string watts_text(double watts);

// For people: "12.3 us", "4.56 ms", "2 s"; and with the interval, "12.3 us (8.1 us .. 18.5 us)".
std::string shown_seconds(double seconds);
std::string shown_range(const TimeRange& range);
// For people: "7.6 GiB", "640 KiB", "12 bytes".
std::string shown_bytes(uint64_t bytes);

}  // namespace stria
