// SPDX-License-Identifier: Apache-2.0
// A small program, R = A + B, compiled for a device by what lies in its plugin's folder and by its
// own tables: no runtime is made, and nothing stays in the process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stria/exec/plan.h"
#include "stria/hal/files/manifest.h"
#include "stria/stripe/block.h"
#include "suite/device_work.h"

namespace stria::conformance {

class SmallProgram {
 public:
  // unsupported if the device's model lacks every type of numbers. `info` is the open device's.
  static Result<SmallProgram> compile(const DeviceWork& work, const hal::DeviceInfo& info,
                                      const hal::Manifest& manifest,
                                      const std::filesystem::path& directory,
                                      int64_t count = kCount);
  // For the subject's device; compiled once per process.
  static Result<SmallProgram> of(Subject& subject);

  const std::string& stripe() const { return text_; }
  const stripe::Program& device_program() const { return program_; }
  uint64_t bytes() const;  // of each of A, B and R
  // Elements for a seed, and what the program makes of them, which every type holds exactly.
  Bytes a(uint32_t seed) const;
  Bytes b(uint32_t seed) const;
  Bytes r(uint32_t seed) const;

 private:
  static constexpr int64_t kCount = 200;
  DataType type_ = DataType::fp32;
  int64_t count_ = kCount;  // of each tensor's elements
  stripe::Program program_;
  std::string text_;
};

// The program, ready to run on one executor. Each member may be given back before the others.
struct LoadedSmall {
  Compiler compiler;
  Library library;
  Executor executor;
  std::vector<Kernel> kernels;  // by their position in the library
  exec::Plan plan;
};

struct SmallBuild {
  Compiler compiler;
  Library library;
  Event done;
};
// Begins to build; `waits` and `options` are compiler.build's.
Result<SmallBuild> begin_build(const DeviceWork& work, std::string_view stripe,
                               std::span<stria_event* const> waits = {},
                               std::string_view options = "{}");
// The library's kernels. The build is done.
Result<std::vector<hal::KernelInfo>> kernels_of(const DeviceWork& work, const Library& library);
Result<Kernel> prepare(const DeviceWork& work, const Executor& executor, const Library& library,
                       uint64_t index);
// Builds, waits, and prepares every kernel on a new executor.
Result<LoadedSmall> load(const DeviceWork& work, const SmallProgram& program);

// The tensors of one run.
struct SmallTensors {
  Buffer a, b, r;
  // A and B of that seed; R with other bytes.
  static Result<SmallTensors> make(const DeviceWork& work, const SmallProgram& program,
                                   uint32_t seed);
  // Whether R is what the program makes of A and B of that seed.
  Status check(const DeviceWork& work, const SmallProgram& program, uint32_t seed) const;
};

// The launches of main as executor.submit takes them. Valid as long as `loaded` and `tensors`.
class SmallLaunches {
 public:
  // Memory for temporaries, if the device's program has any, is allocated.
  static Result<SmallLaunches> make(const DeviceWork& work, const LoadedSmall& loaded,
                                    const SmallTensors& tensors);
  const stria_launch* const* list() const { return pointers_.data(); }
  uint64_t count() const { return pointers_.size(); }

 private:
  Buffer arena_;
  std::vector<std::vector<stria_argument>> arguments_;
  std::vector<std::vector<const stria_argument*>> argument_pointers_;
  std::vector<stria_launch> launches_;
  std::vector<const stria_launch*> pointers_;
};

// Starts one run and hands it to the device.
Result<Event> start(const DeviceWork& work, const LoadedSmall& loaded, const SmallTensors& tensors,
                    std::span<stria_event* const> waits = {});

// Builds the program, runs it twice, and looks at the results.
Status program_round(const DeviceWork& work, const SmallProgram& program, uint32_t seed);

}  // namespace stria::conformance
