// SPDX-License-Identifier: Apache-2.0
// Blocks: indices, views, constraints, temporaries and what is inside.
#include <algorithm>
#include <set>

#include "maker.h"

namespace stria::trust {

using stripe::AggOp;
using stripe::Aggregation;
using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

namespace {

std::vector<int64_t> sizes_of(const View& view) { return view.ref.shape.sizes(); }

// Does the rule that a #vector block has one index count it?
bool is_own(const stripe::Index& index) { return !index.affine || index.range != 1; }

}  // namespace

bool is_confined(const Frame& frame, const View& view) {
  for (size_t d = 0; d < view.lower.size(); ++d) {
    for (const Affine& form : view.lower[d])
      if (!frame.holds(Affine(0) - form)) return false;
    for (const Affine& form : view.upper[d])
      if (!frame.holds(form - (view.ref.shape.dims[d].size - 1))) return false;
  }
  return true;
}

View* Maker::pick_target(Frame& outer) {
  std::vector<View*> all;
  for (View& view : outer.views)
    if (view.writable) all.push_back(&view);
  return all.empty() ? nullptr : dice_.one_of(all);
}

std::optional<Aggregation> Maker::aggregation(DataType type) {
  if (type == DataType::boolean) return std::nullopt;
  DataType in = type;
  if (!dice_.once_in(3)) {
    if (type == DataType::fp16 || type == DataType::bf16) in = DataType::fp32;
    if (type == DataType::i8 || type == DataType::i16) in = DataType::i32;
    if (type == DataType::u8 || type == DataType::u16) in = DataType::u32;
    if (type == DataType::i32 && dice_.once_in(4)) in = DataType::i64;
    if (type == DataType::fp32 && dice_.once_in(4)) in = DataType::fp64;
  }
  const AggOp op = dice_.once_in(2) ? AggOp::add : static_cast<AggOp>(dice_.below(4));
  return Aggregation{op, in};
}

// Gives dimensions of the target an index of their own each: different points touch different
// parts. With `all`, so that they reach every element.
bool Maker::dedicate_indices(Frame& frame, Target& target, bool all, bool leaf) {
  const size_t rank = target.sizes.size();
  const std::vector<int64_t> whole = target.sizes;
  const size_t kept = rank > 0 ? dice_.below(rank + 1) : 0;  // this one stays whole, if inside
  bool any = false;
  for (size_t d = 0; d < rank; ++d) {
    int64_t tile = leaf || dice_.once_in(3) ? 1 : dice_.between(1, std::max<int64_t>(1, whole[d]));
    if (!leaf && d == kept) tile = std::max<int64_t>(1, whole[d]);
    int64_t range = (whole[d] + tile - 1) / tile;
    if (!leaf && range * frame.points > options_.points) {
      tile = std::max<int64_t>(1, whole[d]);
      range = 1;
    }
    target.sizes[d] = tile;
    if (range == 1 && !dice_.once_in(3)) {
      target.access.push_back(Affine(0));
      continue;
    }
    if (!all && range > 1 && dice_.once_in(4)) --range;
    const std::string name = frame.new_index_name(dice_.next());
    frame.block.idxs.push_back({name, range, std::nullopt, {}});
    frame.box[name] = {0, range - 1};
    frame.points *= range;
    const bool backwards = whole[d] % tile == 0 && dice_.once_in(5);
    target.access.push_back(backwards ? Affine::of(name, -tile) + (whole[d] - tile)
                                      : Affine::of(name, tile));
    any |= range > 1;
  }
  return any;
}

void Maker::extra_indices(Frame& frame) {
  for (size_t n = dice_.below(3); n > 0; --n) {
    const int64_t range = dice_.between(1, 4);
    if (range * frame.points > options_.points) continue;
    stripe::Index index{frame.new_index_name(dice_.next()), range, std::nullopt, {}};
    Interval box{0, range - 1};
    const auto& outer = frame.outer->block.idxs;
    if (!outer.empty() && dice_.once_in(4)) {
      const std::string& from = dice_.one_of(outer).name;
      index.affine = Affine::of(from, dice_.once_in(3) ? 2 : 1) + dice_.between(-1, 1);
      const Interval start = interval_of(*index.affine, frame.outer->box);
      box = {start.lower, start.upper + range - 1};
    }
    frame.box[index.name] = box;
    frame.points *= range;
    frame.block.idxs.push_back(std::move(index));
  }
  if (!frame.outer->block.idxs.empty() && dice_.once_in(4))
    frame.bring(dice_.one_of(frame.outer->block.idxs).name);
}

Affine Maker::random_form(Frame& frame) {
  static const std::vector<int64_t> factors = {1, 1, 1, 1, 2, 3, -1, -2};
  Affine form;
  const auto& idxs = frame.block.idxs;
  // Near what is written, as real programs read.
  if (!frame.views.empty() && dice_.once_in(2)) {
    const View& view = dice_.one_of(frame.views);
    if (!view.ref.access.empty() && view.ref.dir != RefDir::none) {
      form = dice_.one_of(view.ref.access);
      if (!dice_.once_in(3)) return form;
    }
  }
  for (size_t n = idxs.empty() ? 0 : dice_.below(3); n > 0; --n) {
    const std::string& name = dice_.one_of(idxs).name;
    if (!form.uses(name)) form.add_term(name, dice_.one_of(factors));
  }
  return form;
}

std::optional<Affine> Maker::coordinate(Frame& frame, const std::vector<Affine>& lower,
                                        const std::vector<Affine>& upper, int64_t size,
                                        bool confined) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    const Affine form = attempt == 4 ? Affine(0) : random_form(frame);
    auto fits = [&](const Affine& at) {
      return std::all_of(lower.begin(), lower.end(),
                         [&](const Affine& l) { return frame.holds(at - l); }) &&
             std::all_of(upper.begin(), upper.end(),
                         [&](const Affine& u) { return frame.holds(u - at - (size - 1)); });
    };
    if (fits(form) && dice_.once_in(2)) return form;
    int64_t least = INT64_MIN / 4, most = INT64_MAX / 4;  // of a number to add
    for (const Affine& l : lower) least = std::max(least, interval_of(l - form, frame.box).upper);
    for (const Affine& u : upper)
      most = std::min(most, interval_of(u - form, frame.box).lower - (size - 1));
    if (least <= most) return form + dice_.between(least, std::min(most, least + 3));
    if (fits(form)) return form;
    if (confined && (!frame.may_cut || attempt < 2)) continue;
    const Affine at = form + dice_.between(-1, 1);
    if (!confined) return at;
    // Points where it does not fit are cut off, unless that leaves none.
    bool some = true;
    for (const Affine& l : lower) some &= interval_of(at - l, frame.box).upper >= 0;
    for (const Affine& u : upper) some &= interval_of(u - at - (size - 1), frame.box).upper >= 0;
    if (!some) continue;
    for (const Affine& l : lower) frame.cut(at - l);
    for (const Affine& u : upper) frame.cut(u - at - (size - 1));
    return at;
  }
  return std::nullopt;
}

