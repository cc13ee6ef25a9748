// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>

#include "scripted_host.h"
#include "stria/base/file.h"
#include "stria/hal/files/copied_from.h"
#include "stria/hal/files/sha256.h"

namespace stria::hal {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGood = R"({
  "schema": 1, "id": "acme", "version": "1.2.0", "vendor": "Acme", "library": "lib/libacme.so",
  "abi": {"major": 0, "minor": [1, 3]}, "stripe": {"major": 1, "minor": [0, 0]},
  "devices": {"npu": {"hw": "hw/npu.json", "pipeline": "passes/npu.json"},
              "big": {"hw": "hw/big.json", "pipeline": "passes/npu.json"}},
  "unloadable": true,
  "sha256": {"lib/libacme.so": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}
})";

// kGood with the first `from` replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, ReadsEveryKey) {
  auto manifest = parse_manifest(kGood, "plugin.json");
  ASSERT_TRUE(manifest.ok()) << manifest.status().to_string();
  EXPECT_EQ(manifest->id, "acme");
  EXPECT_EQ(manifest->version, "1.2.0");
  EXPECT_EQ(manifest->vendor, "Acme");
  EXPECT_EQ(manifest->library, "lib/libacme.so");
  EXPECT_EQ(manifest->abi, (VersionRange{0, 1, 3}));
  ASSERT_EQ(manifest->devices.size(), 2u);
  EXPECT_EQ(manifest->devices[0].name, "npu");
  EXPECT_EQ(manifest->find_kind("big")->hw, "hw/big.json");
  EXPECT_EQ(manifest->find_kind("small"), nullptr);
  EXPECT_TRUE(manifest->unloadable);
  EXPECT_EQ(manifest->sha256.size(), 1u);
}

