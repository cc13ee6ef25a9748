// SPDX-License-Identifier: Apache-2.0
// Work groups (S11, S12): a located block whose lane blocks share buffers, with barriers between,
// and hold others, each lane its own elements.
#include <algorithm>

#include "maker.h"

namespace stria::trust {

using stripe::Block;
using stripe::Operation;
using stripe::RefDir;

namespace {

constexpr int64_t kLanes = 4, kLaneBits = 2;

stripe::Statement barrier() { return {Operation(stripe::Special{"barrier", {}, {}, {}})}; }

}  // namespace

Block Maker::own_elements(Frame& around, const std::string& from, const std::string& to) {
  Frame frame;
  frame.outer = &around;
  frame.depth = around.depth + 1;
  frame.points = around.points;
  frame.located = true;
  frame.may_cut = false;
  frame.block.tags = tags();
  const View into = *around.find(to);
  frame.block.idxs = {{"l", kLanes, std::nullopt, {}},
                      {"s", into.ref.shape.dims[0].size / kLanes, std::nullopt, {}}};
  for (const stripe::Index& index : frame.block.idxs) frame.box[index.name] = {0, index.range - 1};
  frame.block.location.path = {{"LANE", {Affine::of("l")}, {}}};
  if (dice_.once_in(2)) std::swap(frame.block.idxs[0], frame.block.idxs[1]);
  const std::vector<Affine> access = {Affine::of("l") + Affine::of("s", kLanes)};
  if (!from.empty()) {
    // The same element, for others' are elsewhere.
    Target read;
    read.around = around.find(from);
    read.dir = RefDir::in;
    read.access = access;
    read.sizes = {1};
    add_target(frame, read, true, false, false);
    View& view = frame.views.back();
    view.readable = view.wished = true;
    view.writable = false;
  }
  for (const View& other : around.views)
    if (other.readable && other.ref.into != from && other.ref.location.path.empty() &&
        dice_.once_in(2))
      add_read(frame, other, true);
  Target target;
  target.around = &into;
  target.access = access;
  target.sizes = {1};
  add_target(frame, target, true, false, false);
  scalars(frame, true);
  return std::move(frame.block);
}

void Maker::lanes(Frame& frame, std::string target, bool again) {
  const DataType like = frame.find(target)->ref.shape.type;
  auto shared = [&](const std::vector<int64_t>& sizes) {
    View& view = allocate(frame, type_like(like), sizes);
    view.ref.location.path.clear();
    if (dice_.once_in(2)) view.ref.location.path = {{"SRAM", {Affine(0)}, {}}};
    view.writable = false;  // by others
    frame.block.refs.back() = view.ref;
    return view.ref.into;
  };
  std::vector<stripe::Statement>& stmts = frame.block.stmts;
  for (int n = dice_.once_in(3) ? 2 : 1; n > 0; --n) {
    std::string buffer;
    if (dice_.once_in(3)) {
      // Through elements that the lanes hold.
      const int64_t bits = dice_.between(1, 2), size = kLanes << bits;
      View& view = allocate(frame, type_like(like), {size});
      view.ref.swizzle.reset();
      view.ref.shape = dense_shape(view.ref.shape.type, {size});
      view.ref.location.path = {{"REG",
                                 {},
                                 {{"lane", {0, {{0, 0, kLaneBits, 1}}}},
                                  {"slot", {0, {{0, kLaneBits, static_cast<int>(bits), 1}}}}}}};
      view.writable = false;
      frame.block.refs.back() = view.ref;
      const std::string held = view.ref.into;
      buffer = shared({size});
      stmts.push_back(own_elements(frame, "", held));
      if (dice_.once_in(2)) stmts.push_back(barrier());
      stmts.push_back(own_elements(frame, held, buffer));
    } else {
      buffer = shared(sizes(2, 4));
      const Cover all{buffer, frame.find(buffer)->ref.shape.sizes()};
      Wish wish{&all, "", {}};
      wish.lanes = true;
      stmts.push_back(block(frame, wish, dice_.once_in(3) ? 2 : 1));
    }
    frame.find(buffer)->readable = true;
    stmts.push_back(barrier());
    Wish wish{nullptr, target, {buffer}};
    wish.lanes = true;
    stmts.push_back(block(frame, wish, dice_.once_in(3) ? 2 : 1));
    if (n > 1 || again || dice_.once_in(2)) stmts.push_back(barrier());
  }
}

void Maker::group(Frame& outer) {
  const View* chosen = pick_target(outer);
  if (!chosen || outer.located) return;
  auto inside = [&](Frame& around, const std::string& target, bool shared, bool start_here) {
    Frame frame;
    frame.outer = &around;
    frame.depth = around.depth + 1;
    frame.points = around.points;
    frame.may_cut = false;
    frame.located = true;
    frame.block.tags = tags();
    Target all;
    all.around = around.find(target);
    if (start_here) {
      start(frame, all, false);
    } else {
      all.agg = all.around->ref.agg;
      all.dir = all.around->ref.dir;
    }
    all.sizes = all.around->ref.shape.sizes();
    all.access.assign(all.sizes.size(), Affine(0));
    add_target(frame, all, false, false, shared);
    return frame;
  };
  Frame frame = inside(outer, chosen->ref.into, false, true);
  frame.block.location.path = {{"CONV", {}, {}}};
  // Groups at once meet in an aggregation.
  const bool at_once = frame.views[0].ref.agg && dice_.once_in(2);
  if (at_once) frame.views[0].readable = false;
  auto add_index = [&](Frame& to, int64_t range) {
    const std::string name = to.new_index_name(dice_.next());
    to.block.idxs.push_back({name, range, std::nullopt, {}});
    to.box[name] = {0, range - 1};
    to.points *= range;
    return name;
  };
  if (at_once || dice_.once_in(3)) {
    const std::string name = add_index(frame, 2);
    if (at_once) frame.block.location.path[0].units = {Affine::of(name)};
  }
  auto add_reads = [&](Frame& to, const Frame& around) {
    for (const View& view : around.views)
      if (view.readable && view.tensor != to.views[0].tensor && dice_.once_in(2))
        add_read(to, view, false);
  };
  add_reads(frame, outer);
  const std::string target = frame.views[0].ref.into;
  const bool loop = dice_.once_in(2);
  // What is read at the next point has been written behind a barrier.
  lanes(frame, target, loop || (!frame.block.idxs.empty() && !at_once));
  if (loop) {
    // Every pass has its own buffers.
    Frame pass = inside(frame, target, at_once, false);
    add_index(pass, 2);
    add_reads(pass, frame);
    lanes(pass, pass.views[0].ref.into, true);
    frame.block.stmts.push_back(std::move(pass.block));
  }
  outer.block.stmts.push_back(std::move(frame.block));
}

}  // namespace stria::trust
