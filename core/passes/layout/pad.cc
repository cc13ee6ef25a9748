// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/pad.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "stria/base/refusal.h"
#include "stria/base/text.h"
#include "stria/poly/integer_set.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/combiner.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

constexpr int64_t kRoundTo = 8;

int64_t rounded_up(int64_t range, int64_t multiple) { return ceil_div(range, multiple) * multiple; }

int64_t largest_prime_factor(int64_t number) {
  int64_t largest = 1;
  for (int64_t factor = 2; factor <= number / factor; ++factor)
    while (number % factor == 0) {
      largest = factor;
      number /= factor;
    }
  return std::max(largest, number);
}

// Elements that are added before and behind a tensor, in each dimension.
struct Border {
  std::vector<int64_t> before, behind;
  bool operator==(const Border&) const = default;
  explicit Border(size_t rank = 0) : before(rank, 0), behind(rank, 0) {}
  bool is_none() const {
    const auto none = [](int64_t n) { return n == 0; };
    return std::all_of(before.begin(), before.end(), none) &&
           std::all_of(behind.begin(), behind.end(), none);
  }
  void widen(const Border& other) {
    for (size_t d = 0; d < before.size(); ++d) {
      before[d] = std::max(before[d], other.before[d]);
      behind[d] = std::max(behind[d], other.behind[d]);
    }
  }
};

// The shape with its border: dense strides, and the old order of the dimensions in memory.
TensorShape bordered(const TensorShape& shape, const Border& border) {
  TensorShape out = shape;
  std::vector<size_t> order(shape.dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return shape.dims[a].stride != shape.dims[b].stride
               ? shape.dims[a].stride < shape.dims[b].stride
               : a > b;
  });
  int64_t stride = 1;
  for (const size_t d : order) {
    out.dims[d].size += border.before[d] + border.behind[d];
    out.dims[d].stride = stride;
    stride *= std::max<int64_t>(out.dims[d].size, 1);
  }
  return out;
}

// Is the growth at most `percent`, and the result below 2^60 elements?
bool may_grow(const TensorShape& shape, const Border& border, int64_t percent) {
  double before = 1, after = 1;
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    const auto size = static_cast<double>(shape.dims[d].size);
    before *= size;
    after *= size + static_cast<double>(border.before[d]) + static_cast<double>(border.behind[d]);
  }
  return after < 0x1p60 && (after - before) * 100 <= before * static_cast<double>(percent);
}

std::vector<std::string> dim_names(size_t rank) {
  std::vector<std::string> names;
  for (size_t d = 0; d < rank; ++d) names.push_back(fmt::format("i{}", d));
  return names;
}

// A block over one piece of `tensor`, which it writes. It has no statements yet.
Block piece_kernel(const std::string& name, const std::string& tensor, const Refinement& like,
                   const std::vector<SetPiece::Index>& indices, const std::vector<Affine>& point) {
  Block block;
  block.name = name;
  for (const SetPiece::Index& index : indices)
    block.idxs.push_back({index.name, index.range, std::nullopt, {}});
  Refinement& out = block.refs.emplace_back();
  out.dir = RefDir::out;
  out.from = out.into = tensor;
  out.access = point;
  out.shape = like.shape;
  for (Dim& dim : out.shape.dims) dim.size = 1;
  out.location = like.location;
  return block;
}

