// SPDX-License-Identifier: Apache-2.0
// What several devices gain over one: the same program whole on the first device and shared out
// over all, in turns, on tensors that lie on the devices, with weights that each has once.
//   stria_several_bench --devices 'opencl:0;opencl:1' [--only TEXT] [--rounds N] [--small 1]
//                       [--plugin-options 'opencl={"shared_context": true}'] [--json FILE]
// A device is a selector, with the number of the host's threads behind '@'. "one run": from its
// start to its end, as a caller sees it. "in a row": each of several that are started before the
// first has ended. What all devices have computed is compared with the interpreter by sample.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "../measure.h"
#include "../median.h"
#include "../must.h"
#include "../options.h"
#include "several_programs.h"
#include "stria/base/text.h"
#include "stria/runtime/check.h"
#include "stria/runtime/runtime.h"
#include "stria/several/split_executable.h"
#include "stria/type/half.h"

namespace stria::bench {
namespace {

constexpr double kGoal = 1.8;
constexpr int64_t kSample = 200;     // elements that are compared
constexpr double kRowSeconds = 0.1;  // about as long as one row of runs takes
constexpr int kMostInARow = 50;

struct Asked {
  std::string devices = "llvm_cpu@1;llvm_cpu@1", only, json, plugin_options;
  int rounds = 15, small = 0;
};

struct Host {
  Runtime runtime;
  Device device;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Devices with one number of threads share a runtime, as they share their plugin's copies.
std::vector<Device> devices_of(const Asked& asked, std::vector<Host>& hosts) {
  std::map<std::string, Runtime> runtimes;
  std::vector<Device> out;
  for (const std::string& one : split(asked.devices, ';')) {
    const size_t at = one.rfind('@');
    const std::string threads = at == std::string::npos ? "" : one.substr(at + 1);
    if (!runtimes.contains(threads)) {
      RuntimeOptions options;
      if (!threads.empty()) options.threads = static_cast<unsigned>(std::stoi(threads));
      if (const size_t equal = asked.plugin_options.find('='); equal != std::string::npos)
        options.plugin_options[asked.plugin_options.substr(0, equal)] =
            asked.plugin_options.substr(equal + 1);
      runtimes.emplace(threads, Runtime(options));
    }
    const Runtime& runtime = runtimes.at(threads);
    hosts.push_back({runtime, must(runtime.open(one.substr(0, at)))});
    out.push_back(hosts.back().device);
  }
  return out;
}

HostTensor filled(const TensorInfo& info, unsigned seed) {
  HostTensor out = must(HostTensor::create(info.type, info.sizes, info.name));
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> drawn(1 << 20);
  for (float& x : drawn) x = distribution(random);
  for (int64_t n = 0; n < out.element_count(); ++n) {
    const float value = drawn[static_cast<size_t>(n) % drawn.size()];
    if (info.type == DataType::fp16)
      reinterpret_cast<uint16_t*>(out.data())[n] = fp16_from_double(value);
    else
      reinterpret_cast<float*>(out.data())[n] = value;
  }
  return out;
}

// A program on some of the devices, with its tensors there.
struct Shared {
  SplitExecutable executable;
  std::vector<SplitTensor> in, out;

