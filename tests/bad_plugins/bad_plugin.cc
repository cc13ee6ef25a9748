// SPDX-License-Identifier: Apache-2.0
// A plugin that does whatever wrong thing the file `misdeed` beside it asks for, and all else
// right. A driver option overrides the file, so that one loaded copy can do many things in turn.
//
//   throw SLOT          lets an int out of a slot ("device.open"; "query" is the exported symbol)
//   throw_text SLOT     the same with a std::runtime_error
//   fail SLOT CODE      returns an error of that code
//   fail_bare SLOT CODE the same; nobody can release it
//   empty SLOT          returns success and does nothing
//   hang SLOT           never returns
//   crash SLOT          aborts
//   crash_caught SLOT   the same, with a signal handler of its own that does nothing
//   assert SLOT         an assertion fails
//   exit SLOT CODE      calls exit; quick_exit and _exit likewise
//   end_thread SLOT     ends the thread that called it
//   kill SLOT           sends its process SIGKILL; fault, recurse, trap: other ends
//   close_out, replace_out, close_err, chdir, umask, lower_limit, take_signals SLOT
//                       changes the process behind its owner's back
//   setenv SLOT         sets and clears variables for a while
//   fork SLOT           goes on in two processes
//   say SLOT            prints to both outputs, then aborts
// SLOT may also be "constructor", of the shared object.
//   info WHAT, devices WHAT, kernels WHAT, error WHAT: see below
//   never_done, call_back_twice, leak, abort_at_exit
//   log COUNT           writes that many lines to the host's log
#undef NDEBUG  // assertions are what is tried
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "stria/hal/boundary/tables.h"
#include "stria/sdk/plugin.h"

namespace {

namespace sdk = stria::sdk;

struct Misdeed {
  std::string what, where;
  int code = 0;

  static Misdeed parse(const std::string& text) {
    Misdeed misdeed;
    std::istringstream(text) >> misdeed.what >> misdeed.where >> misdeed.code;
    return misdeed;
  }
  bool is(const char* wanted_what, const char* wanted_where) const {
    return what == wanted_what && where == wanted_where;
  }
};
// A thread may hang in a slot while another one asks for the next misdeed, and to the end of the
// process: the misdeed is never destroyed.
std::mutex g_misdeed_mutex;
Misdeed& g_misdeed = *new Misdeed;

Misdeed misdeed() {
  const std::lock_guard lock(g_misdeed_mutex);
  return g_misdeed;
}

void set_misdeed(const std::string& text) {
  const std::lock_guard lock(g_misdeed_mutex);
  g_misdeed = Misdeed::parse(text);
}

std::filesystem::path own_directory() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(&own_directory), &info);
  return std::filesystem::path(info.dli_fname).parent_path();
}