// Kernels that set the border of `ref` to 0. `inside` is the shape without the border.
Result<std::vector<Statement>> border_kernels(const Refinement& ref, const TensorShape& inside,
                                              const Border& border) {
  std::vector<std::pair<std::string, Interval>> all, own;
  const std::vector<std::string> names = dim_names(ref.shape.dims.size());
  for (size_t d = 0; d < names.size(); ++d) {
    all.push_back({names[d], {0, ref.shape.dims[d].size - 1}});
    own.push_back({names[d], {border.before[d], border.before[d] + inside.dims[d].size - 1}});
  }
  STRIA_ASSIGN(IntegerSet left, IntegerSet::box(all).subtract(IntegerSet::box(own)));
  STRIA_ASSIGN(const std::vector<SetPiece> pieces, left.pieces());
  std::vector<Statement> out;
  for (const SetPiece& piece : pieces) {
    Block block =
        piece_kernel(fmt::format("{}_border", ref.into), ref.into, ref, piece.indices, piece.point);
    block.tags = {stripe::tag::kKernel, stripe::tag::kZero};
    block.constraints = piece.constraints;
    const DataType type = ref.shape.type;
    block.stmts.emplace_back(stripe::Constant{
        "zero", is_float(type) ? Scalar::of_float(type, 0) : Scalar::of_int(type, 0)});
    block.stmts.emplace_back(stripe::Store{"zero", ref.into});
    out.emplace_back(std::move(block));
  }
  return out;
}

class Padder {
 public:
  Padder(Block& section, const PadOptions& options, PassContext& context)
      : section_(section), options_(options), context_(context) {}

  Status run() {
    std::vector<std::vector<Statement>> before(section_.stmts.size());
    for (size_t i = 0; i < section_.stmts.size(); ++i) {
      Block* kernel = section_.stmts[i].block();
      if (!kernel || !kernel->tags.has_all(options_.reqs)) continue;
      context_.matched();
      if (const Refusal refusal = relax(*kernel, before[i]))
        context_.skipped(kernel->name, refusal.reason());
    }
    std::vector<Statement> stmts;
    for (const auto& [name, border] : borders_) STRIA_RETURN_IF_ERROR(grow(name, border, stmts));
    bool added = !stmts.empty();
    for (size_t i = 0; i < before.size(); ++i) {
      added = added || !before[i].empty();
      for (Statement& stmt : before[i]) stmts.push_back(std::move(stmt));
      stmts.push_back(std::move(section_.stmts[i]));
    }
    section_.stmts = std::move(stmts);
    if (added) run_in_order(section_);
    return {};
  }

 private:
  // The points of a kernel, as ranges and constraints.
  struct Domain {
    std::vector<int64_t> ranges;
    std::vector<Affine> constraints;
  };

  // The points of the domain, projected to the named indices. Constraints over other indices are
  // left out.
  static IntegerSet points_of(const Block& kernel, const Domain& domain,
                              const std::set<std::string>& names) {
    std::vector<std::pair<std::string, Interval>> box;
    for (size_t i = 0; i < kernel.idxs.size(); ++i)
      if (names.count(kernel.idxs[i].name))
        box.push_back({kernel.idxs[i].name, {0, domain.ranges[i] - 1}});
    IntegerSet points = IntegerSet::box(box);
    for (const Affine& form : domain.constraints)
      if (form.is_constant() || names.count(form.terms()[0].first)) points.add_ge(form);
    return points;
  }

  static bool uses_any(const Affine& form, const std::set<std::string>& names) {
    return std::any_of(form.terms().begin(), form.terms().end(),
                       [&](const Affine::Term& term) { return names.count(term.first) > 0; });
  }

  // The indices that must be considered if `names` change: all that occur in one form with them,
  // directly or through others.
  static std::set<std::string> tied_to(std::set<std::string> names,
                                       const std::vector<Affine>& forms) {
    for (bool grows = true; grows;) {
      grows = false;
      for (const Affine& form : forms) {
        if (!uses_any(form, names)) continue;
        for (const Affine::Term& term : form.terms())
          grows = names.insert(term.first).second || grows;
      }
    }
    return names;
  }

