// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/pass_context.h"

#include "stria/base/shown_text.h"
#include "stria/base/text.h"

namespace stria {

std::string StepReport::to_string(bool verbose) const {
  std::string out = fmt::format("{} ({}): ", step, pass);
  if (matched == 0) {
    out += "matched nothing";
    if (counters.empty() && !notes.empty()) out += fmt::format(" ({})", join(notes, "; "));
  } else {
    out += fmt::format("{} matched, {} changed", matched, changed);
  }
  for (const auto& [counter, value] : counters) out += fmt::format("; {} {}", counter, value);
  out = cut_text(out, kMaxMessageBytes);
  if (verbose && !(matched == 0 && counters.empty()))
    for (const std::string& note : notes) out += "\n    " + cut_text(note, kMaxMessageBytes);
  return out;
}

void PassContext::count(std::string_view counter, int64_t by) {
  report_.counters[std::string(counter)] += by;
}

void PassContext::skipped(std::string_view block, std::string_view reason) {
  count(fmt::format("skipped: {}", reason));
  note(fmt::format("{}: skipped: {}", block.empty() ? "block" : block, reason));
}

void PassContext::begin_step(std::string step, std::string pass) {
  report_ = StepReport();
  report_.step = std::move(step);
  report_.pass = std::move(pass);
}

}  // namespace stria
