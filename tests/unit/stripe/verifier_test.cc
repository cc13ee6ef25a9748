// SPDX-License-Identifier: Apache-2.0
// Every file of tests/invalid/stripe is refused with each of the messages that its first lines
// state, and the right program beside it passes (tests/invalid/README.md says what the files look
// like); what is legal but looks odd passes.
#include "stria/stripe/verify/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace stria::stripe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::map<std::string, IntrinsicSignature> kIntrinsics = {
    {"add", {2}}, {"mul", {2}}, {"max", {2}}, {"ident", {1}}};
const std::map<std::string, int64_t> kUnits = {{"DRAM", 1}, {"SRAM", 4}, {"SHARED", 2},
                                               {"REG", 8},  {"CORE", 4}, {"CONV", 2},
                                               {"SM", 2},   {"WARP", 4}, {"LANE", 8}};
const std::map<std::string, int64_t> kDepths = {{"CONV", 2}};
const std::map<std::string, int64_t> kBytes = {{"SRAM", 4096}};
const std::vector<Stencil> kStencils = {
    {"mma",
     "WARP",
     {{"m", 4}, {"n", 4}, {"k", 2}},
     {{"A",
       false,
       DataType::fp16,
       {"m", "k"},
       "REG",
       {{"lane", {0, {{0, 0, 2, 2}, {1, 0, 1, 1}}}}, {"slot", {}}}},
      {"B",
       false,
       DataType::fp16,
       {"k", "n"},
       "REG",
       {{"lane", {0, {{1, 0, 2, 2}, {0, 0, 1, 1}}}}, {"slot", {}}}},
      {"C",
       true,
       DataType::fp32,
       {"m", "n"},
       "REG",
       {{"lane", {0, {{0, 0, 2, 2}, {1, 1, 1, 1}}}}, {"slot", {0, {{1, 0, 1, 1}}}}}}}},
    {"product",
     "CORE",
     {{"m", 4}, {"n", 4}, {"k", kAnyRange}},
     {{"A", false, DataType::fp32, {"m", "k"}, "DRAM", {}},
      {"B", false, DataType::fp32, {"k", "n"}, "DRAM", {}, {{"n", 1}}, 16},
      {"C", true, DataType::fp32, {"m", "n"}, "DRAM", {}, {{"n", 1}}, 16}},
     "product_4x4"}};

VerifyOptions options() {
  VerifyOptions options;
  options.intrinsics = &kIntrinsics;
  options.units = &kUnits;
  options.pipeline_depths = &kDepths;
  options.memory_bytes = &kBytes;
  options.stencils = &kStencils;
  return options;
}

Status check(const std::string& name, const std::string& text, VerifyReport* report = nullptr) {
  Result<Program> program = parse({name, text});
  if (!program.ok()) return program.status();
  return verify(*program, options(), report);
}

class InvalidFile : public testing::TestWithParam<std::string> {};

std::vector<std::string> invalid_files() {
  std::vector<std::string> files;
  for (const auto& entry :
       fs::directory_iterator(std::string(STRIA_SOURCE_DIR) + "/tests/invalid/stripe"))
    if (entry.path().extension() == ".stripe") files.push_back(entry.path().stem());
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const std::string& name) {
  return read_file(std::string(STRIA_SOURCE_DIR) + "/tests/invalid/stripe/" + name + ".stripe")
      .value();
}

// The program, or with `right` the one in which each line that says "// RIGHT: other" is that
// other.
std::string program_of(const std::string& text, bool right) {
  constexpr std::string_view key = "// RIGHT:";
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    const size_t at = line.find(key);
    const std::string wrong = line.substr(0, at);
    const std::string other(
        at == std::string::npos ? "" : trim(std::string_view(line).substr(at + key.size())));
    const std::string& chosen = right && at != std::string::npos ? other : wrong;
    if (at == std::string::npos || !trim(chosen).empty()) out += chosen + "\n";
  }
  return out;
}

TEST_P(InvalidFile, IsRefusedWithItsMessages) {
  const std::string text = text_of(GetParam());
  std::vector<std::string> expected;
  constexpr std::string_view key = "// ERROR: ";
  for (const std::string& line : split(text, '\n'))
    if (line.starts_with(key)) expected.push_back(line.substr(key.size()));
  ASSERT_FALSE(expected.empty()) << GetParam() << " states no message";
  Status status = check(GetParam() + ".stripe", program_of(text, false));
  ASSERT_EQ(status.code(), StatusCode::invalid_argument) << status.to_string();
  for (const std::string& message : expected) EXPECT_THAT(status.message(), HasSubstr(message));
}

