// SPDX-License-Identifier: Apache-2.0
// Messages about values of a JSON text, with the place in the text: file, line, column, the line
// itself and a caret. Every reader of models, pipelines and manifests reports through this.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/template/json_text.h"

namespace stria {

// A JSON text and where its values stand. Borrows the text.
struct PlacedText {
  const SourceText* source = nullptr;
  JsonPlaces places;
};

// A text that owns its words. No copies: `text` borrows them.
struct PlacedFile {
  explicit PlacedFile(SourceText from) : source(std::move(from)), text{&source, {}} {}
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;
  const SourceText source;
  PlacedText text;
};

// Texts that were merged into one object, the one that wins first. For one thread.
class PlacedTexts {
 public:
  explicit PlacedTexts(std::vector<const PlacedText*> texts) : texts_(std::move(texts)) {}
  // invalid_argument about the value at `pointer`, or its key.
  enum class At { key, value };
  Status fail(const std::string& pointer, const std::string& message, At at = At::value) const;
  // "cpu.json:5", without the folders before it; "" for a value that none of the texts has.
  std::string line_of(const std::string& pointer) const;

 private:
  std::vector<const PlacedText*> texts_;
  // Where the lines of each text begin; made when a line is first asked for.
  mutable std::vector<std::vector<size_t>> lines_;
};

// A message of a reader that knows of no text: it begins with the JSON pointer of what it is about,
// "/0/tile/tile_size: unknown option". As `render` gives it, at the key that has this pointer in
// the text, or at the closest one around it; "file: message" if the text has no places.
std::string render_at_pointer(const PlacedText& text, Severity severity, std::string_view message);
// "file:3:9", the place of the key at `pointer`, or of the closest one around it; "file" if the
// text has no places.
std::string place_of(const PlacedText& text, const std::string& pointer);

}  // namespace stria
