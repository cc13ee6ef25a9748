// SPDX-License-Identifier: Apache-2.0
// `stria run --check-kernels`: the first kernel that a device computes wrongly, by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::HasSubstr;

constexpr const char* kInputs =
    " --input A=random:1 --shape A=5,3 --input B=random:2 --shape B=3,4";

class CheckKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.set_plugin_path(STRIA_BINARY_DIR "/lib/stria/test_plugins");
    folder_.write("prune.json", "[{\"prune\": {}}]");
    folder_.write("p.tile",
                  "function (A[M, K], B[K, N]) -> (R) {\n"
                  "  C[m, n: M, N] = +(A[m, k] * B[k, n]);\n"
                  "  D[m, n: M, N] = >(C[m, n + i]), i < 2;\n"
                  "  R = tanh(D) + C;\n"
                  "}\n");
  }
  Ended run(const std::string& device, const std::string& more) {
    return folder_.stria(words("run p.tile --device " + device + kInputs + more));
  }
  Folder folder_;
};

TEST_F(CheckKernelsTest, DevicesThatAreRightSaySo) {
  for (const char* device : {"reference", "llvm_cpu", "failing:good", "slow_device"}) {
    const Ended ended = run(device, " --check-kernels wrong");
    EXPECT_EQ(ended.code, 0) << device << ": " << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("check-kernels: each kernel is right by itself\n")) << device;
    EXPECT_THAT(folder_.files(), testing::Not(testing::Contains("wrong"))) << device;
  }
  // The same with constants: their kernels are the prologue's.
  const Ended ended = run("llvm_cpu", " --check-kernels wrong --const A --const B");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("each kernel is right"));
}

TEST_F(CheckKernelsTest, TheKernelThatIsWrongIsWrittenWithWhatItRead) {
  const Ended ended = run("failing:wrong_kernel", " --check-kernels wrong");
  EXPECT_EQ(ended.code, 3) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("(2 of 5) is the first that is wrong: C[0, 0]: got "));
  const std::string stripe = folder_.read("wrong/kernel.stripe");
  EXPECT_THAT(stripe, HasSubstr("stripe 1.0\n"));
  for (const char* file : {"in_A.npy", "in_B.npy", "got_C.npy", "expected_C.npy"})
    EXPECT_THAT(folder_.read(std::string("wrong/") + file), HasSubstr("NUMPY")) << file;
  EXPECT_NE(folder_.read("wrong/got_C.npy"), folder_.read("wrong/expected_C.npy"));
  // What was written is a program that the command reads.
  EXPECT_EQ(folder_.stria(words("opt wrong/kernel.stripe --pipeline prune.json")).code, 0);
}

TEST_F(CheckKernelsTest, WhereTheWholeProgramIsOneKernelThatIsSaid) {
  const Ended ended = run("sim", " --check-kernels wrong");
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("runs all of its program as one kernel, 'main'"));
}

}  // namespace
}  // namespace stria::end_to_end
