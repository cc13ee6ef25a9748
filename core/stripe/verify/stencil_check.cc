// SPDX-License-Identifier: Apache-2.0
// A #stencil block is the instruction of that name in the hardware model (S14): its refinements are
// named as the operands, its indices can be paired with the instruction's so that each operand has
// the instruction's type, direction and dims, what is summed is summed in the operand's type, and
// distributed operands are held as the instruction wants its fragments. What a micro-kernel takes
// is checked in micro_kernel_check.cc.
#include <algorithm>

#include "stria/base/text.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/verify/access_rules.h"
#include "stria/stripe/verify/owner_forms.h"

namespace stria::stripe {
namespace {

// What one refinement of the block is to the operation.
struct Used {
  const Refinement* ref = nullptr;  // of the stencil block
  std::vector<const Access*> accesses;
  std::vector<std::string> variables;  // of the stencil, by the dims that vary with them
  bool written = false;
};

class StencilCheck {
 public:
  StencilCheck(const Place& place, const Stencil& stencil, Verdicts& verdicts)
      : place_(place), stencil_(stencil), verdicts_(verdicts) {}

  void run(const std::vector<Access>& inside) {
    if (!collect(inside) || !sizes_agree()) return;
    std::vector<std::string> variables;
    for (const auto& [name, range] : variables_) variables.push_back(name);
    std::sort(variables.begin(), variables.end());
    const Used* misfit = nullptr;
    size_t fitted = 0;
    do {
      if (!sizes_fit(variables)) continue;
      std::vector<const StencilOperand*> operands;
      const Used* first = unmatched(variables, operands);
      if (!first) {
        fragments(operands);
        return micro_kernel(operands);
      }
      if (!misfit || operands.size() > fitted) {
        misfit = first;
        fitted = operands.size();
      }
    } while (std::next_permutation(variables.begin(), variables.end()));
    std::vector<std::string> wanted;
    for (const StencilOperand& operand : stencil_.operands) wanted.push_back(text_of(operand));
    verdicts_.findings.add(place_, *misfit->ref,
                           fmt::format("it is no operand of the stencil '{}', which has {}",
                                       stencil_.name, join(wanted, ", ")));
  }

 private:
  static std::string text_of(const StencilOperand& operand) {
    return fmt::format("{} {}[{}] {}", operand.written ? "out" : "in", operand.name,
                       join(operand.dims, ", "), name_of(operand.type));
  }

  void refuse(const std::string& message) { verdicts_.findings.add(place_, message); }

  // The refinement of the stencil block through which the access goes; null if it is of an
  // allocation inside.
  const Refinement* seen_from(const Access& access) const {
    const Refinement* ref = access.ref;
    for (const Level* at = access.level.get(); ref->dir != RefDir::none && at->depth > place_.depth;
         at = at->around.get())
      ref = at->around->block->find_ref(ref->from);
    return ref->dir == RefDir::none ? nullptr : ref;
  }

  bool collect(const std::vector<Access>& inside) {
    for (const Access& access : inside) {
      for (const Level* at = access.level.get(); at && at->depth >= place_.depth;
           at = at->around.get())
        for (const auto& [name, range] : at->variables) variables_[name] = range.upper + 1;
      const Refinement* ref = seen_from(access);
      if (!ref) continue;
      if (!access.view.start) {
        verdicts_.undecided(place_, fmt::format("it is the stencil '{}'", stencil_.name),
                            too_large());
        return false;
      }
      auto at = std::find_if(used_.begin(), used_.end(),
                             [&](const Used& used) { return used.ref == ref; });
      if (at == used_.end()) at = used_.insert(used_.end(), {ref, {}, {}, false});
      const bool is_first = at->accesses.empty();
      at->accesses.push_back(&access);
      at->written |= access.writes;
      std::vector<std::string> variables;
      if (!pattern(access, variables)) return false;
      if (is_first) at->variables = variables;
      if (at->variables != variables) {
        verdicts_.findings.add(place_, *ref, "a stencil touches its operand in one way only");
        return false;
      }
    }
    return true;
  }

  bool pattern(const Access& access, std::vector<std::string>& variables) {
    for (size_t i = 0; i < access.extent.size(); ++i) {
      std::vector<Affine::Term> own;
      for (const Affine::Term& term : (*access.view.start)[i].terms())
        if (variables_.count(term.first)) own.push_back(term);
      if (own.size() > 1 || (own.size() == 1 && own[0].second != 1) || access.extent[i] != 1) {
        verdicts_.findings.add(
            place_, *access.ref,
            fmt::format("a stencil touches one element, along one index in each dimension, not {}",
                        (*access.view.start)[i].rename(plain_name).to_string()));
        return false;
      }
      if (own.size() == 1) variables.push_back(own[0].first);
    }
    return true;
  }

