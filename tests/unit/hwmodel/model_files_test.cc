// SPDX-License-Identifier: Apache-2.0
// The models, tables and settings of hwmodels/ and of the plugins: they load, each of their numbers
// has a source, and the schemas that editors use say what the readers do.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "json_schema.h"
#include "stria/base/file.h"
#include "stria/hwmodel/energy_table.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

SourceText file_at(const fs::path& path) {
  auto text = read_file(path);
  EXPECT_TRUE(text.ok()) << path;
  return {path.string(), text.ok() ? *text : ""};
}

SourceText file_of(const std::string& path) { return file_at(STRIA_SOURCE_DIR "/" + path); }

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<fs::path> model_files() {
  const fs::path root = STRIA_SOURCE_DIR;
  std::vector<fs::path> out;
  for (const char* folder : {"templates", "devices", "settings", "simulated"})
    for (const fs::path& path : json_files(root / "hwmodels" / folder)) out.push_back(path);
  for (const auto& plugin : fs::directory_iterator(root / "plugins"))
    if (fs::exists(plugin.path() / "hw"))
      for (const fs::path& path : json_files(plugin.path() / "hw")) out.push_back(path);
  return out;
}

HardwareModel loaded(const SourceText& file, const TemplateSettings& settings = {},
                     const std::string& device = "") {
  auto model = load_hardware_model(file, settings, device);
  EXPECT_TRUE(model.ok()) << file.name << "\n" << model.status().to_string();
  return model.ok() ? *model : empty_hardware_model();
}

JsonSchema schema_of(const std::string& name) {
  return JsonSchema(json::parse(file_of("hwmodels/schema/" + name).text));
}

TEST(ModelFiles, EachLoadsAndEachOfItsNumbersHasASource) {
  const std::vector<fs::path> files = model_files();
  EXPECT_GE(files.size(), 10u);
  for (const fs::path& path : files) {
    const HardwareModel model = loaded(file_at(path));
    EXPECT_THAT(model.numbers_without_source(), IsEmpty()) << path;
    EXPECT_NE(model.name, "") << path;
    EXPECT_EQ(schema_of("hwmodel.schema.json").check(model.merged()), "") << path;
  }
}

TEST(ModelFiles, EachEnergyTableLoadsAndEachOfItsNumbersHasASource) {
  const std::vector<fs::path> files = json_files(STRIA_SOURCE_DIR "/hwmodels/energy");
  EXPECT_GE(files.size(), 2u);
  for (const fs::path& path : files) {
    auto table = parse_energy_table(file_at(path));
    ASSERT_TRUE(table.ok()) << table.status().to_string();
    EXPECT_THAT(numbers_without_source(*table), IsEmpty()) << path;
    EXPECT_EQ(schema_of("energy.schema.json").check(*table->json), "") << path;
  }
}

// A number without a source is found, wherever it stands.
TEST(ModelFiles, TheCheckOfSourcesFindsEachNumber) {
  const SourceText file = file_of("tests/unit/hwmodel/every_key.json");
  const json whole = json::parse(file.text);
  const HardwareModel model = loaded(file);
  EXPECT_THAT(model.numbers_without_source(), IsEmpty());
  size_t found = 0;
  for (const auto& [pointer, origin] : model.origins()) {
    if (origin.source.empty() || !whole.contains(json::json_pointer(pointer))) continue;
    json cut = whole;
    for (json::json_pointer at(pointer); !at.empty();) {
      at.pop_back();
      if (cut[at].is_object()) cut[at].erase("source");
    }
    EXPECT_THAT(loaded({file.name, cut.dump()}).numbers_without_source(),
                testing::Contains(pointer));
    ++found;
  }
  size_t numbers = 0;
  const json flat = whole.flatten();
  for (const auto& [pointer, value] : flat.items()) numbers += value.is_number();
  EXPECT_EQ(found, numbers);
  EXPECT_GT(found, 40u);
}

