// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/bind/bind.h"

#include <gmock/gmock.h>

#include "programs.h"

namespace stria::tile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }

const BoundElementwise& elementwise_of(const BoundProgram& p, size_t statement) {
  return std::get<BoundElementwise>(p.statements.at(statement).form);
}

TEST(Bind, InputsOutputsAndOrder) {
  auto bound = bind_text("function (B[N], A[N]) -> (S, R) { R = A - B; S = R * 2; T = A; }",
                         {{"A", fp32({3})}, {"B", fp32({3})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(bound->name, "main");
  ASSERT_EQ(bound->inputs.size(), 2u);
  EXPECT_EQ(bound->tensors[static_cast<size_t>(bound->inputs[0])].name, "B");
  EXPECT_EQ(bound->tensors[static_cast<size_t>(bound->outputs[0])].name, "S");
  EXPECT_EQ(bound->tensors[static_cast<size_t>(bound->outputs[1])].name, "R");
  EXPECT_FALSE(tensor_of(*bound, "T").is_output);
  EXPECT_EQ(bound->statements.size(), 3u);
  ASSERT_EQ(bound->warnings.size(), 1u);
  EXPECT_EQ(bound->warnings[0].message, "'T' is never used");
}

TEST(Bind, LoadsOfOneTensorAreShared) {
  auto bound = bind_text("function (A) -> (R) { R = A * A + A; }", {{"A", fp32({3})}});
  ASSERT_TRUE(bound.ok());
  const BoundElementwise& e = elementwise_of(*bound, 0);
  ASSERT_EQ(e.nodes.size(), 3u);
  EXPECT_EQ(e.nodes[0].kind, BoundNode::Kind::load);
  EXPECT_EQ(e.nodes[1].function, "mul");
  EXPECT_EQ(e.nodes[1].args, (std::vector<int>{0, 0}));
  EXPECT_EQ(e.nodes[2].function, "add");
  EXPECT_EQ(e.nodes[2].args, (std::vector<int>{1, 0}));
}

// A conditional with a known condition is one of its operands, spread over the sizes of both: so it
// is where it stands alone, as an argument of a function and as one of a special.
TEST(Bind, AKnownConditionalHasTheSizesOfBothOperands) {
  const std::map<std::string, TensorType> inputs = {{"A", fp32({1})}, {"B", fp32({3})}};
  for (const char* text :
       {"function (A, B) -> (R) { R = (1 ? A : B); }",
        "function (A, B) -> (R) { T = (1 ? A : B); R = T + T; }",
        "function f(X) -> (Y) { Y = X + X; } function (A, B) -> (R) { R = f(1 ? A : B); }",
        "function f(X[N]) -> (Y) { Y[i: N] = +(X[i]); } function (A, B) -> (R) { R = f(1 ? A : B); "
        "}",
        "function f(X) -> (Y) { Y = X; } function (A, B) -> (R) { R = f(f(0 ? B : A)); }",
        "function (A, B) -> (R) { R = reshape(1 ? A : B, 3); }"}) {
    auto bound = bind_text(text, inputs);
    ASSERT_TRUE(bound.ok()) << text << bound.status().message();
    EXPECT_EQ(tensor_of(*bound, "R").sizes, (std::vector<int64_t>{3})) << text;
  }
}

TEST(Bind, EntryIsTheUnnamedOrTheLastOrTheOneAskedFor) {
  const char* text =
      "function f(A) -> (R) { R = A; } function (A) -> (S) { S = A; } function g(A) -> (T) { T = "
      "A; }";
  EXPECT_EQ(bind_text(text, {{"A", fp32({})}})->tensors[1].name, "S");
  EXPECT_EQ(bind_text(text, {{"A", fp32({})}}, "f")->tensors[1].name, "R");
  EXPECT_EQ(bind_text("function f(A) -> (R) { R = A; } function g(A) -> (T) { T = A; }",
                      {{"A", fp32({})}})
                ->name,
            "g");
  EXPECT_THAT(failure_of("function conv(A) -> (R) { R = A; }", {{"A", fp32({})}}, "cnov"),
              HasSubstr("there is no function 'cnov', did you mean 'conv'? (the file has 'conv')"));
  EXPECT_THAT(failure_of(text, {{"A", fp32({})}}, "nope"),
              HasSubstr("there is no function 'nope' (the file has 'f', 'g')"));
}

TEST(Bind, CallsAreInlined) {
  auto bound = bind_text(
      "function norm(X[M, N]) -> (Y) { S[m : M] = +(X[m, n]); Y = S / N; }\n"
      "function both(X, Z) -> (P, Q) { P = X + Z; Q = X - Z; }\n"
      "function (A[M, N]) -> (R, T) { R = norm(A); (S, D) = both(R, norm(A * 2) + 1); T = both2(S, "
      "D); }\n"
      "function both2(X, Z) -> (Y) { (Y, U) = both(X, Z); }\n",
      {{"A", fp32({2, 3})}}, "");
  // The last function is the entry unless one has no name.
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  std::vector<std::string> names;
  for (const BoundTensor& t : bound->tensors) names.push_back(t.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAreArray(
                         {"A", "R", "R_S", "S", "D", "S_0", "S_0_S", "S_1", "S_2", "T", "T_U"}));
  EXPECT_TRUE(tensor_of(*bound, "R").is_output);
  EXPECT_EQ(tensor_of(*bound, "T").sizes, (std::vector<int64_t>{2}));
  // Every tensor but the inputs is written by one statement, before it is read.
  std::vector<int> written(bound->tensors.size(), 0);
  for (TensorId id : bound->inputs) written[static_cast<size_t>(id)] = 1;
  for (const BoundStatement& s : bound->statements) {
    TensorId out = -1;
    if (const auto* c = std::get_if<BoundContraction>(&s.form)) {
      out = c->out;
      for (const BoundOperand& o : c->operands)
        EXPECT_EQ(written[static_cast<size_t>(o.tensor)], 1);
    } else if (const auto* e = std::get_if<BoundElementwise>(&s.form)) {
      out = e->out;
      for (const BoundNode& n : e->nodes) {
        if (n.kind == BoundNode::Kind::load) {
          EXPECT_EQ(written[static_cast<size_t>(n.tensor)], 1);
        }
      }
    }
    ++written[static_cast<size_t>(out)];
  }
  EXPECT_THAT(written, ::testing::Each(1));
}

TEST(Bind, ErrorsInCallsNameTheCall) {
  std::string message = failure_of(
      "function f(X[N]) -> (Y) {\n  Y[i : N] = +(Z[i]);\n}\nfunction (A) -> (R) {\n  R = "
      "f(A);\n}\n",
      {{"A", fp32({2})}});
  EXPECT_THAT(message, HasSubstr("test.tile:2:16: error: there is no tensor 'Z'"));
  EXPECT_THAT(message, HasSubstr("test.tile:5:7: note: in this call of 'f'"));
  message = failure_of("function f(X[N]) -> (Y) { Y = X; }\nfunction (A) -> (R) { R = f(A); }",
                       {{"A", fp32({2, 3})}});
  EXPECT_THAT(
      message,
      HasSubstr(
          "test.tile:2:29: error: 'X[N]' has 1 dimension, but the tensor given for it is [2, 3]"));
}

TEST(Bind, RecursionIsRefused) {
  EXPECT_THAT(failure_of("function f(A) -> (R) { R = f(A); }", {{"A", fp32({})}}),
              HasSubstr("'f' calls itself"));
  EXPECT_THAT(failure_of("function g(A) -> (R) { R = f(A); } function f(A) -> (R) { R = g(A); }",
                         {{"A", fp32({})}}),
              HasSubstr("calls itself"));
}

TEST(Bind, CallsThatMultiplyEndInAnError) {
  std::string text = "function f0(A) -> (R) { R = A + 1; }\n";
  for (int i = 1; i < 60; ++i)
    text += fmt::format("function f{0}(A) -> (R) {{ B = f{1}(A); R = f{1}(B); }}\n", i, i - 1);
  EXPECT_THAT(failure_of(text, {{"A", fp32({})}}), HasSubstr("more than 200000 statements"));
  std::string numbers = "function f0(A) -> (R) { R = 1; }\n";
  for (int i = 1; i < 60; ++i)
    numbers += fmt::format("function f{0}(A) -> (R) {{ B = f{1}(A); R = f{1}(B); }}\n", i, i - 1);
  EXPECT_THAT(failure_of(numbers, {{"A", fp32({})}}), HasSubstr("more than 500000 calls"));
  std::string deep = "function f0(A) -> (R) { R = A + 1; }\n";
  for (int i = 1; i < 500; ++i)
    deep += fmt::format("function f{0}(A) -> (R) {{ R = f{1}(A) + 1; }}\n", i, i - 1);
  EXPECT_THAT(failure_of(deep, {{"A", fp32({})}}), HasSubstr("nested more than 100 deep"));
}

TEST(Bind, SeveralErrorsInOneRunAndNoEchoes) {
  std::string message = failure_of(
      "function (A[N], B[M]) -> (R) {\n"
      "  S[i : N] = +(X[i]);\n"
      "  T = S + 1;\n"
      "  U = A + foo(B);\n"
      "  R = U + Q;\n"
      "}\n",
      {{"A", fp32({2})}, {"B", fp32({3})}});
  EXPECT_THAT(message, HasSubstr("2:16: error: there is no tensor 'X'"));
  EXPECT_THAT(message, HasSubstr("4:11: error: there is no function 'foo'"));
  EXPECT_THAT(message, HasSubstr("5:11: error: there is no tensor or dimension 'Q'"));
  EXPECT_THAT(message, Not(HasSubstr("'S'")));
  EXPECT_THAT(message, Not(HasSubstr("'U'")));
}

TEST(Bind, DimensionsMustAgree) {
  EXPECT_THAT(failure_of("function (A[M, L], B[L, N]) -> (C) { C = A; }",
                         {{"A", fp32({2, 3})}, {"B", fp32({4, 5})}}),
              HasSubstr("dimension 'L' is 3 in 'A[M, L]' but 4 in 'B[L, N]', which is [4, 5]"));
  EXPECT_THAT(failure_of("function (A[N, N]) -> (C) { C = A; }", {{"A", fp32({2, 3})}}),
              HasSubstr("dimension 'N' is 2 in 'A[N, N]' but 3 in 'A[N, N]', which is [2, 3]"));
  EXPECT_TRUE(bind_text("function (A[N, N]) -> (C) { C = A; }", {{"A", fp32({3, 3})}}).ok());
}

TEST(Bind, MissingInput) {
  EXPECT_THAT(failure_of("function (Image[N]) -> (C) { C = Image; }", {{"Imgae", fp32({2})}}),
              HasSubstr("input 'Image' is not given ('Imgae' is; is it that?)"));
}

TEST(Bind, ZeroSizesAndRankZero) {
  auto bound = bind_text("function (A[N], B[]) -> (R, S) { R = A + B; S[] = +(A[i]); }",
                         {{"A", fp32({0})}, {"B", fp32({})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(tensor_of(*bound, "R").sizes, std::vector<int64_t>{0});
  EXPECT_TRUE(contraction_of(*bound, 1).empty);
}

TEST(Bind, SizesTooLarge) {
  EXPECT_THAT(failure_of("function (A[N]) -> (R) { R[i, j : N * N, N] = +(A[i]); }",
                         {{"A", fp32({int64_t{1} << 31})}}),
              HasSubstr("tensor 'R'"));
  EXPECT_THAT(failure_of("function (A[N]) -> (R) { R[i : N * N * N] = +(A[i]); }",
                         {{"A", fp32({int64_t{1} << 31})}}),
              HasSubstr("beyond the range of i64"));
  EXPECT_THAT(failure_of("function (A) -> (R) { R = A; }", {{"A", fp32({-1})}}),
              HasSubstr("tensor 'A'"));
}

TEST(Bind, IndexNodesCountFromTheOutput) {
  auto bound = bind_text("function (A, B) -> (R) { R = A + index(B, 1) + index(B, 0); }",
                         {{"A", fp32({4, 2, 3})}, {"B", fp32({1, 3})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  const BoundElementwise& e = elementwise_of(*bound, 0);
  EXPECT_EQ(e.nodes[1].kind, BoundNode::Kind::index);
  EXPECT_EQ(e.nodes[1].axis, 2);
  // B is stretched along its first dimension: its index stays 0.
  EXPECT_EQ(e.nodes[3].kind, BoundNode::Kind::constant);
}

TEST(Bind, ShapeIsComputedWithoutASpecial) {
  auto bound = bind_text("function (A) -> (R) { R = shape(A); }", {{"A", fp32({4, 2, 3})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(tensor_of(*bound, "R").sizes, std::vector<int64_t>{3});
  EXPECT_EQ(tensor_of(*bound, "R").type, DataType::i32);
}

TEST(Bind, Reshape) {
  auto bound =
      bind_text("function (D) -> (T) { T = reshape(D * 2, 5, 2, 2) + 1; }", {{"D", fp32({5, 4})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(tensor_of(*bound, "T").sizes, (std::vector<int64_t>{5, 2, 2}));
  EXPECT_TRUE(std::holds_alternative<BoundReshape>(bound->statements[1].form));
  EXPECT_THAT(failure_of("function (D) -> (R) { R = reshape(D, 3); }", {{"D", fp32({5})}}),
              HasSubstr("'reshape' keeps the number of elements: [5] has 5, [3] has 3"));
}

TEST(M13, GatherIsAStatementOfItsOwn) {
  const Inputs inputs = {{"D", {DataType::bf16, {5, 4}}}, {"I", {DataType::u8, {3, 2}}}};
  auto bound = bind_text("function (D, I) -> (R) { R = gather(D, I + 1) * 2; }", inputs);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  ASSERT_EQ(bound->statements.size(), 3u);
  const auto& gather = std::get<BoundGather>(bound->statements[1].form);
  EXPECT_EQ(bound->tensors[static_cast<size_t>(gather.out)].sizes, (std::vector<int64_t>{3, 2, 4}));
  EXPECT_EQ(tensor_of(*bound, "R").type, DataType::bf16);
  // The caret stands under the argument that is wrong.
  EXPECT_THAT(
      failure_of("function (D, I) -> (R) { R = gather(D, D); }", inputs),
      HasSubstr("test.tile:1:40: error: the index of 'gather' is of an integer type, not bf16"));
}

TEST(M14, ScatterKeepsNarrowSumsInAWideTensor) {
  const Inputs inputs = {
      {"E", {DataType::fp16, {3, 4}}}, {"I", {DataType::i64, {3}}}, {"V", fp32({7})}};
  auto bound = bind_text("function (E, I, V) -> (R) { R = scatter(E, I, V); }", inputs);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  const auto& scatter = std::get<BoundScatter>(bound->statements.at(0).form);
  EXPECT_EQ(bound->tensors[static_cast<size_t>(scatter.out)].type, DataType::fp32);
  EXPECT_EQ(tensor_of(*bound, "R").type, DataType::fp16);
  EXPECT_EQ(tensor_of(*bound, "R").sizes, (std::vector<int64_t>{7, 4}));
}

TEST(M16, AStepIsNoTensor) {
  const Inputs inputs = {{"S", {DataType::u32, {3, 2048}}}};
  auto bound = bind_text(
      "function (S) -> (R, N) { T = prng_step(S, 30, 100); R = prng_value(T); N = prng_state(T); }",
      inputs);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  const auto& prng = std::get<BoundPrng>(bound->statements.at(0).form);
  EXPECT_EQ(prng.count, 3000);
  EXPECT_EQ(bound->tensors[static_cast<size_t>(prng.values)].sizes,
            (std::vector<int64_t>{2, 2048}));
  EXPECT_EQ(tensor_of(*bound, "R").sizes, (std::vector<int64_t>{30, 100}));
  EXPECT_EQ(tensor_of(*bound, "N").type, DataType::u32);
  for (const char* body : {"T = prng_step(S, 4); R = T;", "T = prng_step(S, 4); R = exp(T);",
                           "T = prng_step(S, 4); R[i : 4] = +(T[i]);",
                           "T = prng_step(S, 4); R = f(T);", "R = prng_step(S, 4);"})
    EXPECT_THAT(failure_of("function f(X) -> (Y) { Y = X; }\nfunction (S) -> (R) { " +
                               std::string(body) + " }",
                           inputs),
                HasSubstr("is a step of random numbers"))
        << body;
}

TEST(Bind, AWrongRankIsOneError) {
  std::string message =
      failure_of("function (A[M, L], B[L, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
                 {{"A", fp32({})}, {"B", fp32({2, 3})}});
  EXPECT_THAT(message, HasSubstr("'A[M, L]' has 2 dimensions, but the tensor given for it is []"));
  EXPECT_EQ(message.find("error:"), message.rfind("error:")) << message;
}

TEST(Bind, AByteOrderMarkIsSkippedAndBinaryFilesAreNamedSo) {
  EXPECT_TRUE(bind_text("\xEF\xBB\xBF"
                        "function (A) -> (R) { R = A; }",
                        {{"A", fp32({1})}})
                  .ok());
  EXPECT_THAT(failure_of("\xEF\xBB\xBF"
                         "function (A) -> (R) { R = Q; }",
                         {{"A", fp32({1})}}),
              HasSubstr("t.tile:1:27: "));
  std::string message = failure_of(std::string("fun\0\0ction", 10), {});
  EXPECT_THAT(message, HasSubstr("t.tile:1:4: error: not a text file\n  fun\\x00\\x00ction"));
  EXPECT_EQ(message.find("error:"), message.rfind("error:")) << message;
}

TEST(Bind, AttributesReachTheStatements) {
  auto bound = bind_text(
      "function f(X) -> (Y) { T = X + 1; Y = T; }\nfunction (A) -> (R) { [[pid(conv_1)]] R = f(A); "
      "}",
      {{"A", fp32({})}});
  ASSERT_TRUE(bound.ok());
  for (const BoundStatement& s : bound->statements) {
    ASSERT_EQ(s.attributes.size(), 1u);
    EXPECT_EQ(s.attributes[0].arguments[0].text, "conv_1");
  }
}

TEST(Bind, DefaultsHaveTheTypeAndSizesOfTheOutput) {
  EXPECT_TRUE(
      bind_text("function (A[N]) -> (R) { R[i : N] = =(A[2 * i]) default A; }", {{"A", fp32({4})}})
          .ok());
  EXPECT_THAT(failure_of("function (A[N], D) -> (R) { R[i : N] = =(A[2 * i]) default D; }",
                         {{"A", fp32({4})}, {"D", fp32({5})}}),
              HasSubstr("default 'D' is fp32[5], but 'R' is fp32[4]"));
}

TEST(Bind, ManyStatements) {
  std::string text = "function (A[N, N]) -> (R) {\n  T0 = A;\n";
  constexpr int kStatements = 20000;
  for (int i = 1; i <= kStatements; ++i)
    text += i % 10 == 0 ? fmt::format("  T{}[i, j : N, N] = +(T{}[i, k] * A[k, j]);\n", i, i - 1)
                        : fmt::format("  T{} = T{} * 0.5 + A;\n", i, i - 1);
  text += fmt::format("  R = T{};\n}}\n", kStatements);
  auto bound = bind_text(text, {{"A", fp32({8, 8})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(bound->statements.size(), kStatements + 2u);
}

TEST(Bind, EveryHouseProgramBinds) {
  for (const auto& [path, text] : house_programs()) {
    // Those want sizes and types of their own; program_test binds them.
    if (path.find("/programs/") != std::string::npos) continue;
    Result<Program> program = parse({path, text});
    ASSERT_TRUE(program.ok()) << program.status().message();
    Result<const Function*> entry = entry_function(*program, "");
    ASSERT_TRUE(entry.ok());
    Inputs inputs = shapes_in(text);
    for (const Parameter& p : (*entry)->parameters) {
      if (inputs.count(p.name.text)) continue;
      std::vector<int64_t> sizes(p.has_dims ? p.dims.size() : 3, 9);
      // The windows of convolutions are smaller than what they slide over.
      for (size_t i = 0; i < p.dims.size(); ++i)
        if (p.dims[i].text.starts_with("LK")) sizes[i] = 2;
      inputs[p.name.text] = fp32(sizes);
    }
    Result<BoundProgram> bound = bind_program(*program, "", inputs);
    EXPECT_TRUE(bound.ok()) << path << "\n" << bound.status().message();
  }
}

TEST(Bind, ComposedFunctionsAreBoundLikeFunctionsOfTheFile) {
  auto bound = bind_text(
      "function (X[M, N], Y[M, N]) -> (S, L, R, C) { S = builtin_softmax(X, M, N);\n"
      "  L = builtin_logsoftmax(X, M, N); R = mad(X, Y, 2);\n"
      "  C = builtin_binary_crossentropy(S, Y, 0.5); }",
      {{"X", fp32({3, 4})}, {"Y", fp32({3, 4})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  for (const char* name : {"S", "L", "R", "C"})
    EXPECT_EQ(tensor_of(*bound, name).sizes, (std::vector<int64_t>{3, 4}));
  EXPECT_TRUE(bound->warnings.empty());
}

TEST(Bind, MistakesInComposedFunctionsAreReportedAtTheirCalls) {
  std::string message = failure_of(
      "function (X[M, N]) -> (R) {\n  R = builtin_softmax(X, N, M);\n}", {{"X", fp32({3, 4})}});
  EXPECT_THAT(
      message,
      HasSubstr(
          "test.tile:2:7: error: in 'builtin_softmax': 'Rows' is 4 here, but the dimension of "
          "that name is 3"));
  EXPECT_THAT(message, HasSubstr("  R = builtin_softmax(X, N, M);"));
  EXPECT_THAT(message, Not(HasSubstr("library")));
}

TEST(Bind, ANumberWithTheNameOfADimensionMustAgreeWithIt) {
  const char* text =
      "function f(X[N], N) -> (R) { R[i : N] = +(X[i]); } function (A[N]) -> (R) { R = f(A, %); }";
  auto with = [&](const std::string& argument) {
    std::string out = text;
    return out.replace(out.find('%'), 1, argument);
  };
  EXPECT_TRUE(bind_text(with("N"), {{"A", fp32({3})}}).ok());
  EXPECT_TRUE(bind_text(with("3"), {{"A", fp32({3})}}).ok());
  EXPECT_THAT(failure_of(with("N + 1"), {{"A", fp32({3})}}),
              HasSubstr("'N' is 4 here, but the dimension of that name is 3"));
}

TEST(Bind, ADimensionMustAgreeWithTheArgumentOfItsName) {
  auto failure = [](const std::string& argument, int64_t size) {
    return failure_of("function f(N, X[N]) -> (R) { R = X + N; } function (A) -> (R) { R = f(" +
                          argument + ", A); }",
                      {{"A", fp32({size})}});
  };
  EXPECT_THAT(failure("5", 4),
              HasSubstr("dimension 'N' is 5 in the argument 'N' but 4 in 'X[N]', which is [4]"));
  EXPECT_THAT(failure("4.0", 4),
              HasSubstr("'N' is 4.0, but it names a dimension of 'X[N]': that must be an integer"));
  EXPECT_THAT(failure("4.5", 0), HasSubstr("'N' is 4.5, but it names a dimension"));
  EXPECT_THAT(failure("2 > 1", 1), HasSubstr("'N' is true, but it names a dimension"));
}

TEST(Bind, FunctionsThatNobodyCallsAreChecked) {
  std::string message = failure_of(
      "function f(A[N]) -> (R) { R[i : N] = +(B[i]), k < 3; S = A + Q; S = nonsense(A); T[j : L] = "
      "+(A[j]); }\n"
      "function (A) -> (R) { R = A + 1; }",
      {{"A", fp32({3})}}, "");
  // Two programs: a message shows as many mistakes as fit.
  message += failure_of(
      "function g(A) -> (R) { S = exp(A, A); (T, U) = A; R = g(A); }\n"
      "function h(A) -> (R) { S = A; }\n"
      "function (A) -> (R) { R = A + 1; }",
      {{"A", fp32({3})}}, "");
  for (const char* part :
       {"there is no tensor 'B'", "index 'k' occurs only in a constraint", "dimension 'Q'",
        "there is no function 'nonsense'", "'S' is already defined", "tensor or dimension 'L'",
        "'exp' takes 1 argument", "only a function of this file gives several results",
        "'g' calls itself", "output 'R' is never assigned"})
    EXPECT_THAT(message, HasSubstr(part));
  EXPECT_TRUE(
      bind_text("function f(A[N]) -> (R) { R[2 * i + 0 : N] = >(A[i]), i - 1 < N default A; } "
                "function (A) -> (R) { R = A + 1; }",
                {{"A", fp32({3})}})
          .ok());
}

TEST(Bind, ProgramsAreCheckedWithoutInputs) {
  const auto check = [](const std::string& text) {
    return check_program(*parse({"t.tile", text}));
  };
  EXPECT_TRUE(
      check("function f(A[N]) -> (R) { R[] = +(A[i]); }\nfunction (A) -> (R) { R = f(A); }").ok());
  EXPECT_TRUE(check("function f(A[N], N) -> (R) { R = A * N; }").ok());
  const Status wrong =
      check("function f(A) -> (R) { R = exp(A, A); }\nfunction g(A) -> (R) { R = f(A) + B; }");
  EXPECT_EQ(wrong.code(), StatusCode::invalid_argument);
  EXPECT_THAT(wrong.message(), HasSubstr("'exp' takes 1 argument"));
  EXPECT_THAT(wrong.message(), HasSubstr("'B'"));
  EXPECT_FALSE(check("function f(A) -> (R) { R = f(A); }").ok());
}

TEST(Bind, WarningsComeOnceAndAreNoErrors) {
  auto bound = bind_text(
      "function f(A) -> (R) { Spare = A + 1; R = A * 2; }\n"
      "function two(A) -> (P, Q) { P = A; Q = A; }\n"
      "function (A[N]) -> (R) { Half = N / 2; [[hot]] B = f(A) + f(A * 2); (C, D) = two(B); R = C; "
      "}",
      {{"A", fp32({3})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  std::vector<std::string> messages;
  for (const Diagnostic& d : bound->warnings) messages.push_back(d.message);
  EXPECT_THAT(messages,
              ::testing::UnorderedElementsAre("'Spare' is never used", "'Half' is never used",
                                              HasSubstr("attribute 'hot' has no effect")));
}

TEST(Bind, AConstantDefaultFills) {
  auto bound = bind_text("function (A[N]) -> (R) { Ten = 10; R[2 * i : N] = +(A[i]) default Ten; }",
                         {{"A", fp32({5})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  const BoundContraction& c = contraction_of(*bound, 1);
  ASSERT_TRUE(c.default_tensor.has_value());
  EXPECT_EQ(bound->tensors[static_cast<size_t>(*c.default_tensor)].sizes,
            (std::vector<int64_t>{5}));
}

}  // namespace
}  // namespace stria::tile
