// SPDX-License-Identifier: Apache-2.0
// Reports of simulations: sums that agree with each other, traces without overlaps, the same bytes
// for the same run, and energies by hand.
#include "report/simulation_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "small_machine.h"
#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"

namespace stria::sim {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Tiles of A come in, are doubled on DSP, and go out, two at once.
constexpr const char* kTiles = R"(stripe 1.0
0: #program #placed block [] ( // p
    none new@0x0<DRAM[0]> A[0, 0] i8(8:64, 64:1)
    none new@0x200<DRAM[0]> B[0, 0] i8(8:64, 64:1)
) {
  0: #main #deps block [] ( // main
      in<DRAM[0]> A[0, 0] i8(8:64, 64:1)
      out<DRAM[0]> B[0, 0] i8(8:64, 64:1)
  ) {
    0: #kernel #pipeline=2 block [t:8] ( // doubled
        in<DRAM[0]> A[t, 0] i8(1:64, 64:1)
        out<DRAM[0]> B[t, 0] i8(1:64, 64:1)
        none new@0x0<SRAM[0]> An[0] i8(64:1)
        none new@0x80<SRAM[1]> Bn[0] i8(64:1)
    ) {
      0: #swap_in block<DMA> [k:64] (
          in<DRAM[0]> A[0, k] i8(1:64, 1:1)
          out<SRAM[0]> An[k] i8(1:1)
      ) {
        0: $a = load(A)
        1: An = store($a)
      }
      1: block<DSP> [k:64] (
          in<SRAM[0]> An[k] i8(1:1)
          out<SRAM[1]> Bn[k] i8(1:1)
      ) {
        0: $a = load(An)
        1: $b = add.i8($a, $a)
        2: Bn = store($b)
      }
      2: #swap_out block<DMA> [k:64] (
          in<SRAM[1]> Bn[k] i8(1:1)
          out<DRAM[0]> B[0, k] i8(1:64, 1:1)
      ) {
        0: $b = load(Bn)
        1: B = store($b)
      }
    }
  }
}
)";

HardwareModel priced_model() {
  HardwareModel model = small_model(64, 32);
  for (ExecutionUnit& unit : model.executors) {
    unit.energy_pj = {{"add.i8", 0.5}};
    unit.leakage_mw = 2;
    unit.area_mm2 = 0.25;
  }
  for (MemoryUnit& unit : model.memories) {
    unit.read_pj_per_byte = unit.name == "DRAM" ? 100 : 1;
    unit.write_pj_per_byte = unit.name == "DRAM" ? 200 : 3;
    if (unit.name == "SRAM") unit.bank_bytes = 48, unit.banks = 4;  // 64 bytes are two accesses
  }
  model.transfers[0].pj_per_byte = 5;
  model.buses[0].pj_per_byte = 7;
  return model;
}

// Of so many tiles, for which the tensors get as many rows.
SimulationReport simulated(const HardwareModel& model, Fidelity fidelity = Fidelity::event,
                           const SimulateOptions& events = {}, const std::string& tiles = "8",
                           uint64_t kept_records = PartOptions{}.kept_records) {
  std::string text = kTiles;
  for (const std::string from : {"[t:8]", "i8(8:64"})
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; ++at)
      text.replace(at + from.size() - (from[0] == '[' ? 2 : 4), 1, tiles);
  if (tiles != "8") text.replace(text.find("new@0x200"), 9, "new@0x40000000");
  auto program = stripe::parse({"test", text});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  auto run = simulate_part(*program, *program->main(), model, {fidelity, events, kept_records});
  STRIA_CHECK(run.ok(), "{}", run.status().to_string());
  SimulationReport report;
  report.program = "p";
  report.fidelity = "event";
  report.buses = "fluid";
  report.parts.push_back({"main", std::move(run).value()});
  return report;
}

