// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/simplify/constant_fold.h"

#include <map>
#include <optional>

#include "stria/builtins/builtin.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/allocations.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/scalar_types.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Constant;
using stripe::Intrinsic;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool same_bits(const Scalar& a, const Scalar& b) { return Constant{"", a} == Constant{"", b}; }

// --- tensors of one value -----------------------------------------------------------------------

// For each allocation: the one constant that all its written elements hold, if there is one.
class UniformTensors {
 public:
  explicit UniformTensors(const Block& entry) : names_(entry), values_(names_.all().size()) {
    for (size_t i = 0; i < values_.size(); ++i)
      values_[i].open = names_.all()[i].owner != &entry &&
                        names_.all()[i].ref->dir == RefDir::none && !names_.all()[i].ref->agg;
    scan(entry);
  }

  // nullopt if no such constant is known, or nothing is ever written.
  std::optional<Scalar> of(const Block& block, const std::string& ref) const {
    const Value& value = values_[names_.of(block, ref)];
    return value.open ? value.constant : std::nullopt;
  }

 private:
  struct Value {
    bool open = false;  // no write of another value has been seen
    std::optional<Scalar> constant;
  };

  void scan(const Block& block) {
    // Beyond its elements such a view reads 0 or poison.
    for (const Refinement& ref : block.refs)
      if (ref.tags.has(stripe::tag::kZeroFill) || ref.tags.has(stripe::tag::kClamp))
        values_[names_.of(block, ref.into)].open = false;
    std::map<std::string, Scalar> constants;
    for (const Statement& stmt : block.stmts) {
      if (auto* s = std::get_if<Constant>(&stmt.op)) constants[s->into] = s->value;
      if (auto* s = std::get_if<stripe::Store>(&stmt.op)) {
        auto constant = constants.find(s->from);
        write(block, s->into, constant == constants.end() ? nullptr : &constant->second);
      }
      if (auto* s = stmt.special())
        for (const std::string& name : s->outputs) {
          const Scalar zero = Scalar::of_int(DataType::i32, 0);
          write(block, name, s->name == "zero" ? &zero : nullptr);
        }
      if (const Block* inner = stmt.block()) scan(*inner);
    }
  }

  void write(const Block& block, const std::string& name, const Scalar* constant) {
    Value& value = values_[names_.of(block, name)];
    const Refinement& ref = *block.find_ref(name);
    if (!constant || ref.agg) {
      value.open = false;
      return;
    }
    const Scalar stored = convert(*constant, ref.shape.type);
    if (value.constant && !same_bits(*value.constant, stored)) value.open = false;
    value.constant = stored;
  }

  Allocations names_;
  std::vector<Value> values_;
};

// --- identities ---------------------------------------------------------------------------------

// Are both operands and the result of the function of the operation's type?
bool stays_in_type(const Builtin& builtin, DataType op_type) {
  return builtin.arity == 2 && allows(builtin, op_type) &&
         operand_type(builtin, op_type, 0) == op_type &&
         operand_type(builtin, op_type, 1) == op_type && result_type(builtin, op_type) == op_type;
}

// The position of the operand that the intrinsic's value equals for all values of the others; or
// none. Operands are compared in the intrinsic's type.
std::optional<size_t> unchanged_operand(const Intrinsic& op,
                                        const std::vector<std::optional<Scalar>>& known) {
  if (op.inputs.size() == 1 && op.name == "ident") return 0;
  if (op.inputs.size() == 3 && op.name == "cond") {
    if (known[0]) return known[0]->truth() ? 1 : 2;
    if (op.inputs[1] == op.inputs[2]) return 1;
  }
  const Builtin* builtin = find_builtin(op.name);
  if (!builtin || op.inputs.size() != 2 || !stays_in_type(*builtin, op.type)) return std::nullopt;
  const auto is = [&](size_t i, Unit unit) {
    const std::optional<Scalar> number = unit_of(unit, op.type);
    return known[i] && number && same_bits(convert(*known[i], op.type), *number);
  };
  if (is(1, builtin->right_unit)) return 0;
  if (is(0, builtin->left_unit)) return 1;
  if (builtin->idempotent && op.inputs[0] == op.inputs[1]) return 0;
  // A float product with 0 is NaN for infinity and NaN.
  if (!builtin->zero_wins || is_float(op.type)) return std::nullopt;
  if (is(0, Unit::zero)) return 0;
  return is(1, Unit::zero) ? std::optional<size_t>(1) : std::nullopt;
}

// --- one block ----------------------------------------------------------------------------------

class BlockFolder {
 public:
  BlockFolder(Block& block, const UniformTensors& tensors, const ConstantFoldOptions& options,
              PassContext& context)
      : block_(block), tensors_(tensors), options_(options), context_(context) {}

