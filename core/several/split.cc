// SPDX-License-Identifier: Apache-2.0
#include "stria/several/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stria/stripe/block.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using Box = std::map<std::string, Interval>;

// A candidate says no to more than this many refinements of its unit.
constexpr int kMostUnits = 8;

// What a part does not need to know of the numbers: "kernel_3 (R = relu(O))".
std::string name_of(const Block& kernel) {
  return kernel.comments.empty() ? kernel.name
                                 : fmt::format("{} ({})", kernel.name, kernel.comments[0]);
}

std::string text_of(const Refinement& ref) {
  std::string text = ref.from + "[";
  for (size_t d = 0; d < ref.access.size(); ++d)
    text += (d == 0 ? "" : ", ") + ref.access[d].to_string();
  return text + "]";
}

Affine without(const Affine& form, const std::string& index) {
  Affine out = form;
  out.add_term(index, -form.coefficient(index));
  return out;
}

// The elements along `dim` that a view touches, less the term of `index`.
Interval extent_of(const Refinement& ref, size_t dim, const std::string& index, const Box& box) {
  Interval out = interval_of(without(ref.access[dim], index), box);
  out.upper += std::max<int64_t>(ref.shape.dims[dim].size, 1) - 1;
  return out;
}

// m * (i + offset) + rest with 0 <= rest < m: the offset, if it is of that form.
std::optional<int64_t> offset_of(const Interval& rest, int64_t m) {
  const int64_t offset = floor_div(rest.lower, m);
  return rest.upper - m * offset < m ? std::optional(offset) : std::nullopt;
}

// Points times statements: what a kernel takes beside another one of the program.
double work_of(const Block& block) {
  double points = 1, statements = 0;
  for (const stripe::Index& index : block.idxs) points *= static_cast<double>(index.range);
  for (const stripe::Statement& stmt : block.stmts)
    statements += stmt.block() != nullptr ? work_of(*stmt.block()) : 1;
  return points * statements;
}

// Is it more than points that each run a list of scalars?
bool has_steps(const Block& kernel) {
  return std::any_of(kernel.stmts.begin(), kernel.stmts.end(),
                     [](const stripe::Statement& stmt) {
                       return stmt.block() != nullptr || stmt.special() != nullptr;
                     }) ||
         std::any_of(kernel.idxs.begin(), kernel.idxs.end(),
                     [](const stripe::Index& index) { return index.affine.has_value(); });
}

// One try: from cuts of outputs that are given, back to the inputs.
class Attempt {
 public:
  Attempt(const Block& main, const std::set<std::string>& uncuttable, int64_t units)
      : main_(main), uncuttable_(uncuttable), units_(units) {}

  // What becomes of the tensors if these outputs are cut so. False: `stop` says why not.
  bool run(const std::map<std::string, std::optional<Cut>>& seeds);
  // Outputs that nothing has decided, and what follows for them from the kernels' reads.
  std::vector<std::string> open_outputs() const;
  std::map<std::string, Cut> found_downward() const;

  Split split() const;
  // The kernel with the most work among those that every part repeats, and why.
  std::string most_repeated() const;

  std::string stop;
  int64_t coarser = 1;  // units so many times as large would have gone further

 private:
  struct State {
    bool is_fixed = false;   // an output that is given: it cannot become whole
    std::optional<Cut> cut;  // none: whole
    std::string why_whole;
  };

  bool visit(size_t position);
  // The share of the kernel if what it writes by `ref` is cut so; nullopt, with `why`.
  std::optional<KernelShare> share_by(const Block& kernel, const Refinement& ref, const Cut& cut,
                                      std::string& why);
  // How a kernel with this share sees a tensor that it can have cut.
  std::optional<Cut> cut_by(const Block& kernel, const Refinement& ref,
                            const KernelShare& share) const;
  bool is_cuttable(const Refinement& ref, size_t dim, int64_t rows) const;
  // False: the tensor must be cut otherwise.
  bool want(const std::string& tensor, const std::optional<Cut>& cut, const std::string& why);
  bool make_whole(const std::string& tensor, const std::string& why);
  int64_t size_of(const std::string& tensor, size_t dim) const {
    return main_.find_ref(tensor)->shape.dims[dim].size;
  }

