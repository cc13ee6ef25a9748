// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/build/kernels.h"

#include "stria/stripe/verify/verifier.h"
#include "stria/stripe/walk.h"

namespace stria::semtree {
Result<ProgramKernels> kernels_of(const stripe::Program& program) {
  stripe::VerifyOptions structure;
  structure.accesses = stripe::AccessRules::none();
  STRIA_RETURN_IF_ERROR(stripe::verify(program, structure));
  ProgramKernels out;
  for (const stripe::Block* parent : {program.prologue(), program.main()}) {
    if (!parent) continue;
    for (size_t i = 0; i < parent->stmts.size(); ++i) {
      const stripe::Block* block = parent->stmts[i].block();
      if (!block) {
        STRIA_ASSIGN(out.made.emplace_back(), stripe::block_around(parent->stmts[i], *parent));
        block = &out.made.back();
      }
      out.kernels.push_back({block, parent, parent == program.prologue(), static_cast<int64_t>(i)});
    }
  }
  return out;
}

std::vector<KernelArgument> arguments_of(const stripe::Block& kernel, const Function& function) {
  const std::vector<const stripe::Refinement*> order = stripe::kernel_arguments(kernel);
  std::vector<KernelArgument> out;
  for (size_t i = 0; i < function.params.size(); ++i) {
    const Parameter& param = function.params[i];
    out.push_back({order[i]->from, param.type, param.span * byte_size(param.type), param.writable,
                   param.readable, param.first * byte_size(param.type)});
  }
  return out;
}

}  // namespace stria::semtree
