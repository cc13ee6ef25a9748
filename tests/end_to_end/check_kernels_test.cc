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

// Who gives wrong results is not taken unasked, until results were compared and are right.
TEST_F(CheckKernelsTest, WrongResultsKeepADeviceOutOfAuto) {
  const auto run = [&](const std::string& command) {
    return folder_.stria(words(command), [folder = folder_.path("cache").string()] {
      ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    });
  };
  const std::string program = std::string(" p.tile --device failing:wrong_kernel") + kInputs;
  for (const char* check : {" --check", " --check-kernels wrong"}) {
    EXPECT_EQ(run("run" + program).code, 0);  // nobody looks
    EXPECT_EQ(run("devices").out.find("quarantine"), std::string::npos) << check;
    EXPECT_EQ(run("run" + program + check).code, 3);
    EXPECT_THAT(run("devices").out, HasSubstr("in quarantine: it gave wrong results ")) << check;
    EXPECT_EQ(run("run" + program).code, 0);
    EXPECT_THAT(run("devices --clear-quarantine failing").out,
                testing::Not(HasSubstr("quarantine")));
  }
  // Another program is right there.
  EXPECT_EQ(run("run" + program + " --check").code, 3);
  folder_.write("q.tile", "function (X[N]) -> (R) { R = X; }");
  const std::string other =
      "run q.tile --device failing:wrong_kernel --input X=random:1 --shape X=8";
  const Ended right = run(other + " --check");
  if (right.code == 0) {
    EXPECT_EQ(run("devices").out.find("quarantine"), std::string::npos);
  }
}

}  // namespace
}  // namespace stria::end_to_end