// First coordinates of an inner view of these sizes; `confined`: which lies where the view around
// may be touched, at every point.
std::optional<std::vector<Affine>> Maker::access(Frame& frame, const View& around,
                                                 const std::vector<int64_t>& sizes, bool confined) {
  std::vector<Affine> forms;
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<Affine> lower, upper;
    for (const Affine& form : around.lower[d]) lower.push_back(frame.translate(form));
    for (const Affine& form : around.upper[d]) upper.push_back(frame.translate(form));
    auto form = coordinate(frame, lower, upper, sizes[d], confined);
    if (!form) return std::nullopt;
    forms.push_back(*form);
  }
  return forms;
}

// What the aggregation of a target is and where it starts.
void Maker::start(Frame& frame, Target& target, bool independent) {
  (void)frame;
  const View& around = *target.around;
  const bool may_continue = around.readable;
  if (around.ref.agg) {
    target.agg = around.ref.agg;
    target.dir = dice_.once_in(2) ? RefDir::out : RefDir::inout;
    return;
  }
  if (dice_.once_in(3)) target.agg = aggregation(around.ref.shape.type);
  // A part that an independent point reads before it writes it is its own.
  target.dir = may_continue && dice_.once_in(2) ? RefDir::inout : RefDir::out;
  (void)independent;
}

