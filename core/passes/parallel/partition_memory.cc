// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/partition_memory.h"

#include <algorithm>
#include <optional>

#include "stria/base/refusal.h"
#include "stria/base/text.h"
#include "stria/cost/block/part_choice.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// A tensor that is banked along a dimension.
struct Banks {
  size_t ref = 0;  // position in the kernel
  size_t dim = 0;
  std::string index;
  int64_t range = 1;
  int64_t tile = 1;  // points of the index in a part
  int64_t step = 1;  // elements of the dimension for each point
  int64_t stride = 0;
  int64_t parts() const { return ceil_div(range, tile); }
};

class MemoryPartition {
 public:
  MemoryPartition(Block& section, TensorNames around, const PartitionMemoryOptions& options,
                  int64_t wanted, PassContext& context)
      : section_(section),
        around_(std::move(around)),
        options_(options),
        wanted_(wanted),
        context_(context) {}

  void run() {
    for (stripe::Statement& stmt : section_.stmts) {
      Block* kernel = stmt.block();
      if (!kernel || !kernel->tags.has_all(options_.reqs)) continue;
      context_.matched();
      if (const Refusal refusal = partition(*kernel))
        context_.skipped(kernel->name, refusal.reason());
    }
  }

 private:
  // Banks an input and cuts the kernel, or refuses.
  Refusal partition(Block& kernel) {
    for (const char* tag : {stripe::tag::kVector, stripe::tag::kStencil})
      if (kernel.tags.has(tag)) return fmt::format("it is a #{}", tag);
    STRIA_RETURN_IF_REFUSED(why_points_do_not_commute(kernel, around_));
    std::vector<size_t> inputs;
    for (size_t r = 0; r < kernel.refs.size(); ++r)
      if (kernel.refs[r].dir == RefDir::in && section_.find_ref(kernel.refs[r].from))
        inputs.push_back(r);
    std::stable_sort(inputs.begin(), inputs.end(),
                     [&](size_t a, size_t b) { return bytes_of(kernel, a) > bytes_of(kernel, b); });
    Refusal first = Refusal::none();
    for (const size_t ref : inputs) {
      std::optional<Banks> best;
      const Refusal refusal = choose(kernel, ref, best);
      if (!refusal) return apply(kernel, *best);
      if (!first) first = refusal;
    }
    return first ? first : "it reads nothing";
  }

  const Refinement& whole_of(const Block& kernel, size_t ref) const {
    return *section_.find_ref(kernel.refs[ref].from);
  }

  double bytes_of(const Block& kernel, size_t ref) const {
    const TensorShape& shape = whole_of(kernel, ref).shape;
    return static_cast<double>(shape.element_count()) * static_cast<double>(byte_size(shape.type));
  }

  // Finds the best way to bank the input, or refuses.
  Refusal choose(const Block& kernel, size_t ref, std::optional<Banks>& best) const {
    const Refinement& view = kernel.refs[ref];
    const Refinement& whole = whole_of(kernel, ref);
    const auto views =
        std::count_if(kernel.refs.begin(), kernel.refs.end(), [&](const Refinement& other) {
          return other.dir != RefDir::none && around_.of(other.from) == around_.of(view.from);
        });
    if (views > 1) return fmt::format("'{}' has a second view", view.into);
    STRIA_RETURN_IF_REFUSED(why_not_placed(whole, view));
    bool moves = false;
    for (const IndexRole& role : index_roles(kernel)) {
      if (role.kind != IndexKind::output) continue;
      for (size_t d = 0; d < view.access.size(); ++d) {
        moves = moves || view.access[d].uses(role.name);
        const int64_t step = std::max<int64_t>(view.shape.dims[d].size, 1);
        if (!(view.access[d] == Affine::of(role.name, step)) || moves_elsewhere(view, role.name, d))
          continue;
        for (const int64_t tile :
             cost::part_sizes(role.range, wanted_, options_.only_multiple_of)) {
          Banks banks{
              ref, d, role.name, role.range, tile, step, std::abs(view.shape.dims[d].stride)};
          if (banks.parts() > 1 && keeps_to(whole, banks) && (!best || is_better(banks, *best)))
            best = banks;
        }
      }
    }
    if (best) return Refusal::none();
    if (whole.tags.integer(stripe::tag::kBankDim))
      return fmt::format("'{}' is banked along another dimension, or by other parts", view.into);
    if (moves) return fmt::format("parts of '{}' overlap, or there are too few", view.into);
    return fmt::format("'{}' moves with no index that writes elements of its own", view.into);
  }

