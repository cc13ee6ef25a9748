// SPDX-License-Identifier: Apache-2.0
#include "stria/base/status.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "stria/base/check_failed.h"

namespace stria {
namespace {

std::atomic<void (*)()> check_failed_handler = nullptr;

}  // namespace

std::string_view name_of(StatusCode code) {
  switch (code) {
    case StatusCode::ok: return "ok";
    case StatusCode::invalid_argument: return "invalid_argument";
    case StatusCode::not_found: return "not_found";
    case StatusCode::out_of_range: return "out_of_range";
    case StatusCode::unimplemented: return "unimplemented";
    case StatusCode::unsupported: return "unsupported";
    case StatusCode::unavailable: return "unavailable";
    case StatusCode::incompatible: return "incompatible";
    case StatusCode::out_of_memory: return "out_of_memory";
    case StatusCode::device_lost: return "device_lost";
    case StatusCode::permission_denied: return "permission_denied";
    case StatusCode::deadline_exceeded: return "deadline_exceeded";
    case StatusCode::cancelled: return "cancelled";
    case StatusCode::data_loss: return "data_loss";
    case StatusCode::failed_precondition: return "failed_precondition";
    case StatusCode::unknown: return "unknown";
    case StatusCode::internal: return "internal";
  }
  return "internal";
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  return fmt::format("{}: {}", name_of(code_), message_);
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return *this;
  return Status(code_, fmt::format("{}: {}", context, message_));
}

void end_without_value(const Status& failure) {
  std::fprintf(stderr, "stria: the value of a failed Result was asked for: %s\n",
               failure.to_string().c_str());
  std::fflush(stderr);
  end_process(4);
}

void end_process(int code) {
  while (true) ::syscall(SYS_exit_group, code);
}

void set_check_failed_handler(void (*handler)()) { check_failed_handler.store(handler); }

void check_failed(const char* file, int line, const std::string& message) {
  std::fprintf(stderr, "%s:%d: broken assumption in stria: %s\n", file, line, message.c_str());
  std::fflush(stderr);
  if (void (*handler)() = check_failed_handler.exchange(nullptr)) handler();
  // Not abort(): exit code 4 is what the commands promise for bugs of our own.
  end_process(4);
}

}  // namespace stria