// What of the refinement around does not hold for a view of it; its location is said again or not.
void Maker::make_view_of(Frame& frame, Refinement& ref) {
  ref.swizzle.reset();
  ref.offset_bytes = 0;
  ref.tags = {};
  if (dice_.once_in(2)) ref.location.path.clear();
  for (stripe::LocationUnit& unit : ref.location.path)
    for (Affine& form : unit.units) form = frame.translate(form);
}

// `shared`: other points meet in it, so nothing may read it; it aggregates then.
void Maker::add_target(Frame& frame, const Target& target, bool leaf, bool overhang, bool shared) {
  const View& around = *target.around;
  Refinement ref = around.ref;
  ref.dir = target.dir;
  ref.from = around.ref.into;
  ref.into = frame.new_view_name(dice_.once_in(5) ? ref.from + "w" : ref.from);
  ref.access = target.access;
  for (size_t d = 0; d < target.sizes.size(); ++d) ref.shape.dims[d].size = target.sizes[d];
  ref.agg = target.agg;
  ref.is_const = false;
  make_view_of(frame, ref);
  View view;
  view.ref = ref;
  view.tensor = around.tensor;
  view.depth = around.depth;
  view.writable = true;
  view.overhangs = overhang;
  Reach reach = reach_inside(frame, around, ref.access, target.sizes, overhang);
  view.lower = std::move(reach.lower);
  view.upper = std::move(reach.upper);
  if (leaf)
    for (size_t d = 0; d < target.sizes.size(); ++d) {
      for (const Affine& form : view.lower[d]) frame.cut(Affine(0) - form);
      for (const Affine& form : view.upper[d]) frame.cut(form - (target.sizes[d] - 1));
    }
  view.readable = around.readable && ref.dir == RefDir::inout && !shared;
  // What grows is read now and then, in the order of the points.
  if (ref.agg && view.readable && !dice_.once_in(6)) view.readable = false;
  frame.block.refs.push_back(ref);
  frame.views.push_back(std::move(view));
}

bool Maker::add_read(Frame& frame, const View& around, bool leaf, bool wished) {
  std::vector<int64_t> sizes(around.ref.shape.rank(), 1);
  // Beyond the view there may be elements of the tensor that others write.
  const bool zero_fill = leaf && !wished && around.input && dice_.once_in(5);
  const bool chosen = leaf && !wished && !zero_fill && dice_.once_in(8);
  for (size_t d = 0; d < sizes.size(); ++d)
    if (wished && !leaf && !dice_.once_in(4))
      sizes[d] = std::max<int64_t>(1, around.ref.shape.dims[d].size);
    else if ((!leaf && !dice_.once_in(3)) || (chosen && dice_.once_in(2)))
      sizes[d] = dice_.between(1, std::max<int64_t>(1, around.ref.shape.dims[d].size));
  const bool confined = (leaf && !zero_fill) || wished || !dice_.once_in(4);
  auto forms = frame.may_walk && wished && dice_.once_in(2) ? walk(frame, around) : std::nullopt;
  if (!forms) forms = access(frame, around, sizes, confined);
  if (!forms) return false;
  Refinement ref = around.ref;
  ref.dir = RefDir::in;
  ref.from = around.ref.into;
  ref.into = frame.new_view_name(dice_.once_in(5) ? ref.from + "r" : ref.from);
  ref.access = *forms;
  for (size_t d = 0; d < sizes.size(); ++d) ref.shape.dims[d].size = sizes[d];
  ref.agg.reset();
  if (dice_.once_in(2)) ref.is_const = false;
  make_view_of(frame, ref);
  if (zero_fill) ref.tags.set("zero_fill");
  View view;
  view.ref = ref;
  view.tensor = around.tensor;
  view.depth = around.depth;
  view.readable = true;
  view.input = around.input;
  Reach reach = reach_inside(frame, around, ref.access, sizes, !leaf && dice_.once_in(4));
  view.lower = std::move(reach.lower);
  view.upper = std::move(reach.upper);
  if (zero_fill) {
    view.lower.assign(sizes.size(), {Affine(0)});
    view.upper.assign(sizes.size(), {Affine(0)});
  }
  view.wished = wished;
  frame.block.refs.push_back(ref);
  frame.views.push_back(std::move(view));
  return true;
}

