// SPDX-License-Identifier: Apache-2.0
// The files that a command reads: whatever a name leads to gives its value or one clear message,
// soon and without much memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kTile = "function (A[M, L]) -> (R) {\n  R = A + 1;\n}\n";
constexpr const char* kStripe =
    "stripe 1.0\n0: #program block [] (\n) {\n  0: #main block [] (\n  ) {\n  }\n}\n";

// Each way to read a file, with its ending; FILE stands for its name.
struct Way {
  const char* ending;
  const char* command;
};
constexpr Way kWays[] = {
    {".tile", "run FILE --device reference --input A=a.npy"},
    {".npy", "run p.tile --device reference --input A=FILE"},
    {".png", "run p.tile --device reference --input A=FILE"},
    {".stripe", "run --run-repro FILE"},
    {".tile", "compile FILE --device reference --shape A=2,3 -o x.stripe"},
    {".stripe", "opt FILE"},
    {".json", "opt p.stripe --pipeline FILE"},
    {".json", "opt p.stripe --hw FILE"},
    {".stripe", "opt --run-repro FILE"},
    {".json", "hw FILE"},
    {".tile", "fmt FILE"},
    {".tile", "fmt -i FILE"},
    {".tile", "grad FILE"},
    {".stripe", "reduce FILE --pipeline steps.json"},
    {".json", "reduce p.stripe --pipeline FILE"},
    {".json", "reduce p.stripe --pipeline steps.json --hw FILE"},
    {".tile", "sim FILE --shape A=2,3"},
    {".npy", "sim p.tile --input A=FILE"},
    {".json", "sim p.tile --shape A=2,3 --hw FILE"},
    {".json", "sim p.tile --shape A=2,3 --pipeline FILE"},
    {".csv", "sim --array 2x2 --scalesim-topology FILE"},
};

class InputFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("p.tile", kTile);
    folder_.write("p.stripe", kStripe);
    folder_.write("steps.json", "[]");
    folder_.write("a.npy", npy_bytes({"<f4", {2, 3}, {1, 2, 3, 4, 5, 6}}));
  }
  fs::path at(const std::string& name) const { return folder_.path(name); }
  static std::vector<std::string> command(const Way& way, const std::string& name) {
    std::vector<std::string> out = words(way.command);
    for (std::string& word : out)
      if (const size_t place = word.find("FILE"); place != std::string::npos)
        word.replace(place, 4, name);
    return out;
  }
  // One message of at most 2 KB, exit code 1, soon and in little memory.
  void expect_refused(const std::vector<std::string>& words, const std::string& message) const {
    std::string line;
    for (const std::string& word : words) line += " " + word.substr(0, 100);
    const auto before = folder_.files();
    const auto begin = std::chrono::steady_clock::now();
    const Ended ended = folder_.stria(words);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << line;
    EXPECT_EQ(ended.code, 1) << line << "\n" << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message)) << line;
    EXPECT_EQ(ended.out, "") << line;
    EXPECT_LT(ended.err.size(), 2100u) << line;
    EXPECT_EQ(folder_.files(), before) << line;
  }
  Folder folder_;
};

TEST_F(InputFiles, WhatIsNoFileIsRefusedByEveryReader) {
  for (const Way& way : kWays) {
    const std::string end = way.ending;
    fs::create_symlink("/dev/zero", at("zero" + end));
    fs::create_symlink("/dev/full", at("full" + end));
    fs::create_directory(at("folder" + end));
    fs::create_symlink("circle" + end, at("circle" + end));
    fs::create_symlink("nothing", at("dangling" + end));
    expect_refused(command(way, "zero" + end), "zero" + end + "': it is a device, not a file");
    expect_refused(command(way, "full" + end), "full" + end + "': it is a device, not a file");
    expect_refused(command(way, "folder" + end), "folder" + end + "': it is a folder, not a file");
    expect_refused(command(way, "circle" + end), "symbolic links");
    expect_refused(command(way, "dangling" + end), "No such file");
    expect_refused(command(way, std::string(4096, 'n') + end), "File name too long");
    expect_refused(command(way, "new\nline\x1b[31m" + end), "'new\\x0aline\\x1b[31m" + end + "'");
    for (const char* name : {"zero", "full", "circle", "dangling"}) fs::remove(at(name + end));
    fs::remove(at("folder" + end));
  }
}

TEST_F(InputFiles, AFileOfATerabyteTakesNoMemory) {
  // The children's: more than any of them takes for itself, and far less than what they are given.
  for (const Way& way : kWays) {
    const std::string name = std::string("big") + way.ending;
    std::ofstream(at(name)) << "";
    fs::resize_file(at(name), uintmax_t{1} << 40);
    expect_refused(command(way, name), name);
    fs::remove(at(name));
  }
  // A header that claims what the file has: nobody has the memory.
  std::string claims = npy_bytes({"|u1", {1 << 20, 1 << 20}, {}});
  folder_.write("claims.npy", claims);
  expect_refused(words("run p.tile --device reference --input A=claims.npy"), "truncated");
  fs::resize_file(at("claims.npy"), claims.size() + (uintmax_t{1} << 40));
  expect_refused(words("run p.tile --device reference --input A=claims.npy"), "no host memory");
  expect_refused(words("run p.tile --device reference --input A=claims.npy --shape A=2,3"),
                 "but --shape says u8[2, 3]");
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  EXPECT_LT(used.ru_maxrss, 700 << 10);  // KiB
}

