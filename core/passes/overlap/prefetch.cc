// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/prefetch.h"

#include <set>
#include <string_view>

#include "stria/pass/select_blocks.h"
#include "stria/passes/overlap/epilogue_rows.h"
#include "stria/passes/overlap/fetch_request.h"
#include "stria/passes/overlap/next_block.h"
#include "stria/passes/overlap/next_point.h"
#include "stria/rewrite/large_views.h"
#include "stria/rewrite/located_unit.h"

namespace stria::passes {
namespace {

using stripe::Block;

// One value of the option `what`.
struct PrefetchCase {
  std::string_view name;
  // Defaults of options that are not given. "" and -1: the option has no meaning for this case.
  std::string_view loop;
  int64_t percent;
  int64_t min_bytes;         // kForeseen: what the core does not fetch by itself
  std::string_view nothing;  // the note about a kernel in which nothing is prefetched
  // Returns how many views are prefetched. `large`: the kernel's names for large tensors.
  int64_t (*ask)(Block& kernel, const std::set<std::string>& large, const FetchRequest& request);
};

constexpr int64_t kForeseen = -2;
constexpr PrefetchCase kPrefetchCases[] = {
    {"next_point", "", 50, kForeseen, "no part of a large tensor comes next", mark_next_point},
    {"next_block", "transposed", 50, 0, "no tiles of a large tensor's blocks", fetch_next_block},
    {"epilogue", "tile", 5, -1, "no large tensor is used behind a reduction", fetch_epilogue_rows},
};

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const PrefetchCase& one : kPrefetchCases) names.emplace_back(one.name);
  return names;
}

const PrefetchCase& case_of(const PrefetchOptions& options) {
  for (const PrefetchCase& one : kPrefetchCases)
    if (one.name == options.what) return one;
  return kPrefetchCases[0];
}

Status check_given(const PrefetchOptions& options, const PrefetchCase& chosen) {
  if (!options.loop.empty() && chosen.loop.empty())
    return invalid_argument("/loop: means nothing for {}, where no loop asks", chosen.name);
  if (options.min_bytes >= 0 && chosen.min_bytes == -1)
    return invalid_argument("/min_bytes: means nothing for {}, which asks for nothing further on",
                            chosen.name);
  return {};
}

}  // namespace

void describe(PrefetchOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add(
      "what", options.what,
      "next_point: what the next point of a loop reads and writes; next_block: what the next "
      "block of tiles reads; epilogue: what a tile's epilogue reads and writes",
      case_names());
  fields.tags("exclude", options.exclude, "tags of blocks inside that are left alone");
  fields.tag("loop", options.loop,
             "tag of the loop that prefetches. next_block: the loop over a block's tiles, \"\" = "
             "transposed; epilogue: the loop of a tile's reduction, \"\" = tile",
             WhenEmpty::none);
  fields.unit("memory", options.memory, "memory unit of the model");
  fields.add(
      "percent", options.percent,
      "of one instance of it: if a kernel touches less of a tensor, caches keep it; -1 = 50, "
      "for epilogue 5",
      {-1, 1 << 20});
  fields.add("min_bytes", options.min_bytes,
             "distance from one point to the next (next_point, -1 = the calibration of the model "
             "says) or from one block to the "
             "next (next_block, -1 = 0), at least; the hardware fetches what is closer by itself",
             {-1});
}

Status prefetch(stripe::Program& program, const PrefetchOptions& options, PassContext& context) {
  const PrefetchCase& chosen = case_of(options);
  STRIA_RETURN_IF_ERROR(check_given(options, chosen));
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  const int64_t percent = options.percent < 0 ? chosen.percent : options.percent;
  const double least = bytes_of(context.model(), options.memory, percent);
  const FetchRequest request = {
      .exclude = options.exclude,
      .loop = options.loop.empty() ? std::string(chosen.loop) : options.loop,
      .min_bytes = options.min_bytes >= 0 ? options.min_bytes
                   : chosen.min_bytes == kForeseen
                       ? static_cast<int64_t>(context.model().core_facts().foreseen_bytes)
                       : chosen.min_bytes};
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames&) {
    context.matched();
    const std::set<std::string> large = large_views(kernel, least);
    const int64_t asked = large.empty() ? 0 : chosen.ask(kernel, large, request);
    if (asked == 0) {
      context.skipped(kernel.name, chosen.nothing);
    } else {
      context.count("views_asked_for", asked);
      context.changed();
    }
    return Status();
  });
}

}  // namespace stria::passes
