// SPDX-License-Identifier: Apache-2.0
#include "suite/small_program.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "stria/hal/boundary/received.h"
#include "stria/hal/files/inside_file.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/host/device_limits.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/type/scalar.h"
#include "suite/case.h"

namespace stria::conformance {
namespace {

constexpr size_t kMaxFile = size_t{64} << 20;
constexpr std::string_view kTile = "function small(A[N], B[N]) -> (R) { R = A + B; }\n";

Result<stripe::Program> lowered(DataType type, int64_t count) {
  STRIA_ASSIGN(const Program program, Program::from_tile({"small.tile", std::string(kTile)}));
  const TensorType tensor{type, {count}};
  STRIA_ASSIGN(Compilation compilation, lower_program(program, {{"A", tensor}, {"B", tensor}}));
  return std::move(compilation.generic);
}

// A pipeline's step that is a pass of the plugin's own, by the tables.
PassInfo plugin_pass(const DeviceWork& work) {
  PassInfo info;
  info.name = "plugin_pass";
  info.summary = "hands the program to a pass of the device's plugin";
  info.make_todays = [](nlohmann::json&) {};
  info.options = [] { return std::vector<OptionRow>(); };
  info.bind = [work](const nlohmann::json& json, const std::string&,
                     std::vector<std::string>*) -> Result<PassFunction> {
    const std::string pass = json.value("pass", "");
    const std::string options = json.contains("options") ? json["options"].dump() : "{}";
    return PassFunction([work, pass, options](stripe::Program& program, PassContext&) -> Status {
      STRIA_ASSIGN(const Compiler compiler, work.compiler());
      const std::string before = stripe::print(program);
      hal::Received<hal::NamedText> texts;
      STRIA_RETURN_IF_ERROR(Subject::failure(
          Slot::compiler_transform,
          work.tables().compiler.transform(compiler.get(), hal::to_c(before), hal::to_c(pass),
                                           hal::to_c(options),
                                           hal::Received<hal::NamedText>::text_sink, &texts)));
      STRIA_RETURN_IF_ERROR(texts.fault);
      for (const hal::NamedText& text : texts.items)
        if (text.name == "stripe") {
          STRIA_ASSIGN(program, stripe::parse({"Stripe from '" + pass + "'", text.text}));
          return Status();
        }
      return broken("compiler.transform of the pass '{}' gives no text 'stripe'", pass);
    });
  };
  return info;
}

}  // namespace

Result<SmallProgram> SmallProgram::compile(const DeviceWork& work, const hal::DeviceInfo& info,
                                           const hal::Manifest& manifest,
                                           const std::filesystem::path& directory, int64_t count) {
  const hal::DeviceKind* kind = manifest.find_kind(info.kind);
  if (!kind) return broken("the manifest has no device kind '{}'", info.kind);
  const auto read = [directory](const std::filesystem::path& file) -> Result<SourceText> {
    STRIA_ASSIGN(std::string text, hal::read_inside(directory, file, kMaxFile, "the plugin"));
    return SourceText{(directory / file).string(), std::move(text)};
  };
  STRIA_ASSIGN(const SourceText model_text, read(kind->hw));
  STRIA_ASSIGN(const HardwareModel model, load_hardware_model(model_text, {}, info.properties));
  PipelineSource source;
  STRIA_ASSIGN(source.text, read(kind->pipeline));
  source.of_manifest = true;
  source.own = [read, folder = kind->pipeline.parent_path()](const std::string& name) {
    return read(folder / (name + ".json"));
  };
  PassRegistry registry = passes::pass_registry();
  registry.passes.push_back(plugin_pass(work));
  STRIA_ASSIGN(const Pipeline pipeline, parse_pipeline(source, {}, model, registry));

  std::string lacking;
  for (const DataType type : {DataType::fp32, DataType::fp16, DataType::i32, DataType::bf16,
                              DataType::i16, DataType::i8, DataType::u8}) {
    SmallProgram out;
    out.type_ = type;
    out.count_ = count;
    STRIA_ASSIGN(out.program_, lowered(type, count));
    const std::vector<DeviceLack> lacks =
        device_lacks(out.program_, model, info.memory_bytes,
                     [](const stripe::Block& block) { return block.name; });
    if (!lacks.empty()) {
      lacking += (lacking.empty() ? "" : "; ") + text_of(lacks);
      continue;
    }
    PipelineOptions how;
    how.intrinsics = &intrinsic_signatures();
    how.evaluate = &intrinsic_evaluator();
    STRIA_RETURN_IF_ERROR(run_pipeline(out.program_, pipeline, model, how)
                              .status()
                              .with_context("the pipeline of " + info.kind));
    out.text_ = stripe::print(out.program_);
    return out;
  }
  return unsupported("the device lacks every type of numbers: {}", lacking);
}

Result<SmallProgram> SmallProgram::of(Subject& subject) {
  STRIA_RETURN_IF_ERROR(subject.open());
  static std::mutex mutex;
  static std::optional<SmallProgram> kept;
  const std::lock_guard lock(mutex);
  if (!kept) {
    STRIA_ASSIGN(kept, compile(DeviceWork(subject), subject.device_info(), *subject.manifest(),
                               subject.options().directory));
  }
  return *kept;
}

uint64_t SmallProgram::bytes() const { return static_cast<uint64_t>(bytes_of(type_, count_)); }

namespace {

// Small numbers, so that every type holds their sums.
int64_t element(uint32_t seed, int64_t at) {
  return static_cast<int64_t>(
      (seed * 7 + static_cast<uint32_t>(at) * 5 + seed * static_cast<uint32_t>(at)) % 30);
}

template <typename Value>
Bytes elements(DataType type, int64_t count, Value value) {
  Bytes out(static_cast<size_t>(bytes_of(type, count)));
  for (int64_t i = 0; i < count; ++i)
    store_scalar(type, out.data(), i, Scalar::of_int(DataType::i64, value(i)));
  return out;
}

}  // namespace

Bytes SmallProgram::a(uint32_t seed) const {
  return elements(type_, count_, [&](int64_t i) { return element(seed, i); });
}
Bytes SmallProgram::b(uint32_t seed) const {
  return elements(type_, count_, [&](int64_t i) { return element(seed + 1, i); });
}
Bytes SmallProgram::r(uint32_t seed) const {
  return elements(type_, count_,
                  [&](int64_t i) { return element(seed, i) + element(seed + 1, i); });
}

// ---- building

Result<SmallBuild> begin_build(const DeviceWork& work, std::string_view stripe,
                               std::span<stria_event* const> waits, std::string_view options) {
  SmallBuild out;
  STRIA_ASSIGN(out.compiler, work.compiler());
  stria_build_params params{};
  params.size = sizeof params;
  params.stripe = hal::to_c(stripe);
  params.options = hal::to_c(options);
  stria_library* library = nullptr;
  stria_event* done = nullptr;
  STRIA_RETURN_IF_ERROR(Subject::failure(
      Slot::compiler_build, work.tables().compiler.build(out.compiler.get(), &params, waits.data(),
                                                         waits.size(), &library, &done)));
  if (!library || !done)
    return broken("compiler.build says that it succeeded and gives no {}",
                  library ? "event" : "library");
  out.library = Library(library, work.tables().library.release);
  out.done = Event(done, work.tables().event.release);
  return out;
}

Result<std::vector<hal::KernelInfo>> kernels_of(const DeviceWork& work, const Library& library) {
  hal::Received<hal::KernelInfo> got;
  STRIA_RETURN_IF_ERROR(Subject::failure(
      Slot::library_kernels,
      work.tables().library.kernels(
          library.get(), hal::Received<hal::KernelInfo>::sink<stria_kernel_info>, &got)));
  STRIA_RETURN_IF_ERROR(got.fault.with_context("library.kernels"));
  return std::move(got.items);
}

Result<Kernel> prepare(const DeviceWork& work, const Executor& executor, const Library& library,
                       uint64_t index) {
  stria_kernel* kernel = nullptr;
  STRIA_RETURN_IF_ERROR(Subject::failure(
      Slot::executor_prepare,
      work.tables().executor.prepare(executor.get(), library.get(), index, &kernel)));
  if (!kernel) return broken("executor.prepare says that it succeeded and gives nothing");
  return Kernel(kernel, work.tables().kernel.release);
}

Result<LoadedSmall> load(const DeviceWork& work, const SmallProgram& program) {
  LoadedSmall out;
  STRIA_ASSIGN(SmallBuild build, begin_build(work, program.stripe()));
  out.compiler = std::move(build.compiler);
  out.library = std::move(build.library);
  STRIA_RETURN_IF_ERROR(work.wait(build.done).with_context("the build of R = A + B"));
  STRIA_ASSIGN(const std::vector<hal::KernelInfo> infos, kernels_of(work, out.library));
  STRIA_ASSIGN(out.plan, exec::make_plan(program.device_program(), infos));
  if (!out.plan.prologue.kernels.empty())
    return internal_error("R = A + B has a prologue on this device");
  STRIA_ASSIGN(out.executor, work.executor());
  for (size_t i = 0; i < infos.size(); ++i) {
    STRIA_ASSIGN(Kernel kernel, prepare(work, out.executor, out.library, i));
    out.kernels.push_back(std::move(kernel));
  }
  return out;
}

// ---- running

Result<SmallTensors> SmallTensors::make(const DeviceWork& work, const SmallProgram& program,
                                        uint32_t seed) {
  SmallTensors out;
  STRIA_ASSIGN(out.a, work.buffer(program.a(seed)));
  STRIA_ASSIGN(out.b, work.buffer(program.b(seed)));
  STRIA_ASSIGN(out.r, work.buffer(Bytes(program.bytes(), std::byte{0xa5})));
  return out;
}

Status SmallTensors::check(const DeviceWork& work, const SmallProgram& program,
                           uint32_t seed) const {
  return work.holds(r, program.r(seed), "R of R = A + B");
}

Result<SmallLaunches> SmallLaunches::make(const DeviceWork& work, const LoadedSmall& loaded,
                                          const SmallTensors& tensors) {
  SmallLaunches out;
  const exec::Plan& plan = loaded.plan;
  if (plan.main.arena_bytes > 0) {
    STRIA_ASSIGN(out.arena_, work.allocate(plan.main.arena_bytes));
  }
  for (const exec::PlannedKernel& kernel : plan.main.kernels) {
    std::vector<stria_argument>& arguments = out.arguments_.emplace_back();
    for (const exec::PlannedArgument& planned : kernel.arguments) {
      const exec::PlannedTensor& tensor = plan.tensors[planned.tensor];
      stria_argument argument{};
      argument.size = sizeof argument;
      argument.offset = planned.offset;
      if (tensor.role == exec::TensorRole::temporary) {
        argument.buffer = out.arena_.get();
        argument.offset += tensor.offset;
      } else {
        const Buffer& buffer = tensor.name == "A"   ? tensors.a
                               : tensor.name == "B" ? tensors.b
                                                    : tensors.r;
        argument.buffer = buffer.get();
      }
      arguments.push_back(argument);
    }
  }
  for (size_t i = 0; i < out.arguments_.size(); ++i) {
    auto& pointers = out.argument_pointers_.emplace_back();
    for (const stria_argument& argument : out.arguments_[i]) pointers.push_back(&argument);
  }
  for (size_t i = 0; i < out.arguments_.size(); ++i) {
    const exec::PlannedKernel& kernel = plan.main.kernels[i];
    stria_launch launch{};
    launch.size = sizeof launch;
    launch.kernel = loaded.kernels[kernel.library_index].get();
    launch.arguments = out.argument_pointers_[i].data();
    launch.argument_count = out.argument_pointers_[i].size();
    launch.after = kernel.after.data();
    launch.after_count = kernel.after.size();
    out.launches_.push_back(launch);
  }
  for (const stria_launch& launch : out.launches_) out.pointers_.push_back(&launch);
  return out;
}

Result<Event> start(const DeviceWork& work, const LoadedSmall& loaded, const SmallTensors& tensors,
                    std::span<stria_event* const> waits) {
  STRIA_ASSIGN(const SmallLaunches launches, SmallLaunches::make(work, loaded, tensors));
  stria_event* done = nullptr;
  STRIA_RETURN_IF_ERROR(Subject::failure(
      Slot::executor_submit,
      work.tables().executor.submit(loaded.executor.get(), launches.list(), launches.count(),
                                    waits.data(), waits.size(), nullptr, &done)));
  if (!done) return broken("executor.submit says that it succeeded and gives nothing");
  Event out(done, work.tables().event.release);
  STRIA_RETURN_IF_ERROR(work.flush(loaded.executor));
  return out;
}

Status program_round(const DeviceWork& work, const SmallProgram& program, uint32_t seed) {
  STRIA_ASSIGN(const LoadedSmall loaded, load(work, program));
  for (const uint32_t more : {0u, 1u}) {
    STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(work, program, seed + more));
    STRIA_ASSIGN(const Event done, start(work, loaded, tensors));
    STRIA_RETURN_IF_ERROR(work.wait(done));
    STRIA_RETURN_IF_ERROR(tensors.check(work, program, seed + more));
  }
  return Status();
}

}  // namespace stria::conformance