void Maker::random_constraint(Frame& frame) {
  Affine form = random_form(frame);
  if (form.is_constant()) return;
  const Interval range = interval_of(form, frame.box);
  frame.block.constraints.push_back(form - dice_.between(range.lower, range.upper));
}

View& Maker::allocate(Frame& frame) {
  // Three dimensions where there are few points.
  return allocate(frame, type(), frame.points <= 2 && dice_.once_in(2) ? sizes(3, 4) : sizes(2, 4));
}

View& Maker::allocate(Frame& frame, DataType type, const std::vector<int64_t>& sizes) {
  Refinement ref;
  ref.dir = RefDir::none;
  ref.into = frame.new_view_name("T" + std::to_string(tensors_));
  ref.shape = shape(type, sizes);
  ref.access.assign(ref.shape.rank(), Affine(0));
  if (dice_.once_in(3)) {
    stripe::LocationUnit unit{dice_.once_in(2) ? "SRAM" : "REG", {}, {}};
    if (unit.name == "SRAM") {
      Affine bank(dice_.between(0, 3));
      // Each point in a bank of its own.
      for (const stripe::Index& index : frame.block.idxs)
        if (frame.box.at(index.name).lower >= 0 && frame.box.at(index.name).upper < 4 &&
            dice_.once_in(2))
          bank = Affine::of(index.name);
      unit.units = {bank};
    }
    ref.location.path = {unit};
  }
  const int64_t span = ref.shape.span_elements();
  if (span % 4 == 0 && span > 0 && dice_.once_in(4)) ref.swizzle = stripe::Swizzle{1, 0, 1};
  View view;
  view.ref = ref;
  view.tensor = tensors_++;
  view.depth = frame.depth;
  view.writable = true;
  for (const Dim& dim : ref.shape.dims) {
    view.lower.push_back({Affine(0)});
    view.upper.push_back({Affine(dim.size - 1)});
  }
  frame.block.refs.push_back(ref);
  frame.views.push_back(std::move(view));
  return frame.views.back();
}

// Statements that give every element of the view a value.
void Maker::write_all(Frame& frame, std::string name, int levels) {
  const View view = *frame.find(name);
  if (!view.ref.agg && is_confined(frame, view) && dice_.once_in(5)) {
    frame.block.stmts.push_back({stripe::Operation(stripe::Special{"zero", {}, {name}, {}})});
  } else if (!view.ref.agg && levels > 1 && is_confined(frame, view) && dice_.once_in(6)) {
    write_by_copy(frame, name, levels);
  } else {
    const Cover cover{name, sizes_of(view)};
    frame.block.stmts.push_back(block(frame, {&cover, "", {}}, levels));
  }
  if (!view.ref.agg) frame.find(name)->readable = true;
}

void Maker::special(Frame& frame) {
  std::vector<View*> to;
  for (View& view : frame.views)
    if (view.writable && !view.ref.agg && is_confined(frame, view)) to.push_back(&view);
  if (to.empty()) return;
  View& out = *dice_.one_of(to);
  for (const View& in : frame.views)
    if (in.readable && in.tensor != out.tensor && sizes_of(in) == sizes_of(out) &&
        is_confined(frame, in)) {
      frame.block.stmts.push_back(
          {stripe::Operation(stripe::Special{"copy", {in.ref.into}, {out.ref.into}, {}})});
      return;
    }
  frame.block.stmts.push_back({stripe::Operation(stripe::Special{"zero", {}, {out.ref.into}, {}})});
}

