// SPDX-License-Identifier: Apache-2.0
// The files that a command writes: none is lost, none is left half-written, none is left behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>
#include <utility>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class OutputFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("two.tile", "function (A[M, L]) -> (R, S) {\n  R = A + 1;\n  S = A * 2;\n}\n");
    folder_.write("a.npy", npy_bytes({"<f4", {2, 3}, {1, 2, 3, 4, 5, 6}}));
    fs::create_directory(at("d"));
  }
  fs::path at(const std::string& name) const { return folder_.path(name); }
  Ended run(const std::string& more) const {
    return folder_.stria(words("run two.tile --device reference --input A=a.npy " + more));
  }
  // Nothing is done: the folder is as it was.
  void expect_refused(int code, const std::string& command, const std::string& message,
                      const std::function<void()>& first = {}) const {
    const auto before = folder_.files();
    const Ended ended = folder_.stria(words(command), first);
    EXPECT_EQ(ended.code, code) << command << "\n" << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message)) << command;
    EXPECT_EQ(ended.out, "") << command;
    EXPECT_EQ(folder_.files(), before) << command;
  }
  Folder folder_;
};

TEST_F(OutputFiles, TwoResultsInOneFileAreRefused) {
  folder_.write("old.npy", "old");
  fs::create_symlink("old.npy", at("soft.npy"));
  fs::create_hard_link(at("old.npy"), at("hard.npy"));
  fs::create_symlink("none.npy", at("dangling.npy"));
  fs::create_directory_symlink("d", at("way"));
  const std::string start = "run two.tile --device reference --input A=a.npy ";
  const std::pair<const char*, const char*> same[] = {
      {"r.npy", "r.npy"},       {"d/r.npy", "d/./r.npy"},    {"d/r.npy", "way/r.npy"},
      {"r.npy", "d/../r.npy"},  {"old.npy", "soft.npy"},     {"old.npy", "hard.npy"},
      {"soft.npy", "hard.npy"}, {"none.npy", "dangling.npy"}};
  for (const auto& [first, second] : same)
    expect_refused(2, start + "--output R=" + first + " --output S=" + second,
                   std::string("--output R '") + first + "' and --output S '" + second +
                       "' are the same file, '/");
  EXPECT_EQ(folder_.read("old.npy"), "old");
}

// In the command's process these files stand behind descriptors 3 and 4.
std::function<void()> behind_3_and_4(const char* third, const char* fourth) {
  return [=] {
    const int files[] = {::open(third, O_RDWR), ::open(fourth, O_RDWR)};
    for (int i : {0, 1})
      if (files[i] < 0 || ::fcntl(files[i], F_DUPFD, 100 + i) < 0) ::_exit(125);
    for (int i : {0, 1}) ::dup2(100 + i, 3 + i);
  };
}

TEST_F(OutputFiles, TwoResultsInOneFileBehindADescriptorAreRefused) {
  folder_.write("s.npy", "old");
  folder_.write("t.npy", "old");
  fs::create_symlink("/dev/fd/3", at("third.npy"));
  fs::create_symlink("/proc/self/fd/4", at("fourth.npy"));
  fs::create_hard_link(at("s.npy"), at("hard.npy"));
  const std::string start = "run two.tile --device reference --input A=";
  const std::pair<const char*, const char*> same[] = {{"third.npy", "s.npy"},
                                                      {"hard.npy", "third.npy"},
                                                      {"third.npy", "fourth.npy"},
                                                      {"fourth.npy", "s.npy"}};
  for (const auto& [first, second] : same)
    expect_refused(2, start + "a.npy --output R=" + first + " --output S=" + second,
                   std::string("--output R '") + first + "' and --output S '" + second +
                       "' are the same file, '" + at("").string(),
                   behind_3_and_4("s.npy", "s.npy"));
  expect_refused(2, start + "fourth.npy --output R=third.npy",
                 "--output R 'third.npy' is the same file as --input A 'fourth.npy', which is read",
                 behind_3_and_4("a.npy", "a.npy"));
  EXPECT_EQ(folder_.read("s.npy"), "old");
  for (const auto& [third, fourth] : {std::pair{"s.npy", "t.npy"}, {"/dev/null", "/dev/null"}}) {
    const Ended ended =
        folder_.stria(words(start + "a.npy --output R=third.npy --output S=fourth.npy"),
                      behind_3_and_4(third, fourth));
    EXPECT_EQ(ended.code, 0) << third << ended.err;
  }
  EXPECT_EQ(parse_npy_bytes(folder_.read("s.npy")).values[0], 2);
  EXPECT_EQ(parse_npy_bytes(folder_.read("t.npy")).values[1], 4);
}

