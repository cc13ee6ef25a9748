// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/schedule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "stria/base/text.h"
#include "stria/pass/model_rules.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/buffer_views.h"
#include "stria/passes/located_unit.h"
#include "stria/passes/memory_placement.h"
#include "stria/passes/near_space.h"
#include "stria/passes/statement_dependencies.h"
#include "stria/passes/statement_list.h"
#include "stria/passes/surely_written.h"
#include "stria/poly/solver_budget.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// Near buffers while the rest of the program is placed around them.
constexpr const char* kPlaced = "placed_by_schedule";
// For the question what is written whole, in one block.
constexpr int64_t kSolverSteps = 400'000'000;

struct Use {
  size_t kernel = 0;
  bool reads = false, writes = false;
  bool covers = false;  // writes every element and reads none
  // What was there before matters.
  bool needs_content() const { return reads || !covers; }
};

struct Tensor {
  std::string name;
  int64_t bytes = 0;  // near
  std::vector<Use> uses;
  bool has_content = false;  // far, before the first use
  bool is_result = false;    // somebody outside sees it
  size_t whole_at = 0;       // the kernel after which it is written whole, if it has no content
};

struct Action {
  enum class Kind { bring, run, take_away } kind;
  size_t kernel = 0;
  std::vector<size_t> stays;
};

bool reads_beyond(const Refinement& ref) {
  return ref.tags.has("clamp") || ref.tags.has("zero_fill");
}

// Calls visit(block, view) for the views of `name` around the block, and those inside.
template <typename Visit>
void each_view(const Block& block, const std::string& name, const Visit& visit) {
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none || ref.from != name) continue;
    visit(block, ref);
    for (const Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block()) each_view(*inner, ref.into, visit);
  }
}

// Does the kernel touch the tensor in blocks of transfer units only?
bool transfers_itself(const Block& kernel, const std::string& name, const HardwareModel& model) {
  auto moves = [&](const Block& block) {
    return !block.location.empty() && model.find_transfer(block.location.path.back().name);
  };
  if (moves(kernel)) return true;
  for (const Refinement& ref : kernel.refs) {
    if (ref.dir == RefDir::none || ref.from != name) continue;
    for (const Statement& stmt : kernel.stmts) {
      if (const Block* inner = stmt.block()) {
        const bool uses =
            std::any_of(inner->refs.begin(), inner->refs.end(), [&](const Refinement& view) {
              return view.dir != RefDir::none && view.from == ref.into;
            });
        if (uses && !transfers_itself(*inner, ref.into, model)) return false;
      }
      const auto* load = std::get_if<stripe::Load>(&stmt.op);
      const auto* store = std::get_if<stripe::Store>(&stmt.op);
      const auto* special = stmt.special();
      if ((load && load->from == ref.into) || (store && store->into == ref.into)) return false;
      if (special && (std::count(special->inputs.begin(), special->inputs.end(), ref.into) ||
                      std::count(special->outputs.begin(), special->outputs.end(), ref.into)))
        return false;
    }
  }
  return true;
}

class Scheduler {
 public:
  Scheduler(Block& block, const stripe::Place& place, const ScheduleOptions& options,
            int64_t bank_bytes, const stripe::VerifyOptions& rules, PassContext& context)
      : block_(block),
        place_(place),
        options_(options),
        bank_bytes_(bank_bytes),
        rules_(rules),
        context_(context),
        alignment_(options.alignment) {}

  // False: nothing comes near.
  Result<bool> run() {
    STRIA_RETURN_IF_ERROR(choose());
    for (bool planned = false; !planned;) {
      if (tensors_.empty()) return false;
      STRIA_ASSIGN(planned, plan());
    }
    emit();
    return true;
  }

 private:
  // --- which tensors come near

  Status choose() {
    SolverBudget budget(kSolverSteps);
    const StatementUsers users(block_);
    std::map<std::string, int64_t> views;  // of outer tensors
    for (const Refinement& ref : block_.refs)
      if (ref.dir != RefDir::none) ++views[ref.from];
    for (const Refinement& ref : block_.refs) {
      const std::vector<size_t>& statements = users.of(ref.into);
      if (statements.empty()) continue;
      context_.matched();
      Tensor tensor;
      std::string reason = ref.dir != RefDir::none && views[ref.from] > 1
                               ? "the block has several views of it"
                               : why_far(ref, statements);
      if (reason.empty()) reason = describe_uses(ref, statements, tensor);
      if (!reason.empty()) {
        context_.skipped(ref.into, reason);
        continue;
      }
      STRIA_RETURN_IF_ERROR(check_routes(ref, tensor));
      alignment_ = std::lcm(alignment_, byte_size(ref.shape.type));
      tensors_.push_back(std::move(tensor));
    }
    return {};
  }

