// SPDX-License-Identifier: Apache-2.0
// docs/road.md names files and functions: they exist, and there are no more than it promises.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = STRIA_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> road() {
  std::istringstream text(read(kRoot / "docs/road.md"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(Road, EachStopIsAFunctionInAFile) {
  static const std::regex stop(R"(## ([0-9]+)\. (\S+): (\w+))");
  int stops = 0;
  for (const std::string& line : road()) {
    std::smatch match;
    if (!std::regex_match(line, match, stop)) continue;
    EXPECT_EQ(std::stoi(match[1]), ++stops) << line;
    const fs::path file = kRoot / match[2].str();
    ASSERT_TRUE(fs::is_regular_file(file)) << line;
    EXPECT_TRUE(std::regex_search(read(file), std::regex("\\b" + match[3].str() + "\\b"))) << line;
  }
  EXPECT_GE(stops, 10);
  EXPECT_LE(stops, 20);
}

// What a change touches is there: a file, or the folder that a new one goes into.
TEST(Road, EachChangeTouchesFiveFilesAtMost) {
  static const std::regex touched(R"(- `([^`]+)`: .*)");
  std::map<std::string, int> files;
  bool inside = false;
  std::string change;
  for (const std::string& line : road()) {
    std::smatch match;
    if (line.starts_with("## ")) inside = line == "## Three changes";
    if (!inside) continue;
    if (line.starts_with("### ")) files[change = line.substr(4)] = 0;
    if (!std::regex_match(line, match, touched)) continue;
    EXPECT_TRUE(fs::exists(kRoot / match[1].str())) << line;
    ++files[change];
  }
  EXPECT_EQ(files.size(), 3u);
  for (const auto& [name, count] : files) {
    EXPECT_GE(count, 1) << name;
    EXPECT_LE(count, 5) << name;
  }
}

// A folder that has moved would leave a reason for nothing.
TEST(Road, FoldersThatAreLeftOutExist) {
  static const std::regex row(R"(\| (`[^|]+`) \|.*)"), name("`([^`]+)`");
  bool inside = false;
  int folders = 0;
  for (const std::string& line : road()) {
    std::smatch match;
    if (line.starts_with("## ")) inside = line == "## Left out";
    if (!inside || !std::regex_match(line, match, row)) continue;
    const std::string cell = match[1];
    for (std::sregex_iterator it(cell.begin(), cell.end(), name), end; it != end; ++it, ++folders)
      EXPECT_TRUE(fs::is_directory(kRoot / (*it)[1].str())) << line;
  }
  EXPECT_GE(folders, 20);
}

}  // namespace