TEST_F(OutputFiles, AnOutputThatIsReadIsRefused) {
  fs::create_symlink("a.npy", at("b.npy"));
  fs::create_hard_link(at("a.npy"), at("c.npy"));
  const std::string start = "run two.tile --device reference --input A=a.npy --output R=";
  for (const char* name : {"a.npy", "./a.npy", "b.npy", "c.npy"})
    expect_refused(2, start + name,
                   std::string("--output R '") + name +
                       "' is the same file as --input A 'a.npy', which is read");
  const std::string compile = "compile two.tile --device reference --shape A=2,3 ";
  expect_refused(2, compile + "-o d/../two.tile",
                 "--output 'd/../two.tile' is the same file as PROG 'two.tile', which is read");
  // The names in a folder are known late, and still nothing is lost.
  fs::create_hard_link(at("two.tile"), at("d/00_two.tile"));
  const Ended names = folder_.stria(words(compile + "--dump-dir e -o e.stripe"));
  ASSERT_EQ(names.code, 0) << names.err;
  std::string stage;
  for (const std::string& name : folder_.files())
    if (name.starts_with("e/00")) stage = name.substr(2);
  fs::create_hard_link(at("two.tile"), at("f.tile"));
  ASSERT_NE(stage, "");
  fs::remove(at("d/00_two.tile"));
  fs::create_hard_link(at("two.tile"), at("d/" + stage));
  expect_refused(2, compile + "--dump-dir d -o x.stripe",
                 "--dump-dir 'd/" + stage + "' is the same file as PROG 'two.tile'");
  expect_refused(2, compile + "--dump-dir e -o e/" + stage,
                 "--output 'e/" + stage + "' and --dump-dir 'e/" + stage + "' are the same file");
  folder_.write("report.json", "{}");
  expect_refused(2, "sim two.tile --shape A=2,3 --hw report.json --report .",
                 "--report './report.json' is the same file as --hw 'report.json', which is read");
  folder_.write("p.stripe",
                "stripe 1.0\n0: #program block [] (\n) {\n  0: #main block [] (\n  ) {\n  }\n}\n");
  folder_.write("steps.json", "[]");
  expect_refused(2, "reduce p.stripe --pipeline steps.json -o ./p.stripe",
                 "--output './p.stripe' is the same file as FILE 'p.stripe', which is read");
}

TEST_F(OutputFiles, WhatCannotBeWrittenIsSaidBeforeTheWork) {
  folder_.write("file", "x");
  folder_.write("fails.json", "[{\"autotile\": {}}]");
  folder_.write("p.stripe",
                "stripe 1.0\n0: #program block [] (\n) {\n  0: #main block [] (\n  ) {\n  }\n}\n");
  const std::string compile = "compile two.tile --device reference --shape A=2,3 ";
  expect_refused(1, compile + "-o none/x.stripe", "cannot write 'none/x.stripe': No such file");
  expect_refused(1, compile + "-o d", "cannot write 'd': it is a folder");
  expect_refused(1, compile + "-o d/", "cannot write 'd/': it is a folder");
  expect_refused(1, compile + "--dump-dir file/d -o x.stripe", "cannot make the folder 'file/d'");
  expect_refused(1, "sim two.tile --shape A=2,3 --report file", "cannot make the folder 'file'");
  expect_refused(1, "reduce p.stripe --pipeline fails.json -o none/x", "cannot write 'none/x'");
}

