// SPDX-License-Identifier: Apache-2.0
// The messages between a host and the process in which its plugin runs. Most are a slot of
// stria/plugin.h with its arguments. Handles are numbers that the host gives: it goes on at once,
// and what follows may name an object that is only being made. docs/isolation.md says the same for
// who writes the other side anew.
//
// A message is a request if the host waits for its Answer; all others have none. What cannot be
// made of a message that has no answer fails its event, and whatever names it later fails alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stria/hal/boundary/info.h"
#include "stria/hal/isolation/wire.h"

namespace stria::hal::isolation {

// The numbers are the format's.
enum class Kind : uint16_t {
  // either side
  answer = 1,
  fault = 2,
  bytes = 3,
  // of the host
  hello = 16,
  enumerate = 17,
  open = 18,
  create_compiler = 19,
  create_executor = 20,
  allocate = 21,
  create_event = 22,
  build = 23,
  transform = 24,
  kernels = 25,
  source = 26,
  prepare = 27,
  submit = 28,
  copy = 29,
  fill = 30,
  flush = 31,
  drain = 32,
  run = 33,
  map = 34,
  unmap = 35,
  signal = 36,
  end = 37,
  release = 38,
  close = 39,
  estimate = 40,
  shutdown = 41,
  ping = 42,
  wait = 43,
  // of the plugin's process
  done = 64,
  log = 65,
};

// The slot that a message is about, "executor.submit"; for others what they are.
std::string_view slot_of(Kind kind);

using Id = uint64_t;  // of an object; 0 is none
using Ids = std::vector<Id>;

// Bits of Hello::features.
inline constexpr uint64_t kSharedMemory = 1;

// The descriptors of a process that the host has started: its end of the stream, and the shared
// memory if that is offered.
inline constexpr int kSocket = 3;
inline constexpr int kHeap = 4;

// Lists the fields of a message once, for both directions.
#define STRIA_FIELDS(...) \
  template <typename F>   \
  void fields(F& f) {     \
    f(__VA_ARGS__);       \
  }

struct Nothing {
  template <typename F>
  void fields(F&) {}
};

// ---- either side

// Behind a failure; nothing else follows it then.
template <typename T>
struct Answer {
  static constexpr Kind kKind = Kind::answer;
  sdk::Outcome failure;
  T value;
  template <typename F>
  void fields(F& f) {
    f(failure);
    if (!failure) value.fields(f);
  }
};

// Why the sender gives the connection up.
struct Fault {
  static constexpr Kind kKind = Kind::fault;
  std::string text;
  STRIA_FIELDS(text)
};

// A piece of a mapping where no memory is shared: before the done of a map, and before an unmap.
struct Bytes {
  static constexpr Kind kKind = Kind::bytes;
  Id mapping = 0;
  uint64_t offset = 0;  // from the mapping's begin
  std::string data;
  STRIA_FIELDS(mapping, offset, data)
};
inline constexpr uint64_t kPieceBytes = uint64_t{1} << 20;

// ---- driver and device

// The first message. Loads the plugin and makes its driver.
struct Hello {
  static constexpr Kind kKind = Kind::hello;
  struct Answer {
    uint64_t features = 0;  // of those offered
    uint64_t slots = 0;     // bit n: the plugin has the n-th slot of slots.def
    STRIA_FIELDS(features, slots)
  };
  uint64_t features = 0;
  uint64_t heap_bytes = 0;  // of the shared memory
  std::string directory, options;
  uint64_t step_limit_ms = 0;  // of each step of the load
  uint32_t threads = 0;        // of the host, for plugins
  bool check_trust = true;
  STRIA_FIELDS(features, heap_bytes, directory, options, step_limit_ms, threads, check_trust)
};

// A DeviceInfo, a KernelInfo and a text as they travel.
struct DeviceFields : DeviceInfo {
  STRIA_FIELDS(id, name, kind, vendor, available, reason, memory_bytes, properties)
};
struct ArgumentFields : ArgumentInfo {
  STRIA_FIELDS(name, direction, bytes, may_overlap)
};
struct KernelFields {
  std::string name, interpreted;
  ProgramPart part = ProgramPart::main;
  uint64_t statement = 0;
  std::vector<ArgumentFields> arguments;
  STRIA_FIELDS(name, part, statement, arguments, interpreted)
};
struct TextFields {
  std::string name, text;
  STRIA_FIELDS(name, text)
};
struct Devices {
  std::vector<DeviceFields> all;
  STRIA_FIELDS(all)
};
struct Kernels {
  std::vector<KernelFields> all;
  STRIA_FIELDS(all)
};
struct Texts {
  std::vector<TextFields> all;
  STRIA_FIELDS(all)
};

struct Enumerate : Nothing {
  static constexpr Kind kKind = Kind::enumerate;
  using Answer = Devices;
};

struct Open {
  static constexpr Kind kKind = Kind::open;
  using Answer = DeviceFields;  // what device.info says
  Id device = 0;
  std::string id, options;
  STRIA_FIELDS(device, id, options)
};

struct CreateCompiler {
  static constexpr Kind kKind = Kind::create_compiler;
  using Answer = Nothing;
  Id device = 0, compiler = 0;
  STRIA_FIELDS(device, compiler)
};

struct CreateExecutor {
  static constexpr Kind kKind = Kind::create_executor;
  using Answer = Nothing;
  Id device = 0, executor = 0;
  std::string options;
  STRIA_FIELDS(device, executor, options)
};

struct Allocate {
  static constexpr Kind kKind = Kind::allocate;
  using Answer = Nothing;
  Id device = 0, buffer = 0;
  uint64_t bytes = 0;
  std::string memory;
  STRIA_FIELDS(device, buffer, bytes, memory)
};

struct CreateEvent {
  static constexpr Kind kKind = Kind::create_event;
  Id device = 0, event = 0;
  STRIA_FIELDS(device, event)
};

// The table stria.estimate.
struct Estimate {
  static constexpr Kind kKind = Kind::estimate;
  struct Answer {
    uint64_t time_ns = 0, low_time_ns = 0, high_time_ns = 0, prologue_ns = 0, energy_pj = 0,
             build_ns = 0;
    STRIA_FIELDS(time_ns, low_time_ns, high_time_ns, prologue_ns, energy_pj, build_ns)
  };
  Id device = 0;
  std::string stripe, options;
  STRIA_FIELDS(device, stripe, options)
};

// The release of a device, which may take time.
struct Close {
  static constexpr Kind kKind = Kind::close;
  using Answer = Nothing;
  Id device = 0;
  STRIA_FIELDS(device)
};

// Ends the plugin's work. The process ends behind the answer.
struct Shutdown : Nothing {
  static constexpr Kind kKind = Kind::shutdown;
  using Answer = Nothing;
};

// Whether messages are still read.
struct Ping : Nothing {
  static constexpr Kind kKind = Kind::ping;
  using Answer = Nothing;
};

// ---- compiler and library

struct Build {
  static constexpr Kind kKind = Kind::build;
  Id compiler = 0, library = 0, done = 0;
  std::string stripe, options;
  Ids waits;
  STRIA_FIELDS(compiler, library, done, stripe, options, waits)
};

struct Transform {
  static constexpr Kind kKind = Kind::transform;
  using Answer = Texts;
  Id compiler = 0;
  std::string stripe, pass, options;
  STRIA_FIELDS(compiler, stripe, pass, options)
};

struct ListKernels {
  static constexpr Kind kKind = Kind::kernels;
  using Answer = Kernels;
  Id library = 0;
  STRIA_FIELDS(library)
};

struct Source {
  static constexpr Kind kKind = Kind::source;
  using Answer = Texts;
  Id library = 0;
  STRIA_FIELDS(library)
};

// ---- executor and kernel

struct Prepare {
  static constexpr Kind kKind = Kind::prepare;
  using Answer = Nothing;
  Id executor = 0, library = 0, kernel = 0;
  uint64_t index = 0;
  STRIA_FIELDS(executor, library, kernel, index)
};

struct ArgumentField {
  Id buffer = 0;
  uint64_t offset = 0;
  STRIA_FIELDS(buffer, offset)
};

struct LaunchFields {
  Id kernel = 0, done = 0;  // done 0: nobody asks for this launch's event
  std::vector<ArgumentField> arguments;
  std::vector<uint32_t> after;
  STRIA_FIELDS(kernel, done, arguments, after)
};

struct Submit {
  static constexpr Kind kKind = Kind::submit;
  Id executor = 0, done = 0;
  std::vector<LaunchFields> launches;  // all with an event of their own, or none
  Ids waits;
  STRIA_FIELDS(executor, done, launches, waits)
};

struct Copy {
  static constexpr Kind kKind = Kind::copy;
  Id executor = 0, done = 0, source = 0, target = 0;
  uint64_t source_offset = 0, target_offset = 0, bytes = 0;
  Ids waits;
  STRIA_FIELDS(executor, done, source, source_offset, target, target_offset, bytes, waits)
};

struct Fill {
  static constexpr Kind kKind = Kind::fill;
  Id executor = 0, done = 0, target = 0;
  uint64_t offset = 0, bytes = 0;
  std::string pattern;
  Ids waits;
  STRIA_FIELDS(executor, done, target, offset, bytes, pattern, waits)
};

struct Flush {
  static constexpr Kind kKind = Kind::flush;
  using Answer = Nothing;
  Id executor = 0;
  STRIA_FIELDS(executor)
};

struct Drain {
  static constexpr Kind kKind = Kind::drain;
  using Answer = Nothing;
  Id executor = 0;
  uint64_t timeout_ns = 0;
  STRIA_FIELDS(executor, timeout_ns)
};

struct Run {
  static constexpr Kind kKind = Kind::run;
  Id kernel = 0, done = 0;
  std::vector<ArgumentField> arguments;
  Ids waits;
  STRIA_FIELDS(kernel, done, arguments, waits)
};

// ---- buffer

enum class MapMode : uint8_t { current = 0, discard = 1, read = 2 };

struct Map {
  static constexpr Kind kKind = Kind::map;
  struct Answer {
    bool shared = false;  // else the bytes travel
    uint64_t place = 0;   // of the mapping in the shared memory
    STRIA_FIELDS(shared, place)
  };
  Id buffer = 0, mapping = 0, done = 0;
  uint64_t offset = 0, bytes = 0;
  MapMode mode = MapMode::current;
  Ids waits;
  STRIA_FIELDS(buffer, mapping, done, offset, bytes, mode, waits)
};

struct Unmap {
  static constexpr Kind kKind = Kind::unmap;
  Id mapping = 0, done = 0;
  STRIA_FIELDS(mapping, done)
};

// ---- event

// A host event is done.
struct Signal {
  static constexpr Kind kKind = Kind::signal;
  Id event = 0;
  sdk::Outcome failure;
  STRIA_FIELDS(event, failure)
};

struct End {
  static constexpr Kind kKind = Kind::end;
  Id event = 0, done = 0;
  STRIA_FIELDS(event, done)
};

// The host waits for the event: a thread that waits may do its work.
struct Wait {
  static constexpr Kind kKind = Kind::wait;
  Id event = 0;
  STRIA_FIELDS(event)
};

// Of any object but a device.
struct Release {
  static constexpr Kind kKind = Kind::release;
  Id object = 0;
  STRIA_FIELDS(object)
};

// ---- of the plugin's process

// An event is done; nothing of the plugin's was done for it where it has no duration.
struct Done {
  static constexpr Kind kKind = Kind::done;
  Id event = 0;
  uint64_t duration_ns = 0;
  sdk::Outcome failure;
  STRIA_FIELDS(event, duration_ns, failure)
};

struct Log {
  static constexpr Kind kKind = Kind::log;
  int32_t level = 0;
  std::string text;
  STRIA_FIELDS(level, text)
};

#undef STRIA_FIELDS

}  // namespace stria::hal::isolation
