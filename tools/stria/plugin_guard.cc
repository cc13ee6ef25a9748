// SPDX-License-Identifier: Apache-2.0
#include "plugin_guard.h"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <string_view>

#include "failure.h"
#include "stria/base/check_failed.h"
#include "stria/base/temporary_file.h"
#include "stria/hal/guard/call_in_flight.h"

// Sanitizers report crashes themselves, and have these functions of the C library already.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRIA_SANITIZED 1
#else
#define STRIA_SANITIZED 0
#endif

namespace stria::command {
namespace {

constexpr bool kSanitized = STRIA_SANITIZED;
constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
struct sigaction before[std::size(kFatal)];
void (*libc_abort)() = nullptr;
std::atomic<void (*)()> at_crash = nullptr;
constexpr size_t kStackBytes = size_t{64} << 10;
[[maybe_unused]] alignas(16) char handler_stack[kStackBytes];
// 0 until guard_process() and after leave(): who ends the process then is us.
std::atomic<pid_t> guarded = 0;
std::atomic<const char*> suspect = nullptr;
thread_local constinit bool own_thread = false;
thread_local constinit bool was_refused_memory = false;

// Of a message, without allocating: everything here may run in a signal handler.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const size_t room = sizeof text_ - size_;
    const size_t count = text.size() < room ? text.size() : room;
    std::memcpy(text_ + size_, text.data(), count);
    size_ += count;
    return *this;
  }
  Line& operator<<(int number) {
    char digits[12];
    size_t at = sizeof digits;
    unsigned left = number < 0 ? 0u - static_cast<unsigned>(number) : static_cast<unsigned>(number);
    do digits[--at] = static_cast<char>('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0) digits[--at] = '-';
    return *this << std::string_view(digits + at, sizeof digits - at);
  }
  void write() const {
    for (size_t done = 0; done < size_;) {
      const ssize_t count = ::write(STDERR_FILENO, text_ + done, size_ - done);
      if (count <= 0) return;
      done += static_cast<size_t>(count);
    }
  }

 private:
  char text_[512];
  size_t size_ = 0;
};

// "plugin llvm_cpu: executor.submit: it " or, where nothing is known, whose it can only be.
Line& begin(Line& line, const hal::CallInFlight* call) {
  line << "stria: ";
  const char* const name = suspect.load();
  if (call == nullptr && name != nullptr)
    return line << "plugin " << name << ": it, its driver or a kernel ";
  if (call == nullptr) return line << "a plugin or its driver ";
  return line << "plugin " << call->plugin() << ": " << call->slot() << ": it ";
}

[[noreturn]] void end_for(const hal::CallInFlight* call, std::string_view what, int code) {
  Line line;
  begin(line, call) << what;
  if (code >= 0) line << code;
  line << (code >= 0 ? ")\n" : "\n");
  line.write();
  end_process(static_cast<int>(ExitCode::device));
}

bool is_guarded() { return guarded.load() == ::getpid(); }

// exit() and quick_exit() get here; we never call them.
void at_exit() {
  if (is_guarded())
    end_for(hal::CallInFlight::innermost(), "ended the process: it called exit", -1);
}

void at_end_of_thread(const hal::CallInFlight& call) {
  if (is_guarded()) end_for(&call, "ended the thread that called it", -1);
}

// Where the thread was when the signal came.
const void* place_of(const void* context) {
#if defined(__x86_64__)
  const auto* at = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<const void*>(at->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  (void)context;
  return nullptr;
#endif
}

// Threads of ours but the marked one run plugins' work and nothing else that leaves this
// executable: who is on another thread and elsewhere is a plugin, its driver, or code that they
// have made.
bool is_foreign(const void* place) {
  if (own_thread) return false;
  Dl_info here{}, there{};
  if (::dladdr(reinterpret_cast<const void*>(&guard_process), &here) == 0) return false;
  return ::dladdr(place, &there) == 0 || there.dli_fbase != here.dli_fbase;
}

// What happens at a crash, however it is told. Comes back if it is not a plugin's.
void crashed(int number, bool foreign) {
  for (size_t i = 0; i < std::size(kFatal); ++i) ::sigaction(kFatal[i], &before[i], nullptr);
  if (void (*const first)() = at_crash.load()) first();
  unlink_temporaries();
  const hal::CallInFlight* const call = hal::CallInFlight::innermost();
  if (kSanitized || !is_guarded() || (call == nullptr && !foreign)) return;
  Line line;
  begin(line, call) << "crashed (" << ::sigdescr_np(number) << ")\n";
  line.write();
  end_process(static_cast<int>(ExitCode::device));
}

void on_fatal_signal(int number, siginfo_t* info, void* context) {
  crashed(number, is_foreign(place_of(context)));
  // A fault happens again when the handler returns; what was sent does not.
  if (info->si_code <= 0) ::raise(number);
}

// What operator new calls before it gives up.
void on_refused_memory() {
  was_refused_memory = true;
  throw std::bad_alloc();
}

// An exception that nobody can take, out of a function that lets none out: memory used up is not a
// bug, and whoever asked for it last is not known. Such functions of the C++ library
// (directory_iterator::increment is one) end here without the exception, so what operator new saw
// counts as well.
void on_terminate() {
  bool out_of_memory = was_refused_memory;
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    out_of_memory = true;
  } catch (...) {
    out_of_memory = false;
  }
  if (!out_of_memory) {
    crashed(SIGABRT, !own_thread);
    std::abort();
  }
  (Line() << "stria: out of memory\n").write();
  end_process(static_cast<int>(ExitCode::program));
}

}  // namespace

