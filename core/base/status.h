// SPDX-License-Identifier: Apache-2.0
// Making failures: formatted messages and checks of our own assumptions. stria/base/result.h has
// the types. Nothing in core throws; a broken assumption of our own is STRIA_CHECK, which ends the
// process with exit code 4.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "stria/base/result.h"

namespace stria {

template <typename... Args>
Status make_error(StatusCode code, fmt::format_string<Args...> text, Args&&... args) {
  return Status(code, fmt::format(text, std::forward<Args>(args)...));
}
template <typename... Args>
Status invalid_argument(fmt::format_string<Args...> text, Args&&... args) {
  return Status(StatusCode::invalid_argument, fmt::format(text, std::forward<Args>(args)...));
}
template <typename... Args>
Status not_found(fmt::format_string<Args...> text, Args&&... args) {
  return Status(StatusCode::not_found, fmt::format(text, std::forward<Args>(args)...));
}
template <typename... Args>
Status unsupported(fmt::format_string<Args...> text, Args&&... args) {
  return Status(StatusCode::unsupported, fmt::format(text, std::forward<Args>(args)...));
}
template <typename... Args>
Status internal_error(fmt::format_string<Args...> text, Args&&... args) {
  return Status(StatusCode::internal, fmt::format(text, std::forward<Args>(args)...));
}

// Prints "file.cc:line: broken assumption: …" on stderr and exits with code 4. The file's name
// alone: no folder of who built it belongs into a package.
[[noreturn]] void check_failed(const char* file, int line, const std::string& message);

#define STRIA_CHECK(condition, ...)                                                               \
  do {                                                                                            \
    if (!(condition)) ::stria::check_failed(__FILE_NAME__, __LINE__, ::fmt::format(__VA_ARGS__)); \
  } while (false)

}  // namespace stria
