// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/swizzle.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "stria/base/refusal.h"
#include "stria/pass/machine_option.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// How many points of the loops inside a lane block are looked at, for each access.
constexpr int64_t kPoints = 16;

// One load or store by lanes: the element's number in the allocation, for each point a row over the
// lanes.
struct Pattern {
  std::vector<std::vector<int64_t>> rows;
  double weight = 1;  // how often the access runs
};

struct SwizzleTarget {
  Refinement* ref = nullptr;
  std::vector<Pattern> patterns;
  Refusal refusal = Refusal::none();  // why its layout stays
};

// The first element of a refinement in its allocation, as a form over variables.
struct View {
  size_t target = 0;
  Affine offset;
};

class Swizzler {
 public:
  Swizzler(Block& kernel, const SwizzleOptions& options, PassContext& context)
      : kernel_(kernel), options_(options), context_(context) {}

  void run() {
    walk(kernel_, {}, {}, false, std::nullopt, 1);
    for (SwizzleTarget& target : targets_) {
      context_.matched();
      if (!target.refusal && target.patterns.empty()) target.refusal = "no lanes touch it";
      if (target.refusal) {
        context_.skipped(target.ref->into, target.refusal.reason());
        continue;
      }
      choose(target);
    }
  }

 private:
  using Forms = std::map<std::string, Affine>;  // an index -> its value over variables
  // The variables in which lanes differ, and those of the loops inside.
  struct Lanes {
    std::map<std::string, std::pair<int64_t, int64_t>> digits;  // variable -> factor, range
    std::vector<std::pair<std::string, int64_t>> inside;
  };

  // `located`: a block around this one has a location.
  void walk(Block& block, const Forms& outer, const std::map<std::string, View>& around,
            bool located, std::optional<Lanes> lanes, double runs) {
    Forms forms;
    std::vector<std::pair<std::string, int64_t>> own;
    for (const Index& index : block.idxs) {
      Affine form = index.affine ? index.affine->substitute(outer) : Affine();
      if (index.range > 1) {
        const std::string variable = fmt::format("{}#{}", index.name, fresh_++);
        form += Affine::of(variable);
        own.emplace_back(variable, index.range);
      }
      forms[index.name] = form;
      runs *= static_cast<double>(index.range);
    }
    if (!lanes && located && numbers_one_unit(block)) {
      lanes = Lanes();
      const Affine number = block.location.path.back().units[0].substitute(forms);
      for (const auto& [variable, range] : own)
        lanes->digits[variable] = {number.coefficient(variable), range};
    } else if (lanes) {
      lanes->inside.insert(lanes->inside.end(), own.begin(), own.end());
    }
    std::map<std::string, View> views;
    for (Refinement& ref : block.refs) {
      if (ref.dir == RefDir::none) {
        if (lanes || ref.location.empty() || ref.location.path.back().name != options_.memory)
          continue;
        views[ref.into] = {targets_.size(), Affine()};
        targets_.push_back({&ref, {}, why_fixed(ref)});
        continue;
      }
      auto parent = around.find(ref.from);
      if (parent == around.end()) continue;
      View view = parent->second;
      view.offset += ref.flat_access().substitute(forms);
      views[ref.into] = std::move(view);
    }
    for (Statement& stmt : block.stmts) {
      if (Block* inner = stmt.block()) {
        walk(*inner, forms, views, located || !block.location.empty(), lanes, runs);
        continue;
      }
      for (const std::string& name : touched(stmt)) {
        auto view = views.find(name);
        if (view == views.end()) continue;
        SwizzleTarget& target = targets_[view->second.target];
        const bool alone = std::holds_alternative<stripe::Load>(stmt.op) ||
                           std::holds_alternative<stripe::Store>(stmt.op);
        if (block.tags.has(stripe::tag::kVector))
          target.refusal = "lanes of a vector operation touch it";
        if (!lanes || !alone) target.refusal = "not only lanes touch it";
        if (lanes) add(target, view->second.offset, *lanes, runs);
      }
    }
  }

  static bool numbers_one_unit(const Block& block) {
    return !block.location.empty() && block.location.path.back().units.size() == 1 &&
           !block.location.path.back().units[0].is_constant();
  }

  static Refusal why_fixed(const Refinement& ref) {
    if (ref.swizzle) return "it has a layout of its own";
    if (!ref.location.path.back().owners.empty()) return "it is distributed";
    if (ref.shape.span_elements() < 2) return "it has one element";
    return Refusal::none();
  }

