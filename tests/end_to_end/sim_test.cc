// SPDX-License-Identifier: Apache-2.0
// `stria sim` as users run it: values, files, knobs, and what it says to mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "command.h"

namespace stria::end_to_end {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

const std::string kModel = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

class Sim : public testing::Test {
 protected:
  Sim() {
    folder_.write("product.tile",
                  "function (A[M, K], B[K, N], D[N]) -> (C) {\n"
                  "  S[i, j: M, N] = +(A[i, k] * B[k, j]);\n  C = max(S + D, 0);\n}\n");
  }
  Ended run(const std::string& more) {
    return folder_.stria(
        words("sim product.tile --shape A=64,32:i8 --shape B=32,48:i8 --shape D=48:i32 " + more));
  }
  // Cycles of #main.
  uint64_t cycles(const std::string& more) {
    const Ended ended = run("--timing-only --report r " + more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return json::parse(folder_.read("r/report.json"))["parts"].back()["cycles"];
  }
  // A model that is the slides' with a piece replaced.
  std::string model(const std::string& from, const std::string& to) {
    std::string text = text_of(kModel);
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const std::string table = "../energy/";
    text.replace(text.find(table), table.size(), STRIA_SOURCE_DIR "/hwmodels/energy/");
    folder_.write("m.json", text);
    return "--hw m.json ";
  }
  Folder folder_;
};

TEST_F(Sim, ComputesValuesAndSaysWhatTheyTake) {
  const Ended ended = run("--report r");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("check C: 3072 elements"), HasSubstr(": ok"), HasSubstr("cycles"),
                    HasSubstr("lost most to"), HasSubstr("energy")));
  EXPECT_THAT(folder_.files(), testing::ElementsAre("product.tile", "r/kernels.csv",
                                                    "r/report.json", "r/trace.json"));
  const json report = json::parse(folder_.read("r/report.json"));
  EXPECT_EQ(report["model"], "stripe_slides");
  for (const char* input : {"program", "generic_stripe", "device_stripe", "hw", "pipeline"})
    EXPECT_EQ(report["inputs"][input].get<std::string>().size(), 64u) << input;
  EXPECT_NO_THROW(json::parse(folder_.read("r/trace.json")));
}

// Whether a sum is less than the same sum lies within its bound.
TEST_F(Sim, WhatTheCheckCannotDecideIsNotSaidToBeRight) {
  const auto checked = [&](const std::string& condition) {
    folder_.write("less.tile",
                  "function (A[N, M]) -> (R) {\n  S[i : N] = +(A[i, k]);\n"
                  "  T[i : N] = +(A[i, k]);\n  R = " +
                      condition + " ? 1 : 0;\n}\n");
    return folder_.stria(words("sim less.tile --shape A=8,50"));
  };
  const Ended none = checked("S < T");
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_THAT(none.out,
              AllOf(HasSubstr("check R: 8 elements"), HasSubstr("8 undecided: NOT CHECKED"),
                    testing::Not(HasSubstr(": ok"))));
  EXPECT_THAT(none.err, HasSubstr("check R: 1% or more of the elements could not be decided"));
  EXPECT_THAT(checked("S < T + index(S, 0)").out, HasSubstr("1 undecided: the other 7 ok"));
}

TEST_F(Sim, TwoRunsWriteTheSameBytes) {
  ASSERT_EQ(run("--report a").code, 0);
  ASSERT_EQ(run("--report b").code, 0);
  for (const char* file : {"report.json", "kernels.csv", "trace.json"})
    EXPECT_EQ(folder_.read(std::string("a/") + file), folder_.read(std::string("b/") + file));
}

TEST_F(Sim, OneNumberOfTheModelChangesTheTime) {
  const uint64_t before = cycles("");
  EXPECT_LT(cycles("--set DRAM_BYTES=128"), before);
  EXPECT_GT(cycles("--set DRAM_BYTES=16"), before);
  EXPECT_EQ(cycles("--set CLOCK_MHZ=500"), before);
  // A share of a bank that is no whole number of KiB, and one into which only small tiles fit.
  EXPECT_GT(cycles("--set NUM_SRAM=3"), 0u);
  EXPECT_GE(cycles("--set SRAM_SIZE_KIB=36"), before);
  EXPECT_GE(cycles("--set SRAM_SIZE_KIB=1"), before);
  EXPECT_GT(cycles("--set SRAM_SIZE_KIB=1 --set NUM_SRAM=1"), before);
  EXPECT_GT(cycles(model("\"ops_per_cycle\": 512", "\"ops_per_cycle\": 64")), before);
  EXPECT_GT(cycles(model("\"op\": \"mac\",", "\"op\": \"mac\", \"overhead_cycles\": 100,")),
            before);
}

TEST_F(Sim, FidelitiesAndBusModels) {
  const uint64_t event = cycles("");
  EXPECT_LE(cycles("--fidelity roofline"), event);
  EXPECT_EQ(cycles("--fidelity cycle"), event);
  EXPECT_EQ(cycles("--buses burst"), event);
  const Ended values = run("--functional-only");
  EXPECT_EQ(values.code, 0) << values.err;
  EXPECT_THAT(values.out, AllOf(HasSubstr("check C"), testing::Not(HasSubstr("cycles"))));
  EXPECT_THAT(run("--timing-only").out, testing::Not(HasSubstr("check C")));
}

