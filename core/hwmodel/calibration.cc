// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/calibration.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace stria {

namespace {

bool is_counted(std::string_view unit) {
  constexpr std::string_view kMeasured[] = {"cycles",        "instructions",   "times",
                                            "part",          "parts",          "power",
                                            "multiply-adds", "bytes per cycle"};
  return std::find(std::begin(kMeasured), std::end(kMeasured), unit) == std::end(kMeasured);
}

}  // namespace

const std::vector<CalibrationFact>& calibration_facts() {
#define STRIA_FACT_OF(kind, name, initial, lowest, highest, unit, meaning) \
  {#kind,                                                                  \
   #name,                                                                  \
   initial,                                                                \
   lowest,                                                                 \
   highest,                                                                \
   unit,                                                                   \
   meaning,                                                                \
   is_counted(unit),                                                       \
   [](UnitCalibration& of) -> double& { return of.kind.name; }},
  static const std::vector<CalibrationFact> facts = {
#define STRIA_FACT(...) STRIA_FACT_OF(core, __VA_ARGS__)
#include "stria/hwmodel/core_facts.def"
#undef STRIA_FACT
#define STRIA_FACT(...) STRIA_FACT_OF(group, __VA_ARGS__)
#include "stria/hwmodel/group_facts.def"
#undef STRIA_FACT
  };
#undef STRIA_FACT_OF
  return facts;
}

}  // namespace stria
