// SPDX-License-Identifier: Apache-2.0
// Tensors joined of pieces, at random: as a chain of defaults and as a sum, of any rank, type, axis
// and sizes, with pieces that overlap and gaps between them. What they hold is put together here
// byte by byte; then the passes that join kernels keep it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stria/base/text.h"
#include "stria/passes/all_passes.h"
#include "stria/rewrite/index_role.h"
#include "stria/stripe/text/parser.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

constexpr DataType kTypes[] = {DataType::fp32, DataType::fp16, DataType::bf16, DataType::fp64,
                               DataType::i8,   DataType::u16,  DataType::i32,  DataType::u64};

constexpr const char* kJoin =
    R"([{{"join_pieces": {{"parts": {}, "max_refs": {}}}}}, {{"thread": {{"min_work": 1}}}},
        {{"merge_views": {{}}}}, {{"split_interior": {{}}}}, {{"agg_init": {{}}}}, {{"prune": {{}}}}])";

struct Piece {
  std::string name;
  std::vector<int64_t> sizes, begin;
};

struct Joined {
  std::vector<int64_t> sizes;
  std::vector<Piece> pieces;
  bool sum = false;
  DataType type = DataType::fp32;

  std::string text() const {
    std::string parameters, statements, before = "D", all;
    for (size_t n = 0; n < pieces.size(); ++n) {
      const Piece& piece = pieces[n];
      std::vector<std::string> dims, at, in, whole;
      for (size_t d = 0; d < sizes.size(); ++d) {
        dims.push_back(fmt::format("N{}_{}", n, d));
        in.push_back(fmt::format("i{}", d));
        at.push_back(fmt::format("i{} + {}", d, piece.begin[d]));
        whole.push_back(std::to_string(sizes[d]));
      }
      parameters += fmt::format(", {}[{}]", piece.name, join(dims, ", "));
      const bool last = n + 1 == pieces.size();
      const std::string target = last && !sum ? "R" : fmt::format("X{}", n);
      statements +=
          fmt::format("{}[{} : {}] = =({}[{}]){};\n", target, join(at, ", "), join(whole, ", "),
                      piece.name, join(in, ", "), sum ? "" : " default " + before);
      before = target;
      all += (n == 0 ? "" : " + ") + target;
    }
    if (sum) statements += fmt::format("R = {};\n", all);
    return fmt::format("function (D{}) -> (R) {{\n{}}}\n", parameters, statements);
  }
};

Joined random_joined(std::mt19937& dice) {
  auto below = [&](int64_t n) { return static_cast<int64_t>(dice() % static_cast<uint64_t>(n)); };
  Joined out;
  out.type = kTypes[below(std::size(kTypes))];
  out.sum = below(2) == 0;
  const int64_t rank = 1 + below(4), axis = below(rank), count = 2 + below(6);
  const bool apart = out.sum || below(3) > 0;
  for (int64_t d = 0; d < rank; ++d) out.sizes.push_back(d == axis ? 0 : 1 + below(4));
  int64_t next = below(2);
  for (int64_t n = 0; n < count; ++n) {
    Piece piece{fmt::format("P{}", n), out.sizes, std::vector<int64_t>(out.sizes.size())};
    const size_t a = static_cast<size_t>(axis);
    piece.sizes[a] = 1 + below(9);
    piece.begin[a] = apart ? next : std::max<int64_t>(0, next - below(4));
    next = std::max(next, piece.begin[a] + piece.sizes[a]) + (below(4) == 0 ? 1 : 0);
    out.pieces.push_back(std::move(piece));
  }
  out.sizes[static_cast<size_t>(axis)] = next + below(2);
  // In any order: the last one wins.
  std::shuffle(out.pieces.begin(), out.pieces.end(), dice);
  return out;
}