  const Block& main_;
  const std::set<std::string>& uncuttable_;
  const int64_t units_;
  std::map<std::string, State> states_;
  // Tensors that had been taken for cut before a kernel needed all of them, with the reason.
  std::map<std::string, std::string> forced_;
  std::vector<KernelShare> shares_;
  std::vector<bool> decided_;
  std::vector<std::string> why_whole_;  // of each kernel
};

bool Attempt::make_whole(const std::string& tensor, const std::string& why) {
  State& state = states_[tensor];
  if (state.is_fixed && state.cut) {
    stop = why;
    return false;
  }
  if (state.cut) forced_.try_emplace(tensor, why);
  state.cut.reset();
  if (state.why_whole.empty()) state.why_whole = why;
  return true;
}

bool Attempt::want(const std::string& tensor, const std::optional<Cut>& cut,
                   const std::string& why) {
  const auto at = states_.find(tensor);
  if (at == states_.end()) {
    states_[tensor] = {false, cut, cut ? "" : why};
    return true;
  }
  if (at->second.cut == cut || !at->second.cut) return true;
  return make_whole(tensor, why);
}

bool Attempt::is_cuttable(const Refinement& ref, size_t dim, int64_t rows) const {
  return !uncuttable_.contains(ref.from) && size_of(ref.from, dim) == units_ * rows;
}

std::optional<KernelShare> Attempt::share_by(const Block& kernel, const Refinement& ref,
                                             const Cut& cut, std::string& why) {
  const Box box = kernel.index_box();
  std::vector<Affine::Term> terms = ref.access[cut.dim].terms();
  std::stable_sort(terms.begin(), terms.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [index, m] : terms) {
    if (m <= 0) continue;
    const std::optional<int64_t> offset = offset_of(extent_of(ref, cut.dim, index, box), m);
    if (!offset) continue;
    if (cut.rows % m == 0)
      return KernelShare{KernelShare::Kind::index, index, cut.rows / m, *offset, 0};
    if (m % cut.rows == 0) coarser = std::max(coarser, m / cut.rows);
  }
  const Interval all = extent_of(ref, cut.dim, "", box);
  if (const int64_t unit = floor_div(all.lower, cut.rows); unit == floor_div(all.upper, cut.rows))
    return KernelShare{KernelShare::Kind::unit, "", 1, 0, unit};
  why = fmt::format("{} writes {}, and no index of it walks along that dimension alone",
                    name_of(kernel), text_of(ref));
  return std::nullopt;
}

std::optional<Cut> Attempt::cut_by(const Block& kernel, const Refinement& ref,
                                   const KernelShare& share) const {
  if (share.kind != KernelShare::Kind::index) return std::nullopt;
  const Box box = kernel.index_box();
  for (size_t d = 0; d < ref.access.size(); ++d) {
    const int64_t m = ref.access[d].coefficient(share.index);
    if (m <= 0 || !is_cuttable(ref, d, m * share.per_unit)) continue;
    if (offset_of(extent_of(ref, d, share.index, box), m) == share.offset)
      return Cut{d, m * share.per_unit};
  }
  return std::nullopt;
}

bool Attempt::visit(size_t position) {
  const Block& kernel = *main_.stmts[position].block();
  KernelShare share;
  std::string why;
  bool any_cut = false;
  for (const Refinement& ref : kernel.refs) {
    const auto at = states_.find(ref.from);
    if (!is_written(ref) || at == states_.end()) continue;
    decided_[position] = true;
    if (!at->second.cut) {
      if (why.empty()) why = at->second.why_whole;
      continue;
    }
    std::string why_not;
    const std::optional<KernelShare> by =
        has_steps(kernel) ? std::nullopt : share_by(kernel, ref, *at->second.cut, why_not);
    if (has_steps(kernel))
      why_not = fmt::format("{} computes '{}' in steps that depend on each other", name_of(kernel),
                            ref.from);
    if (by && any_cut && *by != share)
      why_not = fmt::format("{} writes several tensors by different indices", name_of(kernel));
    if (!why_not.empty()) {
      why = why_not;
      continue;
    }
    share = *by;
    any_cut = true;
  }
  if (!decided_[position]) return true;
  // What it writes beside the tensors that are known.
  if (any_cut && why.empty())
    for (const Refinement& ref : kernel.refs) {
      if (!is_written(ref) || states_.contains(ref.from)) continue;
      const std::optional<Cut> cut = cut_by(kernel, ref, share);
      if (cut)
        states_[ref.from] = {false, cut, ""};
      else
        why = fmt::format("{} writes {} as well", name_of(kernel), text_of(ref));
    }
  if (!why.empty() || !any_cut) {
    share = KernelShare();
    for (const Refinement& ref : kernel.refs)
      if (is_written(ref) && !make_whole(ref.from, why)) return false;
  }
  shares_[position] = share;
  why_whole_[position] = why;
  for (const Refinement& ref : kernel.refs) {
    if (is_written(ref)) continue;
    const std::optional<Cut> cut = cut_by(kernel, ref, share);
    std::string reason = why;
    if (!cut)
      reason =
          share.kind == KernelShare::Kind::index
              ? fmt::format("{} reads {} for each '{}'", name_of(kernel), text_of(ref), share.index)
              : fmt::format("{} reads {}", name_of(kernel), text_of(ref));
    else
      reason =
          fmt::format("{} reads {}, and others need it otherwise", name_of(kernel), text_of(ref));
    if (!want(ref.from, cut, reason)) return false;
  }
  return true;
}

