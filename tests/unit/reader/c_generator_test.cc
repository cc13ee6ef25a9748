// SPDX-License-Identifier: Apache-2.0
// The example plugin through the boundary: what it compiles, what it leaves to the interpreter and
// says so, and what happens without a compiler or with one that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "stria/hal/device.h"
#include "stria/hal/plugin_set.h"
#include "stria/runtime/host/host_functions.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kCount = 4096;

// T = A + A, a kernel of points, and R = T + A, a kernel of groups with lanes, which C cannot say.
constexpr const char* kProgram = R"(stripe 1.0
0: #program block [] ( // both
    none new@0 A[0] fp32(4096:1)
    none new@0 T[0] fp32(4096:1)
    none new@0 R[0] fp32(4096:1)
) {
  0: #main block [] ( // main
      in A[0] fp32(4096:1)
      out T[0] fp32(4096:1)
      out R[0] fp32(4096:1)
  ) {
    0: #kernel #parallel block [x:4096] ( // points
        in A[x] fp32(1:1)
        out T[x] fp32(1:1)
    ) {
      0: $a = load(A)
      1: $t = add.fp32($a, $a)
      2: T = store($t)
    }
    1: #kernel block<CORE[g]> [g:64] ( // groups
        in A[64*g] fp32(64:1)
        out R[64*g] fp32(64:1)
    ) {
      0: block<LANE[l]> [l:64] (
          in A[l] fp32(1:1)
          out R[l] fp32(1:1)
      ) {
        0: $a = load(A)
        1: $r = neg.fp32($a)
        2: R = store($r)
      }
    }
  }
}
)";

class CGeneratorTest : public testing::Test {
 protected:
  CGeneratorTest() {
    std::string name = fs::temp_directory_path() / "stria_c_generator_test_XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    ::setenv("TMPDIR", folder_.c_str(), 1);
  }
  ~CGeneratorTest() override {
    EXPECT_TRUE(fs::is_empty(folder_)) << "the plugin leaves files behind";
    fs::remove_all(folder_);
    ::unsetenv("TMPDIR");
    if (!path_.empty()) ::setenv("PATH", path_.c_str(), 1);
  }

  void TearDown() override {
    device_ = {};
    if (set_) {
      EXPECT_TRUE(set_->shutdown().ok());
    }
  }

  // Loads the plugin, and opens its device if it can be.
  void load() {
    HostFunctions functions;
    functions.interpret = interpret_for_plugin;
    functions.log = [this](LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_.emplace_back(line);
    };
    functions.cache_get = [this](std::string_view key) -> Result<std::optional<std::string>> {
      const std::lock_guard lock(mutex_);
      const auto at = cache_.find(std::string(key));
      if (at == cache_.end()) return std::optional<std::string>();
      ++hits_;
      return std::optional(at->second);
    };
    functions.cache_put = [this](std::string_view key, std::string_view value) -> Status {
      const std::lock_guard lock(mutex_);
      cache_[std::string(key)] = value;
      return Status();
    };
    SearchOptions search;
    search.paths = {STRIA_BINARY_DIR "/lib/stria/c_generator/c_generator"};
    search.only_paths = true;
    set_.emplace(PluginSet::load(std::make_shared<Host>(std::move(functions), 2), search));
    ASSERT_EQ(set_->records().size(), 1u);
    const PluginRecord& record = set_->records()[0];
    ASSERT_TRUE(record.status().ok()) << record.status().to_string();
    info_ = record.devices.at(0);
    if (info_.available) device_ = record.plugin.open(info_.id).value();
  }
  // `PATH` is `folder` alone until the test ends.
  void set_path(const std::string& folder) {
    path_ = std::getenv("PATH");
    ::setenv("PATH", folder.c_str(), 1);
  }
  Result<Library> build() {
    STRIA_ASSIGN(Compiler compiler, device_.create_compiler());
    STRIA_ASSIGN(Build made, compiler.build(kProgram));
    STRIA_RETURN_IF_ERROR(made.done.wait());
    return made.library;
  }

  fs::path folder_;
  std::string path_;
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::map<std::string, std::string> cache_;
  int hits_ = 0;
  std::optional<PluginSet> set_;
  DeviceInfo info_;
  Device device_;
};

TEST_F(CGeneratorTest, WhatCCannotSayIsInterpretedVisibly) {
  load();
  const Library library = build().value();
  const std::vector<KernelInfo> kernels = library.kernels().value();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].interpreted, "");
  EXPECT_EQ(kernels[1].interpreted, "kernel 'groups': the device has no groups of lanes");
  EXPECT_THAT(log_, ElementsAre("c_generator: 1 of 2 kernels are interpreted: 'groups' (kernel "
                                "'groups': the device has no groups of lanes)"));
  std::string text = library.source().value().at(0).text;
  EXPECT_THAT(text, HasSubstr("void k0_points("));
  EXPECT_EQ(text.find("k1_groups"), std::string::npos);

  const Executor executor = device_.create_executor().value();
  const Buffer a = device_.allocate(4 * kCount).value(), r = device_.allocate(4 * kCount).value();
  {
    Mapping mapping = a.map_discard().value();
    ASSERT_TRUE(mapping.ready().wait().ok());
    for (int64_t i = 0; i < kCount; ++i)
      reinterpret_cast<float*>(mapping.data())[i] = static_cast<float>(i);
  }
  for (size_t k = 0; k < 2; ++k) {
    const Kernel kernel = executor.prepare(library, k).value();
    const Argument arguments[] = {{r, 0}, {a, 0}};
    ASSERT_TRUE(kernel.run(arguments).value().wait().ok());
    Mapping mapping = r.map_current().value();
    ASSERT_TRUE(mapping.ready().wait().ok());
    for (int64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(reinterpret_cast<const float*>(mapping.data())[i],
                static_cast<float>(k == 0 ? 2 * i : -i))
          << "kernel " << k << ", element " << i;
  }
}

TEST_F(CGeneratorTest, CodeIsKept) {
  load();
  ASSERT_TRUE(build().ok());
  EXPECT_EQ(hits_, 0);
  EXPECT_EQ(cache_.size(), 1u);
  // The compiler is not asked again.
  set_path("/nowhere");
  ASSERT_TRUE(build().ok());
  EXPECT_EQ(hits_, 1);
}

TEST_F(CGeneratorTest, WithoutACompilerTheDeviceIsNotThere) {
  set_path("/nowhere");
  load();
  EXPECT_FALSE(info_.available);
  EXPECT_THAT(info_.reason, HasSubstr("no folder of PATH has cc"));
}

TEST_F(CGeneratorTest, WhatTheCompilerSaysIsTheBuildsFailure) {
  const fs::path compiler = folder_ / "bin" / "cc";
  fs::create_directory(compiler.parent_path());
  std::ofstream(compiler) << "#!/bin/sh\necho 'kernels.so: No space left on device' >&2\nexit 3\n";
  fs::permissions(compiler, fs::perms(0755));
  set_path(compiler.parent_path());
  load();
  const Result<Library> library = build();
  fs::remove_all(compiler.parent_path());
  EXPECT_EQ(library.status().code(), StatusCode::unavailable);
  EXPECT_THAT(library.status().message(),
              HasSubstr("did not compile the kernels (exit status 3): kernels.so: No space left"));
  EXPECT_TRUE(cache_.empty());
}

}  // namespace
}  // namespace stria::hal
