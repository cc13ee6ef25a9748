// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/simplify/agg_init.h"

#include <algorithm>
#include <optional>

#include "stria/rewrite/accumulator.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/scalar_types.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// The block's first view of `name` that aggregates; null if there is none.
Refinement* aggregating_view(Block& block, const std::string& name) {
  for (Refinement& ref : block.refs)
    if (ref.dir != RefDir::none && ref.from == name && ref.agg) return &ref;
  return nullptr;
}

// Where an aggregation starts. Statement `position` of the last block of `path` is a block whose
// view of `name` aggregates.
struct Start {
  std::vector<Block*> path;
  size_t position = 0;
  std::string name;
  // True if the host's view aggregated before the start moved inside it. All writers of the host
  // then belong to one chain and start together. Otherwise the writer's view is the outermost of
  // its chain, and blocks beside it have chains of their own (S6).
  bool shared = false;
  PlaceNames* known = nullptr;  // names of the sections

  TensorNames names() const { return known->inside(path); }
  Block& host() const { return *path.back(); }
  Block& writer() const { return *host().stmts[position].block(); }
  Refinement& view() const { return *aggregating_view(writer(), name); }
  // The range of the host's statements that may write to the tensor. A host may have many more.
  size_t begin() const { return shared ? 0 : position; }
  size_t end() const { return shared ? host().stmts.size() : position + 1; }
};

bool writes_disjoint(const Block& block) {
  std::vector<IndexRole> roles = index_roles(block);
  return std::all_of(roles.begin(), roles.end(),
                     [](const IndexRole& role) { return role.kind == IndexKind::output; });
}

// Is a running value stored in `ref` more than once? The lanes of a #vector block are combined
// before they are stored.
bool grows_in_storage(const Block& block, const Refinement& ref) {
  if (block.tags.has(stripe::tag::kVector)) return false;
  if (!writes_disjoint(block)) return true;
  for (const Statement& stmt : block.stmts)
    if (const Block* inner = stmt.block())
      if (const Refinement* view = find_view(*inner, ref.into);
          view && view->agg && grows_in_storage(*inner, *view))
        return true;
  return false;
}

// Must the start be written out? A running value of a type that the storage does not have needs an
// accumulator even if the aggregation continues from the tensor's content.
bool needs_start(const Block& block, const Refinement& ref) {
  if (!ref.agg) return false;
  if (ref.dir == RefDir::out) return true;
  return ref.dir == RefDir::inout && ref.agg->type != ref.shape.type &&
         grows_in_storage(block, ref);
}

// Statements that aggregate into a refinement of their block.
size_t count_writers(const Block& host, const std::string& name) {
  size_t writers = 0;
  for (const Statement& stmt : host.stmts)
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs)
        writers += ref.from == name && ref.dir != RefDir::none && ref.agg;
  return writers;
}

void set_direction(Block& block, const std::string& parent_name, RefDir dir) {
  for (Refinement& ref : block.refs) {
    if (ref.from != parent_name || !ref.agg) continue;
    ref.dir = dir;
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) set_direction(*inner, ref.into, dir);
  }
}

void forget_aggregation(Block& block, const std::string& parent_name, RefDir dir) {
  for (Refinement& ref : block.refs) {
    if (ref.from != parent_name || !ref.agg) continue;
    ref.agg.reset();
    ref.dir = dir;
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) forget_aggregation(*inner, ref.into, dir);
  }
}

// Splits an innermost block over outputs and reductions into a block over the outputs and, inside
// it, one over the reductions. `names` are those of the block around it.
void cut_reduction_off(const TensorNames& names, Block& block) {
  if (!is_leaf(block) || block.tags.has(stripe::tag::kVector)) return;
  if (why_points_do_not_commute(block, names)) return;
  std::map<std::string, int64_t> tile;
  bool reduces = false;
  for (const IndexRole& role : index_roles(block)) {
    if (role.kind == IndexKind::overlapping) return;
    if (role.kind == IndexKind::output)
      tile[role.name] = 1;
    else
      reduces = true;
  }
  if (reduces && !tile.empty()) split_block(block, tile);
}

// Does the aggregation change a value before it is stored? The scalar is converted to the
// aggregation type first, and that type may not hold all values of the scalar's type.
bool converts_between(const Block& block, const Refinement& ref) {
  if (ref.agg->type == ref.shape.type) return false;
  const std::map<std::string, DataType> types = stripe::scalar_types(block);
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
    const auto* store = std::get_if<stripe::Store>(&stmt.op);
    if (!store || store->into != ref.into) return false;
    const DataType type = types.at(store->from);
    return ref.agg->type != type && ref.agg->type != accumulation_type(type);
  });
}

