// SPDX-License-Identifier: Apache-2.0
// Reads pipeline files and the fragments that they include.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hwmodel/machine_roles.h"
#include "stria/pass/made_tags.h"
#include "stria/pass/pipeline.h"
#include "stria/template/json_text.h"

namespace stria {
namespace {

using nlohmann::json;

constexpr std::string_view kOfCore = "core/";

class PipelineParser {
 public:
  PipelineParser(const PipelineSource& source, const json& shared, const PassRegistry& registry)
      : source_(source), shared_(shared), registry_(registry) {}

  Result<Pipeline> parse(const json& values) {
    pipeline_.source = source_.text.name;
    // What the template's reader says names file, line and column by itself.
    STRIA_ASSIGN(const json root, parse_json_template(source_.text, values));
    STRIA_RETURN_IF_ERROR(add_steps(root, "", 0).with_context(source_.text.name));
    return std::move(pipeline_);
  }

 private:
  // Adds the steps of a rendered file or fragment. `prefix` stands before its JSON paths.
  Status add_steps(const json& root, const std::string& prefix, int depth) {
    const json* list = &root;
    std::string pointer;
    if (root.is_object()) {
      for (auto it = root.begin(); it != root.end(); ++it)
        if (it.key() != "version" && it.key() != "passes")
          return invalid_argument("{}/{}: unknown key{}", prefix, it.key(),
                                  did_you_mean(it.key(), {"version", "passes"}));
      if (!root.contains("version") || root["version"] != 1)
        return invalid_argument("{}/version: must be 1, the only version there is", prefix);
      if (!root.contains("passes")) return invalid_argument("{}/passes: is missing", prefix);
      list = &root["passes"];
      pointer = "/passes";
    }
    if (!list->is_array())
      return invalid_argument("{}{}: must be a list of steps, this is {}", prefix,
                              pointer.empty() ? "/" : pointer, list->type_name());
    for (size_t i = 0; i < list->size(); ++i) {
      const std::string at = prefix + pointer_child(pointer, std::to_string(i));
      const json& entry = (*list)[i];
      if (entry.is_object() && entry.contains("include")) {
        STRIA_RETURN_IF_ERROR(include(entry, at, !prefix.starts_with(kOfCore), depth));
      } else {
        STRIA_RETURN_IF_ERROR(add_step(entry, at));
      }
    }
    return {};
  }

  Status include(const json& entry, const std::string& pointer, bool may_own, int depth) {
    for (auto it = entry.begin(); it != entry.end(); ++it)
      if (it.key() != "include" && it.key() != "with")
        return invalid_argument("{}: unknown key{}; a step that includes others has no other keys",
                                pointer_child(pointer, it.key()),
                                did_you_mean(it.key(), {"include", "with"}));
    const std::string at = pointer_child(pointer, "include");
    if (!entry["include"].is_string())
      return invalid_argument("{}: must be the name of a fragment, this is {}", at,
                              entry["include"].dump());
    const std::string name = entry["include"].get<std::string>();
    if (depth >= kMaxIncludeDepth)
      return invalid_argument("{}: '{}' is included by more than {} others, one inside the other",
                              at, shown_name(name), kMaxIncludeDepth);
    if (++includes_ > kMaxIncludes)
      return invalid_argument("{}: a pipeline includes fragments at most {} times", at,
                              kMaxIncludes);
    STRIA_ASSIGN(const SourceText file, find_fragment(name, at, may_own));
    if (std::none_of(pipeline_.fragments.begin(), pipeline_.fragments.end(),
                     [&](const SourceText& known) { return known.name == file.name; }))
      pipeline_.fragments.push_back(file);
    auto steps = read_fragment(entry, file, pointer);
    if (!steps.ok()) return steps.status().with_context(at);
    return add_steps(*steps, name + ": ", depth + 1).with_context(at);
  }

  Result<json> read_fragment(const json& entry, const SourceText& file,
                             const std::string& pointer) const {
    STRIA_ASSIGN(const json values, values_of(entry, file, pointer));
    return parse_json_template(file, values);
  }

  // What `with` gives the fragment, and what every file sees.
  Result<json> values_of(const json& entry, const SourceText& fragment,
                         const std::string& pointer) const {
    json values = shared_;
    if (!entry.contains("with")) return values;
    const std::string at = pointer_child(pointer, "with");
    if (!entry["with"].is_object())
      return invalid_argument("{}: must be an object of values, this is {}", at,
                              entry["with"].dump());
    STRIA_ASSIGN(const std::set<std::string> known, settable_parameters(fragment));
    for (auto it = entry["with"].begin(); it != entry["with"].end(); ++it) {
      if (!known.count(it.key()))
        return invalid_argument("{}: the fragment '{}' has no such parameter{}",
                                pointer_child(at, it.key()), entry["include"].get<std::string>(),
                                did_you_mean(it.key(), {known.begin(), known.end()}));
      values[it.key()] = *it;
    }
    return values;
  }

  Result<SourceText> find_fragment(const std::string& name, const std::string& at,
                                   bool may_own) const {
    if (name.starts_with(kOfCore)) {
      const auto found = registry_.fragments.find(name.substr(kOfCore.size()));
      if (found != registry_.fragments.end()) return found->second;
      std::vector<std::string> names;
      for (const auto& [known, text] : registry_.fragments)
        names.push_back(std::string(kOfCore) + known);
      return not_found("{}: core has no fragment '{}'{}", at, shown_name(name),
                       did_you_mean(name, names));
    }
    if (!is_fragment_name(name))
      return invalid_argument(
          "{}: '{}' is no name of a fragment: small letters, digits and '_', with 'core/' before "
          "it for one of core",
          at, shown_name(name));
    if (!may_own) return not_found("{}: a fragment of core includes others of core alone", at);
    if (!source_.own)
      return not_found("{}: '{}' cannot be read: this pipeline is no file in a folder", at,
                       shown_name(name));
    auto read = source_.own(name);
    if (!read.ok()) return read.status().with_context(at);
    return read;
  }

