// SPDX-License-Identifier: Apache-2.0
// The tests of tests/unit/kernels on nodes of kernel trees, which a program in C runs
// (run_nodes.h): with scalars alone, with vectors, and with 32-bit indices without peepholes, in
// turn.
#include <gtest/gtest.h>

#include "kernel_runner.h"
#include "run_nodes.h"
#include "stria/sdk/reader.h"

namespace stria::kernels {

const int kOneOf = 1;

namespace {

run_counts counts;

Status status_of(const sdk::ReaderError& error) {
  return Status(static_cast<StatusCode>(error.code()), std::string(error.message()));
}

stria_tree_options next_options() {
  static int number = 0;
  stria_tree_options out{};
  out.size = sizeof out;
  out.no_micro_kernels = 1;
  out.most_lanes = ++number % 3 == 0 ? 1 : 64;
  out.narrow_indices = out.no_peepholes = number % 3 == 1;
  return out;
}

// That every kind came, once all tests have run.
class AllKinds : public testing::Environment {
  void TearDown() override {
    // Not if somebody runs one of them alone.
    if (testing::GTEST_FLAG(filter) != "*") return;
    for (const int kind :
         {STRIA_TREE_LET, STRIA_TREE_LOAD, STRIA_TREE_STORE, STRIA_TREE_FOR, STRIA_TREE_IF})
      EXPECT_GT(counts.statements[kind], 0u) << "statements of kind " << kind;
    for (int kind = STRIA_TREE_CONSTANT; kind <= STRIA_TREE_CALL; ++kind) {
      // What only some devices' own mathematics have.
      if (kind == STRIA_TREE_REINTERPRET) continue;
      EXPECT_GT(counts.expressions[kind], 0u) << "expressions of kind " << kind;
    }
    for (int op = 0; op <= STRIA_TREE_SELECT; ++op) {
      if (op == STRIA_TREE_ROUND_AWAY || op == STRIA_TREE_TRUNCATE || op == STRIA_TREE_FMA)
        continue;
      const std::string_view name = sdk::text_of(stria_reader_operation_name(op));
      if (!name.empty()) {
        EXPECT_GT(counts.operations[op], 0u) << name;
      }
    }
    EXPECT_GT(counts.vectors, 1000u);
  }
};
[[maybe_unused]] const bool added = [] {
  testing::AddGlobalTestEnvironment(new AllKinds);
  return true;
}();

}  // namespace

Status run_compiled(const stripe::Program& program, const std::string& text, TestBuffers& buffers) {
  sdk::ReaderProgram read;
  if (const sdk::ReaderError error = sdk::read_program("program", text, &read))
    return status_of(error);
  const stria_tree_options options = next_options();
  for (uint64_t k = 0; k < read->kernel_count; ++k) {
    sdk::ReaderTree tree;
    const stria_tree_nodes* nodes = nullptr;
    sdk::ReaderError error = sdk::build_tree(read, k, &tree, &options);
    if (!error) error = sdk::nodes_of(tree, &nodes);
    if (error) return status_of(error);
    std::vector<void*> arguments;
    for (const stria_kernel_argument& argument : sdk::arguments(*read->kernels[k]))
      arguments.push_back(
          buffer_behind(program, std::string(sdk::text_of(argument.name)), buffers).data());
    std::string tree_text;
    if (sdk::ReaderError failed = sdk::print(tree, &tree_text)) return status_of(failed);
    if (const char* wrong = run_nodes(&*tree, nodes, arguments.data(), &counts))
      return internal_error("{}:\n{}", wrong, tree_text);
  }
  return {};
}

}  // namespace stria::kernels
