// SPDX-License-Identifier: Apache-2.0
// The verbs and options of `stria` that work as the reference says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

constexpr const char* kMatmul =
    "function matmul(A[M, L], B[L, N]) -> (C) {\n  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n}\n";

class Command : public testing::Test {
 protected:
  Ended run(const std::string& command) { return folder_.stria(words(command)); }
  // Expects success; stderr has the reason if not.
  std::string out_of(const std::string& command) {
    Ended ended = run(command);
    EXPECT_EQ(ended.code, 0) << command << "\n" << ended.err;
    return ended.out;
  }
  Folder folder_;
};

// Linux's /dev/full takes nothing.
TEST_F(Command, OutputThatIsNotTakenIsAFailure) {
  for (const char* verb :
       {"devices", "devices --json", "opt --help", "--version", "doctor reference"}) {
    const std::string command = std::string(STRIA_BINARY_DIR "/bin/stria ") + verb;
    const int status =
        std::system((command + " > /dev/full 2> '" + folder_.path("err").string() + "'").c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << verb << ": " << status;
    EXPECT_EQ(folder_.read("err"), "stria: stdout did not take all that was printed\n") << verb;
  }
}

TEST_F(Command, HelpAndVersion) {
  EXPECT_THAT(out_of("--version"), MatchesRegex("stria [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(out_of("--help"), AllOf(HasSubstr("devices"), HasSubstr("run"), HasSubstr("compile"),
                                      HasSubstr("opt"), HasSubstr("fmt"), HasSubstr("Exit codes")));
  for (const char* verb : {"devices", "run", "compile", "opt", "hw", "fmt"})
    EXPECT_THAT(out_of(std::string(verb) + " --help"),
                AllOf(HasSubstr("Examples:"), HasSubstr(std::string("stria ") + verb)));
  // Which part of a run no --time-limit covers. The help wraps its lines.
  std::string words;
  std::istringstream help(out_of("run --help"));
  for (std::string word; help >> word;) words += word + " ";
  EXPECT_THAT(words,
              HasSubstr("opening the device do not count: each step of that has 5 s of its own"));
}

TEST_F(Command, Devices) {
  const std::string text = out_of("devices");
  EXPECT_THAT(text, HasSubstr("reference:0"));
  EXPECT_THAT(text, HasSubstr("llvm_cpu:0"));
  const auto json = nlohmann::json::parse(out_of("devices --json"));
  bool found = false;
  for (const auto& plugin : json.at("plugins"))
    for (const auto& device : plugin.at("devices"))
      found = found || (device.at("selector") == "reference:0" && device.at("available") == true);
  EXPECT_TRUE(found) << json.dump(2);
}

TEST_F(Command, SelectorsOfEveryForm) {
  folder_.write("p.tile", "function (A[N]) -> (R) { R = A + A; }");
  folder_.write("devices.txt", "# in this order\nreference\nsim\n");
  for (const char* selector :
       {"reference", "reference:0", "reference:*", "reference:INTER*", "auto", "refer*:0",
        "nothing,reference", "!reference", "auto,mem>=1M,real,dtype:i32", "isolated:reference,sim",
        "@devices.txt"})
    EXPECT_THAT(
        out_of(std::string("run p.tile --input A=random:1 --shape A=3:i32 --device ") + selector),
        "R: i32[3] = 6 -6 -2\n")
        << selector;
}

TEST_F(Command, ADeviceThatIsNotSaidIsTheVariableOrAuto) {
  folder_.write("p.tile", "function (A[N]) -> (R) { R = A + A; }");
  const std::string run = "run p.tile --input A=random:1 --shape A=3:i32";
  EXPECT_EQ(out_of(run), "R: i32[3] = 6 -6 -2\n");
  out_of("compile p.tile --shape A=3:i32 -o p.stripe");
  const auto with_variable = [&](const char* value) {
    return folder_.stria(words(run), [value] { ::setenv("STRIA_DEVICE", value, 1); });
  };
  EXPECT_EQ(with_variable("reference").out, "R: i32[3] = 6 -6 -2\n");
  EXPECT_EQ(with_variable("").code, 0);
  const Ended none = with_variable("nothing");
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("no device matches 'nothing'"));
  const Ended wrong = with_variable("a,,b");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("STRIA_DEVICE: device selector 'a,,b', character 3"));
}