bool Attempt::run(const std::map<std::string, std::optional<Cut>>& seeds) {
  forced_.clear();
  size_t before = 0;
  do {
    before = forced_.size();
    states_.clear();
    shares_.assign(main_.stmts.size(), KernelShare());
    decided_.assign(main_.stmts.size(), false);
    why_whole_.assign(main_.stmts.size(), "");
    for (const auto& [name, why] : forced_) states_[name] = {false, std::nullopt, why};
    for (const auto& [name, cut] : seeds)
      states_[name] = {true, cut, cut ? "" : fmt::format("nothing of '{}' is cut", name)};
    for (size_t n = main_.stmts.size(); n-- > 0;)
      if (!visit(n)) return false;
    // Kernels that were visited before may have counted on it.
  } while (forced_.size() > before);
  return true;
}

std::vector<std::string> Attempt::open_outputs() const {
  std::vector<std::string> out;
  for (const Refinement& ref : main_.refs)
    if (is_written(ref) && !states_.contains(ref.into)) out.push_back(ref.into);
  return out;
}

std::map<std::string, Cut> Attempt::found_downward() const {
  std::map<std::string, Cut> known, found;
  for (const auto& [name, state] : states_)
    if (state.cut) known[name] = *state.cut;
  for (size_t n = 0; n < main_.stmts.size(); ++n) {
    const Block& kernel = *main_.stmts[n].block();
    if (decided_[n] || has_steps(kernel)) continue;
    std::optional<KernelShare> share;
    for (const Refinement& ref : kernel.refs) {
      const auto at = known.find(ref.from);
      if (is_written(ref) || at == known.end() || share) continue;
      const Box box = kernel.index_box();
      for (const auto& [index, m] : ref.access[at->second.dim].terms()) {
        if (m <= 0 || at->second.rows % m != 0) continue;
        if (const auto offset = offset_of(extent_of(ref, at->second.dim, index, box), m))
          share = KernelShare{KernelShare::Kind::index, index, at->second.rows / m, *offset, 0};
      }
    }
    if (!share) continue;
    for (const Refinement& ref : kernel.refs)
      if (is_written(ref))
        if (const std::optional<Cut> cut = cut_by(kernel, ref, *share))
          known[ref.from] = found[ref.from] = *cut;
  }
  return found;
}

Split Attempt::split() const {
  Split out;
  out.units = units_;
  out.kernels = shares_;
  for (const auto& [name, state] : states_)
    if (state.cut) out.cuts[name] = *state.cut;
  double all = 0, whole = 0;
  for (size_t n = 0; n < shares_.size(); ++n) {
    const double work = work_of(*main_.stmts[n].block());
    all += work;
    if (shares_[n].kind == KernelShare::Kind::whole) whole += work;
  }
  out.repeated = all > 0 ? whole / all : 0;
  for (const Refinement& ref : main_.refs)
    if (ref.dir == RefDir::in && !out.cuts.contains(ref.into))
      out.whole_bytes += static_cast<uint64_t>(ref.shape.span_bytes());
  return out;
}

