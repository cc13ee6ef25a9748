// SPDX-License-Identifier: Apache-2.0
// The results of a simulation, for programs (report.json, kernels.csv, trace.json) and for people.
// All texts are the same for the same simulation: no clocks, no addresses, no hash order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "program/part_simulation.h"
#include "stria/cost/block/machine_bound.h"

namespace stria::sim {

// Picojoules.
struct Energy {
  double operations = 0, memories = 0, moving = 0, leakage = 0;
  double total() const { return operations + memories + moving + leakage; }
};

struct ReportedPart {
  std::string name;  // "main"
  PartSimulation run;
};

// A search for the tile of a kernel: how near to the cheapest tile the chosen one is for certain.
struct TileSearch {
  std::string kernel;
  std::string search;     // "exhaustive"
  int64_t looked_at = 0;  // tiles
  double cost = 0;        // of the tile that was chosen
  double least = 0;       // no tile costs less
  double above() const { return least > 0 ? cost / least - 1 : 0; }
};

struct SimulationReport {
  std::string program;
  std::string fidelity;                       // as on the command line
  std::string buses;                          // likewise
  std::map<std::string, std::string> hashes;  // of every input, by what it is
  std::map<std::string, std::string> settings;
  std::vector<ReportedPart> parts;  // #prologue, if there is one, and #main
  // What no mapping of #main can beat on the machine, the largest first.
  std::vector<cost::MachineBound> machine_bounds;
  std::vector<TileSearch> searches;  // of the mapping's kernels
};

// The report of a kernel, which is a statement of a part.
struct KernelReport {
  std::string name, unit;
  uint64_t start = 0, end = 0, busy = 0;  // ticks; busy: the sum of its tasks
  uint64_t tasks = 0;
  double pj = 0;  // without leakage
  double bytes_moved = 0;
  std::map<std::string, double> operations;
};
std::vector<KernelReport> kernels_of(const ReportedPart& part);

Energy energy_of(const ReportedPart& part);
// The area of all units of the model, mm2; 0: the model gives none.
double area_of(const HardwareModel& model);
// The most milliwatts over any microsecond (or over all of a shorter run), leakage included; 0
// without a clock or events.
double peak_milliwatts(const ReportedPart& part);
// Bytes that each channel of the machine carried.
std::vector<double> bytes_of_channels(const ReportedPart& part);

// One JSON object, indented, with "schema": 1.
std::string report_json(const SimulationReport& report);
// A line for each kernel of each part, with a head.
std::string kernels_csv(const SimulationReport& report);
// For trace viewers (Chrome's format). A unit is a process, an instance a track, a task a slice; a
// tick is a microsecond there. What repeats itself is one slice, which says how often it comes, how
// many tasks it stands for and how many ticks they take. Tasks that are not kept are counted in an
// instant event, at the end of the last kept task of their part. Parts follow one another.
std::string trace_json(const SimulationReport& report);
// For people: latency, kernels, units with what they waited for, energy.
std::string summary(const SimulationReport& report);

}  // namespace stria::sim
