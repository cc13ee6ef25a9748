// SPDX-License-Identifier: Apache-2.0
// The generated pages of docs/ and core/edsl/functions.h are what they would be if they were
// generated now.
#include <gtest/gtest.h>

#include <cstdlib>

#include "functions_header.h"
#include "stria/base/file.h"
#include "stria/builtins/builtins_page.h"
#include "stria/pass/passes_page.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/plugin_pass.h"

namespace stria {
namespace {

void expect_page(const std::string& name, const std::string& made) {
  const std::string path = STRIA_SOURCE_DIR "/" + name;
  // As in golden.cc: only 1 rewrites.
  const char* update = std::getenv("STRIA_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    ASSERT_TRUE(write_file(path, made).ok());
    return;
  }
  auto page = read_file(path);
  ASSERT_TRUE(page.ok()) << page.status().to_string();
  EXPECT_EQ(*page, made) << name << " is out of date: tools/golden_update.sh docs writes it";
}

TEST(Docs, Passes) {
  std::vector<PassInfo> passes = passes::all_passes();
  passes.push_back(make_plugin_pass({}));
  expect_page("docs/passes.md", passes_page(passes));
}

TEST(Docs, Builtins) { expect_page("docs/builtins.md", builtins_page()); }

TEST(Docs, FunctionsOfEdsl) { expect_page("core/edsl/functions.h", functions_header()); }

}  // namespace
}  // namespace stria
