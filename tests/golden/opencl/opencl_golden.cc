// SPDX-License-Identifier: Apache-2.0
// Stage opencl: a device Stripe program as OpenCL C. Options: group=64 (work items of a group),
// fp64=no, fp16=yes, fast_math=yes,
// largest=64 (work items of a group at most), shared=1024 (bytes that a group has at most).
#include <cstdlib>

#include "emit/dialect.h"
#include "golden.h"
#include "stria/stripe/text/parser.h"

namespace {

stria::Result<std::string> print_source(const stria::golden::Case& test) {
  STRIA_ASSIGN(stria::stripe::Program program, stria::stripe::parse(test.input));
  stria::opencl::Features features;
  features.fp64 = test.option("fp64") != "no";
  features.fma = true;
  features.fp16 = test.option("fp16") == "yes";
  features.fast_math = test.option("fast_math") == "yes";
  stria::semtree::SourceOptions options = stria::opencl::source_options();
  options.group_points = std::atoi(test.option("group", "1").c_str());
  options.largest_group = std::atoll(test.option("largest", "1024").c_str());
  options.build.argument_offsets = test.option("offsets") == "yes";
  options.shared_bytes = std::atoll(test.option("shared", "49152").c_str());
  STRIA_ASSIGN(stria::semtree::ProgramSource source,
               stria::semtree::print_program(program, stria::opencl::dialect(features), options));
  return source.text;
}

}  // namespace

int main(int argc, char** argv) {
  return stria::golden::run_stage(argc, argv, "opencl", print_source);
}
