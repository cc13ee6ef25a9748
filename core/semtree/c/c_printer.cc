// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/c/c_printer.h"

#include <algorithm>
#include <set>

#include "stria/base/text.h"
#include "stria/semtree/c/c_expression.h"
#include "stria/semtree/c/source_names.h"

namespace stria::semtree {
namespace {

class KernelPrinter {
 public:
  KernelPrinter(const Function& function, const Dialect& dialect, Speller& speller)
      : function_(function),
        dialect_(dialect),
        speller_(speller),
        expressions_(function, dialect, speller) {}

  std::string print(const std::string& symbol, int64_t group_points) {
    const bool in_groups = function_.group_lanes > 1;
    if (in_groups && dialect_.lane.empty()) speller_.lacks("the device has no groups of lanes");
    if (in_groups) group_points = function_.group_lanes;
    const std::string offset = speller_.type_name({DataType::u64, 1});
    std::string params;
    for (size_t i = 0; i < function_.params.size(); ++i)
      params +=
          fmt::format("{}{}{}, const {} {}", i ? ", " : "", pointer(i), base(i), offset, at(i));
    for (const std::string& note : function_.notes)
      out_ += fmt::format("// {}\n", comment_text(note));
    out_ += speller_.expand({dialect_.kernel, {}}, {}, {},
                            {std::to_string(group_points), symbol, params,
                             params.empty() ? params : ", " + params}) +
            "\n{\n";
    for (size_t i = 0; i < function_.params.size(); ++i)
      line(1, fmt::format("{}{} = {} + {};", pointer(i), name(i), base(i), at(i)));
    for (size_t i = 0; i < function_.arrays.size(); ++i)
      declare(static_cast<int>(function_.params.size() + i));
    const Type index{function_.index_type, 1};
    const auto number = [&](const std::string& name, const std::string& value) {
      line(1, fmt::format("const {} {} = ({}){};", expressions_.type(index), name,
                          expressions_.type(index), value));
    };
    if (in_groups) {
      for (size_t d = 0; d < function_.grid.size(); ++d)
        number(expressions_.variable(function_.grid[d].var), dialect_.group[d]);
      number(expressions_.variable(function_.lane_var), dialect_.lane);
      body(function_.body, 1);
      return out_ + "}\n";
    }
    const std::string& point = expressions_.variable(function_.parallel_var);
    if (!dialect_.first_point.empty()) {
      const std::string type = expressions_.type(index);
      line(1, fmt::format("for ({} {} = ({}){}; {} < ({}){}; ++{}) {{", type, point, type,
                          dialect_.first_point, point, type, dialect_.end_point, point));
      body(function_.body, 2);
      line(1, "}");
      return out_ + "}\n";
    }
    number(point, dialect_.point);
    if (function_.trip_count % group_points != 0) {
      line(1, fmt::format("if ({} < {}) {{", point, function_.trip_count));
      body(function_.body, 2);
      line(1, "}");
    } else {
      body(function_.body, 1);
    }
    return out_ + "}\n";
  }

 private:
  const std::string& name(size_t param) const {
    return expressions_.memory(static_cast<int>(param));
  }
  std::string base(size_t param) const { return own_name("base", name(param)); }
  std::string at(size_t param) const { return own_name("at", name(param)); }

  std::string pointer(size_t i) {
    const Parameter& param = function_.params[i];
    return fmt::format("{} {}{}* {}", dialect_.pointer_space, param.writable ? "" : "const ",
                       speller_.memory_name(param.type),
                       shares_written_memory(param) ? "" : dialect_.no_alias + " ");
  }
  bool shares_written_memory(const Parameter& param) const {
    if (param.shared) return true;
    return std::any_of(function_.params.begin(), function_.params.end(),
                       [&](const Parameter& other) {
                         return &other != &param && other.alias_group == param.alias_group &&
                                (other.writable || param.writable);
                       });
  }

  void declare(int memory) {
    const Array& array = function_.array(memory);
    const std::string& name = expressions_.memory(memory);
    if (!array.in_registers) {
      const std::string space = array.shared ? dialect_.shared_space + " " : "";
      if (array.aligned && dialect_.aligned.empty())
        speller_.lacks(fmt::format("'{}' cannot be aligned for a micro-kernel", array.name));
      const std::string begins = array.aligned ? dialect_.aligned + " " : "";
      const std::string aligned =
          array.shared && !dialect_.shared_aligned.empty() ? " " + dialect_.shared_aligned : "";
      line(1, fmt::format("{}{}{} {}[{}]{};", begins, space, speller_.memory_name(array.type), name,
                          array.count, aligned));
      return;
    }
    const std::string type = expressions_.type({array.type, array.slot_lanes});
    const int64_t slots = (array.count + array.slot_lanes - 1) / array.slot_lanes;
    line(1, slots > 1 ? fmt::format("{} {}[{}];", type, name, slots)
                      : fmt::format("{} {};", type, name));
  }

  void line(int depth, const std::string& text) {
    out_ += std::string(2 * static_cast<size_t>(depth), ' ') + text + "\n";
  }

  void assign(int depth, int var, const std::string& value) {
    const Type type = function_.vars[static_cast<size_t>(var)].type;
    if (kept_.count(var))
      line(depth, fmt::format("{} = {};", expressions_.variable(var), value));
    else
      line(depth, fmt::format("const {} {} = {};", expressions_.type(type),
                              expressions_.variable(var), value));
  }