  bool sizes_agree() {
    std::vector<int64_t> have;
    std::vector<std::string> have_text, want_text;
    for (const auto& [name, range] : variables_) {
      have.push_back(range);
      have_text.push_back(fmt::format("{}:{}", plain_name(name), range));
    }
    size_t open = 0;  // indices of any range
    bool agree = true;
    for (const auto& [name, range] : stencil_.indices) {
      want_text.push_back(range == kAnyRange ? name : fmt::format("{}:{}", name, range));
      if (range == kAnyRange) {
        ++open;
      } else if (range != 1) {
        const auto same = std::find(have.begin(), have.end(), range);
        agree = agree && same != have.end();
        if (same != have.end()) have.erase(same);
      }
    }
    if (!agree || have.size() != open)
      refuse(fmt::format("it runs over [{}], the stencil '{}' over [{}]", join(have_text, ", "),
                         stencil_.name, join(want_text, ", ")));
    else if (used_.size() != stencil_.operands.size())
      refuse(fmt::format("it touches {} operands, the stencil '{}' has {}", used_.size(),
                         stencil_.name, stencil_.operands.size()));
    else
      return true;
    return false;
  }

  // The variable that is the stencil's index; "" for an index of size 1.
  std::string variable_of(const std::vector<std::string>& variables,
                          const std::string& index) const {
    size_t next = 0;
    for (const auto& [name, range] : stencil_.indices) {
      if (range == 1) continue;
      if (name == index) return variables[next];
      ++next;
    }
    return "";
  }

  bool sizes_fit(const std::vector<std::string>& variables) const {
    for (const auto& [name, range] : stencil_.indices)
      if (range != 1 && range != kAnyRange && variables_.at(variable_of(variables, name)) != range)
        return false;
    return true;
  }

  // The operands that are used, in the order of `used_`; the first that is none, or null.
  const Used* unmatched(const std::vector<std::string>& variables,
                        std::vector<const StencilOperand*>& operands) const {
    for (const Used& used : used_) {
      auto operand =
          std::find_if(stencil_.operands.begin(), stencil_.operands.end(),
                       [&](const StencilOperand& o) { return o.name == used.ref->into; });
      if (operand == stencil_.operands.end() || operand->type != used.ref->shape.type ||
          operand->written != used.written)
        return &used;
      std::vector<std::string> wanted;
      for (const std::string& dim : operand->dims)
        if (std::string variable = variable_of(variables, dim); !variable.empty())
          wanted.push_back(variable);
      if (wanted != used.variables) return &used;
      operands.push_back(&*operand);
    }
    return nullptr;
  }

  void fragments(const std::vector<const StencilOperand*>& operands) {
    for (size_t i = 0; i < used_.size(); ++i) {
      const Used& used = used_[i];
      const StencilOperand& operand = *operands[i];
      const bool sums = operand.written && used.variables.size() < variables_.size();
      const std::optional<Aggregation> summed{Aggregation{AggOp::add, operand.type}};
      for (const Access* access : used.accesses)
        if (sums && access->writes && access->ref->agg != summed)
          return verdicts_.findings.add(
              place_, *access->ref,
              fmt::format("the stencil '{}' sums '{}' as add.{}", stencil_.name, operand.name,
                          name_of(operand.type)));
      const LocationUnit* held = owners_of(*used.accesses[0]->view.allocation);
      if (operand.fragment.empty()) {
        if (held && !(holds_fragments(*held) && held->name == operand.home))
          return verdicts_.findings.add(
              place_, *used.ref,
              fmt::format("lanes hold it, the stencil '{}' finds its operand '{}' in {}",
                          stencil_.name, operand.name, operand.home));
        continue;
      }
      if (!held)
        return verdicts_.findings.add(
            place_, *used.ref,
            fmt::format("the lanes of the stencil '{}' hold its operand '{}', and '{}' has no "
                        "owners",
                        stencil_.name, operand.name, used.accesses[0]->view.allocation->into));
      if (held->name != operand.home)
        return verdicts_.findings.add(
            place_, *used.ref,
            fmt::format("the stencil '{}' finds its operand '{}' in {}, this is in {}",
                        stencil_.name, operand.name, operand.home, held->name));
      for (const auto& [name, form] : operand.fragment)
        if (!owner_agrees(used, operand, *held, name, form)) return;
    }
  }

