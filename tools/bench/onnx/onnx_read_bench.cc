// SPDX-License-Identifier: Apache-2.0
// What reading an ONNX model costs, cold and in a process of its own, so that the peak of its
// memory is that of the model.
//   stria_onnx_read_bench MODEL.onnx     prints seconds of reading, of the program and of lowering,
//                                        the kernels, then KiB: the peak, and what no file holds at
//                                        the end
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

// KiB of a line of /proc/self/status. That of getrusage would be the starting process's, if that
// has been larger.
long long status_kib(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == name + ":") {
      long long kib = 0;
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
  std::printf("%.9f %.9f %.9f %zu %lld %lld\n", read_s, program_s, lower_s,
              lowered.generic.main()->stmts.size(), status_kib("VmHWM"), status_kib("RssAnon"));
  return 0;
}
