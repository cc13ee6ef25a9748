// SPDX-License-Identifier: Apache-2.0
// What an ONNX model leaves open, and a program made of it has to know.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/type/host_tensor.h"

namespace stria {

class Device;
class Program;

// Strings, row-major.
struct STRIA_API OnnxTexts {
  std::vector<std::string> texts;
  std::vector<int64_t> sizes;
};

// Plain value; tensors are shared.
struct STRIA_API OnnxOptions {
  // Sizes of inputs, by name. Needed where the model leaves a dimension open.
  std::map<std::string, std::vector<int64_t>> sizes;
  // Sizes of dimensions that have names, for every input that has one of that name. What `sizes`
  // says of a dimension holds for its name, too.
  std::map<std::string, int64_t> dims;
  // Inputs bound by value: they are no inputs of the program.
  std::map<std::string, std::shared_ptr<const HostTensor>> values;
  // Values at hand: they are bound like those of `values` if the program's sizes depend on them
  // (axes, shapes, numbers of rounds), else they are not looked at.
  std::map<std::string, std::shared_ptr<const HostTensor>> at_hand;
  // Inputs of strings: no device has any, so that they are bound by value always.
  std::map<std::string, OnnxTexts> texts;
  // Where sizes depend on elements (NonMaxSuppression, NonZero), these are computed while the
  // program is made. What has more than 10^8 points of loops runs as one program on the device that
  // this gives. The interpreter computes it where this is empty, where the device is not valid, and
  // where the device lacks something that the program needs, which a note tells. Any other failure,
  // of this or of the device, is the model's.
  std::function<Result<Device>(const Program&)> open_device;
};

}  // namespace stria
