// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/near_results.h"

#include <algorithm>
#include <utility>

#include "stria/rewrite/accumulator.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/written_nest.h"
#include "stria/stripe/footprint.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Place;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// From the kernel to the host.
std::vector<const Block*> path_of_place(const Block& host, const Place& place) {
  std::vector<const Block*> path = {&host};
  for (const Place* at = place.parent; at && at->depth > 1; at = at->parent)
    path.insert(path.begin(), at->block);
  return path;
}

bool names(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// What the host's statements write of the tensor, each way of writing once; or why not.
std::string gather(Block& host, const Place& place, const std::string& name, bool views_apart,
                   std::vector<WrittenNest>& nests) {
  const Refinement& ref = *host.find_ref(name);
  const std::vector<const Block*> path = path_of_place(host, place);
  if (ref.dir != RefDir::out) return "what was there before matters";
  for (const Refinement& other : host.refs)
    if (!views_apart && &other != &ref && other.dir != RefDir::none && other.from == ref.from)
      return "the block has another view of it";
  if (ref.agg && !writes_each_element_once(path, name)) return "its sums go on from point to point";
  size_t writers = 0;
  for (Statement& stmt : host.stmts) {
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    const auto* store = std::get_if<stripe::Store>(&stmt.op);
    const stripe::Special* special = stmt.special();
    if ((load && load->from == name) || (store && store->into == name) ||
        (special && (names(special->inputs, name) || names(special->outputs, name))))
      return "a statement of the block that is no block uses it";
    Block* inner = stmt.block();
    if (!inner) continue;
    for (const Refinement& view : inner->refs) {
      if (view.dir == RefDir::none || view.from != name) continue;
      if (view.dir == RefDir::in || (view.dir == RefDir::inout && !view.agg) ||
          stripe::is_loaded(*inner, view))
        return "the block reads what it writes of it";
      ++writers;
    }
    for (const std::vector<Block*>& chain : writing_chains(*inner, name, false)) {
      for (Block* block : chain) start_indices_at_zero(*block);
      WrittenNest nest = written_nest(path, {chain.begin(), chain.end()}, name);
      if (!nest.reason.empty()) return nest.reason;
      if (std::find(nests.begin(), nests.end(), nest) == nests.end())
        nests.push_back(std::move(nest));
    }
  }
  if (nests.empty()) return "nothing writes it";
  if (ref.agg && writers > 1) return "several sums follow one another in it";
  if (!are_apart(nests)) return "its writers write some elements together, and others alone";
  return "";
}

}  // namespace

std::string keep_results_near(Block& host, const Place& place, const std::string& name,
                              const NearResultOptions& options) {
  std::vector<WrittenNest> nests;
  if (std::string reason = gather(host, place, name, options.views_apart, nests); !reason.empty())
    return reason;
  Refinement& far = *host.find_ref(name);
  const size_t rank = far.access.size();
  std::vector<Interval> written(rank);
  for (const WrittenNest& nest : nests) {
    std::map<std::string, Interval> box;
    for (const stripe::Index& index : nest.indices) box[index.name] = {0, index.range - 1};
    for (size_t d = 0; d < rank; ++d) {
      const Interval part = interval_of(nest.access[d], box);
      written[d] = written[d].empty() ? part
                                      : Interval{std::min(written[d].lower, part.lower),
                                                 std::max(written[d].upper, part.upper)};
    }
  }
  std::vector<int64_t> sizes;
  for (const Interval& part : written) sizes.push_back(part.upper - part.lower + 1);
  Refinement near;
  near.into = host.fresh_name(name + "_near");
  near.access.resize(rank);
  near.shape = dense_shape(far.shape.type, sizes);
  near.location = options.loc;

  const bool sums = far.agg.has_value();
  far.agg.reset();
  for (Statement& stmt : host.stmts) {
    Block* inner = stmt.block();
    if (!inner || !find_view(*inner, name)) continue;
    restride_views(stmt, name, near.shape.dims);
    locate_views(stmt, name, near.location);
    for (Refinement& view : inner->refs) {
      if (view.dir == RefDir::none || view.from != name) continue;
      view.from = near.into;
      // The outermost view with an aggregation says where it starts.
      if (sums) view.dir = RefDir::out;
      for (size_t d = 0; d < rank; ++d) view.access[d] -= written[d].lower;
    }
  }
  std::vector<Statement> copies;
  for (const WrittenNest& nest : nests) {
    Block copy;
    copy.tags.set_all(options.copy_set);
    copy.location = options.xfer_loc;
    copy.idxs = nest.indices;
    constrain_to(copy, nest);
    Refinement from = near, to = far;
    from.dir = RefDir::in;
    to.dir = RefDir::out;
    from.from = from.into = near.into;
    to.from = to.into = name;
    from.access = to.access = nest.access;
    to.tags = {};
    if (names_index(to.location)) to.location = {};
    for (size_t d = 0; d < rank; ++d) {
      from.access[d] -= written[d].lower;
      from.shape.dims[d].size = to.shape.dims[d].size = 1;
    }
    copy.refs = {std::move(from), std::move(to)};
    copy.stmts.emplace_back(stripe::Load{near.into, "value"});
    copy.stmts.emplace_back(stripe::Store{"value", name});
    copies.emplace_back(std::move(copy));
  }
  host.refs.push_back(std::move(near));
  for (Statement& copy : copies) host.stmts.push_back(std::move(copy));
  run_in_order(host);
  return "";
}

}  // namespace stria::passes
