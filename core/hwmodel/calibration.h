// SPDX-License-Identifier: Apache-2.0
// What costs know of a unit beside its rates: the numbers that were fitted to kernels as they run.
// The object `calibration` of a unit in a model has them; a number that it leaves out has a default
// that serves an unknown machine of the kind (core_facts.def, group_facts.def).
#pragma once

#include <string>
#include <vector>

namespace stria {

#define STRIA_FACT(name, initial, lowest, highest, unit, meaning) double name = initial;
// Of a core with vector registers.
struct CoreFacts {
#include "stria/hwmodel/core_facts.def"
  bool operator==(const CoreFacts&) const = default;
};
// Of a unit that runs groups of lanes.
struct GroupFacts {
#include "stria/hwmodel/group_facts.def"
  bool operator==(const GroupFacts&) const = default;
};
#undef STRIA_FACT

// `calibration` of an execution unit. A unit has the numbers of every kind, and a cost reads those
// of its own.
struct UnitCalibration {
  std::string machine, date;  // what was measured, and when ("2026-11-28"); may be empty
  CoreFacts core;
  GroupFacts group;
};

// A number of a calibration, as documentation and tools list it.
struct CalibrationFact {
  const char* kind;  // "core", "group"
  const char* name;
  double initial, lowest, highest;
  const char *unit, *meaning;
  bool whole;  // what is counted, as groups or bytes are: an integer
  double& (*in)(UnitCalibration& calibration);
};
// All of them. Names are unique among all kinds.
const std::vector<CalibrationFact>& calibration_facts();

}  // namespace stria