// (C10) 8 tiles of 64 bytes, by hand.
TEST(Report, EnergyIsCountsTimesPricesPlusLeakage) {
  const SimulationReport report = simulated(priced_model());
  const Energy energy = energy_of(report.parts[0]);
  EXPECT_DOUBLE_EQ(energy.operations, 8 * 64 * 0.5);
  // In: DRAM 64 read, SRAM 96 written; operation: 96 read, 96 written; out: 96 read, DRAM 64
  // written.
  EXPECT_DOUBLE_EQ(energy.memories,
                   8 * (64 * 100 + 96 * 3 + 96 * 1 + 96 * 3 + 96 * 1 + 64 * 200.0));
  EXPECT_DOUBLE_EQ(energy.moving, 8 * (64 * 5 + 64 * 7 + 64 * 5.0));
  // Two CONVs and two DSPs at 2 mW.
  const double seconds = static_cast<double>(report.parts[0].run.ticks()) * 1e-9;
  EXPECT_DOUBLE_EQ(energy.leakage, 8 * seconds * 1e9);
  EXPECT_DOUBLE_EQ(area_of(priced_model()), 1);
  double kernels = 0;
  for (const KernelReport& kernel : kernels_of(report.parts[0])) kernels += kernel.pj;
  EXPECT_DOUBLE_EQ(kernels, energy.total() - energy.leakage);
}

TEST(Report, PeakPowerIsAboveTheAverageAndNotAboveAllAtOnce) {
  const SimulationReport report = simulated(priced_model());
  const double average = energy_of(report.parts[0]).total() /
                         (static_cast<double>(report.parts[0].run.ticks()) * 1e-9) / 1e9;
  EXPECT_NEAR(peak_milliwatts(report.parts[0]), average, 1e-6 * average);  // shorter than a window
  EXPECT_EQ(peak_milliwatts(simulated(priced_model(), Fidelity::roofline).parts[0]), 0);
}

TEST(Report, SumsAgreeWithEachOtherAndWithTheTrace) {
  const SimulationReport report = simulated(priced_model());
  const json parsed = json::parse(report_json(report));
  EXPECT_EQ(parsed["schema"], 1);
  const json& part = parsed["parts"][0];
  const uint64_t ticks = part["ticks"];
  EXPECT_LE(part["at_least_cycles"], part["cycles"]);
  std::map<std::string, uint64_t> busy;
  for (const json& unit : part["units"]) {
    uint64_t sum = 0;
    for (const auto& [name, spent] : unit["ticks"].items()) {
      sum += spent.get<uint64_t>();
      if (name != "data" && name != "dependency" && name != "slot" && name != "no_work")
        busy[unit["name"]] += spent.get<uint64_t>();
    }
    EXPECT_EQ(sum, ticks) << unit["name"];
    EXPECT_LE(unit["utilisation"], 1.0);
  }
  for (const json& channel : part["channels"])
    EXPECT_LE(channel["utilisation"], 1.0) << channel["name"];
  // What leaves DRAM arrives, and what was computed leaves.
  EXPECT_EQ(part["channels"][0]["bytes"], 512);
  EXPECT_EQ(part["channels"][1]["bytes"], 512);
  EXPECT_EQ(part["channels"][2]["bytes"], 512);
  EXPECT_EQ(part["channels"][3]["bytes"], 512);

  const json trace = json::parse(trace_json(report));
  std::map<std::pair<int, int>, std::string> tracks;
  std::map<std::pair<int, int>, std::vector<std::pair<uint64_t, uint64_t>>> slices;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name")
      tracks[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (event["ph"] == "X")
      slices[{event["pid"], event["tid"]}].emplace_back(
          event["ts"], event["ts"].get<uint64_t>() + event["dur"].get<uint64_t>());
  }
  std::map<std::string, uint64_t> shown;
  for (auto& [track, all] : slices) {
    std::sort(all.begin(), all.end());
    for (size_t n = 0; n < all.size(); ++n) {
      EXPECT_GE(all[n].first, n > 0 ? all[n - 1].second : 0) << tracks[track];
      EXPECT_LE(all[n].second, ticks);
      shown[tracks[track]] += all[n].second - all[n].first;
    }
  }
  EXPECT_EQ(shown.size(), 6u);  // both DSPs, and both DMAs each way
  for (const auto& [track, sum] : shown) EXPECT_EQ(sum, busy[track]) << track;
}

