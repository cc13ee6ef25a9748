// SPDX-License-Identifier: Apache-2.0
// Tries orders of passes: draws pipelines over generated programs and checks what every step
// leaves.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "order_failure.h"
#include "order_run.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/pass/reproducer.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace stria::trust {
namespace {

constexpr const char* kExamples =
    "Draws pipelines of 5 to 15 steps over generated legal programs, lowered Tile programs and "
    "programs after the\nfirst steps of shipped pipelines. After each step the verifier and the "
    "interpreter look at the program. An\nillegal program, a wrong value, a crash, an internal "
    "error or a step without end is a failure; a refusal with\na reason is not.\n\n"
    "Examples:\n"
    "  pass_orders --count 1000 --seed 7             a thousand pipelines\n"
    "  pass_orders --count 100000 --seed 1 --jobs 2  a long run on two cores\n"
    "  pass_orders --repeat orders_1_17.stripe       a failure again, step by step\n\n"
    "Exit codes: 0 nothing failed; 1 something did, or too few steps applied; 2 wrong options.";

struct Arguments {
  OrderOptions run;
  std::string repeat;
  std::string out = ".";
  int64_t tries = 2000;
  double least = 60;
  bool refusals = false;
};

double percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_tally(const std::string& name, const Tally& tally) {
  std::cout << fmt::format(
      "  {:<22} {:>8} drawn, {:>8} changed the program ({:5.1f} %), {:>7} left "
      "it, {:>7} refused\n",
      name, tally.drawn, tally.changed, percent(tally.changed, tally.drawn), tally.same,
      tally.refused);
}

// Each kind of failure once, made small, with the command that repeats it.
Status print_failures(const OrderReport& report, const Arguments& arguments,
                      const Programs& programs, const std::vector<PassInfo>& passes) {
  std::map<std::string, std::vector<const OrderFailure*>> kinds;
  for (const OrderFailure& failure : report.failures)
    kinds[failure.signature()].push_back(&failure);
  for (const auto& [signature, all] : kinds) {
    const OrderFailure& first = *all.front();
    const Machine& machine = programs.machines()[first.machine];
    OrderFailure failure = first;
    std::string note;
    if (fails(failure, machine, passes))
      failure = made_small(failure, machine, passes, arguments.tries);
    else
      note = "\nnot seen again when the steps run by themselves";
    const std::string path =
        fmt::format("{}/orders_{}_{}.stripe", arguments.out, arguments.run.seed, first.number);
    STRIA_RETURN_IF_ERROR(write_file(path, as_reproducer(failure, machine)));
    std::cout << fmt::format(
        "\nFAILED {} time{}: {}\nfirst: pipeline {} of seed {}, {} on {}{}\nsteps: {}\n{}: {}\n{}"
        "again: pass_orders --repeat {}\n",
        all.size(), all.size() == 1 ? "" : "s", signature, first.number, arguments.run.seed,
        first.drawn_name, machine.name, note, join(failure.steps, ", "), failure.fault,
        failure.message, stripe::print(failure.program), path);
  }
  return Status();
}

Result<int> repeat(const std::string& path, const std::vector<PassInfo>& passes) {
  STRIA_ASSIGN(const std::string text, read_file(path));
  STRIA_ASSIGN(const Reproducer reproducer, parse_reproducer({path, text}));
  STRIA_ASSIGN(HardwareModel model, load_hardware_model({path, reproducer.hw}));
  const Machine machine = {"the file's", std::move(model), {}};
  OrderFailure failure;
  STRIA_ASSIGN(failure.program, stripe::parse({path, reproducer.program}));
  STRIA_ASSIGN(const Pipeline steps,
               parse_pipeline({path, reproducer.pipeline}, {}, machine.model, passes));
  for (const PipelineStep& step : steps.steps) failure.steps.push_back(step.json);
  if (!fails(failure, machine, passes)) {
    std::cout << "nothing is wrong\n";
    return 0;
  }
  std::cout << fmt::format("step {} of {}, {}\n{}: {}\n", failure.steps.size(), steps.steps.size(),
                           failure.steps.back(), failure.fault, failure.message);
  return 1;
}

Result<int> run(const Arguments& arguments) {
  const std::vector<PassInfo> passes = passes::all_passes();
  if (!arguments.repeat.empty()) return repeat(arguments.repeat, passes);
  STRIA_ASSIGN(const Programs programs, Programs::load());
  const bool shows = isatty(STDERR_FILENO) != 0;
  const OrderReport report =
      run_orders(arguments.run, programs, passes, [&](uint64_t begun, size_t failed) {
        if (shows && begun % 10 == 0)
          std::cerr << fmt::format("\r{} of {} pipelines, {} failed", begun, arguments.run.count,
                                   failed);
      });
  if (shows) std::cerr << "\n";
  for (const auto& [pass, tally] : report.by_pass) print_tally(pass, tally);
  for (const auto& [kind, tally] : report.by_kind) print_tally(kind + " programs", tally);
  const Tally all = report.all();
  print_tally("all", all);
  if (arguments.refusals)
    for (const auto& [why, times] : report.refusals)
      std::cout << fmt::format("  {:>6} {}\n", times, why);
  STRIA_RETURN_IF_ERROR(print_failures(report, arguments, programs, passes));
  std::cout << fmt::format("{} pipelines from seed {}: {} failed\n", report.pipelines,
                           arguments.run.seed, report.failures.size());
  const double applied = percent(all.changed, all.drawn);
  if (applied < arguments.least)
    std::cout << fmt::format(
        "only {:.1f} % of the steps changed the program; {:.1f} % are wanted\n", applied,
        arguments.least);
  return report.failures.empty() && applied >= arguments.least ? 0 : 1;
}

}  // namespace
}  // namespace stria::trust

int main(int argc, char** argv) {
  using namespace stria;
  trust::Arguments arguments;
  CLI::App app("Tries random orders of passes on random programs.", "pass_orders");
  app.footer(trust::kExamples);
  app.add_option("--count", arguments.run.count, "pipelines")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  app.add_option("--seed", arguments.run.seed, "of everything that is drawn")
      ->capture_default_str();
  app.add_option("--jobs", arguments.run.jobs,
                 "processes at once; the result is the same for any number")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--least", arguments.least, "percent of the steps that have to change the program")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--out", arguments.out, "folder for the failures' files")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--tries", arguments.tries,
                 "smaller programs that are tried for each kind of failure")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--repeat", arguments.repeat, "a failure's file: its steps again")
      ->check(CLI::ExistingFile);
  app.add_flag("--refusals", arguments.refusals, "print the reasons of refusals, and how often");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Result<int> result = trust::run(arguments);
  if (!result.ok()) {
    std::cerr << "pass_orders: " << result.status().to_string() << "\n";
    return 1;
  }
  return *result;
}
