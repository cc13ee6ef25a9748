// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/scalarize.h"

#include <algorithm>
#include <optional>

#include "stria/pass/select_blocks.h"
#include "stria/passes/statement_list.h"
#include "stria/stripe/scalar_types.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool names(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// "" or why the buffer has to stay.
std::string why_not(const Block& block, const Refinement& buffer) {
  if (buffer.agg) return "it aggregates";
  bool stored = false;
  for (const Statement& stmt : block.stmts) {
    if (!stmt.deps.empty() || block.tags.has("deps")) return "its block is ordered by dependencies";
    auto* store = std::get_if<stripe::Store>(&stmt.op);
    if (store && store->into == buffer.into) {
      if (!store->at.empty()) return "a scalar decides whether it is stored";
      stored = true;
    }
    if (auto* load = std::get_if<stripe::Load>(&stmt.op);
        load && load->from == buffer.into && !stored)
      return "it is loaded before it is stored";
    if (auto* special = stmt.special())
      if (names(special->inputs, buffer.into) || names(special->outputs, buffer.into))
        return "a special uses it";
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs)
        if (ref.from == buffer.into) return "an inner block uses it";
  }
  return stored ? "" : "nothing stores it";
}

class Scalarizer {
 public:
  explicit Scalarizer(PassContext& context) : context_(context) {}

  void run(Block& block) {
    std::vector<std::string> buffers;
    for (const Refinement& ref : block.refs) {
      if (ref.dir != RefDir::none) continue;
      context_.matched();
      if (ref.shape.element_count() == 1)
        buffers.push_back(ref.into);
      else
        context_.skipped(ref.into, "it has more than one element");
    }
    for (const std::string& name : buffers) {
      std::string reason = why_not(block, *block.find_ref(name));
      if (!reason.empty()) {
        context_.skipped(name, reason);
        continue;
      }
      replace(block, name);
      context_.changed();
    }
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) run(*inner);
  }

 private:
  static void replace(Block& block, const std::string& name) {
    DataType type = block.find_ref(name)->shape.type;
    std::map<std::string, DataType> types = stripe::scalar_types(block);
    std::map<std::string, std::string> renamed;  // loaded scalars -> what was stored
    std::string current;
    std::vector<Statement> stmts;
    for (Statement& stmt : block.stmts) {
      rename_inputs(stmt, renamed);
      if (auto* store = std::get_if<stripe::Store>(&stmt.op); store && store->into == name) {
        auto known = types.find(store->from);
        current = store->from;
        if (known == types.end() || known->second != type) {
          current = block.fresh_name(name);
          types[current] = type;
          stmts.emplace_back(stripe::Intrinsic{"ident", type, {current}, {store->from}});
          // fresh_name looks at the block's statements, where the new one has to show.
          stmt.op = stripe::Intrinsic{"ident", type, {current}, {store->from}};
        }
        continue;
      }
      if (auto* load = std::get_if<stripe::Load>(&stmt.op); load && load->from == name) {
        renamed[load->into] = current;
        continue;
      }
      stmts.push_back(stmt);
    }
    block.stmts = std::move(stmts);
    std::erase_if(block.refs, [&](const Refinement& ref) { return ref.into == name; });
  }

  PassContext& context_;
};

}  // namespace

void describe(ScalarizeOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags of the blocks that are searched; their insides too");
}

Status scalarize(stripe::Program& program, const ScalarizeOptions& options, PassContext& context) {
  return for_each_selected_inside(program, options.reqs, context,
                                  [&](Block& block) { Scalarizer(context).run(block); });
}

}  // namespace stria::passes
