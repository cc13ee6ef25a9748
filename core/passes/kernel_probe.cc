// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/kernel_probe.h"

#include "stria/stripe/verifier.h"

namespace stria::passes {
namespace {

// The block without what it does.
stripe::Block shell(const stripe::Block& block) {
  stripe::Block out;
  out.name = block.name;
  out.location = block.location;
  out.tags = block.tags;
  out.tags.remove("deps");
  out.idxs = block.idxs;
  out.constraints = block.constraints;
  out.refs = block.refs;
  return out;
}

}  // namespace

KernelProbe::KernelProbe(const stripe::Program& program, const stripe::Block& section) {
  program_.entry = shell(program.entry);
  program_.entry.stmts.emplace_back(shell(section));
  // A program has a #main.
  program_.entry.stmts[0].block()->tags.remove("prologue");
  program_.entry.stmts[0].block()->tags.set("main");
}

std::optional<size_t> KernelProbe::undecided(const stripe::Block& kernel) {
  stripe::Block& section = *program_.entry.stmts[0].block();
  section.stmts.clear();
  section.stmts.emplace_back(kernel);
  stripe::VerifyReport report;
  if (!stripe::verify(program_, {}, &report).ok()) return std::nullopt;
  return report.warnings.size();
}

}  // namespace stria::passes
