// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/tree/print.h"

#include "stria/base/status.h"
#include "stria/base/text.h"

namespace stria::semtree {
namespace {

class Printer {
 public:
  explicit Printer(const Function& function) : function_(function) {}

  std::string function() {
    std::string params;
    for (const Parameter& param : function_.params) {
      if (!params.empty()) params += ", ";
      params +=
          fmt::format("{} {}: {}[{}]", param.writable ? (param.readable ? "inout" : "out") : "in",
                      param.name, stria::name_of(param.type), param.span);
      if (param.first != 0) params += fmt::format(" from {}", param.first);
    }
    out_ = fmt::format("kernel {} ({})", function_.name.empty() ? "_" : function_.name, params);
    out_ += " parallel ";
    if (function_.grid.empty())
      out_ += fmt::format("{} in 0 .. {}, ", function_.vars[function_.parallel_var].name,
                          function_.trip_count);
    for (const Function::GridDim& dim : function_.grid)
      out_ += fmt::format("{} in 0 .. {}, ", function_.vars[dim.var].name, dim.size);
    out_ += fmt::format("index {} {{\n", stria::name_of(function_.index_type));
    for (const std::string& note : function_.notes) out_ += fmt::format("  // {}\n", note);
    if (function_.group_lanes > 1)
      out_ += fmt::format("  lanes {} in 0 .. {}\n", function_.vars[function_.lane_var].name,
                          function_.group_lanes);
    for (const Array& array : function_.arrays) {
      const int lanes = array.in_registers ? array.slot_lanes : 1;
      out_ += fmt::format("  {} {}: {}[{}]\n",
                          array.in_registers ? "registers"
                          : array.overlaid   ? "shared, over the others"
                          : array.shared     ? "shared"
                          : array.fragment   ? "fragments"
                                             : "stack",
                          array.name, to_string(Type{array.type, lanes}),
                          (array.count + lanes - 1) / lanes);
      if (const auto& form = array.fragment) {
        out_.back() = ' ';
        out_ += fmt::format("of {} x {}, {}\n", form->rows, form->columns, name_of(form->use));
      }
    }
    body(function_.body, 1);
    return out_ + "}\n";
  }

  std::string statement(const Statement& one) {
    body({one}, 0);
    return out_;
  }

  std::string expr(const ExprRef& e, bool inside = false) {
    const auto arg = [&](size_t i) { return expr(e->args[i], true); };
    switch (e->kind) {
      case ExprKind::constant: return constant(*e);
      case ExprKind::variable: return function_.vars[e->var].name;
      case ExprKind::iota: return fmt::format("iota({})", to_string(e->type));
      case ExprKind::convert:
        return fmt::format("{}({})", stria::name_of(e->type.scalar), expr(e->args[0]));
      case ExprKind::reinterpret:
        return fmt::format("bits_{}({})", stria::name_of(e->type.scalar), expr(e->args[0]));
      case ExprKind::broadcast: return fmt::format("x{}({})", e->type.lanes, expr(e->args[0]));
      case ExprKind::lane: return fmt::format("lane({}, {})", expr(e->args[0]), e->value.i);
      case ExprKind::reduce:
        return fmt::format("reduce_{}({})", semtree::name_of(e->op), expr(e->args[0]));
      case ExprKind::call: return fmt::format("{}({})", e->callee, list(e->args));
      case ExprKind::operation: break;
    }
    std::string_view sign = sign_of(e->op);
    if (sign.empty() || e->args.size() == 1)
      return fmt::format("{}({})", semtree::name_of(e->op), list(e->args));
    std::string text = fmt::format("{} {} {}", arg(0), sign, arg(1));
    return inside ? "(" + text + ")" : text;
  }

 private:
  std::string list(const std::vector<ExprRef>& args) {
    std::string out;
    for (const ExprRef& arg : args) out += (out.empty() ? "" : ", ") + expr(arg);
    return out;
  }

  // Integers of the index type print bare; other constants name their type.
  std::string constant(const Expr& e) {
    std::string text = stria::to_string(e.value);
    if (e.type.scalar != function_.index_type && e.type.scalar != DataType::boolean)
      text += fmt::format(" {}", stria::name_of(e.type.scalar));
    return e.type.lanes == 1 ? text : fmt::format("x{}({})", e.type.lanes, text);
  }

