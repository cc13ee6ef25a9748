// SPDX-License-Identifier: Apache-2.0
#include "emit/compiled_kernels.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

#include "emit/jit.h"
#include "stria/semtree/build.h"
#include "stria/semtree/print.h"
#include "stria/stripe/verifier.h"

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
  const stripe::Block* kernel = nullptr;
  const stripe::Block* parent = nullptr;
  std::string symbol;
  CompiledKernel result;
  Status status;
};

void list_arguments(const stripe::Block& kernel, const semtree::Function& function, CompiledKernel& out) {
  std::vector<std::string> names;
  for (bool inputs : {false, true})
    for (const stripe::Refinement& ref : kernel.refs)
      if (ref.dir != stripe::RefDir::none && (ref.dir == stripe::RefDir::in) == inputs) names.push_back(ref.from);
  for (size_t i = 0; i < function.params.size(); ++i) {
    const semtree::Parameter& param = function.params[i];
    out.arguments.push_back({names[i], param.type, param.span * byte_size(param.type), param.writable, param.readable});
  }
}

// A special that stands in main itself, as a kernel block: outputs, then inputs, whole.
Result<stripe::Block> block_around(const stripe::Statement& statement, const stripe::Block& parent) {
  auto* special = std::get_if<stripe::Special>(&statement.op);
  if (!special) return invalid_argument("a statement of #main is neither a block nor a special");
  stripe::Block block;
  block.name = special->name;
  for (const auto* names : {&special->outputs, &special->inputs}) {
    for (const std::string& name : *names) {
      const stripe::Refinement* ref = parent.find_ref(name);
      if (!ref) return invalid_argument("special '{}' names '{}', which #main does not have", special->name, name);
      stripe::Refinement view = *ref;
      view.dir = names == &special->outputs ? stripe::RefDir::out : stripe::RefDir::in;
      view.from = view.into;
      std::fill(view.access.begin(), view.access.end(), Affine(0));
      block.refs.push_back(std::move(view));
    }
  }
  block.stmts.push_back(statement);
  return block;
}

void compile(Jit& jit, const CompileOptions& options, Job& job) {
  Result<semtree::Function> function = semtree::build(*job.kernel, *job.parent);
  if (!function) {
    job.status = function.status();
    return;
  }
  CompiledKernel& out = job.result;
  out.name = job.kernel->name;
  out.trip_count = function->trip_count;
  list_arguments(*job.kernel, *function, out);
  if (options.dump_semtree) out.semtree = semtree::print(*function);
  JitDump dump;
  job.status = jit.add(*function, job.symbol, &dump);
  out.ir = std::move(dump.ir);
  out.assembly = std::move(dump.assembly);
}

}  // namespace

Result<std::unique_ptr<CompiledKernels>> compile_kernels(const stripe::Program& program, const CompileOptions& options) {
  // Text from elsewhere may be well-formed and still name what is not there.
  stripe::VerifyOptions structure;
  structure.accesses = false;
  STRIA_RETURN_IF_ERROR(stripe::verify(program, structure));
  std::vector<Job> jobs;
  std::deque<stripe::Block> wrapped;  // kernels that are a single special
  for (const stripe::Block* parent : {program.prologue(), program.main()}) {
    if (!parent) continue;
    for (size_t i = 0; i < parent->stmts.size(); ++i) {
      Job job;
      job.kernel = parent->stmts[i].block();
      job.parent = parent;
      job.symbol = fmt::format("kernel_{}", jobs.size());
      job.result.in_prologue = parent == program.prologue();
      job.result.statement = static_cast<int64_t>(i);
      if (!job.kernel) {
        STRIA_ASSIGN(wrapped.emplace_back(), block_around(parent->stmts[i], *parent));
        job.kernel = &wrapped.back();
      }
      jobs.push_back(std::move(job));
    }
  }
  STRIA_ASSIGN(std::unique_ptr<Jit> jit,
               Jit::create({options.fast_math, options.dump_ir, options.dump_assembly}));
  const int wanted = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  const size_t workers = std::min<size_t>(jobs.size(), std::max(wanted, 1));
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < jobs.size();) compile(*jit, options, jobs[i]);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<CompiledKernel> kernels;
  for (Job& job : jobs) {
    if (!job.status.ok()) return job.status.with_context(fmt::format("kernel '{}'", job.kernel->name));
    STRIA_ASSIGN(void* entry, jit->address(job.symbol));
    job.result.entry = reinterpret_cast<KernelEntry>(entry);
    kernels.push_back(std::move(job.result));
  }
  return std::unique_ptr<CompiledKernels>(std::make_unique<Kernels>(std::move(jit), std::move(kernels)));
}

}  // namespace stria::llvm_cpu
