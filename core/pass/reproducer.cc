// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/reproducer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stria/base/text.h"
#include "stria/pass/option_fields.h"
#include "stria/template/json_text.h"

namespace stria {
namespace {

using nlohmann::json;

constexpr std::string_view kFirstLine = "// stria reproducer 1";
constexpr std::string_view kJsonBegin = "// {";
constexpr std::string_view kJsonEnd = "// }";

// As lines of the head's comment: no byte of a message may end it or confuse a reader of text.
std::string as_comment(const std::string& text, std::string_view indent) {
  std::string out;
  for (std::string line : split(text, '\n')) {
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    if (!line.empty()) out += fmt::format("// {}{}\n", indent, line);
  }
  return out;
}

Status fail_at(const SourceText& file, size_t offset, std::string message) {
  Diagnostics diagnostics(file);
  diagnostics.error({offset, offset}, std::move(message));
  return diagnostics.status();
}

// The head's JSON at its own place in the file, all else blank, so that messages about it point
// into the file.
Result<SourceText> json_of_head(const SourceText& file) {
  SourceText out{file.name, std::string(file.text.size(), ' ')};
  bool inside = false;
  size_t begin = text_begin(file.text);
  for (size_t line = 0; begin < file.text.size(); ++line) {
    const size_t end = std::min(file.text.find('\n', begin), file.text.size());
    std::string_view text = std::string_view(file.text).substr(begin, end - begin);
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (line == 0 && text != kFirstLine)
      return fail_at(file, begin,
                     fmt::format("this is no reproducer: its first line is '{}'", kFirstLine));
    if (!text.starts_with("//"))
      return fail_at(file, begin,
                     inside ? fmt::format("the head's JSON has no end: a line '{}'", kJsonEnd)
                            : fmt::format("the head has no JSON: a line '{}'", kJsonBegin));
    inside = inside || text == kJsonBegin;
    if (inside) out.text.replace(begin + 2, text.size() - 2, text.substr(2));
    if (end < out.text.size()) out.text[end] = '\n';
    if (inside && text == kJsonEnd) return out;
    begin = end + 1;
  }
  return fail_at(file, file.text.size(), "the head of the reproducer does not end");
}

Status read_head(const json& head, Reproducer& out) {
  JsonText pipeline{JsonText::Kind::list, ""}, hw{JsonText::Kind::object, ""};
  OptionFields fields;
  fields.add("device", out.device, "plugin:id");
  fields.add("fast_math", out.fast_math, "compile with fast math");
  fields.add("no_peepholes", out.no_peepholes, "generate code without peepholes");
  fields.add("verify_each", out.verify_each, "verify after each step");
  fields.add("build", out.build, "build for the device after the pipeline");
  fields.add("stria", out.written_by, "version that wrote the file");
  fields.add("pipeline", pipeline, "the steps");
  fields.add("hw", hw, "the merged hardware model");
  STRIA_RETURN_IF_ERROR(fields.bind(head, ""));
  if (pipeline.text.empty()) return invalid_argument("/pipeline: is missing");
  if (hw.text.empty()) return invalid_argument("/hw: is missing");
  if (out.build && out.device.empty()) return invalid_argument("/build: needs a /device");
  out.pipeline = std::move(pipeline.text);
  out.hw = std::move(hw.text);
  return Status();
}

}  // namespace

const char* stria_version() { return STRIA_VERSION; }

bool Reproducer::needs_device() const {
  if (build) return true;
  const json steps = json::parse(pipeline);
  return std::any_of(steps.begin(), steps.end(), [](const json& step) {
    return step.is_object() && step.contains("plugin_pass");
  });
}

std::string Reproducer::to_string() const {
  json head = {{"device", device},           {"fast_math", fast_math},
               {"verify_each", verify_each}, {"build", build},
               {"stria", stria_version()},   {"pipeline", json::parse(pipeline)},
               {"hw", json::parse(hw)}};
  if (no_peepholes) head["no_peepholes"] = true;
  const auto replace = json::error_handler_t::replace;  // bytes of a plugin that are no UTF-8
  return fmt::format("{}\n// To see it again: stria {} --run-repro FILE\n{}{}{}", kFirstLine,
                     needs_device() ? "run" : "opt", as_comment(failure, "  "),
                     as_comment(head.dump(2, ' ', false, replace), ""), program);
}

Result<Reproducer> parse_reproducer(const SourceText& file) {
  Diagnostics diagnostics(file);
  if (!check_is_text(file, diagnostics)) return diagnostics.status();
  STRIA_ASSIGN(SourceText head, json_of_head(file));
  STRIA_ASSIGN(json values, parse_json_text(head));
  Reproducer out;
  if (Status status = read_head(values, out); !status.ok()) return status.with_context(file.name);
  out.program = file.text;
  return out;
}

}  // namespace stria
