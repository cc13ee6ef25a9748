// SPDX-License-Identifier: Apache-2.0
// Rules of the house that a reader of one file cannot see: includes run only along the edges of
// tests/layers.txt, core names no vendor and no device API, files stay short, plugins use only what
// they may.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
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

// The folders of core whose headers `path` includes; headers of the SDK count as folder "sdk".
std::set<std::string> included_folders(const fs::path& path) {
  static const std::regex include(R"re(#include "stria/([^"]+)")re");
  std::set<std::string> folders;
  const std::string text = read(path);
  for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
    const fs::path target = (*it)[1].str();
    folders.insert(fs::exists(kRoot / "core" / target) ? target.parent_path().string() : "sdk");
  }
  return folders;
}

// The rooms of the folders that `path` includes from.
std::set<std::string> included_rooms(const fs::path& path) {
  std::set<std::string> rooms;
  for (const std::string& folder : included_folders(path))
    rooms.insert(folder.substr(0, folder.find('/')));
  return rooms;
}

TEST(Layers, IncludesRunOnlyAlongTheEdgesAndUseThemAll) {
  const auto allowed = edges();
  std::map<std::string, std::set<std::string>> used = {{"sdk", {}}};
  for (const fs::path& path : sources(kRoot / "core")) {
    const std::string folder = path.parent_path().lexically_relative(kRoot / "core");
    const auto line = allowed.find(folder);
    ASSERT_NE(line, allowed.end()) << "core/" << folder << " has no line in tests/layers.txt";
    used[folder];
    for (const std::string& from : included_folders(path)) {
      if (from == folder) continue;
      used[folder].insert(from);
      EXPECT_TRUE(line->second.count(from))
          << path << " includes from '" << from << "', which tests/layers.txt does not allow";
    }
  }
  for (const auto& [folder, froms] : allowed) {
    EXPECT_TRUE(used.count(folder)) << "tests/layers.txt: there is no folder core/" << folder;
    for (const std::string& from : froms)
      EXPECT_TRUE(used[folder].count(from))
          << "tests/layers.txt: nothing in core/" << folder << " includes from '" << from << "'";
  }
}

// Folders that include from each other, over however many others, would be one.
TEST(Layers, TheEdgesHaveNoCircle) {
  auto left = edges();
  for (size_t before = 0; before != left.size();) {
    before = left.size();
    std::erase_if(left, [&](const auto& line) {
      return std::none_of(line.second.begin(), line.second.end(),
                          [&](const std::string& from) { return left.count(from) > 0; });
    });
  }
  for (const auto& line : left) ADD_FAILURE() << "in or above a circle: " << line.first;
}

TEST(Layers, PluginsUseOnlyTheRoomsTheyMay) {
  const std::set<std::string> allowed = {"sdk",     "base",    "type",    "poly",
                                         "stripe",  "semtree", "codegen", "builtins",
                                         "hwmodel", "cost",    "interp"};
  for (const fs::path& path : sources(kRoot / "plugins"))
    for (const std::string& used : included_rooms(path))
      EXPECT_TRUE(allowed.count(used)) << path << " includes room '" << used << "'";
}

TEST(Layers, CoreNamesNoVendorAndNoDeviceApi) {
  const std::regex word(R"(\b(cuda|opencl|vulkan|nvidia|nvrtc|amd|intel|metal|llvm|pocl|hopper)\b)",
                        std::regex::icase);
  // The conformance suite loads what other plugins would load, by the names of those libraries.
  const std::string company = (kRoot / "sdk/conformance/company").string();
  for (const char* folder : {"core", "sdk"}) {
    for (const fs::path& path : sources(kRoot / folder)) {
      if (path.string().rfind(company, 0) == 0) continue;
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

// A `.h` and a `.cc` of one name count once.
TEST(Layers, FoldersHoldAboutTwentyFiveThings) {
  for (const char* part : {"core", "plugins", "sdk", "tools"}) {
    std::map<fs::path, std::set<std::string>> stems;
    for (const fs::path& path : sources(kRoot / part))
      stems[path.parent_path()].insert(path.stem());
    for (const auto& [folder, names] : stems) EXPECT_LE(names.size(), 26u) << folder;
  }
}

// What a raw string holds is data, and stays as wide as it is.
TEST(Layers, LinesHaveAHundredColumns) {
  static const std::regex raw(R"re(R"([a-z]*)\()re");
  for (const char* folder : {"core", "plugins", "sdk", "tools", "tests", "examples"})
    for (const fs::path& path : sources(kRoot / folder)) {
      std::istringstream lines(read(path));
      std::string end;  // of the raw string that the line begins in
      size_t number = 0;
      for (std::string line; std::getline(lines, line);) {
        ++number;
        std::smatch match;
        bool data = !end.empty();
        for (std::string rest = line;;) {
          if (!end.empty()) {
            const size_t at = rest.find(end);
            if (at == std::string::npos) break;
            rest = rest.substr(at + end.size());
            end.clear();
          }
          if (!std::regex_search(rest, match, raw)) break;
          data = true;
          end = ")" + match[1].str() + "\"";
          rest = match.suffix();
        }
        const auto columns = std::count_if(line.begin(), line.end(), [](unsigned char c) {
          return (c & 0xC0) != 0x80;  // bytes that begin a character
        });
        if (!data) {
          EXPECT_LE(columns, 100) << path << ":" << number;
        }
      }
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

// `code` without comments and strings: spaces stand for them, and ends of lines stay. Of a raw
// string its two quotes stay too.
std::string without_texts(const std::string& code) {
  std::string out;
  for (size_t i = 0, end = 0; i < code.size(); i = end) {
    const bool raw = code.compare(i, 2, "R\"") == 0;
    end = i + 1;
    if (code.compare(i, 2, "//") == 0) {
      end = code.find('\n', i);
    } else if (code.compare(i, 2, "/*") == 0) {
      end = code.find("*/", i) + 2;
    } else if (raw) {
      const size_t text = code.find('(', i);
      const std::string close = ")" + code.substr(i + 2, text - i - 2) + "\"";
      end = code.find(close, text) + close.size();
    } else if (code[i] == '"' || (code[i] == '\'' && (i == 0 || !std::isalnum(code[i - 1])))) {
      while (code[end] != code[i]) end += code[end] == '\\' ? 2 : 1;
      ++end;
    } else {
      out += code[i];
      continue;
    }
    std::string blank = code.substr(i, end - i);
    for (char& c : blank) c = c == '\n' ? c : ' ';
    if (raw) blank.front() = blank.back() = '"';
    out += blank;
  }
  return out;
}

// The line and the number of lines of each table in `code` that has more than `most`. A table is an
// initialiser or the arguments of a call: a pair of brackets with a comma and no semicolon directly
// inside. A raw string is one too.
std::vector<std::pair<size_t, size_t>> long_tables(const std::string& code, size_t most) {
  static const std::regex scope(R"(\b(namespace|class|struct)\b)");
  struct Group {
    size_t line;
    bool comma = false, other = false;  // other: a body, a namespace or a class
  };
  std::vector<std::pair<size_t, size_t>> out;
  std::vector<Group> groups = {{1}};
  size_t line = 1, text = 0;  // text: the line that a raw string begins in
  auto ends_here = [&](size_t first) {
    if (line - first >= most) out.emplace_back(first, line - first + 1);
  };
  std::string head;  // of the next bracket: what is behind the last bracket or semicolon
  for (char c : without_texts(code)) {
    Group& group = groups.back();
    if (c == '\n') ++line;
    if (c == ',') group.comma = true;
    if (c == ';') group.other = true;
    if (c == '"') {
      if (text > 0) ends_here(text);
      text = text > 0 ? 0 : line;
    }
    if (c == '}' || c == ')') {
      if (group.comma && !group.other) ends_here(group.line);
      if (groups.size() > 1) groups.pop_back();
    }
    if (c == '{' || c == '(') groups.push_back({line, false, std::regex_search(head, scope)});
    if (std::string("{}();").find(c) == std::string::npos)
      head += c;
    else
      head.clear();
  }
  return out;
}

TEST(Layers, LongTablesOfTestsAreDataFiles) {
  constexpr size_t kMost = 120;
  std::string rows;
  for (size_t row = 0; row < kMost - 1; ++row) rows += "    {\"a;\", [] { f(); }},\n";
  const std::vector<std::pair<size_t, size_t>> found = {{2, kMost + 1}};
  EXPECT_EQ(long_tables("namespace a {\nconst Row k[] = {\n" + rows + "};\n}\n", kMost), found);
  EXPECT_EQ(long_tables("void f() {\n  return R\"(\n" + rows + ")\";\n}\n", kMost), found);
  for (const fs::path& path : sources(kRoot / "tests"))
    for (const auto& [line, lines] : long_tables(read(path), kMost))
      ADD_FAILURE() << path << ":" << line << ": this table has " << lines << " lines. More than "
                    << kMost << " belong into a data file beside the test, and code into functions";
}

}  // namespace
