// SPDX-License-Identifier: Apache-2.0
// Each fault of planted_faults.txt is found, by the verifier or under one of 100 interleavings; the
// programs without them are right under all of these.
#include <gtest/gtest.h>

#include <sstream>

#include "device_programs.h"
#include "stria/base/file.h"
#include "stria/interp/explore.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::device_programs {
namespace {

const std::map<std::string, Sizes> kSmall = {
    {"gemm_hopper", {{"M", 128}, {"N", 8}, {"K", 256}, {"TILE_N", 8}, {"STAGES", 2}}},
    {"conv_semaphores", {{"H", 12}, {"W", 3}, {"CI", 2}, {"CO", 2}, {"TILE_H", 2}}}};

std::string small_text(const std::string& program) {
  auto made = make(program, kSmall.at(program));
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return made.ok() ? stripe::print(*made) : "";
}

struct Edit {
  std::string at, was;
  std::optional<std::string> is;
};
struct Fault {
  std::string name, program;
  std::vector<Edit> edits;
};

std::vector<Fault> faults() {
  std::vector<Fault> out;
  std::istringstream lines(read_file(path_of("planted_faults.txt")).value());
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    const std::string key = line.substr(0, colon), value = line.substr(colon + 2);
    if (key == "fault") out.push_back({value, "", {}});
    if (key == "program") out.back().program = value;
    if (key == "at") out.back().edits.push_back({value, "", std::nullopt});
    if (key == "was") out.back().edits.back().was = value;
    if (key == "is") out.back().edits.back().is = value;
  }
  return out;
}

void apply(const Edit& edit, std::string& text) {
  const size_t at = text.find(edit.at);
  ASSERT_NE(at, std::string::npos) << edit.at;
  const size_t was = text.find(edit.was, at);
  ASSERT_NE(was, std::string::npos) << edit.was;
  if (edit.is) {
    text.replace(was, edit.was.size(), *edit.is);
  } else {
    const size_t begin = text.rfind('\n', was);
    text.erase(begin, text.find('\n', was) - begin);
  }
}

TEST(PlantedFaults, TheProgramsAreRight) {
  for (const auto& [program, sizes] : kSmall) {
    auto made = make(program, sizes);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    auto found = interp::explore(*made, 20);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    EXPECT_TRUE(found->concurrent);
    EXPECT_FALSE(found->failing) << program << ", " << found->failing->text() << ": "
                                 << found->failure.message();
  }
}

TEST(PlantedFaults, AreAllFound) {
  const std::vector<Fault> all = faults();
  EXPECT_GE(all.size(), 40u);
  int64_t by_verifier = 0, races = 0;
  for (const Fault& fault : all) {
    std::string text = small_text(fault.program);
    for (const Edit& edit : fault.edits) apply(edit, text);
    auto program = stripe::parse({fault.program, text});
    ASSERT_TRUE(program.ok()) << fault.name << ": " << program.status().to_string();
    if (!stripe::verify(*program).ok()) {
      ++by_verifier;
      continue;
    }
    auto found = interp::explore(*program, 100);
    ASSERT_TRUE(found.ok()) << fault.name << ": " << found.status().to_string();
    EXPECT_TRUE(found->failing) << fault.program << ": " << fault.name;
    races += found->failure.message().starts_with("race");
    std::printf("%s: %s: %lld runs: %.140s\n", fault.program.c_str(), fault.name.c_str(),
                static_cast<long long>(found->runs), found->failure.message().c_str());
  }
  std::printf("%zu faults, %lld found by the verifier, %lld as races\n", all.size(),
              static_cast<long long>(by_verifier), static_cast<long long>(races));
}

}  // namespace
}  // namespace stria::device_programs