// Does the block, apart from aggregating into it, read the tensor that is called `name` around it?
// `names` are those around the block.
bool reads_beside(const Block& block, const std::string& name, const TensorNames& names) {
  const bool grows = std::any_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
    return ref.from == name && ref.agg.has_value();
  });
  const std::string tensor = names.of(name);
  return std::any_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
    // A block that only reads the tensor, and stands after its writers, uses the finished values.
    if (ref.from == name && (!grows || ref.agg)) return false;
    return (ref.dir == RefDir::in || ref.dir == RefDir::inout) && names.of(ref.from) == tensor;
  });
}

// Moves the start inside as long as the points of the writer write disjoint elements. False if this
// ends at a block that writes each element once: no start is needed then.
bool sink(Start& start, bool cut) {
  while (true) {
    // Several writers start together: the identity is stored before the first of them.
    if (start.shared && count_writers(start.host(), start.name) != 1) return true;
    Block& writer = start.writer();
    // What the points read through another view must be the old content until all have run.
    if (reads_beside(writer, start.name, start.names())) return true;
    // What one operation of the hardware, or a function of the plugin, adds to is begun before it.
    if (writer.tags.has(stripe::tag::kStencil)) return true;
    if (cut && is_leaf(writer)) cut_reduction_off(start.names(), writer);
    Refinement& ref = start.view();
    if (!writes_disjoint(writer) || ref.dir != RefDir::out ||
        std::any_of(writer.refs.begin(), writer.refs.end(),
                    [](const Refinement& view) { return names_index(view.location); }))
      return true;
    bool loads = false;
    size_t stores = 0, inside = writer.stmts.size();
    for (size_t i = writer.stmts.size(); i-- > 0;) {
      const Statement& stmt = writer.stmts[i];
      if (auto* load = std::get_if<stripe::Load>(&stmt.op)) loads = loads || load->from == ref.into;
      if (auto* store = std::get_if<stripe::Store>(&stmt.op)) stores += store->into == ref.into;
      if (!stmt.block()) continue;
      const Refinement* view = find_view(*stmt.block(), ref.into);
      if (view && !view->agg) return true;
      if (view) inside = i;
    }
    if (loads) return true;
    if (inside == writer.stmts.size()) {
      if (stores != 1 || converts_between(writer, ref)) return true;
      ref.agg.reset();
      return false;
    }
    if (stores != 0) return true;
    ref.agg.reset();
    // Directions inside a running aggregation mean nothing (S6). Now the aggregation starts there.
    for (Statement& stmt : writer.stmts)
      if (Block* below = stmt.block()) set_direction(*below, ref.into, RefDir::out);
    start.path.push_back(&writer);
    start.position = inside;
    start.name = ref.into;
    start.shared = true;
  }
}

bool never_runs(const Block& block) {
  return std::any_of(block.idxs.begin(), block.idxs.end(),
                     [](const stripe::Index& index) { return index.range < 1; });
}

using Chains = std::vector<std::vector<const Block*>>;

// The chains of blocks down to each block that writes the tensor, outermost block first.
Chains chains_of(const Start& start) {
  Chains chains;
  for (size_t i = start.begin(); i < start.end(); ++i) {
    Block* writer = start.host().stmts[i].block();
    if (!writer) continue;
    for (const std::vector<Block*>& chain : writing_chains(*writer, start.name)) {
      for (Block* block : chain) start_indices_at_zero(*block);
      chains.emplace_back(chain.begin(), chain.end());
    }
  }
  return chains;
}

// The written elements as disjoint pieces.
Result<std::vector<WriteDomain>> pieces_of(const Start& start) {
  if (std::any_of(start.path.begin(), start.path.end(),
                  [](const Block* block) { return !block->idxs.empty(); }))
    return unsupported("several blocks write to it");
  STRIA_ASSIGN(std::vector<WriteDomain> nests,
               written_pieces(start.host(), chains_of(start), start.name));
  if (start.view().dir == RefDir::out) return nests;
  // It must be visible that each point has elements of its own. Otherwise the accumulator would
  // need a start again.
  for (const WriteDomain& nest : nests) {
    Block probe;
    probe.idxs = nest.indices;
    probe.refs = {*start.host().find_ref(start.name)};
    probe.refs[0].dir = RefDir::out;
    probe.refs[0].access = nest.access;
    for (Dim& dim : probe.refs[0].shape.dims) dim.size = 1;
    if (!writes_disjoint(probe)) return unsupported("its parts may overlap");
  }
  return nests;
}