  // True if something changed.
  bool run() {
    types_ = stripe::scalar_types(block_);
    std::vector<bool> stays(block_.stmts.size(), true);
    bool changed = false;
    for (size_t i = 0; i < block_.stmts.size(); ++i) {
      Statement& stmt = block_.stmts[i];
      rename_inputs(stmt, renamed_);
      if (std::optional<Constant> value = constant_of(stmt)) {
        known_[value->into] = value->value;
        if (std::holds_alternative<Constant>(stmt.op)) continue;
        stmt.op = *value;
        changed = true;
        context_.count("constants_computed");
      } else if (auto* op = std::get_if<Intrinsic>(&stmt.op); op && options_.identities) {
        if (!simplify(*op, stays, i)) continue;
        changed = true;
        context_.count("identities_dropped");
      }
    }
    forward_scalars(block_, renamed_);
    erase_statements(block_, stays);
    return changed;
  }

 private:
  std::vector<std::optional<Scalar>> known_operands(const Intrinsic& op) const {
    std::vector<std::optional<Scalar>> operands;
    for (const std::string& name : op.inputs) {
      auto at = known_.find(name);
      operands.push_back(at == known_.end() ? std::nullopt : std::optional(at->second));
    }
    return operands;
  }

  std::optional<Constant> constant_of(const Statement& stmt) const {
    if (auto* s = std::get_if<Constant>(&stmt.op)) return *s;
    if (auto* s = std::get_if<stripe::LoadIndex>(&stmt.op)) {
      if (!options_.intrinsics || !s->from.is_constant()) return std::nullopt;
      return Constant{s->into, Scalar::of_int(s->type, s->from.constant())};
    }
    if (auto* s = std::get_if<stripe::Load>(&stmt.op)) {
      if (!options_.tensors) return std::nullopt;
      std::optional<Scalar> value = tensors_.of(block_, s->from);
      return value ? std::optional(Constant{s->into, *value}) : std::nullopt;
    }
    auto* op = std::get_if<Intrinsic>(&stmt.op);
    if (!op || op->outputs.size() != 1 || !options_.intrinsics || !context_.evaluate())
      return std::nullopt;
    std::vector<Scalar> operands;
    for (const std::optional<Scalar>& operand : known_operands(*op)) {
      if (!operand) return std::nullopt;
      operands.push_back(*operand);
    }
    std::optional<Scalar> value = (*context_.evaluate())(op->name, op->type, operands);
    if (!value || value->type != stripe::intrinsic_result_type(op->name, op->type))
      return std::nullopt;
    return Constant{op->outputs[0], *value};
  }

  // Drops the intrinsic if its value is that of an operand. If the types differ, the conversion
  // stays, as `ident`.
  bool simplify(Intrinsic& op, std::vector<bool>& stays, size_t position) {
    if (op.outputs.size() != 1) return false;
    const std::optional<size_t> operand = unchanged_operand(op, known_operands(op));
    if (!operand) return false;
    const std::string from = op.inputs[*operand];
    auto type = types_.find(from);
    if (type == types_.end()) return false;
    if (type->second == op.type) {
      renamed_[op.outputs[0]] = from;
      stays[position] = false;
      return true;
    }
    if (op.name == "ident") return false;
    op.name = "ident";
    op.inputs = {from};
    return true;
  }

  Block& block_;
  const UniformTensors& tensors_;
  const ConstantFoldOptions& options_;
  PassContext& context_;
  std::map<std::string, DataType> types_;
  std::map<std::string, Scalar> known_;
  std::map<std::string, std::string> renamed_;
};

bool fold_inside(Block& block, const UniformTensors& tensors, const ConstantFoldOptions& options,
                 PassContext& context) {
  if (block.tags.has(stripe::tag::kStencil))
    return false;  // its body defines one operation of the hardware
  bool changed = BlockFolder(block, tensors, options, context).run();
  for (Statement& stmt : block.stmts)
    if (Block* inner = stmt.block())
      changed = fold_inside(*inner, tensors, options, context) || changed;
  return changed;
}

// A round may make a stored value constant, and the next round then every load of that tensor. Real
// programs gain nothing from more rounds than this.
constexpr int kRounds = 4;

}  // namespace

void describe(ConstantFoldOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs,
              "tags of the blocks that are folded; their insides too; none = the whole program");
  fields.add("intrinsics", options.intrinsics, "compute intrinsics whose operands are constants");
  fields.add("identities", options.identities,
             "drop intrinsics whose value always is that of one operand");
  fields.add("tensors", options.tensors,
             "make constants of loads from allocations that hold one constant only");
}

Status constant_fold(stripe::Program& program, const ConstantFoldOptions& options,
                     PassContext& context) {
  bool again = true;
  for (int round = 0; round < kRounds && again; ++round) {
    again = false;
    const UniformTensors tensors(program.entry);
    STRIA_RETURN_IF_ERROR(
        for_each_selected(program, options.reqs, [&](Block& block, const TensorNames&) {
          const bool changed = fold_inside(block, tensors, options, context);
          if (round == 0) context.matched();
          if (round == 0 && changed) context.changed();
          again = again || changed;
          return Status();
        }));
  }
  return {};
}

}  // namespace stria::passes