TEST_F(Command, SelectSaysWhatBecomesOfEachDevice) {
  const std::string text = out_of("devices --select sim:*eyeriss*,reference,!kind:software");
  EXPECT_THAT(text, AllOf(HasSubstr("kept, tried first"), HasSubstr("kept\nllvm_cpu:0"),
                          HasSubstr("dropped: none of 'sim:*eyeriss*', 'reference' means it")));
  // The table is printed, too, if nothing is kept.
  const Ended none = run("devices --select referense");
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.out, HasSubstr("dropped: 'referense': it does not mean this device"));
  EXPECT_THAT(none.err, AllOf(HasSubstr("did you mean 'reference'?"),
                              HasSubstr("no device is kept by 'referense'")));
  const auto json = nlohmann::json::parse(
      out_of("devices --json --select auto:energy,!real,runs=3,deadline<=2ms"));
  EXPECT_EQ(json.at("selector").at("objective"), "energy");
  EXPECT_EQ(json.at("selector").at("runs"), 3);
  EXPECT_EQ(json.at("selector").at("deadline_s"), 0.002);
  EXPECT_TRUE(json.at("selector").at("power_w").is_null());
  EXPECT_EQ(json.at("selector").at("text"), "auto:energy,!real,runs=3,deadline<=0.002s");
  size_t kept = 0;
  for (const auto& device : json.at("devices")) {
    const bool simulated = device.at("selector").get<std::string>().starts_with("sim:");
    EXPECT_EQ(device.at("kept"), simulated) << device.dump();
    kept += simulated;
    if (device.at("selector") == "reference:0") {
      EXPECT_EQ(device.at("reasons"),
                nlohmann::json::parse(
                    R"([{"gate": "condition", "term": "!real", "why": "it is real"}])"));
    }
  }
  EXPECT_GE(kept, 3u);
}

TEST_F(Command, PickSaysWhatARunTakesWhere) {
  folder_.write("matmul.tile", kMatmul);
  const std::string pick = "pick matmul.tile --shape A=64,64 --shape B=64,64 ";
  const std::string text = out_of(pick + "--device auto,llvm_cpu,reference,sim:tpu*");
  EXPECT_THAT(text, StartsWith("llvm_cpu:0 "));
  EXPECT_THAT(text, AllOf(HasSubstr("by model; "), HasSubstr("by plugin; "),
                          HasSubstr("cannot be predicted: its hardware model lacks rates"),
                          HasSubstr("\nbest: llvm_cpu:0: llvm_cpu:0 takes ")));
  EXPECT_THAT(out_of(pick + "--device auto,llvm_cpu,sim:tpu* --bounds"), HasSubstr("by bounds"));
  EXPECT_THAT(out_of(pick + "--device auto,llvm_cpu,sim:tpu* --kernels"), HasSubstr("kernel_0"));
  EXPECT_THAT(out_of(pick + "--device auto,llvm_cpu,sim:tpu* --why-not sim:2"),
              HasSubstr("llvm_cpu:0 is better"));
  EXPECT_THAT(out_of(pick + "--device auto,llvm_cpu,reference,deadline<=1h --why-not reference"),
              HasSubstr("reference:0: dropped: nobody can predict what it takes"));
  const auto json =
      nlohmann::json::parse(out_of("pick matmul.tile --shape A=64,64:i8 --shape B=64,64:i8 --json "
                                   "--device auto:energy,llvm_cpu,sim:0,runs=3"));
  // The simulator alone knows energies.
  EXPECT_EQ(json.at("best"), "sim:0");
  EXPECT_EQ(json.at("selector").at("runs"), 3);
  for (const auto& device : json.at("devices")) {
    if (device.at("selector") == "llvm_cpu:0") {
      EXPECT_EQ(device.at("kept"), false);
      EXPECT_EQ(device.at("reasons")[0].at("gate"), "limit");
      const auto& by = device.at("predictions").back();
      EXPECT_EQ(by.at("by"), "model");
      EXPECT_GT(by.at("run").at("most"), by.at("run").at("seconds"));
      EXPECT_GE(by.at("peak_bytes"), 2 * 64 * 64 + 4 * 64 * 64);
      EXPECT_FALSE(by.at("kernels").empty());
    }
    if (device.at("selector") == "sim:0") {
      EXPECT_GT(device.at("predictions").back().at("energy_j"), 0);
    }
  }
  // Nothing is left: each device with its gate.
  const Ended none = run(pick + "--device auto,llvm_cpu,reference,deadline<=1ns");
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, AllOf(HasSubstr("must not take longer than"), HasSubstr("nobody can")));
  EXPECT_EQ(run(pick + "--why-not opencll").code, 2);
  EXPECT_EQ(run(pick + "--device reference,runs=3").code, 2);
  EXPECT_EQ(run("pick matmul.tile").code, 1);
}