  void micro_kernel(const std::vector<const StencilOperand*>& operands) {
    if (!place_.block->tags.has(tag::kMicroKernel)) return;
    for (size_t i = 0; i < used_.size(); ++i)
      check_micro_kernel_operand(
          place_, stencil_,
          {operands[i], used_[i].ref, used_[i].accesses[0], dims_of(*operands[i], used_[i])},
          verdicts_.findings);
  }

  // The owner of an element of the operand, where the stencil's fragment has it. Slots are counted
  // from that of the operand's first element.
  bool owner_agrees(const Used& used, const StencilOperand& operand, const LocationUnit& held,
                    const std::string& name, const BitFieldForm& fragment) {
    const Access& access = *used.accesses[0];
    auto mine = std::find_if(held.owners.begin(), held.owners.end(),
                             [&](const auto& owner) { return owner.first == name; });
    if (mine == held.owners.end()) {
      verdicts_.findings.add(
          place_, *used.ref,
          fmt::format("the stencil '{}' gives its operand '{}' a {}, '{}' has none", stencil_.name,
                      operand.name, name, access.view.allocation->into));
      return false;
    }
    BitPoints points(access);
    std::vector<Affine> base = *access.view.start;
    for (Affine& form : base)
      for (const Affine::Term& term : std::vector<Affine::Term>(form.terms()))
        if (variables_.count(term.first)) form.add_term(term.first, -term.second);
    const auto coordinates = points.coordinates(mine->second, *access.view.start, false);
    const auto bases = points.coordinates(mine->second, base, false);
    std::vector<BitPoints::Form> indices;
    for (const std::string& dim : dims_of(operand, used))
      indices.push_back(dim.empty() ? BitPoints::Form() : points.form(Affine::of(dim), 62));
    const bool is_slot = name == "slot";
    auto values_at = [&](const std::vector<BitPoints::Form>& forms,
                         const std::vector<int64_t>& values) {
      std::vector<int64_t> out;
      for (const BitPoints::Form& form : forms) out.push_back(form.at(values));
      return out;
    };
    const std::vector<int64_t> zeros(indices.size(), 0);
    int64_t have = 0, want = 0;
    auto wrong = points.first([&](const std::vector<int64_t>& values) {
      have = value_of(mine->second, values_at(coordinates, values));
      want = value_of(fragment, values_at(indices, values));
      if (is_slot) {
        have -= value_of(mine->second, values_at(bases, values));
        want -= value_of(fragment, zeros);
      }
      return have != want;
    });
    if (!wrong.ok()) {
      verdicts_.undecided(place_, *used.ref,
                          fmt::format("the stencil '{}' finds its fragments there", stencil_.name),
                          wrong.status());
    } else if (*wrong) {
      verdicts_.findings.add(
          place_, *used.ref,
          fmt::format("{} the {} of its element is {}{}, in the fragment '{}' of the stencil '{}' "
                      "{}{}",
                      points.describe(**wrong), name, is_slot ? "the first and " : "", have,
                      operand.name, stencil_.name, is_slot ? "the first and " : "", want));
      return false;
    }
    return true;
  }

  // The variable of each of the operand's dims; "" where the index has one value.
  std::vector<std::string> dims_of(const StencilOperand& operand, const Used& used) const {
    std::vector<std::string> out;
    size_t next = 0;
    for (const std::string& dim : operand.dims) {
      auto index = std::find_if(stencil_.indices.begin(), stencil_.indices.end(),
                                [&](const auto& one) { return one.first == dim; });
      const bool varies = index != stencil_.indices.end() && index->second != 1;
      out.push_back(varies ? used.variables[next++] : "");
    }
    return out;
  }

  const Place& place_;
  const Stencil& stencil_;
  Verdicts& verdicts_;
  std::map<std::string, int64_t> variables_;  // of the stencil, with their ranges
  std::vector<Used> used_;
};

}  // namespace

void check_stencil(const Place& place, const std::vector<Access>& inside, Verdicts& verdicts) {
  const auto* name = std::get_if<std::string>(place.block->tags.find(tag::kStencil));
  const std::vector<Stencil>& known = *verdicts.options.stencils;
  auto stencil = std::find_if(known.begin(), known.end(),
                              [&](const Stencil& s) { return name && s.name == *name; });
  if (stencil != known.end()) StencilCheck(place, *stencil, verdicts).run(inside);
}

}  // namespace stria::stripe
