// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/tensorize.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "stria/base/text.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/tile/stencil_match.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

bool is_identifier(std::string_view name) {
  return starts_with_letter(name) && std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
         });
}

Status check_strides(const std::vector<int64_t>& strides, const std::vector<int64_t>& first,
                     const std::string& path, const char* list, const std::string& first_path) {
  if (strides.size() != first.size())
    return invalid_argument("{}/{}: {} strides, {}/{} has {}", path, list, strides.size(),
                            first_path, list, first.size());
  for (size_t i = 0; i < strides.size(); ++i)
    if (strides[i] < kAnyStride)
      return invalid_argument("{}/{}/{}: {} is no stride: -1 is any, 0 or more exactly that one",
                              path, list, i, strides[i]);
  return {};
}

Result<StencilRules> spelled_out(const StencilOptions& from, size_t number,
                                 const std::string& path) {
  StencilRules rules;
  rules.name = from.name.empty() ? fmt::format("stencils/{}", number) : from.name;
  rules.startup_cost = from.startup_cost;
  if (from.idxs.empty()) return invalid_argument("{}: it has neither idxs nor a unit", path);
  rules.outs = from.idxs[0].outs.size();
  rules.ins = from.idxs[0].ins.size();
  if (rules.outs == 0)
    return invalid_argument("{}/idxs/0/outs: a stencil writes a tensor, this one none", path);
  std::set<std::string> names;
  for (size_t i = 0; i < from.idxs.size(); ++i) {
    const StencilIndexOptions& index = from.idxs[i];
    const std::string at = fmt::format("{}/idxs/{}", path, i);
    if (!is_identifier(index.name))
      return invalid_argument("{}/name: '{}' is no name: letters, digits and _", at, index.name);
    if (!names.insert(index.name).second)
      return invalid_argument("{}/name: there are two indices '{}'", at, index.name);
    if (index.size == 0)
      return invalid_argument("{}/size: a tile of 0 points; -1 is the whole range", at);
    STRIA_RETURN_IF_ERROR(
        check_strides(index.outs, from.idxs[0].outs, at, "outs", path + "/idxs/0"));
    STRIA_RETURN_IF_ERROR(check_strides(index.ins, from.idxs[0].ins, at, "ins", path + "/idxs/0"));
    const auto still = [](int64_t stride) { return stride == 0; };
    if (std::all_of(index.outs.begin(), index.outs.end(), still) &&
        std::all_of(index.ins.begin(), index.ins.end(), still))
      return invalid_argument("{}: no tensor may move with '{}': its points would all be the same",
                              at, index.name);
    rules.idxs.push_back({index.name, index.size, index.outs, index.ins});
  }
  return rules;
}

Status add_instructions(const HardwareModel& model, const StencilOptions& from,
                        const std::string& path, std::vector<StencilRules>& out) {
  if (!from.idxs.empty())
    return invalid_argument("{}: it has a unit, whose instructions say what idxs would", path);
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, path + "/unit", from.unit));
  const ExecutionUnit* unit = model.find_executor(from.unit);
  if (!unit || unit->instructions.empty())
    return not_found("{}/unit: the hardware model has no instructions of '{}'", path, from.unit);
  std::vector<std::string> names;
  for (const Instruction& instruction : unit->instructions) {
    names.push_back(instruction.name);
    if (!from.name.empty() && from.name != instruction.name) continue;
    auto rules = rules_of(instruction, from.startup_cost);
    if (!rules.ok()) return invalid_argument("{}: {}", path, rules.status().message());
    out.push_back(*std::move(rules));
  }
  if (!from.name.empty() && std::find(names.begin(), names.end(), from.name) == names.end())
    return not_found("{}/name: '{}' has no instruction '{}'{} (it has {})", path, from.unit,
                     from.name, did_you_mean(from.name, names), join(names, ", "));
  return {};
}

Result<std::vector<StencilRules>> rules_from(const TensorizeOptions& options,
                                             const HardwareModel& model) {
  if (options.stencils.empty()) return invalid_argument("/stencils: there is none");
  std::vector<StencilRules> out;
  for (size_t i = 0; i < options.stencils.size(); ++i) {
    const std::string path = fmt::format("/stencils/{}", i);
    const StencilOptions& from = options.stencils[i];
    if (from.unit.empty()) {
      STRIA_ASSIGN(out.emplace_back(), spelled_out(from, i, path));
    } else {
      STRIA_RETURN_IF_ERROR(add_instructions(model, from, path, out));
    }
  }
  size_t ins = 0, outs = 0;
  for (const StencilRules& rules : out) {
    ins = std::max(ins, rules.ins);
    outs = std::max(outs, rules.outs);
  }
  if (options.inputs_set.size() > ins)
    return invalid_argument("/inputs_set: tags for {} tensors, the stencils read {} at most",
                            options.inputs_set.size(), ins);
  if (options.outputs_set.size() > outs)
    return invalid_argument("/outputs_set: tags for {} tensors, the stencils write {} at most",
                            options.outputs_set.size(), outs);
  return out;
}

