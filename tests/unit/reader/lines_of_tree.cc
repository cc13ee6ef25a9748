// SPDX-License-Identifier: Apache-2.0
// The example of sdk/guide/trees.md, which shows all that follows as it is.
#include <cstdio>
#include <string>

#include "stria/sdk/reader.h"

namespace sdk = stria::sdk;

// One line for each operation: "r2 = mul.i64 r0, 8". A kind that it does not know refuses the tree.
class Lines {
 public:
  explicit Lines(const stria_tree_nodes& nodes) : nodes_(nodes) {
    body(sdk::body(nodes));
    text_ += "ret\n";
  }
  const std::string& text() const { return text_; }
  bool refused() const { return refused_; }

 private:
  void body(sdk::PointerList<stria_tree_statement> statements) {
    for (const stria_tree_statement& one : statements) statement(one);
  }

  void statement(const stria_tree_statement& one) {
    switch (one.kind) {
      case STRIA_TREE_LET: line(variable(one.variable) + " = " + value(*one.value)); break;
      case STRIA_TREE_LOAD: line(variable(one.variable) + " = load " + address(*one.place)); break;
      case STRIA_TREE_STORE: {
        const std::string stored = value(*one.value);
        line("store " + address(*one.place) + ", " + stored);
        break;
      }
      case STRIA_TREE_FOR: {
        const std::string number = std::to_string(labels_++), i = variable(one.variable);
        line(i + " = " + value(*one.lower));
        const std::string end = value(*one.upper);
        text_ += "loop" + number + ":\n";
        line("branch_if_ge " + i + ", " + end + ", end" + number);
        body(sdk::body(one));
        line(i + " = add " + i + ", 1");
        line("branch loop" + number);
        text_ += "end" + number + ":\n";
        break;
      }
      default: refused_ = true;
    }
  }

  // The register or the number that is the expression's value.
  std::string value(const stria_tree_expression& e) {
    if (e.lanes > 1) refused_ = true;  // asked for with stria_tree_options::most_lanes
    if (e.kind == STRIA_TREE_VARIABLE) return variable(e.variable);
    if (e.kind == STRIA_TREE_CONSTANT)
      return e.type < STRIA_FP16 ? std::to_string(e.integer) : exact(e.number);
    std::string name;
    if (e.kind == STRIA_TREE_OPERATION)
      name = sdk::text_of(stria_reader_operation_name(e.operation));
    if (e.kind == STRIA_TREE_CONVERT) name = "convert";
    if (e.kind == STRIA_TREE_CALL) name = "call " + std::string(sdk::text_of(e.function));
    if (name.empty()) refused_ = true;
    std::string types = type_of(e), operands;
    for (const stria_tree_expression& one : sdk::operands(e)) {
      // A comparison is of the type that it compares; a conversion is from one to another.
      if (operands.empty() && one.type != e.type) types += "." + type_of(one);
      operands += (operands.empty() ? " " : ", ") + value(one);
    }
    const std::string out = "t" + std::to_string(temporaries_++);
    line(out + " = " + name + "." + types + operands);
    return out;
  }

  std::string address(const stria_tree_place& place) {
    const auto memory = static_cast<uint64_t>(place.memory);
    const stria_string name = memory < nodes_.parameter_count
                                  ? nodes_.parameters[memory]->name
                                  : nodes_.arrays[memory - nodes_.parameter_count]->name;
    std::string out = "[" + std::string(sdk::text_of(name));
    if (place.offset != nullptr) out += " + " + value(*place.offset);
    return out + " + " + std::to_string(place.constant) + "]";
  }

  static std::string type_of(const stria_tree_expression& e) {
    return std::string(sdk::text_of(stria_reader_type_name(e.type)));
  }
  static std::string exact(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", number);
    return text;
  }
  std::string variable(int32_t number) const { return "v" + std::to_string(number); }
  void line(const std::string& text) { text_ += "  " + text + "\n"; }

  const stria_tree_nodes& nodes_;
  std::string text_;
  bool refused_ = false;
  int labels_ = 0, temporaries_ = 0;
};

// The text of one kernel, or why there is none.
std::string lines_of_kernel(const sdk::ReaderProgram& program, uint64_t kernel) {
  sdk::ReaderTree tree;
  const stria_tree_nodes* nodes = nullptr;
  sdk::ReaderError error = sdk::build_tree(program, kernel, &tree);
  if (!error) error = sdk::nodes_of(tree, &nodes);
  if (error) return std::string(error.message());  // leave the kernel to the host
  const Lines lines(*nodes);
  return lines.refused() ? "refused" : lines.text();
}
