// SPDX-License-Identifier: Apache-2.0
// Numbers on the command line: each option refuses what is no number of its own, by its name, the
// value and the limits, as wrong use, before anything else happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Numbers : public testing::Test {
 protected:
  // `arguments` with one word more, "--option=VALUE"; an empty value is a word of its own.
  Ended with(const std::string& arguments, const std::string& option, const std::string& value) {
    std::vector<std::string> all = words(arguments);
    if (value.empty())
      all.insert(all.end(), {option, ""});
    else
      all.push_back(option + "=" + value);
    return folder_.stria(all);
  }
  Folder folder_;
};

struct Option {
  std::string arguments, option, limits;
  std::vector<std::string> legal, beyond;
};

const std::vector<Option> kOptions = {
    {"run p.tile --device reference",
     "--time-limit",
     "a number from 0 to 86400",
     {"0", "0.5", "86400", "8.64e4"},
     {"-1", "-0.5", "86400.5", "86401"}},
    {"run p.tile --device reference",
     "--tune",
     "a whole number from 0 to 1000",
     {"0"},
     {"-1", "1001", "1.5"}},
    {"compile p.tile --device reference --shape A=2 -o p.stripe",
     "--tune",
     "a whole number from 0 to 1000",
     {"0"},
     {"-1", "1001", "1.5"}},
    {"run p.tile --device reference",
     "--threads",
     "a whole number from 1 to 4096",
     {"1", "4096"},
     {"0", "-1", "4097", "1.5"}},
    {"devices", "--time-limit", "a number from 0.001 to 86400", {"60"}, {"0", "0.0009", "86401"}},
    {"doctor reference", "--time-limit", "a number from 0.001 to 86400", {"60"}, {"0", "-1"}},
    {"reduce p.stripe --test false",
     "--time-limit",
     "a number from 0.001 to 86400",
     {},
     {"0", "-1"}},
    {"reduce p.stripe --test false",
     "--seed",
     "a whole number from 0 to 9223372036854775807",
     {},
     {"-1", "9223372036854775808", "1.5"}},
};

TEST_F(Numbers, AreReadByOneRule) {
  folder_.write("p.tile", "function (A[N]) -> (R) { R = A + A; }");
  folder_.write("p.stripe", "");
  for (const Option& option : kOptions) {
    std::vector<std::string> refused = {"",
                                        "nan",
                                        "inf",
                                        "-inf",
                                        "1e400",
                                        "0x10",
                                        " 5",
                                        "5 ",
                                        "+5",
                                        "five",
                                        "5s",
                                        "1,5",
                                        "99999999999999999999"};
    refused.insert(refused.end(), option.beyond.begin(), option.beyond.end());
    for (const std::string& value : refused) {
      const Ended ended = with(option.arguments, option.option, value);
      EXPECT_EQ(ended.code, 2) << option.option << "=" << value << "\n" << ended.err;
      EXPECT_EQ(ended.out, "");
      EXPECT_THAT(ended.err,
                  HasSubstr(option.option + ": '" + value + "' is not " + option.limits));
    }
    for (const std::string& value : option.legal) {
      std::vector<std::string> all = words(option.arguments);
      if (all[0] == "run") all.insert(all.end(), {"--input", "A=random:1", "--shape", "A=2"});
      all.push_back(option.option + "=" + value);
      const Ended ended = folder_.stria(all);
      EXPECT_EQ(ended.code, 0) << option.option << "=" << value << "\n" << ended.err;
    }
  }
  EXPECT_THAT(folder_.files(), testing::Each(testing::Not(HasSubstr("repro"))));
}

// As a word of its own a negative number is still the option's.
TEST_F(Numbers, MayStandApartFromTheirOption) {
  folder_.write("p.tile", "function (A[N]) -> (R) { R = A + A; }");
  for (const char* option : {"--time-limit", "--tune", "--threads"}) {
    const Ended ended =
        folder_.stria(words(std::string("run p.tile --device reference ") + option + " -1"));
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, AllOf(HasSubstr(option), HasSubstr("-1"))) << option;
  }
}

TEST_F(Numbers, InsideOtherOptions) {
  folder_.write("p.tile", "function (A[N]) -> (R) { R = A + A; }");
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const Ended ended = folder_.stria(words(arguments));
    EXPECT_EQ(ended.code, 2) << arguments << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message)) << arguments;
  };
  const std::string run = "run p.tile --device reference --input A=random:1 ";
  for (const char* size : {"-1", "x", "1.5", "0x2", "nan", "1e2", "9223372036854775808"})
    refused(run + "--shape A=" + size, std::string("--shape A=") + size + ": a size: '" + size +
                                           "' is not a whole number from 0 to");
  refused(run + "--shape A=2,,3", "'' is not a whole number");
  for (const char* seed : {"-1", "x", "", "1.5", "0x2", "18446744073709551616"})
    refused(std::string("run p.tile --device reference --shape A=2 --input A=random:") + seed,
            std::string("the seed: '") + seed +
                "' is not a whole number from 0 to 18446744073709551615");
  for (const char* count : {"0", "-1", "x", "1.5", "nan", ""})
    refused(run + "--shape A=2 --check=sample:" + count, std::string("--check=sample:") + count +
                                                             ": '" + count +
                                                             "' is not a whole number from 1 to");
  for (const char* array : {"32", "0x3", "3x0", "-1x3", "3x", "x3", "3x3x3", "1.5x2"})
    refused(std::string("sim --scalesim-topology t.csv --array ") + array, "ROWSxCOLUMNS");
}

// A parameter says what it may be; slips are wrong use, or the file's, and leave nothing behind.
TEST_F(Numbers, OfParameters) {
  folder_.write("p.tile", "function (A[N]) -> (R) { R = A + A; }");
  for (const char* value : {"-1", "3", "x", "0.5", "", "nan", "1e400", "0x2", "true"})
    for (const char* command :
         {"run p.tile --device llvm_cpu --shape A=2 --input A=random:1 --set ",
          "compile p.tile --device llvm_cpu --shape A=2 -o p.stripe --set "}) {
      const Ended ended = folder_.stria(words(std::string(command) + "WINOGRAD=" + value));
      EXPECT_EQ(ended.code, 2) << value << ended.err;
      EXPECT_THAT(ended.err, AllOf(HasSubstr("passes/cpu.json:13:"), HasSubstr("'WINOGRAD' is "),
                                   HasSubstr("which is not 0, 2 or 4")))
          << value;
    }
  const std::string model = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";
  const Ended hw = folder_.stria(words("hw " + model + " --set NUM_SRAM=0"));
  EXPECT_EQ(hw.code, 1);
  EXPECT_THAT(hw.err,
              AllOf(HasSubstr("stripe_slides.json:4:"),
                    HasSubstr("'NUM_SRAM' is 0, which is not a whole number from 1 to 1024")));
  EXPECT_THAT(folder_.files(), testing::ElementsAre("p.tile"));
  EXPECT_THAT(
      folder_.stria(words("hw " + model)).out,
      HasSubstr("--set NAME=VALUE): name, default, legal values\n  CLOCK_MHZ      1000  a number "
                "from 1 to 100000\n"));
  EXPECT_THAT(folder_.stria(words("hw --device llvm_cpu")).out,
              AllOf(HasSubstr("passes/cpu.json' (--set NAME=VALUE)"),
                    HasSubstr("WINOGRAD     0     0, 2 or 4\n")));
}

}  // namespace
}  // namespace stria::end_to_end