  // Drops constraints and rounds ranges, or refuses the kernel. Appends the copies that it needs to
  // `before`.
  Refusal relax(Block& kernel, std::vector<Statement>& before) {
    if (!is_leaf(kernel)) return "it holds blocks or a special";
    const stripe::Intrinsic* product = combiner(kernel);
    if (!product || product->name != "mul") return "it is no product of one value of each input";
    if (kernel.tags.has(stripe::tag::kStencil)) return "it is a #stencil";
    const Refinement* out = nullptr;
    Domain domain{{}, kernel.constraints};
    for (const Refinement& ref : kernel.refs) {
      if (ref.dir == RefDir::none) return "it allocates";
      if (ref.tags.has(stripe::tag::kClamp) || ref.tags.has(stripe::tag::kZeroFill))
        return "it reads beyond its tensors as it is";
      if (ref.dir != RefDir::in) out = &ref;
    }
    if (!out->agg || out->agg->op != stripe::AggOp::add) return "it is no sum";
    if (out->dir == RefDir::inout && is_float(out->agg->type))
      return "its sum continues, and a -0 there would be seen";
    for (const Index& index : kernel.idxs) {
      if (index.affine) return "an index starts at an outer value";
      if (index.range < 1) return "it never runs";
      domain.ranges.push_back(index.range);
    }
    const bool has_work =
        !kernel.constraints.empty() ||
        std::any_of(kernel.idxs.begin(), kernel.idxs.end(),
                    [&](const Index& index) { return wanted_range(index) != index.range; });
    if (!has_work) return "it has no constraint, and its ranges stay";
    original_ = domain;
    std::set<std::string> all;
    for (const Index& index : kernel.idxs) all.insert(index.name);
    const Result<bool> empty = points_of(kernel, domain, all).is_empty();
    if (!empty.ok() || *empty) return empty.ok() ? "it never runs" : "its points are not known";
    is_float_ = is_float(product->type);

    Plan plan;
    Refusal first = Refusal::none();
    auto accept = [&](const Domain& wider, const std::set<std::string>& changed) {
      Plan next = plan;
      if (const Refusal refusal = why_not(kernel, *out, wider, changed, next)) {
        if (!first) first = refusal;
        return false;
      }
      domain = wider;
      plan = std::move(next);
      return true;
    };
    std::vector<std::string> done;
    for (size_t i = 0; i < kernel.idxs.size(); ++i) {
      const std::string& name = kernel.idxs[i].name;
      Domain wider = domain;
      wider.ranges[i] = wanted_range(kernel.idxs[i]);
      if (wider.ranges[i] == domain.ranges[i]) continue;
      if (moves_output(*out, name) && !options_.multiples.count(name)) {
        if (!first) first = fmt::format("'{}' is not only summed over", name);
      } else if (accept(wider, {name})) {
        done.push_back(
            fmt::format("{} of {} runs to {}", name, kernel.idxs[i].range, domain.ranges[i]));
      }
    }
    for (size_t c = 0; c < domain.constraints.size();) {
      Domain wider = domain;
      wider.constraints.erase(wider.constraints.begin() + static_cast<ptrdiff_t>(c));
      const std::string text = domain.constraints[c].to_string();
      std::set<std::string> names;
      for (const Affine::Term& term : domain.constraints[c].terms()) names.insert(term.first);
      if (accept(wider, names))
        done.push_back(text + " >= 0 goes");
      else
        ++c;
    }
    if (done.empty()) return first ? first : "it has no constraint, and its ranges stay";
    apply(kernel, domain, plan, before);
    context_.note(
        fmt::format("{}: {}", kernel.name.empty() ? "block" : kernel.name, join(done, "; ")));
    context_.changed();
    return Refusal::none();
  }

  int64_t wanted_range(const Index& index) const {
    if (auto given = options_.multiples.find(index.name); given != options_.multiples.end())
      return rounded_up(index.range, given->second);
    if (options_.prime_threshold > 0 && index.range >= options_.prime_threshold &&
        largest_prime_factor(index.range) >= options_.prime_threshold)
      return rounded_up(index.range, kRoundTo);
    return index.range;
  }

  static bool moves_output(const Refinement& out, const std::string& index) {
    return std::any_of(out.access.begin(), out.access.end(),
                       [&](const Affine& form) { return form.uses(index); });
  }

  // The borders that the kernel's views need, by the view's position.
  using Plan = std::map<size_t, Border>;

