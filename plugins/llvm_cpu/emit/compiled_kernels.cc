// SPDX-License-Identifier: Apache-2.0
#include "emit/compiled_kernels.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <thread>

#include "emit/jit.h"
#include "stria/semtree/build.h"
#include "stria/semtree/kernels.h"
#include "stria/semtree/print.h"

namespace stria::llvm_cpu {
namespace {

class Kernels : public CompiledKernels {
 public:
  Kernels(std::unique_ptr<Jit> jit, std::vector<CompiledKernel> kernels)
      : jit_(std::move(jit)), kernels_(std::move(kernels)) {}
  const std::vector<CompiledKernel>& kernels() const override { return kernels_; }

 private:
  std::unique_ptr<Jit> jit_;
  std::vector<CompiledKernel> kernels_;
};

struct Job {
  semtree::KernelBlock kernel;
  std::string symbol;
  CompiledKernel result;
  Status status;
};

void compile(Jit& jit, const CompileOptions& options, Job& job) {
  Result<semtree::Function> function = semtree::build(*job.kernel.block, *job.kernel.parent);
  if (!function) {
    job.status = function.status();
    return;
  }
  if (function->group_lanes > 1) {
    job.status = unsupported("it runs {} lanes of a group together, which meet at barriers; a core has no such lanes",
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
  job.status = jit.add(*function, job.symbol, &dump);
  out.ir = std::move(dump.ir);
  out.assembly = std::move(dump.assembly);
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

Result<std::unique_ptr<CompiledKernels>> compile_kernels(const stripe::Program& program, const CompileOptions& options) {
  STRIA_ASSIGN(const semtree::ProgramKernels program_kernels, semtree::kernels_of(program));
  std::vector<Job> jobs;
  for (const semtree::KernelBlock& kernel : program_kernels.kernels) {
    Job job;
    job.kernel = kernel;
    job.symbol = fmt::format("kernel_{}", jobs.size());
    jobs.push_back(std::move(job));
  }
  STRIA_ASSIGN(std::unique_ptr<Jit> jit,
               Jit::create({options.fast_math, options.dump_ir, options.dump_assembly,
                            options.assembly_for}));
  const int wanted = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  const size_t workers = std::min<size_t>(jobs.size(), std::max(wanted, 1));
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < jobs.size();) compile_caught(*jit, options, jobs[i]);
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(workers);
    // Threads only make it faster: where the system gives no more, those that have started and this one do it all.
    try {
      for (size_t i = 1; i < workers; ++i) threads.emplace_back(work);
    } catch (const std::system_error&) {
    }
    work();
  }
  std::vector<CompiledKernel> kernels;
  for (Job& job : jobs) {
    if (!job.status.ok()) return job.status.with_context(fmt::format("kernel '{}'", job.kernel.block->name));
    STRIA_ASSIGN(void* entry, jit->address(job.symbol));
    job.result.entry = reinterpret_cast<KernelEntry>(entry);
    kernels.push_back(std::move(job.result));
  }
  return std::unique_ptr<CompiledKernels>(std::make_unique<Kernels>(std::move(jit), std::move(kernels)));
}

}  // namespace stria::llvm_cpu