TEST_P(InvalidFile, IsOneChangeFromARightProgram) {
  const std::string text = text_of(GetParam());
  if (GetParam() == "blocks_too_deep") return;  // no one change mends it
  ASSERT_THAT(text, HasSubstr("// RIGHT:"));
  VerifyReport report;
  Status status = check(GetParam() + ".stripe", program_of(text, true), &report);
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
}

INSTANTIATE_TEST_SUITE_P(Stripe, InvalidFile, testing::ValuesIn(invalid_files()),
                         [](const auto& info) { return info.param; });

TEST(Verifier, ThereAreManyInvalidFiles) { EXPECT_GE(invalid_files().size(), 120u); }

// Who asks about one rule alone hears of it, who asks about all others does not.
TEST(Verifier, RulesAboutAccessesAreAskedOneByOne) {
  const std::pair<bool AccessRules::*, const char*> kRules[] = {
      {&AccessRules::inside, "load_beyond_the_allocation"},
      {&AccessRules::inside, "view_of_main_beyond_its_tensor"},
      {&AccessRules::races, "parallel_race"},
      {&AccessRules::races, "vector_of_lanes_that_store_into_one"},
      {&AccessRules::pipelines, "pipelined_points_share_a_tile"},
      {&AccessRules::barriers, "barrier_missing"},
      {&AccessRules::owners, "owner_of_another_lane"},
      {&AccessRules::owners, "owners_share_a_slot"},
      {&AccessRules::poison, "poison_read"},
      {&AccessRules::poison, "poison_computed_with"},
      {&AccessRules::stencils, "stencil_transposed"},
      {&AccessRules::stencils, "micro_kernel_with_other_strides"},
      {&AccessRules::stencils, "micro_kernel_with_rows_not_aligned"}};
  for (const auto& [rule, file] : kRules) {
    Result<Program> program = parse({file, program_of(text_of(file), false)});
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    VerifyOptions asked = options();
    asked.accesses = AccessRules::none();
    EXPECT_TRUE(verify(*program, asked).ok()) << file;
    asked.accesses.*rule = true;
    EXPECT_FALSE(verify(*program, asked).ok()) << file;
    asked.accesses = AccessRules();
    asked.accesses.*rule = false;
    EXPECT_TRUE(verify(*program, asked).ok()) << file;
  }
}

TEST(Verifier, StripeTopPasses) {
  VerifyReport report;
  std::string text =
      read_file(std::string(STRIA_SOURCE_DIR) + "/tests/golden/stripe/stripe_top.stripe").value();
  Status status = check("stripe_top.stripe", text, &report);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(report.accesses, 5);
  EXPECT_EQ(report.proved_by_box, 4);  // the padded input needs its constraints
  EXPECT_EQ(report.unknown_accesses, 0);
}

// Rule S21: the files micro_kernel_….stripe say what is refused. Nobody refuses a block for a model
// that nobody gives, and its right program is that of the block without the tag.
TEST(Verifier, MicroKernelsWithoutAModel) {
  Result<Program> program =
      parse({"micro", program_of(text_of("micro_kernel_with_other_strides"), false)});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  VerifyOptions none = options();
  none.stencils = nullptr;
  EXPECT_TRUE(verify(*program, none).ok());
  EXPECT_FALSE(verify(*program, options()).ok());
}

// One kernel over A and B, both fp32[8, 16].
std::string kernel(const std::string& text, const std::string& b_dir = "out",
                   const std::string& more = "") {
  return "0: #program block [] ( // net\n none new@0x0 A[0, 0] fp32(8:16, 16:1) none new@0x0 B[0, "
         "0] fp32(8:16, 16:1)) {"
         "0: #main block [] ( // main\n in A[0, 0] fp32(8:16, 16:1) " +
         b_dir + " B[0, 0] fp32(8:16, 16:1) " + more + ") { " + text + "}}";
}

void expect_passes(const std::string& text) {
  VerifyReport report;
  Status status = check("legal", text, &report);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
}