// The written elements at one point of the host; or as disjoint pieces, if the host has no outer
// values.
Result<std::vector<WriteDomain>> nests_of(const Start& start) {
  std::vector<const Block*> path(start.path.begin(), start.path.end());
  std::vector<WriteDomain> nests;
  Refusal refusal = Refusal::none();
  // An accumulator has one place for each element, the same at all points of the host.
  const bool may_move = start.view().agg->type == start.view().shape.type;
  for (const std::vector<const Block*>& chain : chains_of(start)) {
    if (std::any_of(chain.begin(), chain.end(),
                    [](const Block* block) { return never_runs(*block); }))
      continue;
    WriteDomain nest = write_domain(path, chain, start.name, may_move);
    if (nest.refusal) refusal = nest.refusal;
    // Parts of a split reduction write the same elements.
    if (std::find(nests.begin(), nests.end(), nest) == nests.end())
      nests.push_back(std::move(nest));
  }
  if (!refusal) return nests;
  Result<std::vector<WriteDomain>> pieces = pieces_of(start);
  return pieces.status().code() == StatusCode::unsupported ? unsupported("{}", refusal.reason())
                                                           : std::move(pieces);
}

// Is the tensor read while it aggregates, under another name or through another view? An element
// keeps its old content until its first write, so a start before the reads would come too early.
bool is_read_beside(const Start& start) {
  const TensorNames names = start.names();
  for (size_t i = start.position; i < start.end(); ++i) {
    const Block* inner = start.host().stmts[i].block();
    if (inner && reads_beside(*inner, start.name, names)) return true;
  }
  return false;
}

// All elements of the host's allocation, if no earlier statement has written it. Elements that no
// writer reaches are poison, so storing to them changes nothing. nullopt for any other tensor.
std::optional<WriteDomain> whole_allocation(const Start& start) {
  const Block& host = start.host();
  const Refinement& ref = *host.find_ref(start.name);
  if (ref.dir != RefDir::none || (ref.agg && ref.agg->type != ref.shape.type)) return std::nullopt;
  for (size_t i = 0; i < start.position; ++i) {
    const Block* earlier = host.stmts[i].block();
    if (!earlier) return std::nullopt;
    for (const Refinement& view : earlier->refs)
      if (view.dir != RefDir::none && view.from == start.name) return std::nullopt;
  }
  WriteDomain nest;
  for (size_t d = 0; d < ref.shape.dims.size(); ++d) {
    nest.access.emplace_back();
    if (ref.shape.dims[d].size == 1) continue;
    stripe::Index index;
    index.name = host.fresh_name(fmt::format("i{}", d));
    index.range = ref.shape.dims[d].size;
    nest.access.back() = Affine::of(index.name);
    nest.indices.push_back(std::move(index));
  }
  return nest;
}

// Identity blocks that are to be inserted, with the position of the statement that each precedes. A
// host may have many statements, so they move once, when all starts are known.
using Identities = std::vector<std::pair<size_t, Block>>;

// Inserts the blocks, which are sorted by position.
void put_in(Block& host, Identities& identities) {
  if (identities.empty()) return;
  std::vector<Statement> stmts;
  stmts.reserve(host.stmts.size() + identities.size());
  auto next = identities.begin();
  for (size_t i = 0; i < host.stmts.size(); ++i) {
    for (; next != identities.end() && next->first == i; ++next)
      stmts.emplace_back(std::move(next->second));
    stmts.push_back(std::move(host.stmts[i]));
  }
  host.stmts = std::move(stmts);
  identities.clear();
  run_in_order(host);
}