  static std::vector<std::string> touched(const Statement& stmt) {
    if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) return {load->from};
    if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) return {store->into};
    std::vector<std::string> names;
    if (const stripe::Special* special = stmt.special()) {
      names = special->inputs;
      names.insert(names.end(), special->outputs.begin(), special->outputs.end());
    }
    return names;
  }

  void add(SwizzleTarget& target, const Affine& offset, const Lanes& lanes, double runs) const {
    Pattern pattern;
    pattern.weight = runs;
    std::vector<int64_t> first(static_cast<size_t>(options_.lanes), offset.constant());
    for (int64_t lane = 0; lane < options_.lanes; ++lane)
      for (const auto& [variable, digit] : lanes.digits)
        if (digit.first > 0)
          first[static_cast<size_t>(lane)] +=
              offset.coefficient(variable) * (lane / digit.first % digit.second);
    pattern.rows.push_back(std::move(first));
    // Then further points: each loop steps on alone.
    for (const auto& [variable, range] : lanes.inside) {
      const int64_t step = offset.coefficient(variable);
      for (int64_t at = 1; step != 0 && at < std::min(range, kPoints / 2); ++at) {
        if (pattern.rows.size() >= kPoints) break;
        std::vector<int64_t> row = pattern.rows[0];
        for (int64_t& element : row) element += step * at;
        pattern.rows.push_back(std::move(row));
      }
    }
    target.patterns.push_back(std::move(pattern));
  }

  static int64_t place(const stripe::Swizzle& swizzle, int64_t element) {
    return element ^
           (((element >> swizzle.shift) & ((int64_t{1} << swizzle.bits) - 1)) << swizzle.base);
  }

  // Distinct words in the worst bank: the mean over the points of an access, times how often it
  // runs, summed over all accesses.
  double waits(const SwizzleTarget& target, const stripe::Swizzle& swizzle) const {
    const int64_t bytes = byte_size(target.ref->shape.type);
    double sum = 0;
    for (const Pattern& pattern : target.patterns) {
      double all = 0;
      for (const std::vector<int64_t>& row : pattern.rows) {
        std::map<int64_t, std::set<int64_t>> words;  // by bank
        for (const int64_t element : row) {
          const int64_t word = place(swizzle, element) * bytes / options_.bank_bytes;
          words[word % options_.banks].insert(word);
        }
        size_t most = 1;
        for (const auto& [bank, in_it] : words) most = std::max(most, in_it.size());
        all += static_cast<double>(most);
      }
      sum += pattern.weight * all / static_cast<double>(pattern.rows.size());
    }
    return sum;
  }

  void choose(SwizzleTarget& target) {
    double runs = 0;
    for (const Pattern& pattern : target.patterns) runs += pattern.weight;
    const int64_t span = target.ref->shape.span_elements();
    const double plain = waits(target, {});
    double best = plain;
    stripe::Swizzle chosen;
    const int most = std::bit_width(static_cast<uint64_t>(options_.banks)) - 1;
    for (int bits = 1; bits <= most; ++bits)
      for (int base = 0; base <= most; ++base)
        for (int shift = base + 1; shift <= 2 * most + 4; ++shift) {
          if (span % (int64_t{1} << (shift + bits)) != 0) continue;
          const stripe::Swizzle candidate{bits, base, shift};
          const double cost = waits(target, candidate);
          if (cost >= best) continue;
          best = cost;
          chosen = candidate;
        }
    context_.note(fmt::format("{}: '{}': lanes wait for {:.3g} words of a bank{}", kernel_.name,
                              target.ref->into, plain / runs,
                              chosen.bits > 0
                                  ? fmt::format(", {:.3g} with swizzle({}, {}, {})", best / runs,
                                                chosen.bits, chosen.base, chosen.shift)
                                  : ""));
    if (chosen.bits == 0) return;
    target.ref->swizzle = chosen;
    context_.count("layouts_swizzled");
    context_.changed();
  }

  Block& kernel_;
  const SwizzleOptions& options_;
  PassContext& context_;
  std::vector<SwizzleTarget> targets_;
  int fresh_ = 0;
};

}  // namespace

void describe(SwizzleOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.unit("memory", options.memory, "memory unit whose allocations are laid out");
  fields.add("banks", options.banks,
             "number of banks of that memory, a power of two; 0 = the model says", {0, 1 << 10});
  fields.add("bank_bytes", options.bank_bytes, "bytes of a word of a bank; 0 = the model says",
             {0, 1 << 10});
  fields.add("lanes", options.lanes, "number of lanes that run together; 0 = the model says",
             {0, 1 << 10});
}

Status swizzle(stripe::Program& program, const SwizzleOptions& given, PassContext& context) {
  SwizzleOptions options = given;
  const GroupFacts& facts = context.model().group_facts();
  const MemoryUnit* memory = context.model().find_memory(given.memory);
  options.banks = or_machines_power(given.banks, memory && memory->banks > 0
                                                     ? static_cast<double>(memory->banks)
                                                     : facts.local_banks);
  options.bank_bytes = or_machines(given.bank_bytes, memory && memory->bank_bytes > 0
                                                         ? static_cast<double>(memory->bank_bytes)
                                                         : facts.local_bank_bytes);
  options.lanes = or_machines_power(given.lanes, facts.fewest_group_lanes);
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  if (!std::has_single_bit(static_cast<uint64_t>(options.banks)))
    return invalid_argument("/banks: {} is no power of two", options.banks);
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames&) {
    Swizzler(kernel, options, context).run();
    return Status();
  });
}

}  // namespace stria::passes