std::string Attempt::most_repeated() const {
  double most = -1;
  std::string out;
  for (size_t n = 0; n < shares_.size(); ++n) {
    const double work = work_of(*main_.stmts[n].block());
    if (shares_[n].kind != KernelShare::Kind::whole || work <= most) continue;
    most = work;
    out = fmt::format("{} would run in every part: {}", name_of(*main_.stmts[n].block()),
                      why_whole_[n]);
  }
  return out;
}

// Is it legal? The proof, which trusts nothing of how the split was found: each tensor that a
// kernel cut into units writes is cut, and each view of a cut tensor stays within the rows of its
// units.
Status prove(const Block& main, const Split& split) {
  for (size_t n = 0; n < main.stmts.size(); ++n) {
    const Block& kernel = *main.stmts[n].block();
    const KernelShare& share = split.kernels[n];
    const Box box = kernel.index_box();
    for (const Refinement& ref : kernel.refs) {
      const auto at = split.cuts.find(ref.from);
      const auto broken = [&](const char* what) {
        return internal_error("the split of {}: {} {}", name_of(kernel), text_of(ref), what);
      };
      if (at == split.cuts.end()) {
        if (is_written(ref) && share.kind != KernelShare::Kind::whole)
          return broken("is written in parts and whole");
        continue;
      }
      const Cut& cut = at->second;
      if (main.find_ref(ref.from)->shape.dims[cut.dim].size != split.units * cut.rows)
        return broken("is not made of the units");
      if (share.kind == KernelShare::Kind::whole) return broken("is cut, the kernel is not");
      if (share.kind == KernelShare::Kind::unit) {
        const Interval all = extent_of(ref, cut.dim, "", box);
        if (all.lower < share.unit * cut.rows || all.upper >= (share.unit + 1) * cut.rows)
          return broken("leaves its unit");
        continue;
      }
      const int64_t m = ref.access[cut.dim].coefficient(share.index);
      if (m <= 0 || m * share.per_unit != cut.rows ||
          offset_of(extent_of(ref, cut.dim, share.index, box), m) != share.offset)
        return broken("leaves its units");
    }
  }
  return Status();
}

struct Choice {
  Split split;
  double most_work = 1;  // of one part, of all the work
};

// The share of the work that a part has. That one may have a unit more than others is not counted:
// it would have batches of odd sizes cut elsewhere, with all of the batch on each device.
double most_work(const Split& split, size_t parts) {
  const int64_t busy = std::min(split.units, static_cast<int64_t>(std::max<size_t>(parts, 1)));
  return split.repeated + (1 - split.repeated) / static_cast<double>(busy);
}

class Finder {
 public:
  Finder(const Block& main, std::set<std::string> uncuttable, const SplitLimits& limits)
      : main_(main), uncuttable_(std::move(uncuttable)), limits_(limits) {}

  void try_output(const Refinement& output, size_t dim);

  std::optional<Choice> best;
  std::vector<std::string> stops;

 private:
  // With units of so many rows; returns by how much larger ones are worth a try, or 1.
  int64_t try_units(const Refinement& output, const Cut& cut);
  void take(const Attempt& attempt, const std::string& place);

  const Block& main_;
  const std::set<std::string> uncuttable_;
  const SplitLimits limits_;
};

void Finder::try_output(const Refinement& output, size_t dim) {
  int64_t rows = 1;
  for (int n = 0; n < kMostUnits; ++n) {
    const int64_t coarser = try_units(output, {dim, rows});
    if (coarser <= 1) return;
    rows *= coarser;
  }
}

