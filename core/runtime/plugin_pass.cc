// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/plugin_pass.h"

#include <nlohmann/json.hpp>

#include "stria/base/text.h"
#include "stria/hwmodel/json_text.h"
#include "stria/stripe/parser.h"
#include "stria/stripe/printer.h"

namespace stria {
namespace {

struct PluginPassOptions {
  std::string pass;
  std::string options = "{}";  // JSON
};

Result<PluginPassOptions> read_options(const nlohmann::json& json, const std::string& pointer) {
  if (!json.is_object()) return invalid_argument("{}: plugin_pass takes an object", pointer);
  PluginPassOptions options;
  for (const auto& [key, value] : json.items()) {
    const std::string place = pointer_child(pointer, key);
    if (key == "pass" && value.is_string()) {
      options.pass = value.get<std::string>();
    } else if (key == "options" && value.is_object()) {
      options.options = value.dump();
    } else if (key == "pass" || key == "options") {
      return invalid_argument("{}: expected {}", place, key == "pass" ? "a text" : "an object");
    } else {
      return invalid_argument("{}: unknown key '{}'{}", place, key,
                              did_you_mean(key, {"pass", "options"}));
    }
  }
  if (options.pass.empty()) return invalid_argument("{}: plugin_pass needs a 'pass'", pointer);
  return options;
}

}  // namespace

PassInfo make_plugin_pass(const hal::Device& device) {
  PassInfo info;
  info.name = "plugin_pass";
  info.summary = "Hands the program to a pass of the device's plugin.";
  info.help = [] {
    return std::string(
        "  pass     text    (needed)  name of the plugin's pass\n"
        "  options  object  {}        its options\n");
  };
  info.bind = [device](const nlohmann::json& json,
                       const std::string& pointer) -> Result<PassFunction> {
    STRIA_ASSIGN(PluginPassOptions options, read_options(json, pointer));
    return PassFunction(
        [device, options](stripe::Program& program, PassContext& context) -> Status {
          STRIA_ASSIGN(hal::Compiler compiler, device.create_compiler());
          std::vector<hal::NamedText> notes;
          STRIA_ASSIGN(std::string text, compiler.transform(stripe::print(program), options.pass,
                                                            options.options, &notes));
          auto changed =
              stripe::parse({"Stripe from the pass '" + options.pass + "'", std::move(text)});
          if (!changed.ok()) return changed.status();
          for (const hal::NamedText& note : notes) context.note(note.name + ": " + note.text);
          context.matched();
          if (!(*changed == program)) context.changed();
          program = std::move(*changed);
          return Status();
        });
  };
  return info;
}

}  // namespace stria