TEST_F(Sim, EachModelThatShipsRuns) {
  for (const std::string name : {"stripe_slides", "slides_systolic", "tpu_like", "eyeriss_like"}) {
    const Ended ended = run("--hw " STRIA_SOURCE_DIR "/hwmodels/templates/" + name + ".json");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr(": ok"), HasSubstr(" on " + name)));
    // Units of which the same is to be said share a line.
    const std::string unit = name == "tpu_like"       ? "MXU[0]"
                             : name == "eyeriss_like" ? "..167]"
                                                      : "CONV[0";
    EXPECT_THAT(ended.out, HasSubstr(unit));
  }
}

// What fits into no near memory comes in tiles, with a pooling behind it.
TEST_F(Sim, ModelsThatShipTileWhatDoesNotFit) {
  folder_.write("conv.tile",
                "function (I[X, Y, C], K[A, B, C, M], D[M]) -> (R) {\n"
                "  S[x, y, o : X, Y, M] = +(I[x + i - 1, y + j - 1, c] * K[i, j, c, o]);\n"
                "  T = max(S + D, 0);\n"
                "  R[x, y, c : X / 2, Y / 2, M] = >(T[2*x + i, 2*y + j, c]), i < 2, j < 2;\n}\n");
  for (const std::string model :
       {"stripe_slides.json --set SRAM_SIZE_KIB=64", "slides_systolic.json --set SRAM_SIZE_KIB=64",
        "tpu_like.json --set UB_KIB=64 --set ROWS=8 --set COLS=16", "eyeriss_like.json"}) {
    const Ended ended =
        folder_.stria(words("sim conv.tile --shape I=48,48,8:i8 --shape K=3,3,8,16:i8 --shape "
                            "D=16:i32 --hw " STRIA_SOURCE_DIR "/hwmodels/templates/" +
                            model));
    EXPECT_EQ(ended.code, 0) << model << ": " << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(": ok")) << model;
  }
}

// One pipeline for machines whose units have any names, and right values on each.
TEST_F(Sim, OnePipelineServesEachModel) {
  const std::string pipeline =
      " --pipeline " STRIA_SOURCE_DIR "/plugins/sim/passes/scratchpad.json";
  for (const std::string name : {"stripe_slides", "slides_systolic", "tpu_like", "eyeriss_like"}) {
    const Ended ended =
        run("--hw " STRIA_SOURCE_DIR "/hwmodels/templates/" + name + ".json" + pipeline);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr(": ok"), HasSubstr(" on " + name)));
  }
  std::string renamed = text_of(kModel);
  for (const auto& [from, to] : {std::pair("DRAM", "GDDR"), std::pair("SRAM", "LOCAL"),
                                 std::pair("CONV", "MATRIX"), std::pair("DMA", "COPY")})
    for (size_t at = 0; (at = renamed.find(std::string(1, '"') + from, at)) != std::string::npos;
         ++at)
      renamed.replace(at + 1, std::string(from).size(), to);
  // The energy table knows one name alone.
  const std::string energy = "\"energy_from\": \"LOCAL\"";
  renamed.replace(renamed.find(energy), energy.size(), "\"energy_from\": \"SRAM\"");
  const std::string table = "../energy/";
  renamed.replace(renamed.find(table), table.size(), STRIA_SOURCE_DIR "/hwmodels/energy/");
  folder_.write("renamed.json", renamed);
  const Ended ended = run("--hw renamed.json" + pipeline);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr(": ok"), HasSubstr("MATRIX[0")));
}

// The layer of the slides with 8-bit results: each more unit is used, until the bus of results is
// full. A unit makes 512 of the 1024 * 1024 * 9 * 32 * 64 multiply-adds in a cycle, the bus takes
// 64 of 1024 * 1024 * 64 bytes.
TEST_F(Sim, TheSlidesLayerUsesAllUnits) {
  folder_.write("layer.tile",
                "function (I[X, Y, C], K[A, B, C, M]) -> (O) {\n"
                "  S[x, y, o : X, Y, M] = +(I[x + i - 1, y + j - 1, c] * K[i, j, c, o]);\n"
                "  O = as_int(S, 8);\n}\n");
  for (const uint64_t units : {1, 2, 4, 16, 36, 37, 64}) {
    const Ended ended = folder_.stria(
        words("sim layer.tile --shape I=1024,1024,32:i8 --shape K=3,3,32,64:i8 --timing-only "
              "--report r --pipeline " STRIA_SOURCE_DIR
              "/plugins/sim/passes/scratchpad.json --set NUM_CONV=" +
              std::to_string(units)));
    ASSERT_EQ(ended.code, 0) << ended.err;
    const uint64_t took = json::parse(folder_.read("r/report.json"))["parts"].back()["cycles"];
    const uint64_t bound = std::max<uint64_t>(37'748'736 / units, 1'048'576);
    EXPECT_GE(took, bound) << units;
    EXPECT_LE(static_cast<double>(took), 1.05 * static_cast<double>(bound)) << units;
  }
}

