// SPDX-License-Identifier: Apache-2.0
// A block that a function of the plugin does (docs/semantics.md S21), as a call.
#include <algorithm>

#include "stria/semtree/build/builder.h"

namespace stria::semtree {

Status Builder::micro_kernel(const Frame& frame, const std::string& symbol, Body& out) {
  const stripe::Block& block = *frame.block;
  if (in_group())
    return unsupported("{} is the micro-kernel '{}', which a lane of a group cannot call",
                       name_of_block(block), symbol);
  if (!block.constraints.empty())
    return unsupported(
        "{} is the micro-kernel '{}' and has constraints; a function runs whole "
        "tiles",
        name_of_block(block), symbol);
  STRIA_RETURN_IF_ERROR(count_statement(block));
  MicroKernel call;
  call.symbol = symbol;
  std::vector<const stripe::Refinement*> refs;
  for (const stripe::Refinement& ref : block.refs) refs.push_back(&ref);
  std::sort(refs.begin(), refs.end(),
            [](const auto* a, const auto* b) { return a->into < b->into; });
  for (const stripe::Refinement* ref : refs) {
    const auto refuse = [&](std::string_view why) {
      return unsupported("operand '{}' of the micro-kernel '{}' in {} {}", ref->into, symbol,
                         name_of_block(block), why);
    };
    const auto found = frame.views.find(ref->into);
    if (found == frame.views.end()) return refuse("is an allocation");
    const View& view = found->second;
    if (view.beyond != View::Beyond::nothing) return refuse("may reach beyond its tensor");
    if (view.whole && (slot_form(*view.whole) || view.whole->swizzle))
      return refuse("has no plain addresses");
    MicroKernel::Operand operand;
    operand.written = ref->dir != stripe::RefDir::in;
    Affine last = view.offset;
    for (size_t d = 0; d < ref->access.size(); ++d) {
      const stripe::Index* along = nullptr;
      for (const auto& [name, step] : ref->access[d].terms()) {
        const stripe::Index* index = block.find_index(name);
        if (!index || index->range == 1) continue;
        if (along || step != 1)
          return refuse("goes along several indices in one dimension, or not by ones");
        along = index;
      }
      if (!along) continue;
      operand.sizes.push_back(along->range);
      operand.strides.push_back(ref->shape.dims[d].stride * view.scale);
      last += operand.strides.back() * (along->range - 1);
    }
    nest_.measure(last);
    STRIA_ASSIGN(operand.place, place(view, frame, out));
    if (!function_.is_param(view.memory)) function_.array(view.memory).aligned = true;
    call.operands.push_back(std::move(operand));
  }
  out.push_back({std::move(call)});
  return {};
}

}  // namespace stria::semtree