  std::string why_far(const Refinement& ref, const std::vector<size_t>& statements) const {
    const auto& path = ref.location.path;
    if (!path.empty() && path.back().name == options_.mem_loc.path.back().name)
      return "it is near already";
    if (!path.empty() && !path.back().owners.empty()) return "lanes hold it";
    if (ref.agg) return "the block adds to it";
    for (const Dim& dim : ref.shape.dims)
      if (dim.size < 1) return "it has no elements";
    if (reads_beyond(ref)) return "the block reads it beyond its end";
    bool beyond = false, itself = true;
    for (size_t i : statements) {
      const Block* kernel = block_.stmts[i].block();
      if (!kernel) return "a statement that is no block uses it";
      each_view(*kernel, ref.into,
                [&](const Block&, const Refinement& view) { beyond |= reads_beyond(view); });
      itself = itself && transfers_itself(*kernel, ref.into, context_.model());
    }
    if (itself) return "its kernels transfer it themselves";
    if (beyond && !options_.allow_out_of_range_accesses) return "it is read beyond its end";
    // The end is the allocation's (S10), which may have more behind the block's view.
    if (beyond && ref.dir != RefDir::none) {
      const Refinement* whole = place_.parent->block->find_ref(ref.from);
      if (!whole || whole->shape.sizes() != ref.shape.sizes())
        return "it is read beyond its end, and is part of another";
    }
    return "";
  }

  // "" or why the tensor has to stay far.
  std::string describe_uses(const Refinement& ref, const std::vector<size_t>& statements,
                            Tensor& tensor) const {
    tensor.name = ref.into;
    tensor.bytes = dense_shape(ref.shape.type, ref.shape.sizes()).span_bytes();
    tensor.has_content = ref.dir == RefDir::in || ref.dir == RefDir::inout;
    tensor.is_result = ref.dir == RefDir::out || ref.dir == RefDir::inout;
    const IntegerSet all = all_elements(ref.shape);
    std::optional<IntegerSet> written;
    bool whole = tensor.has_content;
    for (size_t i : statements) {
      Use use{i};
      for (const Refinement& view : block_.stmts[i].block()->refs) {
        if (view.dir == RefDir::none || view.from != ref.into) continue;
        use.reads = use.reads || view.dir != RefDir::out;
        use.writes = use.writes || view.dir != RefDir::in;
      }
      if (!whole && use.reads) return "it is read before it is known to be written whole";
      if (use.writes && !use.reads) {
        auto part = surely_written(block_, block_.stmts[i], ref.into);
        if (!part.ok()) return "what is written of it cannot be told";
        use.covers = is_whole(all, *part);
        if (!whole) {
          if (written) {
            auto both = written->unite(*part);
            if (!both.ok()) return "what is written of it cannot be told";
            written = std::move(*both);
          } else {
            written = std::move(*part);
          }
          whole = use.covers || is_whole(all, *written);
          if (whole) tensor.whole_at = i;
        }
      }
      tensor.uses.push_back(use);
    }
    return whole ? "" : "it is not known to be written whole";
  }

  static bool is_whole(const IntegerSet& all, const IntegerSet& written) {
    const Result<bool> whole = all.is_subset_of(written);
    return whole.ok() && *whole;
  }

  // --- routes

  Status check_routes(const Refinement& ref, const Tensor& tensor) const {
    const HardwareModel& model = context_.model();
    if (options_.xfer_loc.empty() || model.buses.empty()) return {};
    const bool written = std::any_of(tensor.uses.begin(), tensor.uses.end(),
                                     [](const Use& use) { return use.writes; });
    const std::string far = ref.location.empty() ? "" : ref.location.path.back().name;
    const std::string& unit = options_.xfer_loc.path.back().name;
    const std::string& near = options_.mem_loc.path.back().name;
    if (tensor.has_content) {
      if (!far.empty()) STRIA_RETURN_IF_ERROR(check_bus(far, unit));
      STRIA_RETURN_IF_ERROR(check_bus(unit, near));
    }
    if (written && tensor.is_result) {
      STRIA_RETURN_IF_ERROR(check_bus(near, unit));
      if (!far.empty()) STRIA_RETURN_IF_ERROR(check_bus(unit, far));
    }
    return {};
  }

