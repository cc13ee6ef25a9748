// SPDX-License-Identifier: Apache-2.0
// `stria run --check-kernels`: the first kernel that a device computes wrongly, by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

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

// The command that the message prints runs the kernel again, on the device and on others.
TEST_F(CheckKernelsTest, TheKernelThatIsWrongRunsAgain) {
  const std::string said = run("failing:wrong_kernel", " --check-kernels wrong").err;
  const std::string before = "it runs again by itself with\n  stria ";
  const size_t at = said.find(before);
  ASSERT_NE(at, std::string::npos) << said;
  const std::string command =
      said.substr(at + before.size(), said.find('\n', at + before.size()) - at - before.size());
  EXPECT_THAT(command, testing::StartsWith("run wrong/kernel.stripe --device failing:"));
  EXPECT_THAT(command, HasSubstr(" --check --input A=wrong/in_A.npy --input B=wrong/in_B.npy"));
  const Ended again = folder_.stria(words(command));
  EXPECT_EQ(again.code, 3) << again.err;
  EXPECT_THAT(again.err, HasSubstr("wrong results: C[0, 0]: got "));
  const std::string rest = command.substr(command.find(" --check"));
  for (const char* device : {"reference", "llvm_cpu"}) {
    const std::string there = "run wrong/kernel.stripe --device " + std::string(device) + rest;
    const Ended right = folder_.stria(words(there + " --output C=c.npy"));
    EXPECT_EQ(right.code, 0) << device << right.err;
    EXPECT_THAT(right.out, HasSubstr("check C: ")) << device;
  }
  EXPECT_EQ(parse_npy_bytes(folder_.read("c.npy")).sizes, (std::vector<int64_t>{5, 4}));
}

TEST_F(CheckKernelsTest, StripeRunsAsItStands) {
  const std::string shapes = " --shape A=5,3 --shape B=3,4";
  ASSERT_EQ(folder_.stria(words("compile p.tile --device llvm_cpu -o p.stripe" + shapes)).code, 0);
  const std::string device = "run p.stripe --device llvm_cpu";
  const Ended ended =
      folder_.stria(words(device + " --check --input A=random:1 --input B=random:2"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              testing::AllOf(HasSubstr("check R: 20 elements"), HasSubstr("R: fp32[5, 4] = ")));
  const std::tuple<const char*, int, const char*> cases[] = {
      {"", 1, "'p.stripe' needs a value for its input A: fp32[5, 3]: --input A=FILE"},
      {" --input A=random:1 --input C=random:1", 2,
       "'p.stripe' has no input 'C' (its inputs: A, B)"},
      {" --input A=1,2 --input B=random:1", 1, "input 'A'"},
      {" --output Q=q.npy", 2, "'p.stripe' has no output 'Q' (its outputs: R)"},
      {" --shape A=5,3", 2, "--shape: 'p.stripe' is Stripe, which runs as it stands"},
      {" --tune 3", 2, "--tune: 'p.stripe' is Stripe"},
      {" --check-kernels wrong", 2, "--check-kernels: 'p.stripe' is Stripe"}};
  for (const auto& [more, code, said] : cases) {
    const Ended bad = folder_.stria(words(device + more));
    EXPECT_EQ(bad.code, code) << more << bad.err;
    EXPECT_THAT(bad.err, HasSubstr(said)) << more;
  }
  // A run reads no file that it writes, and knows before it where nothing can be written.
  const std::string files = device + " --input B=random:2 --input A=";
  EXPECT_EQ(
      folder_.stria(words(device + " --input A=random:1 --input B=random:2 --output R=a.npy")).code,
      0);
  const std::string before = folder_.read("a.npy");
  const Ended same = folder_.stria(words(files + "a.npy --output R=./a.npy"));
  EXPECT_EQ(same.code, 2);
  EXPECT_THAT(same.err, HasSubstr("is the same file as --input A"));
  EXPECT_EQ(folder_.read("a.npy"), before);
  const Ended nowhere = folder_.stria(words(files + "random:1 --output R=nowhere/r.npy"));
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("nowhere"));
  const Ended gone = folder_.stria(words(files + "random:1 --input-dir nowhere"));
  EXPECT_EQ(gone.code, 1);
  EXPECT_THAT(gone.err, HasSubstr("--input-dir: there is no folder 'nowhere'"));
  // Units that the device does not have are named; so is what is no Stripe.
  ASSERT_EQ(folder_.stria(words("compile p.tile --device sim -o s.stripe" + shapes)).code, 0);
  const Ended lacks =
      folder_.stria(words("run s.stripe --device llvm_cpu --input A=random:1 --input B=random:2"));
  EXPECT_EQ(lacks.code, 1);
  EXPECT_THAT(lacks.err, HasSubstr("the hardware model has no unit 'SRAM'"));
  folder_.write("q.stripe", "stripe 1.0\n0: #program block [] (\n) {\n  oops\n}\n");
  const Ended none = folder_.stria(words("run q.stripe --device llvm_cpu"));
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("q.stripe:4:3: error: "));
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
