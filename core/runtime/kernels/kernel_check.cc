// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/kernels/kernel_check.h"

#include <map>
#include <utility>

#include "stria/exec/loaded_program.h"
#include "stria/interp/check.h"
#include "stria/interp/interpret.h"
#include "stria/rewrite/kernel_alone.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/kernels/strided_tensor.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/walk.h"
#include "stria/type/scalar.h"

namespace stria {
namespace {

Result<HostTensor> dense(const interp::Reference& reference) {
  STRIA_ASSIGN(HostTensor out,
               HostTensor::create(reference.shape.type, reference.shape.sizes(), reference.name));
  for (size_t e = 0; e < reference.size(); ++e)
    store_scalar(reference.shape.type, out.data(), static_cast<int64_t>(e), reference.typed[e]);
  return out;
}

class KernelSearch {
 public:
  KernelSearch(const Executable& executable, const std::function<void(size_t, size_t)>& progress)
      : compilation_(Inside::compilation(executable)),
        plan_(Inside::loaded(executable).plan()),
        progress_(progress),
        count_(plan_.prologue.kernels.size() + plan_.main.kernels.size()) {}

  Status look(const exec::KernelStep& step, bool done) {
    if (!done) return begin(step);
    STRIA_RETURN_IF_ERROR(compare(step));
    ++done_;
    if (progress_) progress_(done_, count_);
    return Status();
  }
  std::optional<WrongKernel>& found() { return found_; }

 private:
  const exec::PlannedPart& part_of(const exec::KernelStep& step) const {
    return step.part == hal::ProgramPart::main ? plan_.main : plan_.prologue;
  }

  Status begin(const exec::KernelStep& step) {
    const stripe::Block* section = step.part == hal::ProgramPart::main
                                       ? compilation_.device.main()
                                       : compilation_.device.prologue();
    const exec::PlannedPart& part = part_of(step);
    const std::string& name = part.kernels[step.kernel].name;
    if (!section || section->stmts.size() != part.kernels.size())
      return unsupported(
          "the plugin runs all of its program as one kernel, '{}': compare its results with "
          "--check",
          name);
    const stripe::Block* kernel = section->stmts[step.kernel].block();
    alone_.reset();
    if (kernel) {
      STRIA_ASSIGN(alone_, passes::kernel_alone(compilation_.device, *kernel, *kernel));
    } else {
      // A special: the same in a program in which a block around it stands in its place.
      STRIA_ASSIGN(stripe::Block block,
                   stripe::block_around(section->stmts[step.kernel], *section));
      stripe::Program wrapped = compilation_.device;
      stripe::Statement& place =
          (step.part == hal::ProgramPart::main ? wrapped.main() : wrapped.prologue())
              ->stmts[step.kernel];
      place.op = stripe::Statement(block).op;
      STRIA_ASSIGN(alone_, passes::kernel_alone(wrapped, *place.block(), std::move(block)));
    }
    return match(step, *section);
  }

  // Which tensor of the plan each tensor of the kernel's own program is, and what it holds.
  Status match(const exec::KernelStep& step, const stripe::Block& section) {
    tensors_.clear();
    before_.clear();
    const exec::PlannedKernel& planned = part_of(step).kernels[step.kernel];
    STRIA_ASSIGN(const auto inputs, interp::program_inputs(*alone_));
    STRIA_ASSIGN(const auto outputs, interp::program_outputs(*alone_));
    for (const auto* group : {&inputs, &outputs})
      for (const interp::ProgramTensor& one : *group) {
        STRIA_ASSIGN(const size_t tensor, tensor_named(one.name, section, planned));
        tensors_[one.name] = tensor;
        if (one.dir == stripe::RefDir::out) continue;
        STRIA_ASSIGN(before_[one.name],
                     read_strided(plan_.tensors[tensor].shape, plan_.tensors[tensor].bytes,
                                  step.memory[tensor]));
      }
    return Status();
  }