TEST(Verifier, TilesMayOverhangWhatIsNotExecuted) {
  expect_passes(kernel(R"(0: #parallel #kernel block [x:3] ( // kernel
      in A[3*x, 0] fp32(3:16, 16:1) out B[3*x, 0] fp32(3:16, 16:1)) {
    0: block [xi:3, y:16, xo:1 = x] ( 7 - 3*xo - xi >= 0 in A[xi, y] fp32(1:16, 1:1) out B[xi, y] fp32(1:16, 1:1)) {
      0: $a = load(A) 1: B = store($a) } })"));
}

TEST(Verifier, WhatNeverRunsMayPointAnywhere) {
  expect_passes(kernel(R"(0: block [x:0] ( in A[x - 5, 0] fp32(1:16, 1:1)) { 0: $a = load(A) })"));
  expect_passes(kernel(
      R"(0: block [x:4] ( x - 9 >= 0 in A[x - 50, 0] fp32(1:16, 1:1)) { 0: $a = load(A) })"));
  // A copy that pads reads beyond the tensor.
  expect_passes(kernel(
      R"(0: block [x:10, y:16] ( #zero_fill in A[x - 1, y] fp32(1:16, 1:1)) { 0: $a = load(A) })"));
}

TEST(Verifier, ParallelPointsMayShareAnAggregationAndReads) {
  expect_passes(kernel(
      R"(0: #parallel block [x:8, y:16] ( in A[0, y] fp32(1:16, 1:1) out B[0, y]:add.fp32 fp32(1:16, 1:1)) {
      0: $a = load(A) 1: B = store($a) })"));
}

TEST(Verifier, ParallelPointsApartOnlyBySets) {
  // 5*x + 3*y of x:3, y:5 meets itself only at equal points (3 and 5 are coprime); intervals cannot
  // tell.
  expect_passes(
      "0: #program block [] ( none new@0x0 V[0] i8(40:1) ) { 0: #main block [] ( out V[0] i8(40:1) "
      ") {"
      "0: #parallel block [x:3, y:5] ( out V[5*x + 3*y] i8(1:1)) { 0: $z = (i8)0 1: V = store($z) "
      "} } }");
  Status status = check("",
                        "0: #program block [] ( none new@0x0 V[0] i8(40:1) ) { 0: #main block [] ( "
                        "out V[0] i8(40:1) ) {"
                        "0: #parallel block [x:4, y:6] ( out V[5*x + 3*y] i8(1:1)) { 0: $z = (i8)0 "
                        "1: V = store($z) } } }");
  EXPECT_THAT(status.message(), HasSubstr("parallel indices x, y write one element of 'V'"));
}

TEST(Verifier, ParallelPointsHaveTheirOwnAllocations) {
  expect_passes(kernel(R"(0: #parallel #kernel block<CORE[c]> [c:4, x:2, y:16] ( // kernel
      in A[2*c + x, y] fp32(1:16, 1:1) out B[2*c + x, y] fp32(1:16, 1:1)
      none new@0x0 T[0] fp32(1:1)) {
    0: block [] ( in A[0, 0] fp32(1:16, 1:1) out T[0] fp32(1:1)) { 0: $a = load(A) 1: T = store($a) }
    1: block [] ( in T[0] fp32(1:1) out B[0, 0] fp32(1:16, 1:1)) { 0: $a = load(T) 1: B = store($a) } })"));
}

TEST(Verifier, InnerLoopsOfParallelPointsAreTheirOwn) {
  // Two inner blocks with the same index name and different ranges.
  expect_passes(kernel(
      R"(0: #parallel #kernel block [x:8] ( in A[x, 0] fp32(1:16, 16:1) out B[x, 0] fp32(1:16, 16:1)) {
    0: block [y:16] ( in A[0, y] fp32(1:16, 1:1) out B[0, y] fp32(1:16, 1:1)) { 0: $a = load(A) 1: B = store($a) }
    1: block [y:4] ( in A[0, y] fp32(1:16, 1:1) out B[0, 4*y] fp32(1:16, 1:1)) { 0: $a = load(A) 1: B = store($a) } })"));
}

