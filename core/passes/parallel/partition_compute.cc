// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/partition_compute.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/cost/staged/spread_parts.h"
#include "stria/cost/staged/staged_rates.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;

// The unit that runs the parts, if the ports of the memory with their operands decide too.
using Spread = std::optional<cost::SpreadUnit>;

// By the time of the parts of a tile: positions of its outputs, the first one has the largest
// stride.
cost::PartChoice choose_by_time(const Block& block, const std::vector<IndexRole>& outputs,
                                cost::SpreadUnit on, const cost::OperationPace& pace) {
  on.pace = &pace;
  std::vector<size_t> at, along;
  cost::Tile tile;
  for (size_t i = 0; i < block.idxs.size(); ++i) {
    if (block.idxs[i].affine || block.idxs[i].range < 2) continue;
    at.push_back(i);
    tile.push_back(block.idxs[i].range);
  }
  for (const IndexRole& role : outputs)
    for (size_t n = 0; n < at.size(); ++n)
      if (block.idxs[at[n]].name == role.name) along.push_back(n);
  cost::KernelShape shape(block, at);
  cost::KnownParts known;
  return cost::spread_parts(shape, cost::spread_views(block, *on.unit), tile, along, on, known);
}

void cut(Block& block, const TensorNames& around, int64_t wanted, const Spread& spread,
         const PartitionComputeOptions& options, PassContext& context) {
  context.matched();
  for (const char* tag : {stripe::tag::kVector, stripe::tag::kStencil})
    if (block.tags.has(tag)) return context.skipped(block.name, fmt::format("it is a #{}", tag));
  if (const Refusal refusal = why_points_do_not_commute(block, around))
    return context.skipped(block.name, refusal.reason());
  std::vector<IndexRole> outputs;
  for (const IndexRole& role : index_roles(block))
    if (role.kind == IndexKind::output) outputs.push_back(role);
  if (outputs.empty()) return context.skipped(block.name, "no index makes elements of its own");
  std::stable_sort(outputs.begin(), outputs.end(), [](const IndexRole& a, const IndexRole& b) {
    return a.output_stride > b.output_stride;
  });
  // The first index has the largest stride.
  std::vector<int64_t> ranges;
  for (const IndexRole& role : outputs) ranges.push_back(role.range);
  const bool plain = std::none_of(outputs.begin(), outputs.end(), [&](const IndexRole& role) {
    return block.find_index(role.name)->affine.has_value();
  });
  // A unit without a rate for what the block does cannot say how long it works.
  std::optional<cost::OperationPace> pace;
  if (spread && plain)
    if (Result<cost::OperationPace> of =
            cost::OperationPace::of(*spread->unit, cost::work_of(block));
        of.ok())
      pace = *of;
  const cost::PartChoice best =
      pace ? choose_by_time(block, outputs, *spread, *pace)
           : cost::choose_parts(ranges, wanted, options.only_multiple_of, options.only_even);
  if (best.parts == 1)
    return context.skipped(block.name, "no cut is nearer to the number of parts than one part");
  std::map<std::string, int64_t> tiles;
  std::vector<std::string> terms;
  bool uneven = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int64_t tile = best.tiles[i], range = outputs[i].range;
    if (tile == range) continue;
    tiles[outputs[i].name] = tile;
    uneven = uneven || range % tile != 0;
    terms.push_back(fmt::format("{} {}*{}", outputs[i].name, ceil_div(range, tile), tile));
  }
  if (uneven && places_by_index(block))
    return context.skipped(block.name, "a part is uneven, and a location inside names an index");
  split_block(block, tiles);
  block.tags.set_all(options.set_tags);
  if (!options.idx_tag.empty())
    for (stripe::Index& index : block.idxs)
      if (tiles.count(index.name)) index.tags.set(options.idx_tag);
  context.note(fmt::format("{}: {} parts of {} wanted: {}",
                           block.name.empty() ? "block" : block.name, best.parts, wanted,
                           join(terms, ", ")));
  context.count("parts", best.parts);
  context.changed();
}

// What `memory` of the options says.
struct ByPorts {
  std::optional<cost::ScratchpadPorts> ports;
  const ExecutionUnit* of = nullptr;
  double unit_cycle = 1;
  int64_t instances = 1, banks = 1;
  Spread unit() const {
    if (!ports) return std::nullopt;
    return cost::SpreadUnit{of, nullptr, &*ports, unit_cycle, instances, banks};
  }
};
Result<ByPorts> ports_of_parts(const PartitionComputeOptions& options, int64_t wanted,
                               const HardwareModel& model) {
  ByPorts out;
  if (options.memory.empty()) return out;
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/memory", options.memory));
  if (options.unit.empty() || !options.only_even || options.only_multiple_of > 1)
    return invalid_argument(
        "/memory: parts are chosen by the ports of '{}' with /unit, with /only_even, and without "
        "/only_multiple_of",
        options.memory);
  const MemoryUnit* memory = model.find_memory(options.memory);
  out.of = model.find_executor(options.unit);
  if (!memory || !out.of) return out;  // a model without units
  if (options.banks > memory->count)
    return make_error(StatusCode::out_of_range, "/banks: {}, but the hardware model has {} of '{}'",
                      options.banks, memory->count, options.memory);
  out.unit_cycle = 1 / model.unit_cycles(out.of->clock_mhz);
  out.instances = wanted;
  out.banks = options.banks;
  out.ports = cost::scratchpad_ports(model, *memory);
  return out;
}

}  // namespace

void describe(PartitionComputeOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.add("num_parts", options.num_parts,
             "wanted number of parts; 0 = as many as the model has of `unit`", {0, 4096});
  fields.unit("unit", options.unit, "execution unit of the model whose count is used",
              WhenEmpty::none);
  fields.set_tags("set_tags", options.set_tags, "tags added to the outer block",
                  {"parallel", "parts"});
  fields.set_tag("idx_tag", options.idx_tag,
                 "tag added to the indices that count parts; \"\" = none");
  fields.add("only_multiple_of", options.only_multiple_of,
             "tiles are multiples of this, or the whole range", {1, 1 << 20});
  fields.add("only_even", options.only_even,
             "parts divide their ranges, so that the results of neighbours are contiguous");
  fields.unit("memory", options.memory,
              "memory unit that holds operands: where its ports take longer than the unit, parts "
              "with fewer operands are chosen; needs `unit` and `only_even`; \"\" = the number "
              "decides alone",
              WhenEmpty::none);
  fields.add("banks", options.banks, "instances of `memory` that operands are spread over",
             {1, 1 << 20});
}

Status partition_compute(stripe::Program& program, const PartitionComputeOptions& options,
                         PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  int64_t wanted = options.num_parts;
  if (wanted == 0) {
    const std::optional<int64_t> count = context.model().unit_count(options.unit);
    if (!count) return invalid_argument("/num_parts: 0, and no unit of the model to count instead");
    wanted = std::min<int64_t>(*count, 4096);
  }
  STRIA_ASSIGN(const ByPorts by_ports, ports_of_parts(options, wanted, context.model()));
  return for_each_selected_below_sections(
      program, options.reqs, context, [&](Block& block, const TensorNames& around) {
        cut(block, around, wanted, by_ports.unit(), options, context);
        return Status();
      });
}

}  // namespace stria::passes
