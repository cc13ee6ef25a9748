// SPDX-License-Identifier: Apache-2.0
// The verifier's rules that need ranges and integer sets: every executed load and store, under all
// enclosing constraints, lies inside its allocation; points of parallel indices do not race.
//
// All forms are rewritten over the indices that vary: one variable for each index of range other
// than 1, counted from 0 and named by its block's depth ("x@2"), so that equal names of different
// blocks stay apart. Intervals decide first, integer sets what they leave open.
#include <algorithm>
#include <memory>
#include <set>

#include "stria/base/text.h"
#include "stria/poly/integer_set.h"
#include "stria/stripe/findings.h"
#include "stria/stripe/printer.h"

namespace stria::stripe {
namespace {

using Box = std::map<std::string, Interval>;

// A number beyond this is not computed with: the query is undecided instead of overflowing.
constexpr int64_t kLimit = int64_t{1} << 60;
constexpr size_t kTerms = 64;

bool is_small(const Affine& form) {
  auto small = [](int64_t n) { return n > -kLimit && n < kLimit; };
  if (!small(form.constant())) return false;
  return std::all_of(form.terms().begin(), form.terms().end(),
                     [&](const auto& term) { return small(term.second); });
}

// The form with each name replaced; nullopt if a number gets too large. Every name must be known.
std::optional<Affine> compose(const Affine& form, const std::map<std::string, Affine>& values) {
  if (!is_small(form)) return std::nullopt;
  Affine out(form.constant());
  for (const auto& [name, factor] : form.terms()) {
    const Affine& value = values.at(name);
    int64_t product = 0;
    bool overflow = __builtin_mul_overflow(value.constant(), factor, &product);
    for (const auto& [inner, coefficient] : value.terms())
      overflow |= __builtin_mul_overflow(coefficient, factor, &product);
    if (overflow) return std::nullopt;
    Affine scaled = value * factor;
    if (!is_small(scaled)) return std::nullopt;
    out += scaled;
    if (!is_small(out)) return std::nullopt;
  }
  return out;
}

// A block on the way down, with what it adds.
struct Level {
  std::shared_ptr<const Level> outer;
  int depth = 0;
  std::vector<std::pair<std::string, Interval>> variables;
  std::vector<Affine> constraints;
  std::map<std::string, Affine> forms;  // the block's index names over all variables
  bool exact = true;                    // false if a form got too large to compute with
};
using LevelPtr = std::shared_ptr<const Level>;

// Where a refinement lies in its allocation, over all variables; nullopt: unknown.
struct View {
  const Refinement* allocation = nullptr;
  int depth = 0;  // of the block that allocates
  std::optional<std::vector<Affine>> start;
  bool checked = true;  // false through #clamp and #zero_fill
  // What accesses must stay inside: the allocation, or below #main and #prologue the view that
  // these have of it, for that is what a kernel gets as its argument.
  const Refinement* bounds = nullptr;
  std::optional<std::vector<Affine>> bounds_start;
  // The outermost refinement of the chain that aggregates, and the depth of its block.
  const Refinement* chain = nullptr;
  int chain_depth = 0;
};

struct Access {
  LevelPtr level;
  View view;
  std::vector<int64_t> extent;  // elements from `start` per dimension
  bool writes = false;
  std::optional<Aggregation> agg;
  std::string into;  // the refinement's name, for messages
};

std::string plain_name(const std::string& variable) {
  return variable.substr(0, variable.find('@'));
}

IntegerSet points_of(const Level& level) {
  std::vector<std::pair<std::string, Interval>> dims;
  std::vector<const Affine*> constraints;
  for (const Level* at = &level; at; at = at->outer.get()) {
    dims.insert(dims.end(), at->variables.begin(), at->variables.end());
    for (const Affine& form : at->constraints) constraints.push_back(&form);
  }
  IntegerSet set = IntegerSet::box(dims);
  for (const Affine* form : constraints) set.add_ge(*form);
  return set;
}

class AccessCheck {
 public:
  AccessCheck(Findings& findings, VerifyReport& report) : findings_(findings), report_(report) {}

