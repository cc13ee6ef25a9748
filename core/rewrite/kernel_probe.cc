// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/kernel_probe.h"

#include "stria/base/text.h"
#include "stria/rewrite/kernel_memo.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

// The block without refinements and statements.
stripe::Block shell(const stripe::Block& block) {
  stripe::Block out;
  out.name = block.name;
  out.location = block.location;
  out.tags = block.tags;
  out.tags.remove(stripe::tag::kDeps);
  out.idxs = block.idxs;
  out.constraints = block.constraints;
  return out;
}

}  // namespace

Result<KernelProbe> KernelProbe::of(const stripe::Program& program, const stripe::Block& section,
                                    const HardwareModel& model) {
  KernelProbe probe;
  STRIA_ASSIGN(probe.rules_, ModelRules::of(model));
  probe.program_.entry = shell(program.entry);
  probe.program_.entry.stmts.emplace_back(shell(section));
  for (const stripe::Refinement& ref : program.entry.refs) probe.entry_[ref.into] = ref;
  for (const stripe::Refinement& ref : section.refs) probe.section_[ref.into] = ref;
  // Every program needs a #main.
  probe.program_.entry.stmts[0].block()->tags.remove(stripe::tag::kPrologue);
  probe.program_.entry.stmts[0].block()->tags.set(stripe::tag::kMain);
  return probe;
}

int64_t KernelProbe::pipeline_depth(const std::string& unit) const {
  const auto* depths = rules_.options(nullptr).pipeline_depths;
  if (!depths) return 0;
  auto depth = depths->find(unit);
  return depth == depths->end() ? 0 : depth->second;
}

int64_t KernelProbe::instances(const stripe::LocationUnit& unit) const {
  const auto* counts = rules_.options(nullptr).units;
  if (!counts || !unit.units.empty()) return 1;
  const auto count = counts->find(unit.name);
  return count == counts->end() ? 1 : std::max<int64_t>(1, count->second);
}

// A temporary that the kernel reads was written by other kernels, so it becomes an input of the
// probe.
void KernelProbe::hand_in(const stripe::Block& kernel, stripe::Refinement& temporary) {
  bool reads = false, writes = false;
  for (const stripe::Refinement& ref : kernel.refs) {
    if (ref.dir == stripe::RefDir::none || ref.from != temporary.into) continue;
    reads = reads || ref.dir != stripe::RefDir::out;
    writes = writes || ref.dir != stripe::RefDir::in;
  }
  if (!reads) return;
  stripe::Refinement tensor = temporary;
  for (int i = 0; entry_.count(tensor.into) || program_.entry.find_ref(tensor.into); ++i)
    tensor.into = fmt::format("{}_{}", temporary.into, i);
  temporary.dir = writes ? stripe::RefDir::inout : stripe::RefDir::in;
  temporary.from = tensor.into;
  temporary.offset_bytes = 0;
  program_.entry.refs.push_back(std::move(tensor));
}

void KernelProbe::enclose(const stripe::Block& kernel) {
  stripe::Block& section = *program_.entry.stmts[0].block();
  section.stmts.clear();
  section.refs.clear();
  program_.entry.refs.clear();
  // Each tensor that the kernel uses, once.
  for (const stripe::Refinement& ref : kernel.refs) {
    auto tensor = section_.find(ref.from);
    if (ref.dir == stripe::RefDir::none || tensor == section_.end() || section.find_ref(ref.from))
      continue;
    section.refs.push_back(tensor->second);
    if (tensor->second.dir == stripe::RefDir::none) {
      hand_in(kernel, section.refs.back());
      continue;
    }
    auto outside = entry_.find(tensor->second.from);
    if (outside == entry_.end() || program_.entry.find_ref(outside->first)) continue;
    program_.entry.refs.push_back(outside->second);
  }
  section.stmts.emplace_back(kernel);
}

stripe::Block KernelProbe::form(const stripe::Block& kernel) {
  enclose(kernel);
  return nameless(program_.entry);
}

std::optional<size_t> KernelProbe::undecided(const stripe::Block& kernel,
                                             const stripe::AccessRules& asked) {
  enclose(kernel);
  stripe::VerifyReport report;
  stripe::VerifyOptions options = rules_.options(nullptr);
  options.accesses = asked;
  const Status legal = stripe::verify(program_, options, &report);
  broken_ = legal.ok() ? Refusal::none() : legal.message();
  if (!legal.ok()) return std::nullopt;
  return report.warnings.size();
}

}  // namespace stria::passes