void guard_process() {
  guarded.store(::getpid());
  std::atexit(at_exit);
  std::at_quick_exit(at_exit);
  std::set_new_handler(on_refused_memory);
  std::set_terminate(on_terminate);
  hal::set_end_of_thread_handler(at_end_of_thread);
  libc_abort = reinterpret_cast<void (*)()>(::dlsym(RTLD_NEXT, "abort"));
  struct sigaction action{};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (size_t i = 0; i < std::size(kFatal); ++i) ::sigaction(kFatal[i], &action, &before[i]);
}

void set_crash_handler(void (*handler)()) { at_crash.store(handler); }

void mark_own_thread() {
  own_thread = true;
#if !STRIA_SANITIZED
  const stack_t stack = {.ss_sp = handler_stack, .ss_flags = 0, .ss_size = kStackBytes};
  ::sigaltstack(&stack, nullptr);
#endif
}

void name_suspect(const char* plugin) { suspect.store(plugin); }

void leave(int code) {
  guarded.store(0);
  end_process(code);
}

}  // namespace stria::command

#if !STRIA_SANITIZED
// Exported, so that these take the place of the C library's for every shared object of the process:
// nothing else is told when somebody ends it so. A child that a driver has forked ends as it likes.
extern "C" __attribute__((visibility("default"))) void _exit(int code) {
  using namespace stria;
  if (command::is_guarded())
    command::end_for(hal::CallInFlight::innermost(), "ended the process: it called _exit(", code);
  end_process(code);
}
extern "C" __attribute__((visibility("default"))) void _Exit(int code) { ::_exit(code); }

// The signal would go to whatever handler a driver or a compiler inside it has put in our place.
extern "C" __attribute__((visibility("default"))) void abort() {
  stria::command::crashed(SIGABRT, stria::command::is_foreign(__builtin_return_address(0)));
  if (stria::command::libc_abort != nullptr) stria::command::libc_abort();
  stria::end_process(128 + SIGABRT);
}
extern "C" __attribute__((visibility("default"))) void __assert_fail(const char* what,
                                                                     const char* file,
                                                                     unsigned line,
                                                                     const char* function) {
  stria::command::Line text;
  (text << file << ":" << static_cast<int>(line) << ": " << (function ? function : "?")
        << ": assertion failed: " << what << "\n")
      .write();
  stria::command::crashed(SIGABRT, stria::command::is_foreign(__builtin_return_address(0)));
  ::abort();
}
#endif