// What stands in a block that is no leaf.
void Maker::inside(Frame& frame, const Wish& wish, int levels) {
  enum class Do { cover, nest, wished, special, scalars, use_later, running };
  const Cover* cover = wish.cover;
  std::vector<Do> todo;
  for (size_t n = dice_.below(cover ? 2 : 3) + (cover ? 0 : 1); n > 0; --n)
    todo.push_back(Do::nest);
  if (dice_.once_in(8)) todo.push_back(Do::special);
  if (dice_.once_in(4)) todo.push_back(Do::scalars);
  if (levels > 1 && dice_.once_in(8)) todo.push_back(Do::use_later);
  if (levels > 1 && dice_.once_in(8)) todo.push_back(Do::running);
  auto somewhere = [&](Do one) {
    todo.insert(todo.begin() + static_cast<std::ptrdiff_t>(dice_.below(todo.size() + 1)), one);
  };
  if (cover) {
    somewhere(Do::cover);
  } else if (!wish.reads.empty()) {
    somewhere(Do::wished);
  }
  for (size_t n = dice_.once_in(2) ? 1 + dice_.below(2) : 0; n > 0; --n) {
    const std::string name = allocate(frame).ref.into;
    write_all(frame, name, std::min(levels - 1, 2));
  }
  // An output that is written as a whole here may be read here.
  if (!cover && dice_.once_in(3))
    for (size_t v = 0; v < frame.views.size(); ++v)
      if (frame.views[v].ref.dir == RefDir::out && !frame.views[v].ref.agg &&
          !frame.views[v].readable && !frame.views[v].overhangs) {
        write_all(frame, frame.views[v].ref.into, std::min(levels - 1, 2));
        break;
      }
  for (Do one : todo) switch (one) {
      case Do::cover: {
        const Cover inner{cover->view, sizes_of(*frame.find(cover->view))};
        frame.block.stmts.push_back(block(frame, {&inner, "", wish.reads}, levels - 1));
        if (!frame.find(cover->view)->ref.agg) frame.find(cover->view)->readable = true;
        break;
      }
      case Do::nest: frame.block.stmts.push_back(block(frame, {}, levels - 1)); break;
      case Do::wished: frame.block.stmts.push_back(block(frame, wish, levels - 1)); break;
      case Do::use_later: use_later(frame, "", levels - 1); break;
      case Do::running: running(frame, levels - 1); break;
      case Do::special: special(frame); break;
      case Do::scalars: scalars(frame, false); break;
    }
}

// Tags and location that the block may have.
void Maker::mark(Frame& frame, bool independent, bool leaf) {
  Block& block = frame.block;
  if (dice_.once_in(5)) block.tags.set("unroll");
  if (!independent) return;
  const auto own = std::count_if(block.idxs.begin(), block.idxs.end(), is_own);
  if (leaf && own == 1 && dice_.once_in(2)) {
    block.tags.remove("unroll");
    block.tags.set("vector");
    return;
  }
  switch (dice_.below(3)) {
    case 0: block.tags.set("parallel"); break;
    case 1: block.tags.set("pipeline", dice_.between(1, 3)); break;
    default: break;
  }
}

