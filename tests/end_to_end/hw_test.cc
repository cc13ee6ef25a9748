// SPDX-License-Identifier: Apache-2.0
// `stria hw`: the merged model, and where each field is from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Hw : public testing::Test {
 protected:
  Ended run(const std::string& command) { return folder_.stria(words(command)); }
  std::string out_of(const std::string& command) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, 0) << command << "\n" << ended.err;
    EXPECT_EQ(ended.err, "") << command;
    return ended.out;
  }
  // Refused with `code`, a message, and nothing on stdout.
  void expect(int code, const std::string& command, const std::string& message) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command << "\n" << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message)) << command;
    EXPECT_EQ(ended.out, "") << command;
  }
  Folder folder_;
};

constexpr const char* kModel =
    "{% set NUM_SRAM = NUM_SRAM | default(2) %}\n"
    "{\n"
    "  \"clock_mhz\": {{ device.clock_mhz | default(700) }}, \"source\": {\"clock_mhz\": \"a "
    "guess\"},\n"
    "  \"mem_units\": {\"SRAM\": {\"count\": {{ NUM_SRAM }}}}\n"
    "}\n";

TEST_F(Hw, PrintsTheMergedModelWithEachFieldsOrigin) {
  folder_.write("m.json", kModel);
  // What --set takes is listed, with what the file says of it, which is not that much here.
  const std::string parameters =
      "\nparameters of 'm.json' (--set NAME=VALUE): name, default, legal values\n"
      "  NUM_SRAM  2  anything\n";
  EXPECT_EQ(out_of("hw m.json"),
            "/clock_mhz = 700           (m.json:3, default)  a guess\n"
            "/mem_units/SRAM/count = 2  (m.json:4, default)\n" +
                parameters);
  EXPECT_EQ(out_of("hw m.json --set NUM_SRAM=16"),
            "/clock_mhz = 700            (m.json:3, default)         a guess\n"
            "/mem_units/SRAM/count = 16  (m.json:4, --set NUM_SRAM)\n" +
                parameters);
  const auto json = nlohmann::json::parse(out_of("hw m.json --set NUM_SRAM=16 --json"));
  EXPECT_EQ(json["mem_units"]["SRAM"]["count"], 16);
  EXPECT_EQ(json["source"]["clock_mhz"], "a guess");
  expect(1, "hw m.json --require-sources",
         "1 of the model's numbers has no source: /mem_units/SRAM/count");
  out_of("hw " STRIA_SOURCE_DIR "/hwmodels/devices/h200.json --require-sources");
}

// A device program for the slides' accelerator, verified against it and printed again.
TEST_F(Hw, ModelOfADeviceProgram) {
  const std::string program = STRIA_SOURCE_DIR "/tests/golden/device/slides_conv.stripe";
  const std::string model = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";
  std::ifstream file(program);
  std::string text(std::istreambuf_iterator<char>(file), {});
  // The comments at its head are the author's.
  const size_t begin = text.find("//"), end = text.find("\n0: ");
  text.erase(begin, end + 1 - begin);
  EXPECT_EQ(out_of("opt " + program + " --hw " + model), text);
  expect(1, "opt " + program + " --hw " + model + " --set NUM_SRAM=6",
         "'SRAM[2 + 4*u]' is unit 2 to 6, the hardware model has 6");
}

TEST_F(Hw, OfADevice) {
  // What the device reports, through its plugin's model and through one of the user's.
  EXPECT_THAT(out_of("hw --device reference"),
              AllOf(HasSubstr("/exec_units/CORE/count = "), HasSubstr("(reference.json:")));
  folder_.write("m.json", "{\"exec_units\": {\"CORE\": {\"leakage_mW\": 3}}}");
  EXPECT_THAT(out_of("hw m.json --device llvm_cpu"),
              AllOf(HasSubstr("/exec_units/CORE/leakage_mW = 3 "), HasSubstr("(m.json:1)"),
                    HasSubstr("/exec_units/CORE/vector_bytes = ")));
}