// The trace event format, as viewers read it: events of two kinds, with what each kind must have
// and of which type; a name for each process and thread before its first slice, once; times that a
// double of microseconds holds, and 64 bits of nanoseconds; slices in each thread in order.
// Perfetto tells the format by how a file begins, and names a thread by its number alone, whatever
// the process: none is given twice, and what a process has as its own is its first thread.
TEST(Report, TheTraceIsAsViewersReadIt) {
  HardwareModel model = priced_model();
  for (MemoryUnit& unit : model.memories)
    if (unit.name == "DRAM") unit.size_bytes = int64_t{1} << 32;
  SimulationReport two = simulated(model);
  two.parts.push_back(simulated(model, Fidelity::event, {}, "5000").parts[0]);
  two.parts[0].name = "prologue \"1\"\n";  // names are texts of any kind
  const std::string text = trace_json(two);
  EXPECT_TRUE(text.starts_with("{\"") && !text.starts_with("{\"meta\"")) << text.substr(0, 20);
  const json trace = json::parse(text);
  EXPECT_EQ(trace["displayTimeUnit"], "ms");
  std::set<int> numbers;  // of threads
  std::map<int, int> processes;
  std::map<std::pair<int, int>, int> threads;
  std::map<std::pair<int, int>, uint64_t> last;
  size_t slices = 0;
  for (const json& event : trace["traceEvents"]) {
    SCOPED_TRACE(event.dump());
    ASSERT_TRUE(event["ph"].is_string() && event["name"].is_string());
    ASSERT_TRUE(event["pid"].is_number_unsigned());
    const int pid = event["pid"];
    if (event["ph"] == "M") {
      ASSERT_TRUE(event["args"]["name"].is_string());
      EXPECT_FALSE(event["args"]["name"].get<std::string>().empty());
      ASSERT_TRUE(event["tid"].is_number_unsigned());
      if (event["name"] == "process_name") {
        EXPECT_EQ(++processes[pid], 1);
        EXPECT_EQ(event["tid"], pid);
        EXPECT_EQ(numbers.count(pid), 0u);
      } else {
        EXPECT_EQ(event["name"], "thread_name");
        EXPECT_GT(event["tid"], 0);
        EXPECT_TRUE(numbers.insert(event["tid"].get<int>()).second);
        EXPECT_EQ((++threads[{pid, event["tid"]}]), 1);
      }
      continue;
    }
    ++slices;
    ASSERT_EQ(event["ph"], "X");
    ASSERT_TRUE(event["tid"].is_number_unsigned() && event["cat"].is_string());
    ASSERT_TRUE(event["ts"].is_number_unsigned() && event["dur"].is_number_unsigned());
    EXPECT_LT(event["ts"].get<uint64_t>() + event["dur"].get<uint64_t>(), uint64_t{1} << 53);
    EXPECT_TRUE(!event.contains("args") || event["args"].is_object());
    const std::pair<int, int> track{pid, event["tid"].get<int>()};
    EXPECT_EQ(processes.count(pid), 1u);
    EXPECT_EQ(threads.count(track), 1u);
    EXPECT_GE(event["ts"].get<uint64_t>(), last[track]);
    last[track] = event["ts"].get<uint64_t>() + event["dur"].get<uint64_t>();
  }
  EXPECT_GE(slices, 48u);  // 24 of the first part
  EXPECT_EQ(numbers.size(), threads.size());
  for (const auto& [pid, count] : processes) EXPECT_EQ(threads.count({pid, pid}), 1u);
}

// A loop in full, and what is left of it when it is skipped ahead: the same reports to the byte,
// and a trace that says what it leaves out.
TEST(Report, SkippingAheadChangesNothing) {
  HardwareModel model = priced_model();
  for (MemoryUnit& unit : model.memories)
    if (unit.name == "DRAM") unit.size_bytes = int64_t{1} << 32;
  for (const BusModel buses : {BusModel::fluid, BusModel::burst}) {
    SimulateOptions full{buses, 256, false}, ahead{buses, 256, true};
    const SimulationReport a = simulated(model, Fidelity::event, full, "5000"),
                           b = simulated(model, Fidelity::event, ahead, "5000");
    EXPECT_EQ(report_json(a), report_json(b));
    EXPECT_EQ(kernels_csv(a), kernels_csv(b));
    EXPECT_EQ(summary(a), summary(b));
    EXPECT_GT(peak_milliwatts(b.parts[0]), 0);
    EXPECT_EQ(a.parts[0].run.timeline.all(), b.parts[0].run.timeline.all());
    EXPECT_LT(b.parts[0].run.timeline.tasks.size(), 100u);

    // By track: tasks, and ticks that they take; slices that stand for many say so.
    struct Track {
      uint64_t tasks = 0, busy = 0, last = 0;
      bool operator==(const Track& other) const {
        return tasks == other.tasks && busy == other.busy;
      }
    };
    const auto tracks = [](const SimulationReport& report, size_t& marks) {
      std::map<std::pair<int, int>, Track> out;
      const json trace = json::parse(trace_json(report));
      for (const json& event : trace["traceEvents"]) {
        if (event["ph"] != "X") continue;
        Track& track = out[{event["pid"], event["tid"]}];
        EXPECT_GE(event["ts"].get<uint64_t>(), track.last);
        track.last = event["ts"].get<uint64_t>() + event["dur"].get<uint64_t>();
        const bool many = event.contains("args");
        marks += many;
        track.tasks += many ? event["args"]["tasks"].get<uint64_t>() : 1;
        track.busy +=
            many ? event["args"]["busy_ticks"].get<uint64_t>() : event["dur"].get<uint64_t>();
      }
      return out;
    };
    size_t none = 0, some = 0;
    EXPECT_EQ(tracks(a, none), tracks(b, some));
    EXPECT_EQ(none, 0u);
    EXPECT_GT(some, 0u);
  }
}

