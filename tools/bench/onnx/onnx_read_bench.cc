// SPDX-License-Identifier: Apache-2.0
// What reading an ONNX model costs, cold and in a process of its own, so that the peak of its
// memory is that of the model.
//   stria_onnx_read_bench MODEL.onnx     prints seconds of reading, of the program and of lowering,
//                                        its kernels, then KiB of the peak: all, without the file
#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "../measure.h"
#include "../must.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/onnx_model.h"

namespace {

using namespace stria;
using bench::must;

// Pages of the model's own file that are in memory are not lost to others.
int64_t mapped_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "RssFile:") {
      int64_t kib = 0;
      status >> kib;
      return kib;
    }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: stria_onnx_read_bench MODEL.onnx\n");
    return 2;
  }
  OnnxModel model;
  Program program;
  Compilation lowered;
  const double read_s = bench::seconds_of([&] { model = must(OnnxModel::read(argv[1])); });
  const double program_s = bench::seconds_of([&] { program = must(model.program()); });
  const double lower_s = bench::seconds_of([&] { lowered = must(lower_program(program, {})); });
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%.9f %.9f %.9f %zu %lld %lld\n", read_s, program_s, lower_s,
              lowered.generic.main()->stmts.size(), static_cast<long long>(usage.ru_maxrss),
              static_cast<long long>(usage.ru_maxrss - mapped_kib()));
  return 0;
}