  // Instances of the near memory all have to be reached.
  Status check_bus(const std::string& from, const std::string& to) const {
    const std::string& near = options_.mem_loc.path.back().name;
    auto all_of = [&](const std::vector<UnitInstance>& ends, const std::string& name) {
      int64_t first = 0, end = 1;
      if (name == near) end = options_.num_banks;
      const auto& units = options_.mem_loc.path.back().units;
      if (name == near && units.size() == 1 && units[0].is_constant()) {
        first = units[0].constant();
        end = first + 1;
      }
      for (int64_t i = first; i < end; ++i)
        if (std::find(ends.begin(), ends.end(), UnitInstance{name, i}) == ends.end()) return false;
      return true;
    };
    bool slow = false;
    for (const Bus& bus : context_.model().buses) {
      if (!all_of(bus.sources, from) || !all_of(bus.sinks, to)) continue;
      if (bus.bytes_per_cycle > 0) return {};
      slow = true;
    }
    if (slow)
      return make_error(StatusCode::out_of_range,
                        "the bus from '{}' to '{}' carries 0 bytes per cycle", from, to);
    return not_found("the hardware model has no bus from '{}' to {}'{}'", from,
                     to == near && options_.num_banks > 1 ? "all banks of " : "", to);
  }

  // --- what happens when

  // False: a tensor has to stay far after all; again without it.
  Result<bool> plan() {
    space_.emplace(options_.num_banks, bank_bytes_, alignment_);
    actions_.clear();
    content_.clear();
    by_kernel_.assign(block_.stmts.size(), {});
    for (size_t t = 0; t < tensors_.size(); ++t) {
      content_.push_back(tensors_[t].has_content);
      for (size_t u = 0; u < tensors_[t].uses.size(); ++u)
        by_kernel_[tensors_[t].uses[u].kernel].emplace_back(t, u);
    }
    for (size_t kernel = 0; kernel < block_.stmts.size(); ++kernel) {
      STRIA_ASSIGN(const bool stands, make_room(kernel));
      if (!stands) return false;
      Action run{Action::Kind::run, kernel, {}};
      std::vector<size_t> results;
      for (const auto& [t, u] : by_kernel_[kernel]) {
        const Use& use = tensors_[t].uses[u];
        const size_t s = *space_->find(t);
        Stay& stay = space_->stay(s);
        run.stays.push_back(s);
        stay.last_use = kernel;
        stay.pinned = !tensors_[t].has_content && kernel < tensors_[t].whole_at;
        if (!use.writes) continue;
        stay.dirty = true;
        content_[t] = false;
        const auto& uses = tensors_[t].uses;
        if (tensors_[t].is_result &&
            std::none_of(uses.begin() + static_cast<std::ptrdiff_t>(u) + 1, uses.end(),
                         [](const Use& later) { return later.writes; }))
          results.push_back(s);
      }
      actions_.push_back(std::move(run));
      for (size_t s : results) take_away(s, kernel);
    }
    return true;
  }

  void take_away(size_t s, size_t kernel) {
    actions_.push_back({Action::Kind::take_away, kernel, {s}});
    space_->stay(s).dirty = false;
    content_[space_->stay(s).tensor] = true;
  }

  // The next kernel, from this one on, that needs what the stay holds.
  std::optional<size_t> next_use(size_t s, size_t kernel) const {
    for (const Use& use : tensors_[space_->stays()[s].tensor].uses) {
      if (use.kernel < kernel) continue;
      if (use.needs_content()) return use.kernel;
      return std::nullopt;
    }
    return std::nullopt;
  }

  void evict(size_t s, size_t kernel) {
    if (space_->stays()[s].dirty && next_use(s, kernel)) take_away(s, kernel);
    space_->leave(s);
  }

  bool enter(size_t t, size_t kernel, const std::set<size_t>& fixed) {
    auto may_go = [&](size_t s) {
      const Stay& stay = space_->stays()[s];
      return !stay.pinned && fixed.count(stay.tensor) == 0;
    };
    const auto place = space_->place(tensors_[t].bytes, overlaps(kernel), may_go,
                                     [&](size_t s) { return next_use(s, kernel); });
    if (!place) return false;
    for (size_t s : place->evicted) evict(s, kernel);
    const size_t s = space_->enter(t, *place, tensors_[t].bytes, kernel);
    for (const auto& [tensor, u] : by_kernel_[kernel])
      if (tensor == t && tensors_[t].uses[u].needs_content() && content_[t])
        actions_.push_back({Action::Kind::bring, kernel, {s}});
    return true;
  }

