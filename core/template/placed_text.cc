// SPDX-License-Identifier: Apache-2.0
#include "stria/template/placed_text.h"

#include <algorithm>
#include <filesystem>

#include "stria/base/shown_text.h"

namespace stria {
namespace {

std::vector<size_t> line_begins(std::string_view text) {
  std::vector<size_t> out = {0};
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    out.push_back(at + 1);
  return out;
}

// Of the value at `pointer`, or of the closest one around it: what is missing is missed there. Null
// if the text has no places.
const JsonPlace* closest_place(const PlacedText& text, std::string pointer) {
  for (;; pointer.resize(pointer.rfind('/'))) {
    const auto found = text.places.find(pointer);
    if (found != text.places.end()) return &found->second;
    if (pointer.find('/') == std::string::npos) return nullptr;
  }
}

// The pointer at the beginning of a message. A key may have ": " in it: the longest pointer that
// the text has is meant.
std::string pointer_of(const PlacedText& text, std::string_view message) {
  std::string found(message.substr(0, std::min(message.find(": "), message.size())));
  for (size_t end = message.find(": "); end != std::string_view::npos;
       end = message.find(": ", end + 1))
    if (text.places.count(std::string(message.substr(0, end)))) found = message.substr(0, end);
  return found;
}

}  // namespace

Status PlacedTexts::fail(const std::string& pointer, const std::string& message, At at) const {
  const std::string text = fmt::format("{}: {}", pointer.empty() ? "/" : pointer, message);
  for (std::string there = pointer;; there.resize(there.rfind('/'))) {
    for (const PlacedText* placed : texts_) {
      auto place = placed->places.find(there);
      if (place == placed->places.end()) continue;
      const size_t begin = at == At::key ? place->second.key : place->second.value;
      return Status(StatusCode::invalid_argument,
                    render(*placed->source, {Severity::error, {begin, begin + 1}, text}));
    }
    if (there.empty()) break;
  }
  return invalid_argument("{}: {}", texts_.empty() ? "model" : texts_[0]->source->name,
                          shown_message(text));
}

std::string PlacedTexts::line_of(const std::string& pointer) const {
  lines_.resize(texts_.size());
  for (size_t n = 0; n < texts_.size(); ++n) {
    const PlacedText& placed = *texts_[n];
    const auto place = placed.places.find(pointer);
    if (place == placed.places.end()) continue;
    std::vector<size_t>& lines = lines_[n];
    if (lines.empty()) lines = line_begins(placed.source->text);
    const auto line = std::upper_bound(lines.begin(), lines.end(), place->second.value);
    return fmt::format("{}:{}", std::filesystem::path(placed.source->name).filename().string(),
                       std::max<std::ptrdiff_t>(1, line - lines.begin()));
  }
  return "";
}

std::string render_at_pointer(const PlacedText& text, Severity severity, std::string_view message) {
  const JsonPlace* place = closest_place(text, pointer_of(text, message));
  if (!place) return fmt::format("{}: {}", shown_name(text.source->name), shown_message(message));
  // From the key to the value.
  return render(
      *text.source,
      {severity, {place->key, std::max(place->key, place->value) + 1}, std::string(message)});
}

std::string place_of(const PlacedText& text, const std::string& pointer) {
  const JsonPlace* place = closest_place(text, pointer);
  if (!place) return text.source->name;
  const LineColumn at = line_column(text.source->text, place->key);
  return fmt::format("{}:{}:{}", text.source->name, at.line, at.column);
}

}  // namespace stria