// What a trace has no room for it counts, where its last task ends; nothing else changes.
TEST(Report, ATraceSaysHowManyTasksItLeavesOut) {
  HardwareModel model = priced_model();
  for (MemoryUnit& unit : model.memories)
    if (unit.name == "DRAM") unit.size_bytes = int64_t{1} << 32;
  constexpr uint64_t kTasks = 3 * 5000, kKept = 1000;
  for (const bool skip_ahead : {false, true}) {
    // With a loop that repeats itself the first piece has all of it: nothing is kept then.
    const uint64_t kept = skip_ahead ? 10 : kKept;
    const SimulateOptions events{BusModel::fluid, 256, skip_ahead, /*piece_records=*/300};
    const SimulationReport all = simulated(model, Fidelity::event, events, "5000");
    SimulationReport some = simulated(model, Fidelity::event, events, "5000", kept);
    EXPECT_EQ(report_json(all), report_json(some));
    EXPECT_EQ(kernels_csv(all), kernels_csv(some));
    EXPECT_EQ(all.parts[0].run.left_out, 0u);
    EXPECT_THAT(trace_json(all), Not(HasSubstr("left out")));

    some.parts.push_back(simulated(model).parts[0]);
    some.parts.back().name = "after";
    const json trace = json::parse(trace_json(some));
    uint64_t slices = 0, last_end = 0, begin_of_next = UINT64_MAX;
    std::vector<json> instants;
    for (const json& event : trace["traceEvents"]) {
      if (event["ph"] == "i") instants.push_back(event);
      if (event["ph"] != "X") continue;
      if (event["cat"] == "after") {
        begin_of_next = std::min<uint64_t>(begin_of_next, event["ts"]);
        continue;
      }
      ++slices;
      last_end = std::max(last_end, event["ts"].get<uint64_t>() + event["dur"].get<uint64_t>());
    }
    EXPECT_LE(slices, kept);
    EXPECT_EQ(slices > 0, !skip_ahead);
    ASSERT_EQ(instants.size(), 1u);
    const json& instant = instants[0];
    EXPECT_EQ(instant["args"]["tasks"], kTasks - slices);
    EXPECT_EQ(instant["name"], std::to_string(kTasks - slices) + " more tasks are left out");
    EXPECT_EQ(instant["cat"], "main");
    EXPECT_EQ(instant["s"], "g");
    EXPECT_EQ(instant["ts"], last_end);
    EXPECT_GE(begin_of_next, all.parts[0].run.ticks());
  }
}