  void block(const Place& place, const LevelPtr& outer,
             const std::map<std::string, View>& outer_views, const Box& outer_box) {
    if (findings_.full()) return;
    const Block& block = *place.block;
    if (std::any_of(block.idxs.begin(), block.idxs.end(),
                    [](const Index& i) { return i.range == 0; }))
      return;
    auto level = std::make_shared<Level>();
    level->outer = outer;
    level->depth = place.depth;
    Box box = outer_box;
    indices(block, *level, box);
    std::map<std::string, View> views;
    for (const Refinement& ref : block.refs) {
      views[ref.into] = view(ref, place.depth, *level, outer_views);
      if (is_argument(ref, place.depth)) argument(place, ref, views[ref.into]);
    }

    std::vector<std::string> parallel;
    if (!only_collects_) parallel = parallel_variables(block, place.depth, *level);
    if (!parallel.empty()) open_.emplace_back();
    accesses(place, level, views, box);
    for (size_t i = 0; i < block.stmts.size(); ++i)
      if (const Block* inner = block.stmts[i].block())
        this->block({&place, inner, i, place.depth + 1, {}}, level, views, box);
    if (parallel.empty()) return;
    std::vector<Access> inside = std::move(open_.back());
    open_.pop_back();
    races(place, parallel, *level, inside);
    if (!open_.empty()) std::move(inside.begin(), inside.end(), std::back_inserter(open_.back()));
  }

  // Of a kernel in #main, with the views there: see combines_across_points.
  bool combines_across(const Place& kernel, const std::map<std::string, View>& views,
                       const std::vector<std::string>& indices) {
    only_collects_ = true;
    open_.emplace_back();
    block(kernel, nullptr, views, {});
    std::vector<std::string> variables;
    for (const std::string& index : indices)
      variables.push_back(fmt::format("{}@{}", index, kernel.depth));
    const Level level;
    const std::vector<Access>& all = open_.back();
    for (size_t a = 0; a < all.size(); ++a)
      for (size_t b = a; b < all.size(); ++b) {
        if (!runs_across(all[a], all[b], kernel.depth)) continue;
        Result<bool> apart = points_apart(variables, level, all[a], all[b]);
        if (!apart.ok() || !*apart) return true;
      }
    return false;
  }

 private:
  // Whether both store into one aggregation that takes the values of all points of a block at `depth`.
  static bool runs_across(const Access& a, const Access& b, int depth) {
    return a.view.allocation == b.view.allocation && a.view.depth < depth && a.writes && b.writes &&
           a.agg && a.agg == b.agg && a.view.chain == b.view.chain && a.view.chain_depth <= depth;
  }

  void indices(const Block& block, Level& level, Box& box) {
    const std::map<std::string, Affine> none;
    const auto& outer_forms = level.outer ? level.outer->forms : none;
    for (const Index& index : block.idxs) {
      Affine form;
      if (index.affine) {
        auto composed = compose(*index.affine, outer_forms);
        level.exact &= composed.has_value();
        if (composed) form = *composed;
      }
      if (index.range != 1) {
        std::string variable = fmt::format("{}@{}", index.name, level.depth);
        Interval range{0, index.range - 1};
        level.exact &= index.range < kLimit;
        level.variables.emplace_back(variable, range);
        box[variable] = range;
        form.add_term(variable, 1);
      }
      level.forms[index.name] = form;
    }
    for (const Affine& constraint : block.constraints) {
      auto composed = compose(constraint, level.forms);
      level.exact &= composed.has_value();
      if (composed) level.constraints.push_back(std::move(*composed));
    }
    if (level.outer) level.exact &= level.outer->exact;
  }

  static View view(const Refinement& ref, int depth, const Level& level,
                   const std::map<std::string, View>& outer) {
    View view;
    if (ref.dir == RefDir::none) {
      view.allocation = view.bounds = &ref;
      view.depth = depth;
      view.start = view.bounds_start = std::vector<Affine>(ref.shape.rank());
    } else {
      view = outer.at(ref.from);
    }
    if (!ref.agg) {
      view.chain = nullptr;
    } else if (!view.chain) {
      view.chain = &ref;
      view.chain_depth = depth;
    }
    if (ref.tags.has("clamp") || ref.tags.has("zero_fill")) view.checked = false;
    if (!view.start) return view;
    for (size_t i = 0; i < ref.access.size(); ++i) {
      auto composed = compose(ref.access[i], level.forms);
      if (composed) *composed += (*view.start)[i];
      if (!composed || !is_small(*composed)) {
        view.start.reset();
        break;
      }
      (*view.start)[i] = std::move(*composed);
    }
    if (is_argument(ref, depth)) {
      view.bounds = &ref;
      view.bounds_start = view.start;
    }
    return view;
  }