  std::string place(const Place& p) {
    std::string at = p.offset ? expr(p.offset) : "";
    if (at.empty()) {
      at = fmt::format("{}", p.constant);
    } else if (p.constant != 0) {
      at += p.constant < 0 ? fmt::format(" - {}", -static_cast<uint64_t>(p.constant))
                           : fmt::format(" + {}", p.constant);
    }
    if (p.lanes > 1) at += fmt::format(" x{}", p.lanes);
    if (p.lanes > 1 && p.stride != 1) at += fmt::format(" by {}", p.stride);
    if (p.mask) at += fmt::format(" if {}", expr(p.mask));
    return fmt::format("{}[{}]", function_.memory_name(p.memory), at);
  }

  static std::string_view name_of(Array::Fragment::Use use) {
    using Use = Array::Fragment::Use;
    return use == Use::left ? "left" : use == Use::right ? "right" : "sum";
  }
  std::string fragment(const FragmentRef& ref) {
    return fmt::format("{}[{}]", function_.memory_name(ref.memory), ref.number);
  }
  std::string matrix(const MatrixPlace& at) {
    std::string out = fmt::format("{} by {}, {}", place(at.place), at.row_stride, at.column_stride);
    if (at.rows) out += fmt::format(" rows {}", expr(at.rows));
    if (at.columns) out += fmt::format(" columns {}", expr(at.columns));
    return out;
  }

  static std::string ahead(int64_t elements) {
    return elements == 0 ? "" : fmt::format(" prefetch {}", elements);
  }

  void body(const Body& statements, int depth) {
    const std::string indent(2 * depth, ' ');
    const auto name = [&](int var) { return function_.vars[var].name; };
    for (const Statement& statement : statements) {
      if (auto* s = std::get_if<Let>(&statement.op)) {
        out_ += fmt::format("{}{} = {}\n", indent, name(s->var), expr(s->value));
      } else if (auto* s = std::get_if<Load>(&statement.op)) {
        out_ +=
            fmt::format("{}{} = {}{}\n", indent, name(s->var), place(s->place), ahead(s->prefetch));
      } else if (auto* s = std::get_if<Store>(&statement.op)) {
        out_ += fmt::format("{}{} ={} {}{}\n", indent, place(s->place), s->stream ? " stream" : "",
                            expr(s->value), ahead(s->prefetch));
      } else if (auto* s = std::get_if<For>(&statement.op)) {
        out_ += fmt::format("{}for {} in {} .. {}{} {{\n", indent, name(s->var), expr(s->lower),
                            expr(s->upper), s->unroll ? " unroll" : "");
        body(s->body, depth + 1);
        out_ += indent + "}\n";
      } else if (auto* s = std::get_if<If>(&statement.op)) {
        out_ += fmt::format("{}if {} {{\n", indent, expr(s->condition));
        body(s->then, depth + 1);
        std::vector<std::string> kept;
        for (const int var : s->kept) kept.push_back(name(var));
        out_ +=
            indent + (kept.empty() ? "}\n" : fmt::format("}} keeps {}\n", fmt::join(kept, ", ")));
      } else if (auto* s = std::get_if<Prefetch>(&statement.op)) {
        out_ +=
            fmt::format("{}prefetch {}{}\n", indent, place(s->place), s->writes ? " to write" : "");
      } else if (auto* s = std::get_if<Instruction>(&statement.op)) {
        std::string operands;
        for (const Instruction::Operand& operand : s->operands)
          operands += fmt::format(
              "{}{} {}[{}]", operands.empty() ? "" : ", ", operand.written ? "inout" : "in",
              function_.memory_name(operand.memory), fmt::join(operand.slots, " "));
        out_ += fmt::format("{}{}({})\n", indent, s->name, operands);
      } else if (auto* s = std::get_if<MicroKernel>(&statement.op)) {
        std::string operands;
        for (const MicroKernel::Operand& operand : s->operands) {
          std::vector<std::string> dims;
          for (size_t d = 0; d < operand.sizes.size(); ++d)
            dims.push_back(fmt::format("{}:{}", operand.sizes[d], operand.strides[d]));
          operands += fmt::format("{}{} {} [{}]", operands.empty() ? "" : ", ",
                                  operand.written ? "inout" : "in", place(operand.place),
                                  fmt::join(dims, ", "));
        }
        out_ += fmt::format("{}micro-kernel {}({})\n", indent, s->symbol, operands);
      } else if (auto* s = std::get_if<MatrixFill>(&statement.op)) {
        out_ +=
            fmt::format("{}{} = fill({})\n", indent, fragment(s->to), stria::to_string(s->value));
      } else if (auto* s = std::get_if<MatrixLoad>(&statement.op)) {
        out_ += fmt::format("{}{} = matrix {}\n", indent, fragment(s->to), matrix(s->from));
      } else if (auto* s = std::get_if<MatrixStore>(&statement.op)) {
        out_ += fmt::format("{}matrix {} = {}\n", indent, matrix(s->to), fragment(s->from));
      } else if (auto* s = std::get_if<MatrixMultiply>(&statement.op)) {
        out_ += fmt::format("{}{} += {} * {}\n", indent, fragment(s->sum), fragment(s->a),
                            fragment(s->b));
      } else if (auto* s = std::get_if<ElementLoop>(&statement.op)) {
        out_ += indent + "for elements {\n";
        body(s->body, depth + 1);
        out_ += indent + "}\n";
      } else if (std::holds_alternative<SubgroupBarrier>(statement.op)) {
        out_ += indent + "barrier of the subgroup\n";
      } else {
        out_ += indent + (std::get<Barrier>(statement.op).parameters ? "barrier of parameters\n"
                                                                     : "barrier\n");
      }
    }
  }

