// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/host/services.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/lasting_error.h"
#include "stria/hal/host/thread_pool.h"
#include "stria/sdk/info.h"

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

// What the machine has: a system that overcommits would give more, and end the process later.
uint64_t physical_bytes() {
  static const uint64_t bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                                static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::string count_of(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

constinit stria_error no_memory =
    lasting_error(STRIA_OUT_OF_MEMORY, "the host has no memory left for this");

// What `work` returns. No exception crosses the boundary, the host's own
// neither: they become errors.
template <typename Work>
stria_error* contained(Work work) noexcept {
  try {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      return &no_memory;
    } catch (const std::exception& error) {
      return to_error(internal_error("an exception came out of the host: {}", error.what()));
    } catch (...) {
      return to_error(internal_error("an exception came out of the host"));
    }
  } catch (...) {
    return &no_memory;  // not even for saying so
  }
}

}  // namespace

struct Services::Slots {
  static Services& of(stria_host* host) { return *reinterpret_cast<Services*>(host); }
  static const HostFunctions& functions(stria_host* host) { return of(host).host_->functions(); }
  static ThreadPool& pool(stria_host* host) { return of(host).host_->pool(); }

  static void log(stria_host* host, stria_log_level level, stria_string message) {
    level = std::clamp<stria_log_level>(level, STRIA_LOG_DEBUG, STRIA_LOG_ERROR);
    try {
      of(host).log(static_cast<LogLevel>(level), view_of(message));
    } catch (...) {
      // A line that cannot be shown is lost; the plugin can do nothing about it.
    }
  }