  SplitRun start() const { return must(executable.run(in, out)); }
  double one_run() const {
    const double begin = now();
    must(start().wait());
    return now() - begin;
  }
  // Of each.
  double in_a_row(int count) const {
    const double begin = now();
    SplitRun last;
    for (int n = 0; n < count; ++n) last = start();
    must(last.wait());
    return (now() - begin) / count;
  }
};

Shared shared(const std::vector<Device>& devices, const Program& tile,
              const SeveralProgram& program, const std::vector<HostTensor>& inputs) {
  Shared out;
  SplitOptions how;
  how.shares.assign(devices.size(), 1);  // the goal is one of equal devices
  out.executable = must(SplitExecutable::compile(devices, tile, program.inputs, how));
  for (size_t n = 0; n < out.executable.inputs().size(); ++n) {
    out.in.push_back(must(out.executable.create_input(n)));
    must(out.in[n].write(inputs[n].bytes()));
  }
  for (size_t n = 0; n < out.executable.outputs().size(); ++n)
    out.out.push_back(must(out.executable.create_output(n)));
  must(out.start().wait());  // what the first run does beside
  return out;
}

// What is wrong with the results; "" if nothing is.
std::string wrong(const Shared& what, const Compilation& generic,
                  const std::vector<HostTensor>& inputs) {
  std::vector<HostTensor> results;
  for (const SplitTensor& tensor : what.out) results.push_back(must(tensor.read()));
  for (const OutputCheck& check : must(check_outputs(generic, inputs, results, kSample)))
    if (!check.report.passed()) return check.name + ": " + check.report.worst_text;
  return "";
}

struct Row {
  double one = 0, all = 0;                    // seconds of one run, on one device and on all
  double one_in_a_row = 0, all_in_a_row = 0;  // of each of several
  std::vector<double> alone;                  // in a row, on each device
};

Row measure(const std::vector<Shared>& alone, const Shared& all, int rounds) {
  const double first = alone[0].one_run();
  const int count = std::clamp(static_cast<int>(kRowSeconds / first), 1, kMostInARow);
  std::vector<double> one, several;
  std::vector<double> several_in_a_row;
  std::vector<std::vector<double>> in_a_row(alone.size());
  for (int round = 0; round < rounds; ++round) {
    one.push_back(alone[0].one_run());
    several.push_back(all.one_run());
    for (size_t n = 0; n < alone.size(); ++n) in_a_row[n].push_back(alone[n].in_a_row(count));
    several_in_a_row.push_back(all.in_a_row(count));
  }
  Row out{median(one), median(several), median(in_a_row[0]), median(several_in_a_row), {}};
  for (std::vector<double>& of_one : in_a_row) out.alone.push_back(median(std::move(of_one)));
  return out;
}

int run(const Asked& asked) {
  std::vector<Host> hosts;
  const std::vector<Device> devices = devices_of(asked, hosts);
  std::printf("%s\n", machine_text().c_str());
  for (const Device& device : devices)
    std::printf("  %s: %s\n", device.info().selector.c_str(), device.info().name.c_str());
  std::printf("%-44s %12s %12s %7s   %12s %12s %7s   each alone\n", "ms", "one run", "on all",
              "ratio", "in a row", "on all", "ratio");
  nlohmann::json report = nlohmann::json::array();
  int failed = 0;
  for (const SeveralProgram& program : several_programs(asked.small != 0)) {
    if (program.name.find(asked.only) == std::string::npos) continue;
    const Program tile = must(Program::from_tile({program.name, program.text}));
    const Compilation generic = must(lower_program(tile, program.inputs));
    std::vector<HostTensor> inputs;
    for (const ProgramInput& input : tile.inputs()) {
      const TensorType& type = program.inputs.at(input.name);
      inputs.push_back(
          filled({input.name, type.type, type.sizes}, static_cast<unsigned>(inputs.size() + 1)));
    }
    const Shared all = shared(devices, tile, program, inputs);
    std::vector<Shared> alone;
    for (const Device& device : devices) alone.push_back(shared({device}, tile, program, inputs));
    const Row row = measure(alone, all, asked.rounds);
    const std::string trouble = wrong(all, generic, inputs);
    const double ratio = row.one / row.all, row_ratio = row.one_in_a_row / row.all_in_a_row;
    std::string each;
    for (const double seconds : row.alone) each += fmt::format(" {:.3f}", seconds * 1e3);
    std::printf("%-44s %12.3f %12.3f %7.2f   %12.3f %12.3f %7.2f  %s  %s\n", program.name.c_str(),
                row.one * 1e3, row.all * 1e3, ratio, row.one_in_a_row * 1e3, row.all_in_a_row * 1e3,
                row_ratio, each.c_str(),
                !trouble.empty()     ? "WRONG"
                : row_ratio >= kGoal ? "met"
                                     : "missed");
    if (!trouble.empty()) std::printf("  %s\n", trouble.c_str());
    std::fflush(stdout);
    failed += !trouble.empty();
    report.push_back({{"program", program.name},
                      {"shared_out", all.executable.description()},
                      {"one_run_ms", row.one * 1e3},
                      {"one_run_on_all_ms", row.all * 1e3},
                      {"in_a_row_ms", row.one_in_a_row * 1e3},
                      {"in_a_row_on_all_ms", row.all_in_a_row * 1e3},
                      {"ratio", ratio},
                      {"ratio_in_a_row", row_ratio},
                      {"right", trouble.empty()}});
  }
  const int ended = end_report(report, asked.json, report.size());
  return failed > 0 ? 3 : ended;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::Asked asked;
  const stria::bench::OptionTable options = {
      {{"--devices", &asked.devices},
       {"--only", &asked.only},
       {"--plugin-options", &asked.plugin_options},
       {"--json", &asked.json}},
      {{"--rounds", &asked.rounds}, {"--small", &asked.small}}};
  if (!stria::bench::read_options(argc, argv, options)) return 2;
  return stria::bench::run(asked);
}
