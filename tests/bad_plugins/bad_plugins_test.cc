// SPDX-License-Identifier: Apache-2.0
// One row per kind of bad plugin: what the host must say of it, what it said, and that the good
// plugin found after it loads, lists its devices and runs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>

#include <elf.h>

#include "bad_folder.h"
#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/files/sha256.h"
#include "stria/hal/plugin_set.h"

namespace stria::bad_plugins {
namespace {

using ::testing::HasSubstr;
using namespace stria::hal;

std::string read(const fs::path& path) { return read_file(path).value(); }

// Changes bytes of a plugin's shared object.
void patch(const fs::path& plugin, const std::function<void(std::string&)>& change) {
  std::string bytes = read(plugin / "libbad.so");
  change(bytes);
  put(plugin / "libbad.so", bytes);
}
Elf64_Ehdr& header_of(std::string& bytes) { return *reinterpret_cast<Elf64_Ehdr*>(bytes.data()); }

void replace_object(const fs::path& plugin, const fs::path& object) {
  put(plugin / "libbad.so", read(object));
}

struct Kind {
  const char* name;
  Step step;  // where it must end
  StatusCode code;
  const char* message;
  std::function<void(const fs::path& folder, const std::string& name)> make;
};

// Kinds that need no more than a misdeed of bad_plugin.cc.
Kind misdeed(const char* name, Step step, StatusCode code, const char* message,
             const std::string& what) {
  return {name, step, code, message,
          [what](const fs::path& folder, const std::string& id) { make_bad(folder, id, what); }};
}
// Kinds whose manifest alone is wrong.
Kind manifest(const char* name, Step step, StatusCode code, const char* message,
              ManifestText text) {
  return {name, step, code, message,
          [text](const fs::path& folder, const std::string& id) { make_bad(folder, id, text); }};
}
// Kinds that are spoilt after they have been made well.
Kind spoilt(const char* name, Step step, StatusCode code, const char* message,
            std::function<void(const fs::path&)> spoil) {
  return {name, step, code, message,
          [spoil](const fs::path& folder, const std::string& id) { spoil(make_bad(folder, id)); }};
}

ManifestText text(const std::function<void(ManifestText&)>& change) {
  ManifestText manifest;
  change(manifest);
  return manifest;
}

std::vector<Kind> manifest_kinds() {
  return {
      spoilt("no_manifest", Step::manifest, StatusCode::not_found, "'plugin.json' is not a file",
             [](const fs::path& at) { fs::remove(at / "plugin.json"); }),
      spoilt("manifest_is_a_folder", Step::manifest, StatusCode::not_found, "is not a file there",
             [](const fs::path& at) {
               fs::remove(at / "plugin.json");
               fs::create_directory(at / "plugin.json");
             }),
      spoilt("manifest_is_a_pipe", Step::manifest, StatusCode::not_found, "is not a file there",
             [](const fs::path& at) {
               fs::remove(at / "plugin.json");
               ASSERT_EQ(::mkfifo((at / "plugin.json").c_str(), 0600), 0);
             }),
      spoilt("manifest_is_a_link_outside", Step::manifest, StatusCode::permission_denied,
             "outside the plugin's directory",
             [](const fs::path& at) {
               fs::remove(at / "plugin.json");
               fs::create_symlink("/etc/hostname", at / "plugin.json");
             }),
      manifest("manifest_with_a_long_version", Step::manifest, StatusCode::invalid_argument,
               "/version: must be a text of at most 256 bytes",
               text([](auto& m) { m.version = std::string(1 << 18, 'x'); })),
      manifest("manifest_with_an_odd_kind", Step::manifest, StatusCode::invalid_argument,
               "/devices/a\\x1b[31m: must be a text of at most 256 bytes",
               text([](auto& m) { m.kind = "a\\u001b[31m"; })),
      manifest("manifest_with_an_odd_key", Step::manifest, StatusCode::invalid_argument,
               "error: /\\x1b]0;\\x07xxx", text([](auto& m) {
                 m.more = ", \"\\u001b]0;\\u0007" + std::string(1 << 18, 'x') + "\": 1";
               })),
      spoilt("manifest_is_no_utf8", Step::manifest, StatusCode::invalid_argument, "error: not JSON",
             [](const fs::path& at) {
               put(at / "plugin.json", "{\"id\": \"" + std::string(1 << 18, '\xff') + "\"}");
             }),
      spoilt("manifest_with_a_long_id", Step::manifest, StatusCode::invalid_argument,
             "/id: must be a text of at most 256 bytes",
             [](const fs::path& at) {
               ManifestText manifest;
               manifest.id = std::string(1'000'000, 'x');
               put(at / "plugin.json", manifest.text());
             }),
      spoilt("manifest_malformed", Step::manifest, StatusCode::invalid_argument, "error: not JSON",
             [](const fs::path& at) { put(at / "plugin.json", "{\"schema\": 1,\n\"id\""); }),
      spoilt("manifest_too_large", Step::manifest, StatusCode::invalid_argument, "1048576 bytes",
             [](const fs::path& at) { put(at / "plugin.json", std::string(2 << 20, ' ')); }),
      manifest("manifest_without_library", Step::manifest, StatusCode::not_found,
               ", 'libbad.so' is: \"library\" in the manifest says which one is meant",
               text([](auto& m) { m.library = "libother.so"; })),
      spoilt("library_is_a_folder", Step::manifest, StatusCode::not_found,
             "'libbad.so' is not a file there",
             [](const fs::path& at) {
               fs::remove(at / "libbad.so");
               fs::create_directory(at / "libbad.so");
             }),
      spoilt("library_is_a_dead_link", Step::manifest, StatusCode::not_found,
             "'libbad.so' is not a file there",
             [](const fs::path& at) {
               fs::remove(at / "libbad.so");
               fs::create_symlink("nothing", at / "libbad.so");
             }),
      manifest("library_path_escapes", Step::manifest, StatusCode::invalid_argument,
               "leaves the plugin's directory",
               text([](auto& m) { m.library = "hw/../../x/libbad.so"; })),
      manifest("library_path_absolute", Step::manifest, StatusCode::invalid_argument,
               "leaves the plugin's directory",
               text([](auto& m) { m.library = "/usr/lib/libbad.so"; })),
      spoilt("library_is_a_link_outside", Step::manifest, StatusCode::permission_denied,
             "outside the plugin's directory",
             [](const fs::path& at) {
               fs::remove(at / "libbad.so");
               fs::create_symlink(built_object("bad"), at / "libbad.so");
             }),
      spoilt("folder_is_a_link_outside", Step::manifest, StatusCode::permission_denied,
             "outside the plugin's directory",
             [](const fs::path& at) {
               fs::remove_all(at / "hw");
               fs::create_symlink(built_plugin("reference") / "hw", at / "hw");
             }),
      manifest("wrong_abi_in_manifest", Step::version, StatusCode::incompatible,
               "ABI versions do not meet: the host speaks 0.1 to 0.5, the plugin 0.7 to 0.9",
               text([](auto& m) { m.abi = "[7, 9]"; })),
      manifest("wrong_stripe_in_manifest", Step::version, StatusCode::incompatible,
               "Stripe text versions do not meet: the host speaks 1.0, the plugin 1.2",
               text([](auto& m) { m.stripe = "[2, 2]"; })),
      manifest("lies_about_its_abi", Step::query, StatusCode::incompatible,
               "the manifest says ABI 0.1 to 0.9 and Stripe text 1.0, the shared object says 0.1 "
               "to 0.5 and 1.0",
               text([](auto& m) { m.abi = "[1, 9]"; })),
      manifest("lies_about_its_version", Step::query, StatusCode::incompatible,
               "lies_about_its_version 2.0.0, the shared object says lies_about_its_version 1.0.0",
               text([](auto& m) { m.version = "2.0.0"; })),
      manifest("lies_about_its_devices", Step::enumerate, kPluginFault,
               "has no device kind 'reference' (its kinds: gpu)",
               text([](auto& m) { m.kind = "gpu"; })),
      manifest("hash_mismatch", Step::hash, StatusCode::data_loss, "the manifest pins 00000000",
               text([](auto& m) {
                 m.more = R"(, "sha256": {"libbad.so": ")" + std::string(64, '0') + "\"}";
               })),
  };
}

std::vector<Kind> file_kinds() {
  auto chmod = [](const char* file, unsigned mode) {
    return [file, mode](const fs::path& at) { fs::permissions(at / file, fs::perms(mode)); };
  };
  return {
      spoilt("not_elf", Step::elf, StatusCode::incompatible, "is no ELF file: it begins with 23 21",
             [](const fs::path& at) { put(at / "libbad.so", "#!/bin/sh\nexit 0\n"); }),
      spoilt("empty_object", Step::elf, StatusCode::incompatible, "it has 0 bytes",
             [](const fs::path& at) { put(at / "libbad.so", ""); }),
      spoilt("truncated_elf", Step::elf, StatusCode::data_loss, "is truncated: ",
             [](const fs::path& at) { patch(at, [](auto& b) { b.resize(b.size() / 2); }); }),
      spoilt("truncated_header", Step::elf, StatusCode::data_loss, "is truncated: the ELF header",
             [](const fs::path& at) { patch(at, [](auto& b) { b.resize(40); }); }),
      spoilt(
          "wrong_machine", Step::elf, StatusCode::incompatible, "is for s390, this machine is",
          [](const fs::path& at) { patch(at, [](auto& b) { header_of(b).e_machine = EM_S390; }); }),
      spoilt("wrong_word_size", Step::elf, StatusCode::incompatible, "is an ELF file of class 1",
             [](const fs::path& at) {
               patch(at, [](auto& b) { header_of(b).e_ident[EI_CLASS] = ELFCLASS32; });
             }),
      spoilt("object_not_shared", Step::elf, StatusCode::incompatible, "not a shared object",
             [](const fs::path& at) { patch(at, [](auto& b) { header_of(b).e_type = ET_REL; }); }),
      spoilt("executable_stack", Step::elf, StatusCode::incompatible, "an executable stack",
             [](const fs::path& at) {
               patch(at, [](auto& b) {
                 auto* segments = reinterpret_cast<Elf64_Phdr*>(b.data() + header_of(b).e_phoff);
                 for (int i = 0; i < header_of(b).e_phnum; ++i)
                   if (segments[i].p_type == PT_GNU_STACK) segments[i].p_flags |= PF_X;
               });
             }),
      spoilt("no_query_symbol", Step::elf, StatusCode::incompatible,
             "exports no stria_plugin_query",
             [](const fs::path& at) { replace_object(at, built_object("no_query")); }),
      spoilt("extra_exports", Step::elf, StatusCode::incompatible,
             "exports 2 symbols beside stria_plugin_query, such as 'acme_debug_level'",
             [](const fs::path& at) { replace_object(at, built_object("extra_exports")); }),
      spoilt("undefined_symbol", Step::load, StatusCode::unavailable,
             "acme_function_of_another_release",
             [](const fs::path& at) { replace_object(at, built_object("undefined")); }),
      spoilt("library_others_may_write", Step::trust, StatusCode::permission_denied, "chmod go-w",
             chmod("libbad.so", 0757)),
      spoilt("folder_others_may_write", Step::trust, StatusCode::permission_denied, "(mode 777)",
             chmod("hw", 0777)),
      spoilt("directory_others_may_write", Step::trust, StatusCode::permission_denied, "(mode 775)",
             chmod(".", 0775)),
      spoilt("other_file_others_may_write", Step::trust, StatusCode::permission_denied, "misdeed",
             chmod("misdeed", 0666)),
  };
}

std::vector<Kind> code_kinds() {
  return {
      misdeed("throws_in_query", Step::query, kPluginFault, "stria_plugin_query: an",
              "throw query"),
      misdeed("fails_in_query", Step::query, StatusCode::device_lost, "as asked", "fail query 9"),
      misdeed("says_nothing_in_query", Step::query, StatusCode::incompatible,
              "does not say which versions it speaks", "empty query"),
      misdeed("another_id_in_object", Step::query, StatusCode::incompatible,
              "the shared object says somebody 1.0.0", "info other_id"),
      misdeed("another_version_in_object", Step::query, StatusCode::incompatible,
              "the shared object says another_version_in_object 9.9.9", "info other_version"),
      misdeed("wrong_abi_in_object", Step::query, StatusCode::incompatible,
              "ABI versions do not meet: the host speaks 0.1 to 0.5, the plugin 0.40 to 0.41",
              "info newer_abi"),
      misdeed("wider_abi_in_object", Step::query, StatusCode::incompatible,
              "the shared object says 0.0 to 0.41 and 1.0", "info wider_abi"),
      misdeed("wrong_stripe_in_object", Step::query, StatusCode::incompatible,
              "Stripe text versions do not meet: the host speaks 1.0, the plugin 0.40 to 0.41",
              "info newer_stripe"),
      misdeed("no_versions_in_object", Step::query, StatusCode::incompatible,
              "does not say which versions", "info no_versions"),
      misdeed("info_of_size_zero", Step::create, StatusCode::unimplemented, "no slot driver.create",
              "info of_size_zero"),
      misdeed("null_tables", Step::create, StatusCode::unimplemented, "no slot driver.create",
              "info without_tables"),
      misdeed("tables_of_size_zero", Step::create, StatusCode::unimplemented,
              "no slot driver.create", "info with_tables_of_size_zero"),
      misdeed("short_tables", Step::enumerate, StatusCode::unimplemented,
              "no slot driver.enumerate", "info with_short_tables"),
      misdeed("throws_in_create", Step::create, kPluginFault, "driver.create: an",
              "throw driver.create"),
      misdeed("fails_in_create", Step::create, StatusCode::out_of_memory, "driver.create: as asked",
              "fail driver.create 8"),
      misdeed("gives_no_driver", Step::create, kPluginFault, "gave no result",
              "empty driver.create"),
      misdeed("throws_in_enumerate", Step::enumerate, kPluginFault,
              "driver.enumerate: an exception", "throw driver.enumerate"),
      misdeed("fails_in_enumerate", Step::enumerate, StatusCode::unavailable,
              "driver.enumerate: as asked", "fail driver.enumerate 6"),
      misdeed("device_without_id", Step::enumerate, kPluginFault, "has no id",
              "devices without_id"),
      misdeed("two_devices_of_one_id", Step::enumerate, kPluginFault, "two devices have the id '0'",
              "devices twice"),
      misdeed("device_of_another_kind", Step::enumerate, kPluginFault, "'starship'",
              "devices of_another_kind"),
      misdeed("null_devices", Step::enumerate, kPluginFault, "was given nothing",
              "devices that_are_null"),
      misdeed("devices_without_end", Step::enumerate, kPluginFault, "more than 262144 times",
              "devices without_end"),
  };
}

SearchOptions only(std::vector<fs::path> paths) {
  SearchOptions options;
  options.paths = std::move(paths);
  options.only_paths = true;
  // Not of what hangs: a sanitizer takes seconds for the thousands of calls of one of the plugins.
  options.time_limit = std::chrono::seconds(60);
  return options;
}

class BadPluginsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto script = std::make_shared<Script>();
    (*script)["nothing"] = {{}, [](auto) { return Status(); }};
    host_ = scripted_host(script, 2);
  }
  // Lists and runs the plugin `reference` of a set.
  Status run_good(const PluginSet& set) {
    STRIA_ASSIGN(Plugin good, set.find("reference"));
    STRIA_ASSIGN(auto devices, good.devices());
    STRIA_ASSIGN(Device device, good.open(devices.at(0).id));
    STRIA_ASSIGN(Compiler compiler, device.create_compiler());
    STRIA_ASSIGN(Build build, compiler.build("nothing"));
    STRIA_RETURN_IF_ERROR(build.done.wait());
    STRIA_ASSIGN(Executor executor, device.create_executor());
    STRIA_ASSIGN(Kernel kernel, executor.prepare(build.library, 0));
    STRIA_ASSIGN(Event done, kernel.run({}));
    return done.wait();
  }
  void row(const std::string& name, const std::string& expected, const std::string& verdict) {
    std::printf("%-28s %-34s %.160s\n", name.c_str(), expected.c_str(), verdict.c_str());
  }
  TemporaryFolder folder_;
  std::shared_ptr<Host> host_;
};

