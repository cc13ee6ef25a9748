// SPDX-License-Identifier: Apache-2.0
// A #micro_kernel block is what its function can be given: a stencil of whole tiles inside a
// kernel, on memory that has addresses, with the steps and alignments that the function takes
// (S21).
#include <algorithm>
#include <numeric>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/verify/access_rules.h"

namespace stria::stripe {
namespace {

// The program, a section, a kernel; inside it, blocks.
constexpr int kDepthInsideKernel = 3;

const Stencil* find_stencil(const VerifyOptions& options, const std::string& name) {
  if (!options.stencils) return nullptr;
  for (const Stencil& stencil : *options.stencils)
    if (stencil.name == name) return &stencil;
  return nullptr;
}

}  // namespace

void check_micro_kernel(const Place& place, const VerifyOptions& options, Findings& findings) {
  const Block& block = *place.block;
  const auto refuse = [&](const std::string& message) {
    findings.add(place, "it is a #micro_kernel: " + message);
  };
  const auto* symbol = std::get_if<std::string>(block.tags.find(tag::kMicroKernel));
  if (!symbol || symbol->empty())
    return refuse("the tag needs the name of a function, as #micro_kernel=\"product_8x8\"");
  // It becomes part of a symbol in what plugins generate.
  if (!is_function_name(*symbol))
    return refuse(
        fmt::format("'{}' is no name of a function: a letter, then letters, digits and "
                    "'_', {} at most",
                    shown_name(*symbol), kLongestFunctionName));
  const auto* name = std::get_if<std::string>(block.tags.find(tag::kStencil));
  if (!name) return refuse("it must be a #stencil as well, which says what the function does");
  if (place.depth < kDepthInsideKernel)
    return refuse("it must stand inside a kernel, which calls the function");
  if (!block.constraints.empty())
    return refuse("a function runs whole tiles, so it can have no constraints");
  for (const Statement& statement : block.stmts)
    if (statement.block() || statement.special())
      return refuse("it holds a block or a special; the function is given the memory of its views");
  for (const Refinement& ref : block.refs)
    if (ref.dir == RefDir::none)
      findings.add(place, ref, "it is allocated in a #micro_kernel, which can allocate nothing");
  if (const Stencil* stencil = find_stencil(options, *name); stencil && stencil->symbol != *symbol)
    refuse(stencil->symbol.empty()
               ? fmt::format("the hardware does the stencil '{}', no function", *name)
               : fmt::format("the function of the stencil '{}' is '{}', not '{}'", *name,
                             stencil->symbol, *symbol));
}

void check_micro_kernel_operand(const Place& place, const Stencil& stencil, const UsedOperand& used,
                                Findings& findings) {
  const StencilOperand& operand = *used.operand;
  const View& view = used.access->view;
  const Refinement& allocation = *view.allocation;
  const auto refuse = [&](const std::string& what) {
    findings.add(place, *used.ref, fmt::format("the micro-kernel '{}' {}", stencil.symbol, what));
  };
  if (view.beyond != View::Beyond::refused)
    return refuse("takes no view that reaches beyond its tensor (#clamp, #zero_fill)");
  if (allocation.swizzle && allocation.swizzle->bits > 0)
    return refuse(fmt::format("takes no swizzled memory, which '{}' is", allocation.into));
  if (is_distributed(allocation))
    return refuse(fmt::format("takes no memory that lanes hold, which '{}' is", allocation.into));

  const std::optional<Aggregation> summed{Aggregation{AggOp::add, operand.type}};
  if (operand.written && used.ref->agg != summed)
    return refuse(fmt::format("adds to '{}', which has to be summed as add.{}", operand.name,
                              name_of(operand.type)));
  if (operand.written && view.chain_depth == place.depth && view.chain->dir == RefDir::out)
    return refuse(
        fmt::format("adds to '{}': a block around it has to begin the sums, or they are "
                    "inout",
                    operand.name));

  // The flat access as a number of elements: its steps along the dims, and what all else is a
  // multiple of.
  const std::vector<Affine>& start = *view.start;
  const int64_t bytes = byte_size(allocation.shape.type);
  int64_t multiple = allocation.offset_bytes;
  const std::string row = used.variables.empty() ? "" : used.variables.back();
  for (size_t d = 0; d < start.size(); ++d) {
    const int64_t stride = allocation.shape.dims[d].stride;
    multiple = std::gcd(multiple, start[d].constant() * stride * bytes);
    for (const auto& [variable, step] : start[d].terms()) {
      const auto dim = std::find(used.variables.begin(), used.variables.end(), variable);
      if (dim != used.variables.end()) {
        const std::string& index = operand.dims[static_cast<size_t>(dim - used.variables.begin())];
        const auto wanted = operand.strides.find(index);
        if (wanted != operand.strides.end() && wanted->second != step * stride)
          refuse(fmt::format("takes '{}' with steps of {} along {}, here they are {}", operand.name,
                             wanted->second, index, step * stride));
      }
      if (variable != row) multiple = std::gcd(multiple, step * stride * bytes);
    }
  }
  if (multiple % operand.align_bytes != 0)
    refuse(
        fmt::format("wants each row of '{}' at a multiple of {} bytes, here they are at "
                    "multiples of {}",
                    operand.name, operand.align_bytes, multiple));
}

}  // namespace stria::stripe