// The schema and the reader know the same keys: a file that has each of them, and at each object of
// it one that there is not.
TEST(ModelFiles, TheSchemaHasTheReadersKeys) {
  const SourceText file = file_of("tests/unit/hwmodel/every_key.json");
  const json whole = json::parse(file.text);
  JsonSchema schema = schema_of("hwmodel.schema.json");
  EXPECT_EQ(schema.check(whole), "");
  EXPECT_EQ(schema.seen(), schema.all());  // else every_key.json lacks one
  loaded(file);
  std::vector<std::string> objects = {""};
  for (size_t i = 0; i < objects.size(); ++i) {
    const json& at = whole.at(json::json_pointer(objects[i]));
    if (!at.is_structured()) continue;
    for (const auto& [key, child] : at.items())
      if (key != "source") objects.push_back(objects[i] + "/" + key);
    if (!at.is_object()) continue;
    json wrong = whole;
    wrong[json::json_pointer(objects[i])]["no such key"] = "x";
    EXPECT_NE(schema.check(wrong), "") << objects[i];
    EXPECT_FALSE(load_hardware_model({file.name, wrong.dump()}).ok()) << objects[i];
  }
}

TEST(ModelFiles, TheSlidesAcceleratorFollowsItsParameters) {
  const SourceText file = file_of("hwmodels/templates/stripe_slides.json");
  const HardwareModel model = loaded(file, {{"NUM_SRAM", "3"}, {"NUM_CONV", "36"}});
  EXPECT_EQ(model.find_memory("SRAM")->count, 3);
  EXPECT_EQ(model.find_memory("DRAM")->size_bytes, int64_t{1} << 30);
  const ExecutionUnit& conv = *model.find_executor("CONV");
  EXPECT_EQ(conv.count, 36);
  EXPECT_EQ(conv.ops_per_cycle, 512);
  EXPECT_EQ(conv.operation, ExecutionUnit::Operation::mac);
  EXPECT_EQ(conv.pipeline_depth, 2);
  EXPECT_EQ(conv.energy_pj.at("mul.i8"), 0.07);
  ASSERT_EQ(model.buses.size(), 6u);
  EXPECT_EQ(model.buses[3].sinks.back(), (UnitInstance{"SRAM", 2}));
  EXPECT_EQ(model.origins().at("/exec_units/CONV/count").to_string(),
            "stripe_slides.json:39, --set NUM_CONV");
  // A larger bank costs more energy, between those of the table.
  const HardwareModel large = loaded(file, {{"SRAM_SIZE_KIB", "1024"}});
  EXPECT_DOUBLE_EQ(large.find_memory("SRAM")->read_pj_per_byte, 14.0 / 8);
  EXPECT_LT(model.find_memory("SRAM")->read_pj_per_byte, 14.0 / 8);
  EXPECT_GT(model.find_memory("SRAM")->read_pj_per_byte, 8.5 / 8);
  EXPECT_FALSE(model.merged().contains("energy_table"));
}

TEST(ModelFiles, TheSpatialAndTheSystolicArray) {
  const HardwareModel spatial = loaded(file_of("hwmodels/templates/eyeriss_like.json"));
  EXPECT_EQ(spatial.find_executor("PE")->count, 168);
  EXPECT_EQ(spatial.find_memory("GLB")->size_bytes, 108 * 1024);
  // The ratios of the paper: 1 for an access of a scratchpad, of which a multiply-add has four, 6
  // and 200 of what a 16-bit multiply-add takes.
  const double mac = spatial.find_executor("PE")->energy_pj.at("mac.i16") / 5;
  EXPECT_DOUBLE_EQ(spatial.find_memory("GLB")->read_pj_per_byte * 2, 6 * mac);
  EXPECT_DOUBLE_EQ(spatial.find_memory("DRAM")->read_pj_per_byte * 2, 200 * mac);

  const HardwareModel systolic =
      loaded(file_of("hwmodels/templates/tpu_like.json"), {{"ROWS", "32"}, {"COLS", "16"}});
  const ExecutionUnit& array = *systolic.find_executor("MXU");
  ASSERT_TRUE(array.systolic);
  EXPECT_EQ(array.systolic->rows, 32);
  EXPECT_EQ(array.systolic->columns, 16);
  EXPECT_EQ(array.systolic->dataflow, SystolicArray::Dataflow::weight_stationary);
  const HardwareModel first = loaded(file_of("hwmodels/templates/tpu_like.json"));
  // 92 TOPS, as the paper says.
  const SystolicArray& whole = *first.find_executor("MXU")->systolic;
  EXPECT_NEAR(2.0 * static_cast<double>(whole.rows * whole.columns) * first.clock_mhz * 1e6, 92e12,
              0.5e12);
}

