// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/select_blocks.h"

namespace stria {
namespace {

using stripe::Block;

Status select(Block& block, Block* parent, const std::vector<std::string>& reqs,
              const std::function<Status(Block&, Block*)>& visit) {
  if (block.tags.has_all(reqs)) return visit(block, parent);
  for (stripe::Statement& stmt : block.stmts)
    if (Block* inner = stmt.block()) STRIA_RETURN_IF_ERROR(select(*inner, &block, reqs, visit));
  return {};
}

Status select_in(Block* parent, const std::vector<std::string>& reqs,
                 const std::function<Status(Block&, Block&)>& visit) {
  if (!parent) return {};
  for (stripe::Statement& stmt : parent->stmts) {
    Block* kernel = stmt.block();
    if (kernel && kernel->tags.has_all(reqs)) STRIA_RETURN_IF_ERROR(visit(*kernel, *parent));
  }
  return {};
}

}  // namespace

Status for_each_selected(stripe::Program& program, const std::vector<std::string>& reqs,
                         const std::function<Status(Block&, Block*)>& visit) {
  return select(program.entry, nullptr, reqs, visit);
}

Status for_each_selected_inside(stripe::Program& program, const std::vector<std::string>& reqs,
                                PassContext& context,
                                const std::function<void(Block& block)>& visit) {
  return for_each_selected(program, reqs, [&](Block& block, Block*) {
    if (block.tags.has("program"))
      context.skipped(block.name, "the program's tensors are its interface");
    else
      visit(block);
    return Status();
  });
}

Status for_each_kernel(stripe::Program& program, const std::vector<std::string>& reqs,
                       const std::function<Status(Block&, Block&)>& visit) {
  STRIA_RETURN_IF_ERROR(select_in(program.prologue(), reqs, visit));
  return select_in(program.main(), reqs, visit);
}

}  // namespace stria