std::string said(const Verdict& verdict) {
  return std::string(name_of(verdict.step)) + ": " + verdict.status.to_string();
}

TEST_F(BadPluginsTest, EachGetsItsVerdictAndHarmsNobody) {
  std::vector<Kind> kinds = manifest_kinds();
  for (auto more : {file_kinds(), code_kinds()})
    kinds.insert(kinds.end(), more.begin(), more.end());
  EXPECT_GE(kinds.size(), 50u);
  std::vector<fs::path> places;
  row("plugin", "expected verdict", "verdict");
  for (const Kind& kind : kinds) {
    const fs::path place = folder_.path() / kind.name;
    kind.make(place, kind.name);
    places.push_back(place);
    PluginSet set = PluginSet::load(host_, only({place, built_plugin("reference")}));
    const PluginRecord& record = set.records().at(0);
    const Verdict& last = record.verdicts.back();
    row(kind.name, std::string(name_of(kind.step)) + ": " + std::string(name_of(kind.code)),
        said(last));
    EXPECT_EQ(name_of(last.step), name_of(kind.step)) << kind.name << ": " << said(last);
    EXPECT_EQ(last.status.code(), kind.code) << kind.name << ": " << said(last);
    EXPECT_THAT(last.status.message(), HasSubstr(kind.message)) << kind.name;
    EXPECT_LE(last.status.message().size(), kMaxMessageBytes) << kind.name;
    EXPECT_EQ(escaped_lines(last.status.message()), last.status.message()) << kind.name;
    EXPECT_TRUE(run_good(set).ok()) << kind.name << ": " << run_good(set).to_string();
    EXPECT_FALSE(set.find(kind.name).ok());
    (void)set.shutdown();
  }
  // All at once, the good one last.
  places.push_back(built_plugin("reference"));
  PluginSet set = PluginSet::load(host_, only(places));
  EXPECT_EQ(set.records().size(), kinds.size() + 1);
  for (const PluginRecord& record : set.records())
    EXPECT_EQ(record.status().ok(), record.id == "reference") << record.directory;
  EXPECT_TRUE(run_good(set).ok());
}

