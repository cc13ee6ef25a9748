// SPDX-License-Identifier: Apache-2.0
// A function of a plugin that does a tile (rule S21), with the example plugin: it is called, it is
// shown, a wrong one is found, and a model that names one which is not there is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace stria::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProduct =
    "function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * "
    "B[k, n]); }";
constexpr const char* kInputs =
    " --input A=random:1 --shape A=40,24 --input B=random:2 --shape B=24,48";

class MicroKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.set_plugin_path(STRIA_BINARY_DIR "/lib/stria/c_generator");
    folder_.write("p.tile", kProduct);
  }
  Ended stria(const std::string& command) { return folder_.stria(words(command)); }
  // The plugin `from` in a folder of its own, with another text in one of its files.
  void copy_plugin(const fs::path& from, const std::string& file, const std::string& before,
                   const std::string& after) {
    const fs::path plugins = folder_.path("plugins"), to = plugins / from.filename();
    fs::create_directory(plugins);
    fs::copy(from, to, fs::copy_options::recursive);
    const std::string name = "plugins/" + from.filename().string() + "/" + file;
    std::string text = folder_.read(name);
    const size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos) << before;
    folder_.write(name, text.replace(at, before.size(), after));
    // The loader trusts only what nobody else may write.
    fs::permissions(plugins, fs::perms(0755));
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(plugins))
      fs::permissions(entry.path(), entry.is_directory() ? fs::perms(0755) : fs::perms(0644));
    folder_.set_plugin_path(plugins);
  }
  Folder folder_;
};

TEST_F(MicroKernelsTest, AProductCallsTheFunction) {
  const Ended compiled = stria(
      "compile p.tile --device c_generator --shape A=40,24 --shape B=24,48 "
      "--dump-dir stages -o p.stripe");
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_THAT(folder_.read("p.stripe"),
              HasSubstr("#stencil=\"product_8x8\" #micro_kernel=\"product_8x8\" block ["));
  EXPECT_THAT(folder_.read("stages/kernels.c"),
              AllOf(HasSubstr("void (*stria_micro_product_8x8)("),
                    HasSubstr("stria_sizes[] = {8, 24, 24, 8, 8, 8};"),
                    HasSubstr("stria_strides[] = {24, 1, 48, 1, 48, 1};"),
                    HasSubstr("stria_micro_product_8x8(stria_operands, ")));
  const Ended ran =
      stria(std::string("run p.tile --device c_generator --check --profile") + kInputs);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("check C: 1920 elements"), HasSubstr(": ok"),
                             HasSubstr("\n1 kernel calls functions of the plugin:\n  kernel_0: "
                                       "product_8x8\n")));
}

TEST_F(MicroKernelsTest, OrNotIfThePipelineIsTold) {
  const Ended ran =
      stria(std::string("run p.tile --device c_generator --check --profile --set MICRO_KERNELS=0") +
            kInputs);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("functions of the plugin")));
}

// What does not fit stays a loop: 41 rows, columns side by side.
TEST_F(MicroKernelsTest, OtherProductsAreLoops) {
  const Ended uneven = stria(
      "run p.tile --device c_generator --check --profile --input A=random:1 "
      "--shape A=41,24 --input B=random:2 --shape B=24,48");
  EXPECT_EQ(uneven.code, 0) << uneven.err;
  EXPECT_THAT(uneven.out, Not(HasSubstr("functions of the plugin")));
  folder_.write("t.tile",
                "function (A[M, K], B[N, K]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[n, k]); }");
  const Ended turned = stria(
      "run t.tile --device c_generator --check --profile --input A=random:1 "
      "--shape A=40,24 --input B=random:2 --shape B=48,24");
  EXPECT_EQ(turned.code, 0) << turned.err;
  EXPECT_THAT(turned.out, Not(HasSubstr("functions of the plugin")));
}

