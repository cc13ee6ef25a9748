// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/copies.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "stria/base/text.h"
#include "stria/rewrite/accumulator.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/rewrite/whole_copy.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Place;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// --- blocks that copy ---

const char* const kCopied = "value";

// An element of a tensor, over the indices of the copy block.
struct Element {
  const Refinement& tensor;
  std::vector<Affine> at;
};

Refinement view_of(const Element& element, RefDir dir) {
  Refinement view = element_view(element.tensor, dir);
  view.access = element.at;
  view.is_const = dir == RefDir::in && element.tensor.is_const;
  return view;
}

// A copy of one element at each point. `points` has only indices and constraints.
Block copy_at(Block points, const Element& from, const Element& to,
              const stripe::Location& xfer_loc, const std::vector<std::string>& tags) {
  points.refs = {view_of(from, RefDir::in), view_of(to, RefDir::out)};
  points.stmts.emplace_back(stripe::Load{points.refs[0].into, kCopied});
  points.stmts.emplace_back(stripe::Store{kCopied, points.refs[1].into});
  points.tags.set_all(tags);
  points.location = xfer_loc;
  return points;
}

// A block with a point for each element of a box; `at` is set to the element's coordinates. A
// dimension of one element has no index.
Block points_of_box(const std::vector<int64_t>& sizes, std::vector<Affine>& at) {
  Block points;
  at.resize(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] <= 1) continue;
    stripe::Index index;
    index.name = points.fresh_name(fmt::format("i{}", d));
    index.range = sizes[d];
    at[d] = Affine::of(index.name);
    points.idxs.push_back(std::move(index));
  }
  return points;
}

// --- copy-in ---

// May this part of the view reach beyond the tensor?
bool reaches_beyond(const Place& place, const Refinement& ref, const std::vector<Interval>& part) {
  std::vector<Interval> begin;
  const Refinement* bounds = outermost_view(place, ref, &begin);
  if (!bounds) return true;
  for (size_t d = 0; d < part.size(); ++d)
    if (begin[d].lower + part[d].lower < 0 ||
        begin[d].upper + part[d].upper >= bounds->shape.dims[d].size)
      return true;
  return false;
}

bool uses_clamps(const Block& block, const std::string& name) {
  for (const Refinement& ref : block.refs)
    if (ref.dir != RefDir::none && ref.from == name) {
      if (ref.tags.has(stripe::tag::kClamp) || ref.tags.has(stripe::tag::kZeroFill)) return true;
      for (const Statement& stmt : block.stmts)
        if (stmt.block() && uses_clamps(*stmt.block(), ref.into)) return true;
    }
  return false;
}

// May the block's allocation hold poison, because a statement fills it with `#clamp` from beyond a
// tensor's end? No point that runs uses the poison, but a copy of the whole would read it.
bool holds_edges(const Block& block, const std::string& name) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
    const Block* inner = stmt.block();
    const Refinement* view = inner ? find_view(*inner, name) : nullptr;
    return view && view->dir == RefDir::out &&
           std::any_of(inner->refs.begin(), inner->refs.end(),
                       [](const Refinement& ref) { return ref.tags.has(stripe::tag::kClamp); });
  });
}

// Does the block, or a block inside, load through the refinement?
bool reads(const Block& block, const std::string& name) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
    if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) return load->from == name;
    if (const stripe::Special* special = stmt.special())
      return std::count(special->inputs.begin(), special->inputs.end(), name) > 0;
    const Block* inner = stmt.block();
    return inner && std::any_of(inner->refs.begin(), inner->refs.end(), [&](const Refinement& ref) {
             return ref.dir != RefDir::none && ref.from == name && reads(*inner, ref.into);
           });
  });
}