TEST_F(OutputFiles, ALinkToNothingIsWrittenThroughAndACircleIsRefused) {
  fs::create_symlink("d/result.npy", at("r.npy"));
  EXPECT_EQ(run("--output R=r.npy").code, 0);
  EXPECT_TRUE(fs::is_symlink(at("r.npy")));
  EXPECT_EQ(parse_npy_bytes(folder_.read("d/result.npy")).values[0], 2);
  fs::create_symlink("y.npy", at("x.npy"));
  fs::create_symlink("x.npy", at("y.npy"));
  expect_refused(1, "run two.tile --device reference --input A=a.npy --output R=x.npy",
                 "cannot write 'x.npy': its links lead in a circle");
  fs::create_symlink("none/z.npy", at("z.npy"));
  expect_refused(1, "run two.tile --device reference --input A=a.npy --output R=z.npy",
                 "cannot write 'z.npy' (a link to 'none/z.npy'): No such file");
}

TEST_F(OutputFiles, SeveralFilesAreFormattedAllOrNone) {
  folder_.write("one.tile", "function (A[N]) -> (R) { R = A; }\n");
  const std::string before = folder_.read("one.tile"), two = folder_.read("two.tile");
  fs::create_directory(at("sub"));
  fs::create_symlink("../sub/none/x.tile", at("sub/three.tile"));
  expect_refused(1, "fmt -i one.tile sub/three.tile", "three.tile");
  EXPECT_EQ(folder_.read("one.tile"), before);
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  expect_refused(2, "fmt -i one.tile pipe", "-i: 'pipe' is no file that could be rewritten");
  fs::create_symlink("one.tile", at("same.tile"));
  EXPECT_EQ(folder_.stria(words("fmt -i one.tile same.tile ./one.tile two.tile")).code, 0);
  EXPECT_EQ(folder_.read("one.tile"), "function (A[N]) -> (R) {\n  R = A;\n}\n");
  EXPECT_EQ(folder_.read("two.tile"), two);
}

// A run that has computed its results and made their files, and that waits for the reader of a
// pipe.
class Interrupted : public OutputFiles {
 protected:
  void SetUp() override {
    OutputFiles::SetUp();
    ASSERT_EQ(::mkfifo(at("pipe.npy").c_str(), 0600), 0);
    reader_ = ::open(at("pipe.npy").c_str(), O_RDONLY | O_NONBLOCK);
    before_ = folder_.files();
  }
  void TearDown() override { ::close(reader_); }
  pid_t start_and_wait() const {
    const pid_t child =
        folder_.start(words("run two.tile --device reference --input A=random:1 --shape A=300,300 "
                            "--output R=r.npy --output S=pipe.npy"));
    for (int i = 0; i < 2000 && folder_.files().size() < before_.size() + 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return child;
  }
  int reader_ = -1;
  std::vector<std::string> before_;
};

TEST_F(Interrupted, ASignalLeavesNoFile) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const pid_t child = start_and_wait();
    EXPECT_GT(folder_.files().size(), before_.size());
    ::kill(child, number);
    const Ended ended = folder_.end(child);
    EXPECT_EQ(ended.signal, number);
    EXPECT_EQ(folder_.files(), before_) << number;
  }
}

TEST_F(Interrupted, WhatAKilledRunLeftIsRemovedByTheNext) {
  const pid_t child = start_and_wait();
  ::kill(child, SIGKILL);
  EXPECT_EQ(folder_.end(child).signal, SIGKILL);
  EXPECT_GT(folder_.files().size(), before_.size());
  folder_.write("r.npy.0123456789abcdef", "mine");
  EXPECT_EQ(run("--output R=r.npy").code, 0);
  EXPECT_THAT(folder_.files(),
              ElementsAre("a.npy", "pipe.npy", "r.npy", "r.npy.0123456789abcdef", "two.tile"));
}

}  // namespace
}  // namespace stria::end_to_end