  static bool moves_elsewhere(const Refinement& view, const std::string& index, size_t dim) {
    for (size_t d = 0; d < view.access.size(); ++d)
      if (d != dim && view.access[d].uses(index)) return true;
    return false;
  }

  // Is this the way in which an earlier kernel has banked the tensor, if there is one?
  static bool keeps_to(const Refinement& whole, const Banks& banks) {
    const std::optional<int64_t> dim = whole.tags.integer(stripe::tag::kBankDim);
    const std::optional<int64_t> size = whole.tags.integer(stripe::tag::kBankSize);
    return !dim || (*dim == static_cast<int64_t>(banks.dim) && size == banks.tile * banks.step);
  }

  Refusal why_not_placed(const Refinement& whole, const Refinement& view) const {
    for (const stripe::Location* location : {&whole.location, &view.location}) {
      if (location->empty() || options_.memory.empty()) continue;
      const stripe::LocationUnit& unit = location->path.back();
      if (unit.name != options_.memory) return fmt::format("'{}' is in {}", view.into, unit.name);
      if (!unit.units.empty() || !unit.owners.empty())
        return fmt::format("'{}' has its place in {}", view.into, unit.name);
    }
    return Refusal::none();
  }

  bool is_better(const Banks& a, const Banks& b) const {
    const int64_t off_a = cost::parts_off(a.parts(), wanted_),
                  off_b = cost::parts_off(b.parts(), wanted_);
    if (off_a != off_b) return off_a < off_b;
    // How many points the parts have, compared with the range.
    const auto excess = [](const Banks& banks) {
      return static_cast<double>(banks.parts()) * static_cast<double>(banks.tile) /
             static_cast<double>(banks.range);
    };
    if (excess(a) != excess(b)) return excess(a) < excess(b);
    return a.stride > b.stride;
  }

  Refusal apply(Block& kernel, const Banks& banks) {
    if (banks.range % banks.tile != 0 && places_by_index(kernel))
      return "a part is uneven, and a location inside names an index";
    Refinement& whole = *section_.find_ref(kernel.refs[banks.ref].from);
    const std::string tensor = kernel.refs[banks.ref].into;
    whole.tags.set(stripe::tag::kBankDim, static_cast<int64_t>(banks.dim));
    whole.tags.set(stripe::tag::kBankSize, banks.tile * banks.step);
    split_block(kernel, {{banks.index, banks.tile}});
    kernel.tags.set_all(options_.set_tags);
    if (!options_.idx_tag.empty()) kernel.find_index(banks.index)->tags.set(options_.idx_tag);
    if (!options_.memory.empty()) {
      stripe::Location& location = kernel.find_ref(tensor)->location;
      if (location.empty()) location = whole.location;
      if (location.empty()) location.path.push_back({options_.memory, {}, {}});
      location.path.back().units = {Affine::of(banks.index)};
    }
    context_.note(fmt::format("{}: {} of {} parts of '{}' along dimension {}: {} {}*{}",
                              kernel.name.empty() ? "block" : kernel.name, banks.parts(), wanted_,
                              tensor, banks.dim, banks.index, banks.parts(), banks.tile));
    context_.count("parts", banks.parts());
    context_.changed();
    return Refusal::none();
  }

  Block& section_;
  const TensorNames around_;  // the tensors of the section
  const PartitionMemoryOptions& options_;
  const int64_t wanted_;
  PassContext& context_;
};

}  // namespace

void describe(PartitionMemoryOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.unit("memory", options.memory,
              "memory unit of the model; \"\" = the view names no instance", WhenEmpty::none);
  fields.add("num_parts", options.num_parts,
             "wanted number of parts; 0 = as many as the model has of `memory`", {0, 4096});
  fields.set_tags("set_tags", options.set_tags, "tags added to the outer block");
  fields.set_tag("idx_tag", options.idx_tag,
                 "tag added to the index that counts parts; \"\" = none");
  fields.add("only_multiple_of", options.only_multiple_of,
             "tiles are multiples of this, or the whole range", {1, 1 << 20});
}

Status partition_memory(stripe::Program& program, const PartitionMemoryOptions& options,
                        PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  const std::optional<int64_t> count = context.model().unit_count(options.memory);
  int64_t wanted = options.num_parts;
  if (wanted == 0 && !count)
    return invalid_argument("/num_parts: 0, and no memory of the model to count instead");
  if (count && (wanted == 0 || wanted > *count)) wanted = std::min<int64_t>(*count, 4096);
  const TensorNames outside = TensorNames().inside(program.entry);
  for (Block* section : {program.prologue(), program.main()})
    if (section)
      MemoryPartition(*section, outside.inside(*section), options, wanted, context).run();
  return Status();
}

}  // namespace stria::passes
