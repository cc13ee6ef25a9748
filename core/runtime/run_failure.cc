// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/run_failure.h"

#include <fmt/format.h>

#include <algorithm>

#include "stria/base/text.h"
#include "stria/hal/boundary/info.h"

namespace stria {
namespace {

// All lines as one: what a device lacks is a list of lines.
std::string joined_lines(const std::string& text) {
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    const std::string_view words = trim(line);
    if (words.empty()) continue;
    if (!out.empty()) out += out.back() == ':' ? " " : line.starts_with(' ') ? ", " : "; ";
    out += words;
  }
  return hal::one_line(out);
}

}  // namespace

bool may_pass(StatusCode code) {
  return code == StatusCode::device_lost || code == StatusCode::out_of_memory ||
         code == StatusCode::deadline_exceeded || code == StatusCode::unavailable;
}

std::string what_happened(const std::string& device, RunStage stage, const Status& failure) {
  const std::string why = hal::one_line(failure.message());
  switch (failure.code()) {
    case StatusCode::device_lost: return fmt::format("{} is lost: {}", device, why);
    case StatusCode::out_of_memory: return fmt::format("{} is out of memory: {}", device, why);
    case StatusCode::deadline_exceeded:
      return fmt::format("{} does not end in time: {}", device, why);
    default: break;
  }
  switch (stage) {
    case RunStage::open: return fmt::format("{} cannot be opened: {}", device, why);
    case RunStage::compile:
      return fmt::format("{} cannot take the program: {}", device, joined_lines(failure.message()));
    case RunStage::run: break;
  }
  return fmt::format("{} fails: {}", device, why);
}

std::chrono::nanoseconds wait_after(std::chrono::nanoseconds first,
                                    std::chrono::nanoseconds longest, int in_a_row) {
  std::chrono::nanoseconds wait = first;
  for (int i = 0; i < in_a_row && wait < longest; ++i) wait *= 2;
  return std::min(wait, longest);
}

}  // namespace stria
