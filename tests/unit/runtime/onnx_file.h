// SPDX-License-Identifier: Apache-2.0
// Models of ONNX as files in a folder of the test, read and run through the public interface.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../onnx/model_file.h"
#include "stria/runtime/device.h"
#include "stria/runtime/onnx_model.h"
#include "stria/runtime/runtime.h"

namespace stria {

class OnnxFileTest : public testing::Test {
 protected:
  using WireWriter = onnx::WireWriter;
  static onnx::WireWriter tensor_type(onnx::ElementType type, const onnx::WrittenDims& dims) {
    return onnx::tensor_type(type, dims);
  }

  void SetUp() override {
    std::string pattern = testing::TempDir() + "/stria_model_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
    options.only_plugin_paths = true;
    runtime_ = std::make_unique<Runtime>(options);
    open("reference");
  }
  void TearDown() override { remove_files(); }
  void remove_files() { std::filesystem::remove_all(folder_); }

  // The device of what is compiled from now on.
  void open(std::string_view selector) { device_ = made(runtime_->open(selector)); }

  std::filesystem::path path(std::string_view name) const { return folder_ / name; }
  void write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  OnnxModel read(const onnx::GraphWriter& graph) const {
    write("model.onnx", graph.model());
    return made(OnnxModel::read(path("model.onnx")));
  }

  template <typename T>
  static T made(Result<T> result) {
    // The test cannot go on; others can.
    if (!result.ok()) throw std::runtime_error(result.status().to_string());
    return std::move(*result);
  }
  template <typename T>
  static std::string failure(const Result<T>& result) {
    return result.ok() ? "it was made" : result.status().to_string();
  }

  template <typename T>
  static std::shared_ptr<const HostTensor> values(DataType type, std::vector<int64_t> sizes,
                                                  const std::vector<T>& elements) {
    auto out = made(HostTensor::create(type, std::move(sizes), "value"));
    EXPECT_EQ(out.byte_count(), elements.size() * sizeof(T));
    std::memcpy(out.data(), elements.data(), out.byte_count());
    return std::make_shared<const HostTensor>(std::move(out));
  }
  static std::shared_ptr<const HostTensor> floats(std::vector<int64_t> sizes,
                                                  const std::vector<float>& elements) {
    return values(DataType::fp32, std::move(sizes), elements);
  }
  static std::shared_ptr<const HostTensor> integers(const std::vector<int64_t>& elements) {
    return values(DataType::i64, {static_cast<int64_t>(elements.size())}, elements);
  }

  Executable compile(const Program& program, const InputTypes& types = {}) const {
    return made(device_.compile(program, types));
  }
  // The floats of output `k`; inputs in the executable's order. Those of other types hold zeros.
  std::vector<float> run(const Executable& executable, const std::vector<std::vector<float>>& given,
                         size_t k = 0) const {
    std::vector<Tensor> inputs, outputs;
    for (size_t i = 0; i < executable.inputs().size(); ++i) {
      const TensorInfo& info = executable.inputs()[i];
      inputs.push_back(made(device_.create_tensor(info)));
      const std::string zeros(inputs.back().byte_count(), '\0');
      const Status status = info.type == DataType::fp32 ? inputs.back().write_values(given.at(i))
                                                        : inputs.back().write(zeros);
      EXPECT_TRUE(status.ok()) << info.name << ": " << status.to_string();
    }
    for (const TensorInfo& info : executable.outputs())
      outputs.push_back(made(device_.create_tensor(info)));
    const Status status = made(executable.run(inputs, outputs)).wait();
    EXPECT_TRUE(status.ok()) << status.to_string();
    return made(outputs.at(k).template read_values<float>());
  }
  std::vector<float> run(const Program& program,
                         const std::map<std::string, std::vector<float>>& given,
                         size_t k = 0) const {
    const Executable executable = compile(program);
    std::vector<std::vector<float>> inputs;
    for (const TensorInfo& info : executable.inputs()) {
      const auto at = given.find(info.name);
      inputs.push_back(at == given.end() ? std::vector<float>() : at->second);
    }
    return run(executable, inputs, k);
  }

  std::filesystem::path folder_;
  std::unique_ptr<Runtime> runtime_;
  Device device_;
};

}  // namespace stria