Refusal why_edges_matter(const Block& host, const Refinement& ref) {
  for (const Statement& stmt : host.stmts)
    if (const Block* inner = stmt.block(); inner && uses_clamps(*inner, ref.into))
      return "it is read beyond its end";
  if (ref.tags.has(stripe::tag::kClamp) || ref.tags.has(stripe::tag::kZeroFill))
    return "it is read beyond its end";
  for (const Dim& dim : ref.shape.dims)
    if (dim.size < 1) return "the size of its part is not known";
  return Refusal::none();
}

Refusal why_not_copied_in(const Block& host, const Place& place, PlaceNames& names,
                          const Refinement& ref) {
  // Points of the blocks around may run in parallel, so none of them may write what is read here.
  const std::string tensor = names.inside(place).of(ref.into);
  for (const Place* at = &place; at && at->depth > 1; at = at->parent) {
    const TensorNames known = names.inside(*at);
    bool allocates = false;
    for (const Refinement& other : at->block->refs) {
      if (known.of(other.into) != tensor || other.dir == RefDir::in) continue;
      if (other.dir != RefDir::none) return "a block around writes the tensor, too";
      allocates = true;
      if (holds_edges(*at->block, other.into)) return "its edges hold nothing that may be used";
    }
    if (allocates) break;
  }
  for (const Statement& stmt : host.stmts) {
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    const stripe::Special* special = stmt.special();
    if (load && load->from == ref.into) return "the block itself loads it";
    if (special && std::count(special->inputs.begin(), special->inputs.end(), ref.into))
      return "a special of the block reads it";
  }
  return why_edges_matter(host, ref);
}

// The position of the host's first block that views the tensor; the number of statements if none
// does.
size_t first_user(const Block& host, const std::string& tensor) {
  size_t first = 0;
  for (; first < host.stmts.size(); ++first)
    if (const Block* inner = host.stmts[first].block(); inner && find_view(*inner, tensor)) break;
  return first;
}

// For each dimension, the common divisor of the distances of all read elements from the first one.
std::vector<int64_t> gaps(const Block& host, const Place& place, const std::string& tensor,
                          const std::vector<Interval>& touched) {
  std::vector<int64_t> steps(touched.size());
  for (const Statement& stmt : host.stmts) {
    const Block* user = stmt.block();
    if (!user) continue;
    for (const Refinement& view : user->refs) {
      if (view.dir == RefDir::none || view.from != tensor) continue;
      const std::vector<Interval> part =
          stripe::reach_of_view(*user, view, user->index_box(place.box));
      for (size_t d = 0; d < steps.size(); ++d)
        steps[d] = part[d] == Interval{0, 0}
                       ? (view.access[d] - Affine(touched[d].lower)).common_divisor(steps[d])
                       : 1;
    }
  }
  for (int64_t& step : steps) step = std::max<int64_t>(1, step);
  return steps;
}

// --- copy-out ---

// Finds the write domains of the host's statements in the tensor; equal ones are kept once.
// `is_read`: what was there before has been copied in.
Refusal find_writers(Block& host, const Place& place, const std::string& name, bool views_apart,
                     bool is_read, std::vector<WriteDomain>& nests) {
  const Refinement& ref = *host.find_ref(name);
  const std::vector<Block*> blocks = path_from_kernel(host, place);
  const std::vector<const Block*> path(blocks.begin(), blocks.end());
  if (ref.dir != RefDir::out && !is_read) return "what was there before matters";
  for (const Refinement& other : host.refs)
    if (!views_apart && &other != &ref && other.dir != RefDir::none && other.from == ref.from)
      return "the block has another view of it";
  if (ref.agg && !writes_each_element_once(path, name)) return "its sums go on from point to point";
  size_t writers = 0;
  for (Statement& stmt : host.stmts) {
    if (uses_itself(stmt, name)) return "a statement of the block that is no block uses it";
    Block* inner = stmt.block();
    if (!inner) continue;
    for (const Refinement& view : inner->refs) {
      if (view.dir == RefDir::none || view.from != name) continue;
      if (!is_read && (view.dir == RefDir::in || (view.dir == RefDir::inout && !view.agg) ||
                       stripe::is_loaded(*inner, view)))
        return "the block reads what it writes of it";
      if (view.dir != RefDir::in) ++writers;
    }
    for (const std::vector<Block*>& chain : writing_chains(*inner, name, false)) {
      for (Block* block : chain) start_indices_at_zero(*block);
      WriteDomain nest = write_domain(path, {chain.begin(), chain.end()}, name);
      if (nest.refusal) return nest.refusal;
      if (std::find(nests.begin(), nests.end(), nest) == nests.end())
        nests.push_back(std::move(nest));
    }
  }
  if (nests.empty()) return "nothing writes it";
  if (ref.agg && writers > 1) return "several sums follow one another in it";
  if (!are_apart(nests)) return "its writers write some elements together, and others alone";
  return Refusal::none();
}