// What the program should compute of its inputs.
std::vector<uint8_t> put_together(const Joined& joined, TileProgram& program) {
  const size_t bytes = static_cast<size_t>(byte_size(joined.type));
  const TensorShape shape = dense_shape(joined.type, joined.sizes);
  std::vector<uint8_t> out;
  for (const TestTensor& input : program.inputs)
    if (input.name == "D" && !joined.sum) out = input.bytes;
  out.resize(static_cast<size_t>(shape.span_bytes()));  // an input has room behind it
  for (const Piece& piece : joined.pieces) {
    const auto input = std::find_if(program.inputs.begin(), program.inputs.end(),
                                    [&](const TestTensor& t) { return t.name == piece.name; });
    for (size_t e = 0; e < static_cast<size_t>(input->shape.element_count()); ++e) {
      int64_t rest = static_cast<int64_t>(e), to = 0;
      for (size_t d = piece.sizes.size(); d-- > 0;) {
        to += (rest % piece.sizes[d] + piece.begin[d]) * shape.dims[d].stride;
        rest /= piece.sizes[d];
      }
      std::copy_n(
          input->bytes.begin() + static_cast<std::ptrdiff_t>(e * bytes), bytes,
          out.begin() + static_cast<std::ptrdiff_t>(to) * static_cast<std::ptrdiff_t>(bytes));
    }
  }
  return out;
}

TEST(JoinedTensors, HoldTheirPieces) {
  std::mt19937 dice(31);
  std::map<std::string, int64_t> counters;
  const HardwareModel model = small_model(16, 8);
  size_t fewest = 0;
  for (int n = 0; n < 200; ++n) {
    const Joined joined = random_joined(dice);
    std::map<std::string, tile::TensorType> types = {{"D", {joined.type, joined.sizes}}};
    for (const Piece& piece : joined.pieces) types[piece.name] = {joined.type, piece.sizes};
    auto program = make_program(joined.text(), types);
    ASSERT_TRUE(program.ok()) << program.status().message() << joined.text();
    std::vector<uint8_t> result(
        static_cast<size_t>(dense_shape(joined.type, joined.sizes).span_bytes()));
    std::vector<interp::TensorArg> args;
    for (TestTensor& input : program->inputs) args.push_back(input.arg());
    args.push_back({"R", result.data(), dense_shape(joined.type, joined.sizes)});
    const Status status = interp::interpret(program->generic, args);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(result, put_together(joined, *program)) << joined.text();
    // No piece is copied on: one kernel each, beside those of what nobody writes.
    const size_t kernels = program->generic.main()->stmts.size();
    EXPECT_LE(kernels, joined.pieces.size() + joined.pieces.size() * 2 + 1) << joined.text();
    fewest += kernels <= joined.pieces.size();
    for (const int parts : {0, 1, 3})
      ASSERT_EQ(wrong_step(fmt::format(fmt::runtime(kJoin), parts, n % 2 == 0 ? 32 : 5), {}, model,
                           *program, &counters),
                "")
          << parts << " parts\n"
          << joined.text();
    ASSERT_EQ(wrong_step(cpu_pipeline(), {{"MIN_WORK", "1"}}, model, *program, &counters), "")
        << joined.text();
  }
  EXPECT_GT(fewest, 20U);
  EXPECT_GT(counters["join_pieces: pieces_joined"], 500);
  EXPECT_GT(counters["merge_views: views_merged"], 300);
}

// 150 pieces are 150 kernels as written, and a few after joining; a chain copied them 449 times.
TEST(JoinedTensors, ManyPiecesAreFewKernels) {
  Joined joined;
  joined.sizes = {600};
  std::map<std::string, tile::TensorType> types = {{"D", {joined.type, joined.sizes}}};
  for (int64_t n = 0; n < 150; ++n) {
    joined.pieces.push_back({fmt::format("P{}", n), {4}, {4 * n}});
    types[joined.pieces.back().name] = {joined.type, {4}};
  }
  for (const bool sum : {false, true}) {
    joined.sum = sum;
    auto generic = lower_text(joined.text(), types);
    ASSERT_TRUE(generic.ok()) << generic.status().message();
    EXPECT_EQ(generic->main()->stmts.size(), 150U);
    const HardwareModel model = small_model(16, 8);
    auto steps = parse_pipeline({"cpu", cpu_pipeline()}, {}, model, pass_registry());
    ASSERT_TRUE(steps.ok()) << steps.status().message();
    auto reports = run_pipeline(*generic, *steps, model, {});
    ASSERT_TRUE(reports.ok()) << reports.status().message();
    EXPECT_LE(generic->main()->stmts.size(), 10U);
  }
}

