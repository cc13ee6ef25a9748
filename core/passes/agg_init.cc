// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/agg_init.h"

#include <algorithm>

#include "stria/passes/accumulator.h"
#include "stria/passes/index_role.h"
#include "stria/passes/split_block.h"
#include "stria/passes/written_nest.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// An aggregation's start: statement `position` of the last block of `path` is a block whose view of
// `name` is the outermost with the aggregation.
struct Start {
  std::vector<Block*> path;
  size_t position = 0;
  std::string name;

  Block& host() const { return *path.back(); }
  Block& writer() const { return *host().stmts[position].block(); }
  Refinement& view() const { return *find_view(writer(), name); }
};

// Must the start be written out? A running value that does not fit its storage needs a place even if the
// aggregation continues from what is there.
bool needs_start(const Refinement& ref) {
  return ref.agg && (ref.dir == RefDir::out || (ref.dir == RefDir::inout && ref.agg->type != ref.shape.type));
}

size_t count_views(const Block& host, const std::string& name) {
  size_t views = 0;
  for (const Statement& stmt : host.stmts)
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs) views += ref.from == name;
  return views;
}

bool writes_disjoint(const Block& block) {
  std::vector<IndexRole> roles = index_roles(block);
  return std::all_of(roles.begin(), roles.end(), [](const IndexRole& role) { return role.kind == IndexKind::output; });
}

void set_direction(Block& block, const std::string& parent_name, RefDir dir) {
  for (Refinement& ref : block.refs) {
    if (ref.from != parent_name || !ref.agg) continue;
    ref.dir = dir;
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) set_direction(*inner, ref.into, dir);
  }
}

// Moves the start inside while the points of the writer write disjoint elements. False if it came to rest
// at a block that writes each element once and so needs none.
bool sink(Start& start) {
  while (true) {
    Block& writer = start.writer();
    Refinement& ref = start.view();
    if (!writes_disjoint(writer) || ref.dir != RefDir::out || has_index_locations(writer)) return true;
    if (is_leaf(writer)) {
      bool loads = false;
      size_t stores = 0;
      for (const Statement& stmt : writer.stmts) {
        if (auto* load = std::get_if<stripe::Load>(&stmt.op)) loads = loads || load->from == ref.into;
        if (auto* store = std::get_if<stripe::Store>(&stmt.op)) stores += store->into == ref.into;
      }
      if (loads || stores != 1) return true;
      ref.agg.reset();
      return false;
    }
    size_t inside = writer.stmts.size();
    for (size_t i = 0; i < writer.stmts.size(); ++i)
      if (const Block* block = writer.stmts[i].block(); block && find_view(*block, ref.into)) inside = i;
    // Several writers start together: the identity comes before the first of them.
    if (inside == writer.stmts.size() || count_views(writer, ref.into) != 1) return true;
    if (!find_view(*writer.stmts[inside].block(), ref.into)->agg) return true;
    ref.agg.reset();
    start.path.push_back(&writer);
    start.position = inside;
    start.name = ref.into;
  }
}

// The written elements of one writer, where the start is, or as pieces if the host has no outer values.
Result<std::vector<WrittenNest>> nests_of(const Start& start, size_t position) {
  std::vector<Block*> chain = single_chain(*start.host().stmts[position].block());
  for (Block* block : chain) start_indices_at_zero(*block);
  std::vector<const Block*> const_chain(chain.begin(), chain.end());
  std::vector<const Block*> const_path(start.path.begin(), start.path.end());
  WrittenNest nest = written_nest(const_path, const_chain, start.name);
  if (nest.reason.empty()) return std::vector<WrittenNest>{std::move(nest)};
  bool outer_values = std::any_of(start.path.begin(), start.path.end(), [](const Block* b) { return !b->idxs.empty(); });
  if (outer_values) return unsupported("{}", nest.reason);
  return written_pieces(start.host(), const_chain, start.name);
}