TEST_F(BadPluginsTest, FilesOfOthersAreNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const fs::path at = make_bad(folder_.path(), "foreign_owner");
  ASSERT_EQ(::chown((at / "hw/reference.json").c_str(), 12345, 0), 0);
  PluginSet set = PluginSet::load(host_, only({at}));
  row("foreign_owner", "trust: permission_denied", said(set.records()[0].verdicts.back()));
  EXPECT_THAT(said(set.records()[0].verdicts.back()),
              ::testing::AllOf(HasSubstr("trust: permission_denied"), HasSubstr("user 12345")));
}

TEST_F(BadPluginsTest, OfTwoWithOneIdTheFirstThatWorksCounts) {
  // Broken before it is loaded, broken when it lists its devices, good, and good again.
  for (const char* place : {"a", "b", "c", "d"}) {
    make_bad(folder_.path() / place, "same");
    put(folder_.path() / place / "same/misdeed",
        place == std::string("b") ? "throw driver.enumerate" : "");
  }
  fs::permissions(folder_.path() / "a/same/libbad.so", fs::perms(0666));
  std::vector<fs::path> places;
  for (const char* place : {"a", "b", "c", "d"}) places.push_back(folder_.path() / place / "same");
  PluginSet set = PluginSet::load(host_, only(places));
  std::vector<std::string> verdicts;
  for (const PluginRecord& record : set.records()) {
    verdicts.push_back(std::string(name_of(record.verdicts.back().step)) + " " +
                       std::string(name_of(record.verdicts.back().status.code())));
    row(record.directory.parent_path().filename().string() + "/same", "",
        said(record.verdicts.back()));
  }
  EXPECT_THAT(verdicts, ::testing::ElementsAre("trust permission_denied", "enumerate incompatible",
                                               "enumerate ok", "search failed_precondition"));
  EXPECT_THAT(set.records()[3].status().message(), HasSubstr("was found before in"));
  EXPECT_TRUE(set.find("same").ok());
  EXPECT_TRUE(set.shutdown().ok());
}