// The very choice that is made, on stderr; the results stay as they are.
TEST_F(Command, ExplainDeviceSaysWhatTheChoiceStandsOn) {
  folder_.write("matmul.tile", kMatmul);
  const std::string run_it =
      "run matmul.tile --input A=random:1 --input B=random:2 --shape A=8,8 --shape B=8,8 --device ";
  for (const auto& [device, first, said] :
       {std::tuple{"auto,llvm_cpu,reference", "llvm_cpu:0 ",
                   "\nbest: llvm_cpu:0: llvm_cpu:0 takes "},
        {"reference,llvm_cpu", "reference:0 ", "\nfirst of the list: reference:0: "},
        {"reference", "reference:0 ", "cannot be predicted\n"},
        {"auto:latency,llvm_cpu,reference", "llvm_cpu:0 ", "by model; "}}) {
    const Ended plain = run(run_it + device),
                explained = run(run_it + device + " --explain-device");
    EXPECT_EQ(plain.code, 0) << plain.err;
    EXPECT_EQ(explained.code, 0) << explained.err;
    EXPECT_EQ(plain.out, explained.out) << device;
    EXPECT_THAT(explained.err, AllOf(StartsWith(first), HasSubstr(said))) << device;
    EXPECT_EQ(plain.err.find("takes"), std::string::npos);
  }
  const Ended compiled =
      run("compile matmul.tile --shape A=8,8 --shape B=8,8 --device auto,llvm_cpu,reference "
          "--explain-device -o -");
  EXPECT_THAT(compiled.out, StartsWith("stripe 1."));
  EXPECT_THAT(compiled.err, HasSubstr("\nbest: llvm_cpu:0: "));
  // A parameter wants the device before the program is known.
  const Ended set =
      run("compile matmul.tile --shape A=8,8 --shape B=8,8 --device auto,llvm_cpu,reference "
          "--explain-device --set WINOGRAD=2 -o x.stripe");
  EXPECT_EQ(set.code, 0) << set.err;
  EXPECT_THAT(set.err, HasSubstr("first: llvm_cpu:0: its model promises"));
  EXPECT_EQ(run("compile matmul.tile --to tile --explain-device -o x.tile").code, 2);
}

TEST_F(Command, PickRanksAModelWithoutADevice) {
  folder_.write("matmul.tile", kMatmul);
  std::ifstream own(STRIA_BINARY_DIR "/lib/stria/plugins/llvm_cpu/hw/cpu.json");
  std::string text(std::istreambuf_iterator<char>(own), {});
  const std::string clock = "{{ device.clock_mhz | default(2500) }}";
  ASSERT_NE(text.find(clock), std::string::npos);
  folder_.write("next.json", text.replace(text.find(clock), clock.size(), "90000"));
  folder_.write("bad.json", "{\"name\": 5}");
  const std::string pick =
      "pick matmul.tile --shape A=256,256 --shape B=256,256 --device auto,llvm_cpu,reference ";
  const std::string table = out_of(pick + "--model next.json");
  EXPECT_THAT(table, AllOf(StartsWith("next.json "),
                           HasSubstr("a model, not executable; pipeline of llvm_cpu:cpu"),
                           HasSubstr("\nbest: llvm_cpu:0: ")));
  out_of(pick + "--model next.json=llvm_cpu:cpu --lock lock.txt");
  EXPECT_THAT(folder_.read("lock.txt"), HasSubstr("\nllvm_cpu:\""));
  const auto json =
      nlohmann::json::parse(out_of(pick + "--model next.json --model next.json=cpu --json"));
  EXPECT_EQ(json.at("best"), "llvm_cpu:0");
  ASSERT_EQ(json.at("models").size(), 2u);
  for (const auto& model : json.at("models")) {
    EXPECT_EQ(model.at("executable"), false);
    EXPECT_EQ(model.at("place"), 0);
    EXPECT_EQ(model.at("kind"), "llvm_cpu:cpu");
    EXPECT_EQ(model.at("predictions").back().at("by"), "model");
  }
  for (const auto& [model, code, said] :
       {std::tuple{"nowhere.json", 1, "nowhere.json"},
        {"bad.json", 1, "bad.json:1"},
        {"next.json=npu", 1, "no plugin has devices of the kind 'npu'"},
        {"next.json=", 2, "it is FILE or FILE=KIND"},
        {"=cpu", 2, "it is FILE or FILE=KIND"}}) {
    const Ended ended = run(pick + "--model " + model);
    EXPECT_EQ(ended.code, code) << model;
    EXPECT_THAT(ended.err, HasSubstr(said)) << model;
    EXPECT_EQ(ended.out, "") << model;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n') <= 3, true) << ended.err;
  }
}

