// SPDX-License-Identifier: Apache-2.0
// `stria run --devices` and `stria devices --topology`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kProduct =
    "function product(A[M, L], B[L, N]) -> (C) {\n  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n}\n";

class Several : public testing::Test {
 protected:
  void SetUp() override { folder_.write("p.tile", kProduct); }
  Ended run(const std::string& command) { return folder_.stria(words(command)); }
  Folder folder_;
};

TEST_F(Several, DevicesOfOneRunComputeWhatOneDoes) {
  const std::string inputs =
      " --input A=random:1:i32 --shape A=7,4 --input B=random:2:i32 --shape B=4,3";
  const Ended shared = run("run p.tile --devices llvm_cpu;llvm_cpu;reference,llvm_cpu" + inputs);
  // A list stands for all that it keeps; nobody knows how fast the interpreter is.
  EXPECT_EQ(shared.code, 1) << shared.err;
  EXPECT_THAT(shared.err, HasSubstr("nobody can predict what 'product' takes on reference:"));
  const Ended two =
      run("run p.tile --devices llvm_cpu;llvm_cpu --check --output C=two.npy" + inputs);
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(two.out, AllOf(StartsWith("check C: 21 elements"), HasSubstr(": ok\n")));
  EXPECT_THAT(two.err, HasSubstr("4 on llvm_cpu:0, 3 on llvm_cpu:0"));
  const Ended one = run("run p.tile --device llvm_cpu --output C=one.npy" + inputs);
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(folder_.read("one.npy"), folder_.read("two.npy"));
  EXPECT_NE(folder_.read("one.npy"), "");
}

TEST_F(Several, SaysWhatItCannotDo) {
  folder_.write("total.tile", "function total(A[N]) -> (S) { S[] = +(A[i]); }\n");
  const Ended total =
      run("run total.tile --devices reference;reference --input A=random:1 --shape A=9");
  EXPECT_EQ(total.code, 1);
  EXPECT_THAT(total.err, AllOf(HasSubstr("'total' cannot be split over devices:"),
                               HasSubstr("'S' has no dimension")));
  const std::string inputs = " --input A=random:1 --shape A=7,4 --input B=random:2 --shape B=4,3";
  for (const char* wrong :
       {"--devices llvm_cpu;;", "--devices llvm_cpu;reference --profile",
        "--devices llvm_cpu;reference --device reference", "--devices llvm_cpu;mme>=8G"}) {
    const Ended ended = run(std::string("run p.tile ") + wrong + inputs);
    EXPECT_EQ(ended.code, 2) << wrong << "\n" << ended.err;
  }
  EXPECT_EQ(run("run p.tile --devices reference;nosuch" + inputs).code, 3);
  EXPECT_EQ(run("devices --again").code, 2);
}

TEST_F(Several, TheTopologyHasEachPair) {
  const Ended text = run("devices --topology --select llvm_cpu;reference");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(StartsWith("from "), HasSubstr("to llvm_cpu:0"),
                              HasSubstr("to reference:0"), HasSubstr(", host")));
  const Ended again = run("devices --topology --json --again --select llvm_cpu;llvm_cpu");
  EXPECT_EQ(again.code, 0) << again.err;
  const auto json = nlohmann::json::parse(again.out);
  EXPECT_EQ(json.at("devices").size(), 2u);
  ASSERT_EQ(json.at("links").size(), 2u);
  // Both are memory of the host, and of one plugin.
  for (const auto& link : json.at("links")) {
    EXPECT_GT(link.at("peer").at("bytes_per_s").get<double>(), 0);
    EXPECT_GT(link.at("host").at("bytes_per_s").get<double>(), 0);
  }
}

}  // namespace
}  // namespace stria::end_to_end