TEST(Verifier, AnAggregationGoesOnFromWhatWasStored) {
  // Clear, then continue: what the identities of a tile look like.
  expect_passes(
      kernel(R"(0: #kernel block [x:8] ( in A[x, 0] fp32(1:16, 16:1) out B[x, 0] fp32(1:16, 16:1)) {
    0: block [] ( out B[0, 0] fp32(1:16, 1:1)) { 0: $z = (fp32)0.0 1: B = store($z) }
    1: #vector block [l:16] ( in A[0, l] fp32(1:16, 1:1) inout B[0, 0]:add.fp32 fp32(1:16, 1:1)) {
      0: $a = load(A) 1: B = store($a) } })"));
}

TEST(Verifier, ABlockMayWriteAndThenReadWhatItViewsBothWays) {
  expect_passes(kernel(
      R"(0: #fused block [x:8] ( in A[x, 0] fp32(1:16, 16:1) inout T[x, 0] fp32(1:16, 16:1) out B[x, 0] fp32(1:16, 16:1)) {
    0: block [y:16] ( in A[0, y] fp32(1:16, 1:1) out T[0, y] fp32(1:16, 1:1)) { 0: $a = load(A) 1: T = store($a) }
    1: block [y:16] ( in T[0, y] fp32(1:16, 1:1) out B[0, y] fp32(1:16, 1:1)) { 0: $t = load(T) 1: B = store($t) } })",
      "out", "none new@0x0 T[0, 0] fp32(8:16, 16:1)"));
}

TEST(Verifier, ScalarsAndSizesAtTheEdge) {
  expect_passes(
      "0: #program block [] ( none new@0x0 R[] fp32() none new@0x0 E[0, 0] fp32(0:16, 16:1)) {"
      "0: #main block [] ( out R[] fp32() in E[0, 0] fp32(0:16, 16:1)) {"
      "0: block [] ( out R[] fp32() ) { 0: $i = load_index(3) 1: R = store($i) }"
      "1: block [x:0, y:16] ( in E[x, y] fp32(1:16, 1:1) ) { 0: $e = load(E) } } }");
}

TEST(Verifier, UnitsInsideABlockThatNeverRunsAreNoNumbers) {
  const std::string inner = "{ 0: block [x:1 = x] ( none new@0x0<SRAM[x]> T[] i8() ) { } }";
  expect_passes(kernel("0: block [x:0] ( ) " + inner));
  expect_passes(kernel("0: block [x:4] ( ) " + inner));
  EXPECT_THAT(check("", kernel("0: block [x:5] ( ) " + inner)).message(),
              HasSubstr("is unit 0 to 4"));
}

TEST(Verifier, UnitsAreThoseOfThePointsThatConstraintsLeave) {
  auto cut = [&](const std::string& constraint) {
    return kernel("0: block [z:2] ( ) { 0: block [y:3, x:1 = 3*z] ( " + constraint +
                  "none new@0x0<SRAM[y + x]> T[] i8() ) { } }");
  };
  expect_passes(cut("3 - y - x >= 0 "));
  EXPECT_THAT(check("", cut("4 - y - x >= 0 ")).message(), HasSubstr("is unit 0 to 4"));
}

TEST(Verifier, DependenciesThatReachThroughOthersSuffice) {
  std::string block = R"(0: #deps block [] ( // k
      in A[0, 0] fp32(1:16, 1:1) out B[0, 0] fp32(1:16, 1:1)) {
    0: $a = load(A) 1[0]: $b = add.fp32($a, $a) 2[1]: $c = add.fp32($b, $a) 3[2]: B = store($c) })";
  expect_passes(kernel(block));
}

TEST(Verifier, ArenasOfDifferentTimesMayShare) {
  auto program = [](const std::string& place_of_u) {
    return "0: #placed #program block [] ( none new@0x0 A[0] i8(64:1) none new@0x40 B[0] i8(64:1)) "
           "{"
           "0: #main block [] ( in A[0] i8(64:1) out B[0] i8(64:1) none new@0x0<SRAM[0]> S[0] "
           "i8(64:1)"
           "  none new@0x0<SRAM[0]> T[0] i8(64:1) none new@" +
           place_of_u +
           " U[0] i8(64:1)) {"
           "0: block [x:64] ( in A[x] i8(1:1) out S[x] i8(1:1)) { 0: $a = load(A) 1: S = store($a) "
           "}"
           "1: block [x:64] ( in S[x] i8(1:1) out U[x] i8(1:1)) { 0: $a = load(S) 1: U = store($a) "
           "}"
           "2: block [x:64] ( in U[x] i8(1:1) out T[x] i8(1:1)) { 0: $a = load(U) 1: T = store($a) "
           "}"
           "3: block [x:64] ( in T[x] i8(1:1) out B[x] i8(1:1)) { 0: $a = load(T) 1: B = store($a) "
           "} } }";
  };
  expect_passes(program("0x0<SRAM[1]>"));
  expect_passes(program("0x40<SRAM[0]>"));
  std::string message = check("", program("0x3f<SRAM[0]>")).message();
  EXPECT_THAT(message,
              HasSubstr("its bytes 63 to 126 of 'SRAM[0]' are also those of 'S' (0 to 63)"));
  EXPECT_THAT(message, HasSubstr("those of 'T' (0 to 63)"));
}

