// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/host.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "stria/hal/error.h"
#include "stria/hal/thread_pool.h"

// The C names of the boundary stand for these.
struct stria_host_program {
  std::unique_ptr<stria::hal::InterpretedProgram> program;
};
struct stria_host_kernel {
  stria::hal::KernelInfo info;
  std::unique_ptr<stria::hal::InterpretedKernel> kernel;
};

namespace stria::hal {
namespace {

// Large buffers begin on a huge page, which the system gives only where asked.
constexpr uint64_t kHugePage = uint64_t{2} << 20;

uint64_t real_alignment(uint64_t bytes, uint64_t alignment) {
  alignment = std::max<uint64_t>(alignment, alignof(std::max_align_t));
  return bytes >= 2 * kHugePage ? std::max(alignment, kHugePage) : alignment;
}

}  // namespace

struct Host::State {
  State(HostFunctions given, unsigned threads)
      : functions(std::move(given)), pool(threads == 0 ? usable_cores() : threads) {}

  HostFunctions functions;
  ThreadPool pool;
  stria_host_services services{};

  static State& of(stria_host* host) { return *reinterpret_cast<State*>(host); }

  static void log(stria_host* host, stria_log_level level, stria_string message) {
    const auto& sink = of(host).functions.log;
    if (!sink) return;
    level = std::clamp<stria_log_level>(level, STRIA_LOG_DEBUG, STRIA_LOG_ERROR);
    sink(static_cast<LogLevel>(level), view_of(message));
  }

