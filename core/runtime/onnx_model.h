// SPDX-License-Identifier: Apache-2.0
// An ONNX model that was read: its inputs and outputs, and programs made of it.
//
//   STRIA_ASSIGN(OnnxModel model, OnnxModel::read("detector.onnx"));
//   STRIA_ASSIGN(Program program, model.program({.sizes = {{"image", {1, 3, 640, 480}}}}));
//   STRIA_ASSIGN(Executable detect, device.compile(program));
//
// Program::from_onnx does the first two at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/runtime/onnx_options.h"
#include "stria/runtime/program.h"
#include "stria/type/data_type.h"

namespace stria {

// Plain value.
struct STRIA_API OnnxDimension {
  std::optional<int64_t> size;  // elements; none: open
  std::string name;             // of an open one, as the model has it; may be ""
};

// An input of the model's graph. Plain value.
struct STRIA_API OnnxInput {
  std::string name;
  std::string element;           // as the standard writes it: "float", "int64", "sequence(float)"
  std::optional<DataType> type;  // of the tensor that a program takes; none: it must be known
  bool has_dims = false;         // false: any rank fits
  std::vector<OnnxDimension> dims;
  bool has_default = false;  // it may be left out: the model has elements for it
  std::string text() const;  // "image: fp32[batch, 3, 640, 480]"
};

// A handle on constant data; safe from any thread. Weights stay in the mapped file until they are
// used: nobody may make the file shorter meanwhile. Every function but read() needs a model that
// read() has made.
class STRIA_API OnnxModel {
 public:
  OnnxModel() = default;
  bool valid() const { return state_ != nullptr; }

  // Reads the file and looks at all of it but the weights. invalid_argument if it is no model, with
  // the place; unsupported for a newer format; not_found, permission_denied, also for external data
  // outside the model's folder.
  static Result<OnnxModel> read(const std::filesystem::path& path);

  const std::string& name() const;               // the file's stem
  const std::vector<OnnxInput>& inputs() const;  // those with defaults, too
  const std::vector<std::string>& outputs() const;

  // The program for the given sizes and values. Its inputs are those of the model that are not
  // bound, in the model's order, each with its type and sizes; weights are part of it. Its outputs
  // are the model's; an item of a sequence is "name[0]". Text is an output of i64, the numbers of
  // texts; maps of a key to a number are a tensor with a column for each key: notes() of the
  // program has texts and keys.
  // unsupported, with a list of all that is missing: operators, types, and inputs
  // whose elements must be known. invalid_argument: sizes that are open, or that do not fit;
  // not_found: a name that the model does not have, with the nearest.
  Result<Program> program(const OnnxOptions& options = {}) const;

 private:
  friend struct Inside;
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stria