  // Does the kernel's unit work on several things at a time?
  bool overlaps(size_t kernel) const {
    const Block* block = block_.stmts[kernel].block();
    if (!block || block->location.empty() || !rules_.pipeline_depths) return true;
    const auto depth = rules_.pipeline_depths->find(block->location.path.back().name);
    return depth == rules_.pipeline_depths->end() || depth->second > 1;
  }

  Result<bool> make_room(size_t kernel) {
    std::set<size_t> needed;
    std::vector<size_t> order;
    for (const auto& [t, u] : by_kernel_[kernel])
      if (needed.insert(t).second) order.push_back(t);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return tensors_[a].bytes > tensors_[b].bytes; });
    const NearSpace before = *space_;
    const std::vector<bool> content = content_;
    const size_t actions = actions_.size();
    bool fits = true;
    for (size_t t : order)
      if (fits && !space_->find(t)) fits = enter(t, kernel, needed);
    if (fits) return true;
    // Anew, without what is there.
    *space_ = before;
    content_ = content;
    actions_.resize(actions);
    for (size_t s = 0; s < space_->stays().size(); ++s)
      if (!space_->stays()[s].gone && !space_->stays()[s].pinned) evict(s, kernel);
    std::set<size_t> fixed;
    for (size_t t : order) {
      if (!space_->find(t) && !enter(t, kernel, fixed)) return refuse(t, order, kernel);
      fixed.insert(t);
    }
    return true;
  }

  Result<bool> refuse(size_t t, const std::vector<size_t>& needed, size_t kernel) {
    for (const Stay& stay : space_->stays()) {
      if (stay.gone || !stay.pinned) continue;
      context_.skipped(tensors_[stay.tensor].name,
                       "there is no room for it until it is written whole");
      tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(stay.tensor));
      return false;
    }
    int64_t all = 0;
    std::vector<std::string> others;
    for (size_t n : needed) {
      all += (tensors_[n].bytes + alignment_ - 1) / alignment_ * alignment_;
      if (n != t)
        others.push_back(fmt::format("'{}' ({} bytes)", tensors_[n].name, tensors_[n].bytes));
    }
    const int64_t beyond = std::max(
        {tensors_[t].bytes - bank_bytes_, all - options_.num_banks * bank_bytes_, int64_t{0}});
    const Block* block = block_.stmts[kernel].block();
    const std::string name =
        block && !block->name.empty() ? block->name : fmt::format("statement {}", kernel);
    return unsupported(
        "{}: '{}' ({} bytes) does not fit into '{}', {} of {} bytes{}{}: {}; it would fit with "
        "banks "
        "of {} KiB, or with the kernel cut into tiles that bring their parts themselves",
        name, tensors_[t].name, tensors_[t].bytes, options_.mem_loc.path.back().name,
        options_.num_banks == 1 ? "1 bank" : fmt::format("{} banks", options_.num_banks),
        bank_bytes_, others.empty() ? "" : ", together with ", join(others, ", "),
        beyond > 0 ? fmt::format("{} bytes too many", beyond) : "no bank has that much left",
        (std::max(all, tensors_[t].bytes) + 1023) / 1024);
  }

  // --- the new statements

  void emit() {
    std::vector<std::string> near;  // by stay
    for (const Stay& stay : space_->stays()) near.push_back(add_buffer(stay));
    std::vector<Statement> old = std::move(block_.stmts);
    block_.stmts.clear();
    std::vector<std::vector<size_t>> users(space_->stays().size());  // of each stay
    for (const Action& action : actions_) {
      for (size_t s : action.stays) users[s].push_back(block_.stmts.size());
      if (action.kind == Action::Kind::run) {
        Statement& stmt = old[action.kernel];
        for (size_t s : action.stays) point_to(stmt, space_->stays()[s], near[s]);
        block_.stmts.push_back(std::move(stmt));
      } else {
        const size_t s = action.stays[0];
        const Refinement& far = *block_.find_ref(tensors_[space_->stays()[s].tensor].name);
        const Refinement& here = *block_.find_ref(near[s]);
        const bool in = action.kind == Action::Kind::bring;
        block_.stmts.emplace_back(in ? copy(far, here, options_.swap_in_tags)
                                     : copy(here, far, options_.swap_out_tags));
        context_.count(in ? "brought" : "taken away");
      }
    }
    drop_unused();
    set_dependencies(users);
    context_.changed();
  }

  std::string add_buffer(const Stay& stay) {
    const Refinement& far = *block_.find_ref(tensors_[stay.tensor].name);
    Refinement near;
    near.into = block_.fresh_name(far.into + "_near");
    near.access.resize(far.shape.dims.size());
    near.shape = dense_shape(far.shape.type, far.shape.sizes());
    near.location = options_.mem_loc;
    if (near.location.path.back().units.empty() && options_.num_banks > 1)
      near.location.path.back().units = {Affine(stay.bank)};
    near.offset_bytes = stay.begin;
    near.tags.set(kPlaced);
    block_.refs.push_back(std::move(near));
    return block_.refs.back().into;
  }

  void point_to(Statement& stmt, const Stay& stay, const std::string& near) {
    const std::string& name = tensors_[stay.tensor].name;
    const Refinement& buffer = *block_.find_ref(near);
    restride_views(stmt, name, buffer.shape.dims);
    locate_views(stmt, name, buffer.location);
    for (Refinement& view : stmt.block()->refs)
      if (view.dir != RefDir::none && view.from == name) view.from = near;
  }

  Block copy(const Refinement& from, const Refinement& to, const std::vector<std::string>& tags) {
    Block block;
    for (const std::string& tag : tags) block.tags.set(tag);
    block.location = options_.xfer_loc;
    Refinement source = from, target = to;
    source.dir = RefDir::in;
    target.dir = RefDir::out;
    for (Refinement* ref : {&source, &target}) {
      ref->from = ref->into;
      ref->tags = {};
      ref->swizzle.reset();
      ref->offset_bytes = 0;
    }
    target.is_const = false;
    for (size_t d = 0; d < from.shape.dims.size(); ++d) {
      Affine at;
      if (from.shape.dims[d].size > 1) {
        stripe::Index index;
        index.name = block.fresh_name(fmt::format("i{}", d));
        index.range = from.shape.dims[d].size;
        at = Affine::of(index.name);
        block.idxs.push_back(std::move(index));
      }
      source.access[d] = target.access[d] = at;
      source.shape.dims[d].size = target.shape.dims[d].size = 1;
    }
    block.stmts.emplace_back(stripe::Load{source.into, "value"});
    block.stmts.emplace_back(stripe::Store{"value", target.into});
    block.refs = {std::move(source), std::move(target)};
    return block;
  }

  // Tensors of the block that never leave the near memory.
  void drop_unused() {
    const StatementUsers users(block_);
    std::set<std::string> scheduled;
    for (const Tensor& tensor : tensors_) scheduled.insert(tensor.name);
    std::erase_if(block_.refs, [&](const Refinement& ref) {
      return ref.dir == RefDir::none && scheduled.count(ref.into) && users.of(ref.into).empty();
    });
  }

  // What comes into bytes waits for all that used them.
  void set_dependencies(const std::vector<std::vector<size_t>>& users) {
    std::vector<std::vector<size_t>> also(block_.stmts.size());
    for (size_t s = 0; s < users.size(); ++s)
      for (size_t before : space_->stays()[s].replaces)
        for (size_t user : users[s])
          also[user].insert(also[user].end(), users[before].begin(), users[before].end());
    for (Statement& stmt : block_.stmts) stmt.deps.clear();
    stripe::StatementConflicts conflicts(place_);
    const Dependencies found = dependencies_of(block_, conflicts, also);
    block_.tags.set("deps");
    for (size_t i = 0; i < found.size(); ++i) {
      block_.stmts[i].deps = found[i];
      context_.count("dependencies", static_cast<int64_t>(found[i].size()));
    }
    if (conflicts.undecided() > 0) context_.count("undecided", conflicts.undecided());
  }

  Block& block_;
  const stripe::Place& place_;
  const ScheduleOptions& options_;
  const int64_t bank_bytes_;
  const stripe::VerifyOptions& rules_;
  PassContext& context_;
  int64_t alignment_;  // elements have theirs, too
  std::vector<Tensor> tensors_;
  // Of the plan: by kernel, tensors with the number of the use; by tensor, whether far memory has
  // its content now.
  std::vector<std::vector<std::pair<size_t, size_t>>> by_kernel_;
  std::vector<bool> content_;
  std::optional<NearSpace> space_;
  std::vector<Action> actions_;
};