// What an application ships: the device by its name, or an error that says what is there.
TEST_F(Command, PickLocksAChoice) {
  folder_.write("matmul.tile", kMatmul);
  const std::string sizes = "matmul.tile --shape A=8,8 --shape B=8,8 ";
  out_of("pick " + sizes + "--device auto,llvm_cpu,reference --lock here.txt");
  EXPECT_THAT(
      folder_.read("here.txt"),
      AllOf(StartsWith("# stria pick matmul.tile: llvm_cpu:0 takes"), HasSubstr("\nllvm_cpu:\"")));
  out_of("run " + sizes + "--input A=random:1 --input B=random:2 --device @here.txt");
  folder_.write("there.txt", "llvm_cpu:\"another machine\"\n");
  const Ended none = run("pick " + sizes + "--device @there.txt");
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, AllOf(HasSubstr("no device matches"), HasSubstr("llvm_cpu:0")));
  EXPECT_EQ(run("pick " + sizes + "--lock matmul.tile").code, 2);
  EXPECT_EQ(run("pick " + sizes + "--lock no/folder/x").code, 1);
  EXPECT_EQ(run("pick " + sizes + "--measure -1").code, 2);
}

TEST_F(Command, ResultsArePrintedOrWritten) {
  folder_.write("p.tile", kMatmul);
  folder_.write("a.npy", npy_bytes({"<f4", {2, 3}, {1, 2, 3, 4, 5, 6}}));
  folder_.write("b.npy", npy_bytes({"<f4", {3, 2}, {1, 0, 0, 1, 1, 1}}));
  const std::string command = "run p.tile --device reference --input A=a.npy --input B=b.npy";
  EXPECT_EQ(out_of(command), "C: fp32[2, 2] = 4.0 5.0 10.0 11.0\n");
  EXPECT_EQ(out_of(command + " --output C=c.npy --output C=d.npy"), "");
  const Array c = parse_npy_bytes(folder_.read("c.npy"));
  EXPECT_EQ(c.descr, "<f4");
  EXPECT_EQ(c.sizes, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(c.values, (std::vector<double>{4, 5, 10, 11}));
  EXPECT_EQ(folder_.read("d.npy"), folder_.read("c.npy"));
  // Options after a repeated one are not its values.
  EXPECT_EQ(
      out_of("run --input A=a.npy --input B=b.npy --check --device reference p.tile").substr(0, 5),
      "check");
}

TEST_F(Command, ScalarsAndEmptyTensors) {
  folder_.write("s.tile", "function (A[], B[N]) -> (R, S) { R = A + 1; S[] = +(B[i]); }");
  EXPECT_EQ(out_of("run s.tile --device reference --input A=random:1 --shape A= --input B=random:2 "
                   "--shape B=0"),
            "R: fp32[] = 0.47218812\nS: fp32[] = 0.0\n");
}

TEST_F(Command, SeveralFunctions) {
  folder_.write(
      "p.tile",
      "function twice(A) -> (R) { R = A + A; }\nfunction thrice(A) -> (R) { R = A + twice(A); }\n");
  const std::string command = "run p.tile --device reference --input A=random:1:i32 --shape A=3";
  EXPECT_EQ(out_of(command), "R: i32[3] = 9 -9 -3\n");
  EXPECT_EQ(out_of(command + " --function twice"), "R: i32[3] = 6 -6 -2\n");
}

TEST_F(Command, CheckAndProfile) {
  folder_.write("p.tile", kMatmul);
  for (const char* device : {"reference", "llvm_cpu"}) {
    const std::string command =
        std::string("run p.tile --device ") + device +
        " --input A=random:1 --shape A=20,30 --input B=random:2 --shape B=30,10";
    EXPECT_THAT(out_of(command + " --check"),
                AllOf(StartsWith("check C: 200 elements, largest error "), HasSubstr(": ok\n")));
    EXPECT_THAT(out_of(command + " --check=sample:50"), HasSubstr("check C: 50 elements"));
    const std::string profile = out_of(command + " --profile");
    EXPECT_THAT(profile,
                AllOf(HasSubstr("GFLOP/s"), HasSubstr("kernel_0"), HasSubstr("compiled in")));
    // A plugin without a code generator says so of each kernel.
    if (std::string(device) == "reference")
      EXPECT_THAT(profile, HasSubstr("\n2 of 2 kernels are interpreted: the plugin generates no "
                                     "code for its device\n"));
    else
      EXPECT_EQ(profile.find("interpreted"), std::string::npos) << profile;
  }
}

TEST_F(Command, AProfileOfSmallKernelsHasDigitsToShow) {
  folder_.write("p.tile", "function (A[N]) -> (R) { R = A + A; }");
  const std::string text =
      out_of("run p.tile --device llvm_cpu --input A=random:1 --shape A=3 --profile");
  EXPECT_THAT(text, HasSubstr(" µs "));
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("kernel_0 +0\\.0 ")));
}