int64_t Finder::try_units(const Refinement& output, const Cut& cut) {
  const int64_t size = output.shape.dims[cut.dim].size;
  const std::string place =
      fmt::format("dimension {} of '{}' ({}{})", cut.dim, output.into, size,
                  cut.rows > 1 ? fmt::format(", in units of {}", cut.rows) : "");
  if (size % cut.rows != 0 || size / cut.rows < 2) {
    if (cut.rows == 1) stops.push_back(place + ": there is nothing to share out");
    return 1;
  }
  if (uncuttable_.contains(output.into)) {
    stops.push_back(place + ": its elements share bytes, or do not lie row by row");
    return 1;
  }
  const int64_t units = size / cut.rows;
  std::map<std::string, std::optional<Cut>> seeds = {{output.into, cut}};
  Attempt attempt(main_, uncuttable_, units);
  while (true) {
    if (!attempt.run(seeds)) {
      stops.push_back(place + ": " + attempt.stop);
      return attempt.coarser;
    }
    const std::vector<std::string> open = attempt.open_outputs();
    if (open.empty()) break;
    const std::map<std::string, Cut> found = attempt.found_downward();
    const auto known = std::find_if(open.begin(), open.end(),
                                    [&](const std::string& one) { return found.contains(one); });
    if (known != open.end()) {
      seeds[*known] = found.at(*known);
      continue;
    }
    // Nothing binds it to the others: the first cut into as many units, else it is whole.
    const Refinement& other = *main_.find_ref(open[0]);
    std::optional<Cut> first;
    for (size_t d = 0; d < other.shape.dims.size() && !first; ++d) {
      const int64_t rows = other.shape.dims[d].size / units;
      if (rows < 1 || other.shape.dims[d].size % units != 0 || uncuttable_.contains(open[0]))
        continue;
      auto trial = seeds;
      trial[open[0]] = Cut{d, rows};
      if (Attempt(main_, uncuttable_, units).run(trial)) first = Cut{d, rows};
    }
    seeds[open[0]] = first;
  }
  take(attempt, place);
  return attempt.coarser;
}

void Finder::take(const Attempt& attempt, const std::string& place) {
  Choice one;
  one.split = attempt.split();
  one.most_work = most_work(one.split, limits_.parts);
  if (one.split.repeated > limits_.most_repeated) {
    stops.push_back(fmt::format(
        "{}: {}; so every part repeats {:.0f}% of the work, more than {:.0f}%", place,
        attempt.most_repeated(), 100 * one.split.repeated, 100 * limits_.most_repeated));
    return;
  }
  const auto worth = [](const Choice& c) { return std::pair(c.most_work, c.split.whole_bytes); };
  if (!best || worth(one) < worth(*best)) best = std::move(one);
}

// Tensors that lie otherwise than row by row, or whose elements share bytes.
std::set<std::string> uncuttable_of(const Compilation& program, const Block& main) {
  std::set<std::string> out;
  for (const Refinement& ref : main.refs)
    if (ref.shape != dense_shape(ref.shape.type, ref.shape.sizes()) ||
        (ref.dir != RefDir::none && ref.from != ref.into))
      out.insert(ref.into);
  for (const tile::BoundTensor& tensor : program.bound.tensors)
    if (tensor.packed) out.insert(tensor.name);
  return out;
}

}  // namespace

Result<Split> find_split(const Compilation& program, const SplitLimits& limits) {
  const std::string& name = program.generic.entry.name;
  const Block* const main = program.generic.main();
  if (main == nullptr || program.generic.prologue() != nullptr)
    return unsupported("'{}' cannot be split: it is no generic program", name);
  bool has_output = false;
  for (const Refinement& ref : main->refs) {
    if (ref.dir == RefDir::inout)
      return unsupported("'{}' cannot be split: '{}' is read and written", name, ref.into);
    has_output = has_output || ref.dir == RefDir::out;
  }
  if (!main->idxs.empty() || !main->constraints.empty())
    return unsupported("'{}' cannot be split: it is no list of kernels", name);
  for (const stripe::Statement& stmt : main->stmts)
    if (stmt.block() == nullptr || !stmt.deps.empty())
      return unsupported("'{}' cannot be split: its kernels are not all blocks in order", name);
  if (!has_output) return unsupported("'{}' cannot be split: it has no output", name);
  Finder finder(*main, uncuttable_of(program, *main), limits);
  for (const Refinement& output : main->refs) {
    if (output.dir != RefDir::out || finder.best) continue;
    if (output.shape.dims.empty())
      finder.stops.push_back(fmt::format("'{}' has no dimension", output.into));
    for (size_t d = 0; d < output.shape.dims.size(); ++d) finder.try_output(output, d);
  }
  if (!finder.best) {
    std::string text = fmt::format("'{}' cannot be split over devices:", name);
    for (const std::string& stop : finder.stops) text += "\n  " + stop;
    return Status(StatusCode::unsupported, std::move(text));
  }
  STRIA_RETURN_IF_ERROR(prove(*main, finder.best->split));
  return std::move(finder.best->split);
}

}  // namespace stria