// What statements allocate inside that do not wait for each other is alive together.
TEST(Verifier, ArenasOfStatementsThatMayRunTogetherLieApart) {
  auto program = [](const std::string& tags, const std::string& deps, const std::string& place) {
    auto copy = [](const std::string& target, const std::string& at) {
      return "block [x:64] ( in A[x] i8(1:1) out " + target + "[x] i8(1:1) none new@" + at +
             "<SRAM> S[0] i8(1:1)) { 0: block [] ( in A[0] i8(1:1) out S[0] i8(1:1)) {"
             "0: $a = load(A) 1: S = store($a) } 1: $s = load(S) 2: " +
             target + " = store($s) }";
    };
    return "0: #placed #program block [] ( none new@0x0 A[0] i8(64:1) none new@0x40 B[0] i8(64:1)"
           " none new@0x80 C[0] i8(64:1)) { 0: #main " +
           tags +
           " block [] ( in A[0] i8(64:1) out B[0] i8(64:1) out C[0] i8(64:1)) {"
           "0: " +
           copy("B", "0x0") + " 1" + deps + ": " + copy("C", place) + " } }";
  };
  expect_passes(program("", "", "0x0"));
  expect_passes(program("#deps", "[0]", "0x0"));
  expect_passes(program("#deps", "", "0x1"));
  EXPECT_THAT(check("", program("#deps", "", "0x0")).message(),
              HasSubstr("its bytes 0 to 0 of 'SRAM' are also those of 'S' (0 to 0)"));
}

TEST(Verifier, LanesNeedNoBarrierForWhatIsTheirOwn) {
  // Each lane reads what it stored, in any later block, in warps too; lanes of one block sum into
  // one aggregation.
  expect_passes(kernel(
      R"(0: #kernel block<SM[x]> [x:8] ( in A[x, 0] fp32(1:16, 16:1) out B[x, 0] fp32(1:16, 16:1)
      none new@0x0<SHARED> S[0] fp32(16:1)) {
    0: block [k:4] ( in A[0, 0] fp32(1:16, 16:1) out B[0, 0] fp32(1:16, 16:1) inout S[0] fp32(16:1)) {
      0: block<WARP[w]/LANE[l]> [w:2, l:8] ( in A[0, 8*w + l] fp32(1:16, 1:1) out S[8*w + l] fp32(1:1)) {
        0: $a = load(A) 1: S = store($a) }
      1: block<WARP[w]> [w:2] ( in S[8*w] fp32(8:1) out B[0, 8*w] fp32(1:16, 8:1)) {
        0: block<LANE[l]> [l:8] ( in S[l] fp32(1:1) out B[0, l] fp32(1:16, 1:1)) {
          0: $s = load(S) 1: B = store($s) } } } })"));
  expect_passes(kernel(
      R"(0: #kernel block<SM[x]> [x:8] ( in A[x, 0] fp32(1:16, 16:1) out B[x, 0]:add.fp32 fp32(1:16, 16:1)) {
    0: block<LANE[l]> [l:8] ( in A[0, l] fp32(1:16, 1:1) out B[0, 0]:add.fp32 fp32(1:16, 1:1)) {
      0: $a = load(A) 1: B = store($a) }
    1: special barrier()
    2: block<LANE[l]> [l:8] ( in A[0, 8 + l] fp32(1:16, 1:1) out B[0, 0]:add.fp32 fp32(1:16, 1:1)) {
      0: $a = load(A) 1: B = store($a) } })"));
}