TEST_F(Command, AResultLargerThanMemoryIsRefusedWithItsPlace) {
  folder_.write("p.tile",
                "function (A[N]) -> (R, S) {\n  R = A;\n  S[i, j : N * N * N, N * N * N] = +(A[i + "
                "j]);\n}\n");
  for (const char* device : {"reference", "llvm_cpu"}) {
    const Ended ended =
        run(std::string("run p.tile --input A=random:1 --shape A=100 --device ") + device);
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr("p.tile:3:3: error: the result S is fp32[1000000, 1000000], "
                                "4000000000000 bytes; "),
                      HasSubstr("bytes of memory"), HasSubstr("^~~")));
  }
}

TEST_F(Command, PicturesInAndOut) {
  folder_.write("invert.tile", "function (P[H, W, C]) -> (R) { R = 1 - P; }");
  folder_.write("p.npy", npy_bytes({"<f4", {1, 3, 1}, {0, 0.2, 2}}));
  EXPECT_EQ(out_of("run invert.tile --device reference --input P=p.npy --output R=r.png"), "");
  EXPECT_EQ(out_of("run invert.tile --device reference --input P=r.png:u8"),
            "R: u8[1, 3, 1] = 2 53 1\n");
}

TEST_F(Command, Compile) {
  folder_.write("p.tile", kMatmul);
  for (const char* device : {"reference", "llvm_cpu"}) {
    const std::string command = std::string("compile p.tile --device ") + device +
                                " --shape A=8,16:fp16 --shape B=16,8:fp16 ";
    EXPECT_EQ(out_of(command + "-o p.stripe"), "");
    EXPECT_THAT(folder_.read("p.stripe"), AllOf(StartsWith("stripe 1."), HasSubstr("fp16(")));
    EXPECT_EQ(out_of(command + "--dump-dir stages -o p.stripe"), "");
    EXPECT_THAT(folder_.read("stages/00_program.tile"), HasSubstr("function matmul"));
    EXPECT_THAT(folder_.read("stages/01_lower.stripe"), StartsWith("stripe 1."));
    // What was written is what `opt` prints of it.
    EXPECT_EQ(out_of("opt p.stripe"), folder_.read("p.stripe"));
  }
  bool source = false;
  for (const std::string& file : folder_.files())
    source = source || (file.starts_with("stages/") && !file.ends_with(".stripe") &&
                        !file.ends_with(".tile"));
  EXPECT_TRUE(source) << "llvm_cpu shows no kernel source";
}

TEST_F(Command, ParametersOfTheDevicesPipeline) {
  folder_.write("p.tile",
                "function (I[H, W, C], F[A, B, C, K]) -> (O) "
                "{ O[y, x, k : 14, 14, K] = +(I[y + i, x + j, c] * F[i, j, c, k]); }");
  const std::string shapes = " --shape I=16,16,32 --shape F=3,3,32,32 ";
  EXPECT_EQ(out_of("compile p.tile --device llvm_cpu --set WINOGRAD=2 -o p.stripe" + shapes), "");
  EXPECT_THAT(folder_.read("p.stripe"), HasSubstr("#winograd"));
  EXPECT_THAT(out_of("run p.tile --device llvm_cpu --set WINOGRAD=4 --profile --input I=random:1 "
                     "--input F=random:2" +
                     shapes),
              HasSubstr("kernel_0_results"));
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const auto result = run(arguments);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  refused("compile p.tile --device llvm_cpu --set WINOGRAT=2 -o p.stripe" + shapes,
          "cpu.json', did you mean 'WINOGRAD'?");
  // Before inputs are read, which are not there.
  refused("run p.tile --device llvm_cpu --set WINOGRADE=4 --input I=no.npy --input F=no.npy",
          "no parameter 'WINOGRADE' in '");
  refused("compile p.tile --device llvm_cpu --tune 4 --set MEASURE_TOP=8 -o p.stripe" + shapes,
          "tune 4 and MEASURE_TOP=8 both say how many candidates are timed: give one");
}

