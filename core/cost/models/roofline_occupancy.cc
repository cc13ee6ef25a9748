// SPDX-License-Identifier: Apache-2.0
// The cost `roofline_occupancy`: workgroup/roofline_occupancy.h.
#include "stria/cost/workgroup/roofline_occupancy.h"

#include "stria/cost/tile_cost.h"
#include "stria/cost/workgroup/score_bound.h"

namespace stria::cost {
namespace {

// The block and the elementwise kernels that follow it, as a table of strides.
Result<FlatKernel> table_of(const stripe::Program& program, const stripe::Block& block) {
  for (const stripe::Block* parent : {program.prologue(), program.main()}) {
    if (!parent) continue;
    for (size_t i = 0; i < parent->stmts.size(); ++i)
      if (parent->stmts[i].block() == &block)
        return flatten(*parent, block, following_kernels(*parent, i));
  }
  return unsupported("block '{}' is no kernel: it is inside of one", block.name);
}

FlatKernel without_names(FlatKernel kernel) {
  kernel.output.name.clear();
  for (FlatTensor& input : kernel.inputs) input.name.clear();
  return kernel;
}

// The table orders indices by name, while a tile has them in the block's order.
class OccupancyOfBlock final : public BlockCost {
 public:
  OccupancyOfBlock(const TiledBlock& block, FlatKernel kernel, const TileFilter& filter,
                   const GroupSettings& settings)
      : block_(block),
        kernel_(std::move(kernel)),
        filter_(filter),
        settings_(settings),
        bound_(kernel_, settings) {
    for (const FlatKernel::Index& index : kernel_.indices)
      for (size_t i = 0; i < block.indices.size(); ++i)
        if (block.indices[i].name == index.name) order_.push_back(i);
  }
  std::unique_ptr<CostKey> key() const override {
    return std::make_unique<KeyOf<FlatKernel>>(without_names(kernel_));
  }
  Result<TileSpace> space() const override { return tile_space(block_, filter_); }
  double of(const Tile& tile) const override {
    const GroupScore score = score_of(kernel_, in_order(tile, low_), settings_);
    return score.fits() ? -score.score : kDoesNotFit;
  }
  double bound(const Tile& low, const Tile& high) const override {
    return -bound_(in_order(low, low_), in_order(high, high_));
  }
  bool hopeless(const Tile& tile) const override {
    return bound_.all_larger_are_over(in_order(tile, low_));
  }
  // Tiles that differ only in the reduction mostly load the same number of bytes.
  std::vector<size_t> last() const override {
    std::vector<size_t> out;
    for (size_t i = 0; i < order_.size(); ++i)
      if (!kernel_.writes_apart(i)) out.push_back(order_[i]);
    return out;
  }
  double score(const Tile& tile) const override {
    return score_of(kernel_, in_order(tile, low_), settings_).score;
  }
  std::string terms(const Tile& tile) const override {
    return to_string(score_of(kernel_, in_order(tile, low_), settings_), settings_);
  }
  std::optional<OverLimit> over(const Tile& tile) const override {
    const GroupScore score = score_of(kernel_, in_order(tile, low_), settings_);
    if (score.verdict == GroupScore::Verdict::over_memory)
      return over_bytes("the model's settings.max_mem", score.shared_bytes, settings_.max_mem);
    if (score.verdict == GroupScore::Verdict::over_registers)
      return over_bytes("the model's settings.max_regs", score.register_bytes, settings_.max_regs);
    return std::nullopt;
  }

 private:
  static OverLimit over_bytes(const char* what, int64_t is, int64_t limit) {
    return {what, "bytes", static_cast<double>(is), static_cast<double>(limit)};
  }
  const Tile& in_order(const Tile& tile, Tile& out) const {
    out.clear();
    for (size_t i : order_) out.push_back(tile[i]);
    return out;
  }

  const TiledBlock& block_;
  const FlatKernel kernel_;
  const TileFilter& filter_;
  const GroupSettings& settings_;
  const ScoreBound bound_;
  std::vector<size_t> order_;
  mutable Tile low_, high_;  // in the table's order; members, so that memory is allocated once
};

class RooflineModel final : public TileCost {
 public:
  void describe(OptionFields& fields) override { describe_filter(filter_, fields); }
  Status check(const HardwareModel& model, const std::string&) const override {
    if (!model.settings)
      return not_found("/cost: 'roofline_occupancy' needs the hardware model's `settings`");
    const GroupSettings& s = *model.settings;
    if (s.threads <= 0 || s.mem_width <= 0 || s.goal_groups <= 0 || s.goal_flops_per_byte <= 0)
      return invalid_argument(
          "/cost: 'roofline_occupancy' needs threads, mem_width, goal_groups and "
          "goal_flops_per_byte in the hardware model's `settings`");
    return {};
  }
  Answer on(const TileQuestion& question) const override {
    Result<FlatKernel> table = table_of(question.program, question.block);
    if (!table.ok()) return {nullptr, Refusal(table.status().message())};
    return {std::make_unique<OccupancyOfBlock>(question.tiled, *std::move(table), filter_,
                                               *question.model.settings)};
  }

 private:
  TileFilter filter_;
};

}  // namespace

std::unique_ptr<TileCost> make_roofline_occupancy_cost() {
  return std::make_unique<RooflineModel>();
}

}  // namespace stria::cost
