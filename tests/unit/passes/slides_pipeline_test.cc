// SPDX-License-Identifier: Apache-2.0
// The whole pipeline of the Stripe slides' accelerator on a network of ten layers: legal and of the
// same values after every step, data in SRAM, work on CONV and DSP, copies on DMA; also where
// tensors are far larger than the banks, and at the size that the slides print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stria/base/file.h"
#include "stria/lower/lower.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/template/json_text.h"
#include "stria/tile/syntax/parser.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string file(const std::string& path) {
  auto text = read_file(STRIA_SOURCE_DIR "/" + path);
  STRIA_CHECK(text.ok(), "{}", text.status().to_string());
  return *text;
}

std::string pipeline() { return file("tests/unit/passes/slides_pipeline.json"); }

TemplateSettings banks(int64_t count, int64_t kib) {
  return {{"NUM_SRAM", std::to_string(count)}, {"SRAM_SIZE_KIB", std::to_string(kib)}};
}

HardwareModel slides_model(const TemplateSettings& settings) {
  const std::string path = "hwmodels/templates/stripe_slides.json";
  auto model = load_hardware_model({STRIA_SOURCE_DIR "/" + path, file(path)}, settings);
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return std::move(model).value();
}

// Images of size x size; channels of the input, of the first and the second half, and classes.
std::map<std::string, tile::TensorType> inputs(int64_t size, int64_t c, int64_t m, int64_t n,
                                               int64_t l) {
  constexpr DataType kSmall = DataType::i8, kSum = DataType::i32;
  return {{"I", {kSmall, {size, size, c}}},
          {"K1", {kSmall, {3, 3, c, m}}},
          {"B1", {kSum, {m}}},
          {"K2", {kSmall, {m, m}}},
          {"B2", {kSum, {m}}},
          {"K3", {kSmall, {3, 3, m, m}}},
          {"B3", {kSum, {m}}},
          {"K4", {kSmall, {3, 3, m, n}}},
          {"K5", {kSmall, {n, n}}},
          {"B5", {kSum, {n}}},
          {"K6", {kSmall, {3, 3, n, n}}},
          {"B6", {kSum, {n}}},
          {"K7", {kSmall, {n, l}}},
          {"B7", {kSum, {l}}}};
}

std::string network() { return file("tests/unit/passes/ten_layers.tile"); }

// "" or the first load or store that is not where it should be: copies from one memory to the other
// on DMA, all others in SRAM on CONV or DSP.
std::string misplaced(const stripe::Block& block, std::string unit) {
  if (!block.location.empty()) unit = block.location.path.back().name;
  for (const stripe::Statement& stmt : block.stmts) {
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    const auto* store = std::get_if<stripe::Store>(&stmt.op);
    if (load || store) {
      const stripe::Location& at = block.find_ref(load ? load->from : store->into)->location;
      const std::string memory = at.empty() ? "" : at.path.back().name;
      const bool right = unit == "DMA" ? memory == "SRAM" || memory == "DRAM"
                                       : memory == "SRAM" && (unit == "CONV" || unit == "DSP");
      if (!right)
        return fmt::format("'{}' in '{}' on '{}'", load ? load->from : store->into, memory, unit);
    }
    if (const stripe::Block* inner = stmt.block())
      if (std::string wrong = misplaced(*inner, unit); !wrong.empty()) return wrong;
  }
  return "";
}

struct Made {
  stripe::Program program;
  std::map<std::string, int64_t> counters;
};

Made run(const stripe::Program& generic, const TemplateSettings& settings) {
  Made made{generic, {}};
  const HardwareModel model = slides_model(settings);
  auto steps =
      parse_pipeline({"slides_pipeline.json", pipeline()}, settings, model, pass_registry());
  EXPECT_TRUE(steps.ok()) << steps.status().to_string();
  if (!steps.ok()) return made;
  PipelineOptions options;
  options.verify_each = true;
  auto reports = run_pipeline(made.program, *steps, model, options);
  EXPECT_TRUE(reports.ok()) << reports.status().to_string();
  if (!reports.ok()) return made;
  for (const StepReport& report : *reports)
    for (const auto& [name, count] : report.counters)
      made.counters[report.pass + ": " + name] += count;
  EXPECT_EQ(misplaced(*made.program.main(), ""), "") << stripe::print(made.program);
  auto again = stripe::parse({"made", stripe::print(made.program)});
  EXPECT_TRUE(again.ok()) << again.status().to_string();
  if (again.ok()) {
    EXPECT_EQ(*again, made.program);
  }
  return made;
}