  Status add_step(const json& entry, const std::string& pointer) {
    if (pipeline_.steps.size() >= kMaxPipelineSteps)
      return invalid_argument("{}: a pipeline has at most {} steps", pointer, kMaxPipelineSteps);
    STRIA_ASSIGN(PipelineStep step, parse_step(entry, pointer));
    if (entry.contains("name")) {
      const auto [first, added] = named_.emplace(step.name, pointer + "/name");
      if (!added)
        return invalid_argument("{}/name: '{}' is already the name of the step at {}", pointer,
                                step.name, first->second);
    }
    pipeline_.steps.push_back(std::move(step));
    return {};
  }

  Result<PipelineStep> parse_step(const json& entry, const std::string& pointer) {
    if (!entry.is_object())
      return invalid_argument("{}: a step is {{\"name\": …, \"<pass>\": {{options}}}}, this is {}",
                              pointer, entry.dump());
    PipelineStep step;
    json today = json::object();
    for (auto it = entry.begin(); it != entry.end(); ++it) {
      const std::string child = pointer_child(pointer, it.key());
      if (it.key() == "name") {
        if (!it->is_string())
          return invalid_argument("{}: must be a string, this is {}", child, it->dump());
        step.name = it->get<std::string>();
        if (step.name.empty()) return invalid_argument("{}: must not be empty", child);
        today["name"] = step.name;
        continue;
      }
      if (!step.pass.empty())
        return invalid_argument("{}: a step runs one pass; this one already has '{}'", child,
                                step.pass);
      STRIA_RETURN_IF_ERROR(bind_pass(it.key(), *it, child, step, today));
    }
    if (step.pass.empty()) return invalid_argument("{}: this step names no pass", pointer);
    if (step.name.empty()) step.name = step.pass;
    step.json = today.dump();
    return step;
  }

  // `today` gets the options, under the pass's name of today.
  Status bind_pass(const std::string& name, json options, const std::string& pointer,
                   PipelineStep& step, json& today) {
    const FormerPassName* former = nullptr;
    const PassInfo* pass = registry_.find(name, options, former);
    if (!pass) {
      std::vector<std::string> names;
      for (const PassInfo& known : registry_.passes) {
        names.push_back(known.name);
        for (const FormerPassName& former : known.former_names) names.push_back(former.name);
      }
      return invalid_argument("{}: unknown pass{}", pointer, did_you_mean(name, names));
    }
    step.pass = pass->name;
    step.pointer = pointer;
    if (former) {
      note(former->with.empty()
               ? former_name_note(pointer, pass->name, former->preset)
               : fmt::format("{}: is now the pass '{}' where it has one of {}; the "
                             "next release will not read it so",
                             pointer, pass->name, join(former->with, ", ")));
      json preset = json::parse(former->preset);
      if (options.is_object()) {
        preset.update(options);
        options = std::move(preset);
      }
    }
    std::vector<std::string> notes;
    STRIA_ASSIGN(step.run, pass->bind(options, pointer, &notes));
    for (std::string& each : notes) note(std::move(each));
    const Status tags = check_tags(*pass, options, pointer);
    pass->make_todays(options);
    today[pass->name] = std::move(options);
    return tags;
  }

  // Does anything make the tags that the step requires?
  Status check_tags(const PassInfo& pass, const json& options, const std::string& pointer) {
    if (!pass.tags) {
      made_.add_any();
      return {};
    }
    const StepTags tags = pass.tags(options, pointer);
    for (const StepTags::Required& required : tags.required) {
      if (made_.holds(required.tag)) continue;
      std::string text = fmt::format(
          "{}: no step before this one sets the tag '{}', and lowering does not{}",
          required.pointer, shown_name(required.tag), did_you_mean(required.tag, made_.names()));
      if (source_.of_manifest) return invalid_argument("{}", text);
      if (missing_.insert(required.tag).second) pipeline_.notes.push_back(std::move(text));
    }
    made_.add(pass.name, tags);
    return {};
  }

  // Each thing is said once, of the first place where it is so.
  void note(std::string text) {
    const size_t path = text.find(": is ");
    if (path != std::string::npos) {
      const size_t key = text.rfind('/', path);
      if (!noted_.insert(text.substr(key == std::string::npos ? 0 : key)).second) return;
    }
    pipeline_.notes.push_back(std::move(text));
  }

  const PipelineSource& source_;
  const json& shared_;  // `hw`, `machine` and `tune`
  const PassRegistry& registry_;
  Pipeline pipeline_;
  std::map<std::string, std::string> named_;  // a name that a step was given -> where
  std::set<std::string> noted_;               // notes without their places
  MadeTags made_;                             // by lowering, and by the steps so far
  std::set<std::string> missing_;             // tags that nothing makes, each noted once
  int includes_ = 0;
};

}  // namespace

Result<Pipeline> parse_pipeline(const PipelineSource& source, const TemplateSettings& settings,
                                const HardwareModel& model, const PassRegistry& registry) {
  json values = settings_as_json(settings);
  // How many candidates are timed where the pipeline chooses; the runtime's, no parameter.
  if (!values.contains("tune")) values["tune"] = 0;
  values["hw"] = model.merged();
  values["machine"] = roles_json(roles_of(model));
  const json shared = {
      {"hw", values["hw"]}, {"machine", values["machine"]}, {"tune", values["tune"]}};
  return PipelineParser(source, shared, registry).parse(values);
}

}  // namespace stria