TEST_F(MicroKernelsTest, AWrongFunctionIsFound) {
  folder_.set_plugin_path(STRIA_BINARY_DIR "/lib/stria/wrong_product");
  const Ended ran = stria(std::string("run p.tile --device c_generator --check") + kInputs);
  EXPECT_EQ(ran.code, 3) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("check C: 1920 elements"));
  EXPECT_THAT(ran.out, HasSubstr(": 30 WRONG, worst "));  // one of each of 5 x 6 tiles
  EXPECT_THAT(
      ran.err,
      AllOf(HasSubstr("wrong results: "),
            HasSubstr("; its kernels call functions of the plugin: kernel_0: product_8x8")));
  const Ended without =
      stria(std::string("run p.tile --device c_generator --check --set MICRO_KERNELS=0") + kInputs);
  EXPECT_EQ(without.code, 0) << without.err;
}

TEST_F(MicroKernelsTest, AFunctionThatThePluginLacksIsRefusedWhenTheDeviceIsOpened) {
  copy_plugin(STRIA_BINARY_DIR "/lib/stria/c_generator/c_generator", "hw/host.json",
              "\"symbol\": \"product_8x8\"", "\"symbol\": \"product_8x9\"");
  const Ended ran = stria(std::string("run p.tile --device c_generator") + kInputs);
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("host.json:2"),  // a line of the file
                    HasSubstr("/exec_units/CORE/instructions/product_8x8/symbol: the plugin "
                              "'c_generator' has no micro-kernel 'product_8x9', did you mean "
                              "'product_8x8'?")));
}

// llvm_cpu calls no functions: it says so, and computes nothing else instead.
TEST_F(MicroKernelsTest, APluginThatCallsNoneRefusesTheModel) {
  copy_plugin(STRIA_BINARY_DIR "/lib/stria/plugins/llvm_cpu", "hw/cpu.json", "\"CORE\": {",
              R"("CORE": {"instructions": {"p": {"symbol": "p", "idxs": [{"name": "m", "size": 8}],
      "operands": {"C": {"type": "fp32", "home": "DRAM", "dims": ["m"], "written": true}}}},)");
  const Ended ran = stria(std::string("run p.tile --device llvm_cpu") + kInputs);
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("cpu.json:"),
                    HasSubstr("/exec_units/CORE/instructions/p/symbol: the plugin 'llvm_cpu' "
                              "calls no micro-kernels, so it has no 'p'")));
}

// A step behind `tensorize` that lays an operand out anew.
TEST_F(MicroKernelsTest, AnOperandThatMovesAfterwardsIsAnError) {
  copy_plugin(STRIA_BINARY_DIR "/lib/stria/c_generator/c_generator", "passes/host.json",
              "{% endif %}", R"(    {"name": "moved", "transpose": {}},
{% endif %})");
  folder_.write("two.tile",
                "function (A[M, K], B[K, N]) -> (C) { T = relu(B); C[m, n : M, N] = +(A[m, k] * "
                "T[k, n]); }");
  const Ended ran = stria(std::string("run two.tile --device c_generator") + kInputs);
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("takes 'B' with steps of 1 along n, here they are 24"));
}

// Not of micro-kernels, but of the same plugin: a build that fails leaves the stages before it.
TEST_F(MicroKernelsTest, StagesOfABuildThatFailsAreWritten) {
  folder_.write("cc", "#!/bin/sh\necho 'kernels.c:1: error: no' >&2\nexit 3\n");
  fs::permissions(folder_.path("cc"), fs::perms(0755));
  const Ended failed =
      folder_.stria(words("compile p.tile --device c_generator --shape A=40,24 --shape B=24,48 "
                          "--dump-dir stages -o p.stripe"),
                    [&] {
                      ::setenv("PATH", folder_.path("").c_str(), 1);
                      ::setenv("XDG_CACHE_HOME", folder_.path("no_cache").c_str(), 1);
                    });
  EXPECT_EQ(failed.code, 3) << failed.err;
  EXPECT_THAT(failed.err, AllOf(HasSubstr("did not compile the kernels"),
                                HasSubstr("the stages so far are in stages: ")));
  EXPECT_THAT(folder_.read("stages/00_program.tile"), HasSubstr("function"));
  std::string last = failed.err.substr(failed.err.find("are in stages: ") + 15);
  last.resize(last.find(' '));
  EXPECT_THAT(last, HasSubstr(".stripe"));
  EXPECT_THAT(folder_.read("stages/" + last), HasSubstr("#program"));
  EXPECT_EQ(folder_.read("p.stripe"), "");
}

}  // namespace
}  // namespace stria::end_to_end
