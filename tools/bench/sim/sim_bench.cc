// SPDX-License-Identifier: Apache-2.0
// How fast the simulated accelerator is: events of the clock, a network of the shape of ResNet-50
// in 8-bit integers (passes, time alone, values), estimates of layers at roofline fidelity, memory.
//   stria_sim_bench [--values | --network]
// --values also computes the network's values, which takes a minute. --network: the network alone.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <regex>

#include "engine/check_timeline.h"
#include "must.h"
#include "program/part_simulation.h"
#include "resnet50.h"
#include "sim_machines.h"
#include "stria/lower/lower.h"
#include "stria/tile/syntax/parser.h"
#include "values/program_run.h"

namespace {

using namespace stria;
using bench::must;

// The shortest of so many runs, seconds.
template <typename Work>
double best_of(int runs, const Work& work) {
  double best = 1e30;
  for (int r = 0; r < runs; ++r) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

bool all_met = true;
void row(const char* what, double value, const char* unit, const char* goal, bool met) {
  std::printf("%-72s %12.4g %-12s %-14s %s\n", what, value, unit, goal,
              *goal == 0 ? ""
              : met      ? "met"
                         : "MISSED");
  all_met = all_met && met;
}

HardwareModel slides_model() { return bench::SimMachine{"stripe_slides", 0, {}}.load(); }

struct Compiled {
  stripe::Program device;
  double pass_seconds = 0;
  std::vector<StepReport> steps;
};

Compiled compiled(const std::string& text, const std::map<std::string, tile::TensorType>& inputs,
                  const HardwareModel& model) {
  const Pipeline steps = bench::sim_pipeline(model);
  const tile::Program parsed = must(tile::parse({"network", text}));
  const tile::BoundProgram bound = must(tile::bind_program(parsed, "", inputs));
  const stripe::Program generic = must(lower(bound));
  Compiled out;
  out.pass_seconds = best_of(3, [&] {
    out.device = generic;
    out.steps = must(run_pipeline(out.device, steps, model, bench::sim_pipeline_options()));
  });
  return out;
}

// Activations and weights of 8 bits, sums and biases of 32.
bench::ResNet50 network() {
  bench::ResNet50 out = bench::resnet50();
  out.text = std::regex_replace(out.text, std::regex(R"(max\((\w+), 0\.0\))"),
                                "as_int(max($1, 0) / 256, 8)");
  for (auto& [name, type] : out.inputs) type.type = name[0] == 'B' ? DataType::i32 : DataType::i8;
  return out;
}

// Tiles that are brought, worked on and taken away: `kinds` and a graph of one of them.
struct Tiles {
  sim::Machine machine;
  sim::TaskGraph graph;
};
Tiles tile_on_slides() {
  Tiles out{must(sim::Machine::make(slides_model())), {}};
  const auto transfer = [&](const UnitInstance& from, const UnitInstance& to) {
    sim::TaskKind kind;
    kind.work = sim::TaskKind::Work::transfer;
    kind.route = must(out.machine.route(from, "DMA", -1, {to}));
    kind.group = kind.route.group;
    kind.instance = kind.route.instance;
    kind.bytes = 6400;
    return kind;
  };
  sim::TaskKind compute;
  compute.work = sim::TaskKind::Work::operation;
  compute.group = must(out.machine.execution_group("CONV"));
  compute.compute_ticks = 150;
  out.graph.kinds = {transfer({"DRAM", 0}, {"SRAM", 0}), compute,
                     transfer({"SRAM", 1}, {"DRAM", 0})};
  return out;
}

// Of a graph without loops, of which each task is looked at.
double events_per_second(sim::BusModel buses) {
  Tiles tiles = tile_on_slides();
  std::vector<uint32_t> ends;
  for (size_t tile = 0; tile < 400'000; ++tile) {
    std::vector<uint32_t> before;
    if (tile >= 4) before.push_back(ends[tile - 4]);
    uint32_t task = tiles.graph.add(0, before);
    task = tiles.graph.add(1, {task});
    ends.push_back(tiles.graph.add(2, {task}));
  }
  uint64_t events = 0;
  const double seconds = best_of(
      3, [&] { events = must(sim::simulate(tiles.machine, tiles.graph, {buses, 6400})).events; });
  return static_cast<double>(events) / seconds;
}

double billion_tiles_seconds() {
  Tiles tiles = tile_on_slides();
  sim::TaskGraph body;
  uint32_t task = body.add(0, {});
  task = body.add(1, {task});
  body.add(2, {task});
  tiles.graph.add_loop({std::make_shared<const sim::TaskGraph>(body), 1'000'000'000, 4, {}}, {});
  return best_of(3, [&] { must(sim::simulate(tiles.machine, tiles.graph)); });
}

// Twelve million tasks, none skipped: run, and every rule looked at for each of them.
double all_checked_seconds(sim::BusModel buses) {
  Tiles tiles = tile_on_slides();
  sim::TaskGraph body;
  uint32_t task = body.add(0, {});
  task = body.add(1, {task});
  body.add(2, {task});
  tiles.graph.add_loop({std::make_shared<const sim::TaskGraph>(body), 4'000'000, 4, {}}, {});
  sim::SimulateOptions options;
  options.buses = buses;
  options.burst_bytes = 6400;
  options.skip_ahead = false;
  return best_of(1, [&] {
    sim::TimelineCheck check(tiles.machine, tiles.graph);
    const sim::Timeline all = must(sim::simulate(
        tiles.machine, tiles.graph, options,
        [&](sim::Timeline&& piece, uint64_t horizon) { return check.add(piece, horizon); }));
    if (const Status status = check.finish(all.ticks); !status.ok()) {
      std::fprintf(stderr, "stria_sim_bench: %s\n", status.to_string().c_str());
      std::exit(3);
    }
    if (check.looked_at() != 12'000'000) std::exit(3);
  });
}

double roofline_estimates_per_second(const HardwareModel& model) {
  const Compiled layer = compiled(
      "function (I[X, Y, C], K[A, B, C, M]) -> (S) {\n"
      "  S[x, y, o : X, Y, M] = +(I[x + i - 1, y + j - 1, c] * K[i, j, c, o]);\n}",
      {{"I", {DataType::i8, {56, 56, 64}}}, {"K", {DataType::i8, {3, 3, 64, 64}}}}, model);
  constexpr int kEstimates = 20'000;
  sim::Machine machine = must(sim::Machine::make(model));
  const double seconds = best_of(3, [&] {
    for (int n = 0; n < kEstimates; ++n) must(sim::estimate_part(machine, *layer.device.main()));
  });
  return kEstimates / seconds;
}

double values_seconds(const stripe::Program& device) {
  std::map<std::string, std::vector<char>> memory;
  std::map<std::string, void*> tensors;
  uint32_t state = 1;
  for (const stripe::Refinement& ref : device.entry.refs) {
    std::vector<char>& bytes = memory[ref.into];
    bytes.resize(static_cast<size_t>(ref.shape.span_bytes()));
    for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 29);
    tensors[ref.into] = bytes.data();
  }
  return best_of(1, [&] {
    if (const Status status = sim::run_program(device, {}, tensors); !status.ok()) {
      std::fprintf(stderr, "stria_sim_bench: %s\n", status.to_string().c_str());
      std::exit(3);
    }
  });
}

// What the engine does in a second.
void engine_rows() {
  for (const sim::BusModel buses : {sim::BusModel::fluid, sim::BusModel::burst}) {
    const double events = events_per_second(buses) / 1e6;
    const bool fluid = buses == sim::BusModel::fluid;
    row(fluid ? "events, fluid buses" : "events, a burst a transfer", events, "million/s",
        fluid ? ">= 3" : "", !fluid || events >= 3);
  }
  const double billion = billion_tiles_seconds();
  row("a loop of 10^9 tiles, skipped ahead", billion * 1e3, "ms", "< 1000", billion < 1);
  const double checked = 24 / all_checked_seconds(sim::BusModel::fluid);
  row("events of 12 million tasks, none skipped, all checked", checked, "million/s", ">= 3",
      checked >= 3);
  row("  the same, a burst a transfer", 24 / all_checked_seconds(sim::BusModel::burst), "million/s",
      "", true);
  const HardwareModel model = slides_model();
  const double estimates = roofline_estimates_per_second(model);
  row("estimates of a layer, roofline", estimates, "1/s", ">= 20000", estimates >= 20'000);
}

}  // namespace

int main(int count, char** arguments) {
  const bool values = count > 1 && std::strcmp(arguments[1], "--values") == 0,
             network_alone = count > 1 && std::strcmp(arguments[1], "--network") == 0;
  std::printf("%-72s %12s %-12s %-14s\n", "one core, best of runs", "value", "unit", "goal");
  if (!network_alone) engine_rows();
  // A point of a study: the network mapped anew, then its time.
  const bench::ResNet50 resnet = network();
  stripe::Program device;
  for (const bench::SimMachine& machine : bench::sim_machines()) {
    const HardwareModel on = machine.load();
    Compiled made = compiled(resnet.text, resnet.inputs, on);
    uint64_t cycles = 0;
    double tasks = 0;
    const double timing = best_of(5, [&] {
      const sim::PartSimulation run =
          must(sim::simulate_part(made.device, *made.device.main(), on));
      tasks = std::accumulate(run.lowered.tasks.begin(), run.lowered.tasks.end(), 0.0);
      cycles = run.machine.cycles(run.ticks());
    });
    const auto of = [&](const char* what) {
      return fmt::format("ResNet-50 in i8 on {}: {}", machine.name(), what);
    };
    row(of("passes").c_str(), made.pass_seconds, "s", "", true);
    std::sort(made.steps.begin(), made.steps.end(), [](const StepReport& a, const StepReport& b) {
      return a.milliseconds > b.milliseconds;
    });
    for (size_t n = 0; n < 3; ++n)
      row(("  the step " + made.steps[n].step).c_str(), made.steps[n].milliseconds / 1e3, "s", "",
          true);
    row("  time", timing, "s", "< 0.01", timing < 0.01);
    row("  both", made.pass_seconds + timing, "s", "< 0.15", made.pass_seconds + timing < 0.15);
    row("  tasks", tasks, "", "", true);
    row("  simulated cycles", static_cast<double>(cycles), "", "", true);
    if (device.main() == nullptr) device = made.device;
  }
  if (values) {
    const double seconds = values_seconds(device);
    row("ResNet-50 in i8: values, one core", seconds, "s", "< 120", seconds < 120);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double mebibytes = static_cast<double>(usage.ru_maxrss) / 1024;
  row("most memory", mebibytes, "MiB", "< 1024", mebibytes < 1024);
  return all_met ? 0 : 1;
}
