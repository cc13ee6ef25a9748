// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/partition_compute.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/cost/block/part_choice.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;

void cut(Block& block, const TensorNames& around, int64_t wanted,
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
  const cost::PartChoice best =
      cost::choose_parts(ranges, wanted, options.only_multiple_of, options.only_even);
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
  return for_each_selected_below_sections(program, options.reqs, context,
                                          [&](Block& block, const TensorNames& around) {
                                            cut(block, around, wanted, options, context);
                                            return Status();
                                          });
}

}  // namespace stria::passes