// Pieces along a diagonal, with gaps, and of which constraints leave a part. A joined kernel of
// their points has no more points than the largest piece.
TEST(JoinedTensors, PiecesThatAreNoBoxes) {
  struct Case {
    const char* text;
    std::vector<int64_t> whole, piece;
    int64_t points;
  };
  const HardwareModel model = small_model(16, 8);
  for (const Case& one : std::vector<Case>{
           {"X[i, i : 12, 6] = =(A[i]) default D;\nR[i + 6, i : 12, 6] = =(B[i]) default X;\n",
            {12, 6},
            {6},
            6},
           {"X[i, j, i : 4, 3, 12] = =(A[i, j]) default D;\n"
            "R[i, j, 2*i + 5 : 4, 3, 12] = =(B[i, j]) default X;\n",
            {4, 3, 12},
            {4, 3},
            12},
           {"X[2*i : 24] = =(A[i]) default D;\nR[3*i + 12 : 24] = =(B[i]) default X;\n",
            {24},
            {4},
            4},
           {"X[i, j : 12, 6] = =(A[i, j]), i - j < 6 default D;\n"
            "R[i + 6, j : 12, 6] = =(B[i, j]), j - i < 4 default X;\n",
            {12, 6},
            {6, 6},
            36}}) {
    const bool flat = one.piece.size() == 1;
    const std::string text = fmt::format("function (A[{0}], B[{1}], D) -> (R) {{\n{2}}}\n",
                                         flat ? "N" : "N, M", flat ? "K" : "K, L", one.text);
    auto program = make_program(text, {{"A", {DataType::fp32, one.piece}},
                                       {"B", {DataType::fp32, one.piece}},
                                       {"D", {DataType::fp32, one.whole}}});
    ASSERT_TRUE(program.ok()) << program.status().to_string() << text;
    std::map<std::string, int64_t> counters;
    for (const int parts : {0, 1, 3})
      EXPECT_EQ(
          wrong_step(fmt::format(fmt::runtime(kJoin), parts, 32), {}, model, *program, &counters),
          "")
          << parts << " parts\n"
          << text;
    EXPECT_EQ(counters["join_pieces: kernels_made"], 3) << text;
    stripe::Program joined = program->generic;
    auto steps =
        parse_pipeline({"join", R"([{"join_pieces": {"parts": 0}}])"}, {}, model, pass_registry());
    ASSERT_TRUE(steps.ok()) << steps.status().message();
    ASSERT_TRUE(run_pipeline(joined, *steps, model, {}).ok());
    for (const stripe::Statement& stmt : joined.main()->stmts) {
      if (!stmt.block()->tags.has("pieces")) continue;
      int64_t points = 1;
      for (const stripe::Index& index : stmt.block()->idxs) points *= index.range;
      EXPECT_EQ(points, one.points) << text;
    }
  }
}

// Pieces of several sizes: the kernel has as many points as the largest one, and those that a
// smaller one lacks write nothing. So all of its points are parts that run at once.
TEST(JoinedTensors, PointsOfUnequalPiecesRunAtOnce) {
  const HardwareModel model = small_model(16, 8);
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{5, 5}, {6, 12, 3, 3}, {1, 9}, {9, 1}, {2, 7, 1, 7, 3}}) {
    std::string text, parameters, before = "D";
    std::map<std::string, tile::TensorType> types;
    int64_t whole = 0;
    for (const int64_t size : sizes) whole += size;
    types["D"] = {DataType::fp32, {3, whole, 2}};
    int64_t begin = 0;
    for (size_t n = 0; n < sizes.size(); ++n) {
      const std::string to = n + 1 == sizes.size() ? "R" : fmt::format("X{}", n);
      parameters += fmt::format("P{0}[A{0}, N{0}, B{0}], ", n);
      text += fmt::format("{}[i, j + {}, k : 3, {}, 2] = =(P{}[i, j, k]) default {};\n", to, begin,
                          whole, n, before);
      types[fmt::format("P{}", n)] = {DataType::fp32, {3, sizes[n], 2}};
      begin += sizes[n];
      before = to;
    }
    auto generic =
        lower_text(fmt::format("function ({}D) -> (R) {{\n{}}}\n", parameters, text), types);
    ASSERT_TRUE(generic.ok()) << generic.status().to_string();
    auto steps = parse_pipeline({"join", R"([{"join_pieces": {"parts": 0}},
        {"thread": {"min_work": 1, "points_per_core": 0}}])"},
                                {}, model, pass_registry());
    ASSERT_TRUE(steps.ok()) << steps.status().message();
    ASSERT_TRUE(run_pipeline(*generic, *steps, model, {}).ok());
    size_t joined = 0;
    for (const stripe::Statement& stmt : generic->main()->stmts) {
      const stripe::Block& kernel = *stmt.block();
      EXPECT_TRUE(kernel.tags.has("parallel")) << text;
      if (!kernel.tags.has("pieces")) continue;
      ++joined;
      // One point for each element of the largest piece: nothing is left to a loop.
      for (const stripe::Statement& piece : kernel.stmts)
        for (const stripe::Index& index : piece.block()->idxs) EXPECT_EQ(index.range, 1) << text;
    }
    EXPECT_GE(joined, 1U) << text;
  }
}