// Coordinates' bits to a number: "4*d0[0+:3] + d1[1+:2]".
int64_t value_of(const std::string& form, int64_t d0, int64_t d1) {
  int64_t sum = 0;
  std::istringstream in(form);
  for (std::string term; std::getline(in, term, '+');) {
    if (term.find(':') == 0) continue;  // the rest of "[1+:2]"
    const size_t dim = term.find('d');
    EXPECT_NE(dim, std::string::npos) << form;
    const size_t star = term.find('*');
    const int64_t factor = star == std::string::npos ? 1 : std::stoll(term);
    const int64_t low = std::stoll(term.substr(term.find('[') + 1));
    std::string width;
    std::getline(in, width, ']');
    const int64_t bits = std::stoll(width.substr(1));
    const int64_t of = term[dim + 1] == '0' ? d0 : d1;
    sum += factor * ((of >> low) & ((int64_t{1} << bits) - 1));
    std::getline(in, width, '+');
  }
  return sum;
}

TEST(ModelFiles, TheH200AndItsFragments) {
  const HardwareModel model = loaded(file_of("hwmodels/devices/h200.json"));
  EXPECT_EQ(model.find_executor("SM")->count, 132);
  EXPECT_EQ(model.find_memory("SHARED")->size_bytes, 232448);
  EXPECT_EQ(model.find_memory("REG")->size_bytes, 65536 * 4);
  const ExecutionUnit& tensor = *model.find_executor("TENSOR");
  // 989.5 TFLOP/s at 1830 MHz.
  EXPECT_NEAR(static_cast<double>(tensor.count) * tensor.ops_per_cycle * 1.830e9, 989.5e12, 1e12);
  ASSERT_EQ(tensor.instructions.size(), 2u);
  const std::vector<std::vector<int64_t>> lanes_and_slots = {{32, 8}, {32, 4}, {32, 4},
                                                             {0, 0},  {0, 0},  {128, 128}};
  size_t checked = 0, at = 0;
  for (const Instruction& instruction : tensor.instructions) {
    std::map<std::string, int64_t> sizes;
    for (const Instruction::Index& index : instruction.indices) sizes[index.name] = index.size;
    for (const InstructionOperand& operand : instruction.operands) {
      const std::vector<int64_t>& expected = lanes_and_slots[at++];
      if (operand.fragment.empty()) continue;
      // Each lane and slot holds exactly one element.
      std::set<std::pair<int64_t, int64_t>> held;
      const int64_t rows = sizes.at(operand.dims[0]), columns = sizes.at(operand.dims[1]);
      for (int64_t d0 = 0; d0 < rows; ++d0)
        for (int64_t d1 = 0; d1 < columns; ++d1)
          held.insert({value_of(operand.fragment.at("lane"), d0, d1),
                       value_of(operand.fragment.at("slot"), d0, d1)});
      EXPECT_EQ(static_cast<int64_t>(held.size()), rows * columns) << operand.name;
      EXPECT_EQ(held.rbegin()->first, expected[0] - 1) << instruction.name << " " << operand.name;
      EXPECT_EQ(rows * columns, expected[0] * expected[1]);
      ++checked;
    }
  }
  EXPECT_EQ(checked, 4u);
}

