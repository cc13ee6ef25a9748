// SPDX-License-Identifier: Apache-2.0
// The device programs that are written by hand for GPUs, as CUDA C++: they compile, and the
// instruction is in them.
#include <gtest/gtest.h>

#include "cuda/emit/dialect.h"
#include "device_programs.h"
#include "nvrtc.h"

namespace stria {
namespace {

TEST(DevicePrograms, CompileWithNvrtc) {
  if (!nvrtc::why_missing().empty()) GTEST_SKIP() << nvrtc::why_missing();
  for (const char* name : {"conv_gpu", "gemm_tensor_core"}) {
    auto program = device_programs::make(name);
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    auto source = semtree::print_program(*program, cuda::dialect(), cuda::source_options());
    ASSERT_TRUE(source.ok()) << source.status().to_string();
    auto ptx = nvrtc::compile(source->text);
    ASSERT_TRUE(ptx.ok()) << ptx.status().to_string();
    EXPECT_NE(ptx->find("bar.sync"), std::string::npos);
    // What lanes hold is in registers.
    EXPECT_EQ(ptx->find(".local "), std::string::npos) << name;
    const bool has_matrix_units = std::string_view(name) == "gemm_tensor_core";
    EXPECT_EQ(ptx->find("mma.sync.aligned.m16n8k16") != std::string::npos, has_matrix_units);
  }
}

}  // namespace
}  // namespace stria