  // A view of the program's tensors, in #main or #prologue.
  static bool is_argument(const Refinement& ref, int depth) {
    return depth == 1 && ref.dir != RefDir::none;
  }

  // Such a view lies inside its tensor, touched or not.
  void argument(const Place& place, const Refinement& ref, const View& view) {
    for (size_t i = 0; view.start && i < view.start->size(); ++i) {
      const Affine& start = (*view.start)[i];
      const int64_t size = view.allocation->shape.dims[i].size, own = ref.shape.dims[i].size;
      if (own == 0 || (start.constant() >= 0 && start.constant() <= size - own)) continue;
      findings_.add(place, ref,
                    fmt::format("it runs over {} to {}, outside of dimension {} of '{}', 0 to {}",
                                start.constant(), start.constant() + (own - 1), i,
                                view.allocation->into, size - 1));
      return;
    }
  }

  static std::vector<std::string> parallel_variables(const Block& block, int depth,
                                                     const Level& level) {
    std::vector<std::string> found;
    for (const Index& index : block.idxs) {
      if (index.range == 1 || !level.forms.count(index.name)) continue;
      bool located = std::any_of(
          block.location.path.begin(), block.location.path.end(), [&](const LocationUnit& unit) {
            return std::any_of(unit.units.begin(), unit.units.end(),
                               [&](const Affine& form) { return form.uses(index.name); });
          });
      if (located || block.tags.has("parallel"))
        found.push_back(fmt::format("{}@{}", index.name, depth));
    }
    return found;
  }

  void accesses(const Place& place, const LevelPtr& level, const std::map<std::string, View>& views,
                const Box& box) {
    const Block& block = *place.block;
    std::set<std::tuple<std::string, bool>> done;
    // Loads, stores and specials touch the whole view: one element, or those that a scalar chooses
    // from.
    auto touch = [&](const std::string& name, bool writes) {
      const Refinement& ref = *block.find_ref(name);
      if (!done.insert({name, writes}).second) return;
      Access access{level, views.at(name), {}, writes, ref.agg, ref.into};
      for (const Dim& dim : ref.shape.dims) access.extent.push_back(dim.size);
      if (!only_collects_) inside(place, ref, access, box);
      if (!open_.empty()) open_.back().push_back(std::move(access));
    };
    for (const Statement& stmt : block.stmts) {
      if (auto* s = std::get_if<Load>(&stmt.op)) touch(s->from, false);
      if (auto* s = std::get_if<Store>(&stmt.op)) touch(s->into, true);
      if (auto* s = stmt.special()) {
        for (const std::string& name : s->inputs) touch(name, false);
        for (const std::string& name : s->outputs) touch(name, true);
      }
    }
  }

  void unknown(const Place& place, const Refinement& ref, const std::string& question,
               const Status& why) {
    ++report_.unknown_accesses;
    report_.warnings.push_back(fmt::format("{}: refinement `{}`: undecided whether {} ({})",
                                           place.path(), print_line(ref), question, why.message()));
  }

  void inside(const Place& place, const Refinement& ref, const Access& access, const Box& box) {
    const View& view = access.view;
    if (!view.checked) return;
    ++report_.accesses;
    const Status large(StatusCode::unknown, "its numbers are too large");
    if (!view.start || !view.bounds_start)
      return unknown(place, ref, "it stays inside its allocation", large);
    const auto& dims = view.bounds->shape.dims;
    std::optional<IntegerSet> points;
    for (size_t i = 0; i < dims.size(); ++i) {
      const Affine start = (*view.start)[i] - (*view.bounds_start)[i];
      int64_t last = dims[i].size - access.extent[i];  // of `start`
      Interval range = interval_of(start, box);
      if (range.lower >= 0 && range.upper <= last) continue;
      if (!access.level->exact || last <= -kLimit || last >= kLimit)
        return unknown(place, ref, "it stays inside its allocation", large);
      if (!points) points = points_of(*access.level);
      Result<bool> low = points->implies(start);
      if (!low.ok()) return unknown(place, ref, "it stays inside its allocation", low.status());
      Result<bool> high = points->implies(Affine(last) - start);
      if (!high.ok()) return unknown(place, ref, "it stays inside its allocation", high.status());
      if (*low && *high) continue;
      return outside(place, ref, access, i, start, *points);
    }
    if (!points) ++report_.proved_by_box;
  }

