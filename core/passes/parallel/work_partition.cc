// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/work_partition.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "stria/cost/block/memory_use.h"
#include "stria/cost/core/register_time.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"

namespace stria::passes {
namespace {

using cost::CoreRates;
using cost::TiledBlock;
using stripe::Block;

using Parts = std::map<std::string, int64_t>;

// Do so many equal parts keep the cores idle for at most a twentieth of the time?
bool loads_evenly(int64_t parts, int64_t cores) {
  return 20 * ceil_div(parts, cores) * cores <= 21 * parts;
}

// Output indices, outermost in the output first.
std::vector<IndexRole> outputs_of(const Block& kernel) {
  std::vector<IndexRole> out;
  for (IndexRole& role : index_roles(kernel))
    if (role.kind == IndexKind::output) out.push_back(std::move(role));
  std::stable_sort(out.begin(), out.end(), [](const IndexRole& a, const IndexRole& b) {
    return a.output_stride > b.output_stride;
  });
  return out;
}

// Cuts output indices until there are enough parts for an even load, or `parts` of them.
Parts by_output(const std::vector<IndexRole>& outputs, int64_t cores, int64_t parts) {
  Parts out;
  int64_t made = 1;
  for (const IndexRole& role : outputs) {
    if (made >= parts || (made >= 2 * cores && loads_evenly(made, cores))) continue;
    const int64_t wanted = ceil_div(parts, made);
    const int64_t size =
        role.range <= 2 * wanted ? 1 : even_size(ceil_div(role.range, wanted), role.range);
    out[role.name] = size;
    made *= ceil_div(role.range, size);
  }
  if (made < 2) out.clear();
  return out;
}

class PartChooser {
 public:
  PartChooser(const Block& kernel, const HardwareModel& model, const CoreRates& rates,
              int64_t cores, int64_t most)
      : block_(cost::tiled_block(kernel)), rates_(rates), cores_(cores), most_(most) {
    for (const stripe::Refinement& ref : kernel.refs) {
      if (ref.dir != stripe::RefDir::out && ref.dir != stripe::RefDir::inout) continue;
      element_bytes_ = byte_size(ref.shape.type);
      break;
    }
    for (const CoreRates::Level& level : rates.caches)
      caches_.emplace_back(model.find_memory(level.name), model.find_memory(level.behind));
  }

  Parts choose(const std::vector<IndexRole>& outputs, double work) {
    work_ = work;
    std::vector<Candidate> all;
    if (!outputs.empty()) innermost_ = outputs.back();
    for (size_t a = 0; a < outputs.size(); ++a) {
      for (int64_t first : sizes_of(outputs[a].range)) {
        add({{outputs[a].name, first}}, ceil_div(outputs[a].range, first), all);
        for (size_t b = a + 1; b < outputs.size(); ++b)
          for (int64_t second : sizes_of(outputs[b].range))
            add({{outputs[a].name, first}, {outputs[b].name, second}},
                ceil_div(outputs[a].range, first) * ceil_div(outputs[b].range, second), all);
      }
    }
    const auto best = std::min_element(
        all.begin(), all.end(),
        [](const Candidate& a, const Candidate& b) { return a.cycles < b.cycles; });
    return best == all.end() ? Parts() : best->parts;
  }

 private:
  struct Candidate {
    Parts parts;
    int64_t count = 0;
    double cycles = 0;
  };

  // Sizes that make 2 to `most_` parts. All parts but the last one are equal.
  std::vector<int64_t> sizes_of(int64_t range) const {
    std::set<int64_t, std::greater<>> out;
    for (int64_t parts = 2; parts <= std::min(range, most_);
         parts += std::max<int64_t>(1, parts / 4))
      out.insert(ceil_div(range, parts));
    if (range > 1 && range <= most_) out.insert(1);
    return {out.begin(), out.end()};
  }

  void add(Parts parts, int64_t count, std::vector<Candidate>& all) const {
    if (count > most_) return;
    Candidate out = {std::move(parts), count, 0};
    out.cycles = cycles_of(out);
    all.push_back(std::move(out));
  }

  // The time of the core that has the most to do.
  double cycles_of(const Candidate& candidate) const {
    TiledBlock part = block_;
    double share = 1;  // of the kernel's points
    for (TiledBlock::Index& index : part.indices) {
      const auto size = candidate.parts.find(index.name);
      if (size == candidate.parts.end()) continue;
      share *= static_cast<double>(size->second) / static_cast<double>(index.range);
      index.range = size->second;
    }
    const double even = static_cast<double>(candidate.count) / static_cast<double>(cores_);
    const double in_turn = std::max(std::ceil(even), even + rates_.facts.part_wait);
    double penalty = candidate.parts.size() > 1 ? rates_.facts.second_index_factor : 1;
    if (const auto size = candidate.parts.find(innermost_.name); size != candidate.parts.end())
      penalty *= static_cast<double>(size->second * innermost_.output_stride * element_bytes_) <
                         rates_.facts.short_run_bytes
                     ? rates_.facts.short_run_factor
                     : rates_.facts.innermost_factor;
    double longest = share * work_, sum = longest;
    const cost::Tile point(part.indices.size(), 1);
    for (size_t c = 0; c < caches_.size(); ++c) {
      const auto [memory, behind] = caches_[c];
      if (!memory) continue;
      const double cycles = cost::traffic_into(part, point, *memory, behind).bytes() /
                            rates_.caches[c].bytes_per_cycle;
      longest = std::max(longest, cycles);
      sum += cycles;
    }
    return in_turn *
           (longest + rates_.facts.part_shown_part * (sum - longest) + rates_.facts.part_cycles) *
           penalty;
  }

  const TiledBlock block_;
  const CoreRates& rates_;
  const int64_t cores_, most_;
  IndexRole innermost_;        // the innermost output index
  int64_t element_bytes_ = 1;  // of the first tensor that is written
  double work_ = 0;            // cycles of one core for the whole kernel
  std::vector<std::pair<const MemoryUnit*, const MemoryUnit*>> caches_;
};

}  // namespace

std::map<std::string, int64_t> work_partition(const Block& kernel, const HardwareModel& model,
                                              const WorkPartitionOptions& options) {
  const ExecutionUnit* unit = model.find_executor(options.unit);
  const int64_t cores = unit ? std::max<int64_t>(unit->count, 1) : 1;
  const int64_t most = cores * options.parts_per_core;
  const std::vector<IndexRole> outputs = outputs_of(kernel);
  const TiledBlock block = cost::tiled_block(kernel);
  const int64_t lanes = unit ? std::max<int64_t>(1, unit->vector_bytes / byte_size(block.type)) : 1;
  const std::optional<CoreRates> rates = cost::core_rates(model, options.unit, block.type, lanes);
  if (!rates) return by_output(outputs, cores, most);
  const double work = cost::points_of(block.ranges()) * block.operations /
                      (2 * rates->multiply_adds * static_cast<double>(lanes));
  return PartChooser(kernel, model, *rates, cores, most).choose(outputs, work);
}

}  // namespace stria::passes