TEST_F(Command, OptOnTheStripeTopFile) {
  const std::string folder = STRIA_SOURCE_DIR "/tests/golden/stripe/";
  const std::string once = out_of("opt " + folder + "stripe_top.stripe");
  folder_.write("once.stripe", once);
  EXPECT_EQ(out_of("opt once.stripe"), once);
  // The same program as the slides spell it.
  EXPECT_EQ(out_of("opt " + folder + "stripe_top_slides.stripe"), once);
}

TEST_F(Command, OptExplainsEveryPass) {
  const std::string help = out_of("opt --help");
  EXPECT_THAT(help,
              AllOf(HasSubstr("\n  autotile: splits blocks"),
                    HasSubstr("\n    order: text, default \"keep\"; one of keep, stride, reuse."),
                    HasSubstr("\n  vectorize: ")));
  EXPECT_THAT(out_of("opt --explain thread"),
              AllOf(StartsWith("# thread\n\nIt spreads kernels"),
                    HasSubstr("\n| `points_per_core` | integer, 0 to 1048576 | `8` | "),
                    HasSubstr("\nAfter\n\n```\n// thread (thread): 1 matched")));
  int pages = 0;
  for (const auto& file : std::filesystem::directory_iterator(STRIA_SOURCE_DIR "/docs/passes")) {
    if (file.path().stem() == "plugin_pass") continue;  // a plugin's pass, not opt's
    std::stringstream page;
    page << std::ifstream(file.path()).rdbuf();
    EXPECT_EQ(out_of("opt --explain " + file.path().stem().string()), page.str());
    ++pages;
  }
  EXPECT_GT(pages, 20);
  const Ended wrong = run("opt --explain treads");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(
      wrong.err,
      HasSubstr("there is no pass 'treads', did you mean 'thread'? (the passes: agg_init,"));
}

TEST_F(Command, OptTriesInterleavings) {
  std::stringstream ring;
  ring << std::ifstream(STRIA_SOURCE_DIR "/tests/golden/device/ring.stripe").rdbuf();
  std::string text = ring.str();
  folder_.write("ring.stripe", text);
  Ended ended = run("opt ring.stripe --interleavings 20");
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, text);
  EXPECT_EQ(ended.err, "stria: all 20 interleavings give the same\n");
  const std::string was = "special wait(full)";
  text.replace(text.find(was), was.size(), "special barrier()");
  folder_.write("wrong.stripe", text);
  ended = run("opt wrong.stripe --interleavings 20");
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("stria: with seed 0"), HasSubstr("race on ring["),
                               HasSubstr("by asynchronous producer/1 at q="),
                               HasSubstr("may happen in any order")));
  EXPECT_EQ(run("opt ring.stripe --interleavings 0").code, 2);
  // No pass of today may touch such a kernel.
  folder_.write("p.json", R"([{"name": "only", "order_indices": {}}])");
  ended = run("opt ring.stripe --pipeline p.json");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("kernel 'ring' has #roles, #async blocks, waits or arrivals"));
  folder_.write("plain.stripe",
                out_of("opt " STRIA_SOURCE_DIR "/tests/golden/device/slides_conv_small.stripe"));
  EXPECT_EQ(run("opt plain.stripe --interleavings 9").err,
            "stria: nothing in the program goes on at once with anything else: one run\n");
}

TEST_F(Command, OptTellsInOneLineWhatIsUndecided) {
  std::string views, loads;
  for (const char* name : {"A", "B"}) {
    views += std::string("      in ") + name + "[x, 0] fp32(1:16, 1:1)\n";
    loads += std::string("      ") + (name[0] - 'A' == 0 ? "0" : "1") + ": $" + name + " = load(" +
             name + ")\n";
  }
  folder_.write("p.stripe",
                "stripe 1.0\n0: #program block [] (\n    none new@0x0 A[0, 0] fp32(4:16, 1:1)\n"
                "    none new@0x0 B[0, 0] fp32(4:16, 1:1)\n) {\n  0: #main block [] (\n"
                "      in A[0, 0] fp32(4:16, 1:1)\n      in B[0, 0] fp32(4:16, 1:1)\n  ) {\n"
                "    0: block [x:4611686018427387904] (\n      3 - x >= 0\n" +
                    views + "    ) {\n" + loads + "    }\n  }\n}\n");
  folder_.write("p.json", R"([{"name": "only", "order_indices": {}}])");
  const Ended ended = run("opt p.stripe --pipeline p.json");
  EXPECT_EQ(ended.code, 0);
  const std::string what = "2 things undecided, the first: ";
  EXPECT_THAT(ended.err, AllOf(HasSubstr("p.stripe: warning: " + what),
                               HasSubstr("stria: warning: after step 'only': " + what)))
      << ended.err;
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 3) << ended.err;
}

