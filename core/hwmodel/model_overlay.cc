// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/model_overlay.h"

#include <nlohmann/json.hpp>

#include "stria/base/text.h"
#include "stria/hwmodel/object_reader.h"
#include "stria/template/json_text.h"

namespace stria {

using nlohmann::json;

Result<OverlayTarget> overlay_target(const SourceText& file) {
  PlacedText text{&file, {}};
  STRIA_ASSIGN(const json root, parse_json_text(file, &text.places));
  const PlacedTexts texts({&text});
  ObjectReader reader(texts, root, "");
  STRIA_RETURN_IF_ERROR(reader.check());
  OverlayTarget out;
  if (!reader.get(kOverlayOf)) return out;
  ObjectReader target = reader.inside(kOverlayOf);
  STRIA_RETURN_IF_ERROR(target.check());
  STRIA_RETURN_IF_ERROR(target.text("plugin", out.plugin));
  STRIA_RETURN_IF_ERROR(target.text("device", out.device));
  STRIA_RETURN_IF_ERROR(target.finish());
  return out;
}

Status check_overlay_units(const json& model, const json& overlay, const PlacedTexts& texts) {
  for (const char* group : {"mem_units", "exec_units", "tx_units"}) {
    if (!overlay.contains(group) || !overlay[group].is_object()) continue;
    std::vector<std::string> names;
    if (model.contains(group) && model[group].is_object())
      for (const auto& [name, unit] : model[group].items())
        if (name != kSource) names.push_back(name);
    for (const auto& [name, unit] : overlay[group].items())
      if (name != kSource && std::find(names.begin(), names.end(), name) == names.end())
        return texts.fail(pointer_child(pointer_child("", group), name),
                          fmt::format("an overlay adds no units, and the model has no '{}'{}", name,
                                      did_you_mean(name, names)),
                          PlacedTexts::At::key);
  }
  return {};
}

}  // namespace stria