  // Refuses the domain `wider`, in which the indices `changed` run over more than in the plan so
  // far. Indices that no form ties to these need not be considered.
  Refusal why_not(const Block& kernel, const Refinement& out, const Domain& wider,
                  const std::set<std::string>& changed, Plan& plan) {
    const std::string undecided = "whether zeros are enough is not known";
    const std::string infinite = "a point would multiply a zero by what may be infinite";
    std::map<std::string, Interval> box;
    for (size_t i = 0; i < kernel.idxs.size(); ++i)
      box[kernel.idxs[i].name] = {0, wider.ranges[i] - 1};
    const auto stays_inside = [&](const Refinement& ref, size_t d) {
      const Interval reach = interval_of(ref.access[d], box);
      return reach.lower >= 0 && reach.upper < section_.find_ref(ref.from)->shape.dims[d].size;
    };
    bool writes_inside = true;
    for (size_t d = 0; d < out.access.size(); ++d)
      writes_inside = writes_inside && stays_inside(out, d);
    // A quick test without the solver: a factor that never reads outside of its tensor is not zero
    // at any added point.
    for (const Refinement& ref : kernel.refs) {
      if (!writes_inside || !is_float_ || ref.dir != RefDir::in ||
          is_finite(*section_.find_ref(ref.from), ref))
        continue;
      bool inside = true;
      for (size_t d = 0; d < ref.access.size(); ++d) inside = inside && stays_inside(ref, d);
      if (inside) return infinite;
    }
    std::vector<Affine> forms = original_.constraints;
    forms.insert(forms.end(), out.access.begin(), out.access.end());
    for (const Refinement& ref : kernel.refs)
      for (size_t d = 0; d < ref.access.size(); ++d)
        if (ref.dir == RefDir::in && !stays_inside(ref, d)) forms.push_back(ref.access[d]);
    const std::set<std::string> names = tied_to(changed, forms);
    const IntegerSet before = points_of(kernel, original_, names);
    const IntegerSet points = points_of(kernel, wider, names);
    // Nobody reads what is written outside of the output tensor, so it may be anything.
    IntegerSet counting = points;
    Border beside(out.access.size());
    for (size_t d = 0; d < out.access.size(); ++d) {
      if (stays_inside(out, d) || !uses_any(out.access[d], names)) continue;
      const Status known = reach(points, out, d, beside, counting);
      if (!known.ok()) return undecided;
    }
    if (!beside.is_none()) {
      if (out.dir == RefDir::inout) return "its sum continues, and nothing is beside its tensor";
      STRIA_RETURN_IF_REFUSED(why_not_beside(*section_.find_ref(out.from), beside));
      const auto position = static_cast<size_t>(&out - kernel.refs.data());
      Border& planned = plan.try_emplace(position, Border(out.access.size())).first->second;
      const Border known = planned;
      planned.widen(beside);
      // A rounded range is worth such writes; a dropped constraint is not.
      if (wider.constraints.size() < original_.constraints.size() && planned != known)
        return "it would write beside its tensor";
    }
    IntegerSet all_inside = counting;
    std::vector<IntegerSet> insides;  // of inputs that may be infinite: where they are read inside
    size_t inputs = 0;
    for (size_t r = 0; r < kernel.refs.size(); ++r) {
      const Refinement& ref = kernel.refs[r];
      if (ref.dir != RefDir::in) continue;
      ++inputs;
      const Refinement* whole = section_.find_ref(ref.from);
      auto known = plan.find(r);
      Border border = known != plan.end() ? known->second : Border(ref.access.size());
      IntegerSet inside = counting;
      for (size_t d = 0; d < ref.access.size(); ++d) {
        if (stays_inside(ref, d) || !uses_any(ref.access[d], names)) continue;
        if (!reach(points, ref, d, border, inside).ok()) return undecided;
        Border same(ref.access.size());
        if (!reach(points, ref, d, same, all_inside).ok()) return undecided;
      }
      if (!border.is_none()) {
        STRIA_RETURN_IF_REFUSED(why_no_border(kernel, *whole, border));
        plan.insert_or_assign(r, std::move(border));
      }
      if (!is_finite(*whole, ref)) insides.push_back(std::move(inside));
    }
    // Every added point needs a factor that is zero. With floats, each factor that may be infinite
    // must itself be zero. A product of several finite factors may be infinite as well.
    const bool exact = !is_float_ || (insides.empty() && inputs == 2);
    if (!exact && insides.size() < inputs && inputs > 2) return "more than two factors";
    if (exact) insides = {all_inside};
    for (const IntegerSet& inside : insides) {
      const Result<bool> old = inside.is_subset_of(before);
      if (!old.ok()) return undecided;
      if (!*old) return is_float_ ? infinite : "a point would multiply what is no zero";
    }
    std::vector<Affine> element;
    for (const Affine& form : out.access)
      if (uses_any(form, names)) element.push_back(form);
    const std::vector<std::string> dims = dim_names(element.size());
    const Result<IntegerSet> old_elements = before.image(dims, element);
    const Result<IntegerSet> elements = counting.image(dims, element);
    if (!old_elements.ok() || !elements.ok()) return undecided;
    const Result<bool> same = elements->is_subset_of(*old_elements);
    if (!same.ok()) return undecided;
    if (!*same) return "it would write elements that it does not write";
    return Refusal::none();
  }

