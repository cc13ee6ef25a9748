// SPDX-License-Identifier: Apache-2.0
// Rules, most of them of stria/plugin.h, that a case can find broken on the way to what it is
// about: a copy that is refused, work that never ends, a process that is gone. What finds one says
// which it is, and the failure quotes that rule's sentence instead of the case's, or beside it.
//
// A rule travels with the message of the failed Status, in three bytes that no report shows: a
// Status has no other place for it, and helpers hand failures on as they are. A message that
// becomes a part of another one loses it there (see broken() in case.h): who writes a sentence of
// his own knows better what is wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stria/base/status.h"
#include "suite/call_record.h"

namespace stria::conformance {

// A slot's rule is what its comment says that it does: the first kSlots numbers.
enum class Rule : int {
  begins = kSlots,    // work that was submitted begins, whether anybody waits for it or not
  ends_wait,          // a wait returns when the event is done, or its time is over
  ends,               // what an event stands for, and a wait for it
  returns_at_once,    // a slot that must not block
  returns,            // a slot that may
  keeps_process,      // nothing that a plugin does ends the process
  no_exception,       // none crosses the boundary
  gives_error,        // what a slot that failed returns
  builds_or_refuses,  // a program becomes code, or is said to be unsupported
  gives_back,         // memory of the host's, as it was got
  leaves_nothing,     // of what a handle took
  only_arguments,     // what lies beside a kernel's outputs stays as it was
  equal,              // integers of a result
  within_bound,       // floats of a result
  bool_element,       // one of a tensor
  // What crosses the boundary.
  struct_size,
  text,
  boolean,
  call_only,  // how long a pointer is valid
  no_output,  // of a slot that failed
  error_code,
  error_message,
  error_release,
  sink_devices,  // what a sink of devices gets
  sink_once,
  available,
  // What stria_plugin_query says.
  refuses,
  says_versions,
  as_manifest,
  slots,  // that have to be there
  // Files of the package.
  manifest,
  model,
  powers_of_two,
  pipeline,
  judges,  // an estimate
  count
};
inline constexpr int kRules = static_cast<int>(Rule::count);

constexpr Rule rule_of(Slot slot) { return static_cast<Rule>(slot); }
// Whether what the case tries may say more: a slot's own rule, or why work is lost, a call does not
// return or an element is wrong. Then both are quoted.
bool may_be_the_cases(Rule rule);
// Word by word what `source_of` says: stria/plugin.h, or a page as Case::source names it.
std::string_view sentence_of(Rule rule);
std::string_view source_of(Rule rule);

// The rule as a text that can be put into a message.
std::string mark_of(Rule rule);
// The failure with a rule, unless it has one. Ok stays ok.
Status with_rule(const Status& status, Rule rule);
// Takes all marks out of a text; the rule of the last one.
std::optional<Rule> take_rule(std::string& text);

}  // namespace stria::conformance