// A product whose sums have 4096 products each: two units of 512 multiply-adds per cycle are busy
// nearly all the time, since reductions are cut too. (Rows of whole reductions took 12 times as
// long.)
TEST_F(Sim, LongReductionsAreCut) {
  folder_.write("product.tile",
                "function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }\n");
  const std::string pipeline =
      " --pipeline " STRIA_SOURCE_DIR "/plugins/sim/passes/scratchpad.json ";
  const Ended large = folder_.stria(
      words("sim product.tile --shape A=4096,4096 --shape B=4096,4096 --timing-only --report r" +
            pipeline));
  ASSERT_EQ(large.code, 0) << large.err;
  const uint64_t took = json::parse(folder_.read("r/report.json"))["parts"].back()["cycles"];
  EXPECT_GE(took, 67'108'864u);
  EXPECT_LE(took, 67'200'000u);
  // Values, with odd sizes and little room: of a product, and of a convolution with borders.
  for (const int size_KiB : {4, 16, 64}) {
    const Ended values =
        folder_.stria(words("sim product.tile --shape A=70,331 --shape B=331,53" + pipeline +
                            "--set SRAM_SIZE_KIB=" + std::to_string(size_KiB)));
    EXPECT_EQ(values.code, 0) << values.err;
    EXPECT_THAT(values.out, HasSubstr(": ok"));
  }
  folder_.write("conv.tile",
                "function (I[X, Y, C], K[A, B, C, M]) -> (R) {\n"
                "  R[x, y, o : X, Y, M] = +(I[x + i - 1, y + j - 1, c] * K[i, j, c, o]);\n}\n");
  const Ended conv = folder_.stria(words("sim conv.tile --shape I=9,11,130 --shape K=3,3,130,6" +
                                         pipeline + "--set SRAM_SIZE_KIB=4"));
  EXPECT_EQ(conv.code, 0) << conv.err;
  EXPECT_THAT(conv.out, HasSubstr(": ok"));
}

// What follows a long sum is not fused with it if that keeps the sum whole and takes longer.
TEST_F(Sim, LongReductionsAreCutBeforeWhatFollowsThem) {
  folder_.write("layer.tile",
                "function (L[N, F], W[F, D], B[D]) -> (Y) {\n"
                "  I[n, d : N, D] = +(L[n, f] * W[f, d]);\n  Y = max(I + B, 0);\n}\n");
  const Ended large = folder_.stria(
      words("sim layer.tile --shape L=128,3072 --shape W=3072,768 --shape B=768 --timing-only "
            "--report r"));
  ASSERT_EQ(large.code, 0) << large.err;
  const json report = json::parse(folder_.read("r/report.json"));
  const double needs = report["machine_needs"][0]["cycles"];
  EXPECT_LE(report["parts"].back()["cycles"], 1.2 * needs);  // fused, it was 8 times
  const Ended values =
      folder_.stria(words("sim layer.tile --shape L=30,700 --shape W=700,41 --shape B=41 --set "
                          "SRAM_SIZE_KIB=16"));
  EXPECT_EQ(values.code, 0) << values.err;
  EXPECT_THAT(values.out, HasSubstr(": ok"));
}

