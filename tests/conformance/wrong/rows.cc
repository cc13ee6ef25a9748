// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stria/base/file.h"

namespace stria::wrong {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using conformance::Ending;

std::optional<std::string> text_at(const Json& json, const char* key) {
  return json.contains(key) ? std::optional<std::string>(json.at(key).get<std::string>())
                            : std::nullopt;
}

FileEdit edit_of(const Json& json) {
  FileEdit out;
  out.file = json.at("file").get<std::string>();
  out.from = json.value("from", "");
  out.to = json.value("to", "");
  out.text = text_at(json, "text");
  out.mode = text_at(json, "mode");
  out.link = text_at(json, "link");
  out.remove = json.value("remove", false);
  out.pipe = json.value("pipe", false);
  return out;
}

std::vector<std::string> one_or_more(const Json& json) {
  if (json.is_string()) return {json.get<std::string>()};
  return json.get<std::vector<std::string>>();
}

Result<Row> row_of(const Json& json, const std::string& group) {
  Row out;
  out.name = json.at("name").get<std::string>();
  out.what = json.at("what").get<std::string>();
  out.group = group;
  out.cases = json.at("cases").get<std::vector<std::string>>();
  out.level = static_cast<conformance::Level>(json.at("level").get<int>());
  out.says = json.value("says", "");
  out.full = json.value("full", false);
  if (json.contains("limit_ms"))
    out.limit = std::chrono::milliseconds(json.at("limit_ms").get<int>());
  if (json.contains("ending"))
    for (const std::string& name : one_or_more(json.at("ending"))) {
      int ending = 0;
      while (ending < conformance::kEndings && name_of(static_cast<Ending>(ending)) != name)
        ++ending;
      if (ending == conformance::kEndings)
        return make_error(StatusCode::invalid_argument, "{}: '{}' is no ending", out.name, name);
      out.endings.push_back(static_cast<Ending>(ending));
    }
  if (json.contains("files"))
    for (const Json& edit : json.at("files")) out.files.push_back(edit_of(edit));
  return out;
}

}  // namespace

Result<std::vector<Row>> read_rows(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Row> out;
  for (const fs::path& file : files) {
    STRIA_ASSIGN(const std::string text, read_file(file));
    try {
      for (const Json& json : Json::parse(text)) {
        STRIA_ASSIGN(Row row, row_of(json, file.stem().string()));
        out.push_back(std::move(row));
      }
    } catch (const Json::exception& error) {
      return make_error(StatusCode::invalid_argument, "{}: {}", file.string(), error.what());
    }
  }
  return out;
}

}  // namespace stria::wrong
