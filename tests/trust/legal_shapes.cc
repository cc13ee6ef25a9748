// SPDX-License-Identifier: Apache-2.0
// Several statements that belong together: what passes look for, where a mistake would show.
#include <algorithm>

#include "maker.h"

namespace stria::trust {

using stripe::Block;
using stripe::Operation;
using stripe::RefDir;

namespace {

// The view, with nothing but these coordinates of a dimension.
View only(const View& view, size_t dim, int64_t lower, int64_t upper) {
  View out = view;
  out.lower[dim] = {Affine(lower)};
  out.upper[dim] = {Affine(upper)};
  return out;
}

}  // namespace

DataType Maker::type_like(DataType other) {
  DataType found = type();
  while (is_float(found) != is_float(other)) found = type();
  return found;
}

void Maker::write_by_copy(Frame& frame, const std::string& name, int levels) {
  const View to = *frame.find(name);
  const std::string from =
      allocate(frame, type_like(to.ref.shape.type), to.ref.shape.sizes()).ref.into;
  const Cover all{from, to.ref.shape.sizes()};
  frame.block.stmts.push_back(block(frame, {&all, "", {}}, levels - 1));
  frame.find(from)->readable = true;
  frame.block.stmts.push_back({Operation(stripe::Special{"copy", {from}, {name}, {}})});
  // Nothing else reads it, for the most part.
  if (dice_.once_in(3)) return;
  frame.find(from)->readable = frame.find(from)->writable = false;
}

void Maker::use_later(Frame& frame, std::string target, int levels) {
  if (target.empty()) {
    const View* view = pick_target(frame);
    if (!view) return;
    target = view->ref.into;
  }
  const DataType like = type_like(frame.find(target)->ref.shape.type);
  const std::string made = allocate(frame, like, sizes(frame.points <= 2 ? 3 : 2, 4)).ref.into;
  frame.find(made)->writable = false;  // by others
  write_all(frame, made, std::min(levels, 2));
  const bool readable = frame.find(target)->readable;
  Wish between{nullptr, target, {}};
  if (readable && dice_.once_in(2)) between = {nullptr, "", {target}};
  frame.block.stmts.push_back(block(frame, between, std::min(levels, 2)));
  frame.block.stmts.push_back(block(frame, {nullptr, target, {made}}, std::min(levels, 3)));
  if (dice_.once_in(2)) frame.find(made)->readable = false;
}

std::optional<std::vector<Affine>> Maker::walk(Frame& frame, const View& around) {
  std::vector<Interval> box;
  int64_t points = frame.points;
  for (size_t d = 0; d < around.ref.shape.rank(); ++d) {
    Interval part{0, around.ref.shape.dims[d].size - 1};
    for (const Affine& form : around.lower[d]) {
      if (!form.is_constant()) return std::nullopt;
      part.lower = std::max(part.lower, form.constant());
    }
    for (const Affine& form : around.upper[d]) {
      if (!form.is_constant()) return std::nullopt;
      part.upper = std::min(part.upper, form.constant());
    }
    if (part.empty()) return std::nullopt;
    points *= part.upper - part.lower + 1;
    box.push_back(part);
  }
  if (points > 2 * options_.points) return std::nullopt;
  frame.points = points;
  std::vector<Affine> forms;
  for (const Interval& part : box) {
    forms.push_back(Affine(part.lower));
    if (part.lower == part.upper) continue;
    const std::string name = frame.new_index_name(dice_.next());
    frame.block.idxs.push_back({name, part.upper - part.lower + 1, std::nullopt, {}});
    frame.box[name] = {0, part.upper - part.lower};
    forms.back() += Affine::of(name);
  }
  std::reverse(frame.block.idxs.begin(), frame.block.idxs.end());
  if (dice_.once_in(2)) std::reverse(frame.block.idxs.begin(), frame.block.idxs.end());
  return forms;
}

Block Maker::step(Frame& around, const std::string& buffer, size_t dim, std::optional<int64_t> from,
                  int64_t to, const Affine& form) {
  Frame frame;
  frame.outer = &around;
  frame.depth = around.depth + 1;
  frame.points = around.points;
  frame.located = around.located;
  frame.may_cut = false;
  frame.block.tags = tags();
  const View& view = *around.find(buffer);
  if (!from) {
    const Affine here = frame.translate(form);
    frame.block.constraints = {Affine(0) - here};
  }
  Target target;
  const View written = only(view, dim, to, to);
  target.around = &written;
  for (size_t d = 0; d < view.ref.shape.rank(); ++d) {
    target.sizes.push_back(1);
    target.access.push_back(Affine(to));
    if (d == dim) continue;
    const std::string name = frame.new_index_name(dice_.next());
    const int64_t size = view.ref.shape.dims[d].size;
    frame.block.idxs.push_back({name, size, std::nullopt, {}});
    frame.box[name] = {0, size - 1};
    target.access.back() = Affine::of(name);
  }
  if (from) {
    const View read = only(view, dim, *from, *from);
    add_read(frame, read, true, true);
  }
  for (const View& other : around.views)
    if (other.readable && other.tensor != view.tensor && dice_.once_in(2))
      add_read(frame, other, true);
  add_target(frame, target, true, false, false);
  scalars(frame, true);
  return std::move(frame.block);
}

void Maker::running(Frame& frame, int levels) {
  const View* chosen = pick_target(frame);
  if (!chosen) return;
  const std::string target = chosen->ref.into;
  const int64_t steps = dice_.between(2, 4);
  if (steps * frame.points > options_.points) return;
  // From coordinate `from` of its part a point goes on to `to`, where the next one's `from` is.
  const int64_t stride = dice_.once_in(3) ? 0 : dice_.between(1, 2);
  const bool backwards = stride > 0 && dice_.once_in(4);
  const int64_t from = backwards ? stride : 0, to = backwards ? 0 : stride;
  const int64_t length = stride * steps + 1 + (dice_.once_in(4) ? 1 : 0);
  std::vector<int64_t> sizes = {length};
  size_t dim = 0;
  if (dice_.once_in(3)) {
    dim = dice_.below(2);
    sizes.insert(dim == 0 ? sizes.end() : sizes.begin(), dice_.between(2, 3));
  }
  const std::string buffer = allocate(frame, type_like(chosen->ref.shape.type), sizes).ref.into;
  frame.find(buffer)->writable = false;  // by others

  Frame inner;
  inner.outer = &frame;
  inner.depth = frame.depth + 1;
  inner.points = frame.points * steps;
  inner.located = frame.located;
  inner.may_cut = false;  // a point that is left out would hand nothing on
  inner.block.tags = tags();
  auto add_index = [&](int64_t range) {
    const std::string name = inner.new_index_name(dice_.next());
    inner.block.idxs.push_back({name, range, std::nullopt, {}});
    inner.box[name] = {0, range - 1};
    return name;
  };
  const std::string own = add_index(steps);
  Affine first = Affine::of(own);
  if (dice_.once_in(3) && inner.points * 2 <= options_.points) {
    const std::string more = add_index(2);
    inner.points *= 2;
    if (dice_.once_in(2)) first += Affine::of(more);
    if (dice_.once_in(2)) std::swap(inner.block.idxs[0], inner.block.idxs[1]);
  }

  // The part of a point is as large as what it touches, or smaller.
  Target part;
  part.around = frame.find(buffer);
  part.dir = RefDir::inout;
  part.sizes = sizes;
  part.sizes[dim] = dice_.once_in(2) ? stride + 1 : dice_.between(1, stride + 1);
  part.access.assign(sizes.size(), Affine(0));
  part.access[dim] =
      backwards ? Affine(stride * (steps - 1)) - Affine::of(own, stride) : Affine::of(own, stride);
  add_target(inner, part, false, part.sizes[dim] <= stride, false);
  View& view = inner.views.back();
  view = only(view, dim, 0, stride);
  view.writable = false;  // by others
  const std::string name = view.ref.into;

  for (size_t n = dice_.below(3); n > 0; --n) {
    const View& other = dice_.one_of(frame.views);
    if (other.readable) add_read(inner, other, false);
  }
  Target all;
  all.around = frame.find(target);
  start(inner, all, false);
  all.sizes = all.around->ref.shape.sizes();
  all.access.assign(all.sizes.size(), Affine(0));
  add_target(inner, all, false, false, false);
  const std::string into = inner.views.back().ref.into;

  std::vector<stripe::Statement>& stmts = inner.block.stmts;
  stmts.push_back(step(inner, name, dim, std::nullopt, from, first));
  stmts.push_back(step(inner, name, dim, from, to, Affine(0)));
  // Between the two, only every `stride`th has been written.
  View& made = *inner.find(name);
  if (stride > 1) made = only(made, dim, to, to);
  made.readable = true;
  stmts.push_back(block(inner, {nullptr, into, {name}}, std::min(levels, 2)));
  if (dice_.once_in(5)) write_dependencies(inner, dice_.once_in(2));
  frame.block.stmts.push_back(std::move(inner.block));
  if (!dice_.once_in(3) || stride > 1) return;
  View& left = *frame.find(buffer);
  left = only(left, dim, 0, stride * steps);
  left.readable = true;
}

}  // namespace stria::trust
