// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/simplify/split_prologue.h"

#include <algorithm>
#include <map>
#include <set>

#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// The refinements of #main that one of its statements reads and writes.
struct TensorUses {
  std::set<std::string> reads, writes;
};

TensorUses tensor_uses(const Statement& stmt) {
  TensorUses uses;
  if (const stripe::Special* special = stmt.special()) {
    uses.reads.insert(special->inputs.begin(), special->inputs.end());
    uses.writes.insert(special->outputs.begin(), special->outputs.end());
  }
  if (const Block* block = stmt.block())
    for (const Refinement& ref : block->refs) {
      if (ref.dir == RefDir::in || ref.dir == RefDir::inout) uses.reads.insert(ref.from);
      if (is_written(ref)) uses.writes.insert(ref.from);
    }
  return uses;
}

// Replaces the names of refinements around the statement.
void rename(Statement& stmt, const std::map<std::string, std::string>& names) {
  auto renamed = [&](std::string& name) {
    if (auto at = names.find(name); at != names.end()) name = at->second;
  };
  if (stripe::Special* special = stmt.special()) {
    for (std::string& name : special->inputs) renamed(name);
    for (std::string& name : special->outputs) renamed(name);
  }
  if (Block* block = stmt.block())
    for (Refinement& ref : block->refs)
      if (ref.dir != RefDir::none) renamed(ref.from);
}

// Which statements of #main move.
class Choice {
 public:
  Choice(const Block& entry, const Block& main, int64_t growth) : growth_(growth) {
    for (const Refinement& ref : main.refs) {
      Tensor& tensor = tensors_[ref.into];
      tensor.bytes = static_cast<double>(ref.shape.span_bytes());
      if (ref.dir == RefDir::none) {
        tensor.movable = !ref.agg && !ref.swizzle && ref.location.empty();
      } else {
        const Refinement* whole = entry.find_ref(ref.from);
        tensor.given = ref.dir == RefDir::in && whole && whole->is_const;
        tensor.behind = tensor.bytes;
      }
    }
    const size_t count = main.stmts.size();
    moves_.assign(count, false);
    for (size_t s = 0; s < count; ++s) {
      const Statement& stmt = main.stmts[s];
      moves_[s] = stmt.block() || stmt.special();
      uses_.push_back(tensor_uses(stmt));
      for (const std::string& name : uses_[s].reads) tensors_[name].readers.push_back(s);
      for (const std::string& name : uses_[s].writes) tensors_[name].writers.push_back(s);
    }
    for (size_t s = 0; s < count; ++s) add_bytes_behind(s);
    for (size_t s = 0; s < count; ++s)
      if (moves_[s] && !may_move(s)) keep(s);
    settle();
  }

  const std::vector<bool>& moves() const { return moves_; }
  bool is_moved(const std::string& tensor) const {
    const Tensor& it = tensors_.at(tensor);
    return it.movable && !it.writers.empty() && moves_[it.writers[0]];
  }
  bool main_reads(const std::string& tensor) const {
    return first_kept_reader(tensors_.at(tensor)) < moves_.size();
  }
  const TensorUses& uses(size_t statement) const { return uses_[statement]; }
  int64_t too_large() const { return too_large_; }

 private:
  struct Tensor {
    bool given = false;    // a const input of the program
    bool movable = false;  // an allocation of #main that may become a tensor of the program
    double bytes = 0;
    double behind = 0;  // bytes of the constants that it is computed from
    std::vector<size_t> readers, writers;
  };

  size_t first_kept_reader(const Tensor& tensor) const {
    for (size_t s : tensor.readers)
      if (!moves_[s]) return s;
    return moves_.size();
  }

  // The statements stand in an order in which each tensor is written before it is read.
  void add_bytes_behind(size_t s) {
    double behind = 0;
    for (const std::string& name : uses_[s].reads) behind += tensors_[name].behind;
    for (const std::string& name : uses_[s].writes) {
      Tensor& tensor = tensors_[name];
      tensor.behind = std::max(tensor.behind, behind);
    }
  }

  bool may_move(size_t s) const {
    const TensorUses& uses = uses_[s];
    // A statement that writes nothing has another effect, so it stays.
    return !uses.writes.empty() &&
           std::all_of(uses.writes.begin(), uses.writes.end(),
                       [&](const std::string& name) { return tensors_.at(name).movable; }) &&
           std::all_of(uses.reads.begin(), uses.reads.end(), [&](const std::string& name) {
             return tensors_.at(name).given || tensors_.at(name).movable;
           });
  }

  void keep(size_t s) {
    if (!moves_[s]) return;
    moves_[s] = false;
    kept_.push_back(s);
  }

  // Keeps what depends on a kept statement, and what would make #main read too much, until nothing
  // changes.
  void settle() {
    for (bool again = true; again;) {
      while (!kept_.empty()) {
        const size_t s = kept_.back();
        kept_.pop_back();
        for (const std::string& name : uses_[s].writes) {
          for (size_t other : tensors_[name].writers) keep(other);
          for (size_t other : tensors_[name].readers) keep(other);
        }
      }
      again = false;
      for (const auto& [name, tensor] : tensors_) {
        if (tensor.writers.empty() || !is_moved(name) || !main_reads(name)) continue;
        const bool large = tensor.bytes > static_cast<double>(growth_) * tensor.behind;
        // A reader between two writes would not see what the prologue leaves in the end.
        if (!large && first_kept_reader(tensor) > tensor.writers.back()) continue;
        for (size_t writer : tensor.writers) keep(writer);
        too_large_ += large;
        again = true;
      }
    }
  }

