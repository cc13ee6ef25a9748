// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/pipeline.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "stria/base/text.h"
#include "stria/pass/model_rules.h"
#include "stria/stripe/agents.h"
#include "stria/stripe/nesting.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/stripe/walk.h"
#include "stria/template/json_text.h"

namespace stria {
namespace {

using nlohmann::json;

// What could not be decided is noted in `undecided`.
Status verify_program(const stripe::Program& program, const HardwareModel& model,
                      const PipelineOptions& how, std::vector<std::string>& undecided) {
  STRIA_ASSIGN(const ModelRules rules, ModelRules::of(model));
  stripe::VerifyReport report;
  Status status = stripe::verify(program, rules.options(how.intrinsics), &report);
  undecided = std::move(report.warnings);
  return status;
}

// A step that matched nothing asks for tags; those that nothing has are noted, with the nearest
// one.
void note_unknown_tags(const PipelineStep& step, const stripe::Program& program,
                       StepReport& report) {
  std::set<std::string> of_blocks, of_refs;
  stripe::visit_blocks(program.entry, [&](const stripe::Place& place) {
    for (const stripe::Tag& tag : place.block->tags.all()) of_blocks.insert(tag.name);
    for (const stripe::Refinement& ref : place.block->refs)
      for (const stripe::Tag& tag : ref.tags.all()) of_refs.insert(tag.name);
  });
  const json options = json::parse(step.json).at(step.pass);
  for (auto it = options.begin(); it != options.end(); ++it) {
    if (!it.key().ends_with("reqs") || !it->is_array()) continue;
    const bool refs = it.key() == "ref_reqs";
    const std::set<std::string>& known = refs ? of_refs : of_blocks;
    for (size_t i = 0; i < it->size(); ++i) {
      const std::string tag = (*it)[i].get<std::string>();
      if (known.count(tag)) continue;
      report.notes.push_back(fmt::format("{}/{}/{}: no {} has the tag '{}'{}", step.pointer,
                                         it.key(), i, refs ? "refinement" : "block", tag,
                                         did_you_mean(tag, {known.begin(), known.end()})));
    }
  }
}

// "steps.json:3:5: step 'cut' (tile)"; of a fragment "steps.json: step 'cut' (tile) of
// rows.json:1:2".
// `failure` is the pass's message: it begins with a JSON pointer if it is about an option.
std::string shown_step(const PipelineStep& step, const std::string& source,
                       std::string_view failure = {}) {
  const std::string what = fmt::format("step '{}' ({})", step.name, step.pass);
  if (!step.file) return fmt::format("{}: {}", source, what);
  std::string pointer = step.in_file;
  if (failure.starts_with('/')) pointer += failure.substr(0, failure.find(": "));
  const std::string place = place_of(step.file->text, pointer);
  if (step.file->source.name == source) return fmt::format("{}: {}", place, what);
  return fmt::format("{}: {} of {}", source, what, place);
}

// One step, and whether what it left is legal.
Status run_step(const PipelineStep& step, const std::string& source, stripe::Program& program,
                const HardwareModel& model, const PipelineOptions& options, PassContext& context) {
  context.begin_step(step.name, step.pass);
  auto begin = std::chrono::steady_clock::now();
  Status status = step.run(program, context);
  auto end = std::chrono::steady_clock::now();
  context.report().milliseconds = std::chrono::duration<double, std::milli>(end - begin).count();
  if (!status.ok()) return status.with_context(shown_step(step, source, status.message()));
  if (stripe::depth_of(program.entry) > stripe::kMaxDepth)
    return unsupported("{} nests blocks deeper than the limit of {}", shown_step(step, source),
                       stripe::kMaxDepth);
  if (context.report().matched == 0) note_unknown_tags(step, program, context.report());
  if (!options.verify_each) return Status();
  if (Status legal = verify_program(program, model, options, context.report().undecided);
      !legal.ok())
    return internal_error("{}: the program that step '{}' ({}) made is not legal: {}", source,
                          step.name, step.pass, legal.message());
  return Status();
}

}  // namespace

const PassInfo* PassRegistry::find(const std::string& name) const {
  const PassInfo* former = nullptr;
  for (const PassInfo& pass : passes) {
    if (pass.name == name) return &pass;
    for (const FormerPassName& known : pass.former_names)
      if (known.name == name && known.with.empty()) former = &pass;
  }
  return former;
}

const PassInfo* PassRegistry::find(const std::string& name, const nlohmann::json& options,
                                   const FormerPassName*& former) const {
  former = nullptr;
  const PassInfo* found = find(name);
  for (const PassInfo& pass : passes)
    for (const FormerPassName& known : pass.former_names) {
      if (known.name != name) continue;
      const bool has_one =
          std::any_of(known.with.begin(), known.with.end(),
                      [&](const std::string& option) { return options.contains(option); });
      if (known.with.empty() ? &pass != found : !has_one) continue;
      former = &known;
      return &pass;
    }
  return found;
}

std::string Pipeline::to_json(size_t begin, size_t end) const {
  std::vector<std::string> entries;
  for (size_t i = begin; i < end; ++i) entries.push_back(steps[i].json);
  return fmt::format("[{}]", join(entries, ", "));
}

Result<std::vector<StepReport>> run_pipeline(stripe::Program& program, const Pipeline& pipeline,
                                             const HardwareModel& model,
                                             const PipelineOptions& options) {
  if (!options.stop_after.empty()) {
    std::vector<std::string> names;
    for (const PipelineStep& step : pipeline.steps) names.push_back(step.name);
    if (std::find(names.begin(), names.end(), options.stop_after) == names.end())
      return not_found("{} has no step '{}'{}", pipeline.source, options.stop_after,
                       did_you_mean(options.stop_after, names));
  }
  // Passes make no such kernels, and none knows yet what orders their statements.
  for (const stripe::Block* part : {program.prologue(), program.main()})
    for (size_t i = 0; part && !pipeline.steps.empty() && i < part->stmts.size(); ++i)
      if (const stripe::Block* kernel = part->stmts[i].block(); kernel && has_agents(*kernel))
        return unsupported(
            "{}: kernel '{}' has #roles, #async blocks, waits or arrivals: it is a device program "
            "already, and no pass knows what orders it (S16 to S19)",
            pipeline.source, kernel->name);
  if (options.verify_each) {
    std::vector<std::string> undecided;  // reports are of steps only
    if (Status status = verify_program(program, model, options, undecided); !status.ok())
      return status.with_context(fmt::format("{}: before the first step", pipeline.source));
  }
  std::vector<StepReport> reports;
  stripe::Program before;
  for (size_t i = 0; i < pipeline.steps.size(); ++i) {
    const PipelineStep& step = pipeline.steps[i];
    if (options.on_failure) before = program;
    PassContext context(model, options.evaluate, options.measure, step.pass == options.explain);
    Status status = run_step(step, pipeline.source, program, model, options, context);
    if (!status.ok()) {
      if (options.on_failure) options.on_failure(i, before, status);
      return status;
    }
    reports.push_back(context.report());
    if (options.after_step)
      options.after_step(static_cast<int>(reports.size()) - 1, reports.back(), program);
    if (step.name == options.stop_after) break;
  }
  return reports;
}

}  // namespace stria
