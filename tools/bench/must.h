// SPDX-License-Identifier: Apache-2.0
// The value of a result; where there is none the benchmark says why and ends with 3.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "stria/base/result.h"
#include "stria/base/status.h"

namespace stria::bench {

inline void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::exit(3);
}

template <typename T>
T must(Result<T> result) {
  must(result.status());
  return std::move(result).value();
}

}  // namespace stria::bench
