// SPDX-License-Identifier: Apache-2.0
// docs/road.md names files and functions: they exist, they run, and there are no more than it
// promises. Of each other file that runs, by docs/road_files.txt, it says why it is left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
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

std::vector<std::string> lines_of(const fs::path& path) {
  std::istringstream text(read(kRoot / path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> road() { return lines_of("docs/road.md"); }

const std::regex kStop(R"(## ([0-9]+)\. (\S+): (\w+))");

// The files that run, as tools/road_coverage.sh has found them.
std::vector<std::string> files_that_run() { return lines_of("docs/road_files.txt"); }

constexpr const char* kMakeAnew = "; tools/road_coverage.sh makes docs/road_files.txt anew";

// The stops, a header as its .cc file.
std::set<std::string> stops() {
  std::set<std::string> out;
  std::smatch match;
  for (const std::string& line : road())
    if (std::regex_match(line, match, kStop)) {
      const fs::path file = match[2].str();
      out.insert(file.extension() == ".h" ? fs::path(file).replace_extension(".cc") : file);
    }
  return out;
}

// The files that run and are no stop.
std::vector<std::string> files_left_out() {
  const std::set<std::string> on_the_page = stops();
  std::vector<std::string> files = files_that_run();
  std::erase_if(files, [&](const std::string& file) { return on_the_page.count(file) > 0; });
  return files;
}

// The folders in the table of section "Left out", each with its row.
std::map<std::string, std::string> reasons() {
  static const std::regex row(R"(\| (`[^|]+`) \|.*)"), name("`([^`]+)`");
  std::map<std::string, std::string> out;
  bool inside = false;
  std::smatch match;
  for (const std::string& line : road()) {
    if (line.starts_with("## ")) inside = line == "## Left out";
    if (!inside || !std::regex_match(line, match, row)) continue;
    const std::string cell = match[1];
    for (std::sregex_iterator it(cell.begin(), cell.end(), name), end; it != end; ++it)
      EXPECT_TRUE(out.emplace((*it)[1], line).second) << line << ": the folder has two rows";
  }
  return out;
}

TEST(Road, EachStopIsAFunctionInAFile) {
  int stops = 0;
  for (const std::string& line : road()) {
    std::smatch match;
    if (!std::regex_match(line, match, kStop)) continue;
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

TEST(Road, FilesThatRunExist) {
  const std::vector<std::string> files = files_that_run();
  EXPECT_GE(files.size(), 100u) << kMakeAnew;
  EXPECT_TRUE(std::is_sorted(files.begin(), files.end()));
  for (const std::string& file : files)
    EXPECT_TRUE(fs::is_regular_file(kRoot / file)) << file << " is not there" << kMakeAnew;
}

TEST(Road, EachStopRuns) {
  const std::vector<std::string> files = files_that_run();
  for (const std::string& stop : stops())
    EXPECT_TRUE(stop.ends_with(".json") || std::count(files.begin(), files.end(), stop) == 1)
        << stop << " does not run" << kMakeAnew;
}

TEST(Road, EachFileThatRunsIsAStopOrHasAReason) {
  const std::map<std::string, std::string> folders = reasons();
  for (const std::string& file : files_left_out())
    EXPECT_TRUE(folders.count(fs::path(file).parent_path()))
        << file << " runs: it is a stop of docs/road.md, or its folder has a row in \"Left out\"";
}

// A reason for nothing is one too many, and so is a folder that has moved.
TEST(Road, EachReasonIsForFilesThatRun) {
  std::set<std::string> folders;
  for (const std::string& file : files_left_out()) folders.insert(fs::path(file).parent_path());
  for (const auto& [folder, row] : reasons())
    EXPECT_TRUE(folders.count(folder))
        << row << "\nno file of " << folder << " is left out" << kMakeAnew;
}

}  // namespace
