// SPDX-License-Identifier: Apache-2.0
// Every Stripe file of the tests goes through the reader: legal programs come back whole, wrong
// ones with a message, and whatever is in a file, nothing crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "print_views.h"
#include "stria/sdk/reader.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

namespace fs = std::filesystem;
const fs::path kTests = STRIA_SOURCE_DIR "/tests";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string printed(const sdk::ReaderProgram& program) {
  std::string out;
  print_views(
      &*program,
      [](void* state, const char* text) { static_cast<std::string*>(state)->append(text); }, &out);
  return out;
}

struct Counts {
  int read = 0, refused = 0, unproved = 0, kernels = 0, in_c = 0;
  std::vector<std::string> without_a_word;  // files in which nothing was wrong
};

// Builds every kernel and prints it.
void build_all(const sdk::ReaderProgram& program, Counts& counts) {
  sdk::CSource source;
  ASSERT_FALSE(source.create());
  for (uint64_t k = 0; k < program->kernel_count; ++k) {
    ++counts.kernels;
    sdk::ReaderTree tree;
    sdk::ReaderError error = sdk::build_tree(program, k, &tree);
    if (!error) {
      std::string text;
      EXPECT_FALSE(sdk::print(tree, &text));
      EXPECT_FALSE(text.empty());
      error = source.add(tree);
    }
    if (error)
      EXPECT_NE(error.message().find("kernel '"), std::string_view::npos) << error.message();
    else
      ++counts.in_c;
  }
}

void feed(const fs::path& path, Counts& counts) {
  SCOPED_TRACE(path.string());
  const std::string text = read(path);
  const std::string name = path.filename();
  const Result<stripe::Program> whole = stripe::parse({name, text});
  sdk::ReaderProgram program;
  if (sdk::ReaderError error = sdk::read_program(name, text, &program)) {
    ++counts.refused;
    EXPECT_GT(error.message().size(), 10u);
    EXPECT_EQ(program.handle(), nullptr);
    // A mistake in the text's form has its place.
    if (!whole.ok() && whole.status().message().find(": error:") != std::string::npos) {
      EXPECT_EQ(error.place().substr(0, name.size() + 1), name + ":") << error.message();
    }
    return;
  }
  ++counts.read;
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(check_views(&*program), nullptr);
  const Result<stripe::Program> again = stripe::parse({"printed", printed(program)});
  ASSERT_TRUE(again.ok()) << again.status().message() << printed(program);
  EXPECT_TRUE(*again == *whole) << stripe::print(*again) << stripe::print(*whole);
  if (sdk::ReaderError error = sdk::verify(program)) {
    ++counts.unproved;
    EXPECT_FALSE(error.message().empty());
    return;
  }
  const int left = counts.kernels - counts.in_c;
  build_all(program, counts);
  if (counts.kernels - counts.in_c == left) counts.without_a_word.push_back(name);
}

Counts feed_folder(const fs::path& folder, const std::string& extension) {
  Counts counts;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == extension)
      feed(entry.path(), counts);
  std::printf("%s: %d read, %d refused, %d break rules about accesses; %d kernels, %d in C\n",
              folder.c_str(), counts.read, counts.refused, counts.unproved, counts.kernels,
              counts.in_c);
  return counts;
}

TEST(ReaderFiles, WrongPrograms) {
  const Counts counts = feed_folder(kTests / "invalid/stripe", ".stripe");
  EXPECT_GT(counts.refused, 100);
  EXPECT_GT(counts.unproved, 20);
  // Without the hardware model, which is the host's, these are right.
  EXPECT_THAT(counts.without_a_word,
              testing::UnorderedElementsAre("pipeline_deeper_than_all_units.stripe",
                                            "pipeline_deeper_than_its_unit.stripe",
                                            "pipeline_deeper_than_the_unit_around.stripe",
                                            "unit_beyond_the_model.stripe", "unknown_unit.stripe"));
}

TEST(ReaderFiles, CorpusOfTheFuzzer) {
  const Counts counts = feed_folder(kTests / "fuzz/corpus/stripe", "");
  EXPECT_GT(counts.read, 80);
  EXPECT_GT(counts.refused, 20);
  EXPECT_GT(counts.in_c, 50);
}

TEST(ReaderFiles, ProgramsForDevices) {
  const Counts counts = feed_folder(kTests / "golden/device", ".stripe");
  EXPECT_GT(counts.read, 8);
  EXPECT_EQ(counts.refused, 0);
}

}  // namespace
}  // namespace stria