// A crash under the sanitizers, too.
__attribute__((no_sanitize("undefined"))) void write_to_null() {
  // That it is null is not known to the compiler, which may drop a store through a null pointer.
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

// Deeper than any stack.
int recurse(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return depth == 0 ? room[0] : recurse(depth + 1) + room[0];
}

struct AbortAtExit {
  std::atomic<bool> armed = false;
  ~AbortAtExit() {
    if (armed) std::abort();
  }
} g_abort_at_exit;

// Ends the process or the thread, or changes what is the process's: then the slot works as ever.
void misuse_process(const Misdeed& wanted) {
  const std::string& what = wanted.what;
  if (what == "exit") std::exit(wanted.code);
  if (what == "quick_exit") std::quick_exit(wanted.code);
  if (what == "_exit") ::_exit(wanted.code);
  if (what == "end_thread") ::pthread_exit(nullptr);
  if (what == "kill") ::kill(::getpid(), SIGKILL);
  if (what == "crash_caught") {
    ::signal(SIGABRT, [](int) {});
    std::abort();
  }
  if (what == "assert") assert(what != "assert");
  if (what == "fault") write_to_null();
  if (what == "trap") __builtin_trap();
  if (what == "recurse") recurse(1);
  if (what == "close_out") ::close(STDOUT_FILENO);
  if (what == "close_err") ::close(STDERR_FILENO);
  if (what == "replace_out") ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
  if (what == "chdir" && ::chdir("/") != 0) std::abort();
  if (what == "umask") ::umask(0777);
  if (what == "lower_limit") {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 250;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (what == "take_signals")
    for (int number : {SIGINT, SIGTERM, SIGSEGV, SIGABRT}) ::signal(number, SIG_IGN);
  if (what == "setenv") {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    for (int i = 0; std::chrono::steady_clock::now() < end; i = (i + 1) % 1000)
      ::setenv(("STRIA_TEST_" + std::to_string(i)).c_str(), "set", 1);
    for (int i = 0; i < 1000; ++i) ::unsetenv(("STRIA_TEST_" + std::to_string(i)).c_str());
  }
  if (what == "fork") (void)!::fork();
  if (what == "say") {
    std::printf("said to out\033[31m\n");
    std::fprintf(stderr, "said to err: no such thing\n");
    std::fflush(nullptr);
    std::abort();
  }
}

// What a slot does instead of its work; nothing if it is to work.
std::optional<stria_error*> misbehave(const char* slot) {
  const Misdeed wanted = misdeed();
  if (wanted.where != slot) return std::nullopt;
  misuse_process(wanted);
  if (wanted.what == "throw") throw 7;
  if (wanted.what == "throw_text") throw std::runtime_error("thrown by a bad plugin");
  if (wanted.what == "empty") return nullptr;
  if (wanted.what == "crash") std::abort();
  if (wanted.what == "hang")
    while (true) ::pause();
  if (wanted.what == "fail") return sdk::to_error(sdk::Error(wanted.code, "as asked").outcome());
  if (wanted.what == "fail_bare") {
    stria_error* error = sdk::to_error(sdk::Error(wanted.code, "as asked").outcome());
    error->release = nullptr;
    return error;
  }
  return std::nullopt;
}

// What no terminal should get: escapes, a bell, bytes that are no UTF-8; and 100 KB of it.
std::string odd_text() {
  std::string text = "begins\033[31m\a\xff\n";
  while (text.size() < 100'000) text += "and goes on\033]0;title\a\x80 ";
  return text + "\033[0mends";
}

// ---- what the plugin is when it behaves

class BadCompiler final : public sdk::Compiler {
 public:
  explicit BadCompiler(const sdk::Host& host) : host_(host) {}
  sdk::Ref<sdk::Library> compile(std::string_view stripe, std::string_view) override {
    return sdk::make<sdk::InterpretedLibrary>(host_, stripe);
  }
  std::vector<sdk::NamedText> transform(std::string_view stripe, std::string_view,
                                        std::string_view) override {
    return {{"stripe", std::string(stripe)}};
  }

 private:
  const sdk::Host& host_;
};

class BadExecutor final : public sdk::Executor {
 public:
  using Executor::Executor;
  sdk::Ref<sdk::Event> launch(const sdk::Ref<sdk::Kernel>& kernel,
                              std::vector<sdk::Argument> arguments, sdk::Waits waits) override {
    if (misdeed().what != "never_done")
      return Executor::launch(kernel, std::move(arguments), waits);
    // One reference more than anybody gives back: it is never dropped either.
    auto open = sdk::make<sdk::Event>(host());
    open->add_reference();
    return open;
  }
};

class BadDevice final : public sdk::Device {
 public:
  using Device::Device;
  sdk::Ref<sdk::Compiler> create_compiler() override { return sdk::make<BadCompiler>(host()); }
  sdk::Ref<sdk::Executor> create_executor(std::string_view) override {
    return sdk::make<BadExecutor>(host());
  }
};

class BadDriver final : public sdk::Driver {
 public:
  BadDriver(const sdk::Host& host, sdk::DriverOptions options)
      : Driver(host, std::move(options)), odd_text_(odd_text()) {
    if (misdeed().what == "leak") host.allocate(4096, 64);
    if (misdeed().what == "log")
      for (int i = 0; i < std::stoi(misdeed().where); ++i) host.log(STRIA_LOG_WARNING, odd_text_);
  }
  std::vector<sdk::DeviceInfo> enumerate() override {
    sdk::DeviceInfo info;
    info.name = "a device of a bad plugin";
    info.kind = "reference";
    if (misdeed().is("devices", "without_id")) info.id = "";
    if (misdeed().is("devices", "of_another_kind")) info.kind = "starship";
    if (misdeed().is("devices", "of_software")) info.kind = "software";
    if (misdeed().is("devices", "with_odd_properties")) info.properties = "[1, 2]";
    if (misdeed().is("devices", "with_lines")) info.name = "one\ntwo\033[31m";
    if (misdeed().is("devices", "with_a_long_id")) info.id = std::string(1 << 20, 'x');
    if (misdeed().is("devices", "with_an_odd_id"))
      info.id =
          "a\xff"
          "b";
    if (misdeed().is("devices", "of_odd_text")) {
      info.name = info.vendor = info.reason = odd_text_;
      info.available = false;
    }
    if (misdeed().is("devices", "of_an_odd_kind")) info.kind = odd_text_;
    if (misdeed().is("devices", "with_large_properties"))
      info.properties = "{" + std::string(2 << 20, ' ') + "}";
    if (misdeed().is("devices", "without_reason")) info.available = false;
    if (misdeed().is("devices", "none")) return {};
    if (misdeed().is("devices", "twice")) return {info, info};
    return {info};
  }
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view) override {
    return sdk::make<BadDevice>(host(), info);
  }

 private:
  const std::string odd_text_;
};

// ---- the same with every slot under control

using Right = sdk::Tables<BadDriver>;

template <auto kWork, const char* kSlot>
struct Controlled;
template <typename... Args, stria_error* (*kWork)(Args...), const char* kSlot>
struct Controlled<kWork, kSlot> {
  static stria_error* call(Args... args) {
    auto instead = misbehave(kSlot);
    return instead ? *instead : kWork(args...);
  }
};
template <typename... Args, void (*kWork)(Args...), const char* kSlot>
struct Controlled<kWork, kSlot> {
  static void call(Args... args) {
    if (!misbehave(kSlot)) kWork(args...);
  }
};

#define SLOT(table, slot) constexpr char kName_##table##_##slot[] = #table "." #slot;
#include "stria/hal/boundary/slots.def"

stria::hal::Tables controlled_tables() {
  stria::hal::Tables tables{Right::driver_table,  Right::device_table, Right::compiler_table,
                            Right::library_table, Right::kernel_table, Right::executor_table,
                            Right::buffer_table,  Right::event_table};
#define SLOT(table, slot) \
  tables.table.slot = Controlled<Right::table##_table.slot, kName_##table##_##slot>::call;
#include "stria/hal/boundary/slots.def"
  return tables;
}

stria::hal::Tables g_tables = controlled_tables();

// A driver option that is a misdeed replaces the file's.
stria_error* create(const stria_driver_options* options, stria_driver** driver) {
  const std::string text(sdk::view_of(options->options));
  if (text.rfind("{", 0) != 0) set_misdeed(text);
  return Controlled<Right::driver_table.create, kName_driver_create>::call(options, driver);
}

// ---- slots that send what they should not

stria_error* enumerate(stria_driver* driver, stria_device_sink sink, void* state) {
  stria_device_info info{};
  info.size = sizeof info;
  info.id = sdk::to_c("0");
  info.kind = sdk::to_c("reference");
  if (misdeed().is("devices", "that_are_null")) {
    sink(state, nullptr);
  } else if (misdeed().is("devices", "of_text_without_data")) {
    info.name = {nullptr, 100};
    sink(state, &info);
  } else if (misdeed().is("devices", "of_text_nowhere")) {
    info.name = {reinterpret_cast<const char*>(uintptr_t{1}), 5};
    sink(state, &info);
  } else if (misdeed().is("devices", "of_endless_text")) {
    info.name = {"x", UINT64_MAX};
    sink(state, &info);
  } else if (misdeed().is("devices", "of_size_zero")) {
    info.size = 0;
    sink(state, &info);
  } else if (misdeed().is("devices", "without_end")) {
    for (int i = 0; i < 300'000; ++i) sink(state, &info);
  } else {
    return Controlled<Right::driver_table.enumerate, kName_driver_enumerate>::call(driver, sink,
                                                                                   state);
  }
  return nullptr;
}

stria_error* kernels(stria_library* library, stria_kernel_sink sink, void* state) {
  stria_argument_info in{}, out{};
  in.size = out.size = sizeof in;
  in.direction = STRIA_IN;
  out.direction = STRIA_OUT;
  const stria_argument_info* arguments[2] = {&in, &out};
  stria_kernel_info info{};
  info.size = sizeof info;
  info.name = sdk::to_c("k");
  info.part = STRIA_MAIN;
  info.arguments = arguments;
  info.argument_count = 2;
  if (misdeed().is("kernels", "without_arguments"))
    info.arguments = nullptr;
  else if (misdeed().is("kernels", "with_null_arguments"))
    arguments[0] = nullptr;
  else if (misdeed().is("kernels", "with_a_million_arguments"))
    info.argument_count = 1'000'000;
  else if (misdeed().is("kernels", "of_an_odd_direction"))
    in.direction = 77;
  else if (misdeed().is("kernels", "of_an_odd_part"))
    info.part = 5;
  else if (misdeed().is("kernels", "with_overlaps_nowhere"))
    in.may_overlap_count = 3;
  else if (!misdeed().is("kernels", "with_inputs_first"))
    return Controlled<Right::library_table.kernels, kName_library_kernels>::call(library, sink,
                                                                                 state);
  sink(state, &info);
  return nullptr;
}

stria_error* on_done(stria_event* event, void (*callback)(void*, const stria_error*), void* state) {
  if (misdeed().what != "call_back_twice")
    return Controlled<Right::event_table.on_done, kName_event_on_done>::call(event, callback,
                                                                             state);
  callback(state, nullptr);
  callback(state, nullptr);
  callback(nullptr, nullptr);
  return nullptr;
}

stria_error* flush(stria_executor* executor) {
  static stria_error error{};
  static const std::string odd = odd_text();
  error = {};
  error.size = sizeof error;
  error.code = STRIA_UNAVAILABLE;
  error.message = sdk::to_c("bad");
  if (misdeed().is("error", "of_size_zero"))
    error.size = 0;
  else if (misdeed().is("error", "in_a_ring"))
    error.cause = &error;
  else if (misdeed().is("error", "of_an_odd_code"))
    error.code = -5;
  else if (misdeed().is("error", "of_success"))
    error.code = STRIA_OK;
  else if (misdeed().is("error", "without_data"))
    error.message = {nullptr, UINT64_MAX};
  else if (misdeed().is("error", "of_absurd_size"))
    error.message = {"x", UINT64_MAX};
  else if (misdeed().is("error", "at_an_absurd_address"))
    return reinterpret_cast<stria_error*>(uintptr_t{1});
  else if (misdeed().is("error", "of_absurd_pointers")) {
    error.cause = reinterpret_cast<stria_error*>(uintptr_t{8});
    error.release = reinterpret_cast<void (*)(stria_error*)>(uintptr_t{16});
    error.native_message = {reinterpret_cast<const char*>(uintptr_t{1}), 5};
  } else if (misdeed().is("error", "of_odd_text"))
    error.message = error.native_message = error.place = error.suggestion = sdk::to_c(odd);
  else if (misdeed().is("error", "whose_release_throws"))
    error.release = [](stria_error*) { throw 9; };
  else
    return Controlled<Right::executor_table.flush, kName_executor_flush>::call(executor);
  return &error;
}

// As the file says, when the shared object is loaded.
struct Constructor {
  Constructor() {
    std::string text;
    std::getline(std::ifstream(own_directory() / "misdeed"), text);
    const Misdeed wanted = Misdeed::parse(text);
    if (wanted.where != "constructor") return;
    if (wanted.what == "crash") std::abort();
    misuse_process(wanted);
  }
} g_constructor;

}  // namespace

extern "C" STRIA_EXPORT stria_error* stria_plugin_query(const stria_host_info* host,
                                                        stria_plugin_info* plugin) {
  static std::string id, version = "1.0.0";
  const std::filesystem::path directory = own_directory();
  std::string text;
  std::getline(std::ifstream(directory / "misdeed"), text);
  set_misdeed(text);
  g_abort_at_exit.armed = misdeed().what == "abort_at_exit";
  if (auto instead = misbehave("query")) return *instead;

  id = directory.filename().string();
  stria_error* error = sdk::query<BadDriver>(host, plugin, id, version);
  g_tables.driver.create = create;
  g_tables.driver.enumerate = enumerate;
  g_tables.library.kernels = kernels;
  g_tables.event.on_done = on_done;
  g_tables.executor.flush = flush;
  plugin->driver = &g_tables.driver;
  plugin->device = &g_tables.device;
  plugin->compiler = &g_tables.compiler;
  plugin->library = &g_tables.library;
  plugin->kernel = &g_tables.kernel;
  plugin->executor = &g_tables.executor;
  plugin->buffer = &g_tables.buffer;
  plugin->event = &g_tables.event;

  static stria_version_range newer{sizeof newer, nullptr, STRIA_ABI_MAJOR, 40, 41};
  static stria_version_range wider{sizeof wider, nullptr, STRIA_ABI_MAJOR, 0, 41};
  if (misdeed().is("info", "other_id")) plugin->id = sdk::to_c("somebody\nelse");
  if (misdeed().is("info", "other_version")) plugin->version = sdk::to_c("9.9.9");
  if (misdeed().is("info", "newer_abi")) plugin->abi = &newer;
  if (misdeed().is("info", "wider_abi")) plugin->abi = &wider;
  if (misdeed().is("info", "newer_stripe")) plugin->stripe = &newer;
  if (misdeed().is("info", "no_versions")) plugin->abi = plugin->stripe = nullptr;
  if (misdeed().is("info", "of_size_zero")) plugin->size = 0;
  if (misdeed().is("info", "without_tables")) {
    plugin->driver = nullptr;
    plugin->device = nullptr;
    plugin->event = nullptr;
  }
  if (misdeed().is("info", "with_short_tables"))
    g_tables.driver.size = offsetof(stria_driver_table, enumerate) + 4;
  if (misdeed().is("info", "with_tables_of_size_zero")) g_tables.driver.size = 0;
  return error;
}
