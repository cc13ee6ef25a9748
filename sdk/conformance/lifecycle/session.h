// SPDX-License-Identifier: Apache-2.0
// A plugin's life as far as a stage of it.
#pragma once

#include <optional>
#include <string_view>

#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {

// In the order in which they come.
enum class Stage {
  loaded,    // nothing of it was called
  asked,     // stria_plugin_query
  created,   // driver.create
  listed,    // driver.enumerate
  opened,    // driver.open
  worked,    // copies, fills and mappings that are over
  mapped,    // a buffer is mapped
  waiting,   // a copy behind an open host event is in flight
  building,  // a program is being built, and another one waits for an open host event
  built,     // a program is ready to run
  running,   // a run behind an open host event is in flight
  failed,    // work has failed
  ended,     // driver.shutdown
};
inline constexpr Stage kStages[] = {Stage::loaded,   Stage::asked,  Stage::created, Stage::listed,
                                    Stage::opened,   Stage::worked, Stage::mapped,  Stage::waiting,
                                    Stage::building, Stage::built,  Stage::running, Stage::failed,
                                    Stage::ended};
std::string_view name_of(Stage stage);  // "loaded"

// Holds what the stages make, with the subject's own driver and device. Goes before the subject.
class Session {
 public:
  explicit Session(Subject& subject) : subject_(subject) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // All stages up to this one that have not been gone through. unsupported: the device cannot run
  // the suite's program.
  Status go_to(Stage stage);
  // Ends from whatever stage: what is in flight ends, all is given back in the right order, the
  // driver is shut down.
  Status end();

 private:
  Status step(Stage stage);

  Subject& subject_;
  int next_ = 0;  // the first stage that was not gone through
  std::optional<DeviceWork> work_;
  std::optional<SmallProgram> program_;
  Executor executor_;
  Buffer source_, target_;
  void* mapped_ = nullptr;
  bool is_mapped_ = false;
  Event open_, copied_;
  bool is_open_ = false;  // nobody has signalled the host event
  SmallBuild builds_[2];
  LoadedSmall loaded_;
  SmallTensors tensors_;
  Event run_, failed_;
};

}  // namespace stria::conformance