  const Function& function_;
  std::string out_;
};

}  // namespace

std::string to_string(Type type) {
  std::string_view name = stria::name_of(type.scalar);
  return type.lanes == 1 ? std::string(name) : fmt::format("{}x{}", name, type.lanes);
}

std::string_view sign_of(Op op) {
  switch (op) {
    case Op::add: return "+";
    case Op::sub:
    case Op::neg: return "-";
    case Op::mul: return "*";
    case Op::div: return "/";
    case Op::rem: return "%";
    case Op::bit_and: return "&";
    case Op::bit_or: return "|";
    case Op::bit_xor: return "^";
    case Op::bit_not: return "~";
    case Op::logical_not: return "!";
    case Op::shift_left: return "<<";
    case Op::shift_right: return ">>";
    case Op::eq: return "==";
    case Op::ne: return "!=";
    case Op::lt: return "<";
    case Op::le: return "<=";
    default: return "";
  }
}

std::string_view name_of(Op op) {
  switch (op) {
    case Op::neg: return "neg";
    case Op::bit_not: return "bit_not";
    case Op::logical_not: return "not";
    case Op::abs: return "abs";
    case Op::sqrt: return "sqrt";
    case Op::floor: return "floor";
    case Op::ceil: return "ceil";
    case Op::round_even: return "round_even";
    case Op::round_away: return "round_away";
    case Op::trunc: return "trunc";
    case Op::add: return "add";
    case Op::sub: return "sub";
    case Op::mul: return "mul";
    case Op::div: return "div";
    case Op::rem: return "rem";
    case Op::floor_div: return "floor_div";
    case Op::min: return "min";
    case Op::max: return "max";
    case Op::bit_and: return "and";
    case Op::bit_or: return "or";
    case Op::bit_xor: return "xor";
    case Op::shift_left: return "shift_left";
    case Op::shift_right: return "shift_right";
    case Op::eq: return "eq";
    case Op::ne: return "ne";
    case Op::lt: return "lt";
    case Op::le: return "le";
    case Op::fma: return "fma";
    case Op::select: return "select";
  }
  return "?";
}

std::string print(const Function& function) { return Printer(function).function(); }

std::string print(const ExprRef& expr, const Function& function) {
  return Printer(function).expr(expr);
}

std::string print(const Statement& statement, const Function& function) {
  return Printer(function).statement(statement);
}

}  // namespace stria::semtree
