// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/agent.h"

#include <fmt/format.h>

#include "stria/interp/shared_memory.h"

namespace stria::interp {

bool Activation::evaluate() {
  forms = plan->constants;
  for (size_t i = 0; i < position.size(); ++i) {
    const int64_t* step = plan->coefficients_of(i);
    for (size_t f = 0; f < forms.size(); ++f) forms[f] += step[f] * position[i];
  }
  for (int c = 0; c < plan->constraint_count; ++c)
    if (forms[static_cast<size_t>(c)] < 0) return false;
  return true;
}

bool Activation::advance() {
  if (!begun) {
    begun = true;
    for (const int64_t one : range)
      if (one == 0) return false;
    position = start;
    if (evaluate()) return true;
  }
  for (;;) {
    size_t i = position.size();
    while (i > 0 && ++position[i - 1] == start[i - 1] + range[i - 1]) {
      position[i - 1] = start[i - 1];
      --i;
    }
    if (i == 0) return false;
    if (evaluate()) return true;
  }
}

std::vector<int64_t> Activation::coordinates(size_t slot) const {
  std::vector<int64_t> sum(plan->refs[slot].coordinates.size(), 0);
  for (const Activation* at = this; at != nullptr; at = at->outer.get()) {
    const RefPlan& ref = at->plan->refs[slot];
    if (ref.coordinates.size() != sum.size()) return {};
    for (size_t d = 0; d < sum.size(); ++d) {
      sum[d] += ref.coordinates[d].constant;
      for (size_t i = 0; i < at->position.size(); ++i)
        sum[d] += ref.coordinates[d].coefficients[i] * at->position[i];
    }
    if (ref.parent < 0) break;
    slot = static_cast<size_t>(ref.parent);
  }
  return sum;
}

std::string Activation::where() const {
  std::string out = plan->name, point;
  for (const Activation* at = this; at != nullptr; at = at->outer.get())
    for (size_t i = at->position.size(); i-- > 0;)
      if (at->begun && at->plan->idxs[i].range > 1)
        point = fmt::format("{}={}{}{}", at->plan->idxs[i].name, at->position[i],
                            point.empty() ? "" : ", ", point);
  return point.empty() ? out : out + " at " + point;
}

std::shared_ptr<Activation> enter(const BlockPlan& plan, std::shared_ptr<const Activation> outer,
                                  const std::vector<int64_t>& fixed) {
  auto out = std::make_shared<Activation>();
  out->plan = &plan;
  for (size_t i = 0; i < plan.idxs.size(); ++i) {
    const int form = plan.idxs[i].start_form;
    const bool is_fixed = !fixed.empty() && fixed[i] >= 0;
    out->start.push_back((form < 0 ? 0 : outer->forms[static_cast<size_t>(form)]) +
                         (is_fixed ? fixed[i] : 0));
    out->range.push_back(is_fixed ? 1 : plan.idxs[i].range);
  }
  out->position = out->start;
  out->views.resize(plan.refs.size());
  out->bases.resize(plan.refs.size());
  out->scalars.resize(plan.scalars.size());
  for (size_t r = 0; r < plan.refs.size(); ++r) {
    const RefPlan& ref = plan.refs[r];
    if (ref.parent < 0) continue;
    out->views[r] = outer->views[static_cast<size_t>(ref.parent)];
    out->bases[r] = out->views[r].offset;
    if (!ref.opens_aggregation) continue;
    out->views[r].aggregating = std::make_shared<Aggregating>();
    out->views[r].aggregating->open(*out->views[r].memory->buffer, *ref.agg,
                                    ref.dir == stripe::RefDir::out, false);
    out->views[r].memory->buffer->growing = nullptr;  // each agent knows its own
  }
  out->outer = std::move(outer);
  return out;
}

}  // namespace stria::interp