// Bytes of a bank, or why the options contradict each other or the model.
Result<int64_t> bank_bytes(const ScheduleOptions& options, const HardwareModel& model) {
  STRIA_RETURN_IF_ERROR(check_location(model, UnitUse::hold, "/mem_loc", options.mem_loc));
  STRIA_RETURN_IF_ERROR(check_location(model, UnitUse::run, "/xfer_loc", options.xfer_loc));
  if (options.mem_loc.empty())
    return invalid_argument("/mem_loc: schedule needs the memory that tensors are brought into");
  const stripe::LocationUnit& unit = options.mem_loc.path.back();
  if (!unit.units.empty() && options.num_banks > 1)
    return invalid_argument("/num_banks: {} banks, but /mem_loc names one of '{}'",
                            options.num_banks, unit.name);
  const MemoryUnit* memory = model.find_memory(unit.name);
  if (memory && options.num_banks > memory->count)
    return make_error(StatusCode::out_of_range,
                      "/num_banks: {}, but the hardware model has {} of '{}'", options.num_banks,
                      memory->count, unit.name);
  int64_t bytes = std::numeric_limits<int64_t>::max() / 4;
  if (memory && memory->size_bytes > 0) bytes = memory->size_bytes;
  if (options.mem_KiB * 1024 > bytes)
    return make_error(StatusCode::out_of_range, "/mem_KiB: {}, but one '{}' has {} KiB",
                      options.mem_KiB, unit.name, bytes / 1024);
  return options.mem_KiB > 0 ? options.mem_KiB * 1024 : bytes;
}

}  // namespace

