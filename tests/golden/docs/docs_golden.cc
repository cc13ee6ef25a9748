// SPDX-License-Identifier: Apache-2.0
// The generated pages of docs/ and core/edsl/functions.h are what they would be if they were
// generated now.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "emitters_page.h"
#include "functions_header.h"
#include "made_parts.h"
#include "pipelines_page.h"
#include "show/operator_table.h"
#include "slots_page.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/builtins/builtins_page.h"
#include "stria/pass/passes_page.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/plugin_pass.h"
#include "stria/stripe/tags.h"
#include "tags_page.h"

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

// The comment at the head of a header as Markdown: what stands indented in it is code, but for the
// further lines of a list's entry.
std::string head_of(const std::string& header) {
  std::string out;
  bool code = false, entry = false;
  for (const std::string& line : split(header, '\n')) {
    if (line.starts_with("// SPDX")) continue;
    if (!line.starts_with("//")) break;
    std::string text = line.substr(std::min<size_t>(line.size(), 3));
    const bool indented = text.starts_with("  ");
    entry = text.starts_with("- ") || (entry && indented);
    if ((indented && !entry) != code && !text.empty()) {
      out += "```\n";
      code = !code;
      if (!code) out += "\n";
    }
    if (text.empty() && code) {
      out += "```\n";
      code = false;
    }
    out += (code ? text.substr(2) : text) + "\n";
  }
  if (code) out += "```\n";
  return out;
}

// The example is the pass's golden test plain.test.
PassExample example_of(const std::string& header, const std::string& test) {
  PassExample example;
  auto head = read_file(STRIA_SOURCE_DIR "/" + header);
  EXPECT_TRUE(head.ok()) << head.status().to_string();
  if (head.ok()) example.text = head_of(*head);
  if (test.empty()) return example;
  auto text = read_file(STRIA_SOURCE_DIR "/" + test);
  EXPECT_TRUE(text.ok()) << "each pass has a test that its page shows: "
                         << text.status().to_string();
  if (!text.ok()) return example;
  const size_t line = text->find("// ----\n");
  EXPECT_NE(line, std::string::npos) << test;
  if (line == std::string::npos) return example;
  std::vector<std::string> steps;
  for (const std::string& each : split(text->substr(0, line), '\n')) {
    if (each.starts_with("// RUN: "))
      steps.push_back(each.substr(8));
    else if (each.starts_with("// WHY: "))
      example.why = each.substr(8);
    else if (!each.empty())
      example.before += each + "\n";
  }
  example.steps = "[" + join(steps, "\n ") + "]";
  example.after = text->substr(line + 8);
  return example;
}

// The header of a pass, which lies in one of the wings.
std::string header_of(const std::string& pass) {
  const std::filesystem::path root = STRIA_SOURCE_DIR;
  for (const auto& file : std::filesystem::recursive_directory_iterator(root / "core/passes"))
    if (file.path().filename() == pass + ".h") return file.path().lexically_relative(root);
  return "core/passes/" + pass + ".h";
}

TEST(Docs, Passes) {
  std::vector<PassInfo> passes = passes::all_passes();
  for (const PassInfo& pass : passes)
    expect_page("docs/passes/" + pass.name + ".md",
                pass_page(pass, example_of(header_of(pass.name),
                                           "tests/golden/passes/" + pass.name + "/plain.test")));
  passes.push_back(make_plugin_pass({}));
  expect_page("docs/passes/plugin_pass.md",
              pass_page(passes.back(), example_of("core/runtime/plugin_pass.h", "")));
  expect_page("docs/passes.md", passes_page(passes));
  std::set<std::string> pages;
  for (const auto& file : std::filesystem::directory_iterator(STRIA_SOURCE_DIR "/docs/passes"))
    pages.insert(file.path().stem());
  for (const PassInfo& pass : passes) pages.erase(pass.name);
  EXPECT_TRUE(pages.empty()) << "there is no pass for " << *pages.begin();
}

// A pass that nothing runs is kept for a reason, which its page tells.
TEST(Docs, EachPassIsInAShippedPipelineOrSaysWhyNot) {
  std::string pipelines;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(STRIA_SOURCE_DIR "/plugins"))
    if (file.path().extension() == ".json" && file.path().parent_path().filename() == "passes")
      pipelines += read_file(file.path().string()).value();
  for (const auto& [name, fragment] : passes::pass_registry().fragments) pipelines += fragment.text;
  ASSERT_NE(pipelines.find("\"autotile\""), std::string::npos);
  for (const PassInfo& pass : passes::all_passes()) {
    if (pipelines.find("\"" + pass.name + "\":") != std::string::npos) continue;
    const std::string page =
        read_file(STRIA_SOURCE_DIR "/docs/passes/" + pass.name + ".md").value();
    EXPECT_NE(page.find("shipped pipeline"), std::string::npos) << pass.name;
  }
}

TEST(Docs, Pipelines) {
  const std::string page = read_file(STRIA_SOURCE_DIR "/docs/pipelines.md").value();
  auto made = pipelines_page(page);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  expect_page("docs/pipelines.md", *made);
}

TEST(Docs, Tags) {
  auto made = tags_page(read_file(STRIA_SOURCE_DIR "/docs/tags.md").value());
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  expect_page("docs/tags.md", *made);
}

TEST(Docs, Emitters) {
  auto made = emitters_page(read_file(STRIA_SOURCE_DIR "/docs/emitters.md").value());
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  expect_page("docs/emitters.md", *made);
}

// One page a slot, and none without one.
TEST(Docs, Slots) {
  const auto slots =
      slots_of_header(read_file(STRIA_SOURCE_DIR "/sdk/include/stria/plugin.h").value());
  ASSERT_TRUE(slots.ok()) << slots.status().to_string();
  std::set<std::string> pages;
  for (const auto& file : std::filesystem::directory_iterator(STRIA_SOURCE_DIR "/sdk/guide/slots"))
    pages.insert(file.path().filename());
  for (const Slot& slot : *slots) {
    const std::string name = slot.table + "." + slot.name + ".md";
    const std::string path = "sdk/guide/slots/" + name;
    const auto page = read_file(STRIA_SOURCE_DIR "/" + path);
    ASSERT_TRUE(page.ok()) << "a slot has a page: " << page.status().to_string();
    const auto made = slot_page(*page, slot);
    ASSERT_TRUE(made.ok()) << name << ": " << made.status().to_string();
    expect_page(path, *made);
    pages.erase(name);
  }
  EXPECT_TRUE(pages.empty()) << "there is no slot for " << *pages.begin();
  const std::string guide = read_file(STRIA_SOURCE_DIR "/sdk/guide/README.md").value();
  const auto made = with_made_parts(
      guide, [&](const std::string&) -> Result<std::string> { return slots_table(*slots); });
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->made.size(), 1u);
  expect_page("sdk/guide/README.md", made->text);
}

// The table of tags names passes; pipelines are checked by those names.
TEST(Docs, TagsAreSetByLoweringAndByPasses) {
  for (const stripe::KnownTag& tag : stripe::known_tags())
    for (const std::string& by : split(tag.set_by, ' '))
      EXPECT_TRUE(by.empty() || by == "lowering" || passes::pass_registry().find(by))
          << tag.name << ": there is no pass '" << by << "'";
}

TEST(Docs, Builtins) { expect_page("docs/builtins.md", builtins_page()); }

TEST(Docs, OnnxOperators) { expect_page("docs/onnx-operators.md", command::operators_page()); }

TEST(Docs, FunctionsOfEdsl) { expect_page("core/edsl/functions.h", functions_header()); }

}  // namespace
}  // namespace stria
