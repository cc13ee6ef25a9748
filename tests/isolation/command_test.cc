// SPDX-License-Identifier: Apache-2.0
// The command with `--device isolated:…`: the same results, and a loss that is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "beside_plugins.h"

namespace stria::bad_plugins {
namespace {

using end_to_end::Ended;
using ::testing::HasSubstr;

class IsolatedCommand : public BesidePlugins {};

constexpr const char* kInput = " --input A=random:1 --shape A=37,19 --output R=";

TEST_F(IsolatedCommand, RunsGiveTheSameNumbers) {
  files_.write("p.tile",
               "function p(A[N, M]) -> (R) {\n"
               "  S[j : M] = +(A[i, j] * A[i, j]);\n"
               "  R = exp(A * 0.25) / (S + 1.0);\n"
               "}\n");
  for (const std::string plugin : {"reference", "llvm_cpu", "sim"}) {
    SCOPED_TRACE(plugin);
    const Ended direct = run("run p.tile --device " + plugin + kInput + "direct.npy");
    ASSERT_EQ(direct.code, 0) << direct.err;
    const Ended isolated =
        run("run p.tile --device isolated:" + plugin + kInput + "isolated.npy --check");
    ASSERT_EQ(isolated.code, 0) << isolated.err;
    EXPECT_EQ(files_.read("isolated.npy"), files_.read("direct.npy"));
  }
}

TEST_F(IsolatedCommand, ListsAndExaminesThem) {
  const Ended listed = run("devices --isolated");
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("isolated:reference:0"));
  const Ended examined = run("doctor --isolated reference");
  EXPECT_EQ(examined.code, 0) << examined.out << examined.err;
  EXPECT_THAT(examined.out, HasSubstr("isolated:reference:0"));
}

TEST_F(IsolatedCommand, ALossIsTold) {
  make_bad(plugins(), "bad", "crash executor.submit");
  const Ended ended = run(
      "run plus_one.tile --device isolated:bad --input A=random:1 --shape A=16 --output B=b.npy");
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the process of plugin bad is lost: it crashed (Aborted)"));
  EXPECT_FALSE(fs::exists(files_.path("b.npy")));
}

TEST_F(IsolatedCommand, OddSelectorsAreWrongUse) {
  for (const char* selector : {"isolated:", "isolated::0", "isolated:auto:1"})
    EXPECT_EQ(run(std::string("run plus_one.tile --device ") + selector +
                  " --input A=random:1 --shape A=16")
                  .code,
              2)
        << selector;
}

}  // namespace
}  // namespace stria::bad_plugins
