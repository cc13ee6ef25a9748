// SPDX-License-Identifier: Apache-2.0
// How far is the simulator from a machine that exists? The 60 programs of the pick bench, measured
// on a device, beside what a model of that machine takes in the simulator, mapped by the pipeline
// of every machine, and beside what the device's own cost model predicts:
//   stria_sim_real_bench --device llvm_cpu@2 --hw hwmodels/simulated/cpu.json [--set 'CORES=2;…']
//                        [--only TEXT] [--rounds N] [--json FILE]
// A run in the simulator is the time of its clock and what the model says that a start takes:
// `run_us` of the program, `launch_us` of each kernel behind the first one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "median.h"
#include "options.h"
#include "pick/host_device.h"
#include "pick/pick_programs.h"
#include "program/part_simulation.h"
#include "sim_machines.h"
#include "stria/base/text.h"
#include "stria/runtime/device_picker.h"
#include "stria/runtime/inside.h"
#include "stria/stripe/tags.h"

namespace stria::bench {
namespace {

struct Asked {
  std::string device = "llvm_cpu", hw, settings, only, json;
  int rounds = 5;
};

// The start is most of what shorter runs take: a summary of its own leaves them out.
constexpr double kLonger = 50e-6;

struct Row {
  std::string program;
  double measured = 0, simulated = 0, predicted = 0;  // seconds
};

TemplateSettings settings_of(const std::string& text) {
  TemplateSettings out;
  if (text.empty()) return out;
  for (const std::string& one : split(text, ';')) {
    const size_t at = one.find('=');
    if (at == std::string::npos) {
      std::fprintf(stderr, "--set '%s': no NAME=VALUE\n", one.c_str());
      std::exit(2);
    }
    out[one.substr(0, at)] = one.substr(at + 1);
  }
  return out;
}

double simulated_seconds(stripe::Program program, const HardwareModel& model) {
  must(run_pipeline(program, sim_pipeline(model), model, sim_pipeline_options()));
  const stripe::Block& main = *program.main();
  const sim::PartSimulation run = must(sim::simulate_part(program, main, model));
  const auto kernels = static_cast<size_t>(
      std::count_if(main.stmts.begin(), main.stmts.end(), [](const stripe::Statement& statement) {
        return statement.block() && statement.block()->tags.has(stripe::tag::kKernel);
      }));
  const double starts_us =
      model.run_us + model.launch_us * static_cast<double>(std::max<size_t>(kernels, 1) - 1);
  return static_cast<double>(run.machine.cycles(run.ticks())) / (model.clock_mhz * 1e6) +
         starts_us / 1e6;
}

Row row_of(const PickProgram& program, const HostDevice& host, const HardwareModel& model,
           int rounds) {
  const Program tile = must(Program::from_tile({program.name, program.text}));
  const Compilation generic = must(lower_program(tile, program.inputs));
  Row out;
  out.program = program.name;
  out.simulated = simulated_seconds(generic.generic, model);
  if (const auto all = DevicePicker::of_device(host.device, generic, {}); all.ok() && !all->empty())
    out.predicted = all->back().run.seconds;
  const DeviceRow runs(host.device, must(host.device.compile(tile, program.inputs)));
  must(runs.run().wait());
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) seconds.push_back(host_seconds(runs));
  out.measured = median(std::move(seconds));
  return out;
}

void summarise(const char* what, const std::vector<Row>& rows, double Row::* of, double least) {
  double logs = 0, errors = 0, within_1_3 = 0, within_1_5 = 0, within_2 = 0, count = 0;
  for (const Row& row : rows) {
    if (row.measured < least || row.*of <= 0) continue;
    const double error = std::log(row.*of / row.measured);
    ++count;
    logs += error;
    errors += std::abs(error);
    within_1_3 += std::abs(error) <= std::log(1.3);
    within_1_5 += std::abs(error) <= std::log(1.5);
    within_2 += std::abs(error) <= std::log(2);
  }
  if (count == 0) return;
  std::printf(
      "%-10s %2.0f runs over %.0f us: over measured %.2f (geomean), off by %.2f (geomean), within "
      "1.3: %.0f%%, 1.5: %.0f%%, 2: %.0f%%\n",
      what, count, least * 1e6, std::exp(logs / count), std::exp(errors / count),
      100 * within_1_3 / count, 100 * within_1_5 / count, 100 * within_2 / count);
}

int run(const Asked& asked) {
  if (asked.hw.empty()) {
    std::fprintf(stderr, "--hw: which model is simulated?\n");
    return 2;
  }
  const HardwareModel model =
      must(load_hardware_model({asked.hw, must(read_file(asked.hw))}, settings_of(asked.settings)));
  const HostDevice host = open_host_device(asked.device);
  std::printf("%s: %s\n%s: %s\n%-34s %12s %12s %7s %12s %7s\n", host.name.c_str(),
              host.device.info().name.c_str(), asked.hw.c_str(), model.description.c_str(), "us",
              "measured", "simulated", "ratio", "by cost", "ratio");
  std::vector<Row> rows;
  nlohmann::json report = nlohmann::json::array();
  for (const PickProgram& program : pick_programs()) {
    if (program.name.find(asked.only) == std::string::npos) continue;
    const Row& row = rows.emplace_back(row_of(program, host, model, asked.rounds));
    std::printf("%-34.34s %12.1f %12.1f %7.2f %12.1f %7.2f\n", row.program.c_str(),
                row.measured * 1e6, row.simulated * 1e6, row.simulated / row.measured,
                row.predicted * 1e6, row.predicted / row.measured);
    std::fflush(stdout);
    report.push_back({{"program", row.program},
                      {"measured_us", row.measured * 1e6},
                      {"simulated_us", row.simulated * 1e6},
                      {"cost_us", row.predicted * 1e6}});
  }
  for (const double least : {kLonger, 0.0}) {
    summarise("simulated", rows, &Row::simulated, least);
    summarise("by cost", rows, &Row::predicted, least);
  }
  return end_report(report, asked.json, rows.size());
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::Asked asked;
  const stria::bench::OptionTable options = {{{"--device", &asked.device},
                                              {"--hw", &asked.hw},
                                              {"--set", &asked.settings},
                                              {"--only", &asked.only},
                                              {"--json", &asked.json}},
                                             {{"--rounds", &asked.rounds}}};
  if (!stria::bench::read_options(argc, argv, options)) return 2;
  return stria::bench::run(asked);
}