// Elementwise kernels behind a sum that stays apart are one kernel. Where no tile of both fits, a
// sum and what follows it stay apart, too.
TEST_F(Sim, WhatStaysApartIsAChainOfItsOwn) {
  folder_.write("chain.tile",
                "function (A[M, K], B[K, N], D[N]) -> (Z) {\n"
                "  E[i, j : M, N] = +(A[i, k] * B[k, j]);\n  F = E + D;\n"
                "  G = F > 0 ? F : 0;\n  H = G * 0.5;\n  Z = exp(H + 1);\n}\n");
  const auto main_of = [&](const std::string& more) {
    const Ended ended = folder_.stria(words("sim chain.tile --timing-only --report r " + more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return json::parse(folder_.read("r/report.json"))["parts"].back();
  };
  const json chain =
      main_of("--shape A=512,512 --shape B=512,512 --shape D=512 --hw " STRIA_SOURCE_DIR
              "/hwmodels/templates/slides_systolic.json");
  EXPECT_LE(chain["cycles"], 600'000);  // 1,008,413 with a kernel for each of them
  const json small = main_of(
      "--shape A=64,512 --shape B=512,64 --shape D=64 --set NUM_SRAM=1 --set SRAM_SIZE_KIB=4");
  EXPECT_LE(small["cycles"], 20'000);  // 262,148 from afar
  const Ended values = folder_.stria(
      words("sim chain.tile --shape A=33,70 --shape B=70,19 --shape D=19 --set SRAM_SIZE_KIB=4"));
  EXPECT_EQ(values.code, 0) << values.err;
  EXPECT_THAT(values.out, HasSubstr(": ok"));
}

// A result that is written in part is staged as others are: beside the product that writes all of
// it, each of these takes about as long. (From afar they took up to 4,000 times as long.)
TEST_F(Sim, WhatIsWrittenInPartIsStagedAsOthers) {
  const std::string head = "function (A[M, K], B[K, N]) -> (C) { ", sum = " = +(A[m, k] * B[k, n])";
  folder_.write("whole.tile", head + "C[m, n : M, N]" + sum + "; }\n");
  const std::pair<const char*, std::string> parts[] = {
      {"shifted.tile", "C[m + 1, n : M + 1, N]" + sum + ";"},
      {"padded.tile", "C[m + 2, n + 1 : M + 3, N + 2]" + sum + ";"},
      {"strided.tile", "C[2*m, n : 2*M, N]" + sum + ";"},
      {"constrained.tile", "C[m, n : M, N]" + sum + ", m - n < 60;"},
      {"default.tile",
       "D[m, n : M + 1, N] = +(A[m, k] * B[k, n]); C[m + 1, n : M + 1, N]" + sum + " default D;"},
      {"followed.tile", "T[m + 1, n + 1 : M + 1, N + 1]" + sum + "; C = max(T, 3);"},
      {"two.tile", "T[m, n : 2*M, N]" + sum +
                       "; U[m + 40, n : 2*M, N] = +(A[m, k] * B[k, n]); "
                       "C = T + U;"}};
  for (const auto& [name, text] : parts) folder_.write(name, head + text + " }\n");
  const auto run = [&](const char* name, const std::string& more) {
    return folder_.stria(words(std::string("sim ") + name +
                               " --report r --hw " STRIA_SOURCE_DIR "/hwmodels/templates/" + more));
  };
  for (const std::string model : {"stripe_slides.json", "slides_systolic.json",
                                  "slides_systolic.json --set DATAFLOW=os --set NUM_SRAM=2",
                                  "tpu_like.json --set UB_KIB=256", "eyeriss_like.json"}) {
    const auto cycles = [&](const char* name) -> double {
      const Ended ended = run(name, model + " --shape A=512,512 --shape B=512,512 --timing-only");
      EXPECT_EQ(ended.code, 0) << ended.err;
      return json::parse(folder_.read("r/report.json"))["parts"].back()["cycles"];
    };
    const double whole = cycles("whole.tile");
    for (const auto& [name, text] : parts) {
      // Two products, or a result that is written by one kernel and read by the next.
      const bool more = std::string(name) == "two.tile" || std::string(name) == "default.tile";
      EXPECT_LE(cycles(name), (more ? 4 : 1.7) * whole) << model << " " << text;
    }
  }
  // Values, with odd sizes and little room.
  for (const std::string model :
       {"stripe_slides.json --set SRAM_SIZE_KIB=4", "slides_systolic.json --set SRAM_SIZE_KIB=4",
        "tpu_like.json --set UB_KIB=8", "eyeriss_like.json --set GLB_KIB=8"})
    for (const auto& [name, text] : parts)
      for (const char* type : {"i8", "fp32"}) {
        const Ended ended =
            run(name, model + " --shape A=43,70:" + type + " --shape B=70,29:" + type);
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_THAT(ended.out, HasSubstr(": ok")) << model << " " << text;
      }
}

// A unit computes in the types that it has rates for. A product in another type runs on the unit
// that has one, and where there is none, the message says what the model lacks, and where.
TEST_F(Sim, AUnitWithRatesComputesInTheirTypes) {
  folder_.write("product.tile",
                "function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }\n");
  const std::string peak = "\"ops_per_cycle\": 512, ",
                    source = "\"ops_per_cycle\": \"Stripe slides";
  std::string text = text_of(kModel);
  const auto replace = [&](const std::string& from, const std::string& to, size_t after) {
    text.replace(text.find(from, after), from.size(), to);
  };
  replace("../energy/", STRIA_SOURCE_DIR "/hwmodels/energy/", 0);
  replace(peak, R"("rates": {"i8": {"ops_per_cycle": 1024}}, )", 0);
  replace(source, "\"rates\": \"Stripe slides", text.find("\"CONV\": {"));
  folder_.write("one.json", text);
  replace("\"ops_per_cycle\": 64, ", R"("rates": {"i32": {"ops_per_cycle": 64}}, )", 0);
  replace(source, "\"rates\": \"Stripe slides", text.find("\"DSP\": {"));
  folder_.write("both.json", text);
  const auto run = [&](const std::string& type, const std::string& model) {
    return folder_.stria(words("sim product.tile --shape A=64,64:" + type +
                               " --shape B=64,64:" + type + " --report r --hw " + model));
  };
  const auto units = [&] {
    std::set<std::string> out;
    const json report = json::parse(folder_.read("r/report.json"));
    for (const json& kernel : report["parts"].back()["kernels"])
      if (kernel["unit"] != "DMA") out.insert(kernel["unit"]);
    return out;
  };
  for (const auto& [type, where] : {std::pair("i8", "CONV"), std::pair("fp32", "DSP")}) {
    const Ended ended = run(type, "one.json");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(": ok"));
    EXPECT_EQ(units(), std::set<std::string>{where});
  }
  EXPECT_EQ(run("i8", "both.json").code, 0);
  const Ended none = run("fp32", "both.json");
  EXPECT_EQ(none.code, 1) << none.out;
  EXPECT_THAT(none.err, AllOf(HasSubstr("both.json:"),
                              HasSubstr("the hardware model has no rate of 'DSP' for fp32")));
}

// What the prologue does is none of what #main needs; what values choose is not all of a tensor.
TEST_F(Sim, TheMachinesNeedIsNeverAboveTheTime) {
  folder_.write("weights.tile",
                "function (A[M, K], W[K, N], B[K, N]) -> (C) {\n  S = W * B + W;\n"
                "  C[i, j : M, N] = +(A[i, k] * S[k, j]);\n}\n");
  folder_.write("rows.tile", "function (A[N, D], I[K]) -> (C) { C = gather(A, I); }\n");
  for (const char* command :
       {"sim weights.tile --shape A=1,8 --shape W=8,8 --shape B=8,8 --const W --const B "
        "--set DRAM_BYTES=1",
        "sim rows.tile --shape A=20000,64 --shape I=4:i32 --input I=1,2,3,4:i32 "
        "--set SRAM_SIZE_KIB=1 --set DRAM_BYTES=16"}) {
    const Ended ended = folder_.stria(words(std::string(command) + " --timing-only --report r"));
    ASSERT_EQ(ended.code, 0) << ended.err;
    const json report = json::parse(folder_.read("r/report.json"));
    ASSERT_FALSE(report["machine_needs"].empty());
    EXPECT_LE(report["machine_needs"][0]["cycles"], report["parts"].back()["cycles"]) << command;
  }
}

// Tiles cut among units with a memory each: what all of them read crosses the bus of DRAM once, and
// results are as right.
TEST_F(Sim, OneTransferBringsWhatSeveralUnitsRead) {
  folder_.write("conv.tile",
                "function (I[X, Y, C], K[A, B, C, M]) -> (S) {\n"
                "  S[x, y, o : X, Y, M] = +(I[x + i - 1, y + j - 1, c] * K[i, j, c, o]);\n}\n");
  const std::string pipeline = text_of(STRIA_SOURCE_DIR "/plugins/sim/passes/slides_spread.json");
  const std::string share = ", \"share_loc\": { \"name\": \"NOC\" }";
  ASSERT_NE(pipeline.find(share), std::string::npos);
  struct Moved {
    double dram = 0, network = 0;  // bytes
    uint64_t cycles = 0;
  };
  const auto moved = [&](const std::string& option) {
    std::string text = pipeline;
    text.replace(text.find(share), share.size(), option);
    folder_.write("p.json", text);
    const Ended ended = folder_.stria(
        words("sim conv.tile --shape I=40,40,16:i8 --shape K=3,3,16,32:i8 --pipeline p.json --set "
              "NUM_CONV=4 --set SRAM_SIZE_KIB=32 --report r"));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("check S: 51200 elements"), HasSubstr(": ok")));
    const json main = json::parse(folder_.read("r/report.json"))["parts"].back();
    Moved out{0, 0, main["cycles"]};
    for (const json& channel : main["channels"]) {
      if (channel["name"] == "DRAM[0] -> DMA[0]") out.dram = channel["bytes"];
      if (channel["name"] == "NOC[0] -> SRAM[0], …") out.network = channel["bytes"];
    }
    return out;
  };
  const Moved apart = moved(", \"multicast\": false"), joined = moved(""), network = moved(share);
  const double kernel = 3 * 3 * 16 * 32;
  // A copy of K less for each of three units, for each tile.
  const double fewer = apart.dram - joined.dram;
  EXPECT_GT(fewer, 0);
  EXPECT_EQ(static_cast<int64_t>(fewer) % static_cast<int64_t>(3 * kernel), 0);
  EXPECT_LE(joined.cycles, apart.cycles);
  EXPECT_EQ(joined.network, 0);
  EXPECT_EQ(network.dram, joined.dram);
  EXPECT_EQ(network.network, fewer / 3);  // once for all three
}

TEST_F(Sim, ValidatesAndReadsLayerTables) {
  const Ended cases = folder_.stria(words("sim --validate"));
  EXPECT_EQ(cases.code, 0) << cases.err;
  EXPECT_THAT(cases.out,
              AllOf(HasSubstr("expected"), HasSubstr("0 missed; the largest error is 1.0")));
  folder_.write("t.csv", "Layer, M, N, K,\nA, 256, 128, 256,\nB, 100, 70, 50,\n");
  const Ended table = folder_.stria(words("sim --scalesim-topology t.csv --array 32x32"));
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("10176"), HasSubstr("all")));
  EXPECT_EQ(folder_.stria(words("sim --scalesim-topology t.csv")).code, 2);
  EXPECT_EQ(folder_.stria(words("sim --scalesim-topology t.csv --array 3")).code, 2);
  // Without the names of its columns a table has no layer that could be lost.
  folder_.write("t.csv", "A, 256, 128, 256,\nB, 100, 70, 50,\n");
  const Ended headless = folder_.stria(words("sim --scalesim-topology t.csv --array 32x32"));
  EXPECT_EQ(headless.code, 1);
  EXPECT_THAT(headless.err, HasSubstr("t.csv:1:1: error: this is a layer"));
}

