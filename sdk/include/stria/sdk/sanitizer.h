// SPDX-License-Identifier: Apache-2.0
// Which sanitizer this file is compiled with: the same must be on both sides of the boundary.
#pragma once

#include "stria/plugin.h"

// Some compilers say it with a macro, others with __has_feature.
#if defined(__has_feature)
#define STRIA_HAS_FEATURE(name) __has_feature(name)
#else
#define STRIA_HAS_FEATURE(name) 0
#endif

namespace stria::sdk {

#if defined(__SANITIZE_ADDRESS__) || STRIA_HAS_FEATURE(address_sanitizer)
inline constexpr stria_sanitizer kSanitizer = STRIA_SANITIZER_ADDRESS;
#elif defined(__SANITIZE_THREAD__) || STRIA_HAS_FEATURE(thread_sanitizer)
inline constexpr stria_sanitizer kSanitizer = STRIA_SANITIZER_THREAD;
#else
inline constexpr stria_sanitizer kSanitizer = STRIA_SANITIZER_NONE;
#endif

}  // namespace stria::sdk
