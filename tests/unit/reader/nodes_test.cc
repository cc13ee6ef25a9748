// SPDX-License-Identifier: Apache-2.0
// The kernel tree as nodes (stria/tree.h): what a program in C prints from the nodes of each kernel
// of the tests' programs is the text that core prints of the tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "print_nodes.h"
#include "stria/sdk/reader.h"
#include "stria/type/scalar.h"

std::string lines_of_kernel(const stria::sdk::ReaderProgram& program, uint64_t kernel);

namespace stria {
namespace {

namespace fs = std::filesystem;
using testing::IsSubsetOf;
const fs::path kTests = STRIA_SOURCE_DIR "/tests";

std::string printed(const sdk::ReaderTree& tree, const stria_tree_nodes& nodes,
                    node_counts& counts) {
  std::string out;
  node_sink sink{};
  sink.state = &out;
  sink.text = [](void* state, const char* text) { static_cast<std::string*>(state)->append(text); };
  sink.number = [](void* state, stria_data_type type, double number) {
    *static_cast<std::string*>(state) +=
        to_string(Scalar::of_float(static_cast<DataType>(type), number));
  };
  sink.counts = &counts;
  print_nodes(&*tree, &nodes, &sink);
  return out;
}

stria_tree_options options_of(int number) {
  stria_tree_options out{};
  out.size = sizeof out;
  if (number == 1 || number == 2) {
    out.most_lanes = 64;
    out.subgroup_lanes = 32;
    out.largest_grid_y = out.largest_grid_z = 1 << 16;
  }
  if (number == 1) out.shared_vector_bytes = 16;
  if (number == 2) out.loads_across_slots = 1;
  if (number == 3) out.narrow_indices = out.no_peepholes = out.no_micro_kernels = 1;
  return out;
}

struct Outcome {
  node_counts counts{};
  int programs = 0, trees = 0, refused = 0;
  std::string first_difference;
};

void feed(const std::string& name, const std::string& text, Outcome& outcome) {
  SCOPED_TRACE(name);
  sdk::ReaderProgram program;
  if (sdk::read_program(name, text, &program)) return;
  ++outcome.programs;
  for (int number = 0; number < 4; ++number) {
    const stria_tree_options options = options_of(number);
    for (uint64_t k = 0; k < program->kernel_count; ++k) {
      sdk::ReaderTree tree;
      if (sdk::build_tree(program, k, &tree, &options)) {
        ++outcome.refused;
        continue;
      }
      ++outcome.trees;
      const stria_tree_nodes* nodes = nullptr;
      const stria_tree_nodes* again = nullptr;
      ASSERT_FALSE(sdk::nodes_of(tree, &nodes));
      ASSERT_FALSE(sdk::nodes_of(tree, &again));
      EXPECT_EQ(nodes, again);
      std::string expected;
      ASSERT_FALSE(sdk::print(tree, &expected));
      ASSERT_EQ(printed(tree, *nodes, outcome.counts), expected) << "options " << number;
    }
  }
}

// What stands above the line of a golden test is its program.
std::string program_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream read;
  read << in.rdbuf();
  const std::string text = read.str();
  return text.substr(0, text.find("\n// ----\n"));
}

void feed_folder(const fs::path& folder, Outcome& outcome) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) feed(entry.path(), program_of(entry.path()), outcome);
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <size_t count>
std::set<int> missing(const uint64_t (&counts)[count], const std::set<int>& numbers) {
  std::set<int> out;
  for (const int number : numbers)
    if (counts[number] == 0) out.insert(number);
  return out;
}

std::set<int> from_to(int first, int last) {
  std::set<int> out;
  for (int i = first; i <= last; ++i) out.insert(i);
  return out;
}

std::set<int> operations() {
  std::set<int> out;
  for (int i = 0; i <= STRIA_TREE_SELECT; ++i)
    if (stria_reader_operation_name(i).size > 0) out.insert(i);
  return out;
}

TEST(TreeNodes, ProgramsOfTheTests) {
  Outcome outcome;
  for (const char* folder : {"golden", "fuzz/corpus/stripe"}) feed_folder(kTests / folder, outcome);
  // The reader refuses this one for a view of what nothing has written.
  std::string fetches = program_of(kTests / "golden/semtree/prefetch_view.test");
  const std::string unwritten = "#fetch in T[0] fp32(40:1)";
  ASSERT_NE(fetches.find(unwritten), std::string::npos);
  feed("fetches", fetches.erase(fetches.find(unwritten), unwritten.size()), outcome);
  std::printf("%d programs, %d trees, %d refused\n", outcome.programs, outcome.trees,
              outcome.refused);
  EXPECT_GT(outcome.programs, 200);
  EXPECT_GT(outcome.trees, 500);
  EXPECT_GT(outcome.counts.vectors, 1000u);
  // What no golden program has; every_node_test.cc and run_nodes.cc have it.
  EXPECT_THAT(missing(outcome.counts.statements, from_to(STRIA_TREE_LET, STRIA_TREE_MICRO_KERNEL)),
              IsSubsetOf({STRIA_TREE_SUBGROUP_BARRIER}));
  EXPECT_THAT(missing(outcome.counts.expressions, from_to(STRIA_TREE_CONSTANT, STRIA_TREE_CALL)),
              IsSubsetOf({STRIA_TREE_REINTERPRET}));
  EXPECT_THAT(missing(outcome.counts.operations, operations()),
              IsSubsetOf({STRIA_TREE_BIT_NOT, STRIA_TREE_NOT, STRIA_TREE_ABS, STRIA_TREE_FLOOR,
                          STRIA_TREE_CEIL, STRIA_TREE_ROUND_EVEN, STRIA_TREE_ROUND_AWAY,
                          STRIA_TREE_TRUNCATE}));
}

