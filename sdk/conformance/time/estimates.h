// SPDX-License-Identifier: Apache-2.0
// What the plugin's table stria.estimate says of a program.
#pragma once

#include <functional>
#include <string>

#include "stria/experimental.h"
#include "suite/subject.h"
#include "time/time_cases.h"

namespace stria::conformance {

Result<stria_estimate> estimate(const Subject& s, const stria_estimate_table& table,
                                const std::string& stripe);

// Adds a case "R.estimate.NAME" for plugins that have the table; the others skip it.
Case& add_estimate_case(CaseMaker& maker, std::string_view name, Level level,
                        std::string_view sentence,
                        std::function<Finding(Subject&, const stria_estimate_table&)> run);

}  // namespace stria::conformance