// Writes the start out in place.
Status write_start(const Start& start, PassContext& context) {
  Block& host = start.host();
  Refinement& ref = start.view();
  stripe::Aggregation agg = *ref.agg;
  bool narrow = agg.type != ref.shape.type;
  bool is_main = host.tags.has("main");
  if (narrow && count_views(host, start.name) == 1) {
    AccumulatorPlan plan;
    plan.name = start.name;
    plan.position = start.position;
    plan.plain_output = ref.dir == RefDir::out;
    STRIA_ASSIGN(plan.nests, nests_of(start, start.position));
    add_accumulator(host, plan);
    context.count("running_values_widened");
    return {};
  }
  if (narrow) return unsupported("several blocks aggregate into a tensor of a narrower type");
  std::vector<Statement> identities;
  for (size_t i = 0; i < host.stmts.size(); ++i) {
    Block* writer = host.stmts[i].block();
    const Refinement* view = writer ? find_view(*writer, start.name) : nullptr;
    if (!view || !view->agg || view->dir != RefDir::out) continue;
    STRIA_ASSIGN(std::vector<WrittenNest> nests, nests_of(start, i));
    for (const WrittenNest& nest : nests) {
      Block identity = identity_block(host, start.name, nest, agg);
      if (is_main) {
        identity.tags.set("kernel");
        identity.name = writer->name + "_init";
      }
      Statement stmt(std::move(identity));
      if (std::find(identities.begin(), identities.end(), stmt) == identities.end())
        identities.push_back(std::move(stmt));
    }
    set_direction(*writer, start.name, RefDir::inout);
  }
  context.count("identities_written", static_cast<int64_t>(identities.size()));
  host.stmts.insert(host.stmts.begin() + static_cast<std::ptrdiff_t>(start.position),
                    std::make_move_iterator(identities.begin()), std::make_move_iterator(identities.end()));
  return {};
}

class Initializer {
 public:
  explicit Initializer(PassContext& context) : context_(context) {}

  Status run(Block& block) {
    path_.push_back(&block);
    // Statements are added before the one at hand, so the position is found anew each time.
    for (size_t i = 0; i < block.stmts.size(); ++i) {
      while (Block* inner = block.stmts[i].block()) {
        const Refinement* found = nullptr;
        for (const Refinement& ref : inner->refs) {
          const Refinement* parent = block.find_ref(ref.from);
          if (needs_start(ref) && !(parent && parent->agg)) found = &ref;
        }
        if (!found) break;
        size_t before = block.stmts.size();
        STRIA_RETURN_IF_ERROR(start_at(i, found->from));
        i += block.stmts.size() - before;
      }
      if (Block* inner = block.stmts[i].block()) STRIA_RETURN_IF_ERROR(run(*inner));
    }
    path_.pop_back();
    return {};
  }

 private:
  Status start_at(size_t position, std::string name) {
    context_.matched();
    context_.changed();
    Block& block = *path_.back();
    // Tried inside first; what cannot be told there may be told outside, without outer values.
    Block before = block;
    Start start{path_, position, name};
    if (!sink(start)) {
      context_.count("plain_stores");
      return {};
    }
    Status inside = write_start(start, context_);
    if (inside.ok()) return {};
    std::string kernel = before.stmts[position].block()->name;
    bool moved = start.path.size() > path_.size();
    block = std::move(before);
    Status outside = moved ? write_start(Start{path_, position, name}, context_) : inside;
    return outside.with_context(fmt::format("{}: the start of '{}'", kernel.empty() ? "a block" : kernel, name));
  }

  PassContext& context_;
  std::vector<Block*> path_;
};

}  // namespace

void describe(AggInitOptions&, OptionFields&) {}

Status agg_init(stripe::Program& program, const AggInitOptions&, PassContext& context) {
  return Initializer(context).run(program.entry);
}

}  // namespace stria::passes