TEST_F(InputFiles, APipeThatNobodyWritesToIsNotWaitedForWithoutEnd) {
  ASSERT_EQ(::mkfifo(at("pipe.tile").c_str(), 0600), 0);
  expect_refused(words("run pipe.tile --device reference --input A=a.npy"),
                 "cannot read 'pipe.tile': it is a pipe, and nobody has opened it for writing");
}

TEST_F(InputFiles, APipeIsReadAsAFileIs) {
  // What a pipe holds is said by where it stands; its name need not end in .tile.
  for (const char* name : {"pipe.tile", "pipe"}) {
    ASSERT_EQ(::mkfifo(at(name).c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(at(name)) << kTile; });
    const Ended ended =
        folder_.stria(words(std::string("run ") + name + " --device reference --input A=a.npy"));
    writer.join();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("R: fp32[2, 3] = 2"));
  }
  ASSERT_EQ(::mkfifo(at("a_pipe.npy").c_str(), 0600), 0);
  for (const bool whole : {true, false}) {
    const std::string bytes = folder_.read("a.npy") + (whole ? "" : "x");
    std::thread writer([&] { std::ofstream(at("a_pipe.npy")) << bytes; });
    const Ended ended = folder_.stria(words("run p.tile --device reference --input A=a_pipe.npy"));
    writer.join();
    EXPECT_EQ(ended.code, whole ? 0 : 1) << ended.err;
    if (!whole) {
      EXPECT_THAT(ended.err, HasSubstr("more bytes after its data"));
    }
  }
}

TEST_F(InputFiles, TheArgumentsOfAMessageAreCut) {
  const std::string run = "run p.tile --device reference ";
  const std::string longest(100'000, 'x');
  const std::pair<std::string, std::string> options[] = {
      {"--input", longest},
      {"--input", longest + "=a.npy"},
      {"--input", "A=" + longest},
      {"--input", "A=" + longest + ".npy"},
      {"--input", "A=random:" + longest},
      {"--input", "A=random:1:" + longest},
      {"--input", "A=a.npy:" + longest},
      {"--output", longest},
      {"--output", "R=" + longest},
      {"--output", "R=" + longest + ".npy"},
      {"--output", longest + "=r.npy"},
      {"--shape", longest},
      {"--shape", "A=" + longest},
      {"--shape", "A=2,3:" + longest},
      {"--shape", longest + "=2,3"},
      {"--set", longest},
      {"--set", "X=" + longest},
      {"--const", longest},
      {"--function", longest},
      {"--device", longest},
      {"--time-limit", longest},
      {"--threads", longest},
      {"--repro-dir", longest},
      {"--" + longest, "x"},
      {"--check=" + longest, "--profile"},
  };
  for (const auto& [option, value] : options) {
    std::vector<std::string> command = words(run);
    if (option != "--input" || value.find("A=") != 0) command.push_back("--input=A=a.npy");
    command.push_back(option);
    command.push_back(value);
    const Ended ended = folder_.stria(command);
    EXPECT_NE(ended.code, 0) << option << " " << value.substr(0, 20);
    EXPECT_NE(ended.code, 4) << option << " " << value.substr(0, 20);
    EXPECT_LT(ended.err.size(), 2600u) << option << " " << value.substr(0, 20);
  }
  for (const char* verb : {"run", "opt", "hw", "fmt", "grad", "reduce", "compile", "sim"}) {
    const Ended ended = folder_.stria({verb, longest});
    EXPECT_LT(ended.err.size(), 2600u) << verb;
  }
  EXPECT_LT(folder_.stria({longest}).err.size(), 2600u);
}

TEST_F(InputFiles, ASixteenBitViewOfAnEightBitPictureIsWhatTheHelpSays) {
  const Ended help = folder_.stria(words("run --help"));
  EXPECT_THAT(help.out, HasSubstr("':u16' of an 8-bit picture gives 0..255"));
}

// Tensors of packed types (T15): one element in each byte of a .npy file, or as numbers.
TEST_F(InputFiles, PackedTypes) {
  folder_.write("q.tile",
                "function (A) -> (R, S) { R = as_int(A + 1, 4); S = as_fp8_e4m3(A / 4.0); }");
  folder_.write("i4.npy", npy_bytes({"|i1", {3}, {-8, 0, 7}}));
  folder_.write("i8.npy", npy_bytes({"|i1", {2}, {3, -9}}));
  const std::string run = "run q.tile --device reference --check --input A=";
  for (const char* input : {"i4.npy:i4", "-8,0,7:i4"}) {
    const Ended ended = folder_.stria(words(run + input));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("R: i4[3] = -7 1 -8\n"));
    EXPECT_THAT(ended.out, HasSubstr("S: fp8_e4m3[3] = -2.0 0.0 1.75\n"));
  }
  const Ended written = folder_.stria(words(run + "i4.npy:i4 --output R=r.npy --output S=s.npy"));
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(folder_.read("r.npy").substr(128), "\xf9\x01\xf8");
  EXPECT_EQ(folder_.read("s.npy").substr(128), std::string("\xc0\0\x3e", 3));
  const Ended random = folder_.stria(words(run + "random:1 --shape A=5,3:u2"));
  EXPECT_EQ(random.code, 0) << random.err;
  EXPECT_THAT(random.out, HasSubstr("R: i4[5, 3] ="));
  expect_refused(words(run + "i8.npy:i4"), "element 1 is -9, i4 is between -8 and 7");
  expect_refused(words(run + "1,8:i4"), "8");
  expect_refused(words(run + "i8.npy:u4"), "':u4' needs u4 carried as u8");
  expect_refused(words(run + "i4.npy:i4 --shape A=4:i4"), "--shape says i4[4]");
}

}  // namespace
}  // namespace stria::end_to_end
