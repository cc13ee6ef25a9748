// SPDX-License-Identifier: Apache-2.0
// Wrong use of the command: each case gives its exit code, one message on stderr that names what is
// wrong, nothing on stdout, and leaves no file behind that was not there before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::HasSubstr;

constexpr const char* kMatmul =
    "function (A[M, L], B[L, N]) -> (C) {\n  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n}\n";

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("matmul.tile", kMatmul);
    folder_.write("a.npy", npy_bytes({"<f4", {2, 3}, {1, 2, 3, 4, 5, 6}}));
    folder_.write("b.npy", npy_bytes({"<f4", {3, 2}, {1, 2, 3, 4, 5, 6}}));
  }
  // Runs and expects failure with `code` and `message`.
  void expect(int code, const std::string& command, const std::string& message) {
    expect_words(code, words(command), message);
  }
  void expect_words(int code, const std::vector<std::string>& command, const std::string& message) {
    const auto before = folder_.files();
    Ended ended = folder_.stria(command);
    std::string line;
    for (const std::string& word : command) line += " " + word;
    EXPECT_EQ(ended.code, code) << line << "\n" << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message)) << line;
    EXPECT_EQ(ended.out, "") << line;
    EXPECT_EQ(folder_.files(), before) << line;
    EXPECT_THAT(ended.err, testing::Not(HasSubstr("stria: bug"))) << line;
  }
  // A program, given inputs A and B, that does not bind.
  void expect_program(const std::string& text, const std::string& message) {
    folder_.write("p.tile", text);
    expect(1, "run p.tile --device reference --input A=a.npy --input B=b.npy --output C=c.npy",
           message);
    std::filesystem::remove(folder_.path("p.tile"));
  }
  Folder folder_;
};

TEST_F(BadInput, Programs) {
  expect_program(
      "function (A[M, L], B[L, N]) -> (C) {\n  C[i, j : M, N] = +(A[i, k * B[k, j]);\n}\n",
      "p.tile:2:");
  expect_program("hello", "p.tile:1:1: error:");
  expect_program("", "p.tile:1:1: error:");
  expect_program("function (A[M, L], B[L, N]) -> (C) {\n  C = A + Q;\n}\n", "'Q'");
  expect_program("function (A[M, L], B[L, N]) -> (C) {\n  C = frobnicate(A);\n}\n", "frobnicate");
  // Reassigned.
  expect_program("function (A[M, L], B[L, N]) -> (C) {\n  C = A;\n  C = A * 2;\n}\n", "p.tile:3:");
  // Bounded by nothing; in a constraint only.
  expect_program("function (A[M, L], B[L, N]) -> (C) {\n  C[i : M] = +(A[i, j - k]);\n}\n",
                 "p.tile:2:");
  expect_program("function (A[M, L], B[L, N]) -> (C) {\n  C[i : M] = +(A[i, j]), k < 3;\n}\n",
                 "'k'");
  // Two values for one element of `=`.
  expect_program("function (A[M, L], B[L, N]) -> (C) {\n  C[i : M] = =(A[i, j]);\n}\n",
                 "p.tile:2:");
  // Rank and size.
  expect_program("function (A[M], B[L, N]) -> (C) {\n  C = A;\n}\n", "A");
  expect_program("function (A[M, L], B[M, N]) -> (C) {\n  C = A;\n}\n", "M");
  expect_program("function (A[M, L], B[L, N]) -> (C) {\n  C = A + B;\n}\n", "p.tile:2:");
}

