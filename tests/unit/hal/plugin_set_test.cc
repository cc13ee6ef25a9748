// SPDX-License-Identifier: Apache-2.0
// Finding plugins: order, duplicates, trust, pinned contents; a bad one never hides the others.
#include "stria/hal/plugin_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "scripted_host.h"
#include "stria/base/file.h"
#include "stria/hal/files/sha256.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<Host> bare_host() { return std::make_shared<Host>(HostFunctions(), 2); }

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  ASSERT_TRUE(write_file(path, text).ok()) << path;
  fs::permissions(path.parent_path(), fs::perms::group_write | fs::perms::others_write,
                  fs::perm_options::remove);
  fs::permissions(path, fs::perms(0644));
}

// A copy of the built plugin `reference` in folder/name.
fs::path copy_reference(const fs::path& folder, const std::string& name) {
  fs::create_directories(folder);
  fs::copy(built_plugin("reference"), folder / name, fs::copy_options::recursive);
  return folder / name;
}

std::string manifest_of(const std::string& id, const std::string& more = "") {
  return R"({"schema": 1, "id": ")" + id +
         R"(", "version": "0.1.0", "library": "libstria_reference.so",
    "abi": {"major": 0, "minor": [1, 5]}, "stripe": {"major": 1, "minor": [0, 0]},
    "devices": {"reference": {"hw": "hw/reference.json", "pipeline": "passes/reference.json"}})" +
         more + "}";
}

SearchOptions only(std::vector<fs::path> paths) {
  SearchOptions options;
  options.paths = std::move(paths);
  options.only_paths = true;
  return options;
}

TEST(Search, PlacesInOrder) {
  ::setenv("STRIA_PLUGIN_PATH", "/one::/two", 1);
  ::setenv("HOME", "/home/somebody", 1);
  SearchOptions options;
  options.paths = {"/api"};
  std::vector<std::string> found;
  for (const SearchPlace& place : search_places(options)) found.push_back(place.path.string());
  ::unsetenv("STRIA_PLUGIN_PATH");
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0], "/api");
  EXPECT_EQ(found[1], "/one");
  EXPECT_EQ(found[2], "/two");
  EXPECT_EQ(found[3], "/home/somebody/.local/lib/stria/plugins");
  EXPECT_THAT(found[4], ::testing::EndsWith("/lib/stria/plugins"));
  options.only_paths = true;
  EXPECT_EQ(search_places(options).size(), 1u);
}

TEST(PluginSet, LoadsTheReferencePlugin) {
  PluginSet set = PluginSet::load(bare_host(), only({built_plugin("reference")}));
  ASSERT_EQ(set.records().size(), 1u);
  const PluginRecord& record = set.records()[0];
  ASSERT_TRUE(record.status().ok()) << record.status().to_string();
  std::vector<std::string> steps;
  for (const Verdict& verdict : record.verdicts) steps.emplace_back(name_of(verdict.step));
  EXPECT_THAT(steps, ElementsAre("manifest", "trust", "hash", "version", "elf", "load", "query",
                                 "create", "enumerate"));
  ASSERT_EQ(record.devices.size(), 1u);
  EXPECT_TRUE(record.devices[0].available);
  EXPECT_EQ(record.devices[0].kind, "reference");
  EXPECT_TRUE(fs::exists(*record.plugin.hw_model("reference")));
  EXPECT_TRUE(fs::exists(*record.plugin.pipeline("reference")));
  EXPECT_THAT(record.plugin.hw_model("refrence").status().message(),
              HasSubstr("did you mean 'reference'?"));
  EXPECT_EQ(record.plugin.extension("acme.none", 1), nullptr);
  EXPECT_TRUE(set.find("reference").ok());
  EXPECT_THAT(set.find("refrence").status().message(), HasSubstr("did you mean 'reference'?"));
  EXPECT_TRUE(set.shutdown().ok());
  EXPECT_FALSE(set.find("reference").ok());
}