  static void* allocate(stria_host* host, uint64_t bytes, uint64_t alignment) {
    if ((alignment & (alignment - 1)) != 0 || bytes > physical_bytes()) return nullptr;
    alignment = real_alignment(bytes, alignment);
    uint64_t rounded = (std::max<uint64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    const HostFunctions& own = functions(host);
    void* memory =
        own.allocate ? own.allocate(rounded, alignment) : std::aligned_alloc(alignment, rounded);
    // Only a wish: without huge pages the memory works as well, slower.
    if (memory && bytes >= 2 * kHugePage) (void)::madvise(memory, rounded, MADV_HUGEPAGE);
    if (memory) of(host).take(bytes, 1);
    return memory;
  }

  static void free(stria_host* host, void* memory, uint64_t bytes, uint64_t) {
    if (memory) of(host).take(uint64_t{0} - bytes, -1);
    const HostFunctions& own = functions(host);
    own.free ? own.free(memory) : std::free(memory);
  }

  static uint32_t concurrency(stria_host* host) { return pool(host).concurrency(); }

  static void parallel_for(stria_host* host, uint64_t count, uint64_t grain,
                           void (*body)(void*, uint64_t, uint64_t), void* state) {
    pool(host).parallel_for(count, grain, body, state);
  }

  static void post(stria_host* host, void (*task)(void*), void* state) {
    const auto& take = functions(host).take_task;
    if (!take || !take(task, state)) pool(host).post(task, state);
  }

  static uint8_t lend(stria_host* host, uint8_t (*done)(void*), void* state) {
    return pool(host).lend(done, state) ? 1 : 0;
  }

  static stria_error* program_create(stria_host* host, stria_string stripe,
                                     stria_host_program** program) {
    return contained([&]() -> stria_error* {
      const auto& interpret = functions(host).interpret;
      if (!interpret)
        return to_error(make_error(StatusCode::unimplemented, "this host has no interpreter"));
      auto made = interpret(view_of(stripe));
      if (!made.ok()) return to_error(made.status());
      *program = new stria_host_program{std::move(made).value()};
      of(host).programs_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    });
  }

  static stria_error* program_kernels(stria_host*, stria_host_program* program,
                                      stria_kernel_sink sink, void* state) {
    return contained([&]() -> stria_error* {
      for (const KernelInfo& kernel : program->program->kernels())
        sdk::send_kernel(kernel, sink, state);
      return nullptr;
    });
  }

  static stria_error* kernel_create(stria_host* host, stria_host_program* program, uint64_t index,
                                    stria_host_kernel** kernel) {
    return contained([&]() -> stria_error* {
      const std::vector<KernelInfo>& kernels = program->program->kernels();
      if (index >= kernels.size())
        return to_error(make_error(StatusCode::out_of_range, "kernel {} of a program of {}", index,
                                   kernels.size()));
      auto made = program->program->prepare(index);
      if (!made.ok()) return to_error(made.status());
      *kernel = new stria_host_kernel{kernels[index], std::move(made).value()};
      of(host).kernels_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    });
  }

  static stria_error* kernel_run(stria_host*, stria_host_kernel* kernel,
                                 const stria_memory* arguments, uint64_t count) {
    return contained([&]() -> stria_error* {
      const KernelInfo& info = kernel->info;
      if (count != info.arguments.size())
        return to_error(invalid_argument("kernel '{}' takes {} arguments, not {}", info.name,
                                         info.arguments.size(), count));
      for (uint64_t i = 0; i < count; ++i)
        if (arguments[i].size < info.arguments[i].bytes)
          return to_error(invalid_argument("argument '{}' of kernel '{}' needs {} bytes, not {}",
                                           info.arguments[i].name, info.name,
                                           info.arguments[i].bytes, arguments[i].size));
      return to_error(kernel->kernel->run({arguments, count}));
    });
  }

  static void kernel_release(stria_host* host, stria_host_kernel* kernel) {
    if (kernel) of(host).kernels_.fetch_sub(1, std::memory_order_relaxed);
    delete kernel;
  }
  static void program_release(stria_host* host, stria_host_program* program) {
    if (program) of(host).programs_.fetch_sub(1, std::memory_order_relaxed);
    delete program;
  }

  static stria_error* cache_get(stria_host* host, stria_string key, stria_text_sink sink,
                                void* state) {
    return contained([&]() -> stria_error* {
      const auto& get = functions(host).cache_get;
      if (!get) return nullptr;
      auto value = get(view_of(key));
      if (!value.ok()) return to_error(value.status());
      if (*value) sink(state, key, to_c(**value));
      return nullptr;
    });
  }

  static stria_error* cache_put(stria_host* host, stria_string key, stria_string value) {
    return contained([&]() -> stria_error* {
      const auto& put = functions(host).cache_put;
      return put ? to_error(put(view_of(key), view_of(value))) : nullptr;
    });
  }

  static stria_error* make_error_object(stria_host*, stria_code code, int64_t native_code,
                                        stria_string message, stria_string native_message) {
    stria_error error{};
    error.size = sizeof error;
    error.code = code;
    error.native_code = native_code;
    error.message = message;
    error.native_message = native_message;
    return copy_error(nullptr, &error);
  }

  static stria_error* copy_error(stria_host*, const stria_error* error) {
    return contained([&]() -> stria_error* {
      if (!error) return to_error(internal_error("copy_error of no error"));
      return copy_of(*error);
    });
  }
};

std::string Services::next_period(Lines& lines, std::chrono::steady_clock::time_point now) {
  const uint64_t dropped = lines.count > kMaxLines ? lines.count - kMaxLines : 0;
  lines = {now, 0};
  if (dropped == 0) return "";
  return fmt::format("plugin {}: {} log line{} dropped", plugin_, dropped,
                     dropped == 1 ? " was" : "s were");
}

void Services::log(LogLevel level, std::string_view line) {
  const auto& sink = host_->functions().log;
  if (!sink) return;
  std::string before, after;
  {
    const auto now = std::chrono::steady_clock::now();
    std::lock_guard lock(log_mutex_);
    Lines& lines = lines_[static_cast<size_t>(level)];
    if (now - lines.begin >= kLinePeriod) before = next_period(lines, now);
    if (++lines.count > kMaxLines) return;
    if (lines.count == kMaxLines)
      after = fmt::format("plugin {}: {} log lines in {} s: the rest of them are dropped", plugin_,
                          kMaxLines, kLinePeriod.count());
  }
  if (!before.empty()) sink(level, before);
  sink(level, shown_text(to_c(line), kMaxMessageBytes));
  if (!after.empty()) sink(level, after);
}

void Services::end_log() {
  const auto& sink = host_->functions().log;
  if (!sink) return;
  for (size_t level = 0; level < lines_.size(); ++level) {
    std::string said;
    {
      std::lock_guard lock(log_mutex_);
      said = next_period(lines_[level], std::chrono::steady_clock::now());
    }
    if (!said.empty()) sink(static_cast<LogLevel>(level), said);
  }
}

void Services::take(uint64_t bytes, int64_t allocations) {
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  allocations_.fetch_add(allocations, std::memory_order_relaxed);
}

Services::Services(std::shared_ptr<Host> host) : host_(std::move(host)) {
  table_.size = sizeof table_;
  table_.host = reinterpret_cast<stria_host*>(this);
  table_.log = Slots::log;
  table_.allocate = Slots::allocate;
  table_.free = Slots::free;
  table_.concurrency = Slots::concurrency;
  table_.parallel_for = Slots::parallel_for;
  table_.post = Slots::post;
  table_.program_create = Slots::program_create;
  table_.program_kernels = Slots::program_kernels;
  table_.kernel_create = Slots::kernel_create;
  table_.kernel_run = Slots::kernel_run;
  table_.kernel_release = Slots::kernel_release;
  table_.program_release = Slots::program_release;
  table_.cache_get = Slots::cache_get;
  table_.cache_put = Slots::cache_put;
  table_.make_error = Slots::make_error_object;
  table_.lend = Slots::lend;
  table_.copy_error = Slots::copy_error;
}

std::string Services::taken() const {
  std::vector<std::string> parts;
  if (int64_t count = allocations_.load(); count > 0)
    parts.push_back(fmt::format("{} ({} bytes)", count_of(count, "allocation"), bytes_.load()));
  if (int64_t count = programs_.load(); count > 0) parts.push_back(count_of(count, "program"));
  if (int64_t count = kernels_.load(); count > 0) parts.push_back(count_of(count, "kernel"));
  return join(parts, ", ");
}

}  // namespace stria::hal
