// SPDX-License-Identifier: Apache-2.0
#include "model/kind_files.h"

#include "stria/hal/files/inside_file.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/plugin_pass.h"
#include "suite/rules.h"

namespace stria::conformance {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;

Result<SourceText> text_of(const Subject& subject, const std::filesystem::path& file) {
  STRIA_ASSIGN(std::string text,
               hal::read_inside(subject.options().directory, file, kMaxBytes, "the plugin"));
  return SourceText{(subject.options().directory / file).string(), std::move(text)};
}

Result<const hal::DeviceKind*> find(const Subject& subject, const std::string& kind) {
  STRIA_RETURN_IF_ERROR(subject.manifest().status());
  const hal::DeviceKind* found = subject.manifest()->find_kind(kind);
  if (!found) return not_found("the manifest has no kind '{}'", kind);
  return found;
}

}  // namespace

Result<HardwareModel> model_of(const Subject& subject, const std::string& kind) {
  STRIA_ASSIGN(const hal::DeviceKind* found, find(subject, kind));
  STRIA_ASSIGN(const SourceText text, text_of(subject, found->hw));
  Result<HardwareModel> model = load_hardware_model(text);
  if (!model.ok()) return with_rule(model.status(), Rule::model);
  return model;
}

Result<std::optional<HardwareModel>> reported_model(Subject& subject, const std::string& kind) {
  STRIA_ASSIGN(const hal::DeviceKind* found, find(subject, kind));
  STRIA_RETURN_IF_ERROR(subject.open());
  if (subject.device_info().kind != kind) return std::optional<HardwareModel>();
  STRIA_ASSIGN(const SourceText text, text_of(subject, found->hw));
  STRIA_ASSIGN(HardwareModel model,
               load_hardware_model(text, {}, subject.device_info().properties));
  return std::optional<HardwareModel>(std::move(model));
}

Result<Pipeline> pipeline_of(const Subject& subject, const std::string& kind,
                             const HardwareModel& model, const TemplateSettings& settings) {
  STRIA_ASSIGN(const hal::DeviceKind* found, find(subject, kind));
  STRIA_ASSIGN(SourceText text, text_of(subject, found->pipeline));
  PipelineSource source(std::move(text));
  source.of_manifest = true;
  source.own = [&subject, folder = found->pipeline.parent_path()](const std::string& name) {
    return text_of(subject, folder / (name + ".json"));
  };
  PassRegistry registry = passes::pass_registry();
  // To be read, not to be run: there is no device behind it.
  registry.passes.push_back(make_plugin_pass(hal::Device()));
  Result<Pipeline> pipeline = parse_pipeline(source, settings, model, registry);
  if (!pipeline.ok()) return with_rule(pipeline.status(), Rule::pipeline);
  return pipeline;
}

Result<std::vector<TemplateParameter>> parameters_of(const Subject& subject,
                                                     const std::string& kind) {
  STRIA_ASSIGN(const hal::DeviceKind* found, find(subject, kind));
  STRIA_ASSIGN(const SourceText text, text_of(subject, found->pipeline));
  return declared_parameters(text);
}

}  // namespace stria::conformance
