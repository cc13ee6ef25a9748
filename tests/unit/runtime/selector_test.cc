// SPDX-License-Identifier: Apache-2.0
// Device selectors: what they say as data, their canonical text, and what is wrong with others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "stria/runtime/pick/device_selector.h"

namespace stria {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = SelectorTerm::Kind;

DeviceSelector parsed(std::string_view text) {
  Result<DeviceSelector> out = parse_device_selector(text);
  EXPECT_TRUE(out.ok()) << text << ": " << out.status().message();
  return out.ok() ? *out : DeviceSelector();
}

std::string error_of(std::string_view text) {
  const Result<DeviceSelector> out = parse_device_selector(text);
  EXPECT_FALSE(out.ok()) << "'" << text << "' is " << (out.ok() ? out->to_string() : "");
  if (out.ok()) return "";
  EXPECT_EQ(out.status().code(), StatusCode::invalid_argument) << text;
  EXPECT_THAT(out.status().message(), AllOf(HasSubstr("selector"), Not(HasSubstr("\n"))));
  return out.status().message();
}

TEST(Selector, Names) {
  DeviceSelector plugin = parsed("llvm_cpu");
  ASSERT_EQ(plugin.terms.size(), 1u);
  EXPECT_EQ(plugin.terms[0].plugin, "llvm_cpu");
  EXPECT_EQ(plugin.terms[0].device, "");
  EXPECT_FALSE(plugin.terms[0].number);
  EXPECT_FALSE(plugin.automatic);
  EXPECT_TRUE(plugin.is_pinned());
  EXPECT_EQ(parsed("a-b:17").terms[0].number, 17u);
  EXPECT_EQ(parsed("gpu:Acme *: rev B").terms[0].device, "Acme *: rev B");
  EXPECT_EQ(parsed("sim:*eyeriss*").terms[0].device, "*eyeriss*");
  EXPECT_EQ(parsed("*:*radeon*").terms[0].plugin, "*");
  // The letters of UTF-8 are letters.
  EXPECT_EQ(parsed("gpu:Größe Ω*").terms[0].device, "Größe Ω*");
  // No number begins so: it is a name.
  EXPECT_EQ(parsed("vulkan:00000000").terms[0].device, "00000000");
}

TEST(Selector, IsolatedHoldsForAll) {
  EXPECT_TRUE(parsed("isolated:acme:1").isolated);
  EXPECT_EQ(parsed("isolated:acme:1").terms[0].number, 1u);
  EXPECT_TRUE(parsed("isolated:auto").automatic);
  EXPECT_EQ(parsed("isolated:a, isolated:b").to_string(), "isolated:a,b");
  EXPECT_THAT(error_of("a, isolated:b"), HasSubstr("stands in front of it"));
  EXPECT_THAT(error_of("isolated:"), HasSubstr("nothing behind 'isolated:'"));
  EXPECT_THAT(error_of("isolated:isolated:a"), HasSubstr("stands once"));
  EXPECT_THAT(error_of("!isolated:a"), HasSubstr("stands once"));
  error_of("isolated");
  error_of("isolated::0");
}

TEST(Selector, Lists) {
  const DeviceSelector list = parsed("opencl, vulkan:1 ,llvm_cpu:*zen*");
  EXPECT_EQ(list.terms.size(), 3u);
  EXPECT_FALSE(list.automatic);
  EXPECT_FALSE(list.is_pinned());
  EXPECT_THAT(list.plugins(), ElementsAre("opencl", "vulkan", "llvm_cpu"));
  EXPECT_THAT(parsed("a,a:1,a").plugins(), ElementsAre("a"));
  EXPECT_THAT(parsed("a,*").plugins(), IsEmpty());
  EXPECT_THAT(parsed("!a").plugins(), IsEmpty());
}

TEST(Selector, WithoutNamesTheBestIsMeant) {
  for (const char* text : {"auto", "!sim", "mem>=8G", "real", "runs=3", "kind:gpu, !vulkan"})
    EXPECT_TRUE(parsed(text).automatic) << text;
  EXPECT_TRUE(parsed("auto, opencl, vulkan").automatic);
  EXPECT_FALSE(parsed("opencl, mem>=8G").automatic);
}

TEST(Selector, Conditions) {
  const DeviceSelector all =
      parsed("mem>=8G, !dtype:bf16|fp4, kind:gpu|accel*, vendor = *intel*, !real, mem < 1.5TB");
  ASSERT_EQ(all.terms.size(), 6u);
  EXPECT_EQ(all.terms[0].kind, Kind::memory);
  EXPECT_EQ(all.terms[0].comparison, Comparison::at_least);
  EXPECT_EQ(all.terms[0].bytes, uint64_t{8} << 30);
  EXPECT_EQ(all.terms[1].kind, Kind::type);
  EXPECT_TRUE(all.terms[1].negated);
  EXPECT_THAT(all.terms[1].types, ElementsAre(DataType::bf16, DataType::fp4));
  EXPECT_THAT(all.terms[2].patterns, ElementsAre("gpu", "accel*"));
  EXPECT_EQ(all.terms[3].kind, Kind::vendor);
  EXPECT_THAT(all.terms[3].patterns, ElementsAre("*intel*"));
  EXPECT_EQ(all.terms[4].kind, Kind::real);
  EXPECT_TRUE(all.terms[4].negated);
  EXPECT_EQ(all.terms[5].bytes, uint64_t{1'500'000'000'000});
}

TEST(Selector, Quantities) {
  const auto bytes = [](const char* text) {
    return parsed(std::string("mem>=") + text).terms[0].bytes;
  };
  EXPECT_EQ(bytes("0B"), 0u);
  EXPECT_EQ(bytes("4096B"), 4096u);
  EXPECT_EQ(bytes("2K"), 2048u);
  EXPECT_EQ(bytes("2KB"), 2000u);
  EXPECT_EQ(bytes("0.5MiB"), 524288u);
  EXPECT_EQ(bytes("1e3 GB"), 1'000'000'000'000u);
  EXPECT_EQ(bytes("18446744073709551615B"), UINT64_MAX);
  EXPECT_EQ(bytes("16777215T"), uint64_t{16777215} << 40);
  EXPECT_DOUBLE_EQ(*parsed("deadline<=5ms").deadline_s, 0.005);
  EXPECT_DOUBLE_EQ(*parsed("deadline:200µs").deadline_s, 0.0002);
  EXPECT_DOUBLE_EQ(*parsed("deadline=1.5h").deadline_s, 5400);
  EXPECT_DOUBLE_EQ(*parsed("power<=1.2kW").power_w, 1200);
  EXPECT_EQ(*parsed("runs=1000").runs, 1000u);
  for (const char* text : {"mem>=8",
                           "mem>=G",
                           "mem>=",
                           "mem",
                           "mem>=-1G",
                           "mem>=nanG",
                           "mem>=infG",
                           "mem>=0x10G",
                           "mem>=8 8G",
                           "mem>=18446744073709551616B",
                           "mem>=99999999999999999999999999G",
                           "mem>=1e300G",
                           "mem>=16777216T",
                           "mem>=8g",
                           "mem>=8GHz",
                           "mem>=8Ω",
                           "mem=8G",
                           "mem>>8G",
                           "mem:>8G",
                           "deadline=5",
                           "deadline=0s",
                           "deadline=-1s",
                           "deadline<=1e18s",
                           "deadline>5ms",
                           "deadline<5ms",
                           "power=25",
                           "power<=0W",
                           "power>=1W",
                           "power<=25w",
                           "runs=0",
                           "runs=1.5",
                           "runs=-1",
                           "runs<=5",
                           "runs=99999999999999999999",
                           "runs=1k",
                           "runs=",
                           "runs"})
    error_of(text);
  EXPECT_THAT(error_of("mem>=8g"), HasSubstr("'g' is no unit, did you mean 'G'?"));
  EXPECT_THAT(error_of("mem>=8"), AllOf(HasSubstr("character 6"), HasSubstr("'8' has no unit")));
  EXPECT_THAT(error_of("mem"), AllOf(HasSubstr("mem>=8G"), HasSubstr("quote the selector")));
  EXPECT_THAT(error_of("mem=8G"), HasSubstr("neither at least nor at most"));
}

TEST(Selector, ObjectivesAndLimitsAreCarriedAndRefused) {
  const DeviceSelector all = parsed("auto:first-result, runs=7, deadline<=2s, power<=40W, opencl");
  EXPECT_EQ(all.objective, Objective::first_result);
  EXPECT_TRUE(all.automatic);
  EXPECT_EQ(all.runs, 7u);
  const Status refused = check_can_be_kept(all);
  EXPECT_EQ(refused.code(), StatusCode::unsupported);
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("'auto:first-result', 'runs=7', 'deadline<=2s', 'power<=40W'"),
                    HasSubstr("leave them out")));
  for (const char* text : {"auto:latency", "auto:throughput", "auto:energy", "auto:first-result",
                           "opencl, runs=1", "opencl:0, deadline=1ms", "power=1W"})
    EXPECT_EQ(check_can_be_kept(parsed(text)).code(), StatusCode::unsupported) << text;
  for (const char* text : {"auto", "opencl", "mem>=8G, !sim"})
    EXPECT_TRUE(check_can_be_kept(parsed(text)).ok()) << text;
  EXPECT_THAT(error_of("auto:latncy"), HasSubstr("did you mean 'latency'?"));
  for (const char* text : {"auto:", "auto:0", "auto=latency", "auto, auto", "auto, auto:energy",
                           "!auto", "!auto:energy", "!runs=1", "runs=1, runs=1",
                           "deadline=1s, deadline=2s", "power=1W, power=1W", "real:", "real>=1"})
    error_of(text);
}

