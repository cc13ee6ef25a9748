// SPDX-License-Identifier: Apache-2.0
// Pipelines: which passes run, in which order, with which options. A file is
//   {"version": 1, "passes": [{"name": "tile", "tile": {"tile_sizes": {"co": 4}}}, …]}
// or the bare list. It is a template: the model's parameters and `hw`, the merged model, are in
// scope. If a step has no `name`, it is called like its pass. A step may include a fragment of
// other steps (pipeline_source.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/pass/pass_needs.h"
#include "stria/pass/pipeline_source.h"
#include "stria/stripe/block.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/template/placed_text.h"

namespace stria {

using PassFunction = std::function<Status(stripe::Program&, PassContext&)>;

// A former name of a pass. Pipelines that still use it are read, and a note tells them.
struct FormerPassName {
  std::string name;
  std::string preset = "{}";  // JSON: options that the former pass stood for
  // If not empty, the name is that of another pass now, and a step that has one of these options is
  // this pass.
  std::vector<std::string> with = {};
};

// A pass as a registry lists it. Plain value.
struct PassInfo {
  std::string name;
  std::vector<FormerPassName> former_names;
  std::string summary;  // one sentence
  // What `bind` returns checks this: a program in another state is left alone, and a note says why.
  PassNeeds needs = PassNeeds::nothing;
  // Binds the pass's options, which stand at `pointer` of the pipeline. If `notes` is not null, it
  // gets what a reader of the pipeline should know.
  std::function<Result<PassFunction>(const nlohmann::json& options, const std::string& pointer,
                                     std::vector<std::string>* notes)>
      bind;
  // Gives the options their names of today.
  std::function<void(nlohmann::json& options)> make_todays;
  // The tags of a step with these options, which `bind` has taken. Empty: it may set any.
  std::function<StepTags(const nlohmann::json& options, const std::string& pointer)> tags;
  // The option table, with the defaults.
  std::function<std::vector<OptionRow>()> options;
};

// Makes the registry's entry of a pass from its options struct, its field table and its function.
template <typename Options>
PassInfo make_pass_info(std::string name, std::string summary,
                        void (*describe)(Options&, OptionFields&),
                        Status (*run)(stripe::Program&, const Options&, PassContext&),
                        PassNeeds needs = PassNeeds::nothing) {
  PassInfo info;
  info.name = std::move(name);
  info.summary = std::move(summary);
  info.needs = needs;
  info.bind = [describe, run, needs](const nlohmann::json& json, const std::string& pointer,
                                     std::vector<std::string>* notes) -> Result<PassFunction> {
    Options options;
    OptionFields fields;
    describe(options, fields);
    STRIA_RETURN_IF_ERROR(fields.bind(json, pointer, notes));
    return PassFunction([options, run, needs](stripe::Program& program, PassContext& context) {
      if (const Refusal missing = missing_need(needs, program)) {
        context.note(missing.reason());
        return Status();
      }
      return run(program, options, context);
    });
  };
  info.make_todays = [describe](nlohmann::json& json) {
    Options options;
    OptionFields fields;
    describe(options, fields);
    fields.make_todays(json);
  };
  info.tags = [describe](const nlohmann::json& json, const std::string& pointer) {
    Options options;
    OptionFields fields;
    describe(options, fields);
    StepTags out;
    if (fields.bind(json, pointer).ok()) fields.add_tags(pointer, out);
    return out;
  };
  info.options = [describe] {
    Options options;
    OptionFields fields;
    describe(options, fields);
    return fields.rows();
  };
  return info;
}

// The passes and fragments that pipelines may name. Plain value.
struct PassRegistry {
  PassRegistry() = default;
  PassRegistry(std::vector<PassInfo> all) : passes(std::move(all)) {}  // NOLINT: meant to convert

  // The pass of that name or former name; null if there is none.
  const PassInfo* find(const std::string& name) const;
  // The pass of a step that calls it `name` and has these options. Sets `former`, if the pass is
  // called otherwise now.
  const PassInfo* find(const std::string& name, const nlohmann::json& options,
                       const FormerPassName*& former) const;

  std::vector<PassInfo> passes;
  std::map<std::string, SourceText> fragments;  // "opening" -> what "core/opening" stands for
};

struct PipelineStep {
  std::string name;
  std::string pass;
  std::string json;     // the step as rendered, without comments, with current names
  std::string pointer;  // of the pass's options: "/0/prune", "core/opening: /0/prune"
  std::string in_file;  // the same in the file that it stands in: "/0/prune"
  std::shared_ptr<const PlacedFile> file;  // which says lines; null: not known
  PassFunction run;
};

struct Pipeline {
  std::string source;  // the file's name, for messages
  std::vector<PipelineStep> steps;
  std::vector<SourceText> fragments;  // that were included, each once, in order
  // On names of passes and options that are former ones, each with its place.
  std::vector<std::string> notes;
  // The steps in [begin, end) as a pipeline of their own, rendered.
  std::string to_json(size_t begin, size_t end) const;
};

// Limits on files with their fragments.
inline constexpr int kMaxIncludeDepth = 8;
inline constexpr int kMaxIncludes = 1'000;
inline constexpr size_t kMaxPipelineSteps = 10'000;

// Renders and reads a pipeline, with the fragments that it includes. An unknown pass, option or
// fragment, a wrong type, or a number out of range is an error that names the line, the JSON path
// and the closest right name. The file sees `hw` and `tune`.
//
// So is a tag in `reqs` that lowering does not make and no step before it sets, if a manifest names
// the pipeline. Elsewhere that is a note: the program may bring the tag.
Result<Pipeline> parse_pipeline(const PipelineSource& source, const TemplateSettings& settings,
                                const HardwareModel& model, const PassRegistry& registry);

#ifdef STRIA_VERIFY_EACH
inline constexpr bool kVerifyEachByDefault = true;
#else
inline constexpr bool kVerifyEachByDefault = false;
#endif

struct PipelineOptions {
  // Verify before the first and after every step.
  bool verify_each = kVerifyEachByDefault;
  // What the verifier knows of intrinsics (stripe::VerifyOptions). Borrowed; null: any passes.
  const std::map<std::string, stripe::IntrinsicSignature>* intrinsics = nullptr;
  // How passes compute intrinsics on constants. Borrowed; null: they do not.
  const EvaluateIntrinsic* evaluate = nullptr;
  // How passes time blocks on a device. Borrowed; null: they cannot.
  const Measure* measure = nullptr;
  // The name of a pass that notes in its reports why it decides as it does; "" = none.
  std::string explain;
  // Stop after the first step of this name; "" = run all. not_found if there is none.
  std::string stop_after;
  // Called after every step, in order.
  std::function<void(int position, const StepReport& report, const stripe::Program& program)>
      after_step;
  // Called when a step fails, or leaves a program that is not legal, with the program as it was
  // before that step. If set, each step costs a copy of the program.
  std::function<void(size_t step, const stripe::Program& before, const Status& failure)> on_failure;
};

// Runs the steps on `program` in place, and returns their reports. If a step fails, `program` is
// what that step left, and the message names the step. `internal` if a step leaves a program that
// is not legal: passes work on every legal program.
Result<std::vector<StepReport>> run_pipeline(stripe::Program& program, const Pipeline& pipeline,
                                             const HardwareModel& model,
                                             const PipelineOptions& options = {});

}  // namespace stria