  void outside(const Place& place, const Refinement& ref, const Access& access, size_t dim,
               const Affine& start, const IntegerSet& points) {
    Result<Bounds> bounds = points.bounds(start);
    std::string reach = "leaves";
    if (bounds.ok() && bounds->lower && bounds->upper)
      reach = fmt::format("runs over {} to {}, outside of", *bounds->lower,
                          *bounds->upper + access.extent[dim] - 1);
    findings_.add(
        place, ref,
        fmt::format("an executed {} {} dimension {} of '{}', 0 to {}",
                    access.writes ? "store" : "load", reach, dim, access.view.bounds->into,
                    access.view.bounds->shape.dims[dim].size - 1));
  }

  // --- races ------------------------------------------------------------------------------------

  void races(const Place& place, const std::vector<std::string>& parallel, const Level& level,
             const std::vector<Access>& all) {
    std::set<std::string> told;
    for (size_t a = 0; a < all.size(); ++a)
      for (size_t b = a; b < all.size(); ++b) {
        const Access& first = all[a];
        const Access& second = all[b];
        if (first.view.allocation != second.view.allocation || first.view.depth >= place.depth)
          continue;
        if (!first.writes && !second.writes) continue;
        const bool both_combine =
            first.writes && second.writes && first.agg && first.agg == second.agg;
        // One running aggregation takes its values in any order. One that opens below starts at
        // each point on its own, and so does that of another view.
        if (runs_across(first, second, place.depth)) continue;
        const std::string& name = first.view.allocation->into;
        if (told.count(name)) continue;
        Result<bool> apart = points_apart(parallel, level, first, second);
        if (apart.ok() && *apart) continue;
        told.insert(name);
        std::vector<std::string> names;
        for (const std::string& variable : parallel) names.push_back(plain_name(variable));
        std::string what = fmt::format(
            "different points of its parallel indices {} {} one element of '{}'", join(names, ", "),
            first.writes && second.writes ? "write" : "read and write", name);
        if (apart.ok()) {
          findings_.add(place, what + (both_combine ? ", each in an aggregation of its own"
                                       : first.agg || second.agg ? ""
                                                                 : " without an aggregation"));
        } else {
          ++report_.unknown_accesses;
          report_.warnings.push_back(fmt::format("{}: undecided whether {} ({})", place.path(),
                                                 what, apart.status().message()));
        }
      }
  }

  // Whether accesses of different parallel points never meet.
  Result<bool> points_apart(const std::vector<std::string>& parallel, const Level& level,
                            const Access& a, const Access& b) {
    const Status large(StatusCode::unknown, "its numbers are too large");
    if (!a.view.start || !b.view.start || !a.level->exact || !b.level->exact) return large;
    if (apart_by_strides(parallel, level, a, b)) return true;

    // Variables of the enclosing blocks are shared; those of this block and below have a copy each.
    std::set<std::string> shared;
    for (const Level* at = level.outer.get(); at; at = at->outer.get())
      for (const auto& variable : at->variables) shared.insert(variable.first);
    std::map<std::string, Interval> dims;
    std::vector<Affine> constraints;
    auto copy = [&](const std::string& name, char mark) {
      return shared.count(name) ? name : name + mark;
    };
    auto add = [&](const Access& access, char mark) {
      for (const Level* at = access.level.get(); at; at = at->outer.get()) {
        for (const auto& [name, range] : at->variables) dims[copy(name, mark)] = range;
        for (const Affine& form : at->constraints)
          constraints.push_back(
              form.rename([&](const std::string& name) { return copy(name, mark); }));
      }
    };
    add(a, 'a');
    add(b, 'b');
    std::vector<Affine> distance;  // start of b - start of a
    for (size_t i = 0; i < a.view.start->size(); ++i)
      distance.push_back((*b.view.start)[i].rename([&](const std::string& name) {
        return copy(name, 'b');
      }) - (*a.view.start)[i].rename([&](const std::string& name) { return copy(name, 'a'); }));
    IntegerSet meeting = IntegerSet::box({dims.begin(), dims.end()});
    for (const Affine& form : constraints) meeting.add_ge(form);
    for (size_t i = 0; i < distance.size(); ++i) {
      meeting.add_ge(distance[i] + (b.extent[i] - 1));
      meeting.add_ge(Affine(a.extent[i] - 1) - distance[i]);
    }
    for (const std::string& variable : parallel) {
      Affine step = Affine::of(variable + 'b') - Affine::of(variable + 'a');
      for (const Affine& apart : {step - 1, Affine(-1) - step}) {
        IntegerSet set = meeting;
        set.add_ge(apart);
        STRIA_ASSIGN(bool empty, set.is_empty());
        if (!empty) return false;
      }
      meeting.add_eq(step);
    }
    return true;
  }