TEST(Report, ABillionTilesAreTimedAtOnce) {
  HardwareModel model = priced_model();
  for (MemoryUnit& unit : model.memories)
    if (unit.name == "DRAM") unit.size_bytes = int64_t{1} << 40;
  const auto begin = std::chrono::steady_clock::now();
  const SimulationReport report = simulated(model, Fidelity::event, {}, "1000000000");
  const json parsed = json::parse(report_json(report));
  std::printf(
      "a billion tiles: %.1f ms\n",
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e3);
  EXPECT_EQ(parsed["parts"][0]["tasks"], 3'000'000'000u);
  EXPECT_EQ(parsed["parts"][0]["channels"][0]["bytes"], 64e9);
}

// One point of a loop stands for all of them.
TEST(Report, BoundsAloneHaveTheSameCounts) {
  const SimulationReport bounds = simulated(priced_model(), Fidelity::roofline);
  const SimulationReport events = simulated(priced_model());
  const Energy a = energy_of(bounds.parts[0]), b = energy_of(events.parts[0]);
  EXPECT_DOUBLE_EQ(a.operations, b.operations);
  EXPECT_DOUBLE_EQ(a.memories, b.memories);
  EXPECT_DOUBLE_EQ(a.moving, b.moving);
  EXPECT_EQ(kernels_of(bounds.parts[0])[0].tasks, kernels_of(events.parts[0])[0].tasks);
  EXPECT_EQ(bytes_of_channels(bounds.parts[0])[0], bytes_of_channels(events.parts[0])[0]);
  EXPECT_EQ(bounds.parts[0].run.ticks(),
            least_ticks(events.parts[0].run.machine, events.parts[0].run.lowered));
}

TEST(Report, TheSameRunGivesTheSameBytes) {
  const SimulationReport a = simulated(priced_model()), b = simulated(priced_model());
  EXPECT_EQ(report_json(a), report_json(b));
  EXPECT_EQ(kernels_csv(a), kernels_csv(b));
  EXPECT_EQ(trace_json(a), trace_json(b));
  EXPECT_EQ(summary(a), summary(b));
}

// (C8) What a unit works on in global memory is said, with the bytes.
TEST(Report, GlobalOperandsAreNamed) {
  std::string text = kTiles;
  const std::string loop = "0: #kernel #pipeline=2";
  const size_t from = text.find(loop), to = text.find("  }\n}\n)");
  text.replace(from, text.rfind("  }\n}", to) - from, R"(0: block<DSP> [t:8, k:64] ( // there
        in<DRAM[0]> A[t, k] i8(1:64, 1:1)
        out<DRAM[0]> B[t, k] i8(1:64, 1:1)
    ) {
      0: $a = load(A)
      1: $b = add.i8($a, $a)
      2: B = store($b)
    }
)");
  auto program = stripe::parse({"test", text});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  auto run = simulate_part(*program, *program->main(), priced_model());
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  SimulationReport report;
  report.parts.push_back({"main", std::move(run).value()});
  EXPECT_THAT(summary(report), HasSubstr("there works on A in DRAM[0] from afar: 512 bytes"));
  // Of many the largest, also those past 2^64 bytes.
  SimulationReport many = report;
  for (int n = 0; n < 20; ++n)
    many.parts[0].run.lowered.global_operands[0]["X" + std::to_string(n)] = std::ldexp(1.0, 50 + n);
  const std::string lines = summary(many);
  EXPECT_THAT(lines, HasSubstr("X19 from afar: 590295810358705651712 bytes"));
  EXPECT_THAT(lines, HasSubstr("X12 from afar: 4611686018427387904 bytes"));
  EXPECT_THAT(lines, Not(HasSubstr("X11 from afar")));
  EXPECT_THAT(lines, HasSubstr("  and on 14 more operands from afar"));
  const json operands = json::parse(report_json(report))["parts"][0]["global_operands"];
  ASSERT_EQ(operands.size(), 2u);
  EXPECT_EQ(operands[0]["kernel"], "there");
  EXPECT_EQ(operands[0]["operand"], "A in DRAM[0]");
  EXPECT_EQ(operands[0]["bytes"], 512);
  EXPECT_TRUE(
      json::parse(report_json(simulated(priced_model())))["parts"][0]["global_operands"].empty());
}

TEST(Report, TablesForPeopleAndPrograms) {
  const SimulationReport report = simulated(priced_model());
  const std::vector<std::string> lines = split(kernels_csv(report), '\n');
  EXPECT_EQ(lines[0],
            "part,kernel,unit,start_cycle,end_cycle,cycles,busy_cycles,tasks,bytes_moved,"
            "operations,energy_pJ");
  EXPECT_THAT(lines[1], HasSubstr("main,doubled,DSP,0,"));
  EXPECT_THAT(summary(report), testing::AllOf(HasSubstr("doubled"), HasSubstr("lost most to: "),
                                              HasSubstr("mW on average"), HasSubstr("100.0%")));
  HardwareModel unpriced = priced_model();
  for (ExecutionUnit& unit : unpriced.executors) unit.energy_pj.clear();
  EXPECT_THAT(summary(simulated(unpriced)),
              HasSubstr("the model has no energy of add.i8: 512 operations are not counted"));
}

}  // namespace
}  // namespace stria::sim