// What the whole pipeline says to programs, models and settings that do not go together.
TEST(SlidesPipeline, RefusesWhatCannotBe) {
  auto program = make_program(network(), inputs(16, 8, 16, 16, 8));
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  auto message = [&](const HardwareModel& model, const TemplateSettings& settings) {
    auto steps =
        parse_pipeline({"slides_pipeline.json", pipeline()}, settings, model, pass_registry());
    if (!steps.ok()) return steps.status().to_string();
    stripe::Program copy = program->generic;
    return run_pipeline(copy, *steps, model).status().to_string();
  };
  const TemplateSettings usual = banks(4, 32), tiny = banks(4, 4);
  // Which kernel, and how many bytes of which memory its smallest tile would take.
  EXPECT_THAT(message(slides_model(tiny), tiny),
              testing::AllOf(HasSubstr("step 'bank_CONV'"), HasSubstr("block 'kernel_"),
                             HasSubstr("bytes")));
  // A file for more banks, or larger ones, than the model has.
  EXPECT_THAT(message(slides_model(usual), banks(8, 32)),
              HasSubstr("/num_banks: 8, but the hardware model has 4 of 'SRAM'"));
  EXPECT_THAT(message(slides_model(usual), banks(4, 256)),
              HasSubstr("/mem_KiB: 64, but one 'SRAM' has 32 KiB"));
  // Ways that are not there, or that carry nothing.
  HardwareModel model = slides_model(usual);
  std::erase_if(model.buses, [](const Bus& bus) {
    return bus.sources[0].name == "SRAM" && bus.sinks[0].name == "DMA";
  });
  EXPECT_THAT(message(model, usual), HasSubstr("no way over buses from 'SRAM[0]' to 'DMA[0]'"));
  model = slides_model(usual);
  model.buses[0].bytes_per_cycle = 0;
  EXPECT_THAT(message(model, usual),
              HasSubstr("the bus from 'DRAM[0]' to 'DMA[0]' carries 0 bytes per cycle"));
  // Units that the model has not.
  model = slides_model(usual);
  std::erase_if(model.executors, [](const ExecutionUnit& unit) { return unit.name == "DSP"; });
  EXPECT_THAT(message(model, usual), HasSubstr("'DSP'"));
}

// The configurations of tests/unit/pass/slides, in the slides' order, with nothing but what is
// filled in between.
TEST(SlidesPipeline, HasEveryPrintedConfigurationInOrder) {
  const json settings = {{"NUM_SRAM", 8}, {"SRAM_SIZE_KIB", 512}};
  auto all = parse_json_template({"slides_pipeline.json", pipeline()}, settings);
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  size_t next = 0;
  for (const char* name : {"tensorize", "autotile", "fusion", "pipeline"}) {
    auto part = parse_json_template(
        {name, file(fmt::format("tests/unit/pass/slides/{}.json", name))}, settings);
    ASSERT_TRUE(part.ok()) << part.status().to_string();
    // The slides print the tiling with and without powers of two.
    if (std::string(name) == "autotile") part->erase(part->begin() + 1);
    for (const json& step : *part) {
      while (next < all->size() && (*all)[next] != step) ++next;
      EXPECT_LT(next, all->size()) << step.dump() << " is not there, or not in order";
    }
  }
}

TEST(SlidesPipeline, KeepsValuesWhereEverythingFits) {
  auto program = make_program(network(), inputs(16, 8, 16, 16, 8));
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const TemplateSettings settings = banks(8, 512);
  EXPECT_EQ(wrong_step(pipeline(), settings, slides_model(settings), *program), "");
  const Made made = run(program->generic, settings);
  EXPECT_EQ(made.counters.count("schedule: staged in parts"), 0u);
  // The weights, biases and the image, once each; the result.
  EXPECT_EQ(made.counters.at("schedule: brought"), 14);
  EXPECT_EQ(made.counters.at("schedule: taken away"), 1);
}

TEST(SlidesPipeline, KeepsValuesWhereTensorsAreLargerThanBanks) {
  auto program = make_program(network(), inputs(24, 8, 16, 16, 8));
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  for (int64_t kib : {20}) {
    const TemplateSettings settings = banks(4, kib);
    EXPECT_EQ(wrong_step(pipeline(), settings, slides_model(settings), *program), "") << kib;
    const Made made = run(program->generic, settings);
    EXPECT_GT(made.counters.at("schedule: staged in parts"), 0) << kib;
    EXPECT_THAT(stripe::print(made.program), HasSubstr("#pipeline=4 block<CONV>"));
  }
}

TEST(SlidesPipeline, RunsAtThePrintedSize) {
  auto parsed = tile::parse({"ten_layers.tile", network()});
  ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
  auto bound = tile::bind_program(*parsed, "", inputs(1024, 32, 64, 64, 32));
  ASSERT_TRUE(bound.ok()) << bound.status().to_string();
  auto generic = lower(*bound);
  ASSERT_TRUE(generic.ok()) << generic.status().to_string();
  const Made made = run(*generic, banks(8, 512));
  EXPECT_GT(made.counters.at("schedule: staged in parts"), 10);
}

}  // namespace
}  // namespace stria::passes
