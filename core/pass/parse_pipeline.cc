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
#include "stria/template/placed_text.h"

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
    const auto file = std::make_shared<PlacedFile>(source_.text);
    // What the template's reader says names file, line and column by itself.
    STRIA_ASSIGN(const json root, parse_json_template(file->source, values, &file->text.places));
    if (const Status status = add_steps(root, "", 0, file); !status.ok())
      return placed(status, file->text, "");
    return std::move(pipeline_);
  }

 private:
  // Failures in here begin with `prefix` and the JSON pointer of what is wrong: this one with the
  // place that it has in the file. What is wrong in a fragment comes first.
  Status placed(const Status& failure, const PlacedText& file, const std::string& prefix) {
    std::string_view message = failure.message();
    if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
    const Severity severity = in_fragment_.empty() ? Severity::error : Severity::note;
    const std::string text = in_fragment_ + render_at_pointer(file, severity, message);
    in_fragment_.clear();
    return Status(failure.code(), text);
  }

  // What is wrong in the fragment that is included at `pointer`; it names its own place.
  Status included(const Status& failure, const std::string& pointer) {
    in_fragment_ = failure.message();
    if (!in_fragment_.ends_with('\n')) in_fragment_ += '\n';
    return Status(failure.code(), pointer + ": is included here");
  }

  // Adds the steps of a rendered file or fragment. `prefix` stands before its JSON paths.
  Status add_steps(const json& root, const std::string& prefix, int depth,
                   const std::shared_ptr<const PlacedFile>& file) {
    const json* list = &root;
    std::string pointer;
    if (root.is_object()) {
      for (auto it = root.begin(); it != root.end(); ++it)
        if (it.key() != "version" && it.key() != "passes")
          return invalid_argument("{}: unknown key{}", pointer_child(prefix, it.key()),
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
      reading_ = {file, prefix};
      const std::string at = prefix + pointer_child(pointer, std::to_string(i));
      const json& entry = (*list)[i];
      if (entry.is_object() && entry.contains("include")) {
        STRIA_RETURN_IF_ERROR(include(entry, at, !prefix.starts_with(kOfCore), depth));
      } else {
        STRIA_RETURN_IF_ERROR(add_step(entry, at));
        PipelineStep& added = pipeline_.steps.back();
        added.in_file = added.pointer.substr(prefix.size());
        added.file = file;
      }
    }
    return {};
  }

  Status include(const json& entry, const std::string& pointer, bool may_own, int depth) {
    for (auto it = entry.begin(); it != entry.end(); ++it)
      if (it.key() != "include" && it.key() != "with")
        return invalid_argument(
            "{}: unknown key: a step that includes others has 'include' and 'with'{}",
            pointer_child(pointer, it.key()), did_you_mean(it.key(), {"include", "with"}));
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
    STRIA_ASSIGN(const json values, values_of(entry, file, pointer));
    const auto placed_file = std::make_shared<PlacedFile>(file);
    const auto steps = parse_json_template(file, values, &placed_file->text.places);
    if (!steps.ok()) return included(steps.status(), at);
    const std::string prefix = name + ": ";
    const Status added = add_steps(*steps, prefix, depth + 1, placed_file);
    return added.ok() ? added : included(placed(added, placed_file->text, prefix), at);
  }

  // What `with` gives the fragment, and what every file sees.
  Result<json> values_of(const json& entry, const SourceText& fragment,
                         const std::string& pointer) {
    json values = shared_;
    if (!entry.contains("with")) return values;
    const std::string at = pointer_child(pointer, "with");
    if (!entry["with"].is_object())
      return invalid_argument("{}: must be an object of values, this is {}", at,
                              entry["with"].dump());
    const auto parameters = settable_parameters(fragment);
    if (!parameters.ok()) return included(parameters.status(), pointer_child(pointer, "include"));
    const std::set<std::string>& known = *parameters;
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
      // What else a step may have is no less likely to be meant.
      std::vector<std::string> names = {"name", "include"};
      for (const PassInfo& known : registry_.passes) {
        names.push_back(known.name);
        for (const FormerPassName& former : known.former_names) names.push_back(former.name);
      }
      return invalid_argument("{}: unknown pass{}", pointer, did_you_mean(name, names));
    }
    if (!step.pass.empty())
      return invalid_argument("{}: a step runs one pass; this one already has '{}'", pointer,
                              step.pass);
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
      if (missing_.insert(required.tag).second) add_note(text);
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
    add_note(text);
  }

  // The text begins with the prefix and a JSON pointer, as failures do.
  void add_note(std::string_view text) {
    if (text.starts_with(reading_.prefix)) text.remove_prefix(reading_.prefix.size());
    const std::string pointer(text.substr(0, text.find(": ")));
    pipeline_.notes.push_back(fmt::format("{}: {}", place_of(reading_.file->text, pointer), text));
  }

  // The file whose step is read, and what stands before its JSON pointers.
  struct Reading {
    std::shared_ptr<const PlacedFile> file;
    std::string prefix;
  };

  const PipelineSource& source_;
  const json& shared_;  // `hw`, `machine` and `tune`
  const PassRegistry& registry_;
  Pipeline pipeline_;
  std::map<std::string, std::string> named_;  // a name that a step was given -> where
  std::set<std::string> noted_;               // notes without their places
  MadeTags made_;                             // by lowering, and by the steps so far
  std::set<std::string> missing_;             // tags that nothing makes, each noted once
  int includes_ = 0;
  std::string in_fragment_;  // what is wrong in a fragment, and where
  Reading reading_;
};

// What `hw` is, where a failure names a part of it that is not there: the pipeline and the model
// can have the same name.
std::string note_of_model(const Status& failure, const HardwareModel& model) {
  if (failure.message().find("'hw.") == std::string::npos &&
      failure.message().find("'hw[") == std::string::npos)
    return "";
  const std::string file = model.file().empty() ? "" : ", " + model.file();
  return fmt::format("{}note: 'hw' is the hardware model{}\n",
                     failure.message().ends_with('\n') ? "" : "\n", file);
}

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
  Result<Pipeline> out = PipelineParser(source, shared, registry).parse(values);
  if (out.ok()) return out;
  return Status(out.status().code(), out.status().message() + note_of_model(out.status(), model));
}

}  // namespace stria