// Each mistake says what it is about: the file, line and field where there is one, and the names.
TEST_F(Sim, SaysWhatIsWrongWithAModel) {
  const auto message = [&](const std::string& options, int code = 1) {
    const Ended ended = run(options);
    EXPECT_EQ(ended.code, code) << ended.err;
    return ended.err;
  };
  // A pipeline that names units.
  const std::string names = " --pipeline " STRIA_SOURCE_DIR "/plugins/sim/passes/slides.json";
  const std::string bus = R"({"sources": ["DRAM[0]"], "sinks": ["DMA[0]"])";
  // No way, two ways, a bus to what is not there.
  const std::string no_way = model(bus, R"({"sources": ["DRAM[0]"], "sinks": ["NOC[0]"])");
  EXPECT_THAT(message(no_way),
              HasSubstr("m.json: the model 'stripe_slides' does not have a transfer unit on buses "
                        "from 'DRAM' to a memory near the execution units and back"));
  EXPECT_THAT(message(no_way + names),
              AllOf(HasSubstr("from 'DRAM[0]' to 'SRAM[0]' over 'DMA[0]'"),
                    HasSubstr("no way over buses from 'DRAM[0]' to 'DMA[0]'")));
  EXPECT_THAT(message(model("\"buses\": [", "\"buses\": [" + bus + ", \"bytes_per_cycle\": 5},")),
              HasSubstr("2 ways of 1 bus from 'DRAM[0]' to 'DMA[0]'"));
  EXPECT_THAT(message(model(R"(["DRAM[0]"])", R"(["DRAN[0]"])")),
              AllOf(HasSubstr("m.json:59:"), HasSubstr("did you mean 'DRAM'")));
  EXPECT_THAT(message(model(R"(["DRAM[0]"])", R"(["DRAM[1]"])")),
              AllOf(HasSubstr("/buses/0/sources/0"), HasSubstr("has 1 of 'DRAM'")));
  // Numbers that are negative, 0 or too large.
  EXPECT_THAT(message(model("\"ops_per_cycle\": 64", "\"ops_per_cycle\": -1")),
              AllOf(HasSubstr("m.json:33:"), HasSubstr("/exec_units/DSP/ops_per_cycle: -1")));
  EXPECT_THAT(message(model("\"ops_per_cycle\": 64", "\"ops_per_cycle\": 0")),
              HasSubstr("m.json:33: /exec_units/DSP/ops_per_cycle is 0"));
  EXPECT_THAT(message(model("\"size_KiB\": 1048576", "\"size_KiB\": 0")),
              HasSubstr("m.json:19: /mem_units/DRAM/size_KiB is 0"));
  // Of a parameter that says what it may be, and of one that does not.
  for (const char* slip : {"CLOCK_MHZ=0", "SRAM_SIZE_KIB=0", "SRAM_SIZE_KIB=0.5", "NUM_CONV=abc",
                           "NUM_CONV=", "NUM_CONV=1.5", "NUM_SRAM=0", "DRAM_BYTES=0"}) {
    const std::string name = std::string(slip).substr(0, std::string(slip).find('='));
    EXPECT_THAT(message(std::string("--set ") + slip),
                AllOf(HasSubstr("stripe_slides.json:"), HasSubstr("'" + name + "' is "),
                      HasSubstr(", which is not a ")))
        << slip;
  }
  const std::string slides = text_of(kModel);
  const auto free = [&](const std::string& name, const std::string& set) {
    const std::string at = "{% set " + name + " = " + name + " | default(";
    const size_t begin = slides.find(at), end = slides.find(" %}", begin);
    const size_t filter = slides.find(") |", begin);
    return model(slides.substr(begin, end - begin), slides.substr(begin, filter + 1 - begin)) +
           " --set " + set;
  };
  EXPECT_THAT(message(free("CLOCK_MHZ", "CLOCK_MHZ=0")),
              HasSubstr("m.json:14, --set CLOCK_MHZ: /clock_mhz is 0"));
  EXPECT_THAT(
      message(free("SRAM_SIZE_KIB", "SRAM_SIZE_KIB=0")),
      AllOf(HasSubstr("m.json:23:"), HasSubstr("/mem_units/SRAM/size_KiB"), HasSubstr("above 0")));
  EXPECT_THAT(message(free("SRAM_SIZE_KIB", "SRAM_SIZE_KIB=0.5") + names),
              HasSubstr("one 'SRAM' has 0.5 KiB"));
  EXPECT_THAT(message(free("NUM_CONV", "NUM_CONV=abc")),
              AllOf(HasSubstr("m.json:39:"), HasSubstr("NUM_CONV makes 'abc' here")));
  EXPECT_THAT(message(free("NUM_CONV", "NUM_CONV=")), HasSubstr("NUM_CONV is empty here"));
  EXPECT_THAT(message(free("NUM_CONV", "NUM_CONV=1.5")),
              HasSubstr("/exec_units/CONV/count: must be an integer, this is 1.5"));
  EXPECT_THAT(message(free("NUM_SRAM", "NUM_SRAM=0")), HasSubstr("/mem_units/SRAM/count: 0"));
  EXPECT_THAT(message(free("DRAM_BYTES", "DRAM_BYTES=0")),
              HasSubstr("m.json:59, --set DRAM_BYTES: /buses/0/bytes_per_cycle is 0"));
  EXPECT_THAT(message(model(R"("bytes_per_cycle": {{ DRAM_BYTES }}, )", "")),
              HasSubstr("m.json:59: /buses/0: a simulated machine needs its bytes_per_cycle"));
  EXPECT_THAT(message(model("\"size_KiB\": 1048576", "\"size_KiB\": 1e30")),
              AllOf(HasSubstr("m.json:19:"), HasSubstr("1e+30 is outside")));
  EXPECT_THAT(message(free("NUM_CONV", "NUM_CONV=1000000000")),
              AllOf(HasSubstr("1000000000 of 'CONV'"), HasSubstr("room for 1000000")));
  EXPECT_THAT(
      message(model("\"bytes_per_cycle\": {{ DRAM_BYTES }}", "\"bytes_per_cycle\": 1e-300")),
      HasSubstr("more than 2^53 ticks"));
  // What the pipeline names; keys; words.
  EXPECT_THAT(message(model("\"CONV\": {", "\"CONVX\": {") + names),
              HasSubstr("did you mean 'CONVX'"));
  EXPECT_THAT(message(model("\"DRAM\": {", "\"DRAM\": {\"siez_KiB\": 1,")),
              HasSubstr("did you mean 'size_KiB'"));
  EXPECT_THAT(message(model("\"op\": \"mac\"", "\"op\": \"mca\"")),
              HasSubstr("did you mean 'mac'"));
  EXPECT_THAT(message("--set NUM_SRM=4", 2), HasSubstr("did you mean 'NUM_SRAM'"));
  // Quotes of a word processor; comments and commas at the end are in order.
  EXPECT_THAT(message(model("\"clock_mhz\"", "\u201cclock_mhz\u201d")),
              AllOf(HasSubstr("m.json:14:"), HasSubstr("typographic quotation mark")));
  EXPECT_EQ(run(model("\"clock_mhz\"", "// one,\n /* two */ \"clock_mhz\"")).code, 0);
  EXPECT_EQ(run(model("\"SRAM\": {", "\"MORE\": {\"size_KiB\": 4,},\n\"SRAM\": {")).code, 0);
}