  // `name` is an allocation of the kernel's own program: that of the entry block, or of a temporary
  // of the section, with underscores behind it where both have the same.
  Result<size_t> tensor_named(const std::string& name, const stripe::Block& section,
                              const exec::PlannedKernel& planned) const {
    const stripe::Refinement* view = nullptr;
    for (const stripe::Refinement& ref : alone_->main()->refs)
      if (ref.from == name) view = &ref;
    const stripe::Refinement* original = view ? section.find_ref(view->into) : nullptr;
    if (original) {
      const bool temporary = original->dir == stripe::RefDir::none;
      const std::string& wanted = temporary ? original->into : original->from;
      for (const exec::PlannedArgument& argument : planned.arguments) {
        const exec::PlannedTensor& tensor = plan_.tensors[argument.tensor];
        if (tensor.name == wanted && (tensor.role == exec::TensorRole::temporary) == temporary)
          return argument.tensor;
      }
    }
    return internal_error("kernel '{}' has no tensor '{}' in the plan", planned.name, name);
  }

  Status compare(const exec::KernelStep& step) {
    if (!alone_) return Status();
    const exec::PlannedKernel& planned = part_of(step).kernels[step.kernel];
    std::vector<interp::TensorArg> arguments;
    for (auto& [name, snapshot] : before_) arguments.push_back(argument_of(name, snapshot));
    interp::InterpOptions options;
    options.flushed = compilation_.flushed;
    // Others of the part may write the rest of a temporary.
    options.need_all_outputs = false;
    auto references = interp::interpret_with_bounds(*alone_, arguments, options);
    if (!references.ok())
      return references.status().with_context(fmt::format("kernel '{}' alone", planned.name));
    std::map<std::string, StridedTensor> after;
    std::string worst;
    for (const interp::Reference& reference : *references) {
      const size_t tensor = tensors_.at(reference.name);
      STRIA_ASSIGN(after[reference.name],
                   read_strided(plan_.tensors[tensor].shape, plan_.tensors[tensor].bytes,
                                step.memory[tensor]));
      STRIA_ASSIGN(const interp::CheckReport report,
                   interp::compare(argument_of(reference.name, after[reference.name]), reference));
      if (!report.passed() && worst.empty()) worst = report.worst_text;
    }
    if (worst.empty()) return Status();
    WrongKernel wrong;
    wrong.name = planned.name;
    wrong.position = done_;
    wrong.count = count_;
    wrong.text = std::move(worst);
    wrong.stripe = stripe::print(*alone_);
    for (const auto& [name, snapshot] : before_) {
      STRIA_ASSIGN(HostTensor tensor, dense(name, snapshot));
      wrong.inputs.push_back({name, std::move(tensor)});
    }
    for (const interp::Reference& reference : *references) {
      STRIA_ASSIGN(HostTensor tensor, dense(reference.name, after[reference.name]));
      wrong.got.push_back({reference.name, std::move(tensor)});
      STRIA_ASSIGN(HostTensor expected, dense(reference));
      wrong.expected.push_back({reference.name, std::move(expected)});
    }
    found_ = std::move(wrong);
    return make_error(StatusCode::data_loss, "kernel '{}' is wrong", planned.name);
  }

  const Compilation& compilation_;
  const exec::Plan& plan_;
  const std::function<void(size_t, size_t)>& progress_;
  const size_t count_;
  size_t done_ = 0;
  std::optional<stripe::Program> alone_;         // the kernel of this step
  std::map<std::string, size_t> tensors_;        // of `alone_`: their positions in the plan
  std::map<std::string, StridedTensor> before_;  // what it reads
  std::optional<WrongKernel> found_;
};

}  // namespace

Result<std::optional<WrongKernel>> find_wrong_kernel(
    const Executable& executable, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
    const std::function<void(size_t, size_t)>& progress) {
  KernelSearch search(executable, progress);
  const Status ran = Inside::run_in_steps(
      executable, inputs, outputs,
      [&](const exec::KernelStep& step, bool done) { return search.look(step, done); });
  if (search.found()) return std::move(search.found());
  STRIA_RETURN_IF_ERROR(ran);
  return std::optional<WrongKernel>();
}

}  // namespace stria