  // Sets `border` to how far the view reaches outside of its tensor along a dimension, at `points`.
  // Restricts `inside` to the points where it does not. Fails if that is not known.
  Status reach(const IntegerSet& points, const Refinement& ref, size_t d, Border& border,
               IntegerSet& inside) const {
    const int64_t last = section_.find_ref(ref.from)->shape.dims[d].size - 1;
    STRIA_ASSIGN(const Bounds bounds, points.bounds(ref.access[d]));
    if (!bounds.lower || !bounds.upper) return unsupported("no bounds are known");
    border.before[d] = std::max<int64_t>(0, -*bounds.lower);
    border.behind[d] = std::max<int64_t>(0, *bounds.upper - last);
    inside.add_ge(ref.access[d]);
    inside.add_ge(Affine(last) - ref.access[d]);
    return {};
  }

  // Refuses a tensor whose border cannot hold sums that mean nothing.
  Refusal why_not_beside(const Refinement& whole, const Border& border) const {
    if (whole.dir != RefDir::none) return fmt::format("'{}' is the program's", whole.into);
    STRIA_RETURN_IF_REFUSED(why_not_grown(whole));
    for (const Statement& stmt : section_.stmts)
      if (const Block* block = stmt.block();
          block && sees(*block, whole.into) && fills_with_zeros(*block))
        return fmt::format("'{}' is read as zero beyond its end", whole.into);
    if (borders_.count(whole.into) && !scribbled_.count(whole.into))
      return fmt::format("'{}' has zeros around it, which others read", whole.into);
    if (!may_grow(whole.shape, border, options_.max_growth))
      return fmt::format("'{}' would grow by more than {}%", whole.into, options_.max_growth);
    return Refusal::none();
  }