// A way over two transfer units is one as well: for the tiles, the schedule and the clock.
TEST_F(Sim, WaysMayLeadOverSeveralTransferUnits) {
  std::string text = text_of(kModel);
  for (const std::string end : {R"("sources": ["DMA[0]"],)", R"("sinks": ["DMA[0]"],)"}) {
    // The two buses between DMA and SRAM, to NOC in its place: each over several lines.
    const std::string list = R"([{% for i in range(NUM_SRAM) %})";
    const bool out = end.starts_with("\"sources");
    const std::string other = out ? "\"sinks\": " + list : "\"sources\": " + list;
    size_t at = std::string::npos;
    for (size_t from = 0; (from = text.find(end, from)) != std::string::npos; from += end.size()) {
      const size_t brace = text.rfind('{', text.rfind("\n    {", from) + 6);
      if (text.substr(brace, text.find("bytes_per_cycle", from) - brace).find(other) !=
          std::string::npos)
        at = brace;
    }
    ASSERT_NE(at, std::string::npos);
    const size_t begin = text.find(other, at), stop = text.find(']', text.find("endfor", begin));
    text.replace(begin, stop + 1 - begin,
                 out ? R"("sinks": ["NOC[0]"])" : R"("sources": ["NOC[0]"])");
  }
  const std::string table = "../energy/";
  text.replace(text.find(table), table.size(), STRIA_SOURCE_DIR "/hwmodels/energy/");
  folder_.write("m.json", text);
  const Ended ended = run("--hw m.json --set SRAM_SIZE_KIB=8 --report r");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(": ok"));
  double dram = 0, network = 0;
  const json main = json::parse(folder_.read("r/report.json"))["parts"].back();
  for (const json& channel : main["channels"]) {
    if (channel["name"] == "DRAM[0] -> DMA[0]") dram = channel["bytes"];
    if (channel["name"] == "DMA[0] -> NOC[0]") network = channel["bytes"];
  }
  EXPECT_GT(dram, 0);
  EXPECT_EQ(network, dram);
}

