// SPDX-License-Identifier: Apache-2.0
// What the project's own rooms, commands and tests see of the public classes beyond their
// interface. Not installed. Each function is defined in the file of the class that it looks into.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/log_level.h"
#include "stria/base/status.h"
#include "stria/exec/loaded_program.h"
#include "stria/hal/device.h"
#include "stria/hal/event.h"
#include "stria/hal/plugin_set.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/onnx/model/model.h"
#include "stria/onnx/translate/translate.h"
#include "stria/pass/pipeline.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/device.h"
#include "stria/runtime/event.h"
#include "stria/runtime/executable.h"
#include "stria/runtime/host/program_binding.h"
#include "stria/runtime/onnx_model.h"
#include "stria/runtime/program.h"
#include "stria/runtime/program_runner.h"
#include "stria/runtime/runtime.h"
#include "stria/runtime/tensor.h"
#include "stria/template/template_parameters.h"
#include "stria/tile/syntax/ast.h"

namespace stria {

// `folder`: of the plugin's files.
DeviceInfo public_info(const hal::DeviceInfo& info, std::string plugin, std::string selector,
                       const std::filesystem::path& folder);

// Between a ProgramRunner and its work.
struct RunnerNotes {
  double compile_seconds = 0;
  // Put what the work has made on the device here, and keep none of it after a failure: work that
  // hangs may hold up who gives it back.
  std::shared_ptr<void> made;
};

// What a ProgramRunner does on the device that it has come to, from the beginning on each one.
struct RunnerWork {
  // After the device was opened, and before anything is compiled for it. A failure is the caller's,
  // and ends the run; may be empty.
  std::function<Status(const Device&)> opened;
  // A failure is the device's, but for invalid_argument.
  std::function<Status(const Device&, const Executable&, RunnerNotes&)> run;
  bool is_preparation = false;  // says nothing of whether the device is well again
};

struct Inside {
  // A runtime that tells each step of loading a plugin at once.
  static Runtime runtime(RuntimeOptions options,
                         std::function<void(const hal::Verdict&)> on_verdict);
  // What became of each plugin, step by step.
  static const std::vector<hal::PluginRecord>& records(const Runtime& runtime);

  // Runtime::open for a program that has been lowered; null: for no program. `picked`, unless it is
  // null, gets what the choice stands on, whether it went by predictions or not. It changes nothing
  // of the choice.
  static Result<Device> open(const Runtime& runtime, std::string_view selector,
                             const Compilation* program, Pick* picked = nullptr);
  // The devices that `open` tries for a program, in that order. Fails where it fails before it
  // tries one.
  static Result<Selection> order(const Runtime& runtime, std::string_view selector,
                                 const Compilation* program, Pick* picked = nullptr);
  // Opens a device that a selection by `selector` has kept: it may have gone since then.
  static Result<Device> open_kept(const Runtime& runtime, const DeviceSelector& selector,
                                  const DeviceInfo& device);
  // Has it been shut down?
  static bool has_ended(const Runtime& runtime);
  // RuntimeOptions::device_history.
  static bool keeps_history(const Runtime& runtime);
  // A line for RuntimeOptions::log.
  static void log(const Runtime& runtime, LogLevel level, const std::string& line);
  // Runtime::select likewise.
  static Result<Selection> select(const Runtime& runtime, std::string_view selector,
                                  const ProgramNeeds* needs);
  // Runtime::pick for a program that has been lowered.
  static Result<Pick> pick(const Runtime& runtime, std::string_view selector,
                           const Compilation& generic, const PickOptions& options);
  // The same of plugins that were loaded one by one.
  static Selection select_among(const std::vector<hal::PluginRecord>& records,
                                const DeviceSelector& selector, const ProgramNeeds* needs,
                                bool with_history = true);

  // Opens the device, reads its model and pipeline and checks both. `selector` is what opens it
  // again; empty: "plugin:id".
  static Result<Device> open(const hal::Plugin& plugin, std::string_view device_id,
                             std::string selector = {},
                             const std::vector<std::filesystem::path>& hw_overlays = {});
  static const hal::Device& hal_device(const Device& device);
  static const HardwareModel& model(const Device& device);
  // Those of the device's own pipeline, and that file's name.
  static Result<std::vector<TemplateParameter>> parameters(const Device& device);
  static const std::string& pipeline_name(const Device& device);
  // The device's own pipeline for another model of it; `tune` as of CompileOptions.
  static Result<Pipeline> pipeline(const Device& device, const HardwareModel& model, int tune);
  // What a reader of that file should know: former names in it.
  static const std::vector<std::string>& pipeline_notes(const Device& device);

  // not_found if there is no such function; "" is the entry that the program has.
  // `binding` may be null.
  static Result<Program> program(tile::Program tile, std::string_view function,
                                 std::shared_ptr<const ProgramBinding> binding = nullptr,
                                 std::vector<std::string> notes = {});
  static const std::shared_ptr<const ProgramBinding>& binding(const Program& program);
  static const tile::Program& tile(const Program& program);
  static const std::string& function(const Program& program);  // as asked for; may be empty

  static const onnx::Model& model(const OnnxModel& model);
  // onnx::translate for what callers give: inputs at hand are bound once they turn out to be
  // needed.
  // `notes`, if any, gets what was computed for it, and where.
  static Result<onnx::Translation> translate(const onnx::Model& model, const OnnxOptions& options,
                                             std::vector<std::string>* notes = nullptr);

  // ProgramRunner::create for a program that has been lowered.
  static Result<ProgramRunner> runner(const Runtime& runtime, std::string_view selector,
                                      Compilation generic, const RunnerOptions& options,
                                      Pick* picked = nullptr);
  // A runner for one device that is open, which hands nothing over.
  static ProgramRunner runner(const Device& device, Compilation generic,
                              const RunnerOptions& options);
  // ProgramRunner::run with work of another kind.
  static Status run(const ProgramRunner& runner, const RunnerWork& work);

  static const Compilation& compilation(const Executable& executable);
  // Runs a program kernel by kernel; see exec::LoadedProgram::run_in_steps and kernel_check.h.
  static const exec::LoadedProgram& loaded(const Executable& executable);
  static Status run_in_steps(const Executable& executable, std::span<const Tensor> inputs,
                             std::span<const Tensor> outputs,
                             const exec::LoadedProgram::Look& look);

  // Tensor::read without a tensor of its own: `bytes` are as many as the tensor has.
  static Status read_into(const Tensor& tensor, std::span<std::byte> bytes);
  // Copies a tensor into one of another device that the executor's reaches, or whose device reaches
  // it (hal::copy_between). Both have as many bytes. Ordered with other work on both, as runs are.
  static Result<Event> copy(const hal::Executor& executor, const Tensor& from, const Tensor& to);

  static Event event_of(hal::Event event);
  static Event event_of(exec::Run run);
  static hal::Event hal_event(const Event& event);
};

}  // namespace stria