TEST_F(BadPluginsTest, AHangCostsItsLimitAndNoMore) {
  // Hangs while listing run side by side; the good plugin between them is not held up by any.
  for (const char* name : {"a_hangs", "b_hangs", "d_hangs"})
    make_bad(folder_.path(), name, "hang driver.enumerate");
  make_bad(folder_.path(), "c_works");
  make_bad(folder_.path(), "e_hangs_in_query", "hang query");
  make_bad(folder_.path(), "f_hangs_in_create", "hang driver.create");
  SearchOptions options = only({folder_.path(), built_plugin("reference")});
  options.time_limit = std::chrono::milliseconds(1500);
  PluginSet set = PluginSet::load(host_, options);
  const char* const expected[] = {"enumerate deadline_exceeded",
                                  "enumerate deadline_exceeded",
                                  "enumerate ok",
                                  "enumerate deadline_exceeded",
                                  "query deadline_exceeded",
                                  "create deadline_exceeded",
                                  "enumerate ok"};
  ASSERT_EQ(set.records().size(), 7u);
  for (size_t i = 0; i < set.records().size(); ++i) {
    const Verdict& last = set.records()[i].verdicts.back();
    row(set.records()[i].id, expected[i], said(last));
    EXPECT_EQ(std::string(name_of(last.step)) + " " + std::string(name_of(last.status.code())),
              expected[i]);
  }
  EXPECT_EQ(set.records()[0].status().message(),
            "plugin a_hangs: driver.enumerate has not returned within the limit of 1500 ms");
  EXPECT_TRUE(run_good(set).ok()) << run_good(set).to_string();
  EXPECT_TRUE(set.shutdown().ok());  // touches none that hangs
}