TEST_F(BadInput, ManyMistakesManyMessages) {
  folder_.write("p.tile",
                "function (A[M, L], B[L, N]) -> (C, D) {\n  C = A + Q;\n  D = B + R;\n}\n");
  Ended ended =
      folder_.stria(words("run p.tile --device reference --input A=a.npy --input B=b.npy"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("p.tile:2:"));
  EXPECT_THAT(ended.err, HasSubstr("p.tile:3:"));
}

TEST_F(BadInput, Files) {
  expect(1, "run nothing.tile --device reference", "nothing.tile");
  expect(1, "run a.npy --device reference", ".tile");
  expect(1, "run matmul.tile --device reference --input A=nothing.npy --input B=b.npy",
         "nothing.npy");
  const std::string whole = folder_.read("a.npy");
  folder_.write("cut.npy", whole.substr(0, whole.size() - 1));
  expect(1, "run matmul.tile --device reference --input A=cut.npy --input B=b.npy", "truncated");
  folder_.write("head.npy", whole.substr(0, 40));
  expect(1, "run matmul.tile --device reference --input A=head.npy --input B=b.npy", "truncated");
  std::string wrong_type = whole;
  wrong_type.replace(wrong_type.find("<f4"), 3, "<c4");
  folder_.write("type.npy", wrong_type);
  expect(1, "run matmul.tile --device reference --input A=type.npy --input B=b.npy", "'<c4'");
  // Another shape than the program or --shape asks for.
  folder_.write("flat.npy", npy_bytes({"<f4", {6}, {1, 2, 3, 4, 5, 6}}));
  expect(1, "run matmul.tile --device reference --input A=flat.npy --input B=b.npy", "A");
  expect(1, "run matmul.tile --device reference --input A=a.npy --input B=a.npy", "L");
  expect(1, "run matmul.tile --device reference --input A=a.npy --shape A=3,2 --input B=b.npy",
         "--shape says");
  expect(1, "run matmul.tile --device reference --input A=a.npy --shape A=2,3:i32 --input B=b.npy",
         "i32");
  folder_.write("photo.png", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1", 20));
  expect(1, "run matmul.tile --device reference --input A=photo.png --input B=b.npy", "truncated");
  folder_.write("text.png", "no picture");
  expect(1, "run matmul.tile --device reference --input A=text.png --input B=b.npy", "not a PNG");
}

TEST_F(BadInput, Outputs) {
  const std::string run = "run matmul.tile --device reference --input A=a.npy --input B=b.npy ";
  expect(1, run + "--output C=missing/c.npy", "missing/c.npy");
  std::filesystem::create_directory(folder_.path("folder.npy"));
  expect(1, run + "--output C=folder.npy", "folder.npy");
  expect(1,
         "compile matmul.tile --shape A=2,3 --shape B=3,2 --device reference --dump-dir stages "
         "-o missing/x.stripe",
         "missing/x.stripe");
  // Nor is the result written if one of the stages cannot be.
  const std::string dump = "compile matmul.tile --shape A=2,3 --shape B=3,2 --device reference ";
  expect(1, dump + "--dump-dir a.npy/stages -o x.stripe", "a.npy/stages");
  expect(1, dump + "--dump-dir /proc/stages -o x.stripe", "/proc/stages");
  std::filesystem::create_directories(folder_.path("stages/01_lower.stripe"));
  expect(1, dump + "--dump-dir stages -o x.stripe", "01_lower.stripe");
  expect(2, run + "--output C=c.txt", "c.txt");
  expect(2, run + "--output C=c.npy --output C=c.npy", "are the same file, '/");
  expect(2, run + "--output X=c.npy", "'X'");
  expect(2, run + "--output CC=c.npy", "'CC'");
  expect(2, run + "--output c.npy", "NAME=VALUE");
  folder_.write("cube.tile",
                "function (A[M, L]) -> (C) {\n  C[i, j, k : M, L, 2] = +(A[i, j]), k < 2;\n}\n");
  // A result that no PNG can hold; an index that only a constraint bounds is an error of its own.
  folder_.write("wide.tile", "function (A[M, L]) -> (C) {\n  C[i : M] = +(A[i, j]);\n}\n");
  expect(1, "run wide.tile --device reference --input A=a.npy --output C=c.png",
         "cannot be written as PNG");
  if (::geteuid() != 0) {  // root may write everywhere
    std::filesystem::create_directory(folder_.path("locked"));
    ::chmod(folder_.path("locked").c_str(), 0500);
    expect(1, run + "--output C=locked/c.npy", "locked/c.npy");
  }
}

TEST_F(BadInput, AnOldResultSurvivesAFailure) {
  folder_.write("c.npy", "old");
  expect(1, "run matmul.tile --device reference --input A=a.npy --input B=a.npy --output C=c.npy",
         "L");
  EXPECT_EQ(folder_.read("c.npy"), "old");
}

TEST_F(BadInput, Selectors) {
  const std::string run = "run matmul.tile --input A=a.npy --input B=b.npy --device";
  for (const char* selector :
       {"", ":0", "reference:", "ref erence", "a/b", "reference,", "!!sim", "mem>=8", "auto:x",
        "reference, runs=3", "auto, deadline<=5", "reference, power<=3"}) {
    std::vector<std::string> command = words(run);
    command.push_back(selector);
    expect_words(2, command, "selector");
  }
  expect(2, run + " reference,runs=3", "changes nothing");
  expect(3, run + " reference,power<=3W", "nobody");
  expect(2, run + " mem>=8g", "did you mean 'G'?");
  expect(2, run + " referense,,sim", "character 11");
  expect(3, run + " mem>=4000T", "'mem>=4000T': it has");
  expect(3, run + " reference,!reference", "'!reference': it is excluded");
  expect(1, run + " @no_such_file", "no_such_file");
  expect(3, "show matmul.tile --shape A=2,3 --shape B=3,2 --device reference,mem>=4000T",
         "'mem>=4000T': it");
  folder_.write("devices.txt", "reference\n!!sim\n");
  expect(2, run + " @devices.txt", "devices.txt: device selector");
  expect(2, "devices --select mem>=8", "has no unit");
  expect_words(2, {"devices", "--select", ""}, "--select");
  expect(3, run + " nosuchplugin", "reference:0");
  expect(3, run + " referense", "did you mean 'reference'");
  expect(3, run + " reference:7", "no device matches");
  expect(3, run + " reference:zzz*", "no device matches");
  expect(3, "compile matmul.tile --shape A=2,3 --shape B=3,2 --device nosuchplugin -o x.stripe",
         "nosuchplugin");
}

TEST_F(BadInput, Names) {
  const std::string device = " --device reference ";
  expect(2, "run matmul.tile" + device + "--input a=a.npy --input B=b.npy", "no input 'a'");
  expect(2, "run matmul.tile" + device + "--input A=a.npy --input B=b.npy --input Z=b.npy",
         "no input 'Z'");
  expect(2, "run matmul.tile" + device + "--input A=a.npy --input B=b.npy --shape Z=2",
         "no input 'Z'");
  expect(1, "run matmul.tile" + device + "--input A=a.npy", "B[L, N]");
  expect(1, "run matmul.tile" + device + "--input A=a.npy --input B=random:1", "--shape B=L,N");
  expect(1, "run matmul.tile" + device + "--function nosuch --input A=a.npy --input B=b.npy",
         "nosuch");
  expect(1, "compile matmul.tile" + device + "--shape A=2,3 -o x.stripe", "B[L, N]");
  expect(2, "compile matmul.tile" + device + "--shape A=2,3 --shape b=3,2 -o x.stripe",
         "no input 'b'");
}

TEST_F(BadInput, Options) {
  const std::string run = "run matmul.tile --device reference ";
  expect(2, "", "Usage");
  expect(2, "frobnicate", "no verb 'frobnicate'");
  expect(2, "rnu matmul.tile", "did you mean 'run'");
  expect(2, run + "--frobnicate", "--frobnicate");
  expect(2, run + "--input A", "NAME=VALUE");
  expect(2, run + "--input =a.npy", "NAME=VALUE");
  expect(2, run + "--input A=a.txt", "a.txt");
  expect(2, run + "--input A=a.npy --input A=b.npy", "twice");
  expect(2, run + "--input A=random:x", "seed");
  expect(2, run + "--input A=random:1:fp23", "fp32");
  expect(2, run + "--shape A=2,x", "'x'");
  expect(2, run + "--shape A=2,-3", "'-3'");
  expect(2, run + "--shape A=2,3:float", "'float'");
  expect(2, run + "--check=most", "--check=most");
  expect(2, run + "--check=sample:0", "sample");
  expect(2, "opt", "FILE");
  expect(2, "opt x.stripe --set NUM", "NUM");
  expect(2, "opt x.stripe --stop-after tile", "--pipeline");
  expect(2, "opt x.stripe --explain autotil", "did you mean 'autotile'");
}

// An empty name is no option left out: scripts with a variable that is not set write such.
TEST_F(BadInput, EmptyNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"sim matmul.tile --shape A=2,3 --shape B=3,2", "--hw"},
      {"sim matmul.tile --shape A=2,3 --shape B=3,2", "--pipeline"},
      {"sim matmul.tile --shape A=2,3 --shape B=3,2", "--report"},
      {"sim --array 2x2", "--scalesim-topology"},
      {"opt x.stripe", "--hw"},
      {"opt x.stripe", "--pipeline"},
      {"opt x.stripe", "--repro-dir"},
      {"opt", "--run-repro"},
      {"reduce x.stripe --pipeline p.json", "--output"},
      {"compile matmul.tile --device reference -o x.stripe", "--dump-dir"},
      {"compile matmul.tile --device reference", "--output"}};
  for (const auto& [command, option] : cases) {
    std::vector<std::string> all = words(command);
    all.push_back(option);
    all.push_back("");
    expect_words(2, all, std::string(option) + ": the name of a file is empty");
  }
}

