// SPDX-License-Identifier: Apache-2.0
#include "shipped_pipelines.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "stria/base/file.h"

namespace stria::trust {
namespace {

// The accelerator's, with banks that some of the programs do not fit into.
Result<Shipped> slides_pipeline() {
  const TemplateSettings settings = {{"NUM_SRAM", "4"}, {"SRAM_SIZE_KIB", "16"}};
  // Its energy table is found beside it.
  const std::string hw = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";
  STRIA_ASSIGN(const std::string hw_text, read_file(hw));
  STRIA_ASSIGN(HardwareModel model, load_hardware_model({hw, hw_text}, settings));
  STRIA_ASSIGN(std::string pipeline,
               read_file(STRIA_SOURCE_DIR "/tests/unit/passes/slides_pipeline.json"));
  return Shipped{"slides_pipeline.json for stripe_slides.json", std::move(pipeline), settings,
                 std::move(model)};
}

}  // namespace

Result<std::vector<Shipped>> shipped_pipelines() {
  std::vector<Shipped> out;
  std::set<std::filesystem::path> plugins;
  for (const auto& entry :
       std::filesystem::directory_iterator(STRIA_BINARY_DIR "/lib/stria/plugins"))
    if (std::filesystem::exists(entry.path() / "plugin.json")) plugins.insert(entry.path());
  for (const std::filesystem::path& plugin : plugins) {
    STRIA_ASSIGN(const std::string text, read_file(plugin / "plugin.json"));
    const auto manifest = nlohmann::json::parse(text);
    std::set<std::string> seen;
    for (const auto& [kind, files] : manifest.at("devices").items()) {
      const std::string hw = files.at("hw"), pipeline = files.at("pipeline");
      const std::string name =
          fmt::format("{}: {} for {}", plugin.filename().string(), pipeline, hw);
      if (!seen.insert(name).second) continue;
      STRIA_ASSIGN(const std::string hw_text, read_file(plugin / hw));
      STRIA_ASSIGN(HardwareModel model, load_hardware_model({plugin / hw, hw_text}));
      STRIA_ASSIGN(std::string steps, read_file(plugin / pipeline));
      // Small programs take the way of large ones.
      out.push_back({name, std::move(steps), {{"MIN_WORK", "1"}}, std::move(model)});
    }
  }
  STRIA_ASSIGN(Shipped slides, slides_pipeline());
  out.push_back(std::move(slides));
  return out;
}

}  // namespace stria::trust
