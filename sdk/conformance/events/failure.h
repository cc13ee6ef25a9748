// SPDX-License-Identifier: Apache-2.0
// The error that an event fails with, in all its parts, and events that fail as a case wants.
#pragma once

#include <cstdint>
#include <string>

#include "memory/bench.h"

namespace stria::conformance {

struct Failure {
  stria_code code = STRIA_OK;
  int64_t native_code = 0;
  std::string message, native_message, place, suggestion;

  // "code 13, driver's 7, 'message' ('native message')"
  std::string to_string() const;
};

// One that looks like no other number's.
Failure failure_number(int number);
Failure copy_of(const stria_error& error);
// Whether a host would take one for the other. Place and suggestion are for people, and a plugin
// that copies by stria_host_services.make_error has no room for them.
bool is_same(const Failure& a, const Failure& b);

// Signals the event with an error whose memory is overwritten after the call.
Status signal_failure(const Bench& bench, const Event& event, const Failure& failure);
// Of an event that is done; code STRIA_OK if it is well.
Failure outcome_of(const Bench& bench, const Event& event);
// Waits for the event; a failure if it fails with another error, or does not. `what` begins the
// message.
Status fails_with(const Bench& bench, const Event& event, const Failure& expected,
                  std::string_view what);
// Waits for the event; a failure unless it fails with that code.
Status fails_with_code(const Bench& bench, const Event& event, stria_code code,
                       std::string_view what);

}  // namespace stria::conformance