  void body(const Body& statements, int depth) {
    for (const Statement& statement : statements) {
      if (auto* s = std::get_if<Let>(&statement.op)) {
        assign(depth, s->var, expressions_.statement_level(*s->value));
      } else if (auto* s = std::get_if<Load>(&statement.op)) {
        assign(depth, s->var, expressions_.load(s->place));
      } else if (auto* s = std::get_if<Store>(&statement.op)) {
        for (const std::string& text : expressions_.store(s->place, *s->value)) line(depth, text);
      } else if (auto* s = std::get_if<For>(&statement.op)) {
        const std::string& var = expressions_.variable(s->var);
        if (s->unroll) line(depth, "#pragma unroll");
        line(depth, fmt::format("for ({} {} = {}; {} < {}; ++{}) {{",
                                expressions_.type({function_.index_type, 1}), var,
                                expressions_.statement_level(*s->lower), var,
                                expressions_.text(*s->upper), var));
        body(s->body, depth + 1);
        line(depth, "}");
      } else if (auto* s = std::get_if<If>(&statement.op)) {
        for (const int var : s->kept) {
          if (!kept_.insert(var).second) continue;  // a condition around this one keeps it
          line(depth, fmt::format("{} {};",
                                  expressions_.type(function_.vars[static_cast<size_t>(var)].type),
                                  expressions_.variable(var)));
        }
        line(depth, fmt::format("if ({}) {{", expressions_.statement_level(*s->condition)));
        body(s->then, depth + 1);
        line(depth, "}");
      } else if (auto* s = std::get_if<Instruction>(&statement.op)) {
        instruction(*s, depth);
      } else if (auto* s = std::get_if<MicroKernel>(&statement.op)) {
        micro_kernel(*s, depth);
      } else if (auto* s = std::get_if<Barrier>(&statement.op)) {
        const char* kind = s->parameters ? "barrier.parameters" : "barrier";
        line(depth, speller_.expand(kind, {}, {}, {}, {}, "barrier") + ";");
      }
    }
  }

  void micro_kernel(const MicroKernel& call, int depth) {
    std::vector<std::string> addresses;
    std::vector<int64_t> sizes, strides;
    for (const MicroKernel::Operand& operand : call.operands) {
      addresses.push_back("(void*)&" + expressions_.element(operand.place));
      sizes.insert(sizes.end(), operand.sizes.begin(), operand.sizes.end());
      strides.insert(strides.end(), operand.strides.begin(), operand.strides.end());
    }
    const std::string text = speller_.expand(
        "micro_kernel", {}, {}, {},
        {call.symbol, fmt::format("{}", fmt::join(addresses, ", ")),
         fmt::format("{}", fmt::join(sizes, ", ")), fmt::format("{}", fmt::join(strides, ", "))},
        fmt::format("call of the micro-kernel '{}'", call.symbol));
    for (const std::string& one : split(text, '\n')) line(depth, one);
  }

  void instruction(const Instruction& operation, int depth) {
    std::string key = "instruction." + operation.name;
    std::vector<std::string> registers;
    for (const Instruction::Operand& operand : operation.operands) {
      const Array& array = function_.array(operand.memory);
      key += fmt::format(".{}", stria::name_of(array.type));
      const auto per_register =
          static_cast<size_t>(std::max<int64_t>(4 / byte_size(array.type), 1));
      for (size_t i = 0; i < operand.slots.size(); i += per_register) {
        const int64_t slot = operand.slots[i];
        if (per_register != static_cast<size_t>(array.slot_lanes) || slot % array.slot_lanes != 0 ||
            i + per_register > operand.slots.size() ||
            operand.slots[i + per_register - 1] != slot + array.slot_lanes - 1)
          return speller_.lacks(
              fmt::format("'{}' takes {} elements of '{}' in one register, which is accessed by {}",
                          operation.name, per_register, array.name, array.slot_lanes));
        Place place;
        place.memory = operand.memory;
        place.constant = slot;
        place.lanes = array.slot_lanes;
        const Type type{array.type, array.slot_lanes};
        std::string text = expressions_.element(place);
        registers.push_back(array.slot_lanes == 1
                                ? text
                                : speller_.expand("pair", type, type, type, {text}, "pair"));
      }
    }
    line(depth, speller_.expand(key, {}, {}, {}, registers,
                                fmt::format("instruction '{}' ({})", operation.name, key)) +
                    ";");
  }

  const Function& function_;
  const Dialect& dialect_;
  Speller& speller_;
  CExpressions expressions_;
  std::set<int> kept_;  // declared where more than the body that assigns them sees them
  std::string out_;
};

}  // namespace

CPrinter::CPrinter(const Dialect& dialect) : dialect_(dialect), names_(check_names(dialect)) {}

Result<std::string> CPrinter::add(const Function& function, const std::string& symbol,
                                  int64_t group_points) {
  STRIA_RETURN_IF_ERROR(names_);
  std::set<std::string> known = known_helpers_;
  std::string helpers = helpers_;
  Speller speller(dialect_, known, helpers);
  std::string kernel =
      "\n" + KernelPrinter(function, dialect_, speller).print(symbol, group_points);
  STRIA_RETURN_IF_ERROR(speller.status());
  known_helpers_ = std::move(known);
  helpers_ = std::move(helpers);
  return kernel;
}

std::string CPrinter::common() const { return dialect_.preamble + helpers_; }

}  // namespace stria::semtree
