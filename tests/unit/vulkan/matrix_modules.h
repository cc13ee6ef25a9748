// SPDX-License-Identifier: Apache-2.0
// Modules of kernels whose subgroups hold matrices, for a made-up device, and what spirv-val says.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "emit/matrix_patches.h"
#include "emit/program.h"
#include "matrix_kernel.h"

namespace stria::vulkan {

inline Features device() {
  Features out;
  out.device = "Made-up GPU";
  out.fp64 = out.fp16 = out.int64 = out.int16 = out.int8 = out.storage16 = out.storage8 = true;
  out.shared_views = out.shared_views16 = out.shared_views8 = true;
  out.of16 = out.of32 = {true, true, true};
  out.spirv_version = 0x00010600;
  out.matrices = {{16, 16, 16, DataType::fp16, DataType::fp16, DataType::fp32},
                  {16, 16, 16, DataType::fp16, DataType::fp16, DataType::fp16},
                  {16, 16, 16, DataType::bf16, DataType::bf16, DataType::fp32},
                  {16, 16, 16, DataType::i8, DataType::i8, DataType::i32},
                  {16, 16, 16, DataType::u8, DataType::u8, DataType::u32}};
  return out;
}

// As build_kernels makes it of the tree's kernel.
inline KernelCode code_of(semtree::Function function, const Features& features = device()) {
  KernelCode out;
  out.matrix_lanes = 32;
  out.name = "product";
  out.group_lanes = function.group_lanes;
  out.without_patches = function;
  out.function = through_patches(std::move(function), features, out.matrix_lanes, false);
  return out;
}

inline std::string text_of(const KernelCode& kernel, const Features& features = device()) {
  const auto words = emit(kernel, features);
  if (!words.ok()) return std::string(words.status().message());
  return disassemble(*words).value();
}
inline std::string text_of(const test::MatrixKernel& kernel) {
  return text_of(code_of(kernel.function()));
}

inline size_t count(const std::string& text, const std::string& part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

// What a command prints, and how it ends.
inline std::pair<std::string, int> output_of(const std::string& command) {
  std::pair<std::string, int> out;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> part;
  while (pipe && std::fgets(part.data(), part.size(), pipe)) out.first += part.data();
  out.second = pipe ? ::pclose(pipe) : -1;
  return out;
}

// "", or what spirv-val finds.
inline std::string invalid(const std::vector<uint32_t>& words) {
  namespace fs = std::filesystem;
  const fs::path file = fs::path(testing::TempDir()) / fmt::format("matrices_{}.spv", ::getpid());
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()),
             static_cast<std::streamsize>(words.size() * 4));
  const auto [text, status] =
      output_of(fmt::format("'{}' --target-env vulkan1.3 '{}'", STRIA_SPIRV_VAL, file.string()));
  fs::remove(file);
  return status == 0 ? "" : text + " (ended with " + std::to_string(status) + ")";
}

// Is there a spirv-val that knows the extension? Debian's of 2023 does not.
inline bool knows_matrices() {
  if (!std::filesystem::exists(STRIA_SPIRV_VAL)) return false;
  const auto [text, status] = output_of(fmt::format("'{}' --version", STRIA_SPIRV_VAL));
  return status == 0 && text.find("v2023") == std::string::npos;
}

// One of each type, and of rows and columns.
inline std::vector<test::MatrixKernel> kernels() {
  std::vector<test::MatrixKernel> out;
  for (const bool columns : {false, true}) {
    out.push_back({.columns = columns});
    out.push_back({.result = DataType::fp16, .columns = columns, .rows_there = 27});
    out.push_back({.columns = columns, .rows_there = 9, .columns_there = 13});
    out.push_back({.result = DataType::fp16, .columns = columns});
    out.push_back({.operand = DataType::bf16, .columns = columns});
    out.push_back({.operand = DataType::bf16, .result = DataType::bf16, .columns = columns});
    out.push_back({.operand = DataType::i8,
                   .sum = DataType::i32,
                   .result = DataType::i32,
                   .columns = columns});
    out.push_back({.operand = DataType::u8,
                   .sum = DataType::u32,
                   .result = DataType::u32,
                   .columns = columns});
  }
  return out;
}

}  // namespace stria::vulkan