TEST_F(Command, OptRunsAPipeline) {
  folder_.write("p.tile", kMatmul);
  out_of("compile p.tile --device reference --shape A=8,16 --shape B=16,8 -o p.stripe");
  folder_.write("p.json",
                "{\"version\": 1, \"passes\": [{\"name\": \"first\", \"prune\": {}}, {\"name\": "
                "\"second\", \"prune\": {}}]}");
  const std::string all = out_of("opt p.stripe --pipeline p.json --print-after-all");
  EXPECT_THAT(all, AllOf(HasSubstr("after step 0 'first'"), HasSubstr("after step 1 'second'")));
  const std::string one =
      out_of("opt p.stripe --pipeline p.json --print-after-all --stop-after first");
  EXPECT_THAT(one, testing::Not(HasSubstr("'second'")));
  EXPECT_THAT(run("opt p.stripe --pipeline p.json --explain prune").err,
              HasSubstr("step 1 'second'"));
}

TEST_F(Command, OptPrintsAPipelineWithItsFragments) {
  folder_.write("own.json", R"([{"name": "b", "turn_lanes": {}}])");
  folder_.write("p.json", R"({% set LANES = LANES | default(8) | integer(1, 64) %}
      [{"name": "a", "rollup": {"threads": {{ LANES }}}}, {"include": "own"},
       {"include": "core/closing", "with": {"MEMORY": "HBM"}}])");
  const Ended ended = run("opt --pipeline p.json --set LANES=16 --print-pipeline");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, R"([
  {"name":"a","rollup":{"group_lanes":16}},
  {"name":"b","register_transpose":{"block_set":["turned"]}},
  {"agg_init":{"cut":true},"name":"agg_init"},
  {"locate_memory":{"loc":{"name":"HBM"},"reqs":["program"]},"name":"locate_program"},
  {"locate_memory":{"loc":{"name":"HBM"},"reqs":["prologue"]},"name":"locate_prologue"},
  {"locate_memory":{"loc":{"name":"HBM"},"reqs":["main"]},"name":"locate_main"},
  {"name":"prune_again","prune":{}}
]
)");
  EXPECT_EQ(
      ended.err,
      "stria: p.json:2:33: /0/rollup/threads: is now called 'group_lanes'; the next release will "
      "not know the former name\n"
      "stria: p.json:2:22: /0/rollup/reqs/0: no step before this one sets the tag 'group', and "
      "lowering does not\n"
      "stria: own.json:1:16: /0/turn_lanes: is now called 'register_transpose' with "
      "{\"block_set\": [\"turned\"]}; the next release will not know the former name\n");
  EXPECT_EQ(run("opt --print-pipeline").code, 2);
  EXPECT_THAT(run("opt --pipeline q.json --print-pipeline").code, 1);
  folder_.write("bad.json", R"([{"include": "core/ending"}])");
  const Ended bad = run("opt --pipeline bad.json --print-pipeline");
  EXPECT_EQ(bad.code, 1);
  EXPECT_EQ(bad.err,
            "bad.json:1:3: error: /0/include: core has no fragment 'core/ending', did you mean "
            "'core/opening'?\n"
            "  [{\"include\": \"core/ending\"}]\n"
            "    ^~~~~~~~~~~~\n");
  folder_.write("p.stripe", "stripe 1.0\n0: #program block [] (\n) {\n}\n");
  EXPECT_EQ(run("opt p.stripe --pipeline bad.json").code, 1);
}