class Tensorizer {
 public:
  Tensorizer(const std::vector<StencilRules>& stencils, const TensorizeOptions& options,
             PassContext& context)
      : stencils_(stencils), options_(options), context_(context) {}

  // `starts`: where the block's views begin.
  void run(Block& block, const TensorNames& around, const ViewStarts& starts) {
    context_.matched();
    for (const std::string& tag : options_.exclude)
      if (block.tags.has(tag)) return context_.skipped(block.name, "it has #" + tag);
    // The index of a #vector block is its lanes, and a stencil is one operation already.
    for (const char* tag : {stripe::tag::kVector, stripe::tag::kStencil, stripe::tag::kFragments})
      if (block.tags.has(tag)) return context_.skipped(block.name, fmt::format("it is a #{}", tag));
    if (const Refusal refusal = why_points_do_not_commute(block, around))
      return context_.skipped(block.name, refusal.reason());
    std::vector<Found> found;
    for (const StencilRules& rules : stencils_)
      if (auto match = match_stencil(block, rules, options_.is_strict_dims, starts))
        found.push_back({&rules, *std::move(match)});
    if (found.empty()) return say_why_not(block, starts);
    const auto fits = [&](const Found& one) { return operands_fit(block, *one.rules, one.match); };
    if (std::any_of(found.begin(), found.end(), fits))
      std::erase_if(found, [&](const Found& one) { return !fits(one); });
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return is_better(a.match, b.match); });
    const auto& [rules, best] = found[0];
    if (is_uneven(block, *rules, best) && places_by_index(block))
      return context_.skipped(block.name, "a tile is uneven, and a location inside names an index");
    context_.note(fmt::format(
        "{}: {}. {}", block.name.empty() ? "block" : block.name, text_of(block, *rules, best),
        found.size() > 1 ? "Next " + text_of(block, *found[1].rules, found[1].match)
                         : "No other stencil fits"));
    apply(block, *rules, best);
    context_.count(fmt::format("stencil '{}'", rules->name));
    context_.changed();
  }

 private:
  struct Found {
    const StencilRules* rules = nullptr;
    StencilMatch match;
  };

  static bool is_uneven(const Block& block, const StencilRules& rules, const StencilMatch& match) {
    for (size_t i = 0; i < block.idxs.size(); ++i)
      if (const int64_t tile = match.tile_of(block, rules, i), range = block.idxs[i].range;
          tile < range && range % tile != 0)
        return true;
    return false;
  }

  // Does each operand stay within the limit, over a tile and everything that is summed up?
  bool operands_fit(const Block& block, const StencilRules& rules,
                    const StencilMatch& match) const {
    if (options_.max_operand_KiB == 0) return true;
    std::map<std::string, Interval> box;
    for (size_t i = 0; i < block.idxs.size(); ++i) {
      const stripe::Index& index = block.idxs[i];
      const bool summed = std::none_of(match.outs.begin(), match.outs.end(), [&](size_t ref) {
        const std::vector<Affine>& access = block.refs[ref].access;
        return std::any_of(access.begin(), access.end(),
                           [&](const Affine& form) { return form.uses(index.name); });
      });
      const int64_t points = summed ? index.range : match.tile_of(block, rules, i);
      box[index.name] = {0, std::max<int64_t>(points, 1) - 1};
    }
    return std::all_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
      double bytes = static_cast<double>(byte_size(ref.shape.type));
      for (const Interval& dim : stripe::footprint(ref, box))
        bytes *= static_cast<double>(dim.upper - dim.lower + 1);
      return ref.dir == RefDir::none ||
             bytes <= 1024 * static_cast<double>(options_.max_operand_KiB);
    });
  }

  void say_why_not(const Block& block, const ViewStarts& starts) {
    context_.skipped(block.name, "no stencil fits");
    for (const StencilRules& rules : stencils_)
      for (const std::string& reason : why_no_match(block, rules, options_.is_strict_dims, starts))
        context_.note(fmt::format("{}: {}: {}", block.name.empty() ? "block" : block.name,
                                  rules.name, reason));
  }

  static std::string text_of(const Block& block, const StencilRules& rules,
                             const StencilMatch& match) {
    std::vector<std::string> terms;
    for (size_t s = 0; s < match.idxs.size(); ++s) {
      const std::string& name = rules.idxs[s].name;
      if (!match.idxs[s]) {
        terms.push_back(
            fmt::format("{} virtual of {}", name, std::max<int64_t>(rules.idxs[s].size, 1)));
        continue;
      }
      const stripe::Index& index = block.idxs[*match.idxs[s]];
      const int64_t tile = match.tile_of(block, rules, *match.idxs[s]);
      terms.push_back(fmt::format("{} = {} {}*{}", name, index.name,
                                  ceil_div(std::max<int64_t>(index.range, 1), tile), tile));
    }
    std::vector<std::string> inputs;
    for (const size_t ref : match.ins) inputs.push_back(block.refs[ref].into);
    return fmt::format("{}: {}; {}; cost {} = {} points + {} * {} tiles", rules.name,
                       join(terms, ", "),
                       inputs.empty() ? "no inputs" : "inputs " + join(inputs, ", "), match.cost,
                       match.points, rules.startup_cost, match.tiles);
  }

  void apply(Block& block, const StencilRules& rules, const StencilMatch& match) {
    for (const auto& [sets, refs] : {std::pair(&options_.inputs_set, &match.ins),
                                     std::pair(&options_.outputs_set, &match.outs)})
      for (size_t i = 0; i < std::min(sets->size(), refs->size()); ++i)
        block.refs[(*refs)[i]].tags.set_all((*sets)[i].tags);
    // When an index is cut, both parts keep its tags.
    std::map<std::string, int64_t> tiles;
    for (size_t i = 0; i < block.idxs.size(); ++i)
      tiles[block.idxs[i].name] = match.tile_of(block, rules, i);
    for (size_t s = 0; s < match.idxs.size(); ++s) {
      if (!match.idxs[s]) continue;
      block.idxs[*match.idxs[s]].tags.set(stripe::tag::kStencil);
      block.idxs[*match.idxs[s]].tags.set(stripe::tag::kStencilIndex + rules.idxs[s].name);
    }
    bool lanes_hold = false;
    std::vector<std::pair<std::string, std::string>> names;  // view -> operand
    auto name = [&](const InstructionOperand& operand, size_t ref) {
      names.emplace_back(block.refs[ref].into, operand.name);
      lanes_hold = lanes_hold || !operand.fragment.empty();
    };
    if (rules.instruction) {
      name(*rules.out_operands[0], match.outs[0]);
      for (size_t i = 0; i < rules.ins; ++i) name(*rules.in_operands[i], match.ins[i]);
    }

    const stripe::Tags own = block.tags;
    // A function is called inside a kernel (S21), so its block gets one around it.
    const bool calls = rules.instruction && !rules.instruction->symbol.empty();
    const bool cuts = match.tiles > 1 || !options_.outer_set.empty() || calls;
    if (cuts) split_block(block, tiles);
    Block& inner = cuts ? *block.stmts[0].block() : block;
    block.tags.set_all(options_.outer_set);
    if (options_.copy_tags) copy_tags(own, inner);
    inner.tags.set_all(options_.inner_set);
    if (!rules.instruction) return;
    rename(inner, names);
    inner.tags.set(lanes_hold ? stripe::tag::kFragments : stripe::tag::kStencil,
                   rules.instruction->name);
    if (calls) inner.tags.set(stripe::tag::kMicroKernel, rules.instruction->symbol);
  }

  // Gives the leaf's refinements the names of the operands.
  static void rename(Block& leaf, const std::vector<std::pair<std::string, std::string>>& names) {
    auto renamed = [&](std::string& name) {
      for (const auto& [from, to] : names)
        if (from == name) {
          name = to;
          return;
        }
    };
    for (Refinement& ref : leaf.refs) renamed(ref.into);
    for (stripe::Statement& stmt : leaf.stmts) {
      if (auto* load = std::get_if<stripe::Load>(&stmt.op)) renamed(load->from);
      if (auto* store = std::get_if<stripe::Store>(&stmt.op)) renamed(store->into);
    }
  }

  const std::vector<StencilRules>& stencils_;
  const TensorizeOptions& options_;
  PassContext& context_;
};

