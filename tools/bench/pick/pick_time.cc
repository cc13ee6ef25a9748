// SPDX-License-Identifier: Apache-2.0
#include "pick_time.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <vector>

#include "../median.h"
#include "../must.h"
#include "../resnet50.h"
#include "pick_programs.h"
#include "stria/runtime/host/kept_times.h"
#include "stria/runtime/inside.h"

namespace stria::bench {
namespace {

// Of this process's processor time, which other processes do not make longer.
double milliseconds_of(const auto& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC;
}

void print_times(const Runtime& runtime, const PickProgram& program, int rounds) {
  const Program tile = must(Program::from_tile({program.name, program.text}));
  Compilation generic;
  const double lower_ms =
      milliseconds_of([&] { generic = must(lower_program(tile, program.inputs)); });
  PickOptions how;
  how.bounds_only = true;
  Pick pick;
  // The first choice of a process also reads the models, which the others find kept.
  const double first_ms =
      milliseconds_of([&] { pick = must(Inside::pick(Runtime(), "auto", generic, how)); });
  const auto picks = [&] {
    std::vector<double> out;
    for (int round = 0; round < rounds; ++round)
      out.push_back(
          milliseconds_of([&] { pick = must(Inside::pick(runtime, "auto", generic, how)); }));
    return median(std::move(out));
  };
  const double unknown_ms = picks();
  const size_t devices = pick.selection.order.size(), asked = pick.selection.devices.size();
  const KeptTimes times(generic.generic, false);
  for (const size_t at : pick.selection.order)
    times.keep(pick.selection.devices[at].device, {1e-3, 0.9e-3, 1.1e-3});
  const double known_ms = picks();
  std::printf(
      "%-24s %3zu kernels, %zu of %zu devices: lowering %.1f ms, picking by bounds %.2f ms "
      "(the first time, with the loading of plugins and models, %.0f ms), of a known program "
      "%.2f ms\n",
      program.name.c_str(), generic.generic.main()->stmts.size(), devices, asked, lower_ms,
      unknown_ms, first_ms, known_ms);
}

}  // namespace

void print_pick_times(int rounds) {
  // Nothing is known there yet, and what is written there goes.
  std::string folder =
      (std::filesystem::temp_directory_path() / "stria_pick_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const std::string before = cache == nullptr ? "" : cache;
  const Runtime runtime;
  (void)runtime.devices();  // plugins are loaded once for a process
  ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  const ResNet50 network = resnet50();
  print_times(runtime, pick_programs().front(), rounds);
  print_times(runtime, {"ResNet-50", network.text, network.inputs}, rounds);
  before.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", before.c_str(), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace stria::bench
