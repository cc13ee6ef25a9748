// SPDX-License-Identifier: Apache-2.0
// The options of the choice of a tile, and their checks against the hardware model.
#include "stria/base/text.h"
#include "stria/passes/tile/tile_choice.h"
#include "stria/rewrite/located_unit.h"

namespace stria::passes {

namespace {

// Options of the cost `group_time` alone.
void describe_lanes(TileChoiceOptions& options, OptionFields& fields) {
  fields.unit("local", options.local, "group_time: memory unit that lanes of a group share");
  fields.unit("registers", options.registers, "group_time: memory unit that each lane has");
  fields.add("parts", options.parts,
             "group_time: lanes may divide a step's reduction among themselves, tag #parts");
  fields.add("direct", options.direct,
             "group_time: lanes may load operands from global memory without staging, tag #direct");
}

// The first given option that the cost does not read, spelled as by first_given().
std::string first_unread(TileChoiceOptions options) {
  const TileChoiceOptions none;
  const std::string cost = options.cost;
  // All costs read these.
  options.cost = none.cost;
  options.memory = none.memory;
  options.limits = none.limits;
  options.search = none.search;
  options.measure_top = none.measure_top;
  options.measure_margin_ns = none.measure_margin_ns;
  options.explain_top = none.explain_top;
  const bool own_sizes = cost == "registers" || cost == "group_time";
  if (!own_sizes) options.filter = none.filter;
  if (own_sizes || cost == "staged_time") options.unit = none.unit;
  if (cost == "traffic") options.traffic = none.traffic;
  if (cost == "group_time") {
    options.local = none.local;
    options.registers = none.registers;
    options.parts = none.parts;
    options.direct = none.direct;
  }
  if (cost == "staged_time") {
    options.global = none.global;
    options.transfer = none.transfer;
    options.spread = none.spread;
    options.banks = none.banks;
    options.bank_KiB = none.bank_KiB;
  }
  return first_given(std::move(options));
}

}  // namespace

void describe_group_choice(TileChoiceOptions& options, OptionFields& fields) {
  fields.add("cost", options.cost, "the cost that gives the times of groups; none = no times",
             std::vector<std::string>{"group_time"});
  fields.add("pipeline_depth", options.limits.pipeline_depth, "group_time: steps staged at once",
             {1, 1 << 20});
  fields.unit("unit", options.unit, "group_time: execution unit of the model that runs groups");
  describe_lanes(options, fields);
}

void describe_choice(TileChoiceOptions& options, OptionFields& fields) {
  fields.unit(
      "memory", options.memory,
      "memory unit of the model, one instance of which is to hold the tile; \"\" = no limit",
      WhenEmpty::none);
  fields.add("pipeline_depth", options.limits.pipeline_depth, "tiles at once in that memory",
             {1, 1 << 20});
  fields.add("cost", options.cost, "the cost that the best tile has lowest",
             std::vector<std::string>{"traffic", "roofline_occupancy", "registers", "group_time",
                                      "staged_time"});
  fields.unit("unit", options.unit,
              "registers, staged_time: execution unit of the model; group_time: the one that runs "
              "groups");
  describe_lanes(options, fields);
  fields.unit("global", options.global, "staged_time: memory unit that tensors come from");
  fields.formerly("far");
  fields.unit("transfer", options.transfer, "staged_time: transfer unit that copies tiles");
  fields.add("spread", options.spread,
             "staged_time: a tile is cut into even parts for all instances of the unit");
  fields.add("banks", options.banks,
             "staged_time: instances of `memory` that tensors are spread over", {1, 1 << 20});
  fields.add("bank_KiB", options.bank_KiB,
             "staged_time: KiB of each of them; 0 = what the hardware model gives one instance",
             {0, int64_t{1} << 40});
  fields.add("search", options.search,
             "how tiles are searched: the best of all sizes, or a greedy walk over doublings",
             std::vector<std::string>{"exhaustive", "ascend"});
  fields.add("only_po2", options.filter.only_po2, "sizes are powers of two");
  fields.add("only_even", options.filter.only_even, "sizes divide their ranges");
  fields.add("only_multiple_of", options.filter.only_multiple_of,
             "sizes are multiples of it; shorter ranges stay whole", {1, 1 << 20});
  fields.add("cut_reductions", options.filter.cut_reductions, "reductions may be cut");
  fields.add("max_input_bytes", options.limits.max_input_bytes,
             "limit of a tile: all `in` views together; 0 = none");
  fields.add("max_output_bytes", options.limits.max_output_bytes, "the same, all `out` views");
  fields.add("max_per_input_bytes", options.limits.max_per_input_bytes, "the same, each `in` view");
  fields.add("max_per_output_bytes", options.limits.max_per_output_bytes,
             "the same, each `out` view");
  fields.add("max_total_bytes", options.limits.max_total_bytes, "the same, all views");
  fields.add("max_points", options.limits.max_points, "limit of a tile's points; 0 = none");
  fields.add("max_po2_points", options.limits.max_po2_points,
             "the same, each size rounded up to a power of two");
  fields.add("max_tiles", options.limits.max_tiles, "limit of the number of tiles; 0 = none");
  fields.add("input_cost", options.traffic.input_cost,
             "traffic: cost of an element or line that is read");
  fields.add("output_cost", options.traffic.output_cost, "traffic: cost of one that is written");
  fields.add("split_factor", options.traffic.split_factor,
             "traffic: factor of the term log2(number of tiles)");
  fields.add(
      "small_factor_bound", options.traffic.small_factor_bound,
      "traffic: prime factors up to this one, of sizes of output indices, make a tile cheaper; "
      "0 = none",
      {0, 1000});
  fields.add("cache_width_bytes", options.traffic.cache_width_bytes,
             "traffic: bytes of a line; 0 = elements count", {0, 1 << 20});
  fields.add("min_points", options.traffic.min_points, "traffic: goal for a tile's points", {1});
  fields.add("min_out_points", options.traffic.min_out_points,
             "traffic: goal for its points along output indices", {1});
  fields.add("min_tiles", options.traffic.min_tiles, "traffic: goal for the number of tiles", {1});
  fields.add("min_out_tiles", options.traffic.min_out_tiles,
             "traffic: goal for the number along output indices", {1});
  fields.add(
      "border_cost", options.traffic.border_cost,
      "traffic: extra cost of a border tile, whose points are tested, as a fraction of the cost of "
      "an interior tile");
  fields.add("measure_top", options.measure_top,
             "so many of the best candidates are timed on the device, and one that is clearly "
             "faster is preferred to those of lower cost; 0 = none",
             {0, 1000});
  fields.add(
      "measure_margin_ns", options.measure_margin_ns,
      "ns by which it must be faster, besides 2%: two builds of one kernel may differ by this",
      {0, 1000000});
  fields.add("explain_top", options.explain_top, "candidates that `--explain autotile` prints",
             {1, 1000});
}

std::string first_given(TileChoiceOptions options) {
  const auto rows_of = [](TileChoiceOptions& of) {
    OptionFields fields;
    describe_choice(of, fields);
    return fields.rows();
  };
  TileChoiceOptions none;
  const std::vector<OptionRow> given = rows_of(options), initial = rows_of(none);
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].initial != initial[i].initial)
      return fmt::format("/{}: {}", given[i].name, given[i].initial);
  return "";
}