// What a word too many is meant as.
TEST_F(Command, WordsThatAVerbHasNoPlaceFor) {
  const std::tuple<const char*, int, const char*> cases[] = {
      {"conform acme --json out.json", 2,
       "--json takes no value: it prints to standard output, did you mean '--json > out.json'?"},
      {"conform --json out.json acme", 2, "did you mean '--json > out.json'?"},
      {"conform --json out.json", 1, "did you mean '--json > out.json'?"},
      {"devices --json out.json", 2, "did you mean '--json > out.json'?"},
      {"doctor --json out.json", 3, "did you mean '--json > out.json'?"},
      {"run a.tile --profile b.tile", 2, "--profile takes no value: what is 'b.tile'?"},
      {"run a.tile b.tile", 2, "'b.tile' is one word too many: run takes PROG"},
      {"devices x", 2, "'x' is one word too many: devices takes options alone"}};
  for (const auto& [command, code, said] : cases) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command;
    EXPECT_THAT(ended.err, HasSubstr(said)) << command;
  }
}

// A plugin that is not installed is found by a variable: the message says so.
TEST_F(Command, ADeviceThatIsNotThereNamesTheVariable) {
  for (const char* command :
       {"hw --device mychip", "hw --device mychip:0", "doctor mychip", "devices --select mychip"}) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, 3) << command;
    EXPECT_THAT(ended.err, HasSubstr("STRIA_PLUGIN_PATH is not set: of a plugin that is not "
                                     "installed it names the folder that holds mychip/plugin.json"))
        << command;
  }
  folder_.set_plugin_path("/nowhere");
  EXPECT_THAT(run("hw --device mychip").err,
              HasSubstr("no folder of STRIA_PLUGIN_PATH, '/nowhere', holds mychip/plugin.json"));
  // The plugin is there, the device is not.
  folder_.set_plugin_path("");
  EXPECT_THAT(run("hw --device reference:7").err, testing::Not(HasSubstr("STRIA_PLUGIN_PATH")));
}

TEST_F(Command, WarningsGoToStderr) {
  folder_.write("p.tile", "function (A[N]) -> (R) {\n  B = A + 1;\n  R[2 * i : N] = +(A[i]);\n}\n");
  Ended ended = run("run p.tile --device reference --input A=random:1 --shape A=5");
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err,
            "p.tile:2:3: warning: 'B' is never used\n"
            "    B = A + 1;\n"
            "    ^\n"
            "p.tile:3:3: warning: 2 of the 5 elements of 'R' are never written and stay 0, for "
            "example R[1]; if that "
            "is meant, say so with 'default'\n"
            "    R[2 * i : N] = +(A[i]);\n"
            "    ^~~~~~~~~~~~\n");
  EXPECT_EQ(run("compile p.tile --device reference --shape A=5 -o -").err, ended.err);
}

TEST_F(Command, Fmt) {
  const std::string untidy = "# note\n\n\nfunction f(A)->(R){R=A+(2*A); // twice\n}\n";
  const std::string tidy = "# note\n\nfunction f(A) -> (R) {\n  R = A + 2 * A;  # twice\n}\n";
  folder_.write("a.tile", untidy);
  folder_.write("b.tile", tidy);
  EXPECT_EQ(out_of("fmt a.tile"), tidy);
  EXPECT_EQ(folder_.read("a.tile"), untidy);
  Ended check = run("fmt --check a.tile b.tile");
  EXPECT_EQ(check.code, 1);
  EXPECT_EQ(check.err, "stria: not formatted: a.tile\n");
  EXPECT_EQ(check.out, "");
  EXPECT_EQ(out_of("fmt -i a.tile b.tile"), "");
  EXPECT_EQ(folder_.read("a.tile"), tidy);
  EXPECT_EQ(out_of("fmt --check a.tile b.tile"), "");
}

TEST_F(Command, FmtRefuses) {
  folder_.write("a.tile", "function (A) -> (R) { R = A; }");
  folder_.write("broken.tile", "function (A) -> (R) { R = A }");
  folder_.write("p.stripe", "stripe 1.0\n");
  for (const auto& [command, code] :
       std::vector<std::pair<std::string, int>>{{"fmt", 2},
                                                {"fmt a.tile -i --check", 2},
                                                {"fmt a.tile broken.tile", 2},
                                                {"fmt a.tile --chek", 2},
                                                {"fmt absent.tile", 1},
                                                {"fmt p.stripe", 1},
                                                {"fmt broken.tile", 1},
                                                {"fmt -i a.tile broken.tile", 1}}) {
    Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command;
    EXPECT_EQ(ended.out, "") << command;
    EXPECT_NE(ended.err, "") << command;
  }
  // Nothing is written unless all can be.
  EXPECT_EQ(folder_.read("a.tile"), "function (A) -> (R) { R = A; }");
}

}  // namespace
}  // namespace stria::end_to_end
