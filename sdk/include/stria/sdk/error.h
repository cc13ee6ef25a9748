// SPDX-License-Identifier: Apache-2.0
// How a plugin written with this helper fails: it throws Error. The helper catches at the boundary
// and hands the host an error object; nothing that is thrown gets across.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "stria/plugin.h"

namespace stria::sdk {

inline stria_string to_c(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view_of(stria_string text) {
  return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

// A struct of the host's as this header knows it: what a shorter one does not have is zero, what a
// longer one has beyond is left out. `size` stays its maker's, and never ends within a member: see
// the rule in stria/plugin.h.
template <typename T>
T whole(const T* from) {
  if (from->size >= sizeof(T)) return *from;
  T out{};
  std::memcpy(static_cast<void*>(&out), from, from->size);
  return out;
}

// What went wrong. `code` is one of STRIA_INVALID_ARGUMENT … STRIA_INTERNAL.
struct Failure {
  stria_code code = STRIA_INTERNAL;
  std::string message;
  int64_t native_code = 0;     // the driver's own number
  std::string native_message;  // and its text
  std::string place;           // "file:line"
  std::string suggestion;      // what to do about it
  // What it came from; null if nothing.
  std::shared_ptr<const Failure> cause = nullptr;
};

// Null: all is well. Shared, because one failure travels to many dependants.
using Outcome = std::shared_ptr<const Failure>;

class Error : public std::exception {
 public:
  explicit Error(Failure failure) : failure_(std::make_shared<Failure>(std::move(failure))) {}
  // The place is where it is made. Only authors of plugins are shown it.
  Error(stria_code code, std::string message, std::string suggestion = {},
        const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : Error(Failure{
            code, std::move(message), 0, {}, place_of(file, line), std::move(suggestion)}) {}
  explicit Error(Outcome outcome) : failure_(std::move(outcome)) {}
  const char* what() const noexcept override { return failure_->message.c_str(); }
  const Outcome& outcome() const { return failure_; }

 private:
  // "queue.cc:12": without the folder, which is the builder's own.
  static std::string place_of(const char* file, int line) {
    const std::string_view path = file;
    const size_t slash = path.find_last_of("/\\");
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) + ":" +
           std::to_string(line);
  }

  Outcome failure_;
};

// Of a failure that the host gives, so many causes behind one another are kept, as the host does.
inline constexpr int kMaxCauses = 8;

// A stria_error that shares a Failure, with its causes; its release frees it.
struct SharedError : stria_error {
  explicit SharedError(Outcome outcome) : stria_error{}, failure(std::move(outcome)) {
    size = sizeof(stria_error);
    code = failure->code > STRIA_OK && failure->code <= STRIA_INTERNAL ? failure->code
                                                                       : STRIA_INTERNAL;
    native_code = failure->native_code;
    message = to_c(failure->message);
    native_message = to_c(failure->native_message);
    place = to_c(failure->place);
    suggestion = to_c(failure->suggestion);
    if (failure->cause) owned_cause.reset(new (std::nothrow) SharedError(failure->cause));
    cause = owned_cause.get();  // without memory for it the failure goes alone
    release = [](stria_error* error) { delete static_cast<SharedError*>(error); };
  }
  Outcome failure;
  std::unique_ptr<SharedError> owned_cause;
};

// For when there is no memory left to say so.
inline stria_error* out_of_memory_error() {
  static constexpr char text[] = "out of host memory";
  static stria_error error = {
      sizeof(stria_error), nullptr,      STRIA_OUT_OF_MEMORY, 0,       {text, sizeof text - 1},
      {nullptr, 0},        {nullptr, 0}, {nullptr, 0},        nullptr, [](stria_error*) {}};
  return &error;
}

// Null for null. Never throws.
inline stria_error* to_error(const Outcome& outcome) noexcept {
  if (!outcome) return nullptr;
  auto* error = new (std::nothrow) SharedError(outcome);
  return error ? error : out_of_memory_error();
}

inline Outcome outcome_of(const stria_error* given, int most_causes = kMaxCauses) {
  if (!given) return nullptr;
  const stria_error error = whole(given);
  auto failure = std::make_shared<Failure>();
  failure->code = error.code;
  failure->message = view_of(error.message);
  failure->native_code = error.native_code;
  failure->native_message = view_of(error.native_message);
  failure->place = view_of(error.place);
  failure->suggestion = view_of(error.suggestion);
  if (most_causes > 0) failure->cause = outcome_of(error.cause, most_causes - 1);
  return failure;
}

// Throws what a host service returned.
inline void check(stria_error* error) {
  if (!error) return;
  Outcome outcome = outcome_of(error);
  if (error->release) error->release(error);
  throw Error(std::move(outcome));
}

// The outcome of calling `function`.
template <typename Function>
Outcome outcome_of_call(Function&& function) {
  try {
    function();
    return nullptr;
  } catch (const Error& error) {
    return error.outcome();
  } catch (const std::bad_alloc&) {
    return std::make_shared<Failure>(
        Failure{STRIA_OUT_OF_MEMORY, "out of host memory", 0, {}, {}, {}});
  } catch (const std::exception& error) {
    return std::make_shared<Failure>(Failure{
        STRIA_INTERNAL, std::string("unexpected exception: ") + error.what(), 0, {}, {}, {}});
  } catch (...) {
    return std::make_shared<Failure>(
        Failure{STRIA_INTERNAL, "unexpected exception", 0, {}, {}, {}});
  }
}

// The body of a slot: calls `function`, returns what crosses the boundary.
template <typename Function>
stria_error* slot(Function&& function) noexcept {
  try {
    return to_error(outcome_of_call(std::forward<Function>(function)));
  } catch (...) {
    return out_of_memory_error();
  }
}

}  // namespace stria::sdk
