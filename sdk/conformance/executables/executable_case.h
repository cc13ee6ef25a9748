// SPDX-License-Identifier: Apache-2.0
// How the cases of group X are added.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "suite/all_cases.h"
#include "suite/program_run.h"

namespace stria::conformance {

// Every one of them needs a device that has i32, and time for the driver's compiler.
inline Case& add_executable_case(CaseMaker& maker, std::string_view name, Level level,
                                 std::string_view sentence, std::function<Finding(Subject&)> run) {
  Case& c =
      maker.add('X', name, level, sentence, [run = std::move(run)](Subject& subject) -> Finding {
        if (const Status lacks = check_has(subject, DataType::i32); !lacks.ok())
          return finding_of(lacks);
        return run(subject);
      });
  c.limit = std::chrono::seconds(60);
  return c;
}

}  // namespace stria::conformance
