// SPDX-License-Identifier: Apache-2.0
#include "verbs/doctor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "audience.h"
#include "examination.h"
#include "printed_json.h"
#include "shell_word.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/files/copied_from.h"
#include "stria/plugin.h"
#include "stria/runtime/pick/selection.h"

namespace stria::command {
namespace {

// A plugin with what is to be said of it.
struct Finding {
  Examination seen;
  std::string id;
  const ExaminedStep* failed = nullptr;  // of `seen`
  std::vector<std::string> mends;        // commands, or what to do
  std::string replaced_by;  // directory of the one with the same id that is used instead; or empty
  bool well() const { return mends.empty(); }
};

// Whoever looks at this plugin can edit it.
bool is_for_author(const Examination& seen) {
  return audience().author || hal::is_own_place(seen.found.origin);
}

// The call that a failure names, "executor.fill", or "".
std::string slot_in(const Examination& seen, std::string_view failure) {
  const auto is_slot = [](std::string_view word) {
    return word.find('.') != std::string_view::npos &&
           word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.") == std::string_view::npos;
  };
  // "plugin ID: TABLE.SLOT: …", "it crashed (Aborted), in TABLE.SLOT".
  for (const std::string& before :
       {fmt::format("plugin {}: ", seen.manifest.id), std::string(", in ")}) {
    const size_t at = failure.find(before);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = failure.substr(at + before.size());
    const std::string_view word = rest.substr(0, rest.find_first_of(": "));
    if (is_slot(word)) return std::string(word);
  }
  return "";
}

// The JSON files of the plugin that a failure names, quoted: hardware model, pipeline, or a
// fragment beside it. The one where it was noticed comes first.
std::vector<std::string> files_in(const Examination& seen, std::string_view failure) {
  std::map<size_t, std::string> found;
  for (const char* below : {"hw", "passes"}) {
    std::error_code error;
    for (std::filesystem::directory_iterator entries(seen.found.directory / below, error), end;
         !error && entries != end; entries.increment(error)) {
      if (entries->path().extension() != ".json") continue;
      const auto file = hal::file_to_edit(
          seen.found.directory, std::filesystem::path(below) / entries->path().filename());
      if (const size_t at = failure.find(hal::shown_path(file)); at != std::string_view::npos)
        found[at] = shell_quoted(file);
    }
  }
  std::vector<std::string> out;
  for (const auto& [at, file] : found) out.push_back(file);
  return out;
}

// What an author edits after a failed step.
std::string edit_of(const Examination& seen, const ExaminedStep& step) {
  const std::filesystem::path manifest = hal::file_to_edit(seen.found.directory, "plugin.json");
  if (const auto files = files_in(seen, step.failure); !files.empty())
    return "edit " + join(files, " or ");
  if (step.failure.find("the manifest says " + seen.manifest.id + " ") != std::string::npos)
    return fmt::format(
        "say the same \"id\" and \"version\" in {} and in the plugin, in STRIA_PLUGIN(class, id, "
        "version) or the stria_plugin_info that it fills",
        shell_quoted(manifest));
  if (step.failure.find("has no device kind '") != std::string::npos)
    return fmt::format(
        "name that kind under \"devices\" in {}, or let driver.enumerate set the device's "
        "info.kind to one that stands there",
        shell_quoted(manifest));
  if (step.name == "version" || step.name == "query")
    return fmt::format(
        "build the plugin against this package's stria/plugin.h, and say in {} what it then "
        "speaks: \"abi\": {{\"major\": {}, \"minor\": [{}, {}]}}, \"stripe\": {{\"major\": {}, "
        "\"minor\": [{}, {}]}}",
        shell_quoted(manifest), STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR, STRIA_ABI_MINOR,
        STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR);
  if (step.name == "elf") return "link the plugin with stria_add_plugin, or as the message says";
  if (step.name == "hash")
    return fmt::format(
        "after each build the hashes in {} have to be made anew: cd {} && sha256sum {}",
        shell_quoted(manifest), shell_quoted(seen.found.directory),
        shell_quoted(seen.manifest.library));
  const std::string slot = slot_in(seen, step.failure);
  if (!slot.empty()) {
    const size_t dot = slot.find('.');
    return fmt::format(
        "look at {} of the plugin; what it must do stands in stria/plugin.h, at {} of "
        "stria_{}_table",
        slot, slot.substr(dot + 1), slot.substr(0, dot));
  }
  // The lines below the first one say what is wrong, and where.
  if (step.failure.find('\n') != std::string::npos) return "mend what the message says";
  if (step.failure.find("wrong results") != std::string::npos)
    return "find the first kernel that is wrong (docs/faults.md): stria run PROGRAM --device " +
           seen.manifest.id + " --check-kernels wrong";
  return "run the step by itself, under a debugger if it ends the process: stria doctor " +
         seen.manifest.id + " --verbose";
}

std::string report_of(const Examination& seen) {
  if (is_for_author(seen)) return "mend it in " + shell_quoted(seen.found.directory);
  return fmt::format("report it to the plugin's maker{}, with: stria doctor {} --json",
                     seen.manifest.vendor.empty() ? "" : " (" + seen.manifest.vendor + ")",
                     seen.manifest.id);
}

// What would mend a failed step.
std::string mend_of(const Examination& seen, const ExaminedStep& step) {
  const std::filesystem::path& directory = seen.found.directory;
  const std::string marker = "to trust it: ";
  if (size_t at = step.failure.find(marker); at != std::string::npos)
    return step.failure.substr(at + marker.size(),
                               step.failure.find('\n', at) - at - marker.size());
  if (step.failure.find("ulimit -u") != std::string::npos)
    return "let more processes run: end some, or raise the limit (ulimit -u)";
  if (step.name == "search") return "mkdir -p " + shell_quoted(directory);
  if (step.name == "manifest" && step.failure.find("is not built there") != std::string::npos)
    return is_for_author(seen) ? "build the plugin" : "install the plugin again";
  if (step.name == "manifest")
    return "edit " + shell_quoted(hal::file_to_edit(directory, "plugin.json"));
  if (step.failure.find("within the limit of") != std::string::npos)
    return fmt::format("if it is only slow: stria doctor {} --time-limit 60", seen.manifest.id);
  if (step.name == "load" && is_for_author(seen) &&
      step.failure.find("undefined symbol") != std::string::npos)
    return "define the symbol in the plugin, or link the library that has it; what is missing: ldd "
           "-r " +
           shell_quoted(directory / seen.manifest.library);
  if (is_for_author(seen) && step.name != "load") return edit_of(seen, step);
  if (step.name == "hash")
    return fmt::format("install the plugin again, or pin what is there: cd {} && sha256sum {}",
                       shell_quoted(directory), shell_quoted(seen.manifest.library));
  if (step.name == "version" || step.name == "elf" || step.name == "query")
    return "install a build of the plugin for this stria and this machine";
  if (step.name == "load") {
    const std::filesystem::path library = directory / seen.manifest.library;
    return "install what is missing here: ldd -r " + shell_quoted(library);
  }
  return report_of(seen);
}

void judge(Finding& finding) {
  for (const ExaminedStep& step : finding.seen.steps) {
    if (step.failure.empty()) continue;
    finding.failed = &step;
    finding.mends.push_back(mend_of(finding.seen, step));
  }
  for (const ExaminedNeed& need : finding.seen.needs)
    if (need.path.empty()) finding.mends.push_back("apt-get install " + need.need.package);
  // What has not been run on is not known to be well; the device knows why.
  const std::vector<ExaminedDevice>& devices = finding.seen.devices;
  for (const ExaminedDevice& device : devices)
    if (!device.reason.empty() && device.reason != kNoReason)
      finding.mends.push_back(fmt::format("make {} available: {}", device.selector, device.reason));
  // A machine without its hardware is a device that is not available; it is listed, with the
  // reason.
  const bool listed =
      std::any_of(finding.seen.steps.begin(), finding.seen.steps.end(), [](const auto& step) {
        return step.name == hal::name_of(hal::Step::enumerate) && step.failure.empty();
      });
  if (listed && devices.empty())
    finding.mends.push_back("it lists no device at all, not even one that is not available: " +
                            report_of(finding.seen));
  for (const ExaminedDevice& device : devices)
    if (device.reason == kNoReason)
      finding.mends.push_back(fmt::format("{} is not available and gives no reason: {}",
                                          device.selector, report_of(finding.seen)));
}

// All lines of its message, as many as tell what is wrong.
void print_failure(const ExaminedStep& step) {
  constexpr int kMostLines = 30;
  int lines = 0;
  const std::string_view failure = step.failure;  // a line end at its end begins no line
  for (const std::string& line :
       split(failure.substr(0, failure.find_last_not_of('\n') + 1), '\n')) {
    if (lines == kMostLines) {
      std::printf("          …\n");
      break;
    }
    const std::string shown = shown_name(line, kMaxMessageBytes);
    if (++lines == 1)
      std::printf("  FAILED  %s: %s\n", step.name.c_str(), shown.c_str());
    else
      std::printf("          %s\n", shown.c_str());
  }
}

void print_text(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    const Examination& seen = finding.seen;
    std::printf("%s%s%s  %s (%s)\n", finding.id.c_str(), seen.manifest.version.empty() ? "" : " ",
                seen.manifest.version.c_str(), hal::shown_path(seen.found.directory).c_str(),
                seen.found.origin.c_str());
    std::vector<std::string> passed;
    for (const ExaminedStep& step : seen.steps)
      if (step.failure.empty()) passed.push_back(step.name);
    if (!passed.empty()) std::printf("  passed  %s\n", join(passed, ", ").c_str());
    for (const ExaminedNeed& need : seen.needs)
      std::printf("  needs   %s: %s\n", need.need.library.c_str(),
                  need.path.empty() ? "not installed" : need.path.c_str());
    for (const ExaminedDevice& device : seen.devices)
      std::printf("  device  %s  %s%s%s\n", device.selector.c_str(), device.name.c_str(),
                  device.reason.empty() ? "" : ": not available: ", device.reason.c_str());
    for (const ExaminedDevice& device : seen.devices)
      for (const std::string& warning : device.warnings)
        std::printf("  warning %s: %s\n", device.selector.c_str(), shown_name(warning).c_str());
    if (finding.failed) print_failure(*finding.failed);
    for (const std::filesystem::path& file : hal::edited_since_build(seen.found.directory))
      std::printf("  edited  %s, after the last build: build it again\n",
                  hal::shown_path(file).c_str());
    if (!finding.replaced_by.empty())
      std::printf("  not used: the one in '%s' was found before\n",
                  hal::shown_path(finding.replaced_by).c_str());
    for (const std::string& mend : finding.mends) std::printf("  mend    %s\n", mend.c_str());
  }
}

void print_json(const std::vector<Finding>& findings) {
  using Json = nlohmann::ordered_json;
  Json plugins = Json::array();
  for (const Finding& finding : findings) {
    const Examination& seen = finding.seen;
    Json steps = Json::array(), needs = Json::array(), devices = Json::array();
    for (const ExaminedStep& step : seen.steps)
      steps.push_back(
          {{"step", step.name}, {"passed", step.failure.empty()}, {"failure", step.failure}});
    for (const ExaminedNeed& need : seen.needs)
      needs.push_back({{"library", need.need.library},
                       {"package", need.need.package},
                       {"installed", !need.path.empty()},
                       {"path", need.path}});
    for (const ExaminedDevice& device : seen.devices)
      devices.push_back({{"selector", device.selector},
                         {"name", device.name},
                         {"available", device.reason.empty()},
                         {"ran", device.ran},
                         {"reason", device.reason},
                         {"warnings", device.warnings}});
    plugins.push_back({{"id", finding.id},
                       {"version", seen.manifest.version},
                       {"directory", seen.found.directory.string()},
                       {"origin", seen.found.origin},
                       {"well", finding.well()},
                       {"replaced_by", finding.replaced_by},
                       {"steps", std::move(steps)},
                       {"needs", std::move(needs)},
                       {"devices", std::move(devices)},
                       {"mend", finding.mends}});
  }
  const Json all = {{"plugins", std::move(plugins)}};
  std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

// The id that a plugin has before it is loaded.
std::string id_of(const hal::FoundPlugin& found) {
  if (found.search.ok())
    if (auto manifest = hal::read_manifest(found.directory); manifest.ok()) return manifest->id;
  return shown_name(found.directory.filename().string());
}

}  // namespace

Outcome doctor(const DoctorOptions& options) {
  const std::chrono::milliseconds limit(std::llround(options.step_limit_s * 1e3));
  std::vector<Finding> findings;
  std::vector<std::string> ids;
  for (hal::FoundPlugin& found : hal::find_plugins({})) {
    Finding finding;
    finding.id = id_of(found);
    ids.push_back(finding.id);
    if (!options.plugins.empty() &&
        std::count(options.plugins.begin(), options.plugins.end(), finding.id) == 0)
      continue;
    const auto first = std::find_if(findings.begin(), findings.end(), [&](const Finding& other) {
      return other.id == finding.id && !other.failed && other.replaced_by.empty();
    });
    if (first == findings.end()) {
      finding.seen = examine(found, limit, options.isolated);
    } else {
      finding.seen.found = std::move(found);
      finding.replaced_by = first->seen.found.directory.string();
    }
    findings.push_back(std::move(finding));
    judge(findings.back());
  }
  for (const std::string& id : options.plugins)
    if (std::count(ids.begin(), ids.end(), id) == 0)
      return Outcome(ExitCode::device,
                     not_found("there is no plugin '{}'{} (found: {})\n{}", shown_name(id),
                               did_you_mean(id, ids), ids.empty() ? "none" : join(ids, ", "),
                               options.json && id.ends_with(".json") ? print_to_file_hint(id)
                                                                     : plugin_path_hint(id)));
  options.json ? print_json(findings) : print_text(findings);
  const auto bad = std::count_if(findings.begin(), findings.end(),
                                 [](const Finding& finding) { return !finding.well(); });
  if (bad == 0 && !findings.empty()) return Outcome();
  if (findings.empty()) return Outcome(ExitCode::device, not_found("there is no plugin"));
  return Outcome(ExitCode::device,
                 make_error(StatusCode::failed_precondition, "{} of {} plugins {} not well", bad,
                            findings.size(), bad == 1 ? "is" : "are"));
}

}  // namespace stria::command