TEST_F(Sim, SaysWhatDoesNotFit) {
  // Into the scratchpad, with a pipeline that leaves nothing in global memory.
  std::string steps = text_of(STRIA_SOURCE_DIR "/plugins/sim/passes/slides.json");
  const std::string allowed = "\"allow_global\": true";
  ASSERT_NE(steps.find(allowed), std::string::npos);
  folder_.write("staged.json",
                steps.replace(steps.find(allowed), allowed.size(), "\"allow_global\": false"));
  const std::string large =
      "sim product.tile --shape A=64,4000:i8 --shape B=4000,48:i8 --shape D=48:i32 --timing-only "
      "--set SRAM_SIZE_KIB=8 ";
  const Ended ended = folder_.stria(words(large + "--pipeline staged.json"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("'A' (256000 bytes) does not fit into 'SRAM', 8 banks of 1024 bytes"),
                    HasSubstr("bytes too many"), HasSubstr("it would fit with banks of")));
  EXPECT_EQ(folder_.stria(words(large)).code, 0);
  // What fits in small parts comes in such.
  EXPECT_EQ(run("--set SRAM_SIZE_KIB=1").code, 0);
  // And what is too large for the main memory.
  const Ended main =
      run(model("\"size_KiB\": 1048576", "\"size_KiB\": 8") + " --set SRAM_SIZE_KIB=4");
  EXPECT_EQ(main.code, 1);
  EXPECT_THAT(main.err, AllOf(HasSubstr("'C'"), HasSubstr("'DRAM'"), HasSubstr("too many")));
}