// The begin and the sizes of the box that is written.
void bound_part(const std::vector<WriteDomain>& nests, std::vector<int64_t>& begin,
                std::vector<int64_t>& sizes) {
  for (size_t d = 0; d < nests[0].access.size(); ++d) {
    Interval written;
    for (const WriteDomain& nest : nests) {
      std::map<std::string, Interval> box;
      for (const stripe::Index& index : nest.indices) box[index.name] = {0, index.range - 1};
      const Interval part = interval_of(nest.access[d], box);
      written = written.empty() ? part
                                : Interval{std::min(written.lower, part.lower),
                                           std::max(written.upper, part.upper)};
    }
    begin.push_back(written.lower);
    sizes.push_back(written.upper - written.lower + 1);
  }
}

// Copies what has been written back to the tensor. The buffer begins at `begin` of it.
void add_copies_out(Block& host, const Refinement& tensor, const Refinement& buffer,
                    const std::vector<int64_t>& begin, const std::vector<WriteDomain>& nests,
                    const CopySpec& spec) {
  for (const WriteDomain& nest : nests) {
    Block points;
    points.idxs = nest.indices;
    constrain_to(points, nest);
    std::vector<Affine> in_buffer = nest.access;
    for (size_t d = 0; d < begin.size(); ++d) in_buffer[d] -= begin[d];
    host.stmts.emplace_back(copy_at(std::move(points), {buffer, std::move(in_buffer)},
                                    {tensor, nest.access}, spec.xfer_loc, spec.out_tags));
  }
}

}  // namespace

// --- one tensor of a block ---

const Refinement* outermost_view(const Place& place, const Refinement& ref,
                                 std::vector<Interval>* begin) {
  if (begin) begin->assign(ref.access.size(), Interval{0, 0});
  const Refinement* view = &ref;
  for (const Place* at = &place; view && view->dir != RefDir::none && at->depth > 1;
       at = at->parent) {
    for (size_t d = 0; begin && d < begin->size(); ++d) {
      const Interval step = interval_of(view->access[d], at->box);
      (*begin)[d] = {(*begin)[d].lower + step.lower, (*begin)[d].upper + step.upper};
    }
    view = at->parent->block->find_ref(view->from);
  }
  return view;
}

std::vector<Block*> path_from_kernel(Block& host, const Place& place) {
  std::vector<Block*> path = {&host};
  for (const Place* at = place.parent; at && at->depth > 1; at = at->parent)
    path.insert(path.begin(), const_cast<Block*>(at->block));
  return path;
}

Refusal why_no_room(const TensorShape& buffer, const stripe::Location& loc,
                    const HardwareModel& model, int64_t in_use, int64_t instances) {
  if (loc.empty()) return Refusal::none();
  const std::string& name = loc.path.back().name;
  const MemoryUnit* memory = model.find_memory(name);
  if (!memory || memory->size_bytes <= 0) return Refusal::none();
  int64_t room = 0;
  if (__builtin_mul_overflow(memory->size_bytes, instances, &room))
    room = std::numeric_limits<int64_t>::max();
  const int64_t bytes = buffer.span_bytes();
  if (bytes <= room - in_use) return Refusal::none();
  return fmt::format("a copy of {} bytes does not fit into {}, which holds {}{}", bytes, name, room,
                     in_use > 0 ? fmt::format(", {} of them in use", in_use) : "");
}