TEST(ModelFiles, TheTwoSettingsSets) {
  const HardwareModel of_slides = loaded(file_of("hwmodels/settings/stripe_slides.json"));
  const HardwareModel of_text = loaded(file_of("hwmodels/settings/kernel_generation.json"));
  ASSERT_TRUE(of_slides.settings && of_text.settings);
  const GroupSettings &slides = *of_slides.settings, &text = *of_text.settings;
  EXPECT_EQ(slides.threads, 256);
  EXPECT_EQ(slides.mem_width, 128);
  EXPECT_EQ(slides.max_mem, 32768);
  EXPECT_EQ(slides.max_regs, 16384);
  EXPECT_EQ(slides.goal_groups, 16);
  EXPECT_EQ(slides.goal_flops_per_byte, 50);
  EXPECT_EQ(text.mem_width, 32);
  EXPECT_EQ(text.max_mem, 18432);
  EXPECT_EQ(text.max_regs, 18432);
  EXPECT_EQ(text.goal_groups, 20);
  EXPECT_EQ(text.goal_flops_per_byte, 20);
  EXPECT_EQ(text.vec_size, 1);
  EXPECT_FALSE(text.use_global);
}

// What the plugin measures of a CPU takes the place of the model's estimates, number by number.
TEST(ModelFiles, MeasuredRatesOfACpuReplaceItsDefaults) {
  const SourceText file = file_of("plugins/llvm_cpu/hw/cpu.json");
  const HardwareModel guessed = loaded(file);
  EXPECT_EQ(guessed.origins().at("/exec_units/CORE/rates/fp32/ops_per_cycle").to_string(),
            "cpu.json:61, default");
  const HardwareModel model = loaded(file, {},
                                     R"({"mem_units": {"L1": {}, "DRAM": {}},
          "exec_units": {"CORE": {"source": {"rates": "measured"},
                                  "rates": {"fp32": {"ops_per_cycle": 30.5, "read_bytes_per_cycle": {"L1": 60}}}}}})");
  const TypeRates& rates = model.find_executor("CORE")->rates.at(DataType::fp32);
  EXPECT_EQ(rates.ops_per_cycle, 30.5);
  EXPECT_EQ(rates.read_bytes_per_cycle.at("L1"), 60);
  EXPECT_EQ(rates.read_bytes_per_cycle.at("DRAM"), 8);
  const FieldOrigin& origin = model.origins().at("/exec_units/CORE/rates/fp32/ops_per_cycle");
  EXPECT_EQ(origin.to_string(), "cpu.json:61, device");
  EXPECT_EQ(origin.source, "measured");
  EXPECT_TRUE(
      model.origins().at("/exec_units/CORE/rates/fp32/read_bytes_per_cycle/DRAM").defaulted);
  EXPECT_EQ(model.find_memory("L3"), nullptr);
}

// Without fused multiply-adds products take registers, and single values instructions.
TEST(ModelFiles, ACpuOfShortVectorsHasProductsOfTheirOwn) {
  const SourceText file = file_of("plugins/llvm_cpu/hw/cpu.json");
  const auto facts = [&](int bytes) {
    const HardwareModel model = loaded(
        file, {},
        fmt::format(
            R"({{"exec_units": {{"CORE": {{"vector_bytes": {}, "vector_registers": 16}}}}}})",
            bytes));
    return model.find_executor("CORE")->calibration.core;
  };
  EXPECT_EQ(facts(16).product_registers, 1);
  EXPECT_EQ(facts(16).broadcast_multiply_adds, 0.5);
  EXPECT_EQ(facts(32).product_registers, 0);
  EXPECT_EQ(facts(32).broadcast_multiply_adds, 0);
}

}  // namespace
}  // namespace stria