TEST_F(Sim, SaysWhatIsWrongWithACommandLine) {
  const auto message = [&](const std::string& options, int code) {
    const Ended ended = run(options);
    EXPECT_EQ(ended.code, code) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(message("--fidelity exact", 2), HasSubstr("roofline"));
  EXPECT_THAT(message("--timing-only --functional-only", 2), HasSubstr("excludes"));
  EXPECT_THAT(message("--fidelity cycle --buses burst", 2),
              AllOf(HasSubstr("--fidelity cycle"), HasSubstr("bursts are of --fidelity event")));
  EXPECT_THAT(message("--pipeline none.json", 1), HasSubstr("cannot read 'none.json'"));
  EXPECT_THAT(folder_.stria(words("sim product.tile --shape A=64,32:i8")).err, HasSubstr("needs"));
}

// What was found for some kernels holds for others that are alike but for what stands behind them.
TEST_F(Sim, NamesOfIndicesChangeNoMapping) {
  const auto cycles_with = [&](const std::string& index) {
    folder_.write("layers.tile",
                  "function (X1[B, I], W1[I, H], V1[H, O], D1[O], X2[B, I], W2[I, H], V2[H, O]) ->"
                  " (Y1, Y2) {\n"
                  "  S1[b, h : B, H] = +(X1[b, i] * W1[i, h]);\n  T1 = max(S1, 0);\n"
                  "  R1[b, o : B, O] = +(T1[b, h] * V1[h, o]);\n  Y1 = max(R1 + D1, 0);\n"
                  "  S2[b, h : B, H] = +(X2[b, " +
                      index + "] * W2[" + index +
                      ", h]);\n  T2 = max(S2, 0);\n"
                      "  R2[b, o : B, O] = +(T2[b, h] * V2[h, o]);\n  Y2[o : O] = +(R2[b, o]);\n}");
    const Ended ended = folder_.stria(
        words("sim layers.tile --timing-only --report r --hw " STRIA_SOURCE_DIR
              "/hwmodels/templates/eyeriss_like.json --shape X1=64,96:i8 --shape W1=96,16:i8 "
              "--shape V1=16,16:i8 --shape D1=16:i32 --shape X2=64,96:i8 --shape W2=96,16:i8 "
              "--shape V2=16,16:i8"));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return json::parse(folder_.read("r/report.json"))["parts"][0]["cycles"].get<uint64_t>();
  };
  EXPECT_EQ(cycles_with("i"), cycles_with("q"));
}

// The machine's need, the mapping's, and the time; and what is proven of the tiles.
TEST_F(Sim, SaysWhatAnyMappingNeeds) {
  // Tiles are searched of kernels that are in no chain.
  folder_.write("alone.tile",
                "function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }\n");
  const auto report = [&](const std::string& how) {
    const Ended ended = folder_.stria(
        words("sim alone.tile --shape A=256,256:i8 --shape B=256,256:i8 --timing-only --report r " +
              how));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("any mapping needs"), HasSubstr("this one needs"),
                                 HasSubstr(" looked at (")));
    return nlohmann::json::parse(folder_.read("r/report.json"));
  };
  const nlohmann::json quick = report(""), best = report("--map best");
  for (const nlohmann::json& one : {quick, best}) {
    const double needs = one["machine_needs"][0]["cycles"];
    EXPECT_GT(needs, 0);
    EXPECT_LE(needs, one["parts"][0]["cycles"]);
    ASSERT_GE(one["tile_searches"].size(), 1u);
    EXPECT_LE(one["tile_searches"][0]["no_tile_costs_less_than"], one["tile_searches"][0]["cost"]);
  }
  EXPECT_EQ(quick["tile_searches"][0]["search"], "quick");
  EXPECT_EQ(best["tile_searches"][0]["search"], "exhaustive");
  EXPECT_EQ(best["tile_searches"][0]["cost"], best["tile_searches"][0]["no_tile_costs_less_than"]);
  EXPECT_LE(best["tile_searches"][0]["cost"], quick["tile_searches"][0]["cost"]);
}

TEST_F(Sim, APipelineThatMapsInOneWayHasNoMap) {
  folder_.write("p.json", "[]");
  const std::string shapes = "--shape A=64,32:i8 --shape B=32,48:i8 ";
  Ended ended = folder_.stria(words("sim product.tile " + shapes + "--map best --pipeline p.json"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--map best: 'p.json' maps in one way only"));
  ended = folder_.stria(words("sim product.tile " + shapes + "--map best --set MAP=quick"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--map best and --set MAP=… say the same"));
  ended = folder_.stria(words("sim product.tile " + shapes + "--map good"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("quick"));
}

// Each point of a loop in the trace, or marks in their place; the same report.
TEST_F(Sim, SkipsLoopsAheadUnlessItIsToldNotTo) {
  folder_.write("sum.tile", "function (A[N, M]) -> (R) { R = A + 1; }");
  const auto report = [&](const std::string& name, const std::string& more) {
    const Ended ended = folder_.stria(
        words("sim sum.tile --shape A=40000,64 --timing-only --report " + name + " " + more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  EXPECT_EQ(report("a", ""), report("b", "--no-skip-ahead"));
  EXPECT_EQ(folder_.read("a/report.json"), folder_.read("b/report.json"));
  EXPECT_THAT(folder_.read("a/trace.json"), HasSubstr("again"));
  EXPECT_THAT(folder_.read("b/trace.json"), testing::Not(HasSubstr("again")));
}

}  // namespace
}  // namespace stria::end_to_end