// A number of elements of which the place of the view `name`, of the block at `around`, is a
// multiple at every point; 0: it begins where its allocation does.
int64_t start_of(std::string name, const stripe::Place* around) {
  int64_t multiple = 0;
  for (; around != nullptr; around = around->parent) {
    const Refinement* ref = around->block->find_ref(name);
    if (!ref) return 1;
    const Affine flat = ref->flat_access();
    multiple = std::gcd(multiple, flat.constant());
    for (const auto& [index, step] : flat.terms()) multiple = std::gcd(multiple, step);
    if (ref->dir == RefDir::none) {
      const int64_t bytes = byte_size(ref->shape.type);
      return ref->offset_bytes % bytes == 0 ? std::gcd(multiple, ref->offset_bytes / bytes) : 1;
    }
    name = ref->from;
  }
  return 1;
}

// Where the views of the blocks begin that have all of `reqs`.
std::map<const Block*, ViewStarts> starts_in(const stripe::Program& program,
                                             const std::vector<std::string>& reqs) {
  std::map<const Block*, ViewStarts> out;
  stripe::visit_blocks(program.entry, [&](const stripe::Place& place) {
    if (!place.block->tags.has_all(reqs)) return;
    ViewStarts& starts = out[place.block];
    for (const Refinement& ref : place.block->refs)
      starts.push_back(ref.dir == RefDir::none ? 0 : start_of(ref.from, place.parent));
  });
  return out;
}

