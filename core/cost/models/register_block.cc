// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/models/register_block.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stria/rewrite/panel_chain.h"
#include "stria/stripe/tags.h"

namespace stria::cost {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

RegisterTiling register_tiling(const Block& block, const passes::VectorChoice& vector) {
  RegisterTiling out;
  out.lanes = vector.lanes;
  out.lanes_are_sums = vector.reduction;
  std::vector<std::pair<int64_t, size_t>> rows;
  for (const passes::IndexRole& role : passes::index_roles(block)) {
    const size_t position = out.roles.size();
    RegisterRole kind = RegisterRole::steps;
    if (role.name == vector.index) {
      kind = RegisterRole::lanes;
    } else if (role.kind == passes::IndexKind::output && passes::has_reuse(block, role.name)) {
      kind = RegisterRole::row;
      rows.emplace_back(role.output_stride, position);
    } else if (role.kind == passes::IndexKind::output) {
      kind = RegisterRole::single;
    }
    out.roles.push_back(kind);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [stride, position] : rows) out.rows.push_back(position);
  return out;
}

// For each view: whether it may be copied into panels, if lanes walk along `index`.
std::vector<PanelRule> panel_rules(const stripe::Program& program, const Block& block,
                                   const std::string& index) {
  std::vector<PanelRule> out;
  const std::vector<const Block*> path = passes::path_to(program, block);
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none) continue;
    PanelRule& rule = out.emplace_back();
    if (ref.dir != RefDir::in || program.entry.tags.has(stripe::tag::kPlaced)) continue;
    const std::optional<passes::PanelChain> chain = passes::panel_chain(path, ref.into, index);
    if (chain) rule = {true, chain->is_const, chain->multiple};
  }
  return out;
}

}  // namespace

std::optional<RegisterBlock> register_block(const stripe::Program& program, const Block& block,
                                            const passes::VectorChoice& vector,
                                            const HardwareModel& model, const std::string& unit,
                                            bool panels) {
  std::optional<CoreRates> rates = core_rates(model, unit, tiled_block(block).type, vector.lanes);
  if (!rates) return std::nullopt;
  RegisterBlock out{register_tiling(block, vector), *std::move(rates)};
  if (panels && !vector.reduction) out.tiling.panels = panel_rules(program, block, vector.index);
  return out;
}

}  // namespace stria::cost
