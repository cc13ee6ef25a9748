// SPDX-License-Identifier: Apache-2.0
// `stria new-plugin`: every choice is written whole under the name it was given, and what cannot be
// written leaves nothing behind. tools/new_plugin_test.sh builds and runs what is written.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "command.h"

namespace stria::end_to_end {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// Runs it and expects a failure that says `text`, and nothing new in the folder.
void expect_refused(const Folder& folder, const std::vector<std::string>& arguments, int code,
                    const std::string& text, const std::function<void()>& before = {}) {
  const auto count = [&folder] {
    return std::distance(fs::directory_iterator(folder.path(".")), fs::directory_iterator());
  };
  const auto entries = count();
  std::vector<std::string> all = {"new-plugin"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Ended ended = folder.stria(all, before);
  EXPECT_EQ(ended.code, code) << ended.err;
  EXPECT_NE(ended.err.find(text), std::string::npos) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(count(), entries) << "something is left behind";
}

TEST(NewPlugin, WritesEveryChoiceWhole) {
  const Folder folder;
  std::set<std::string> seen;  // the names of all files of a choice: no two are alike
  for (const char* language : {"c", "c++", "rust"})
    for (const char* memory : {"host", "own"})
      for (const char* queue : {"host", "own"})
        for (const char* codegen : {"none", "c"}) {
          const Ended ended = folder.stria({"new-plugin", "my_npu", "--lang", language, "--memory",
                                            memory, "--queue", queue, "--codegen", codegen});
          ASSERT_EQ(ended.code, 0) << ended.err;
          std::string names;
          for (const auto& entry : fs::recursive_directory_iterator(folder.path("my_npu"))) {
            if (!entry.is_regular_file()) continue;
            const std::string text = text_of(entry.path());
            EXPECT_FALSE(text.empty()) << entry.path();
            for (const char* left : {"acme", "Acme", "ACME"})
              EXPECT_EQ(text.find(left), std::string::npos) << entry.path() << ": " << left;
            names += entry.path().filename().string() + " ";
          }
          const fs::path project = folder.path("my_npu");
          EXPECT_EQ(nlohmann::json::parse(text_of(project / "plugin.json"))["id"], "my_npu");
          const std::string readme = text_of(project / "README.md");
          EXPECT_NE(readme.find("# my_npu"), std::string::npos);
          EXPECT_NE(readme.find("## Next steps"), std::string::npos);
          EXPECT_EQ(access((project / "check.sh").c_str(), X_OK), 0);
          EXPECT_EQ(names.find("vendor_memory") != std::string::npos, std::string(memory) == "own");
          EXPECT_EQ(names.find("vendor_queue") != std::string::npos, std::string(queue) == "own");
          EXPECT_EQ(names.find("vendor_compiler") != std::string::npos,
                    std::string(codegen) == "c");
          EXPECT_TRUE(seen.insert(std::string(language) + " " + names).second) << names;
          fs::remove_all(project);
        }
}

// A setting that adds a pass of the plugin's own is for projects that have one.
TEST(NewPlugin, SettingsOfPipelinesAreThoseOfTheProject) {
  const Folder folder;
  for (const char* language : {"c", "c++", "rust"})
    for (const std::string codegen : {"none", "c"}) {
      const Ended ended =
          folder.stria({"new-plugin", "chip", "--lang", language, "--codegen", codegen});
      ASSERT_EQ(ended.code, 0) << ended.err;
      const std::string pipeline = text_of(folder.path("chip/passes/npu.json"));
      EXPECT_EQ(pipeline.find("OWN_PASS") != std::string::npos, codegen == "c") << language;
      EXPECT_NE(pipeline.find("{% set STAGE"), std::string::npos);
      for (const char* mark : {"// only", "// end of"})
        EXPECT_EQ(pipeline.find(mark), std::string::npos) << mark;
      fs::remove_all(folder.path("chip"));
    }
}

TEST(NewPlugin, SaysWhatComesNext) {
  const Folder folder;
  const Ended ended = folder.stria({"new-plugin", "npu7"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* line : {"wrote npu7", "  cmake -S npu7 -B npu7/build",
                           "  cmake --build npu7/build", "  npu7/check.sh npu7/build/lib"})
    EXPECT_NE(ended.out.find(line), std::string::npos) << ended.out;
  const Ended help = folder.stria({"new-plugin", "--help"});
  EXPECT_NE(help.out.find("stria new-plugin my_npu --lang rust"), std::string::npos) << help.out;
}

// cmake takes make unless it is told otherwise.
TEST(NewPlugin, WhereThereIsNinjaAndNoMake) {
  const Folder folder;
  fs::create_directory(folder.path("tools"));
  folder.write("tools/ninja", "");
  fs::permissions(folder.path("tools/ninja"), fs::perms(0755));
  const auto without_make = [&folder] {
    setenv("PATH", folder.path("tools").c_str(), 1);
    unsetenv("CMAKE_GENERATOR");
  };
  const Ended ninja = folder.stria({"new-plugin", "npu8"}, without_make);
  EXPECT_NE(ninja.out.find("  export CMAKE_GENERATOR=Ninja\n  cmake -S npu8"), std::string::npos)
      << ninja.out;
  folder.write("tools/make", "");
  fs::permissions(folder.path("tools/make"), fs::perms(0755));
  const Ended both = folder.stria({"new-plugin", "npu9"}, without_make);
  EXPECT_EQ(both.out.find("CMAKE_GENERATOR"), std::string::npos) << both.out;
}

TEST(NewPlugin, NamesThatAreNone) {
  const Folder folder;
  const std::pair<std::string, std::string> bad[] = {
      {"", "the name of the plugin is empty"},
      {"../npu", "is a path, not a name"},
      {"/tmp/npu", "is a path, not a name"},
      {"Npu", "begins with a letter from a to z"},
      {"7npu", "begins with a letter from a to z"},
      {"my-npu", "digits and '_'"},
      {"npu\x1b[2J", "digits and '_'"},
      {"n\xc3\xbcp", "digits and '_'"},
      {"int", "is a word of C, C++ or Rust"},
      {"namespace", "is a word of C, C++ or Rust"},
      {"impl", "is a word of C, C++ or Rust"},
      {"stria", "names that begin with 'stria' are stria's own"},
      {std::string(33, 'n'), "has 33 bytes; a plugin's name has 32 at most"},
      {std::string(100000, 'n'), "has 100000 bytes"}};
  for (const auto& [name, text] : bad) expect_refused(folder, {"--", name}, 2, text);
  EXPECT_EQ(folder.stria({"new-plugin", std::string(32, 'n')}).code, 0);
}

// Names that would make two things of the source one: for each identifier WORD_REST (in C++ also
// WordRest) beside which there is an acme_REST (AcmeRest) in templates of that language.
TEST(NewPlugin, NamesThatTheSourceHas) {
  const fs::path templates = fs::path(STRIA_SOURCE_DIR) / "sdk/templates";
  const std::pair<std::string, std::vector<std::string>> languages[] = {
      {"c", {"c", "native"}}, {"c++", {"cpp", "native"}}, {"rust", {"rust"}}};
  for (const auto& [language, folders] : languages) {
    std::set<std::string> identifiers;
    for (const std::string& folder : folders)
      for (const auto& entry : fs::recursive_directory_iterator(templates / folder)) {
        // With memory, queue and generator of the plugin's own a project has most.
        const std::string path = entry.path().string();
        if (path.find("/src/") == std::string::npos || path.find("_host/") != std::string::npos ||
            path.find("_none/") != std::string::npos || !entry.is_regular_file())
          continue;
        const std::string text = text_of(entry.path());
        const std::regex word("[A-Za-z_][A-Za-z_0-9]*");
        for (auto at = std::sregex_iterator(text.begin(), text.end(), word);
             at != std::sregex_iterator(); ++at)
          identifiers.insert(at->str());
      }
    std::set<std::string> names;
    for (const std::string& identifier : identifiers) {
      for (const char* prefix : {"acme_", "ACME_"})
        if (identifier.starts_with(prefix))
          for (const std::string& other : identifiers) {
            const std::string rest = identifier.substr(4);
            if (other.size() > rest.size() && other.ends_with(rest) && !other.starts_with(prefix))
              names.insert(other.substr(0, other.size() - rest.size()));
          }
      if (identifier.starts_with("Acme"))
        for (const std::string& other : identifiers) {
          const std::string rest = identifier.substr(4);
          if (!rest.empty() && other.size() > rest.size() && other.ends_with(rest) &&
              !other.starts_with("Acme"))
            names.insert(other.substr(0, other.size() - rest.size()));
        }
    }
    const Folder folder;
    int refused = 0;
    for (std::string name : names) {
      // Only what is spelled as a plugin's name is one: "Compiled" comes from "compiled".
      const bool capitals = name.size() > 1 && std::isupper(static_cast<unsigned char>(name[1]));
      for (char& c : name)
        if (capitals || &c == name.data())
          c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (!std::regex_match(name, std::regex("[a-z][a-z0-9_]*")) || name.size() > 32) continue;
      const Ended ended = folder.stria({"new-plugin", name, "--lang", language, "--memory", "own",
                                        "--queue", "own", "--codegen", "c"});
      EXPECT_NE(ended.code, 0) << language << ": " << name << " is taken in the source";
      ++refused;
    }
    if (language != "rust") {
      EXPECT_GE(refused, 3) << language;
    }
  }
  const Folder folder;
  for (const char* name : {"launch", "transfer", "shared", "drop"})
    expect_refused(folder, {name, "--lang", "c"}, 2,
                   "is no name for this project: its source in c");
  for (const char* name : {"program", "compiled", "interpreted"})
    expect_refused(folder, {name, "--lang", "c++", "--codegen", "c"}, 2,
                   "is no name for this project");
}

TEST(NewPlugin, NamesThatAreTaken) {
  Folder folder;
  for (const auto& entry : fs::directory_iterator(fs::path(STRIA_SOURCE_DIR) / "plugins"))
    if (fs::exists(entry.path() / "plugin.json"))
      expect_refused(folder, {entry.path().filename().string()}, 1, "is a plugin of stria's own");
  // One that the search path has.
  fs::create_directories(folder.path("found/theirs"));
  folder.write("found/theirs/plugin.json", "{}");
  folder.set_plugin_path(folder.path("found").string());
  expect_refused(folder, {"theirs"}, 1, "there is a plugin 'theirs' already");
}

TEST(NewPlugin, WhatIsThereStays) {
  const Folder folder;
  fs::create_directory(folder.path("a_folder"));
  folder.write("a_file", "precious");
  fs::create_symlink("nowhere", folder.path("a_link"));
  for (const char* name : {"a_folder", "a_file", "a_link"})
    expect_refused(folder, {name}, 1, "already: it is left as it is");
  EXPECT_EQ(folder.read("a_file"), "precious");
}

TEST(NewPlugin, UnknownValues) {
  const Folder folder;
  expect_refused(folder, {"npu", "--lang", "rusty"}, 2,
                 "--lang: there is no 'rusty', did you mean 'rust'? (the values: c, c++, rust)");
  for (const char* other : {"cpp", "C++", "cxx"})
    expect_refused(folder, {"npu", "--lang", other}, 2,
                   std::string("--lang: there is no '") + other + "', did you mean 'c++'?");
  expect_refused(folder, {"npu", "--memory", "hosts"}, 2, "did you mean 'host'?");
  expect_refused(folder, {"npu", "--queue", ""}, 2, "the values: host, own");
  expect_refused(folder, {"npu", "--codegen", "llvm"}, 2, "the values: none, c");
  expect_refused(folder, {"npu", "--language", "c"}, 2, "there is no option '--language'");
  expect_refused(folder, {}, 2, "NAME");
}

TEST(NewPlugin, FullDiskAndForbiddenFolder) {
  const Folder folder;
  // A limit on the size of files stands for a disk that is full: a write fails in the middle.
  const auto full = [] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  expect_refused(folder, {"npu"}, 1, "npu/CMakeLists.txt': File too large", full);
  if (geteuid() == 0) return;  // nothing is forbidden to root
  fs::permissions(folder.path("."), fs::perms::owner_read | fs::perms::owner_exec);
  expect_refused(folder, {"npu"}, 1, "Permission denied");
  fs::permissions(folder.path("."), fs::perms::owner_all);
}

}  // namespace
}  // namespace stria::end_to_end