TEST_F(BadInput, StripeFiles) {
  expect(1, "opt nothing.stripe", "nothing.stripe");
  folder_.write("p.stripe", "hello");
  expect(1, "opt p.stripe", "p.stripe:1:");
  folder_.write("good.stripe",
                "stripe 1.0\n0: #program block [] (\n) {\n  0: #main block [] (\n  ) {\n  }\n}\n");
  folder_.write("pipeline.json",
                "{\"version\": 1, \"passes\": [{\"name\": \"x\", \"autotil\": {}}]}");
  expect(1, "opt good.stripe --pipeline pipeline.json", "autotile");
  folder_.write("broken.json", "{\"version\": 1,");
  expect(1, "opt good.stripe --pipeline broken.json", "broken.json:1:");
  expect(1, "opt good.stripe --hw broken.json", "broken.json:1:");
  folder_.write("hw.json", "{\"clock_mhz\": {{ CLOCK | default(1) }}}");
  folder_.write("steps.json", "[{\"unroll\": {\"max_points\": {{ POINTS | default(8) }}}}]");
  const std::string opt = "opt good.stripe --hw hw.json --pipeline steps.json ";
  expect(2, opt + "--set CLOKC=3",
         "no parameter 'CLOKC' in 'hw.json' or 'steps.json', did you mean 'CLOCK'?");
  expect(2, opt + "--set CLOCK=3 --set POINT=4", "did you mean 'POINTS'?");
  expect(2, opt + "--set hw=4", "no parameter 'hw'");
  expect(2, "opt good.stripe --hw hw.json --set POINTS=4", "no parameter 'POINTS' in 'hw.json'");
  expect(2, "opt good.stripe --set CLOCK=3", "--set CLOCK=… needs --hw or --pipeline");
}

}  // namespace
}  // namespace stria::end_to_end
