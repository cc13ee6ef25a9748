// SPDX-License-Identifier: Apache-2.0
// The cost `group_time`: workgroup/group_time.h.
#include "stria/cost/workgroup/group_time.h"

#include <algorithm>

#include "stria/cost/models/group_time_options.h"
#include "stria/cost/tile_cost.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/tags.h"

namespace stria::cost {

void GroupTimeOptions::describe(OptionFields& fields) {
  fields.unit("unit", unit, "execution unit of the model that runs groups");
  fields.unit("local", local, "memory unit that lanes of a group share");
  fields.unit("registers", registers, "memory unit that each lane has");
  fields.add("parts", parts,
             "lanes may divide a step's reduction among themselves as well as its outputs, tag "
             "#parts");
  fields.add("direct", direct,
             "lanes may load operands from global memory without staging, tag #direct");
}

Status GroupTimeOptions::check(const HardwareModel& model) const {
  STRIA_RETURN_IF_ERROR(passes::check_unit(model, passes::UnitUse::run, "/unit", unit));
  STRIA_RETURN_IF_ERROR(passes::check_unit(model, passes::UnitUse::hold, "/local", local));
  return passes::check_unit(model, passes::UnitUse::hold, "/registers", registers);
}

std::optional<GroupRates> GroupTimeOptions::rates(const HardwareModel& model) const {
  return group_rates(model, unit, local, registers);
}

namespace {

class GroupTimeOfBlock final : public BlockCost {
 public:
  GroupTimeOfBlock(const TileQuestion& question, const GroupForm& form, const GroupRates& rates)
      : block_(question.tiled), source_(question.block), form_(form), rates_(rates) {}
  Result<TileSpace> space() const override {
    TileSpace out = group_tiles(block_, form_);
    walk_dimensions_alone(out);
    return out;
  }
  double of(const Tile& tile) const override { return time(tile).cycles; }
  double bound(const Tile& low, const Tile& high) const override {
    return group_time_bound(block_, low, high, form_, rates_);
  }
  bool hopeless(const Tile& tile) const override {
    return all_larger_are_over(block_, tile, form_, rates_);
  }
  std::string terms(const Tile& tile) const override { return to_string(time(tile)); }
  std::optional<OverLimit> over(const Tile& tile) const override {
    const double bytes = time(tile).local_bytes;
    const auto limit = static_cast<double>(rates_.local_bytes);
    if (bytes <= limit) return std::nullopt;
    return OverLimit{"the local memory of a group", "bytes", bytes, limit};
  }
  TileMarks marks(const Tile& tile) const override {
    const GroupTime of = time(tile);
    TileMarks out;
    if (of.group_lanes > 0) out.outer.set(stripe::tag::kGroupLanes, of.group_lanes);
    if (form_.parts && of.parts > 0) out.outer.set(stripe::tag::kParts, of.parts);
    if (of.direct) out.outer.set(stripe::tag::kDirect);
    return out;
  }

 private:
  GroupTime time(const Tile& tile) const { return group_time(block_, tile, form_, rates_); }

  // Lanes share out what a group sums by its dimensions, so one index of a tile alone may walk
  // along each: the one with the smallest step. Its tiles are equal, since the last one would
  // else reach into what the next value of the others writes.
  void walk_dimensions_alone(TileSpace& space) const {
    for (const std::vector<std::string>& names : passes::shared_dimensions(source_))
      for (size_t i = 0; i < space.size(); ++i) {
        const TiledBlock::Index& index = block_.indices[i];
        if (index.name == names.front())
          std::erase_if(space[i], [&](int64_t size) { return index.range % size != 0; });
        else if (std::find(names.begin(), names.end(), index.name) != names.end())
          space[i] = {1};
      }
  }

  const TiledBlock& block_;
  const stripe::Block& source_;
  const GroupForm form_;
  const GroupRates rates_;
};

class GroupTimeModel final : public TileCost {
 public:
  void describe(OptionFields& fields) override { options_.describe(fields); }
  Status check(const HardwareModel& model, const std::string&) const override {
    return options_.check(model);
  }
  Answer on(const TileQuestion& question) const override {
    const std::optional<GroupRates> rates = options_.rates(question.model);
    if (!rates)
      return {nullptr, Refusal("the model does not say what a unit of work groups can do")};
    return {std::make_unique<GroupTimeOfBlock>(question, options_.form(question.depth), *rates)};
  }

 private:
  GroupTimeOptions options_;
};

}  // namespace

std::unique_ptr<TileCost> make_group_time_cost() { return std::make_unique<GroupTimeModel>(); }

}  // namespace stria::cost
