// SPDX-License-Identifier: Apache-2.0
// For whoever wants to keep what a compilation failed at.
#pragma once

#include <string>

namespace stria {

// Is told, as the texts of reproducer files (`stria opt --run-repro` and `stria run --run-repro`
// replay one), what a compilation tries: what failed can then be tried again from one file. Called
// on the thread that compiles.
class FailureRecorder {
 public:
  virtual ~FailureRecorder() = default;
  // This is about to be tried, and the process may not survive it; until end().
  virtual void begin(const std::string& reproducer) = 0;
  virtual void end() = 0;
  // This failed: a step of the pipeline, or the plugin's build.
  virtual void failed(const std::string& reproducer) = 0;
  // With CompileOptions::keep_stages: a step of the pipeline has made this stage, whatever comes of
  // the next one.
  virtual void stage(const std::string& name, const std::string& text) {
    (void)name;
    (void)text;
  }
};

}  // namespace stria
