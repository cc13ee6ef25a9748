// SPDX-License-Identifier: Apache-2.0
#include "emit/compiled_kernels.h"

#include <new>

#include "emit/jit.h"
#include "emit/kernel_image.h"
#include "stria/semtree/build/build.h"
#include "stria/semtree/build/kernels.h"
#include "stria/semtree/tree/print.h"

namespace stria::llvm_cpu {
namespace {

class Kernels : public CompiledKernels {
 public:
  // Links `kernels`, whose code the Jit has under `symbols`.
  static Result<std::unique_ptr<CompiledKernels>> link(std::unique_ptr<Jit> jit,
                                                       std::vector<CompiledKernel> kernels,
                                                       const std::vector<std::string>& symbols,
                                                       std::string image = {}) {
    for (size_t k = 0; k < kernels.size(); ++k) {
      STRIA_ASSIGN(void* entry, jit->address(symbols[k]));
      kernels[k].entry = reinterpret_cast<KernelEntry>(entry);
    }
    auto out = std::make_unique<Kernels>();
    out->jit_ = std::move(jit);
    out->kernels_ = std::move(kernels);
    out->image_ = std::move(image);
    return std::unique_ptr<CompiledKernels>(std::move(out));
  }
  const std::vector<CompiledKernel>& kernels() const override { return kernels_; }
  std::string take_image() override { return std::move(image_); }

 private:
  std::unique_ptr<Jit> jit_;
  std::vector<CompiledKernel> kernels_;
  std::string image_;
};

struct Job {
  semtree::KernelBlock kernel;
  std::string symbol;
  CompiledKernel result;
  Status status;
};

void compile(Jit& jit, const CompileOptions& options, Job& job) {
  semtree::BuildOptions build;
  build.loads_across_slots = true;
  build.argument_offsets = options.argument_offsets;
  build.peepholes = options.peepholes;
  Result<semtree::Function> function = semtree::build(*job.kernel.block, *job.kernel.parent, build);
  if (!function) {
    job.status = function.status();
    return;
  }
  if (function->group_lanes > 1) {
    job.status = unsupported(
        "it runs {} lanes of a group together, which meet at barriers; a core has no such lanes",
        function->group_lanes);
    return;
  }
  CompiledKernel& out = job.result;
  out.name = job.kernel.block->name;
  out.in_prologue = job.kernel.in_prologue;
  out.statement = job.kernel.statement;
  out.trip_count = function->trip_count;
  out.arguments = semtree::arguments_of(*job.kernel.block, *function);
  if (options.dump_semtree) out.semtree = semtree::print(*function);
  JitDump dump;
  Result<std::string> symbol = jit.add(*function, &dump);
  job.status = symbol.status();
  if (symbol.ok()) job.symbol = *std::move(symbol);
  out.ir = std::move(dump.ir);
  out.assembly = std::move(dump.assembly);
  out.inner_spills = std::move(dump.inner_spills);
}

JitOptions jit_options(const CompileOptions& options) {
  JitOptions out;
  out.fast_math = options.fast_math;
  out.group_reductions = options.group_reductions;
  out.dump_ir = options.dump_ir;
  out.dump_assembly = options.dump_assembly;
  out.report_spills = options.report_spills;
  out.assembly_for = options.assembly_for;
  out.keep_objects = options.keep_image;
  return out;
}

// An exception must not leave a thread: it would end the process.
void compile_caught(Jit& jit, const CompileOptions& options, Job& job) {
  try {
    compile(jit, options, job);
  } catch (const std::bad_alloc&) {
    job.status = Status(StatusCode::out_of_memory, "out of memory while it is compiled");
  } catch (const std::exception& error) {
    job.status = Status(StatusCode::internal, error.what());
  }
}

}  // namespace

Result<std::unique_ptr<CompiledKernels>> compile_kernels(const stripe::Program& program,
                                                         const CompileOptions& options) {
  STRIA_ASSIGN(const semtree::ProgramKernels program_kernels, semtree::kernels_of(program));
  std::vector<Job> jobs;
  for (const semtree::KernelBlock& kernel : program_kernels.kernels) {
    Job job;
    job.kernel = kernel;
    jobs.push_back(std::move(job));
  }
  STRIA_ASSIGN(std::unique_ptr<Jit> jit, Jit::create(jit_options(options)));
  const std::function<void(size_t)> work = [&](size_t n) {
    compile_caught(*jit, options, jobs[n]);
  };
  if (options.parallel) {
    options.parallel(jobs.size(), work);
  } else {
    for (size_t n = 0; n < jobs.size(); ++n) work(n);
  }
  KernelImage made;
  for (Job& job : jobs) {
    if (!job.status.ok())
      return job.status.with_context(fmt::format("kernel '{}'", job.kernel.block->name));
    made.kernels.push_back(std::move(job.result));
    made.symbols.push_back(std::move(job.symbol));
  }
  std::string image;
  if (options.keep_image) {
    made.objects = jit->take_objects();
    image = write_image(made);
  }
  return Kernels::link(std::move(jit), std::move(made.kernels), made.symbols, std::move(image));
}

Result<std::unique_ptr<CompiledKernels>> load_kernels(std::string_view bytes) {
  STRIA_ASSIGN(KernelImage image, read_image(bytes));
  STRIA_ASSIGN(std::unique_ptr<Jit> jit, Jit::create({}));
  for (const auto& [symbol, object] : image.objects)
    STRIA_RETURN_IF_ERROR(jit->add_object(symbol, object));
  return Kernels::link(std::move(jit), std::move(image.kernels), image.symbols);
}

}  // namespace stria::llvm_cpu