// What was a file of the plugin's when it was loaded is a link when it is read.
TEST_F(BadPluginsTest, AFileThatLeavesTheFolderLaterIsNotRead) {
  const fs::path secret = folder_.path() / "secret.json";
  put(secret, "a secret line\n");
  const fs::path at = make_bad(folder_.path(), "leaves");
  PluginSet set = PluginSet::load(host_, only({at}));
  Plugin plugin = set.find("leaves").value();
  ASSERT_TRUE(plugin.read_hw_model("reference").ok());
  ASSERT_TRUE(plugin.read_pipeline("reference").ok());
  for (const fs::path& target : {secret, fs::path("../../secret.json"), fs::path("/dev/zero"),
                                 fs::path("/proc/self/environ")}) {
    for (const char* file : {"hw/reference.json", "passes/reference.json"}) {
      fs::remove(at / file);
      fs::create_symlink(target, at / file);
    }
    for (const Status& status :
         {plugin.read_hw_model("reference").status(), plugin.read_pipeline("reference").status()}) {
      row("leaves", "permission_denied", status.to_string());
      EXPECT_EQ(status.code(),
                target == "/dev/zero" ? StatusCode::not_found : StatusCode::permission_denied);
      EXPECT_THAT(status.message(), HasSubstr("reference.json"));
      EXPECT_THAT(status.message(), ::testing::Not(HasSubstr("a secret line")));
    }
  }
  // A folder in between, too; a link that stays inside is none of these.
  fs::rename(at / "hw", folder_.path() / "hw");
  fs::create_symlink(folder_.path() / "hw", at / "hw");
  EXPECT_EQ(plugin.read_hw_model("reference").status().code(), StatusCode::permission_denied);
  fs::remove(at / "passes/reference.json");
  put(at / "passes/other.json", "{}");
  fs::create_symlink(at / "passes/other.json", at / "passes/reference.json");
  EXPECT_EQ(plugin.read_pipeline("reference")->text, "{}");
  EXPECT_TRUE(set.shutdown().ok());
}