TEST(Selector, Quotes) {
  EXPECT_EQ(parsed("vulkan:\"llvmpipe (LLVM 15, 256 bits)\"").terms[0].device,
            "llvmpipe (LLVM 15, 256 bits)");
  EXPECT_EQ(parsed(R"(gpu:"a, b"*)").terms[0].device, "a, b*");
  EXPECT_EQ(parsed(R"(gpu:" x ")").terms[0].device, " x ");
  EXPECT_EQ(parsed(R"(gpu:"""")").terms[0].device, "\"");
  EXPECT_EQ(parsed(R"(gpu:"*")").terms[0].device, "[*]");
  EXPECT_EQ(parsed(R"(gpu:"17")").terms[0].device, "17");
  EXPECT_FALSE(parsed(R"(gpu:"17")").terms[0].number);
  // Plugins whose ids are words of the grammar.
  EXPECT_EQ(parsed(R"("auto":0)").terms[0].plugin, "auto");
  EXPECT_EQ(parsed(R"("kind":gpu)").terms[0].kind, Kind::device);
  EXPECT_THAT(parsed(R"(kind:"a|b"|c)").terms[0].patterns, ElementsAre("a|b", "c"));
  for (const char* text :
       {"\"", "gpu:\"x", "\"\"", "a,\"\"", "gpu:\"\n\"", "\"a b\"", "\"*\"", "\"mem\">=8G"})
    error_of(text);
}

TEST(Selector, FilesHaveLinesAndComments) {
  const DeviceSelector file = parsed(
      "# what this machine has\n"
      "opencl\n"
      "  # none of these\r\n"
      "!sim, !kind:software,\n"
      "\n"
      "gpu:*#1*\r\n"
      "mem >= 2G\n\n");
  EXPECT_EQ(file.to_string(), "opencl,!sim,!kind:software,gpu:*#1*,mem>=2G");
  EXPECT_THAT(error_of("opencl\n,\n,vulkan"), HasSubstr("line 3, character 1: there is no term"));
  EXPECT_THAT(error_of("# nothing\n\n"), HasSubstr("is empty"));
}

TEST(Selector, MalformedTextsSayWhereAndWhatWasNear) {
  for (const char* text : {"",
                           " ",
                           "\n",
                           ",",
                           ",,",
                           "a,",
                           ",a",
                           "a,,b",
                           ":",
                           ":0",
                           "a:",
                           "a b",
                           "a/b:0",
                           "a:-1",
                           "!",
                           "! ",
                           "!!a",
                           "! !a",
                           "!!!!!!!!a",
                           "a:99999999999",
                           "a:4294967296",
                           "ä",
                           "mem≥8G",
                           "a\x01",
                           "a\x1b[31m",
                           "a:\x7f",
                           "kind:",
                           "kind:|",
                           "kind:a||b",
                           "kind>=a",
                           "dtype:",
                           "dtype:float",
                           "dtype:bf16|",
                           "dtype:bf16|fp",
                           "size>=8G",
                           "=",
                           ">=",
                           "<",
                           "real=1",
                           "(a)",
                           "a&b"})
    error_of(text);
  EXPECT_THAT(error_of(""), HasSubstr("PLUGIN:N"));
  EXPECT_THAT(error_of("opencl,,vulkan"),
              HasSubstr("'opencl,,vulkan', character 8: there is no term before the comma"));
  // Characters are counted, not bytes.
  EXPECT_THAT(error_of("a:Größe,,b"), HasSubstr("character 9:"));
  EXPECT_THAT(error_of("opencl,"), HasSubstr("no term behind the comma"));
  EXPECT_THAT(error_of("opencl, mme>=8G"),
              AllOf(HasSubstr("character 9"), HasSubstr("did you mean 'mem'?")));
  EXPECT_THAT(error_of("dtype:bf61"), HasSubstr("did you mean 'bf16'?"));
  EXPECT_THAT(error_of("!!sim"), HasSubstr("leave both out"));
  EXPECT_THAT(error_of("a\x1b[31m"), HasSubstr(R"(\x1b)"));
  EXPECT_EQ(error_of("a\x1b[31m").find('\x1b'), std::string::npos);
}

TEST(Selector, WildLengthsAreRefused) {
  EXPECT_THAT(error_of(std::string(kMaxSelectorBytes + 1, 'a')), HasSubstr("the limit is 16384"));
  std::string many = "a";
  for (size_t i = 0; i < kMaxSelectorTerms; ++i) many += ",a";
  EXPECT_THAT(error_of(many), HasSubstr("the limit is 256"));
  EXPECT_LT(error_of(std::string(10000, '!')).size(), 1000u);
}

TEST(Selector, CanonicalTextReadsBack) {
  for (const char* text :
       {"llvm_cpu", "a:0", "*:*", "isolated:a, !b", "auto", "auto:energy", "gpu: Acme, !x:y",
        "mem>=3000B, mem<8G, mem:1T, mem>0B, mem<=1023K", "dtype=bf16|i4, !dtype:fp64",
        "kind:\"a|b,c\"|*, vendor:\" \"", "gpu:\"a, \"\"b\"\"!\"*",
        "\"auto\":1, \"mem\", \"real\":x", "gpu:\"12\", gpu:\"-3\", gpu:007", "gpu:\"[x]*\"",
        "gpu:[a\",\"b]?", "gpu:#1, gpu:!x",
        "auto:latency, runs=3, deadline<=17us, power<=0.3W, a:\tb"}) {
    const DeviceSelector first = parsed(text);
    const std::string canonical = first.to_string();
    EXPECT_EQ(parsed(canonical), first) << text << " -> " << canonical;
    EXPECT_EQ(parsed(canonical).to_string(), canonical);
  }
  EXPECT_EQ(parsed(" ! mem : 1024M ,real").to_string(), "auto,!mem>=1G,real");
}

TEST(Selector, Default) {
  ::unsetenv("STRIA_DEVICE");
  EXPECT_EQ(default_device_selector(), "auto");
  ::setenv("STRIA_DEVICE", "", 1);
  EXPECT_EQ(default_device_selector(), "auto");
  ::setenv("STRIA_DEVICE", "opencl, !sim", 1);
  EXPECT_EQ(default_device_selector(), "opencl, !sim");
  ::unsetenv("STRIA_DEVICE");
}

}  // namespace
}  // namespace stria
