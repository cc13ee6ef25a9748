// SPDX-License-Identifier: Apache-2.0
#include "array_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "../lacked_types.h"

namespace stria::end_to_end {
namespace {

std::string path_of(const std::string& folder) {
  return std::string(STRIA_SOURCE_DIR "/tests/end_to_end/") + folder;
}

}  // namespace

void run_cases(const std::string& folder, const std::vector<Case>& cases,
               const std::string& device) {
  ASSERT_FALSE(cases.empty());
  LackedTypes lacked;
  for (const Case& c : cases) {
    ASSERT_FALSE(c.expected.empty()) << c.file;
    const Folder work;  // its own, so that no output is another case's
    std::vector<std::string> command = {"run", path_of(folder) + "/" + c.file + ".tile", "--device",
                                        device, "--check"};
    for (const auto& [name, array] : c.inputs) {
      work.write(name + ".npy", npy_bytes(array));
      command.insert(command.end(), {"--input", name + "=" + name + ".npy"});
    }
    for (const auto& [name, array] : c.expected)
      command.insert(command.end(), {"--output", name + "=out_" + name + ".npy"});
    const Ended ended = work.stria(command);
    if (ended.code != 0 && lacked.refused(ended.err)) continue;
    ASSERT_EQ(ended.code, 0) << c.file << "\n" << ended.err << ended.out;
    lacked.ran();
    for (const auto& [name, expected] : c.expected) {
      const Array got = parse_npy_bytes(work.read("out_" + name + ".npy"));
      EXPECT_EQ(got.descr, expected.descr) << c.file << " " << name;
      ASSERT_EQ(got.sizes, expected.sizes) << c.file << " " << name;
      ASSERT_EQ(got.values.size(), expected.values.size()) << c.file << " " << name;
      for (size_t i = 0; i < expected.values.size(); ++i)
        ASSERT_NEAR(got.values[i], expected.values[i], c.tolerance * std::fabs(expected.values[i]))
            << c.file << " " << name << " element " << i;
    }
  }
  lacked.expect_both();
}

void expect_a_case_of_every_program(const std::string& folder, const std::vector<Case>& cases) {
  std::set<std::string> files;
  for (const Case& c : cases) files.insert(c.file);
  size_t programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_of(folder)))
    if (entry.path().extension() == ".tile") {
      EXPECT_TRUE(files.count(entry.path().stem())) << entry.path();
      ++programs;
    }
  EXPECT_EQ(programs, files.size());
}

}  // namespace stria::end_to_end
