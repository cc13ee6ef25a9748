// SPDX-License-Identifier: Apache-2.0
// A pipeline file, and where the fragments lie that it includes. A step of a pipeline may be
//   {"include": "core/opening"}                      a fragment of core
//   {"include": "rows", "with": {"UNIT": "CORE"}}    rows.json beside the pipeline file
// The fragment's steps take its place. A fragment is written like a pipeline. It sees `hw`, `tune`
// and what `with` gives it, and nothing else of the file that includes it, so that it means the
// same everywhere. It may include fragments of its own folder and of core.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "stria/base/source_text.h"
#include "stria/base/status.h"

namespace stria {

// Reads the fragment of that name; is_fragment_name(name) holds.
using ReadFragment = std::function<Result<SourceText>(const std::string& name)>;

// Small letters, digits and underscores: a file name without its ".json". It cannot leave a folder.
bool is_fragment_name(const std::string& name);

struct PipelineSource {
  PipelineSource() = default;
  // A pipeline that includes fragments of core alone.
  PipelineSource(SourceText file) : text(std::move(file)) {}  // NOLINT: meant to convert
  PipelineSource(std::string name, std::string file) : text{std::move(name), std::move(file)} {}
  PipelineSource(SourceText file, ReadFragment read)
      : text(std::move(file)), own(std::move(read)) {}

  SourceText text;
  // Does a plugin's manifest name it? Then it runs on what lowering makes, and on nothing else.
  bool of_manifest = false;
  ReadFragment own;  // reads fragments without "core/" in their name; empty: there are none
};

// Reads `name`.json beside the file `pipeline`, at most so many bytes.
ReadFragment fragments_beside(const std::filesystem::path& pipeline, size_t max_bytes);

}  // namespace stria
