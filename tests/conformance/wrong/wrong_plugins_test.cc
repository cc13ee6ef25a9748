// SPDX-License-Identifier: Apache-2.0
// The suite, tested by plugins that are wrong: each mistake of mistakes/*.json is found, by the
// case that is about it and in the way in which it shows. Prints the score.
//
//   STRIA_WRONG_ONLY='copy.*'   these rows alone, and what their cases said
//   STRIA_WRONG_FULL=1          those too that take long
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "plugin/wrong_object.h"
#include "row_run.h"
#include "stria/hal/host/host.h"
#include "suite/all_cases.h"

namespace stria::wrong {
namespace {

namespace fs = std::filesystem;

const fs::path kRows = fs::path(STRIA_SOURCE_DIR) / "tests/conformance/wrong/mistakes";

std::vector<Row> rows(bool right) {
  Result<std::vector<Row>> all = read_rows(kRows);
  EXPECT_TRUE(all.ok()) << all.status().to_string();
  std::vector<Row> out;
  if (!all.ok()) return out;
  const char* const only = std::getenv("STRIA_WRONG_ONLY");
  const bool full = std::getenv("STRIA_WRONG_FULL") != nullptr;
  for (Row& row : *all)
    if (row.endings.empty() == right && (full || only || !row.full) &&
        (!only || ::fnmatch(only, row.name.c_str(), 0) == 0))
      out.push_back(std::move(row));
  return out;
}

// A folder of this test's own, which goes in the end.
class WrongPlugins : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::path(testing::TempDir()) / "stria_wrong_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    scratch_ = name;
  }
  void TearDown() override {
    std::error_code error;
    if (!scratch_.empty()) fs::remove_all(scratch_, error);
  }
  std::vector<RowResult> run(const std::vector<Row>& all) {
    const int processes = static_cast<int>(hal::usable_cores());
    Result<std::vector<RowResult>> results = run_rows(all, scratch_, processes);
    EXPECT_TRUE(results.ok()) << results.status().to_string();
    return results.ok() ? std::move(*results) : std::vector<RowResult>(all.size());
  }
  fs::path scratch_;
};

TEST_F(WrongPlugins, AreCaughtForTheRightReason) {
  const std::vector<Row> all = rows(false);
  const std::vector<RowResult> results = run(all);
  std::map<std::string, std::pair<int, int>> groups;  // caught, all
  std::string missed;
  size_t caught = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    auto& [of_group, in_group] = groups[all[i].group];
    ++in_group;
    if (results[i].as_expected) {
      ++caught;
      ++of_group;
    } else {
      missed += (missed.empty() ? "" : ", ") + all[i].name;
      ADD_FAILURE() << all[i].name << ": " << all[i].what << "\n" << results[i].text;
    }
    if (std::getenv("STRIA_WRONG_ONLY"))
      std::printf("%s (%.2f s)\n%s", all[i].name.c_str(), results[i].seconds,
                  results[i].text.c_str());
  }
  for (const auto& [group, counts] : groups)
    std::printf("%-16s caught %3d of %3d\n", group.c_str(), counts.first, counts.second);
  std::printf("caught %zu of %zu for the right reason; missed: %s\n", caught, all.size(),
              missed.empty() ? "none" : missed.c_str());
  if (!std::getenv("STRIA_WRONG_ONLY")) {
    EXPECT_GE(all.size(), 150u);
  }
}

// What is not wrong passes: plugins without what they need not have.
TEST_F(WrongPlugins, RightOnesPass) {
  const std::vector<Row> all = rows(true);
  const std::vector<RowResult> results = run(all);
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_TRUE(results[i].as_expected) << all[i].name << ": " << all[i].what << "\n"
                                        << results[i].text;
}

// Without a mistake the same plugin passes the cases that find one.
TEST_F(WrongPlugins, WithoutAMistakeTheCasesPass) {
  Row right;
  right.name = "none";
  right.level = conformance::kHighestLevel;
  std::set<std::string> names;
  for (const Row& row : rows(false)) names.insert(row.cases.begin(), row.cases.end());
  // In pieces, for all cores.
  constexpr size_t kPieces = 8;
  std::vector<Row> pieces(kPieces, right);
  size_t at = 0;
  for (const std::string& name : names) pieces[at++ % kPieces].cases.push_back(name);
  std::erase_if(pieces, [](const Row& piece) { return piece.cases.empty(); });
  for (size_t i = 0; i < pieces.size(); ++i) pieces[i].piece = static_cast<int>(i);
  const std::vector<RowResult> results = run(pieces);
  for (const RowResult& result : results) EXPECT_TRUE(result.as_expected) << result.text;
}

// Each mistake that the plugin can make has a row; each row is a mistake that it can make.
TEST(Rows, NameEachMistake) {
  const Result<std::vector<Row>> all = read_rows(kRows);
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  std::set<std::string> names;
  for (const Row& row : *all) {
    if (!row.endings.empty()) {
      EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    }
    EXPECT_FALSE(row.cases.empty()) << row.name;
    EXPECT_FALSE(row.what.empty()) << row.name;
    if (row.files.empty()) {
      EXPECT_TRUE(is_known(row.name)) << row.name;
    }
  }
  for (const std::string_view mistake : single_mistakes())
    EXPECT_TRUE(names.count(std::string(mistake))) << mistake << " has no row";
}

}  // namespace
}  // namespace stria::wrong
