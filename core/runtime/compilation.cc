// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/compilation.h"

#include <fmt/format.h>

#include "stria/lower/lower.h"
#include "stria/runtime/inside.h"
#include "stria/stripe/text/printer.h"
#include "stria/tile/bind/needed.h"
#include "stria/tile/syntax/print.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

// Operations of one run of the block's body, times the points of its box.
double operations_of(const stripe::Block& block) {
  double points = 1;
  for (const stripe::Index& index : block.idxs) points *= static_cast<double>(index.range);
  double per_point = 0;
  for (const stripe::Statement& stmt : block.stmts) {
    if (const stripe::Block* inner = stmt.block()) {
      per_point += operations_of(*inner);
    } else if (const auto* intrinsic = std::get_if<stripe::Intrinsic>(&stmt.op)) {
      if (intrinsic->name != "ident") per_point += 1;
    } else if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) {
      const stripe::Refinement* ref = block.find_ref(store->into);
      if (ref != nullptr && ref->agg) per_point += 1;
    }
  }
  return points * per_point;
}

void mark_constant(const std::string& name, stripe::Program& generic) {
  generic.entry.find_ref(name)->is_const = true;
  for (stripe::Refinement& ref : generic.main()->refs)
    if (ref.from == name) ref.is_const = true;
}

// Marks the inputs as holding the same in many runs.
Status mark_constants(const Program& program, const std::set<std::string>& names,
                      stripe::Program& generic) {
  const ProgramBinding* binding = Inside::binding(program).get();
  for (const std::string& name : names) {
    STRIA_RETURN_IF_ERROR(program.find_input(name).status().with_context("constants"));
    mark_constant(binding ? binding->tile_input(name) : name, generic);
  }
  if (binding)
    for (const auto& [name, value] : binding->values) mark_constant(name, generic);
  return Status();
}

// The types by the names of Tile. invalid_argument if one is not that for which the program was
// made.
Result<InputTypes> tile_types(const Program& program, const InputTypes& given) {
  const ProgramBinding* binding = Inside::binding(program).get();
  if (binding == nullptr) return given;
  InputTypes types = binding->types;
  for (const ProgramInput& input : program.inputs()) {
    const auto at = given.find(input.name);
    if (at == given.end()) continue;
    if (input.type && *input.type != at->second)
      return invalid_argument("'{}': input '{}' is {}, the program was made for {}", program.name(),
                              input.name, to_string(at->second.type, at->second.sizes),
                              to_string(input.type->type, input.type->sizes));
    types[binding->tile_input(input.name)] = at->second;
  }
  return types;
}

}  // namespace

void Compilation::add_stage(std::string_view name, std::string_view ending, std::string text) {
  stages.push_back({fmt::format("{:02}_{}.{}", stages.size(), name, ending), std::move(text)});
}

Result<Compilation> lower_program(const Program& program, const InputTypes& inputs,
                                  const CompileOptions& options) {
  Compilation out;
  if (options.keep_stages) out.add_stage("program", "tile", tile::print(Inside::tile(program)));
  out.binding = Inside::binding(program);
  STRIA_ASSIGN(const InputTypes types, tile_types(program, inputs));
  STRIA_ASSIGN(out.bound,
               tile::bind_program(Inside::tile(program), Inside::function(program), types));
  if (out.binding) out.bound.name = program.name();
  tile::remove_unneeded(out.bound);
  std::vector<Diagnostic> more;
  STRIA_ASSIGN(out.generic, lower(out.bound, &more));
  STRIA_RETURN_IF_ERROR(mark_constants(program, options.constants, out.generic));
  Diagnostics warnings(Inside::tile(program).source);
  // Of a program that was made of a model nobody wrote the text.
  if (!out.binding)
    for (const std::vector<Diagnostic>* list : {&out.bound.warnings, &more})
      for (const Diagnostic& d : *list) warnings.warning(d.span, d.message);
  out.warnings = warnings.warnings();
  if (options.keep_stages) out.add_stage("lower", "stripe", stripe::print(out.generic));
  return out;
}

std::map<std::string, double> kernel_operations(const stripe::Program& generic) {
  std::map<std::string, double> out;
  if (const stripe::Block* main = generic.main())
    for (const stripe::Statement& stmt : main->stmts)
      if (const stripe::Block* kernel = stmt.block()) out[kernel->name] += operations_of(*kernel);
  return out;
}

}  // namespace stria