TEST(PluginSet, ABadPluginNeverHidesTheOthers) {
  TemporaryFolder folder;
  fs::create_directories(folder.path() / "a_empty");
  put(folder.path() / "b_malformed/plugin.json", "{\"schema\": 1,");
  fs::path lying = copy_reference(folder.path(), "c_lying");
  put(lying / "plugin.json", manifest_of("somebody_else"));
  fs::path text = copy_reference(folder.path(), "d_not_elf");
  put(text / "plugin.json", manifest_of("not_elf"));
  put(text / "libstria_reference.so", "this is no shared object");
  fs::path open = copy_reference(folder.path(), "e_writable");
  put(open / "plugin.json", manifest_of("writable"));
  fs::permissions(open / "hw/reference.json", fs::perms(0666));
  fs::path pinned = copy_reference(folder.path(), "f_pinned");
  put(pinned / "plugin.json", manifest_of("pinned", R"(, "sha256": {"hw/reference.json": ")" +
                                                        std::string(64, '0') + "\"}"));
  fs::path stale = copy_reference(folder.path(), "g_stale");
  std::string old = manifest_of("stale");
  old.replace(old.find("[1, 5]"), 6, "[7, 9]");
  put(stale / "plugin.json", old);
  fs::path foreign = copy_reference(folder.path(), "h_other_library");
  put(foreign / "plugin.json", manifest_of("other_library"));
  fs::copy_file("/proc/self/exe", foreign / "libstria_reference.so",
                fs::copy_options::overwrite_existing);
  copy_reference(folder.path(), "y_good");
  copy_reference(folder.path(), "z_again");
  put(folder.path() / "readme.txt", "a file is no plugin");

  PluginSet set = PluginSet::load(bare_host(), only({folder.path(), folder.path() / "missing"}));
  std::vector<std::string> found;
  for (const PluginRecord& record : set.records()) {
    const Verdict& last = record.verdicts.back();
    found.push_back(record.directory.filename().string() + ": " + std::string(name_of(last.step)) +
                    " " + std::string(name_of(last.status.code())));
  }
  EXPECT_THAT(found,
              ElementsAre("a_empty: manifest not_found", "b_malformed: manifest invalid_argument",
                          "c_lying: query incompatible", "d_not_elf: elf incompatible",
                          "e_writable: trust permission_denied", "f_pinned: hash data_loss",
                          "g_stale: version incompatible", "h_other_library: elf incompatible",
                          "y_good: enumerate ok", "z_again: search failed_precondition",
                          "missing: search not_found"));
  EXPECT_THAT(set.records()[4].status().message(),
              HasSubstr("can be written by others (mode 666)"));
  EXPECT_THAT(set.records()[9].status().message(), HasSubstr("y_good"));
  EXPECT_TRUE(set.find("reference").ok());
  EXPECT_THAT(set.find("stale").status().message(), HasSubstr("the plugin 0.7 to 0.9"));
  EXPECT_TRUE(set.shutdown().ok());
}

TEST(PluginSet, PinnedContentsThatFitLoad) {
  TemporaryFolder folder;
  fs::path pinned = copy_reference(folder.path(), "pinned");
  auto bytes = read_file(pinned / "libstria_reference.so");
  ASSERT_TRUE(bytes.ok());
  put(pinned / "plugin.json",
      manifest_of("reference", R"(, "unloadable": true, "sha256": {"libstria_reference.so": ")" +
                                   sha256(*bytes) + "\"}"));
  PluginSet set = PluginSet::load(bare_host(), only({pinned}));
  EXPECT_TRUE(set.records()[0].status().ok()) << set.records()[0].status().to_string();
  EXPECT_TRUE(set.shutdown().ok());
}

TEST(PluginSet, OnlyTheIdsAskedForAreLoaded) {
  SearchOptions options = only({built_plugin("reference").parent_path()});
  options.only_ids = {"reference"};
  PluginSet set = PluginSet::load(bare_host(), options);
  ASSERT_EQ(set.records().size(), 1u);
  EXPECT_EQ(set.records()[0].id, "reference");
  EXPECT_TRUE(set.shutdown().ok());
}

// The mapped shared objects of this process that have `name` in their path.
int mapped(const std::string& name) {
  auto maps = read_file("/proc/self/maps");
  int count = 0;
  for (size_t at = 0; (at = maps->find(name, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(PluginSet, AnUnloadablePluginLeavesAndComesBack) {
  TemporaryFolder folder;
  fs::path path = copy_reference(folder.path(), "leaver");
  put(path / "plugin.json", manifest_of("reference", R"(, "unloadable": true)"));
  const std::string file = (path / "libstria_reference.so").string();
  for (int round = 0; round < 20; ++round) {
    PluginSet set = PluginSet::load(bare_host(), only({path}));
    ASSERT_TRUE(set.records()[0].status().ok());
    EXPECT_GT(mapped(file), 0);
    ASSERT_TRUE(set.shutdown().ok());
    EXPECT_EQ(mapped(file), 0) << "round " << round;
  }
}

TEST(PluginSet, TwoSetsOfOneProcessAreIndependent) {
  PluginSet first = PluginSet::load(bare_host(), only({built_plugin("reference")}));
  PluginSet second = PluginSet::load(bare_host(), only({built_plugin("reference")}));
  EXPECT_TRUE(first.shutdown().ok());
  auto plugin = second.find("reference");
  ASSERT_TRUE(plugin.ok());
  EXPECT_TRUE(plugin->devices().ok());
  *plugin = Plugin();
  EXPECT_TRUE(second.shutdown().ok());
}

}  // namespace
}  // namespace stria::hal
