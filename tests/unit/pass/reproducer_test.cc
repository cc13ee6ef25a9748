// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/reproducer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kProgram =
    "stripe 1.0\n0: #program block [] (\n) {\n  0: #main block [] (\n  ) {\n  }\n}\n";

Reproducer example() {
  Reproducer out;
  out.device = "cpu:0";
  out.fast_math = true;
  out.build = true;
  out.pipeline = R"([{"name": "a", "plugin_pass": {"pass": "b"}}])";
  out.hw = R"({"name": "m", "mem_units": {"DRAM": {"count": 2}}})";
  out.program = kProgram;
  out.failure = "internal: it broke\n\n  {\n\x1b[0m}";
  return out;
}

std::string failure(const std::string& text) {
  auto result = parse_reproducer({"f.stripe", text});
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? "" : result.status().message();
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Reproducer, ReadsBackWhatItWrote) {
  const std::string text = example().to_string();
  auto read = parse_reproducer({"f.stripe", text});
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->device, "cpu:0");
  EXPECT_TRUE(read->fast_math);
  EXPECT_FALSE(read->no_peepholes);
  EXPECT_FALSE(read->verify_each);
  EXPECT_TRUE(read->build);
  EXPECT_EQ(read->written_by, stria_version());
  EXPECT_EQ(read->pipeline, R"([{"name":"a","plugin_pass":{"pass":"b"}}])");
  EXPECT_EQ(read->hw, R"({"mem_units":{"DRAM":{"count":2}},"name":"m"})");
  // All of it is a Stripe file, and only the program in it counts.
  auto program = stripe::parse({"f.stripe", read->program});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  EXPECT_EQ(stripe::print(*program), stripe::print(stripe::parse({"p", kProgram}).value()));
  // Only a failure without peepholes says so.
  EXPECT_EQ(text.find("no_peepholes"), std::string::npos);
  Reproducer plain = example();
  plain.no_peepholes = true;
  EXPECT_TRUE(parse_reproducer({"f.stripe", plain.to_string()})->no_peepholes);
  // Editors that end lines otherwise do no harm.
  std::string dos;
  for (char c : text) dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_TRUE(parse_reproducer({"f.stripe", dos}).ok());
}

TEST(Reproducer, TheHeadSaysHowToSeeItAgain) {
  EXPECT_THAT(example().to_string(),
              StartsWith("// stria reproducer 1\n// To see it again: stria run --run-repro FILE\n"
                         "//   internal: it broke\n//     {\n//   ?[0m}\n// {\n"));
  Reproducer generic = example();
  generic.build = false;
  generic.pipeline = R"([{"name": "plugin_pass", "prune": {}}])";
  EXPECT_FALSE(generic.needs_device());
  EXPECT_THAT(generic.to_string(), HasSubstr("stria opt --run-repro FILE"));
}

TEST(Reproducer, DamageIsNamedWithItsPlace) {
  const std::string good = example().to_string();
  EXPECT_THAT(failure(""), HasSubstr("f.stripe"));
  EXPECT_THAT(failure(kProgram), HasSubstr("f.stripe:1:1: error: this is no reproducer: its first "
                                           "line is '// stria reproducer 1'"));
  EXPECT_THAT(failure(with(good, "// stria reproducer 1", "// stria reproducer 2")),
              HasSubstr("f.stripe:1:1: error: this is no reproducer"));
  EXPECT_THAT(failure(with(good, "// {\n", "//\n")), HasSubstr("the head has no JSON"));
  EXPECT_THAT(failure(with(good, "// }\n", "//\n")),
              HasSubstr("the head's JSON has no end: a line '// }'"));
  EXPECT_THAT(failure("// stria reproducer 1\n// {\n"), HasSubstr("does not end"));
  EXPECT_THAT(failure(with(good, "\"fast_math\": true", "\"fast_math\": tru")),
              HasSubstr("f.stripe:9:"));
  EXPECT_THAT(failure(with(good, "\"fast_math\"", "\"fast_mth\"")),
              HasSubstr("f.stripe: /fast_mth: unknown option, did you mean 'fast_math'?"));
  EXPECT_THAT(failure(with(good, "\"build\": true", "\"build\": 1")),
              HasSubstr("/build: must be true or false, this is 1"));
  EXPECT_THAT(failure(with(good, "\"device\": \"cpu:0\"", "\"device\": \"\"")),
              HasSubstr("/build: needs a /device"));
  EXPECT_THAT(failure(with(good, "\"pipeline\": [", "\"pipelines\": [")),
              HasSubstr("/pipelines: unknown option, did you mean 'pipeline'?"));
  EXPECT_THAT(failure("// stria reproducer 1\n// {\n//   \"hw\": {}\n// }\nstripe 1.0\n"),
              HasSubstr("f.stripe: /pipeline: is missing"));
  EXPECT_THAT(failure(with(good, "\"hw\": {", "\"hw\": 3, \"x\": {")),
              HasSubstr("/hw: must be an object"));
  EXPECT_THAT(failure(std::string("\0\0", 2)), HasSubstr("not a text file"));
}

}  // namespace
}  // namespace stria