Status check_choice(const TileChoiceOptions& options, const PassContext& context) {
  const HardwareModel& model = context.model();
  if (const std::string unread = first_unread(options); !unread.empty())
    return invalid_argument("{}: the cost '{}' does not read it", unread, options.cost);
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/memory", options.memory));
  if (!options.memory.empty()) {
    const MemoryUnit* memory = model.find_memory(options.memory);
    if (!memory)
      return not_found("/memory: there is no hardware model that has '{}'", options.memory);
    if (memory->size_bytes == 0)
      return invalid_argument("/memory: the hardware model does not say how large '{}' is",
                              options.memory);
  }
  if (options.cost == "roofline_occupancy") {
    if (!model.settings)
      return not_found("/cost: 'roofline_occupancy' needs the hardware model's `settings`");
    const GroupSettings& s = *model.settings;
    if (s.threads <= 0 || s.mem_width <= 0 || s.goal_groups <= 0 || s.goal_flops_per_byte <= 0)
      return invalid_argument(
          "/cost: 'roofline_occupancy' needs threads, mem_width, goal_groups and "
          "goal_flops_per_byte in the hardware model's `settings`");
  }
  if (options.cost == "registers" || options.cost == "group_time" || options.cost == "staged_time")
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/unit", options.unit));
  if (options.cost == "group_time") {
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/local", options.local));
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/registers", options.registers));
  }
  if (options.cost == "staged_time") {
    if (options.memory.empty())
      return invalid_argument("/cost: 'staged_time' needs the /memory that tiles are brought into");
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/global", options.global));
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/transfer", options.transfer));
    const Status rates = cost::staged_rates(model, staged_units(options)).status();
    if (!rates.ok()) return rates.with_context("/cost");
    const MemoryUnit* memory = model.find_memory(options.memory);
    if (options.banks > memory->count)
      return make_error(StatusCode::out_of_range,
                        "/banks: {}, but the hardware model has {} of '{}'", options.banks,
                        memory->count, options.memory);
    if (options.bank_KiB * 1024 > memory->size_bytes)
      return make_error(StatusCode::out_of_range, "/bank_KiB: {}, but one '{}' has {} KiB",
                        options.bank_KiB, options.memory,
                        static_cast<double>(memory->size_bytes) / 1024);
  }
  if (options.measure_top > 0 && !context.measure())
    return unsupported("/measure_top: needs a device that times candidates; there is none here");
  return {};
}

cost::GroupForm group_form(const TileChoiceOptions& options) {
  return {.depth = options.limits.pipeline_depth, .parts = options.parts, .direct = options.direct};
}

std::optional<cost::GroupRates> group_rates(const HardwareModel& model,
                                            const TileChoiceOptions& options) {
  return cost::group_rates(model, options.unit, options.local, options.registers);
}

cost::StagedUnits staged_units(const TileChoiceOptions& options) {
  return {options.unit,   options.memory, options.global,         options.transfer,
          options.spread, options.banks,  options.bank_KiB * 1024};
}

}  // namespace stria::passes