  // What the machine has: a system that overcommits would give more, and end the process later.
  const uint64_t physical_bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                                  static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));

  static void* allocate(stria_host* host, uint64_t bytes, uint64_t alignment) {
    if ((alignment & (alignment - 1)) != 0 || bytes > of(host).physical_bytes) return nullptr;
    alignment = real_alignment(bytes, alignment);
    uint64_t rounded = (std::max<uint64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded);
    // Only a wish: without huge pages the memory works as well, slower.
    if (memory && bytes >= 2 * kHugePage) (void)::madvise(memory, rounded, MADV_HUGEPAGE);
    return memory;
  }

  static void free(stria_host*, void* memory, uint64_t, uint64_t) { std::free(memory); }

  static uint32_t concurrency(stria_host* host) { return of(host).pool.concurrency(); }

  static void parallel_for(stria_host* host, uint64_t count, uint64_t grain,
                           void (*body)(void*, uint64_t, uint64_t), void* state) {
    of(host).pool.parallel_for(count, grain, body, state);
  }

  static void post(stria_host* host, void (*task)(void*), void* state) {
    of(host).pool.post(task, state);
  }

  static stria_error* program_create(stria_host* host, stria_string stripe,
                                     stria_host_program** program) {
    const auto& interpret = of(host).functions.interpret;
    if (!interpret)
      return to_error(make_error(StatusCode::unimplemented, "this host has no interpreter"));
    auto made = interpret(view_of(stripe));
    if (!made.ok()) return to_error(made.status());
    *program = new stria_host_program{std::move(made).value()};
    return nullptr;
  }

  static stria_error* program_kernels(stria_host*, stria_host_program* program,
                                      stria_kernel_sink sink, void* state) {
    for (const KernelInfo& kernel : program->program->kernels()) {
      std::vector<stria_argument_info> arguments;
      for (const ArgumentInfo& from : kernel.arguments) {
        stria_argument_info to{};
        to.size = sizeof to;
        to.name = to_c(from.name);
        to.direction = static_cast<stria_direction>(from.direction);
        to.bytes = from.bytes;
        to.may_overlap = from.may_overlap.data();
        to.may_overlap_count = from.may_overlap.size();
        arguments.push_back(to);
      }
      std::vector<const stria_argument_info*> pointers;
      for (const stria_argument_info& argument : arguments) pointers.push_back(&argument);
      stria_kernel_info info{};
      info.size = sizeof info;
      info.name = to_c(kernel.name);
      info.part = static_cast<stria_program_part>(kernel.part);
      info.statement = kernel.statement;
      info.arguments = pointers.data();
      info.argument_count = pointers.size();
      sink(state, &info);
    }
    return nullptr;
  }

  static stria_error* kernel_create(stria_host*, stria_host_program* program, uint64_t index,
                                    stria_host_kernel** kernel) {
    const std::vector<KernelInfo>& kernels = program->program->kernels();
    if (index >= kernels.size())
      return to_error(make_error(StatusCode::out_of_range, "kernel {} of a program of {}", index,
                                 kernels.size()));
    auto made = program->program->prepare(index);
    if (!made.ok()) return to_error(made.status());
    *kernel = new stria_host_kernel{kernels[index], std::move(made).value()};
    return nullptr;
  }

  static stria_error* kernel_run(stria_host*, stria_host_kernel* kernel,
                                 const stria_memory* arguments, uint64_t count) {
    const KernelInfo& info = kernel->info;
    if (count != info.arguments.size())
      return to_error(invalid_argument("kernel '{}' takes {} arguments, not {}", info.name,
                                       info.arguments.size(), count));
    for (uint64_t i = 0; i < count; ++i)
      if (arguments[i].size < info.arguments[i].bytes)
        return to_error(invalid_argument("argument '{}' of kernel '{}' needs {} bytes, not {}",
                                         info.arguments[i].name, info.name, info.arguments[i].bytes,
                                         arguments[i].size));
    return to_error(kernel->kernel->run({arguments, count}));
  }

  static void kernel_release(stria_host*, stria_host_kernel* kernel) { delete kernel; }
  static void program_release(stria_host*, stria_host_program* program) { delete program; }

  static stria_error* cache_get(stria_host* host, stria_string key, stria_text_sink sink,
                                void* state) {
    const auto& get = of(host).functions.cache_get;
    if (!get) return nullptr;
    auto value = get(view_of(key));
    if (!value.ok()) return to_error(value.status());
    if (*value) sink(state, key, to_c(**value));
    return nullptr;
  }

  static stria_error* cache_put(stria_host* host, stria_string key, stria_string value) {
    const auto& put = of(host).functions.cache_put;
    return put ? to_error(put(view_of(key), view_of(value))) : nullptr;
  }

  static stria_error* make_error_object(stria_host*, stria_code code, int64_t native_code,
                                        stria_string message, stria_string native_message) {
    if (code <= STRIA_OK || code > STRIA_INTERNAL) code = STRIA_INTERNAL;
    std::string text(view_of(message));
    if (native_code != 0 || native_message.size != 0)
      text += fmt::format(" (driver: {}, {})", view_of(native_message), native_code);
    return to_error(Status(static_cast<StatusCode>(code), std::move(text)));
  }
};

Host::Host(HostFunctions functions, unsigned threads)
    : state_(std::make_unique<State>(std::move(functions), threads)) {
  stria_host_services& table = state_->services;
  table.size = sizeof table;
  table.host = reinterpret_cast<stria_host*>(state_.get());
  table.log = State::log;
  table.allocate = State::allocate;
  table.free = State::free;
  table.concurrency = State::concurrency;
  table.parallel_for = State::parallel_for;
  table.post = State::post;
  table.program_create = State::program_create;
  table.program_kernels = State::program_kernels;
  table.kernel_create = State::kernel_create;
  table.kernel_run = State::kernel_run;
  table.kernel_release = State::kernel_release;
  table.program_release = State::program_release;
  table.cache_get = State::cache_get;
  table.cache_put = State::cache_put;
  table.make_error = State::make_error_object;
}

Host::~Host() = default;

const stria_host_services& Host::services() const { return state_->services; }
const HostFunctions& Host::functions() const { return state_->functions; }
unsigned Host::concurrency() const { return state_->pool.concurrency(); }
void Host::quiesce() const { state_->pool.quiesce(); }

}  // namespace stria::hal
