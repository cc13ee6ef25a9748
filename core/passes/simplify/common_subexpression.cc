// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/simplify/common_subexpression.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool commutes(const std::string& name) {
  const Builtin* builtin = find_builtin(name);
  return builtin && builtin->commutative;
}

class Sharing {
 public:
  Sharing(Block& block, const TensorNames& around, bool loads, PassContext& context)
      : block_(block), names_(around.inside(block)), loads_(loads), context_(context) {}

  // True if something changed.
  bool run() {
    first_views();
    std::vector<bool> stays(block_.stmts.size(), true);
    for (size_t i = 0; i < block_.stmts.size(); ++i) {
      Statement& stmt = block_.stmts[i];
      rename_inputs(stmt, renamed_);
      const std::string key = key_of(stmt);
      if (key.empty()) {
        note_writes(stmt);
        continue;
      }
      const std::vector<std::string> outputs = scalar_outputs(stmt);
      auto [first, is_new] = known_.emplace(key, outputs);
      if (is_new) continue;
      for (size_t o = 0; o < outputs.size(); ++o) renamed_[outputs[o]] = first->second[o];
      stays[i] = false;
      context_.count("statements_shared");
    }
    forward_scalars(block_, renamed_);
    erase_statements(block_, stays);
    return !renamed_.empty();
  }

 private:
  // Gives all views of the same elements one name, that of the first view.
  void first_views() {
    for (const Refinement& ref : block_.refs) {
      view_[ref.into] = ref.into;
      if (ref.dir == RefDir::none) continue;
      for (const Refinement& other : block_.refs) {
        if (&other == &ref) break;
        if (other.dir == RefDir::none || other.from != ref.from || other.access != ref.access ||
            other.shape != ref.shape || other.agg != ref.agg || other.tags != ref.tags)
          continue;
        view_[ref.into] = view_.at(other.into);
        break;
      }
    }
  }

  // Statements with equal keys compute equal values. "" for a statement that is never shared.
  std::string key_of(const Statement& stmt) const {
    if (auto* s = std::get_if<stripe::Load>(&stmt.op)) {
      if (!loads_) return "";
      auto written = writes_.find(names_.of(s->from));
      return fmt::format("load {}[{}] {} {}", view_.at(s->from), join(s->at, ","),
                         written == writes_.end() ? 0 : written->second, barriers_);
    }
    if (auto* s = std::get_if<stripe::LoadIndex>(&stmt.op))
      return fmt::format("index.{} {}", name_of(s->type), s->from.to_string());
    if (auto* s = std::get_if<stripe::Constant>(&stmt.op)) {
      int64_t bits = 0;  // tells 0.0 from -0.0
      std::memcpy(&bits, &s->value.i, sizeof bits);
      return fmt::format("constant.{} {}", name_of(s->value.type), bits);
    }
    auto* op = std::get_if<stripe::Intrinsic>(&stmt.op);
    if (!op) return "";
    std::vector<std::string> inputs = op->inputs;
    if (commutes(op->name)) std::sort(inputs.begin(), inputs.end());
    return fmt::format("{}.{} {}", op->name, name_of(op->type), join(inputs, ","));
  }

  void note_writes(const Statement& stmt) {
    auto write = [&](const std::string& name) { ++writes_[names_.of(name)]; };
    if (auto* s = std::get_if<stripe::Store>(&stmt.op)) write(s->into);
    if (auto* s = stmt.special())
      for (const std::string& name : s->outputs) write(name);
    if (is_barrier(stmt)) ++barriers_;  // other lanes may have written
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs)
        if (is_written(ref)) write(ref.from);
  }

  Block& block_;
  const TensorNames names_;
  const bool loads_;
  PassContext& context_;
  std::map<std::string, std::string> view_;  // refinement -> the first view of its elements
  std::map<std::string, int64_t> writes_;    // allocation -> how often it has been written
  int64_t barriers_ = 0;
  std::map<std::string, std::vector<std::string>> known_;  // key -> scalars
  std::map<std::string, std::string> renamed_;
};

bool share_inside(Block& block, const TensorNames& around, bool loads, PassContext& context) {
  if (block.tags.has(stripe::tag::kStencil))
    return false;  // its body defines one operation of the hardware
  bool changed = Sharing(block, around, loads, context).run();
  const TensorNames names = around.inside(block);
  for (Statement& stmt : block.stmts)
    if (Block* inner = stmt.block())
      changed = share_inside(*inner, names, loads, context) || changed;
  return changed;
}

}  // namespace

void describe(CommonSubexpressionOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs,
              "tags of the blocks that are searched; their insides too; none = the whole program");
  fields.add("loads", options.loads,
             "share loads of one element, too, if nothing writes it in between");
}

Status common_subexpression(stripe::Program& program, const CommonSubexpressionOptions& options,
                            PassContext& context) {
  return for_each_selected(program, options.reqs, [&](Block& block, const TensorNames& around) {
    context.matched();
    if (share_inside(block, around, options.loads, context)) context.changed();
    return Status();
  });
}

}  // namespace stria::passes