void describe(ScheduleOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a block must have");
  fields.add("mem_loc", options.mem_loc, "memory unit that tensors are brought into");
  fields.add("mem_KiB", options.mem_KiB,
             "of one bank; 0 = what the hardware model gives one instance", {0, int64_t{1} << 40});
  fields.add("alignment", options.alignment, "bytes that every place is a multiple of",
             {1, int64_t{1} << 30});
  fields.add("xfer_loc", options.xfer_loc,
             "unit that runs the blocks which transfer; none = not set");
  fields.add("allow_out_of_range_accesses", options.allow_out_of_range_accesses,
             "bring tensors that are read beyond their end (`#clamp`, `#zero_fill`), too");
  fields.add("num_banks", options.num_banks, "instances of the memory that are used, from 0",
             {1, 1 << 20});
  fields.add("swap_in_tags", options.swap_in_tags, "tags of the blocks that bring");
  fields.add("swap_out_tags", options.swap_out_tags, "tags of the blocks that take away");
}

Status schedule(stripe::Program& program, const ScheduleOptions& options, PassContext& context) {
  STRIA_ASSIGN(const int64_t bytes, bank_bytes(options, context.model()));
  if (program.entry.tags.has("placed")) {
    context.note("the program is placed: what is brought near would have no place");
    return {};
  }
  STRIA_ASSIGN(const ModelRules rules, ModelRules::of(context.model()));
  const stripe::VerifyOptions known = rules.options(nullptr);
  Status status;
  bool scheduled = false;
  for_each_selected_place(program, options.reqs, [&](Block& block, const stripe::Place& place) {
    if (!status.ok()) return;
    if (place.depth != 1 || !block.idxs.empty()) {
      context.skipped(block.name, "it is not a list of kernels");
      return;
    }
    const Result<bool> done = Scheduler(block, place, options, bytes, known, context).run();
    if (done.ok())
      scheduled = scheduled || *done;
    else
      status = done.status();
  });
  STRIA_RETURN_IF_ERROR(status);
  if (!scheduled) return {};
  // #placed speaks of all memories.
  MemoryPlacementOptions rest;
  rest.alignment = options.alignment;
  rest.skip_tags = {kPlaced};
  PassContext around(context.model());
  STRIA_RETURN_IF_ERROR(memory_placement(program, rest, around));
  for (Block* part : {program.prologue(), program.main()})
    if (part)
      for (Refinement& ref : part->refs) ref.tags.remove(kPlaced);
  return {};
}

}  // namespace stria::passes