TEST(TreeNodes, Operations) {
  EXPECT_EQ(operations().size(), 29u);
  EXPECT_EQ(sdk::text_of(stria_reader_operation_name(STRIA_TREE_FLOOR_DIV)), "floor_div");
  EXPECT_EQ(stria_reader_operation_name(0).size, 0u);
  EXPECT_EQ(stria_reader_operation_name(STRIA_TREE_SELECT + 1).size, 0u);
}

TEST(TreeNodes, OptionsHaveLimits) {
  sdk::ReaderProgram program;
  ASSERT_FALSE(sdk::read_program("text",
                                 "stripe 1.0\n0: #program block [] (\n) {\n  0: #main block [] (\n"
                                 "  ) {\n    0: #kernel block [] (\n    ) {\n    }\n  }\n}\n",
                                 &program));
  const auto code = [&](void (*change)(stria_tree_options&)) {
    stria_tree_options options{};
    options.size = sizeof options;
    change(options);
    sdk::ReaderTree tree;
    return sdk::build_tree(program, 0, &tree, &options).code();
  };
  EXPECT_EQ(code([](stria_tree_options& o) { o.most_lanes = 1024; }), STRIA_OK);
  EXPECT_EQ(code([](stria_tree_options& o) { o.most_lanes = 1025; }), STRIA_INVALID_ARGUMENT);
  EXPECT_EQ(code([](stria_tree_options& o) { o.most_lanes = -1; }), STRIA_INVALID_ARGUMENT);
  EXPECT_EQ(code([](stria_tree_options& o) { o.subgroup_lanes = 1025; }), STRIA_INVALID_ARGUMENT);
  EXPECT_EQ(code([](stria_tree_options& o) { o.shared_vector_bytes = 65; }),
            STRIA_INVALID_ARGUMENT);
}

// Text of minor 1 is read, and its kernels have no trees.
TEST(TreeNodes, NoneOfAgents) {
  sdk::ReaderProgram program;
  const std::string text = program_of(kTests / "golden/device/ring.stripe");
  ASSERT_EQ(text.substr(0, 10), "stripe 1.1");
  ASSERT_FALSE(sdk::read_program("ring", text, &program));
  int refused = 0;
  for (uint64_t k = 0; k < program->kernel_count; ++k) {
    sdk::ReaderTree tree;
    refused += sdk::build_tree(program, k, &tree).code() == STRIA_UNSUPPORTED;
  }
  EXPECT_GT(refused, 0);
}

// The example of the guide.
TEST(TreeNodes, AsLinesOfAnAssembler) {
  sdk::ReaderProgram program;
  ASSERT_FALSE(sdk::read_program("text", R"(stripe 1.0
0: #program block [] (
    none new@0 A[0, 0] fp32(4:8, 8:1)
    none new@0 R[0, 0] fp32(4:8, 8:1)
) {
  0: #main block [] (
      in A[0, 0] fp32(4:8, 8:1)
      out R[0, 0] fp32(4:8, 8:1)
  ) {
    0: #kernel #parallel block [y:4] ( // twice
        in A[y, 0] fp32(1:8, 8:1)
        out R[y, 0] fp32(1:8, 8:1)
    ) {
      0: block [x:8] (
          in A[0, x] fp32(1:8, 1:1)
          out R[0, x] fp32(1:8, 1:1)
      ) {
        0: $a = load(A)
        1: $r = add.fp32($a, $a)
        2: R = store($r)
      }
    }
  }
}
)",
                                 &program));
  EXPECT_EQ(lines_of_kernel(program, 0), R"(  t0 = mul.i64 v0, 8
  v2 = t0
  v1 = 0
loop0:
  branch_if_ge v1, 8, end0
  t1 = add.i64 v2, v1
  v3 = t1
  v4 = load [A + v3 + 0]
  t2 = add.fp32 v4, v4
  v5 = t2
  store [R + v3 + 0], v5
  v1 = add v1, 1
  branch loop0
end0:
ret
)");
}

// Vectors are beyond the C of the library: it says so.
TEST(TreeNodes, CRefusesVectors) {
  sdk::ReaderProgram program;
  ASSERT_FALSE(
      sdk::read_program("text", program_of(kTests / "golden/semtree/across_slots.test"), &program));
  const stria_tree_options options = options_of(2);
  sdk::ReaderTree tree;
  ASSERT_FALSE(sdk::build_tree(program, 0, &tree, &options));
  sdk::CSource source;
  ASSERT_FALSE(source.create());
  EXPECT_EQ(source.add(tree).code(), STRIA_UNSUPPORTED);
}

}  // namespace
}  // namespace stria
