// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/select_blocks.h"
#include "stria/stripe/tags.h"

#include <algorithm>

namespace stria {
namespace {

using stripe::Block;

using Visit = std::function<Status(Block&, const TensorNames&)>;

Status select(Block& block, const TensorNames& around, const std::vector<std::string>& reqs,
              const Visit& visit) {
  if (block.tags.has_all(reqs)) return visit(block, around);
  const TensorNames names = around.inside(block);
  for (stripe::Statement& stmt : block.stmts)
    if (Block* inner = stmt.block()) STRIA_RETURN_IF_ERROR(select(*inner, names, reqs, visit));
  return {};
}

bool is_section(const Block& block) {
  return block.tags.has(stripe::tag::kProgram) || block.tags.has(stripe::tag::kMain) ||
         block.tags.has(stripe::tag::kPrologue);
}

Status select_below(Block& block, const TensorNames& around, const std::vector<std::string>& reqs,
                    PassContext& context, const Visit& visit) {
  if (block.tags.has_all(reqs)) {
    if (!is_section(block)) return visit(block, around);
    if (!reqs.empty()) context.skipped(block.name, "it is a section of the program");
  }
  const TensorNames names = around.inside(block);
  for (stripe::Statement& stmt : block.stmts)
    if (Block* inner = stmt.block())
      STRIA_RETURN_IF_ERROR(select_below(*inner, names, reqs, context, visit));
  return {};
}

Status select_in(const Block& entry, Block* parent, const std::vector<std::string>& reqs,
                 const Visit& visit) {
  if (!parent) return {};
  const TensorNames names = TensorNames().inside(entry).inside(*parent);
  for (stripe::Statement& stmt : parent->stmts) {
    Block* kernel = stmt.block();
    if (kernel && kernel->tags.has_all(reqs)) STRIA_RETURN_IF_ERROR(visit(*kernel, names));
  }
  return {};
}

}  // namespace

Status check_not_excluded(std::string_view path, const std::vector<std::string>& reqs,
                          const std::vector<std::string>& exclude) {
  for (const std::string& tag : reqs)
    if (std::find(exclude.begin(), exclude.end(), tag) != exclude.end())
      return invalid_argument("/exclude: '{}', but {} asks for it: no block can match", tag, path);
  return {};
}

Status for_each_selected(stripe::Program& program, const std::vector<std::string>& reqs,
                         const Visit& visit) {
  return select(program.entry, {}, reqs, visit);
}

Status for_each_selected_below_sections(stripe::Program& program,
                                        const std::vector<std::string>& reqs, PassContext& context,
                                        const Visit& visit) {
  return select_below(program.entry, {}, reqs, context, visit);
}

void for_each_selected_place(stripe::Program& program, const std::vector<std::string>& reqs,
                             const std::function<void(Block&, const stripe::Place&)>& visit) {
  int depth = -1;  // of the selected block that the visit is in, or -1
  stripe::visit_blocks(program.entry, [&](Block& block, const stripe::Place& place) {
    if (depth >= 0 && place.depth > depth) return;
    depth = block.tags.has_all(reqs) ? place.depth : -1;
    if (depth >= 0) visit(block, place);
  });
}

Status for_each_selected_inside(stripe::Program& program, const std::vector<std::string>& reqs,
                                PassContext& context,
                                const std::function<void(Block& block)>& visit) {
  return for_each_selected(program, reqs, [&](Block& block, const TensorNames&) {
    if (block.tags.has(stripe::tag::kProgram))
      context.skipped(block.name, "the program's tensors are its interface");
    else
      visit(block);
    return Status();
  });
}

Status for_each_kernel(stripe::Program& program, const std::vector<std::string>& reqs,
                       const Visit& visit) {
  STRIA_RETURN_IF_ERROR(select_in(program.entry, program.prologue(), reqs, visit));
  return select_in(program.entry, program.main(), reqs, visit);
}

}  // namespace stria