// A value that is nested as deep as a file may be is not shown, nor is the stack too small for it.
TEST(Manifest, ValuesOfAnyDepthAreNamed) {
  const std::string open(400'000, '['), close(400'000, ']');
  for (const char* key : {"schema", "id", "abi", "devices", "unloadable", "sha256"}) {
    const auto manifest =
        parse_manifest("{\"" + std::string(key) + "\": " + open + close + "}", "plugin.json");
    ASSERT_FALSE(manifest.ok()) << key;
    EXPECT_LT(manifest.status().message().size(), 4096u) << key;
  }
}

struct Bad {
  const char* name;
  std::string text;
  const char* message;
};

TEST(Manifest, ErrorsNameTheFileTheKeyAndTheCure) {
  const Bad cases[] = {
      {"empty", "", "p.json:1:1: error: not JSON: "},
      {"truncated", std::string(kGood).substr(0, 60), "error: not JSON: syntax error"},
      {"array", "[]", "p.json:1:1: error: /: must be an object, this is array"},
      {"unknown key", with("\"vendor\"", "\"vendr\""),
       "/vendr: unknown key, did you mean 'vendor'?"},
      {"unknown inner key", with("\"pipeline\"", "\"pipelin\""),
       "/devices/npu/pipelin: unknown key, did you mean 'pipeline'?"},
      {"missing key", with("\"version\": \"1.2.0\", ", ""), "/: the key 'version' is missing"},
      {"wrong type", with("\"1.2.0\"", "12"), "/version: must be a text, this is 12\n"},
      {"empty text", with("\"1.2.0\"", "\"\""),
       "/version: must be a text that is not empty, this is \"\""},
      {"newer schema", with("\"schema\": 1", "\"schema\": 2"),
       "manifest schema 2, this host reads 1"},
      {"odd id", with("\"acme\"", "\"ac/me\""), "/id: must be made of letters"},
      {"absolute path", with("lib/libacme.so", "/lib/libacme.so"), "leaves the plugin's directory"},
      {"path upwards", with("hw/npu.json", "hw/../../npu.json"),
       "/devices/npu/hw: 'hw/../../npu.json' leaves the plugin's directory"},
      {"path to itself", with("lib/libacme.so", "."), "leaves the plugin's directory"},
      {"range backwards", with("[1, 3]", "[3, 1]"),
       "/abi/minor: must be [lowest, highest] in this order, this is [3,1]"},
      {"range of one", with("[1, 3]", "[1]"), "/abi/minor: must be [lowest, highest], this is [1]"},
      {"negative", with("[1, 3]", "[-1, 3]"), "/abi/minor/0: must be a whole number"},
      {"huge", with("[1, 3]", "[1, 99999999999999999999]"), "/abi/minor/1: must be a whole number"},
      {"unloadable", with("true", "1"), "/unloadable: must be true or false, this is 1"},
      {"short hash", with("ba7816bf", "ba"), "must be 64 lower-case hexadecimal digits"},
      {"upper-case hash", with("ba7816bf", "BA7816BF"), "must be 64 lower-case hexadecimal digits"},
      {"hash of a file elsewhere", with("\"lib/libacme.so\": \"ba", "\"../x\": \"ba"),
       "leaves the plugin's directory"},
  };
  for (const Bad& bad : cases) {
    auto manifest = parse_manifest(bad.text, "p.json");
    ASSERT_FALSE(manifest.ok()) << bad.name;
    EXPECT_THAT(manifest.status().message(), HasSubstr(bad.message)) << bad.name;
    EXPECT_THAT(manifest.status().message(), HasSubstr("p.json:")) << bad.name;
  }
}

// One of each kind: the line and column of the value, or of the key that is wrong.
TEST(Manifest, ErrorsShowTheLine) {
  const std::string text =
      "{\"schema\": 1, \"id\": \"acme\", \"version\": \"1\", \"library\": \"a.so\",\n"
      " \"abi\": {\"major\": 0, \"minor\": [1, 3]},\n"
      " \"stripe\": {\"major\": 1, \"minor\": [0, 0]},\n"
      " \"devices\": {\"npu\": {\"hw\": \"h.json\", \"pipeline\": \"p.json\"}}}\n";
  ASSERT_TRUE(parse_manifest(text, "p.json").ok())
      << parse_manifest(text, "p.json").status().to_string();
  const std::array<const char*, 3> cases[] = {
      {"[1, 3]", "[1, -3]", "p.json:2:35: error: /abi/minor/1: must be a whole number from 0 to"},
      {"\"hw\"", "\"wh\"", "p.json:4:22: error: /devices/npu/wh: unknown key, did you mean 'hw'?"},
      {"\"minor\": [0, 0]", "\"a\": 0", "p.json:3:25: error: /stripe/a: unknown key"},
      {", \"pipeline\": \"p.json\"", "",
       "p.json:4:21: error: /devices/npu: the key 'pipeline' is missing"},
      {"\"schema\": 1", "\"schema\": 2", "p.json:1:12: error: /schema: manifest schema 2"}};
  for (const auto& [right, wrong, message] : cases) {
    std::string bad = text;
    bad.replace(bad.find(right), std::string(right).size(), wrong);
    EXPECT_THAT(parse_manifest(bad, "p.json").status().message(), HasSubstr(message));
    EXPECT_THAT(parse_manifest(bad, "p.json").status().message(), HasSubstr("^"));
  }
  // Of a text that the reader of places refuses, a key twice, the file is named.
  EXPECT_THAT(parse_manifest("{\"id\": \"a\", \"id\": 1}", "p.json").status().message(),
              HasSubstr("p.json: /: the key 'schema' is missing"));
}

TEST(Manifest, NoDeviceKindAndTooLongAreErrors) {
  std::string text = kGood;
  size_t begin = text.find("{\"npu\""), end = text.find("\"unloadable\"");
  text.replace(begin, end - begin, "{}, ");
  EXPECT_THAT(parse_manifest(text, "p").status().message(),
              HasSubstr("/devices: must be an object with a key per device kind"));
  EXPECT_THAT(parse_manifest(std::string((1 << 20) + 1, ' '), "p").status().message(),
              HasSubstr("1048577 bytes, a manifest has at most 1048576"));
}

TEST(Manifest, SaysWhatItNeedsAndWhoBringsIt) {
  auto text = [](const std::string& list) {
    return with("\"unloadable\": true", "\"requires\": " + list);
  };
  auto manifest =
      parse_manifest(text(R"([{"library": "libacme.so.1", "package": "libacme1"}])"), "p.json");
  ASSERT_TRUE(manifest.ok()) << manifest.status().to_string();
  ASSERT_EQ(manifest->required.size(), 1u);
  EXPECT_EQ(manifest->required[0].library, "libacme.so.1");
  EXPECT_EQ(manifest->required[0].package, "libacme1");
  const std::pair<const char*, const char*> wrong[] = {
      {"{}", "/requires: must be a list of {library, package}"},
      {R"([{"library": "a"}])", "/requires/0: the key 'package' is missing"},
      {R"([{"library": "/lib/a.so", "package": "a"}])", "/requires/0/library: must be a bare file"},
      {R"([{"library": "a", "package": "a; rm x"}])", "/requires/0/package: must be a package's"},
      {R"([{"librry": "a", "package": "a"}])", "did you mean 'library'?"}};
  for (const auto& [list, message] : wrong)
    EXPECT_THAT(parse_manifest(text(list), "p.json").status().message(), HasSubstr(message));
}

TEST(Manifest, SaysWhatItsDriverLooksAt) {
  auto text = [](const std::string& driver) {
    return with("\"unloadable\": true", "\"driver\": " + driver);
  };
  auto manifest = parse_manifest(
      text(R"({"environment": ["ACME_*", "HOME"], "files": ["/etc/acme/*.conf"]})"), "p.json");
  ASSERT_TRUE(manifest.ok()) << manifest.status().to_string();
  EXPECT_EQ(manifest->driver.environment, (std::vector<std::string>{"ACME_*", "HOME"}));
  EXPECT_EQ(manifest->driver.files, (std::vector<std::string>{"/etc/acme/*.conf"}));
  EXPECT_TRUE(parse_manifest(text("{}"), "p.json").ok());
  const std::pair<const char*, const char*> wrong[] = {
      {"[]", "/driver: must be an object"},
      {R"({"environment": "ACME_*"})", "/driver/environment: must be a list of names of variables"},
      {R"({"environment": ["*"]})", "/driver/environment: must be a list of names of variables"},
      {R"({"environment": ["A*B"]})", "/driver/environment: must be a list of names of variables"},
      {R"({"environment": [1]})", "/driver/environment: must be a list of names of variables"},
      {R"({"files": ["etc/acme"]})", "/driver/files: must be a list of absolute paths"},
      {R"({"files": ["/etc/\u001b[31m"]})", "/driver/files: must be a list of absolute paths"},
      {R"({"file": []})", "did you mean 'files'?"}};
  for (const auto& [driver, message] : wrong)
    EXPECT_THAT(parse_manifest(text(driver), "p.json").status().message(), HasSubstr(message));
}

TEST(Manifest, DeepNestingIsAnErrorNotACrash) {
  EXPECT_FALSE(parse_manifest(std::string(500'000, '['), "p").ok());
}

TEST(Manifest, EveryFileItNamesMustBeThereAndInside) {
  TemporaryFolder folder;
  namespace fs = std::filesystem;
  ASSERT_TRUE(write_file(folder.path() / "plugin.json", kGood).ok());
  EXPECT_THAT(read_manifest(folder.path()).status().message(),
              HasSubstr("the plugin is not built there"));
  for (const char* file : {"lib/libacme.so", "hw/npu.json", "hw/big.json", "passes/npu.json"}) {
    fs::create_directories((folder.path() / file).parent_path());
    ASSERT_TRUE(write_file(folder.path() / file, "abc").ok());
  }
  EXPECT_TRUE(read_manifest(folder.path()).ok())
      << read_manifest(folder.path()).status().to_string();
  fs::remove(folder.path() / "hw/big.json");
  fs::create_symlink("/etc/hostname", folder.path() / "hw/big.json");
  EXPECT_EQ(read_manifest(folder.path()).status().code(), StatusCode::permission_denied);
  EXPECT_THAT(read_manifest(folder.path()).status().message(),
              HasSubstr("outside the plugin's directory"));
  fs::rename(folder.path() / "plugin.json", folder.path() / "real.json");
  fs::create_symlink("real.json", folder.path() / "plugin.json");
  fs::remove(folder.path() / "hw/big.json");
  ASSERT_TRUE(write_file(folder.path() / "hw/big.json", "abc").ok());
  EXPECT_TRUE(read_manifest(folder.path()).ok());
  fs::remove(folder.path() / "plugin.json");
  fs::create_symlink("/etc/hostname", folder.path() / "plugin.json");
  EXPECT_EQ(read_manifest(folder.path()).status().code(), StatusCode::permission_denied);
  EXPECT_EQ(read_manifest(folder.path() / "nowhere").status().code(), StatusCode::not_found);
}

TEST(Manifest, AMessageNamesTheFileToEdit) {
  namespace fs = std::filesystem;
  const TemporaryFolder built;
  const TemporaryFolder sources;
  const auto name = [&] { return file_to_edit(built.path(), "hw/npu.json", "{}"); };
  const auto edited = [&] { return edited_since_build(built.path()); };
  const fs::path copy = built.path() / "hw/npu.json";
  const fs::path source = sources.path() / "hw/npu.json";
  for (const fs::path& folder : {built.path(), sources.path()}) {
    fs::create_directories(folder / "hw");
    ASSERT_TRUE(write_file(folder / "hw/npu.json", "{}").ok());
    ASSERT_TRUE(write_file(folder / "plugin.json", "{}").ok());
  }
  EXPECT_EQ(name(), copy);
  ASSERT_TRUE(write_file(built.path() / "copied_from.txt", sources.path().string() + "\n").ok());
  EXPECT_EQ(name(), source);
  EXPECT_EQ(file_to_edit(built.path(), "hw/npu.json"), source);
  // The text that was read is no longer what the source says.
  ASSERT_TRUE(write_file(source, "{ }").ok());
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(copy, now);
  fs::last_write_time(source, now - std::chrono::seconds(1));
  EXPECT_EQ(name(), copy);
  EXPECT_THAT(edited(), ::testing::IsEmpty());
  fs::last_write_time(source, now + std::chrono::seconds(1));
  EXPECT_EQ(name(), copy);
  EXPECT_THAT(edited(), ::testing::ElementsAre(source));
  ASSERT_TRUE(write_file(sources.path() / "plugin.json", "[]").ok());
  fs::last_write_time(sources.path() / "plugin.json", now + std::chrono::seconds(1));
  fs::last_write_time(built.path() / "plugin.json", now);
  EXPECT_THAT(edited(), ::testing::ElementsAre(source, sources.path() / "plugin.json"));
  fs::remove(source);
  EXPECT_EQ(name(), copy);
  // What is no file is not read, nor waited for.
  ASSERT_EQ(::mkfifo(source.c_str(), 0600), 0);
  EXPECT_EQ(name(), copy);
  EXPECT_THAT(edited(), ::testing::ElementsAre(sources.path() / "plugin.json"));
  for (const char* folder : {"", "..", "relative", "/nowhere"}) {
    ASSERT_TRUE(write_file(built.path() / "copied_from.txt", folder).ok());
    EXPECT_EQ(name(), copy) << folder;
    EXPECT_THAT(edited(), ::testing::IsEmpty()) << folder;
  }
}

TEST(Versions, TheHighestCommonMinorOrBothRanges) {
  EXPECT_EQ(*negotiate("ABI", {0, 1, 5}, {0, 3, 9}), 5u);
  EXPECT_EQ(*negotiate("ABI", {0, 2, 2}, {0, 1, 2}), 2u);
  for (VersionRange plugin :
       {VersionRange{1, 1, 5}, VersionRange{0, 6, 9}, VersionRange{0, 0, 0}}) {
    Status status = negotiate("ABI", {0, 1, 5}, plugin).status();
    EXPECT_EQ(status.code(), StatusCode::incompatible);
    EXPECT_THAT(status.message(), HasSubstr("the host speaks 0.1 to 0.5"));
    EXPECT_THAT(status.message(), HasSubstr("the plugin " + to_string(plugin)));
  }
}

// FIPS 180-4 examples, and lengths around the padding's edges against known values.
TEST(Sha256, KnownValues) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

}  // namespace
}  // namespace stria::hal
