// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/text/printer.h"

#include "stria/base/text.h"
#include "stria/stripe/agents.h"

namespace stria::stripe {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

// "=3", "=1.5", "=true", "=\"text\"", or "" for a mark without a value.
std::string value_suffix(const TagValue& value) {
  if (auto* v = std::get_if<bool>(&value)) return *v ? "=true" : "=false";
  if (auto* v = std::get_if<int64_t>(&value)) return fmt::format("={}", *v);
  if (auto* v = std::get_if<double>(&value)) return "=" + float_text(*v);
  if (auto* v = std::get_if<std::string>(&value)) return "=" + quoted(*v);
  return "";
}

std::string tags_text(const Tags& tags) {
  std::string out;
  for (const Tag& tag : tags.all()) out += "#" + tag.name + value_suffix(tag.value) + " ";
  return out;
}

std::string list_text(const std::vector<Affine>& forms) {
  std::string out;
  for (const Affine& form : forms) out += (out.empty() ? "" : ", ") + form.to_string();
  return out;
}

std::string bit_form_text(const BitFieldForm& form) {
  std::string out;
  if (form.constant != 0 || form.fields.empty()) out = fmt::format("{}", form.constant);
  for (const BitField& field : form.fields) {
    bool negative = field.factor < 0;
    uint64_t magnitude = static_cast<uint64_t>(field.factor);
    if (negative) magnitude = -magnitude;
    out += out.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    if (magnitude != 1) out += fmt::format("{}*", magnitude);
    out += fmt::format("d{}[{}+:{}]", field.dim, field.low_bit, field.bits);
  }
  return out;
}

std::string angled(const Location& location) {
  return location.empty() ? "" : "<" + to_string(location) + ">";
}

std::string scalar_list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "$" : ", $") + name;
  return out;
}

std::string outputs_text(const std::vector<std::string>& names) {
  return names.size() == 1 ? "$" + names[0] : "(" + scalar_list(names) + ")";
}

std::string special_text(const Special& special) {
  std::string out = fmt::format("special {}({}", special.name, join(special.inputs, ", "));
  if (!special.outputs.empty()) out += "; " + join(special.outputs, ", ");
  out += ")";
  if (special.params.empty()) return out;
  std::string params;
  for (const auto& [name, value] : special.params)
    params += (params.empty() ? "" : ", ") + name + value_suffix(value);
  return out + "{" + params + "}";
}

std::string index_text(const Index& index) {
  std::string out = fmt::format("{}{}:{}", tags_text(index.tags), index.name, index.range);
  if (index.affine) out += " = " + index.affine->to_string();
  return out;
}

std::string block_head(const Block& block) {
  std::string out = tags_text(block.tags) + "block" + angled(block.location) + " [";
  for (size_t i = 0; i < block.idxs.size(); ++i) out += (i ? ", " : "") + index_text(block.idxs[i]);
  return out + "]";
}

std::string chosen_text(const ChosenCoordinates& at) {
  if (at.empty()) return "";
  std::vector<std::string> list;
  for (const std::string& name : at) list.push_back(name.empty() ? "0" : "$" + name);
  return fmt::format("[{}]", fmt::join(list, ", "));
}

struct LineVisitor {
  std::string operator()(const Load& s) const {
    return fmt::format("${} = load({}{})", s.into, s.from, chosen_text(s.at));
  }
  std::string operator()(const Store& s) const {
    return fmt::format("{}{} = store(${})", s.into, chosen_text(s.at), s.from);
  }
  std::string operator()(const LoadIndex& s) const {
    return fmt::format("${} = load_index.{}({})", s.into, name_of(s.type), s.from.to_string());
  }
  std::string operator()(const Constant& s) const {
    return fmt::format("${} = ({}){}", s.into, name_of(s.value.type), to_string(s.value));
  }
  std::string operator()(const Intrinsic& s) const {
    return fmt::format("{} = {}.{}({})", outputs_text(s.outputs), s.name, name_of(s.type),
                       scalar_list(s.inputs));
  }
  std::string operator()(const Box<Special>& s) const { return special_text(*s); }
  std::string operator()(const Box<Block>& s) const { return block_head(*s); }
};

