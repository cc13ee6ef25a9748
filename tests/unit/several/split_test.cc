// SPDX-License-Identifier: Apache-2.0
// How programs fall into parts: which tensors are cut where, what stops a split, and that the parts
// compute what the whole does. The interpreter runs both, so that results are equal bit by bit.
#include "stria/several/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <random>

#include "case_tensors.h"
#include "stria/interp/interpret.h"
#include "stria/runtime/inside.h"
#include "stria/several/shares.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/type/tensor_shape.h"
#include "tile_case.h"

namespace stria {
namespace {

using differential::generate;
using differential::GeneratedProgram;
using ::testing::AllOf;
using ::testing::HasSubstr;

Compilation lowered(const std::string& text, const InputTypes& types) {
  return lower_program(Program::from_tile({"test", text}).value(), types).value();
}
TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }

// Bytes of all tensors of the caller, by name.
using Bytes = std::map<std::string, HostTensor>;

HostTensor filled(DataType type, const std::vector<int64_t>& sizes, std::mt19937_64& random) {
  HostTensor out = HostTensor::create(type, sizes, "input").value();
  for (int64_t n = 0; n < out.element_count(); ++n) {
    const int value = static_cast<int>(random() % 15) - 7;
    store_scalar(type, out.data(), n, convert(Scalar::of_int(DataType::i32, value), type));
  }
  return out;
}

Status interpret(const stripe::Program& program, Bytes& tensors) {
  std::vector<interp::TensorArg> arguments;
  for (auto& [name, tensor] : tensors)
    arguments.push_back({name, tensor.data(), memory_shape(tensor.type(), tensor.sizes())});
  return interp::interpret(program, arguments);
}

// "" if the parts together compute what the whole does.
std::string difference(const Compilation& whole, const Split& split,
                       const std::vector<UnitRange>& ranges, const Bytes& inputs) {
  Bytes all, together;
  for (const auto& [name, tensor] : inputs) all[name] = tensor.clone().value();
  std::vector<std::string> outputs;
  for (const tile::TensorId id : whole.bound.outputs) {
    const tile::BoundTensor& tensor = whole.bound.tensors[id];
    outputs.push_back(tensor.name);
    for (Bytes* of : {&all, &together})
      (*of)[tensor.name] =
          HostTensor::create(tensor.outside_type(), tensor.sizes, tensor.name).value();
  }
  if (const Status status = interpret(whole.generic, all); !status.ok()) return status.to_string();
  for (const UnitRange& units : ranges) {
    if (units.count() == 0) continue;
    const Compilation part = part_of(whole, split, units).value();
    if (const Status status = stripe::verify(part.generic, {}); !status.ok())
      return status.to_string() + "\n" + stripe::print(part.generic);
    Bytes own;
    const auto rows = [&](const std::string& name, const HostTensor& of) {
      return CutRows(of.type(), of.sizes(), split.cuts.at(name), units);
    };
    for (const auto& [name, tensor] : all) {
      if (!split.cuts.contains(name)) {
        own[name] = tensor.clone().value();
        continue;
      }
      const CutRows cut = rows(name, tensor);
      own[name] = HostTensor::create(tensor.type(), cut.sizes(), name).value();
      cut.take(tensor.data(), own[name].data());
    }
    // What the whole has computed must not stay.
    for (const std::string& name : outputs)
      if (own[name].byte_count() > 0) std::memset(own[name].data(), 0x5a, own[name].byte_count());
    if (const Status status = interpret(part.generic, own); !status.ok())
      return status.to_string() + "\n" + stripe::print(part.generic);
    for (const std::string& name : outputs) {
      if (split.cuts.contains(name))
        rows(name, together[name]).put(own[name].data(), together[name].data());
      else
        together[name] = std::move(own[name]);
    }
  }
  for (const std::string& name : outputs)
    if (all[name].bytes() != together[name].bytes())
      return "'" + name + "' differs\n" + stripe::print(whole.generic);
  return "";
}

Bytes inputs_for(const Compilation& program, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes out;
  for (const tile::TensorId id : program.bound.inputs) {
    const tile::BoundTensor& tensor = program.bound.tensors[id];
    out[tensor.name] = filled(tensor.type, tensor.sizes, random);
  }
  return out;
}

void expect_parts_are_right(const Compilation& program, const Split& split) {
  const Bytes inputs = inputs_for(program, 7);
  for (const size_t parts : {1, 2, 3, 5}) {
    EXPECT_EQ(
        difference(program, split, share_out(split.units, std::vector<double>(parts, 1)), inputs),
        "")
        << parts << " parts";
  }
  EXPECT_EQ(difference(program, split, share_out(split.units, {5, 1, 3}), inputs), "");
}

constexpr const char* kConvolution =
    "function (D[N, X, Y, CI], K[I, J, CI, CO], B[CO]) -> (R) {\n"
    "  O[n, x, y, co : N, X, Y, CO] = +(D[n, x + i - 1, y + j - 1, ci] * K[i, j, ci, co]);\n"
    "  R = relu(O + B);\n}";

TEST(Split, CutsTheBatchOfAConvolution) {
  const Compilation program = lowered(
      kConvolution, {{"D", fp32({7, 4, 5, 3})}, {"K", fp32({3, 3, 3, 2})}, {"B", fp32({2})}});
  const Split split = find_split(program).value();
  EXPECT_EQ(split.units, 7);
  EXPECT_EQ(split.cuts.at("D"), (Cut{0, 1}));
  EXPECT_EQ(split.cuts.at("R"), (Cut{0, 1}));
  EXPECT_FALSE(split.cuts.contains("K"));
  EXPECT_FALSE(split.cuts.contains("B"));
  EXPECT_EQ(split.repeated, 0);
  expect_parts_are_right(program, split);
  // A part is what the program of a smaller batch is, whichever it is.
  const Compilation smaller = lowered(
      kConvolution, {{"D", fp32({3, 4, 5, 3})}, {"K", fp32({3, 3, 3, 2})}, {"B", fp32({2})}});
  for (const UnitRange units : {UnitRange{0, 3}, {4, 7}})
    EXPECT_EQ(stripe::print(part_of(program, split, units).value().generic),
              stripe::print(smaller.generic));
}

TEST(Split, CutsRowsOfTheLargerOperandOfAProduct) {
  constexpr const char* kText =
      "function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }";
  const Compilation tall = lowered(kText, {{"A", fp32({12, 5})}, {"B", fp32({5, 6})}});
  EXPECT_EQ(find_split(tall).value().cuts.at("A"), (Cut{0, 1}));
  expect_parts_are_right(tall, find_split(tall).value());
  const Compilation wide = lowered(kText, {{"A", fp32({6, 5})}, {"B", fp32({5, 12})}});
  const Split split = find_split(wide).value();
  EXPECT_EQ(split.cuts.at("B"), (Cut{1, 1}));
  EXPECT_EQ(split.cuts.at("C"), (Cut{1, 1}));
  EXPECT_FALSE(split.cuts.contains("A"));
  expect_parts_are_right(wide, split);
}

// A whole network of several kernels, with reshapes that put rows of the batch together.
TEST(Split, GoesThroughReshapesInUnitsOfSeveralRows) {
  const Compilation program = lowered(
      "function (X[N, T, D], W[D, E], V[E, D]) -> (Y) {\n"
      "  F = reshape(X, N * T, D);\n"
      "  H[r, e : N * T, E] = +(F[r, d] * W[d, e]);\n"
      "  G = relu(H);\n"
      "  Z[r, d : N * T, D] = +(G[r, e] * V[e, d]);\n"
      "  S[r : N * T] = +(Z[r, d]);\n"
      "  U = reshape(S, N, T);\n"
      "  M[n, 0 : N, 1] = >(U[n, t]);\n"
      "  Y = U - M;\n}",
      {{"X", fp32({5, 3, 4})}, {"W", fp32({4, 6})}, {"V", fp32({6, 4})}});
  const Split split = find_split(program).value();
  EXPECT_EQ(split.units, 5);
  EXPECT_EQ(split.cuts.at("X"), (Cut{0, 1}));
  EXPECT_EQ(split.cuts.at("S"), (Cut{0, 3}));
  EXPECT_EQ(split.repeated, 0);
  expect_parts_are_right(program, split);
}

TEST(Split, KnowsWhichRowItIs) {
  const Compilation program = lowered(
      "function (A[N, M], B[N]) -> (R, L) {\n"
      "  R = A * index(A, 0) + index(A, 1);\n"
      "  L[i, j : N, M] = +(A[i, k] * B[k]), j - k + i < 4;\n}",
      {{"A", fp32({6, 6})}, {"B", fp32({6})}});
  expect_parts_are_right(program, find_split(program).value());
}

TEST(Split, TakesPiecesOfATensorThatSeveralKernelsWrite) {
  const Compilation program = lowered(
      "function (A[M, K], B[N, K]) -> (O, P) {\n"
      "  Z = 0;\n"
      "  X[i, k : M + N, K] = =(A[i, k]) default Z;\n"
      "  O[i + M, k : M + N, K] = =(B[i, k]) default X;\n"
      "  P[i, j : M + N, M] = +(O[i, k] * A[j, k]);\n}",
      {{"A", fp32({4, 3})}, {"B", fp32({5, 3})}});
  const Split split = find_split(program).value();
  expect_parts_are_right(program, split);
}

TEST(Split, GathersAndScattersAlongWhatIsNotChosen) {
  const Compilation gather = lowered("function (D, I) -> (R) { R = gather(D, I); }",
                                     {{"D", fp32({20, 3})}, {"I", {DataType::i32, {7, 90}}}});
  const Split by_rows = find_split(gather).value();
  EXPECT_FALSE(by_rows.cuts.contains("D"));
  EXPECT_EQ(by_rows.cuts.at("I"), (Cut{0, 1}));
  expect_parts_are_right(gather, by_rows);
  const Compilation scatter =
      lowered("function (E, I, V) -> (R) { R = scatter(E, I, V); }",
              {{"E", fp32({9, 4})}, {"I", {DataType::i32, {9}}}, {"V", fp32({6, 4})}});
  const Split by_columns = find_split(scatter).value();
  EXPECT_EQ(by_columns.cuts.at("E"), (Cut{1, 1}));
  expect_parts_are_right(scatter, by_columns);
}

TEST(Split, OutputsThatHangOnWeightsAloneAreWhole) {
  const Compilation program =
      lowered("function (X[N, K], W[K]) -> (Y, L) { Y = X * W; L[] = +(W[k]); }",
              {{"X", fp32({40, 3})}, {"W", fp32({3})}});
  const Split split = find_split(program).value();
  EXPECT_FALSE(split.cuts.contains("L"));
  EXPECT_GT(split.repeated, 0);
  expect_parts_are_right(program, split);
}

std::string refusal(const std::string& text, const InputTypes& types) {
  const Result<Split> split = find_split(lowered(text, types));
  if (split.ok()) return "it is split";
  EXPECT_EQ(split.status().code(), StatusCode::unsupported);
  return split.status().message();
}

TEST(Split, SaysWhatStopsIt) {
  EXPECT_THAT(
      refusal("function total(A[N]) -> (S) { S[] = +(A[i]); }", {{"A", fp32({9})}}),
      AllOf(HasSubstr("'total' cannot be split over devices:"), HasSubstr("'S' has no dimension")));
  // What one kernel needs of all of the batch, another one has computed.
  EXPECT_THAT(
      refusal("function mixed(X[N]) -> (Y) {\n"
              "  E = exp(X);\n  T[] = +(E[n]);\n  Y = E / T;\n}",
              {{"X", fp32({16})}}),
      AllOf(HasSubstr("dimension 0 of 'Y' (16): kernel_"),
            HasSubstr("(E = exp(X)) would run in every part: "),
            HasSubstr("(T[] = +(E[n])) reads E[n]"), HasSubstr("% of the work, more than 25%")));
  // A recurrence over what would be cut.
  EXPECT_THAT(refusal("function sum(X[N]) -> (Y) { Y[i : N] = +(X[i - j]), j < N; Z = Y; }",
                      {{"X", fp32({5})}}),
              HasSubstr("it is split"));  // X is whole in every part
  EXPECT_THAT(refusal("function one(X[N]) -> (Y) { Y = X + 1; }", {{"X", fp32({1})}}),
              HasSubstr("dimension 0 of 'Y' (1): there is nothing to share out"));
}

// Two outputs of which one needs all of the other.
TEST(Split, RefusesWhatOneOutputNeedsOfAnother) {
  EXPECT_THAT(refusal("function two(X[N, K]) -> (Y, S) {\n"
                      "  Y = X * X;\n  S[k : K] = +(Y[n, k]);\n}",
                      {{"X", fp32({16, 1})}}),
              AllOf(HasSubstr("dimension 0 of 'Y' (16): "), HasSubstr("'S'")))
      << "K is 1";
  // Along the other dimension both are cut.
  const Compilation program =
      lowered("function two(X[N, K]) -> (Y, S) {\n  Y = X * X;\n  S[k : K] = +(Y[n, k]);\n}",
              {{"X", fp32({16, 6})}});
  const Split split = find_split(program).value();
  EXPECT_EQ(split.cuts.at("Y"), (Cut{1, 1}));
  EXPECT_EQ(split.cuts.at("S"), (Cut{0, 1}));
  expect_parts_are_right(program, split);
}

// 300 programs that nobody wrote, in all numbers of parts.
TEST(Split, PartsOfGeneratedProgramsComputeWhatTheWholeDoes) {
  const uint64_t programs = differential::number_from("STRIA_SPLIT_PROGRAMS", 300);
  const uint64_t first = differential::number_from("STRIA_SPLIT_SEED", 1);
  uint64_t split_up = 0, refused = 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const GeneratedProgram generated = generate(seed, {1, 6, 80, 80});
    const Compilation program =
        lower_program(Program::from_tile({"generated", generated.tile_text()}).value(),
                      differential::types_of(generated))
            .value();
    SplitLimits limits;
    limits.parts = 2 + seed % 4;
    limits.most_repeated = seed % 2 == 0 ? 0.25 : 0.9;
    const Result<Split> split = find_split(program, limits);
    if (!split.ok()) {
      EXPECT_EQ(split.status().code(), StatusCode::unsupported) << split.status().to_string();
      ++refused;
      continue;
    }
    ++split_up;
    Bytes inputs;
    for (size_t n = 0; n < generated.inputs.size(); ++n)
      inputs[generated.inputs[n].name] =
          differential::tensor_of(generated.inputs[n], &generated.input_values[n]);
    for (const size_t parts : {2, 3, 5})
      ASSERT_EQ(difference(program, *split, share_out(split->units, std::vector<double>(parts, 1)),
                           inputs),
                "")
          << "STRIA_SPLIT_SEED=" << seed << " STRIA_SPLIT_PROGRAMS=1, " << parts << " parts\n"
          << differential::listing(generated);
  }
  std::printf("%lu programs are split, %lu are not\n", split_up, refused);
  if (programs >= 300) {
    EXPECT_GT(split_up, programs / 4);
  }
}

}  // namespace
}  // namespace stria