TEST(Verifier, LanesThatAddToWhatOthersAddedNeedABarrier) {
  const std::string kSums =
      R"(0: #kernel block<SM[x]> [x:8] ( in A[x, 0] fp32(1:16, 16:1) out B[x, 0]:add.fp32 fp32(1:16, 16:1)) {
    0: block<LANE[l]> [l:8] ( in A[0, l] fp32(1:16, 1:1) out B[0, l]:add.fp32 fp32(1:16, 1:1)) {
      0: $a = load(A) 1: B = store($a) }
    1: block<LANE[l]> [l:8] ( in A[0, 8 + l] fp32(1:16, 1:1) out B[0, 7 - l]:add.fp32 fp32(1:16, 1:1)) {
      0: $a = load(A) 1: B = store($a) } })";
  EXPECT_THAT(
      check("", kernel(kSums)).message(),
      HasSubstr(
          "it writes 'B', which other lanes write in statement 0, without a barrier between"));
}

TEST(Verifier, PointsOfAPipelineTakeTurnsInTheirMemory) {
  // Two places: what the next pass fills is not what lanes of this one still read.
  expect_passes(kernel(
      R"(0: #kernel block<SM[x]> [x:8] ( in A[x, 0] fp32(1:16, 16:1) out B[x, 0] fp32(1:16, 16:1)) {
    0: #pipeline=2 block [k:2] ( in A[0, 8*k] fp32(1:16, 8:1) out B[0, 8*k] fp32(1:16, 8:1) none new@0x0<SHARED> S[0] fp32(8:1)) {
      0: block<LANE[l]> [l:8] ( in A[0, l] fp32(1:16, 1:1) out S[l] fp32(1:1)) { 0: $a = load(A) 1: S = store($a) }
      1: special barrier()
      2: block<LANE[l]> [l:8] ( in S[7 - l] fp32(1:1) out B[0, l] fp32(1:16, 1:1)) { 0: $s = load(S) 1: B = store($s) } } })"));
}

TEST(Verifier, OwnersBeyondTheBudgetAreUndecidedAndCounted) {
  VerifyReport report;
  Status status = check("", kernel(R"(0: #kernel block<SM[0]> [] (
      none new@0x0<REG(lane = d0[0+:3], slot = d0[3+:30])> R[0] fp32(16777216:1)) {
    0: block<LANE[l]> [l:8, s:2097152] ( out R[l + 8*s] fp32(1:1)) { 0: $z = (fp32)0.0 1: R = store($z) } })"),
                        &report);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(report.unknown_accesses, 1);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_THAT(report.warnings[0],
              HasSubstr("undecided whether it gives each element a slot of its own"));
}

TEST(Verifier, PoisonThatIsMaskedOrFilledAnewIsNotSeen) {
  expect_passes(
      kernel(R"(0: #kernel block [x:8] ( in A[x, 0] fp32(1:16, 16:1) out B[x, 0] fp32(1:16, 16:1)
      none new@0x0 T[0] fp32(4:1)) {
    0: block [k:6] ( in A[0, 3*k] fp32(1:16, 4:1) out B[0, 3*k] fp32(1:16, 4:1) inout T[0] fp32(4:1)) {
      0: block [i:4] ( #clamp in A[0, i] fp32(1:16, 1:1) out T[i] fp32(1:1)) { 0: $a = load(A) 1: T = store($a) }
      1: block [i:3, k:1 = k] ( 14 - i - 3*k >= 0 in T[1 + i] fp32(1:1) out B[0, i] fp32(1:16, 1:1)) {
        0: $t = load(T) 1: B = store($t) } } })"));
}

TEST(Verifier, NumbersTooLargeAreUndecidedAndCounted) {
  VerifyReport report;
  Status status = check("",
                        kernel("0: block [x:4611686018427387904] ( 3 - x >= 0 in A[x, 0] "
                               "fp32(1:16, 1:1)) { 0: $a = load(A) }"),
                        &report);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(report.unknown_accesses, 1);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_THAT(report.warnings[0], HasSubstr("undecided whether it stays inside its allocation"));
}

TEST(Verifier, StopsAtTwentyMessages) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += fmt::format("{}: $a{} = add.fp32($b, $c) ", i, i);
  std::string message = check("", kernel("0: block [] ( ) {" + body + "}")).message();
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 19);
}

}  // namespace
}  // namespace stria::stripe