Refusal plan_copy_in(const Block& host, const Place& place, PlaceNames& names,
                     const std::string& tensor, bool skip_gaps, CopyIn& plan) {
  const Refinement& ref = *host.find_ref(tensor);
  STRIA_RETURN_IF_REFUSED(why_not_copied_in(host, place, names, ref));
  // If nothing is loaded through the view, a copy would only add accesses and barriers.
  if (first_user(host, tensor) == host.stmts.size() || !reads(host, tensor))
    return "nothing uses it";
  plan.tensor = tensor;
  plan.part = stripe::reach_of_view(host, ref, place.box);
  plan.steps =
      skip_gaps ? gaps(host, place, tensor, plan.part) : std::vector<int64_t>(plan.part.size(), 1);
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < plan.part.size(); ++d)
    sizes.push_back((plan.part[d].upper - plan.part[d].lower) / plan.steps[d] + 1);
  plan.shape = dense_shape(ref.shape.type, sizes);
  return Refusal::none();
}

void add_copy_in(Block& host, const Place& place, const CopyIn& plan, const CopySpec& spec) {
  const Refinement& tensor = *host.find_ref(plan.tensor);
  Refinement buffer = make_buffer(host.fresh_name(plan.tensor + "_scratch"), plan.shape, spec.loc);
  std::vector<Affine> in_buffer, in_tensor;
  Block points = points_of_box(plan.shape.sizes(), in_buffer);
  std::vector<int64_t> begin;
  for (size_t d = 0; d < plan.part.size(); ++d) {
    begin.push_back(plan.part[d].lower);
    in_tensor.push_back(in_buffer[d] * plan.steps[d] + begin[d]);
  }
  Block copy = copy_at(std::move(points), {tensor, std::move(in_tensor)},
                       {buffer, std::move(in_buffer)}, spec.xfer_loc, spec.in_tags);
  if (reaches_beyond(place, tensor, plan.part)) copy.refs[0].tags.set(spec.edges);
  const auto first = static_cast<std::ptrdiff_t>(first_user(host, plan.tensor));
  for (Statement& stmt : host.stmts) view_buffer(stmt, plan.tensor, buffer, begin, plan.steps);
  host.refs.push_back(std::move(buffer));
  host.stmts.emplace(host.stmts.begin() + first, std::move(copy));
  run_in_order(host);
}

Refusal copy_in(Block& host, const Place& place, PlaceNames& names, const std::string& tensor,
                const CopySpec& spec, PassContext& context) {
  CopyIn plan;
  STRIA_RETURN_IF_REFUSED(plan_copy_in(host, place, names, tensor, false, plan));
  STRIA_RETURN_IF_REFUSED(why_no_room(plan.shape, spec.loc, context.model()));
  add_copy_in(host, place, plan, spec);
  context.count("tensors_fetched");
  return Refusal::none();
}

Refusal copy_out(Block& host, const Place& place, const std::string& tensor, const CopySpec& spec,
                 bool views_apart) {
  std::vector<WriteDomain> nests;
  STRIA_RETURN_IF_REFUSED(find_writers(host, place, tensor, views_apart, false, nests));
  std::vector<int64_t> begin, sizes;
  bound_part(nests, begin, sizes);
  Refinement& ref = *host.find_ref(tensor);
  Refinement buffer = make_buffer(host.fresh_name(tensor + "_scratch"),
                                  dense_shape(ref.shape.type, sizes), spec.loc);
  const bool sums = ref.agg.has_value();
  ref.agg.reset();
  for (Statement& stmt : host.stmts) {
    view_buffer(stmt, tensor, buffer, begin);
    Block* inner = stmt.block();
    if (!inner || !sums) continue;
    // The outermost view with an aggregation decides where it starts (S6).
    for (Refinement& view : inner->refs)
      if (view.from == buffer.into && view.dir != RefDir::none) view.dir = RefDir::out;
  }
  add_copies_out(host, ref, buffer, begin, nests, spec);
  host.refs.push_back(std::move(buffer));
  run_in_order(host);
  return Refusal::none();
}

