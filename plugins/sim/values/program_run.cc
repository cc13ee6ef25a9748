// SPDX-License-Identifier: Apache-2.0
#include "values/program_run.h"

#include <memory>
#include <numeric>

#include "stria/stripe/tags.h"
#include "values/part_values.h"

namespace stria::sim {

Status run_program(const stripe::Program& program, const PartOrder& order,
                   const std::map<std::string, void*>& tensors) {
  std::map<std::string, std::vector<char>> derived;
  if (const stripe::Block* prologue = program.prologue())
    for (const stripe::Refinement& ref : prologue->refs)
      if (is_written(ref))
        if (const stripe::Refinement* made = program.entry.find_ref(ref.from))
          derived[ref.from].resize(static_cast<size_t>(made->shape.span_bytes()));
  const std::pair<const stripe::Block*, const std::vector<size_t>*> parts[] = {
      {program.prologue(), &order.prologue}, {program.main(), &order.main}};
  for (const auto& [part, given] : parts) {
    if (!part || part->stmts.empty()) continue;
    STRIA_ASSIGN(const PartValues values,
                 PartValues::make(*part, program.entry.tags.has(stripe::tag::kPlaced)));
    std::vector<void*> arguments;
    for (const PartValues::Argument& argument : values.arguments()) {
      const stripe::Refinement& ref = *part->find_ref(argument.name);
      const auto own = derived.find(ref.from);
      const auto at = tensors.find(ref.from);
      if (own == derived.end() && at == tensors.end())
        return invalid_argument("'{}' has no memory", ref.from);
      char* base = own != derived.end() ? own->second.data() : static_cast<char*>(at->second);
      // A part's view starts at a fixed element of its tensor.
      arguments.push_back(base + ref.flat_access().constant() * byte_size(ref.shape.type));
    }
    std::vector<size_t> statements = *given;
    if (statements.empty()) {
      statements.resize(values.statements());
      std::iota(statements.begin(), statements.end(), size_t{0});
    }
    STRIA_RETURN_IF_ERROR(values.run(arguments.data(), statements));
  }
  return {};
}

}  // namespace stria::sim