class Printer {
 public:
  void statement(const Statement& stmt, size_t number, int depth) {
    indent(depth);
    out_ += fmt::format("{}", number);
    if (!stmt.deps.empty()) {
      out_ += "[";
      for (size_t i = 0; i < stmt.deps.size(); ++i)
        out_ += fmt::format("{}{}", i ? ", " : "", stmt.deps[i]);
      out_ += "]";
    }
    out_ += ": " + tags_text(stmt.tags);
    if (const Block* inner = stmt.block()) {
      block(*inner, depth);
    } else {
      out_ += print_line_untagged(stmt) + "\n";
    }
  }

  void block(const Block& block, int depth) {
    out_ += block_head(block) + " (";
    if (!block.name.empty()) out_ += " // " + block.name;
    out_ += "\n";
    for (const std::string& comment : block.comments)
      line(depth + 2, comment.empty() ? "//" : "// " + comment);
    for (const Affine& form : block.constraints) line(depth + 2, form.to_string() + " >= 0");
    for (const Refinement& ref : block.refs) line(depth + 2, print_line(ref));
    line(depth, ") {");
    for (size_t i = 0; i < block.stmts.size(); ++i) statement(block.stmts[i], i, depth + 1);
    line(depth, "}");
  }

  std::string take() { return std::move(out_); }
  void append(std::string_view text) { out_ += text; }
  static std::string print_line_untagged(const Statement& stmt) {
    return std::visit(LineVisitor{}, stmt.op);
  }

 private:
  void indent(int depth) { out_.append(static_cast<size_t>(2 * depth), ' '); }
  void line(int depth, std::string_view text) {
    indent(depth);
    out_ += text;
    out_ += "\n";
  }

  std::string out_;
};

}  // namespace

std::string to_string(const Location& location) {
  std::string out;
  for (const LocationUnit& unit : location.path) {
    if (!out.empty()) out += "/";
    out += unit.name;
    if (!unit.units.empty()) out += "[" + list_text(unit.units) + "]";
    if (unit.owners.empty()) continue;
    std::string owners;
    for (const auto& [name, form] : unit.owners)
      owners += (owners.empty() ? "" : ", ") + name + " = " + bit_form_text(form);
    out += "(" + owners + ")";
  }
  return out;
}

std::string print_line(const Refinement& ref) {
  std::string out = tags_text(ref.tags) + std::string(name_of(ref.dir));
  if (ref.is_const) out += " const";
  if (ref.dir == RefDir::none)
    out += fmt::format(" new@0x{:08x}", static_cast<uint64_t>(ref.offset_bytes));
  out += angled(ref.location) + " " + ref.into;
  if (!ref.from.empty() && ref.from != ref.into) out += " = " + ref.from;
  out += "[" + list_text(ref.access) + "]";
  if (ref.agg) out += fmt::format(":{}.{}", name_of(ref.agg->op), name_of(ref.agg->type));
  out += fmt::format(" {}(", name_of(ref.shape.type));
  for (size_t i = 0; i < ref.shape.dims.size(); ++i)
    out += fmt::format("{}{}:{}", i ? ", " : "", ref.shape.dims[i].size, ref.shape.dims[i].stride);
  out += ")";
  if (ref.swizzle)
    out += fmt::format(" swizzle({}, {}, {})", ref.swizzle->bits, ref.swizzle->base,
                       ref.swizzle->shift);
  return out;
}

std::string print_line(const Statement& stmt) {
  return tags_text(stmt.tags) + Printer::print_line_untagged(stmt);
}

std::string print(const Block& block) {
  Printer printer;
  printer.append("0: ");
  printer.block(block, 0);
  return printer.take();
}

std::string print(const Program& program) {
  const int minor = has_agents(program.entry) ? kTextMinorOfAgents : kTextMinor;
  return fmt::format("stripe {}.{}\n", kTextMajor, minor) + print(program.entry);
}

}  // namespace stria::stripe