// Two views of one tensor, the first of which has `first` points that write.
TEST(JoinedTensors, ViewsMeetWhereBothWrite) {
  const auto refusal = [](int64_t first, std::string second, const std::string& outer = "i",
                          const std::string& inner = "j:1 = i") {
    if (outer != "i") second.replace(second.find('i'), 1, outer);
    const std::string condition = inner == "j:1 = i" ? fmt::format("{} - j >= 0\n", first - 1) : "";
    auto program = stripe::parse({"views", fmt::format(R"(
0: #program block [] (
    none new@0x0 R[0] fp32(40:1)
    none new@0x0 A[0] fp32(20:1)
) {{
  0: #main block [] (
      out R[0] fp32(40:1)
      in A[0] fp32(20:1)
  ) {{
    0: #kernel block [{2}:20] (
        out R[{2}] fp32(1:1)
        out R_0 = R[{0}] fp32(1:1)
        in A[{2}] fp32(1:1)
    ) {{
      0: block [{3}] (
          {1}          out R[0] fp32(1:1)
          in A[0] fp32(1:1)
      ) {{
        0: $a = load(A)
        1: R = store($a)
      }}
      1: block [] (
          out R = R_0[0] fp32(1:1)
          in A[0] fp32(1:1)
      ) {{
        0: $a = load(A)
        1: R = store($a)
      }}
    }}
  }}
}}
)",
                                                       second, condition, outer, inner)});
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    const stripe::Block& main = *program->main();
    const Refusal refusal = why_points_do_not_commute(
        *main.stmts[0].block(), TensorNames().inside(program->entry).inside(main));
    return refusal ? refusal.reason() : "";
  };
  EXPECT_EQ(refusal(12, "i + 12"), "");
  // Points of a statement inside are no points of an index that is named nearly like theirs.
  EXPECT_EQ(refusal(12, "i + 12", "i'", "i:2"), "a written tensor has a second view");
  EXPECT_EQ(refusal(13, "i + 12"), "a written tensor has a second view");
  EXPECT_EQ(refusal(8, "-i + 27"), "");
  EXPECT_EQ(refusal(9, "-i + 27"), "a written tensor has a second view");
}

// -0.0 + 0.0 is 0.0, in a sum that is a join as in any other.
TEST(JoinedTensors, SumsMakeZeroOfMinusZero) {
  const std::string text =
      "function (A[N], B[N]) -> (R) {\n  X[i : 4] = =(A[i]);\n  Y[i + 2 : 4] = =(B[i]);\n  R = X + "
      "Y;\n}\n";
  const Scalar minus = Scalar::of_float(DataType::fp32, -0.0);
  auto program = make_program(text, {{"A", {DataType::fp32, {2}}}, {"B", {DataType::fp32, {2}}}},
                              {{"A", {minus, minus}}, {"B", {minus, minus}}});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->generic.main()->stmts.size(), 2U);
  std::vector<uint8_t> result(16, 0xff);
  std::vector<interp::TensorArg> args;
  for (TestTensor& input : program->inputs) args.push_back(input.arg());
  args.push_back({"R", result.data(), dense_shape(DataType::fp32, {4})});
  ASSERT_TRUE(interp::interpret(program->generic, args).ok());
  EXPECT_EQ(result, std::vector<uint8_t>(16, 0));
}

}  // namespace
}  // namespace stria::passes