  // A dimension whose step along one parallel index is larger than all else in it can vary tells
  // the points of that index apart; then that index counts as equal in the other dimensions.
  static bool apart_by_strides(const std::vector<std::string>& parallel, const Level& level,
                               const Access& a, const Access& b) {
    std::set<std::string> open(parallel.begin(), parallel.end());
    std::set<std::string> shared;
    for (const Level* at = level.outer.get(); at; at = at->outer.get())
      for (const auto& variable : at->variables) shared.insert(variable.first);
    size_t before = open.size() + 1;
    while (!open.empty() && open.size() < before) {
      before = open.size();
      for (size_t i = 0; i < a.view.start->size(); ++i) {
        const Affine& form_a = (*a.view.start)[i];
        const Affine& form_b = (*b.view.start)[i];
        std::string widest;
        int64_t step = 0;
        for (const std::string& name : open) {
          int64_t size = std::abs(form_a.coefficient(name));
          if (size > step) {
            step = size;
            widest = name;
          }
        }
        if (step == 0 || form_a.coefficient(widest) != form_b.coefficient(widest)) continue;
        // Everything else: the difference form_b - form_a without `widest`.
        __int128 low = form_b.constant() - form_a.constant(), high = low;
        low -= a.extent[i] - 1;
        high += b.extent[i] - 1;
        auto vary = [&](const Access& access, int sign) {
          const Affine& form = (*access.view.start)[i];
          for (const auto& [name, coefficient] : form.terms()) {
            bool equal = name == widest || shared.count(name) ||
                         (std::count(parallel.begin(), parallel.end(), name) && !open.count(name));
            if (equal && form_a.coefficient(name) == form_b.coefficient(name)) continue;
            Interval range = range_of(access, name);
            __int128 x = static_cast<__int128>(sign) * coefficient * range.lower;
            __int128 y = static_cast<__int128>(sign) * coefficient * range.upper;
            low += std::min(x, y);
            high += std::max(x, y);
          }
        };
        if (form_a.terms().size() + form_b.terms().size() > kTerms)
          continue;  // sums stay within 128 bits
        vary(a, -1);
        vary(b, 1);
        if (low > -step && high < step) open.erase(widest);
      }
    }
    return open.empty();
  }

  // The variable is one of the access's level or of a level around it.
  static Interval range_of(const Access& access, const std::string& name) {
    for (const Level* level = access.level.get(); level; level = level->outer.get())
      for (const auto& [variable, range] : level->variables)
        if (variable == name) return range;
    return Interval{-kLimit, kLimit};
  }

  Findings& findings_;
  VerifyReport& report_;
  bool only_collects_ = false;  // accesses, and checks nothing
  std::vector<std::vector<Access>>
      open_;  // accesses inside each enclosing block with parallel indices
};

}  // namespace

void check_accesses(const Program& program, Findings& findings, VerifyReport& report) {
  Place place;
  place.block = &program.entry;
  AccessCheck(findings, report).block(place, nullptr, {}, {});
}

bool combines_across_points(const Block& main, const Block& kernel,
                            const std::vector<std::string>& indices) {
  std::map<std::string, View> views;
  std::map<std::string, const Refinement*> tensors;
  for (const Refinement& ref : main.refs) {
    View& view = views[ref.into];
    // Views of one tensor count as one allocation.
    const std::string& tensor = ref.from.empty() ? ref.into : ref.from;
    view.allocation = view.bounds = tensors.emplace(tensor, &ref).first->second;
    view.depth = 1;
    view.start = ref.access;
    if (ref.agg) view.chain = &ref;
    view.chain_depth = 1;
  }
  const Place outer{nullptr, &main, 0, 1, {}};
  Findings findings;
  VerifyReport report;
  return AccessCheck(findings, report).combines_across({&outer, &kernel, 0, 2, {}}, views, indices);
}

}  // namespace stria::stripe
