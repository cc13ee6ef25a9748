// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/plugin_pass.h"

#include <nlohmann/json.hpp>

#include "stria/pass/model_rules.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria {
namespace {

struct PluginPassOptions {
  std::string pass;
  JsonText options;
};

void describe(PluginPassOptions& options, OptionFields& fields) {
  fields.add("pass", options.pass, "name of the plugin's pass; needed");
  fields.add("options", options.options, "what that pass is given");
}

Result<PluginPassOptions> read_options(const nlohmann::json& json, const std::string& pointer,
                                       std::vector<std::string>* notes) {
  PluginPassOptions options;
  OptionFields fields;
  describe(options, fields);
  STRIA_RETURN_IF_ERROR(fields.bind(json, pointer, notes));
  if (options.pass.empty()) return invalid_argument("{}: plugin_pass needs a 'pass'", pointer);
  return options;
}

}  // namespace

PassInfo make_plugin_pass(const hal::Device& device) {
  PassInfo info;
  info.name = "plugin_pass";
  info.summary = "hands the program to a pass of the device's plugin";
  info.make_todays = [](nlohmann::json&) {};
  info.options = [] {
    PluginPassOptions options;
    OptionFields fields;
    describe(options, fields);
    return fields.rows();
  };
  info.bind = [device](const nlohmann::json& json, const std::string& pointer,
                       std::vector<std::string>* notes) -> Result<PassFunction> {
    STRIA_ASSIGN(PluginPassOptions options, read_options(json, pointer, notes));
    return PassFunction([device, options](stripe::Program& program,
                                          PassContext& context) -> Status {
      if (!device.valid())
        return unsupported("the plugin's pass '{}' needs an open device", options.pass);
      STRIA_ASSIGN(hal::Compiler compiler, device.create_compiler());
      std::vector<hal::NamedText> notes;
      auto text =
          compiler.transform(stripe::print(program), options.pass, options.options.text, &notes);
      if (!text.ok())
        return text.status().with_context(fmt::format("the plugin's pass '{}'", options.pass));
      auto changed =
          stripe::parse({"Stripe from the pass '" + options.pass + "'", *std::move(text)});
      if (!changed.ok()) return changed.status();
      // Whatever a plugin makes is checked, in every build: the passes behind it trust it.
      STRIA_ASSIGN(const ModelRules rules, ModelRules::of(context.model()));
      if (Status legal = stripe::verify(*changed, rules.options(&intrinsic_signatures()));
          !legal.ok())
        return make_error(StatusCode::incompatible,
                          "the Stripe that the plugin's pass '{}' made is not legal: {}",
                          options.pass, legal.message());
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
