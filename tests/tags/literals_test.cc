// SPDX-License-Identifier: Apache-2.0
// Code names a tag by its constant (stria/stripe/tags.h), not by its text; the options of passes
// alone hold texts. And each tag of the table is known to some code.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "stria/base/file.h"
#include "stria/stripe/tags.h"

namespace stria::tags {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = STRIA_SOURCE_DIR;

// Where a text is used as the name of a tag.
const std::regex kLiteral(
    R"re((?:\b\w*[tT]ags(?:\(\))?(?:\.|->)(?:has|set|remove|find|integer|has_all|set_all)\()re"
    R"re(|\b\w*[tT]ags(?:\(\))?(?:\.|->)(?:insert|push_back|emplace_back)\((?:[^";]*,)?)re"
    R"re(|\b[tT]ags(?: =|\() ?\{|\bsorted_tags\(\{|\bconst char\* \w*tag\w* : ?\{)re"
    R"re(|\btag\.name (?:==|!=) |\btag\.name\.starts_with\(|\bhas_tag\(|\badd_tag\()re"
    R"re()\s*\{?(?:std::string\()?"(\w+)")re");

std::vector<std::pair<std::string, std::string>> sources() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const char* room : {"core", "plugins", "tools"})
    for (const auto& file : fs::recursive_directory_iterator(kRoot / room)) {
      const std::string kind = file.path().extension();
      if (kind == ".cc" || kind == ".h")
        out.emplace_back(file.path().lexically_relative(kRoot),
                         read_file(file.path().string()).value());
    }
  return out;
}

std::vector<std::string> literals_in(const std::string& text) {
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), kLiteral), end; at != end; ++at)
    out.push_back((*at)[1]);
  return out;
}

TEST(Tags, CodeHasNoLiteralOfOne) {
  int files = 0;
  for (const auto& [path, text] : sources()) {
    ++files;
    if (text.find("ags") == std::string::npos && text.find("tag") == std::string::npos) continue;
    for (const std::string& name : literals_in(text))
      ADD_FAILURE() << path << " names the tag \"" << name << "\": stria/stripe/tags.h has it";
  }
  EXPECT_GT(files, 900);
}

TEST(Tags, ALiteralIsSeen) {
  for (const char* line :
       {R"(if (block.tags.has("parallel")) return;)", R"(made->tags.set("main", 3);)",
        R"(main.tags = {"main", "kernel"};)", R"(block.tags = sorted_tags({"copy", "kernel"});)",
        R"(tags.insert(tags.end(), {"eltwise", "kernel"});)", R"(tags.emplace_back("piece");)",
        R"(for (const char* tag : {"deps", "placed"}) out.tags.remove(tag);)",
        R"(if (tag.name != "kernel") return;)", R"(kernel().tags.integer(
            "pipeline"))",
        R"(index.tags.set(std::string("stencil_") + role);)"})
    EXPECT_EQ(literals_in(line).size(), 1u) << line;
  for (const char* line :
       {R"(fields.tags("reqs", options.reqs, "tags that a block must have");)",
        R"(std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have)",
        R"(block.tags.has(stripe::tag::kParallel) ? "a" : "b";)"})
    EXPECT_TRUE(literals_in(line).empty()) << line;
}

// stripe::is_barrier says what a barrier is, for all of them.
TEST(Tags, OneFileSaysWhatABarrierIs) {
  static const std::regex test(R"re(\bname\s*[!=]=\s*"barrier")re");
  std::vector<std::string> files;
  for (const auto& [path, text] : sources())
    if (text.find("\"barrier\"") != std::string::npos && std::regex_search(text, test))
      files.push_back(path);
  EXPECT_EQ(files, std::vector<std::string>{"core/stripe/block.cc"});
}

TEST(Tags, SomeCodeKnowsEachOfTheTable) {
  struct Constant {
    const char *name, *text;
  };
  const Constant constants[] = {
#define STRIA_TAG(constant, name, ...) {#constant, name},
#include "stria/stripe/tags.def"
  };
  const auto all = sources();
  for (const Constant& each : constants) {
    const std::string used = std::string("tag::") + each.name;
    // As the default of an option.
    const std::string text = std::string("\"") + each.text + "\"";
    bool known = false;
    for (const auto& [path, source] : all)
      known = known || source.find(used) != std::string::npos ||
              (path.starts_with("core/passes/") && source.find(text) != std::string::npos);
    EXPECT_TRUE(known) << each.text << ": nothing knows it";
    ASSERT_NE(stripe::known_tag(each.text), nullptr);
    EXPECT_EQ(stripe::known_tag(each.text)->name, each.text);
  }
}

TEST(Tags, FamiliesAndOtherNames) {
  EXPECT_EQ(stripe::known_tag("stencil_mm")->name, "stencil_");
  EXPECT_EQ(stripe::known_tag("eltwise_index")->name, "eltwise_");
  EXPECT_EQ(stripe::known_tag("eltwise")->name, "eltwise");
  EXPECT_EQ(stripe::known_tag("placed_by_schedule")->name, "placed_by_schedule");
  for (const char* name : {"", "a", "zz", "stencils", "placed_by", "parallel_", "Kernel", "agg_op"})
    EXPECT_EQ(stripe::known_tag(name), nullptr) << name;
}

}  // namespace
}  // namespace stria::tags