  const int64_t growth_;
  std::map<std::string, Tensor> tensors_;
  std::vector<TensorUses> uses_;
  std::vector<bool> moves_;
  std::vector<size_t> kept_;  // kept statements whose dependents are still to be kept
  int64_t too_large_ = 0;
};

class Splitter {
 public:
  Splitter(stripe::Program& program, const Choice& choice) : program_(program), choice_(choice) {}

  // Returns how many tensors #main reads that the prologue makes.
  int64_t run() {
    if (!program_.prologue()) {
      Block made;
      made.name = "prologue";
      made.tags = {stripe::tag::kPrologue};
      program_.entry.stmts.insert(program_.entry.stmts.begin(), std::move(made));
    }
    // References are taken only now: the insertion above may move the entry's statements.
    Block& prologue = *program_.prologue();
    Block& main = *program_.main();
    for (const Refinement& ref : prologue.refs) {
      taken_.insert(ref.into);
      if (ref.dir != RefDir::none) constants_[ref.from] = ref;
    }
    for (const Refinement& ref : program_.entry.refs) taken_in_program_.insert(ref.into);
    int64_t handed_on = 0;
    std::vector<Refinement> kept_refs;
    for (Refinement& ref : main.refs) {
      if (ref.dir == RefDir::none && choice_.is_moved(ref.into)) {
        const std::string name = ref.into;
        Refinement inside = std::move(ref);
        inside.into = names_[name] = fresh_name(name, taken_);
        if (choice_.main_reads(name)) {
          kept_refs.push_back(hand_on(inside, name));
          ++handed_on;
        }
        prologue.refs.push_back(std::move(inside));
      } else {
        kept_refs.push_back(std::move(ref));
      }
    }
    main.refs = std::move(kept_refs);
    move_statements(prologue, main);
    drop_unread(main);
    return handed_on;
  }

 private:
  // Makes `inside`, an allocation of the prologue, a view of a new tensor of the program. Returns
  // #main's view of that tensor.
  Refinement hand_on(Refinement& inside, const std::string& name_in_main) {
    Refinement whole = inside;
    whole.into = fresh_name(name_in_main, taken_in_program_);
    whole.is_const = true;
    Refinement view = whole;
    view.dir = RefDir::in;
    view.from = whole.into;
    view.into = name_in_main;
    view.tags = {};
    inside.dir = RefDir::out;
    inside.from = whole.into;
    program_.entry.refs.push_back(std::move(whole));
    return view;
  }

  void move_statements(Block& prologue, Block& main) {
    const std::vector<bool>& moves = choice_.moves();
    std::vector<bool> stays;
    for (size_t s = 0; s < moves.size(); ++s) {
      stays.push_back(!moves[s]);
      if (!moves[s]) continue;
      for (const std::string& name : choice_.uses(s).reads)
        if (!names_.count(name)) names_[name] = constant_for(prologue, main, name);
      Statement stmt = std::move(main.stmts[s]);
      stmt.deps.clear();
      rename(stmt, names_);
      prologue.stmts.push_back(std::move(stmt));
    }
    std::vector<Statement> kept;
    for (size_t s = 0; s < moves.size(); ++s)
      if (stays[s]) kept.push_back(std::move(main.stmts[s]));
    main.stmts = std::move(kept);
  }

  // The prologue's name for a constant that #main views; adds a view to the prologue if needed.
  std::string constant_for(Block& prologue, const Block& main, const std::string& name) {
    Refinement view = *main.find_ref(name);
    if (auto at = constants_.find(view.from); at != constants_.end())
      if (at->second.access == view.access && at->second.shape == view.shape &&
          at->second.is_const == view.is_const)
        return at->second.into;
    view.into = fresh_name(name, taken_);
    prologue.refs.push_back(view);
    return view.into;
  }

  // Drops #main's views of constants that only the prologue reads now.
  void drop_unread(Block& main) {
    std::set<std::string> read_before;
    for (size_t s = 0; s < choice_.moves().size(); ++s)
      if (choice_.moves()[s])
        read_before.insert(choice_.uses(s).reads.begin(), choice_.uses(s).reads.end());
    std::erase_if(main.refs, [&](const Refinement& ref) {
      return ref.dir == RefDir::in && read_before.count(ref.into) > 0 &&
             !choice_.main_reads(ref.into);
    });
  }

  stripe::Program& program_;
  const Choice& choice_;
  std::map<std::string, std::string> names_;        // of #main -> of the prologue
  std::map<std::string, Refinement> constants_;     // views of the prologue, by tensor
  std::set<std::string> taken_, taken_in_program_;  // names in the prologue and in the program
};

}  // namespace

void describe(SplitPrologueOptions& options, OptionFields& fields) {
  fields.add("growth", options.growth,
             "bytes that #main reads for each byte of the constants behind them, at most", {1});
}

Status split_prologue(stripe::Program& program, const SplitPrologueOptions& options,
                      PassContext& context) {
  const Block* main = program.main();
  if (!main) return Status();
  const Block* prologue = program.prologue();
  if (main->tags.has(stripe::tag::kDeps) || (prologue && prologue->tags.has(stripe::tag::kDeps))) {
    context.note("the statements are ordered by dependencies");
    return Status();
  }
  const Choice choice(program.entry, *main, options.growth);
  const auto moved = std::count(choice.moves().begin(), choice.moves().end(), true);
  context.matched();
  if (choice.too_large() > 0)
    context.count("kept: larger than what they are made of", choice.too_large());
  if (moved == 0) return Status();
  context.count("statements_moved", moved);
  context.count("tensors_kept", Splitter(program, choice).run());
  context.changed();
  return Status();
}

}  // namespace stria::passes
