// SPDX-License-Identifier: Apache-2.0
// The same work for several devices at once, on a thread for each, so that none waits for another.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "stria/base/status.h"

namespace stria {

// Calls work(0), work(1), … at once and returns what has come of each when all are done. Where a
// thread cannot be had, the calls come one after another.
std::vector<Status> on_each(size_t count, const std::function<Status(size_t)>& work);

// The first that is not ok, with the name of its device.
Status first_failure(const std::vector<Status>& outcomes, const std::vector<std::string>& devices);

}  // namespace stria