bool wants_alignment(const std::vector<StencilRules>& stencils) {
  for (const StencilRules& rules : stencils)
    for (const auto* operands : {&rules.in_operands, &rules.out_operands})
      for (const InstructionOperand* operand : *operands)
        if (operand->align_bytes > 1) return true;
  return false;
}

void describe_index(StencilIndexOptions& index, OptionFields& fields) {
  fields.word("name", index.name, "the block's index gets the tag stencil_NAME");
  fields.add("size", index.size, "points of a tile; -1 = the whole range", {-1});
  fields.add("outs", index.outs, "its stride in each tensor written, in elements; -1 = any", {-1});
  fields.add("ins", index.ins, "its stride in each tensor read, in elements; -1 = any", {-1});
}

void describe_stencil(StencilOptions& stencil, OptionFields& fields) {
  fields.add("name", stencil.name,
             "for reports; with a unit: the one instruction to use, \"\" = all");
  fields.unit("unit", stencil.unit,
              "execution unit of the model, whose instructions are stencils; without idxs",
              WhenEmpty::none);
  fields.add("startup_cost", stencil.startup_cost, "cost of a tile, in points");
  fields.add("idxs", stencil.idxs, "the stencil's indices", describe_index);
}

void describe_tags(OperandTags& operand, OptionFields& fields) {
  fields.set_tags("tags", operand.tags, "tags of this operand's refinements");
}

}  // namespace

void describe(TensorizeOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.tags("exclude", options.exclude, "a block that has one of these tags stays");
  fields.add("stencils", options.stencils, "what the hardware does at once, at least one",
             describe_stencil);
  fields.set_tags("outer_set", options.outer_set, "tags added to the outer block");
  fields.set_tags("inner_set", options.inner_set, "tags of the inner block");
  fields.add("inputs_set", options.inputs_set, "for each tensor read, in the stencil's order",
             describe_tags);
  fields.add("outputs_set", options.outputs_set, "for each tensor written", describe_tags);
  fields.add("is_strict_dims", options.is_strict_dims,
             "tiles divide the ranges, also those of stencils that idxs describe");
  fields.add("max_operand_KiB", options.max_operand_KiB,
             "stencils are preferred whose operands, over a tile and everything that is summed up, "
             "are no larger; 0 = no limit",
             {0, int64_t{1} << 40});
  fields.add("copy_tags", options.copy_tags, "the inner block also gets the block's own tags");
}

Status tensorize(stripe::Program& program, const TensorizeOptions& options, PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_not_excluded("/reqs", options.reqs, options.exclude));
  STRIA_ASSIGN(const std::vector<StencilRules> stencils, rules_from(options, context.model()));
  std::map<const Block*, ViewStarts> starts;
  if (wants_alignment(stencils)) starts = starts_in(program, options.reqs);
  return for_each_selected_below_sections(
      program, options.reqs, context, [&](Block& block, const TensorNames& around) {
        Tensorizer(stencils, options, context).run(block, around, starts[&block]);
        return Status();
      });
}

}  // namespace stria::passes