// Writes the start out: adds an accumulator to the host, or appends identity blocks to
// `identities`, the list of the host.
Status write_start(const Start& start, Identities& identities, PassContext& context) {
  Block& host = start.host();
  const Refinement ref = start.view();
  if (host.tags.has(stripe::tag::kProgram)) return unsupported("it starts outside of the kernels");
  // The cheap question comes first: few kernels lie inside a unit, and holds_numbered_blocks walks
  // all that the host holds.
  if (std::any_of(start.path.begin(), start.path.end(),
                  [](const Block* block) { return !block->location.empty(); }) &&
      holds_numbered_blocks(host))
    return unsupported("lanes write to it, and nothing else may stand beside them");
  if (ref.dir == RefDir::out && is_read_beside(start))
    return unsupported("it is read under another name or through another view while it grows");
  Result<std::vector<WriteDomain>> found = nests_of(start);
  if (!found.ok())
    if (std::optional<WriteDomain> whole = whole_allocation(start))
      found = std::vector<WriteDomain>{*std::move(whole)};
  STRIA_ASSIGN(std::vector<WriteDomain> nests, std::move(found));
  // An element that two domains share would be written out twice, and so added twice.
  if (ref.agg->type != ref.shape.type && ref.dir == RefDir::inout && !are_apart(nests)) {
    STRIA_ASSIGN(nests, pieces_of(start));
  }
  if (nests.empty()) {
    // No element is ever written.
    for (size_t i = start.begin(); i < start.end(); ++i)
      if (Block* writer = host.stmts[i].block()) forget_aggregation(*writer, start.name, ref.dir);
    return {};
  }
  if (ref.agg->type != ref.shape.type) {
    AccumulatorPlan plan;
    plan.name = start.name;
    plan.plain_output = ref.dir == RefDir::out;
    // They are held where what they become is: registers of lanes, if that is there.
    if (const Refinement* held = host.find_ref(start.name); held && held->dir == RefDir::none)
      plan.location = held->location;
    for (size_t i = start.begin(); i < start.end(); ++i) {
      const Block* writer = host.stmts[i].block();
      if (!writer) continue;
      for (const Refinement& view : writer->refs)
        if (view.dir != RefDir::none && view.from == start.name && view.agg &&
            stripe::is_loaded(*writer, view))
          return unsupported("running values of another type than the tensor's are read");
    }
    plan.nests = std::move(nests);
    if (!start.shared) plan.only = start.position + identities.size();
    put_in(host, identities);
    add_accumulator(host, plan);
    context.count("running_values_widened");
    return {};
  }
  const std::string base = start.writer().name;
  for (const WriteDomain& nest : nests) {
    Block identity = identity_block(host, start.name, nest, *ref.agg);
    if (host.tags.has(stripe::tag::kMain)) {
      identity.tags.set(stripe::tag::kKernel);
      identity.name = base + "_init";
    }
    identities.emplace_back(start.position, std::move(identity));
    context.count("identities_written");
  }
  for (size_t i = start.begin(); i < start.end(); ++i)
    if (Block* writer = host.stmts[i].block()) set_direction(*writer, start.name, RefDir::inout);
  return {};
}

class Initializer {
 public:
  Initializer(const AggInitOptions& options, PassContext& context)
      : options_(options), context_(context) {}

  Status run(Block& block) {
    path_.push_back(&block);
    Identities identities;
    // An accumulator inserts statements before statement i, so i moves along with it.
    for (size_t i = 0; i < block.stmts.size(); ++i) {
      const Block* kernel = block.stmts[i].block();
      if (kernel && kernel->tags.has(stripe::tag::kKernel) && !kernel->tags.has_all(options_.reqs))
        continue;
      while (Block* inner = block.stmts[i].block()) {
        const Refinement* found = nullptr;
        for (const Refinement& ref : inner->refs) {
          if (!needs_start(*inner, ref)) continue;
          const Refinement* parent = block.find_ref(ref.from);
          if (!(parent && parent->agg)) found = &ref;
        }
        if (!found) break;
        size_t before = block.stmts.size();
        STRIA_RETURN_IF_ERROR(start_at(i, found->from, identities));
        i += block.stmts.size() - before;
      }
      if (Block* inner = block.stmts[i].block()) STRIA_RETURN_IF_ERROR(run(*inner));
    }
    put_in(block, identities);
    path_.pop_back();
    return {};
  }

 private:
  // `identities`: those of the last block of the path.
  Status start_at(size_t position, std::string name, Identities& identities) {
    context_.matched();
    context_.changed();
    Block& block = *path_.back();
    // First at the innermost level. If the written elements are not known there, at this level,
    // where there are no outer values. sink changes the writer alone, so that is what is restored.
    const Statement before = block.stmts[position];
    Start start{path_, position, name, false, &names_};
    if (!sink(start, options_.cut)) {
      context_.count("plain_stores");
      return {};
    }
    if (start.path.size() == path_.size())
      return said(write_start(start, identities, context_), before, name);
    Identities of_host;
    if (write_start(start, of_host, context_).ok()) {
      put_in(start.host(), of_host);
      return {};
    }
    block.stmts[position] = before;
    return said(write_start(Start{path_, position, name, false, &names_}, identities, context_),
                before, name);
  }

  static Status said(Status status, const Statement& writer, const std::string& name) {
    const std::string& kernel = writer.block()->name;
    return status.with_context(
        fmt::format("{}: the start of '{}'", kernel.empty() ? "a block" : kernel, name));
  }

  const AggInitOptions& options_;
  PassContext& context_;
  std::vector<Block*> path_;
  PlaceNames names_;
};

}  // namespace

void describe(AggInitOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have; none = every kernel");
  fields.add("cut", options.cut,
             "split blocks that loop over outputs and reductions, and store the identity between");
}

Status agg_init(stripe::Program& program, const AggInitOptions& options, PassContext& context) {
  return Initializer(options, context).run(program.entry);
}

}  // namespace stria::passes
