// SPDX-License-Identifier: Apache-2.0
// Rules of the house that a reader of one file cannot see: includes run only along the edges of
// tests/layers.txt, core names no vendor and no device API, files stay short, plugins use only what
// they may.
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

bool is_source(const fs::path& path) {
  auto e = path.extension();
  return e == ".h" || e == ".cc";
}

std::vector<fs::path> sources(const fs::path& folder) {
  std::vector<fs::path> out;
  if (!fs::exists(folder)) return out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && is_source(entry.path())) out.push_back(entry.path());
  return out;
}

std::map<std::string, std::set<std::string>> edges() {
  std::map<std::string, std::set<std::string>> out;
  std::istringstream lines(read(kRoot / "tests/layers.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string room, arrow, dep;
    words >> room >> arrow;
    out[room];
    while (words >> dep) out[room].insert(dep);
  }
  return out;
}

// The rooms whose headers `path` includes; headers of the SDK count as room "sdk".
std::set<std::string> included_rooms(const fs::path& path) {
  static const std::regex include(R"re(#include "stria/([^"]+)")re");
  std::set<std::string> rooms;
  std::string text = read(path);
  for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
    std::string target = (*it)[1];
    size_t slash = target.find('/');
    std::string room = slash == std::string::npos ? "sdk" : target.substr(0, slash);
    rooms.insert(fs::exists(kRoot / "core" / room) ? room : "sdk");
  }
  return rooms;
}

TEST(Layers, IncludesRunOnlyAlongTheEdges) {
  auto allowed = edges();
  ASSERT_GT(allowed.size(), 10u);
  for (const auto& room : fs::directory_iterator(kRoot / "core")) {
    if (!room.is_directory()) continue;
    std::string name = room.path().filename();
    ASSERT_TRUE(allowed.count(name)) << "room core/" << name << " has no line in tests/layers.txt";
    for (const fs::path& path : sources(room.path()))
      for (const std::string& used : included_rooms(path))
        EXPECT_TRUE(used == name || allowed[name].count(used))
            << path << " includes room '" << used << "', which tests/layers.txt does not allow";
  }
}

TEST(Layers, PluginsUseOnlyTheRoomsTheyMay) {
  const std::set<std::string> allowed = {"sdk",      "base",    "type",    "poly", "stripe",
                                         "semtree",  "builtins", "hwmodel", "cost", "interp"};
  for (const fs::path& path : sources(kRoot / "plugins"))
    for (const std::string& used : included_rooms(path))
      EXPECT_TRUE(allowed.count(used)) << path << " includes room '" << used << "'";
}

TEST(Layers, CoreNamesNoVendorAndNoDeviceApi) {
  const std::regex word(
      R"(\b(cuda|opencl|vulkan|nvidia|nvrtc|amd|intel|metal|llvm|pocl|hopper)\b)", std::regex::icase);
  for (const char* folder : {"core", "sdk"}) {
    for (const fs::path& path : sources(kRoot / folder)) {
      std::string text = read(path);
      std::smatch match;
      EXPECT_FALSE(std::regex_search(text, match, word)) << path << " says '" << match.str() << "'";
    }
  }
}

TEST(Layers, NoForeignHeaderBehindAPublicHeader) {
  const std::regex foreign(R"(#include <(llvm|vulkan|CL|cuda|isl|google/protobuf))");
  for (const fs::path& path : sources(kRoot / "core"))
    if (path.extension() == ".h") {
      EXPECT_FALSE(std::regex_search(read(path), foreign)) << path;
    }
}

TEST(Layers, FilesAreShortAndNamedAfterOneThing) {
  const std::set<std::string> banned = {"util", "utils", "misc", "common", "helpers", "helper"};
  for (const char* folder : {"core", "plugins", "sdk", "tools", "tests", "examples"}) {
    for (const fs::path& path : sources(kRoot / folder)) {
      std::string text = read(path);
      auto lines = std::count(text.begin(), text.end(), '\n');
      EXPECT_LE(lines, 800) << path;
      EXPECT_FALSE(banned.count(path.stem())) << path;
      EXPECT_EQ(text.rfind("// SPDX-License-Identifier: Apache-2.0\n", 0), 0u) << path;
    }
  }
}

}  // namespace