  static bool sees(const Block& block, const std::string& tensor) {
    return std::any_of(block.refs.begin(), block.refs.end(),
                       [&](const Refinement& ref) { return ref.from == tensor; });
  }
  static bool fills_with_zeros(const Block& block) {
    return std::any_of(
               block.refs.begin(), block.refs.end(),
               [](const Refinement& ref) { return ref.tags.has(stripe::tag::kZeroFill); }) ||
           std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
             return stmt.block() && fills_with_zeros(*stmt.block());
           });
  }

  bool is_finite(const Refinement& whole, const Refinement& view) const {
    return std::any_of(
        options_.finite_refs.begin(), options_.finite_refs.end(),
        [&](const std::string& tag) { return whole.tags.has(tag) || view.tags.has(tag); });
  }

  // Refuses a tensor that cannot have zeros around it.
  Refusal why_no_border(const Block& kernel, const Refinement& whole, const Border& border) {
    const Refusal refusal = why_not_grown(whole);
    if (scribbled_.count(whole.into))
      return fmt::format("'{}' has sums beside it that mean nothing", whole.into);
    Border all = border;
    if (!refusal) {
      if (auto known = borders_.find(whole.into); known != borders_.end()) all.widen(known->second);
    } else if (options_.copy_inputs) {
      double points = 1;
      for (const Index& index : kernel.idxs) points *= static_cast<double>(index.range);
      if (points < static_cast<double>(options_.min_reads) *
                       static_cast<double>(whole.shape.element_count()))
        return fmt::format("'{}' is read too seldom to copy it", whole.into);
    } else {
      return refusal;
    }
    if (!may_grow(whole.shape, all, options_.max_growth))
      return fmt::format("'{}' would grow by more than {}%", whole.into, options_.max_growth);
    return Refusal::none();
  }

  // Refuses a tensor that cannot grow, because something else depends on its size or layout.
  Refusal why_not_grown(const Refinement& whole) const {
    if (whole.dir != RefDir::none)
      return fmt::format("'{}' is the program's; copy_inputs would copy it", whole.into);
    if (whole.swizzle || whole.is_const || whole.offset_bytes != 0)
      return fmt::format("'{}' has its place and layout", whole.into);
    for (const stripe::LocationUnit& unit : whole.location.path)
      if (!unit.owners.empty()) return fmt::format("lanes hold '{}'", whole.into);
    for (const Statement& stmt : section_.stmts) {
      if (const Block* block = stmt.block()) {
        for (const Refinement& ref : block->refs)
          if (ref.from == whole.into && ref.tags.has(stripe::tag::kClamp))
            return fmt::format("'{}' is read beyond its end", whole.into);
        continue;
      }
      const auto* load = std::get_if<stripe::Load>(&stmt.op);
      const auto* store = std::get_if<stripe::Store>(&stmt.op);
      bool seen = (load && load->from == whole.into) || (store && store->into == whole.into);
      if (const stripe::Special* special = stmt.special())
        for (const auto* list : {&special->inputs, &special->outputs})
          seen = seen || std::count(list->begin(), list->end(), whole.into) > 0;
      if (seen) return fmt::format("a statement beside the kernels sees '{}'", whole.into);
    }
    return Refusal::none();
  }

  void apply(Block& kernel, const Domain& domain, const Plan& plan,
             std::vector<Statement>& before) {
    const size_t dropped = kernel.constraints.size() - domain.constraints.size();
    if (dropped > 0) context_.count("constraints_dropped", static_cast<int64_t>(dropped));
    kernel.constraints = domain.constraints;
    for (size_t i = 0; i < kernel.idxs.size(); ++i) {
      if (kernel.idxs[i].range != domain.ranges[i]) context_.count("ranges_rounded");
      kernel.idxs[i].range = domain.ranges[i];
    }
    for (const auto& [r, border] : plan) {
      const Refinement whole = *section_.find_ref(kernel.refs[r].from);
      if (kernel.refs[r].dir != RefDir::in) scribbled_.insert(whole.into);
      if (kernel.refs[r].dir != RefDir::in || !why_not_grown(whole)) {
        borders_.try_emplace(whole.into, Border(border.before.size())).first->second.widen(border);
      } else {
        copy(kernel, kernel.refs[r], whole, border, before);
      }
    }
  }

  void copy(const Block& kernel, Refinement& view, const Refinement& whole, const Border& border,
            std::vector<Statement>& before) {
    Refinement padded;
    padded.into = section_.fresh_name(whole.into + "_padded");
    padded.access.resize(whole.access.size());
    padded.shape = bordered(whole.shape, border);
    padded.location = whole.location;
    std::vector<SetPiece::Index> indices;
    std::vector<Affine> from, to;
    for (size_t d = 0; d < whole.shape.dims.size(); ++d) {
      const std::string name = fmt::format("i{}", d);
      const bool varies = whole.shape.dims[d].size != 1;
      if (varies) indices.push_back({name, whole.shape.dims[d].size});
      from.push_back(varies ? Affine::of(name) : Affine());
      to.push_back(from.back() + border.before[d]);
    }
    Block block =
        piece_kernel(kernel.name + "_pad_" + whole.into, padded.into, padded, indices, to);
    block.tags = {stripe::tag::kCopy, stripe::tag::kKernel};
    Refinement in = block.refs[0];
    in.dir = RefDir::in;
    in.from = in.into = whole.into;
    in.access = from;
    in.location = whole.location;
    for (size_t d = 0; d < in.shape.dims.size(); ++d)
      in.shape.dims[d].stride = whole.shape.dims[d].stride;
    block.refs.insert(block.refs.begin(), std::move(in));
    block.stmts.emplace_back(stripe::Load{whole.into, "value"});
    block.stmts.emplace_back(stripe::Store{"value", padded.into});
    before.emplace_back(std::move(block));
    auto zeros = border_kernels(padded, whole.shape, border);
    STRIA_CHECK(zeros.ok(), "the border of a box is no set of pieces: {}",
                zeros.status().to_string());
    for (Statement& stmt : *zeros) before.push_back(std::move(stmt));
    view.from = padded.into;
    view.is_const = false;
    for (size_t d = 0; d < view.access.size(); ++d) {
      view.access[d] += border.before[d];
      view.shape.dims[d].stride = padded.shape.dims[d].stride;
    }
    section_.refs.push_back(std::move(padded));
    context_.count("inputs_copied");
  }

  // Enlarges the section's tensor in all its views, and sets its border to 0.
  Status grow(const std::string& name, const Border& border, std::vector<Statement>& stmts) {
    Refinement& ref = *section_.find_ref(name);
    const TensorShape inside = ref.shape;
    ref.shape = bordered(ref.shape, border);
    for (Statement& stmt : section_.stmts) {
      Block* block = stmt.block();
      if (!block) continue;
      for (Refinement& view : block->refs) {
        if (view.dir == RefDir::none || view.from != name) continue;
        for (size_t d = 0; d < view.access.size(); ++d) view.access[d] += border.before[d];
      }
    }
    restride_views(section_, name, ref.shape.dims);
    context_.count("tensors_enlarged");
    if (scribbled_.count(name)) return {};
    STRIA_ASSIGN(std::vector<Statement> zeros, border_kernels(ref, inside, border));
    for (Statement& stmt : zeros) stmts.push_back(std::move(stmt));
    return {};
  }

  Block& section_;
  const PadOptions& options_;
  PassContext& context_;
  Domain original_;  // of the kernel at hand, before any change
  bool is_float_ = false;
  std::map<std::string, Border> borders_;  // that the section's tensors will get
  std::set<std::string> scribbled_;        // tensors whose border holds sums, not zeros
};

}  // namespace

void describe(PadOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add("prime_threshold", options.prime_threshold,
             "ranges with a prime factor of this or more become multiples of 8; 0 = none");
  fields.add("multiples", options.multiples,
             "by index: its range becomes a multiple of this; a tensor may grow for that, and what "
             "is written in its border is never read",
             {1, 1 << 20});
  fields.tags("finite_refs", options.finite_refs,
              "tags of tensors that hold no infinity and no NaN");
  fields.add("max_growth", options.max_growth, "percent by which a tensor may grow",
             {0, 1'000'000});
  fields.add("copy_inputs", options.copy_inputs,
             "kernels get padded copies of the program's tensors where that pays");
  fields.add("min_reads", options.min_reads,
             "points of the kernel for each element that is copied, at least", {1});
}

Status pad(stripe::Program& program, const PadOptions& options, PassContext& context) {
  for (Block* section : {program.prologue(), program.main()})
    if (section) STRIA_RETURN_IF_ERROR(Padder(*section, options, context).run());
  return Status();
}

}  // namespace stria::passes
