// SPDX-License-Identifier: Apache-2.0
// JSON templates: hardware models, pipelines, and what a device reports of itself.
#include <nlohmann/json.hpp>

#include "fuzzer.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/pipeline.h"
#include "stria/template/template_text.h"

namespace stria {
namespace {

// Passes with an option of every kind; that they bind is all that is asked.
struct EveryOption {
  bool flag = false;
  int64_t number = 1;
  std::string text;
  std::string choice = "keep";
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  std::map<std::string, int64_t> sizes;
  stripe::Location where;
  int64_t inner = 0;
};

void describe(EveryOption& options, OptionFields& fields) {
  fields.add("balance", options.flag, "help");
  fields.add("min_work", options.number, "help", {-1, 1 << 20});
  fields.add("unit", options.text, "help");
  fields.add("order", options.choice, "help", std::vector<std::string>{"keep", "stride", "reuse"});
  fields.add("reqs", options.texts, "help");
  fields.add("output", options.numbers, "help");
  fields.add("tile_sizes", options.sizes, "help");
  fields.add("loc", options.where, "help");
  fields.group("scalar", "help").add("vectors", options.inner, "help");
}

Status do_nothing(stripe::Program&, const EveryOption&, PassContext&) { return {}; }

std::vector<PassInfo> passes() {
  std::vector<PassInfo> out;
  for (const char* name : {"autotile", "locate_memory", "thread", "prune"})
    out.push_back(make_pass_info(name, "help", describe, do_nothing));
  return out;
}

}  // namespace
}  // namespace stria

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stria;
  static const std::vector<PassInfo> kPasses = passes();
  static const HardwareModel kEmpty = empty_hardware_model();
  const SourceText source{"fuzz.json", fuzz::text_of(data, size)};
  const TemplateSettings settings = {
      {"N", "8"}, {"SIZE_KIB", "1.5"}, {"LIST", "[1, 2, 4]"}, {"NAME", "text"}};

  Result<std::set<std::string>> parameters = template_parameters(source);
  Result<RenderedText> rendered = render_template(source, settings_as_json(settings));
  STRIA_CHECK(parameters.ok() || !rendered.ok(), "rendered, but its parameters are not known");
  if (rendered.ok()) {
    for (size_t at = 0; at <= rendered->text.size(); at += 1 + rendered->text.size() / 16)
      STRIA_CHECK(rendered->source_offset(at) <= size, "a place behind the template's end");
  }

  Result<HardwareModel> model = load_hardware_model(source, settings);
  if (model.ok()) {
    // What is printed is a model again, and the same.
    Result<HardwareModel> again = load_hardware_model({"printed.json", model->to_string()});
    STRIA_CHECK(again.ok(), "the printed model does not load: {}\n{}", again.status().message(),
                model->to_string());
    STRIA_CHECK(again->merged() == model->merged(), "the printed model is another one:\n{}",
                model->to_string());
    (void)model->explain();
  }
  Result<HardwareModel> reported =
      load_hardware_model({"model.json", R"({"name": "m"})"}, {}, source.text);
  Result<Pipeline> pipeline =
      parse_pipeline(source, settings, model.ok() ? *model : kEmpty, kPasses);
  for (const Status& status :
       {rendered.status(), model.status(), reported.status(), pipeline.status()})
    STRIA_CHECK(status.ok() || !status.message().empty(), "a failure without a message");
  return 0;
}
