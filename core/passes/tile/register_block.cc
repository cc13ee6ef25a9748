// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/register_block.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stria/rewrite/panel_chain.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

cost::RegisterTiling register_tiling(const Block& block, const VectorChoice& vector) {
  cost::RegisterTiling out;
  out.lanes = vector.lanes;
  out.lanes_are_sums = vector.reduction;
  std::vector<std::pair<int64_t, size_t>> rows;
  for (const IndexRole& role : index_roles(block)) {
    const size_t position = out.roles.size();
    cost::RegisterRole kind = cost::RegisterRole::steps;
    if (role.name == vector.index) {
      kind = cost::RegisterRole::lanes;
    } else if (role.kind == IndexKind::output && has_reuse(block, role.name)) {
      kind = cost::RegisterRole::row;
      rows.emplace_back(role.output_stride, position);
    } else if (role.kind == IndexKind::output) {
      kind = cost::RegisterRole::single;
    }
    out.roles.push_back(kind);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [stride, position] : rows) out.rows.push_back(position);
  return out;
}

// For each view: whether it may be copied into panels, if lanes walk along `index`.
std::vector<cost::PanelRule> panel_rules(const stripe::Program& program, const Block& block,
                                         const std::string& index) {
  std::vector<cost::PanelRule> out;
  const std::vector<const Block*> path = path_to(program, block);
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none) continue;
    cost::PanelRule& rule = out.emplace_back();
    if (ref.dir != RefDir::in || program.entry.tags.has(stripe::tag::kPlaced)) continue;
    const std::optional<PanelChain> chain = panel_chain(path, ref.into, index);
    if (chain) rule = {true, chain->is_const, chain->multiple};
  }
  return out;
}

}  // namespace

std::optional<RegisterBlock> register_block(const stripe::Program& program, const Block& block,
                                            const VectorChoice& vector, const HardwareModel& model,
                                            const std::string& unit, bool panels) {
  std::optional<cost::CoreRates> rates =
      cost::core_rates(model, unit, cost::tiled_block(block).type, vector.lanes);
  if (!rates) return std::nullopt;
  RegisterBlock out{register_tiling(block, vector), *std::move(rates)};
  if (panels && !vector.reduction) out.tiling.panels = panel_rules(program, block, vector.index);
  return out;
}

}  // namespace stria::passes