TEST_F(Hw, MistakesNameLineAndPath) {
  expect(2, "hw", "hw needs a MODEL or --device");
  expect(1, "hw nothing.json", "nothing.json");
  expect(3, "hw --device nothing", "no device matches 'nothing'");
  expect(2, "hw --devise reference", "did you mean '--device'?");
  expect(2, "hw --device reference --set N=1", "--set N=… needs a MODEL");
  folder_.write("m.json", kModel);
  expect(2, "hw m.json --set NUM_SRM=3",
         "no parameter 'NUM_SRM' in 'm.json', did you mean 'NUM_SRAM'?");
  expect(2, "hw m.json --set device=3", "no parameter 'device' in 'm.json'");
  expect(2, "hw m.json --set NUM_SRAM", "NAME=VALUE");
  expect(1, "hw m.json --set NUM_SRAM=x", "m.json:4:35: error: NUM_SRAM makes 'x' here");
  expect(1, "hw m.json --set NUM_SRAM=0",
         "m.json:4:35: error: /mem_units/SRAM/count: 0 is outside 1 .. 1000000000");
  folder_.write("k.json", "{\n  \"mem_units\": {\"SRAM\": {\"size_kib\": 3}}\n}");
  expect(1, "hw k.json",
         "k.json:2:26: error: /mem_units/SRAM/size_kib: unknown key, did you mean 'size_KiB'?");
  folder_.write("t.json", "{\n  \"clock_mhz\": {{ CLOK }}\n}");
  expect(2, "hw t.json --set CLOCK=1", "no parameter 'CLOCK' in 't.json', did you mean 'CLOK'?");
  expect(1, "hw t.json", "t.json:2:19: error: 'CLOK' is not set");
}

// Slips of a unit are said, with their place; the model is printed all the same.
TEST_F(Hw, NumbersThatNoMachineHasAreSaid) {
  folder_.write("u.json",
                "{\n\"clock_mhz\": 1000000000,\n"
                "\"mem_units\": {\"DRAM\": {\"size_KiB\": 4e12},\n"
                "  \"NEAR\": {\"size_KiB\": 2e12}},\n"
                "\"exec_units\": {\"CORE\": {\"count\": 4,\n\"vector_bytes\": 48}}}\n");
  const Ended ended = folder_.stria(words("hw u.json"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("/mem_units/NEAR/size_KiB"));
  EXPECT_EQ(ended.err,
            "stria: warning: u.json:4: /mem_units/NEAR/size_KiB is 2.048e+15 bytes; 0 to "
            "1.09951e+12 are likely\n"
            "stria: warning: u.json:2: /clock_mhz is 1e+09; 0 to 100000 are likely\n"
            "stria: warning: u.json:6: /exec_units/CORE/vector_bytes is 48; powers of two up to "
            "16384 are likely\n");
}

// `doctor` says the same of a plugin's model, which is completed by what the device reports.
TEST_F(Hw, DoctorSaysNumbersThatNoMachineHas) {
  namespace fs = std::filesystem;
  const fs::path folder = folder_.path("plugins/slow_device");
  fs::create_directories(folder.parent_path());
  fs::copy(STRIA_BINARY_DIR "/lib/stria/test_plugins/slow_device", folder,
           fs::copy_options::recursive);
  fs::remove(folder / "copied_from.txt");
  folder_.set_plugin_path(folder.parent_path());
  const Ended well = folder_.stria(words("doctor slow_device"));
  EXPECT_EQ(well.code, 0) << well.out;
  EXPECT_THAT(well.out, testing::Not(HasSubstr("warning")));
  fs::path model;
  for (const auto& entry : fs::directory_iterator(folder / "hw")) model = entry.path();
  const std::string name = "plugins/slow_device/hw/" + model.filename().string();
  std::string text = folder_.read(name);
  const std::string first = "  \"name\": \"slow device\",";
  ASSERT_NE(text.find(first), std::string::npos) << text;
  folder_.write(name, text.replace(text.find(first), first.size(), first + " \"clock_mhz\": 1e9,"));
  const Ended ended = folder_.stria(words("doctor slow_device"));
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("  warning slow_device:0: " + model.filename().string() +
                                   ":3: /clock_mhz is 1e+09; 0 to 100000 are likely\n"));
  const Ended json = folder_.stria(words("doctor slow_device --json"));
  EXPECT_THAT(json.out, HasSubstr("\"warnings\": [\n"));
}

// What a unit has of its own stands below the default, with its place.
TEST_F(Hw, PrintsWhatCostsKnowOfUnits) {
  folder_.write("c.json",
                "{\n\"exec_units\": {\"CORE\": {\"count\": 1,\n"
                "  \"calibration\": {\"load_factor\": 3.5}}}}\n");
  const std::string out = out_of("hw c.json --calibration");
  EXPECT_THAT(out, AllOf(HasSubstr("calibration of a core with vector registers"),
                         HasSubstr("calibration of a unit that runs groups of lanes"),
                         HasSubstr("times: the same of loads; below 1 where their best rate was")));
  const size_t at = out.find("\nload_factor ");
  ASSERT_NE(at, std::string::npos) << out;
  const size_t next = out.find('\n', at + 1);
  EXPECT_THAT(out.substr(next, out.find('\n', next + 1) - next),
              AllOf(HasSubstr(" 3.5 "), HasSubstr("CORE (c.json:3)")));
  EXPECT_EQ(out.find("CORE"), out.rfind("CORE")) << "more than one number is CORE's own";
  expect(2, "hw c.json --calibration --json", "--json excludes --calibration");
}

}  // namespace
}  // namespace stria::end_to_end