Block Maker::block(Frame& outer, const Wish& wish, int levels) {
  const Cover* cover = wish.cover;
  Frame frame;
  frame.outer = &outer;
  frame.depth = outer.depth + 1;
  frame.points = outer.points;
  frame.located = outer.located;
  frame.may_cut = !cover;
  const bool leaf = levels <= 1 || dice_.once_in(3);
  View* around = cover                 ? outer.find(cover->view)
                 : wish.target.empty() ? pick_target(outer)
                                       : outer.find(wish.target);
  if (!around) return std::move(frame.block);
  frame.block.tags = tags();

  // Points are independent of each other: each has a part of the target of its own, or all meet in
  // one aggregation.
  const bool independent = wish.lanes || dice_.once_in(2);
  Target target;
  target.around = around;
  target.sizes = cover ? cover->sizes : sizes_of(*around);
  start(frame, target, independent);
  const bool meets = independent && target.agg.has_value() && !cover;
  if (cover || (independent && !meets)) dedicate_indices(frame, target, cover != nullptr, leaf);
  if (!independent || target.agg) extra_indices(frame);
  const bool shared = independent && target.agg.has_value();
  if (target.access.size() < target.sizes.size() || (!cover && !independent)) {
    target.access.clear();
    target.chosen = leaf && !independent && dice_.once_in(5) &&
                    !(target.agg && target.dir == RefDir::out) && !around->ref.agg;
    for (int64_t& size : target.sizes)
      size = (leaf && !(target.chosen && dice_.once_in(2)))
                 ? 1
                 : dice_.between(1, std::max<int64_t>(1, size));
    auto forms = access(frame, *around, target.sizes, leaf || !dice_.once_in(4));
    if (!forms) return Block();
    target.access = std::move(*forms);
  }
  const bool overhang = !cover && !independent && !leaf && dice_.once_in(4);
  add_target(frame, target, leaf, overhang, shared);
  frame.may_walk = leaf && (!independent || target.agg);
  Wish inner{nullptr, frame.views.front().ref.into, {}};
  std::set<int> written = {around->tensor};
  if (View* more = pick_target(outer); more && dice_.once_in(4) && !written.count(more->tensor)) {
    Target second;
    second.around = more;
    start(frame, second, independent);
    if (independent && !second.agg) second.agg = aggregation(more->ref.shape.type);
    second.sizes.assign(more->ref.shape.rank(), 1);
    if (auto forms = access(frame, *more, second.sizes, true);
        forms && (second.agg || !independent)) {
      second.access = std::move(*forms);
      add_target(frame, second, leaf, false, independent);
      written.insert(more->tensor);
    }
  }
  std::vector<const View*> readable;
  for (const View& view : outer.views)
    if (view.readable && !(independent && written.count(view.tensor))) readable.push_back(&view);
  for (size_t n = readable.empty() ? 0 : dice_.below(4); n > 0; --n)
    add_read(frame, *dice_.one_of(readable), leaf);
  // A second view of what is written: a point may read what another one has left.
  if (!independent && around->readable && dice_.once_in(4)) add_read(frame, *around, leaf, true);
  for (const std::string& name : wish.reads)
    if (const View* view = outer.find(name); view->readable &&
                                             !(independent && written.count(view->tensor)) &&
                                             add_read(frame, *view, leaf, true))
      inner.reads.push_back(frame.views.back().ref.into);
  if (frame.may_cut && dice_.once_in(6)) random_constraint(frame);

  if (independent && !frame.located && !(leaf && dice_.once_in(2)) && dice_.once_in(3)) {
    stripe::LocationUnit unit{dice_.once_in(3) ? "CONV" : "CORE", {}, {}};
    std::vector<Affine> own;
    for (const stripe::Index& index : frame.block.idxs)
      if (is_own(index)) own.push_back(Affine::of(index.name));
    if (!own.empty() && dice_.once_in(2)) {
      unit.units = {dice_.one_of(own)};
    } else if (dice_.once_in(2)) {
      unit.units = {Affine(dice_.between(0, 1))};
    }
    frame.block.location.path = {unit};
    frame.located = true;
  }
  if (wish.lanes) {
    Affine number(0);
    for (const stripe::Index& index : frame.block.idxs)
      if (is_own(index) && index.range > 1) number = Affine::of(index.name);
    frame.block.location.path = {{"LANE", {number}, {}}};
  }
  if (leaf) {
    scalars(frame, true);
  } else {
    const Cover all{inner.target, {}};
    if (cover) inner.cover = &all;
    inside(frame, inner, levels);
  }
  if (!wish.lanes) mark(frame, independent, leaf);
  if (dice_.once_in(5)) write_dependencies(frame, dice_.once_in(2));
  if (!cover && !wish.lanes && dice_.once_in(40) && !frame.block.idxs.empty() &&
      !frame.block.tags.has("vector"))
    for (stripe::Index& index : frame.block.idxs)
      if (!index.affine) index.range = 0;
  return std::move(frame.block);
}

}  // namespace stria::trust
