// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/simplify/scalarize.h"

#include <map>
#include <unordered_map>

#include "stria/base/refusal.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/fresh_names.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/scalar_types.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// The buffers of a block that may become scalars, found in one walk over its statements.
class Buffers {
 public:
  explicit Buffers(const Block& block) {
    for (const Refinement& ref : block.refs) {
      if (ref.dir != RefDir::none || ref.shape.element_count() != 1) continue;
      Buffer& buffer = buffers_[ref.into];
      buffer.type = ref.shape.type;
      if (ref.agg) buffer.refusal = "it aggregates";
    }
    for (const Statement& stmt : block.stmts) look_at(stmt, block.tags.has(stripe::tag::kDeps));
    for (auto& [name, buffer] : buffers_)
      if (!buffer.stored) refuse(name, "nothing stores it");
  }

  // Refuses a buffer that must stay.
  Refusal why_stays(const std::string& name) const {
    auto at = buffers_.find(name);
    return at == buffers_.end() ? "it has more than one element" : at->second.refusal;
  }
  bool goes(const std::string& name) const { return !why_stays(name); }
  DataType type(const std::string& name) const { return buffers_.at(name).type; }

 private:
  struct Buffer {
    DataType type = DataType::fp32;
    bool stored = false;
    Refusal refusal = Refusal::none();  // the first reason that was found
  };

  void refuse(const std::string& name, const char* reason) {
    auto at = buffers_.find(name);
    if (at != buffers_.end() && !at->second.refusal) at->second.refusal = reason;
  }

  void look_at(const Statement& stmt, bool ordered) {
    if (!all_refused_ && (ordered || !stmt.deps.empty())) {
      for (auto& [name, buffer] : buffers_) refuse(name, "its block is ordered by dependencies");
      all_refused_ = true;
    }
    if (auto* store = std::get_if<stripe::Store>(&stmt.op)) {
      if (!store->at.empty()) refuse(store->into, "a scalar decides whether it is stored");
      if (auto at = buffers_.find(store->into); at != buffers_.end()) at->second.stored = true;
    }
    if (auto* load = std::get_if<stripe::Load>(&stmt.op))
      if (auto at = buffers_.find(load->from); at != buffers_.end() && !at->second.stored)
        refuse(load->from, "it is loaded before it is stored");
    if (auto* special = stmt.special())
      for (const auto* list : {&special->inputs, &special->outputs})
        for (const std::string& name : *list) refuse(name, "a special uses it");
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs) refuse(ref.from, "an inner block uses it");
  }

  std::unordered_map<std::string, Buffer> buffers_;
  bool all_refused_ = false;
};

class Scalarizer {
 public:
  explicit Scalarizer(PassContext& context) : context_(context) {}

  void run(Block& block) {
    const Buffers buffers(block);
    bool any = false;
    for (const Refinement& ref : block.refs) {
      if (ref.dir != RefDir::none) continue;
      context_.matched();
      if (const Refusal refusal = buffers.why_stays(ref.into)) {
        context_.skipped(ref.into, refusal.reason());
      } else {
        any = true;
        context_.changed();
      }
    }
    if (any) replace(block, buffers);
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) run(*inner);
  }

 private:
  // Replaces all of them in one walk: a block may have as many buffers as statements.
  static void replace(Block& block, const Buffers& buffers) {
    std::map<std::string, DataType> types = stripe::scalar_types(block);
    FreshNames names;
    for (const Refinement& ref : block.refs) names.take(ref.into);
    for (const stripe::Index& index : block.idxs) names.take(index.name);
    for (const auto& [scalar, type] : types) names.take(scalar);
    std::map<std::string, std::string> renamed;  // loaded scalar -> the scalar that was stored
    std::map<std::string, std::string> current;  // buffer -> the scalar that was stored last
    std::vector<Statement> stmts;
    for (Statement& stmt : block.stmts) {
      rename_inputs(stmt, renamed);
      if (auto* store = std::get_if<stripe::Store>(&stmt.op); store && buffers.goes(store->into)) {
        const DataType type = buffers.type(store->into);
        auto known = types.find(store->from);
        std::string& scalar = current[store->into] = store->from;
        if (known == types.end() || known->second != type) {
          scalar = names.fresh(store->into);
          types[scalar] = type;
          stmts.emplace_back(stripe::Intrinsic{"ident", type, {scalar}, {store->from}});
        }
        continue;
      }
      if (auto* load = std::get_if<stripe::Load>(&stmt.op); load && buffers.goes(load->from)) {
        renamed[load->into] = current.at(load->from);
        continue;
      }
      stmts.push_back(std::move(stmt));
    }
    block.stmts = std::move(stmts);
    std::erase_if(block.refs, [&](const Refinement& ref) {
      return ref.dir == RefDir::none && buffers.goes(ref.into);
    });
  }

  PassContext& context_;
};

}  // namespace

void describe(ScalarizeOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags of the blocks that are searched; their insides too");
}

Status scalarize(stripe::Program& program, const ScalarizeOptions& options, PassContext& context) {
  return for_each_selected_inside(program, options.reqs, context,
                                  [&](Block& block) { Scalarizer(context).run(block); });
}

}  // namespace stria::passes
