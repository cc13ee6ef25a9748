// SPDX-License-Identifier: Apache-2.0
// Stage semtree: every kernel of #main of a device Stripe as a kernel tree. Options: index=i32|i64,
// subgroup_lanes=N (subgroups hold matrices), across=true (loads across slots of arrays in
// registers), calls=true (the emitter calls micro-kernels).
#include "golden.h"
#include "stria/semtree/build/build.h"
#include "stria/semtree/tree/print.h"
#include "stria/stripe/text/parser.h"

namespace {

stria::Result<std::string> build_all(const stria::golden::Case& test) {
  STRIA_ASSIGN(stria::stripe::Program program, stria::stripe::parse(test.input));
  const stria::stripe::Block* main = program.main();
  if (!main) return stria::invalid_argument("the program has no #main");
  stria::semtree::BuildOptions options;
  if (test.option("index") == "i32") options.index_type = stria::DataType::i32;
  options.loads_across_slots = test.option("across") == "true";
  options.micro_kernels = test.option("calls") == "true";
  if (const std::string lanes = test.option("subgroup_lanes"); !lanes.empty())
    options.subgroup_lanes = std::stoll(lanes);
  std::string out;
  for (const stria::stripe::Statement& statement : main->stmts) {
    if (!statement.block()) continue;
    STRIA_ASSIGN(stria::semtree::Function function,
                 stria::semtree::build(*statement.block(), *main, options));
    out += stria::semtree::print(function);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  return stria::golden::run_stage(argc, argv, "semtree", build_all);
}