Refusal copy_in_and_out(Block& host, const Place& place, const std::string& tensor,
                        const CopySpec& spec) {
  const Refinement& ref = *host.find_ref(tensor);
  if (ref.agg) return "its sums go on from point to point";
  STRIA_RETURN_IF_REFUSED(why_edges_matter(host, ref));
  std::vector<WriteDomain> nests;
  STRIA_RETURN_IF_REFUSED(find_writers(host, place, tensor, false, true, nests));
  CopyIn plan{tensor, stripe::reach_of_view(host, ref, place.box), {}, {}};
  plan.steps.assign(plan.part.size(), 1);
  std::vector<int64_t> sizes, begin;
  for (const Interval& part : plan.part) {
    begin.push_back(part.lower);
    sizes.push_back(part.upper - part.lower + 1);
  }
  plan.shape = dense_shape(ref.shape.type, sizes);
  add_copy_in(host, place, plan, spec);
  const Refinement buffer = host.refs.back();
  add_copies_out(host, *host.find_ref(tensor), buffer, begin, nests, spec);
  host.find_ref(tensor)->dir = RefDir::inout;
  return Refusal::none();
}

// --- parts ---

Refinement make_buffer(std::string name, TensorShape shape, const stripe::Location& loc) {
  Refinement buffer;
  buffer.into = std::move(name);
  buffer.access.resize(shape.rank());
  buffer.shape = std::move(shape);
  buffer.location = loc;
  return buffer;
}

void view_buffer(Statement& stmt, const std::string& tensor, const Refinement& buffer,
                 const std::vector<int64_t>& begin, const std::vector<int64_t>& steps) {
  Block* inner = stmt.block();
  if (!inner) return;
  restride_views(stmt, tensor, buffer.shape.dims);
  locate_views(stmt, tensor, buffer.location);
  for (Refinement& view : inner->refs) {
    if (view.dir == RefDir::none || view.from != tensor) continue;
    view.from = buffer.into;
    for (size_t d = 0; d < begin.size(); ++d) view.access[d] -= begin[d];
    for (size_t d = 0; d < steps.size(); ++d) view.access[d] /= steps[d];
  }
}

Block copy_whole(const Refinement& from, const Refinement& to, const stripe::Location& xfer_loc,
                 const std::vector<std::string>& tags) {
  std::vector<Affine> at;
  Block points = points_of_box(from.shape.sizes(), at);
  return copy_at(std::move(points), {from, at}, {to, at}, xfer_loc, tags);
}

bool are_alike(const Block& copy, const Block& other) {
  const Refinement &in = copy.refs[0], &other_in = other.refs[0];
  const Refinement &out = copy.refs[1], &other_out = other.refs[1];
  return copy.idxs == other.idxs && in.access == other_in.access && in.tags == other_in.tags &&
         in.shape == other_in.shape && out.access == other_out.access &&
         out.shape == other_out.shape;
}

void add_target(Block& copy, const Refinement& target) {
  copy.stmts.emplace_back(stripe::Store{kCopied, target.into});
  copy.refs.push_back(target);
}

Block copy_onward(const Block& copy, const stripe::Location& xfer_loc) {
  Block onward = copy;
  Refinement source = copy.refs[1];
  source.dir = RefDir::in;
  onward.refs = {std::move(source)};
  onward.location = xfer_loc;
  onward.stmts.clear();
  onward.stmts.emplace_back(stripe::Load{onward.refs[0].into, kCopied});
  return onward;
}

}  // namespace stria::passes