TEST_F(BadPluginsTest, AShutdownThatHangsOrThrowsIsSaidAndThePluginLeftAlone) {
  make_bad(folder_.path(), "hangs", "hang driver.shutdown");
  make_bad(folder_.path(), "throws", "throw driver.shutdown");
  SearchOptions options = only({folder_.path(), built_plugin("reference")});
  options.time_limit = std::chrono::milliseconds(1500);
  PluginSet set = PluginSet::load(host_, options);
  Plugin hangs = set.find("hangs").value(), throws = set.find("throws").value();
  const Status hung = hangs.shutdown(), thrown = throws.shutdown();
  row("hangs", "deadline_exceeded", hung.to_string());
  row("throws", "incompatible", thrown.to_string());
  EXPECT_EQ(hung.to_string(),
            "deadline_exceeded: plugin hangs: driver.shutdown has not returned within the limit of "
            "1500 ms");
  EXPECT_EQ(thrown.code(), kPluginFault);
  EXPECT_THAT(thrown.message(), HasSubstr("plugin throws: driver.shutdown: an exception"));
  for (const Plugin& plugin : {hangs, throws})
    EXPECT_EQ(plugin.devices().status().code(), StatusCode::failed_precondition);
  EXPECT_TRUE(run_good(set).ok());
}

TEST_F(BadPluginsTest, ALeakIsSaidWhenThePluginIsShutDown) {
  make_bad(folder_.path(), "leaks", "leak");
  PluginSet set = PluginSet::load(host_, only({folder_.path(), built_plugin("reference")}));
  EXPECT_TRUE(run_good(set).ok());
  Status status = set.shutdown();
  row("leaks", "incompatible", status.to_string());
  EXPECT_EQ(status.to_string(),
            "incompatible: plugin leaks leaks: shut down, it has not given back 1 allocation (4096 "
            "bytes) of the host's");
}

}  // namespace
}  // namespace stria::bad_plugins
