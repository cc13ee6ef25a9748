// SPDX-License-Identifier: Apache-2.0
#include "events/failure.h"

#include <algorithm>

#include "stria/hal/boundary/info.h"

namespace stria::conformance {
namespace {

std::string text_of(stria_string text) {
  return text.data ? std::string(text.data, text.size) : std::string();
}

// Waits until it is done, failed or not.
Status wait_only(const Bench& bench, const Event& event, std::string_view what) {
  constexpr uint64_t kPatienceNs = 5'000'000'000;
  STRIA_RETURN_IF_ERROR(bench.flush());
  return Subject::failure(Slot::event_wait,
                          bench.subject().tables().event.wait(event.get(), kPatienceNs))
      .with_context(what);
}

}  // namespace

std::string Failure::to_string() const {
  if (code == STRIA_OK) return "success";
  return fmt::format("code {}, the driver's {}, '{}' ('{}')", code, native_code, message,
                     native_message);
}

Failure failure_number(int number) {
  static constexpr stria_code kCodes[] = {STRIA_DATA_LOSS, STRIA_UNAVAILABLE, STRIA_OUT_OF_MEMORY,
                                          STRIA_NOT_FOUND, STRIA_OUT_OF_RANGE};
  return {kCodes[static_cast<size_t>(number) % 5],
          1000 + number,
          fmt::format("the suite's failure {} of '\xc3\xa4'", number),
          fmt::format("SUITE_{}", number),
          fmt::format("suite.cc:{}", number),
          fmt::format("ask number {}", number)};
}

Failure copy_of(const stria_error& error) {
  return {error.code,
          error.native_code,
          text_of(error.message),
          text_of(error.native_message),
          text_of(error.place),
          text_of(error.suggestion)};
}

bool is_same(const Failure& a, const Failure& b) {
  return a.code == b.code && a.native_code == b.native_code && a.message == b.message &&
         a.native_message == b.native_message;
}

Status signal_failure(const Bench& bench, const Event& event, const Failure& failure) {
  Failure given = failure;
  stria_error error{};
  error.size = sizeof error;
  error.code = given.code;
  error.native_code = given.native_code;
  error.message = hal::to_c(given.message);
  error.native_message = hal::to_c(given.native_message);
  error.place = hal::to_c(given.place);
  error.suggestion = hal::to_c(given.suggestion);
  // It is the caller's: a plugin that gives it back does what it must not.
  static bool given_back;
  given_back = false;
  error.release = [](stria_error*) { given_back = true; };
  STRIA_SLOT(bench.subject(), event, signal, event.get(), &error);
  for (std::string* text : {&given.message, &given.native_message, &given.place, &given.suggestion})
    std::fill(text->begin(), text->end(), '?');
  error = {};
  if (given_back)
    return broken_rule(rule_of(Slot::event_signal),
                       "event.signal released the error, which is its caller's");
  return Status();
}

Failure outcome_of(const Bench& bench, const Event& event) {
  stria_error* const error = bench.subject().tables().event.status(event.get());
  if (!error) return {};
  Failure out = copy_of(*error);
  if (error->release) error->release(error);  // the checks of every call say if there is none
  return out;
}

Status fails_with(const Bench& bench, const Event& event, const Failure& expected,
                  std::string_view what) {
  STRIA_RETURN_IF_ERROR(wait_only(bench, event, what));
  const Failure got = outcome_of(bench, event);
  if (is_same(got, expected)) return Status();
  return broken("{} ends with {}, not with {}", what, got.to_string(), expected.to_string());
}

Status fails_with_code(const Bench& bench, const Event& event, stria_code code,
                       std::string_view what) {
  STRIA_RETURN_IF_ERROR(wait_only(bench, event, what));
  const Failure got = outcome_of(bench, event);
  if (got.code == code) return Status();
  return broken("{} ends with {}, not with code {}", what, got.to_string(), code);
}

}  // namespace stria::conformance
