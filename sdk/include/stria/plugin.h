// SPDX-License-Identifier: Apache-2.0
// The boundary between the host and a device plugin, in plain C11. A plugin is a shared object that
// exports one symbol, stria_plugin_query; everything else crosses in the tables declared here. Only
// C types, text and bytes cross: no C++ object, no exception, no allocator, no FILE.
//
// Rules that hold for every declaration of this file:
// * Every struct starts with `size`, sizeof the struct as its maker compiled it, and `next`, a
//   chain of extension structs (each starting with size and next, then a name; unknown ones are
//   skipped; NULL ends it). Only stria_string and stria_memory are bare.
// * `size` says which members there are. A reader uses a member only if all of it lies within
//   `size`; one beyond counts as 0, NULL or empty. What a longer struct has beyond the reader's own
//   is ignored. New members are appended and existing ones never move; none is put where an older
//   struct ended in padding, for that lies within the older `size`. Two structs have rules of their
//   own, at their `size`: stria_host_services, of which a plugin needs all but those that are
//   marked, and stria_plugin_info, which the host makes and the plugin fills.
// * A null slot, or one beyond `size`, is a slot that the plugin does not have: the host puts a
//   stub there that returns STRIA_UNIMPLEMENTED. Void slots become no-ops. Only
//   compiler.transform, library.source, executor.flush, buffer.map_read and event.end may be
//   missing: nothing can be run without the others. A slot that is there is the address of a
//   function.
// * Enumerations are int32_t, booleans uint8_t (0 or 1), sizes and offsets uint64_t bytes, times
//   uint64_t nanoseconds, text UTF-8 in {data, size} without a terminating zero. An empty text may
//   have data NULL.
// * A slot that can fail returns a stria_error that the caller owns, or NULL for success. On
//   failure no output parameter has been written.
// * Pointers given to a slot are valid during the call only, unless its comment says otherwise.
//   What a const one points to is not written. A sink, a callback, a body and a task get the
//   `state` that was given with them.
// * Handles that a slot makes belong to the caller, who gives them back through the noun's
//   `release`. A handle stays usable by work in flight after its release: releasing never waits and
//   never cancels. What a plugin takes for a handle (memory, the host's too, threads, descriptors)
//   goes with it, and the rest with the driver: nothing grows with use.
// * The host releases devices and executors, and shuts a driver down, on threads of its own: never
//   from a callback (stria_event_table.on_done), which may run on a thread for whose end such a
//   release waits. What in the plugin owns a thread may not be dropped on that thread either: work
//   in flight holds buffers and kernels, not the queue that runs it.
// * Arrays of structs cross as arrays of pointers, so that a struct may grow.
// * Lists of events to wait for may be NULL if their count is 0, and hold events of the same device
//   only; the host brings other events in through a host event (stria_device_table.create_event).
//   An event may stand in a list more than once.
// * A range that reaches beyond a buffer's end is an error, however large its numbers are.
// * An element of bool is a byte that holds 0 or 1.
//
// Asynchronous slots take such a list, return before those events are done, and give one event. The
// work starts when all of them are done. Work of 0 bytes is legal, and waits as any other does. If
// one failed, the work is not done and its event fails with the same error (that of the first
// failed one in list order), after all waits are over: so a failure travels along the events to
// everything that depends on it, and carries its first cause.
//
// Thread tags, one line per slot, read by tools too:
//   @threads any     may be called from any thread at any time, also at once on one handle
//   @threads handle  calls on one handle come one after another; different handles at once
//   @blocks no       returns without waiting for device work, disk or other threads' long work
//   @blocks yes      may wait for what its comment says, and no longer
//   @allocates       yes if it may take memory whose amount depends on the arguments
//   @reenters        yes if it may call back into the host (sinks, host services) before it returns
// Host services are @threads any. A plugin calls none of them while it holds a lock that one of its
// own slots needs.
//
// Processes: the tables are valid in the process that queried them; a forked child may not use
// them. Nothing that a plugin does ends the process: no slot and no thread of its own exits, aborts
// or faults, whatever it was given and whatever the device did.
#ifndef STRIA_PLUGIN_H
#define STRIA_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of this header. Majors must match exactly; each side states the minors it can speak,
// and the highest common one holds. Major 0 makes no promise between minors beyond the rules above.
#define STRIA_ABI_MAJOR 0
#define STRIA_ABI_MINOR 5
// The oldest minor that a host or plugin of this header gets on with. 1: without
// stria_event_table.end; 2: without stria_host_services.lend; 3: without
// stria_kernel_info.interpreted; 4: without stria_buffer_table.map_read and
// stria_host_services.copy_error.
#define STRIA_ABI_OLDEST_MINOR 1

// The Stripe text that this release writes, "stripe MAJOR.MINOR" in a text's first line.
#define STRIA_STRIPE_MAJOR 1
#define STRIA_STRIPE_MINOR 0

// -------------------------------------------------------------------------------------------------
// Values

typedef struct stria_string {
  const char* data;
  uint64_t size;  // bytes
} stria_string;

// A piece of host memory.
typedef struct stria_memory {
  void* data;
  uint64_t size;  // bytes
} stria_memory;

// Kinds of failure: what the receiver may do about it.
typedef int32_t stria_code;
enum {
  STRIA_OK = 0,
  STRIA_INVALID_ARGUMENT = 1,      // the caller's program, value or shape is wrong: mend it
  STRIA_NOT_FOUND = 2,             // a name or device that is not there
  STRIA_OUT_OF_RANGE = 3,          // a number beyond its limit
  STRIA_UNIMPLEMENTED = 4,         // the slot does not exist here
  STRIA_UNSUPPORTED = 5,           // the slot exists, but not for this input
  STRIA_UNAVAILABLE = 6,           // not now: no device, no driver; may be later
  STRIA_INCOMPATIBLE = 7,          // version or build mismatch
  STRIA_OUT_OF_MEMORY = 8,         // host or device memory is used up
  STRIA_DEVICE_LOST = 9,           // the device is gone; every later call says the same
  STRIA_PERMISSION_DENIED = 10,    // not trusted or not allowed
  STRIA_DEADLINE_EXCEEDED = 11,    // a time limit ran out
  STRIA_CANCELLED = 12,            // given up before it was done
  STRIA_DATA_LOSS = 13,            // truncated or corrupt data
  STRIA_FAILED_PRECONDITION = 14,  // right call, wrong moment
  STRIA_UNKNOWN = 15,              // an analysis could not decide within its budget
  STRIA_INTERNAL = 16              // a bug of the callee
};

// A failure. Made by either side, owned by who receives it, who calls error->release(error) once.
// It stands alone: no table is needed to read or free it.
typedef struct stria_error stria_error;
struct stria_error {
  uint64_t size;
  const void* next;
  stria_code code;              // one of the kinds above, never STRIA_OK
  int64_t native_code;          // the driver's own number, 0 if none
  stria_string message;         // one sentence that names the thing, the value and the limit
  stria_string native_message;  // the driver's own text, for example its name of native_code; may
                                // be empty
  stria_string place;           // "file:line" in the plugin; may be empty
  stria_string suggestion;      // what to do about it; may be empty
  const stria_error* cause;     // owned by this error; NULL if none
  void (*release)(stria_error* error);  // @threads any @blocks no @allocates no @reenters no
};

// Handles: each noun's objects are the plugin's own, opaque to the host.
typedef struct stria_driver stria_driver;
typedef struct stria_device stria_device;
typedef struct stria_compiler stria_compiler;
typedef struct stria_library stria_library;
typedef struct stria_kernel stria_kernel;
typedef struct stria_executor stria_executor;
typedef struct stria_buffer stria_buffer;
typedef struct stria_event stria_event;

// Receives texts: called zero or more times before the slot returns. `name` says which text it is.
typedef void (*stria_text_sink)(void* state, stria_string name, stria_string text);

// -------------------------------------------------------------------------------------------------
// Device

typedef struct stria_device_info {
  uint64_t size;
  const void* next;
  stria_string id;        // stable between runs and unique in the plugin, for example "0" or
                          // "pci-03:00.0"
  stria_string name;      // for people, on one line: "Acme 300 rev B, 16 cores"
  stria_string kind;      // one of the manifest's device kinds: picks hardware model and pipeline;
                          // `auto` takes a device of kind "software" only if there is no other
  stria_string vendor;    // may be empty
  uint8_t available;      // 1: open works
  stria_string reason;    // why not, if not available
  uint64_t memory_bytes;  // of the memory that `allocate` uses; 0 if not known
  // What the device says of itself as an overlay over the kind's hardware model: a JSON object with
  // that schema's keys ("{}" if it adds nothing).
  stria_string properties;
} stria_device_info;

// Receives devices: called zero or more times before the slot returns.
typedef void (*stria_device_sink)(void* state, const stria_device_info* info);

// -------------------------------------------------------------------------------------------------
// Kernels

// A kernel writes the elements of its out and inout arguments, and nothing beside them.
typedef int32_t stria_direction;
enum {
  STRIA_IN = 1,    // read only
  STRIA_OUT = 2,   // written; what was there is not read
  STRIA_INOUT = 3  // read and written, contents kept
};

typedef struct stria_argument_info {
  uint64_t size;
  const void* next;
  stria_string name;          // the refinement's name in the block of `prologue` or `main`
  stria_direction direction;  // the refinement's: in, out or inout
  uint64_t bytes;             // least bytes that must lie behind the argument's offset
  // Outputs only: positions of the inputs whose memory this output may overlap. Any other overlap
  // of an output with another argument is refused by the host before `run`.
  const uint32_t* may_overlap;
  uint64_t may_overlap_count;
} stria_argument_info;

typedef int32_t stria_program_part;
enum {
  STRIA_PROLOGUE = 0,  // reads constants only; run once per binding
  STRIA_MAIN = 1
};

// kernel_info.statement of a kernel that runs its whole part.
#define STRIA_WHOLE_PART UINT64_MAX

typedef struct stria_kernel_info {
  uint64_t size;
  const void* next;
  stria_string name;
  stria_program_part part;
  uint64_t statement;  // position in the part's block, or STRIA_WHOLE_PART
  // Out and inout arguments in printed order, then in arguments in printed order. An argument is
  // the whole tensor that the refinement names in its part: element 0 of that tensor lies at the
  // argument's offset.
  const stria_argument_info* const* arguments;
  uint64_t argument_count;
  // Why the host's interpreter runs this kernel, for people: "its groups have lanes". Empty: code
  // of the plugin's own does. Interpretation is slow, so the host shows it. Since 0.4.
  stria_string interpreted;
} stria_kernel_info;

// Receives kernels: called zero or more times before the slot returns.
typedef void (*stria_kernel_sink)(void* state, const stria_kernel_info* info);

typedef struct stria_argument {
  uint64_t size;
  const void* next;
  stria_buffer* buffer;
  uint64_t offset;  // bytes; a multiple of the element size
} stria_argument;

typedef struct stria_launch {
  uint64_t size;
  const void* next;
  stria_kernel* kernel;  // prepared by the executor it is submitted to
  const stria_argument* const* arguments;
  uint64_t argument_count;
  // Positions of earlier launches of the same batch that this one waits for.
  const uint32_t* after;
  uint64_t after_count;
} stria_launch;

// -------------------------------------------------------------------------------------------------
// Host services: what a plugin may ask of the host, given to each driver. Each takes `host` first.
// All are @threads any.

typedef int32_t stria_log_level;
enum { STRIA_LOG_DEBUG = 0, STRIA_LOG_INFO = 1, STRIA_LOG_WARNING = 2, STRIA_LOG_ERROR = 3 };

typedef struct stria_host stria_host;
typedef struct stria_host_program stria_host_program;
typedef struct stria_host_kernel stria_host_kernel;

typedef struct stria_host_services {
  uint64_t size;  // a plugin that needs more services than this refuses: STRIA_INCOMPATIBLE
  const void* next;
  stria_host* host;

  // One line for people; shown according to the user's verbosity.
  // @blocks no @allocates yes @reenters no
  void (*log)(stria_host* host, stria_log_level level, stria_string message);

  // Memory of `bytes` aligned to `alignment` (a power of two), or NULL if there is none. bytes 0
  // gives a pointer that may only be freed. A slot that gets none does without, or fails with
  // STRIA_OUT_OF_MEMORY; once there is memory again the same call is well.
  // @blocks no @allocates yes @reenters no
  void* (*allocate)(stria_host* host, uint64_t bytes, uint64_t alignment);
  // Gives back what `allocate` gave for the same bytes and alignment. NULL is fine.
  // @blocks no @allocates no @reenters no
  void (*free)(stria_host* host, void* memory, uint64_t bytes, uint64_t alignment);

  // How many threads parallel_for uses at most, the caller's included: the cores the process may
  // use, or what the user asked for. @blocks no @allocates no @reenters no
  uint32_t (*concurrency)(stria_host* host);
  // Calls body(state, begin, end) on pieces that cover 0..count-1 once, each of at most `grain`
  // indices (0: the host picks), on the calling thread and on idle workers; returns when all are
  // done. Pieces are handed out as threads become free. body must not throw. May be nested. Threads
  // that the system refuses are done without.
  // @blocks yes @allocates no @reenters yes
  void (*parallel_for)(stria_host* host, uint64_t count, uint64_t grain,
                       void (*body)(void* state, uint64_t begin, uint64_t end), void* state);
  // Calls task(state) once on a worker thread, soon. Tasks start in order; at least two run at
  // once. It never fails: where the system refuses the threads or the memory, the tasks that wait
  // and this one run on the calling thread before post returns, or, if that runs such a task
  // already, after that one.
  // @blocks no @allocates yes @reenters no
  void (*post)(stria_host* host, void (*task)(void* state), void* state);

  // Reads device Stripe so that its kernels can be interpreted. The text is not needed afterwards.
  // @blocks yes @allocates yes @reenters no
  stria_error* (*program_create)(stria_host* host, stria_string stripe,
                                 stria_host_program** program);
  // One kernel per statement of prologue and main, in that order.
  // @blocks no @allocates no @reenters yes
  stria_error* (*program_kernels)(stria_host* host, stria_host_program* program,
                                  stria_kernel_sink sink, void* state);
  // Readies kernel `index` of program_kernels. It stays valid after the program's release.
  // @blocks yes @allocates yes @reenters no
  stria_error* (*kernel_create)(stria_host* host, stria_host_program* program, uint64_t index,
                                stria_host_kernel** kernel);
  // Runs it; arguments in the order of stria_kernel_info, each at element 0. Several runs of one
  // kernel at once are fine. @blocks yes @allocates yes @reenters yes
  stria_error* (*kernel_run)(stria_host* host, stria_host_kernel* kernel,
                             const stria_memory* arguments, uint64_t argument_count);
  void (*kernel_release)(stria_host* host, stria_host_kernel* kernel);     // @blocks no
  void (*program_release)(stria_host* host, stria_host_program* program);  // @blocks no

  // A store of bytes that outlives the process, keyed by text that names everything the value
  // depends on (program, device, driver version). get calls the sink once if the key is there, not
  // at all otherwise; put may drop the value. A plugin whose cache fails does without, or fails
  // with STRIA_UNAVAILABLE; once the cache is back the same call is well.
  // @blocks yes @allocates yes @reenters yes
  stria_error* (*cache_get)(stria_host* host, stria_string key, stria_text_sink sink, void* state);
  stria_error* (*cache_put)(stria_host* host, stria_string key, stria_string value);

  // Makes an error with copies of the texts. Never NULL. @blocks no @allocates yes @reenters no
  stria_error* (*make_error)(stria_host* host, stria_code code, int64_t native_code,
                             stria_string message, stria_string native_message);

  // Lends the calling thread, which waits without a limit, to the loops of parallel_for until
  // done(state) is not 0, which is asked between pieces and while there are none: then it
  // returns 1. 0 if there was nothing to do for a while: the thread had better sleep until it is
  // woken. done is quick, does not throw and calls no service. Since 0.3; a plugin gets on without
  // it.
  // @blocks yes @allocates no @reenters yes
  uint8_t (*lend)(stria_host* host, uint8_t (*done)(void* state), void* state);

  // A copy of `error`, which stays the caller's and may lie on the stack: with place, suggestion
  // and up to 8 causes. make_error has no room for these. Never NULL. Since 0.5; a plugin gets on
  // without it. @blocks no @allocates yes @reenters no
  stria_error* (*copy_error)(stria_host* host, const stria_error* error);
} stria_host_services;

// -------------------------------------------------------------------------------------------------
// Driver: the plugin at work. A process may create several, of several hosts: a plugin keeps what
// it knows in its driver, not in globals.

typedef struct stria_driver_options {
  uint64_t size;
  const void* next;
  stria_string directory;               // the plugin's own directory, absolute
  stria_string options;                 // JSON object of user options for this plugin, "{}" if none
  const stria_host_services* services;  // valid until shutdown has returned
} stria_driver_options;

typedef struct stria_driver_table {
  uint64_t size;
  const void* next;
  // Begins the plugin's work for one host. Opens no device and no vendor library that takes longer
  // than a few milliseconds.
  // @threads handle @blocks no @allocates no @reenters no
  stria_error* (*create)(const stria_driver_options* options, stria_driver** driver);
  // Every device there could be, in a stable order, unavailable ones with the reason. No device is
  // opened, nothing is kept; under 50 ms. No device at all is success without a call of the sink.
  // @threads any @blocks yes @allocates no @reenters yes
  stria_error* (*enumerate)(stria_driver* driver, stria_device_sink sink, void* state);
  // Opens the device with that id. It may be open already: each opening is a device of its own.
  // `options` is a JSON object, "{}" if none. The host opens one device of a process at a time.
  // @threads any @blocks yes @allocates yes @reenters no
  stria_error* (*open)(stria_driver* driver, stria_string id, stria_string options,
                       stria_device** device);
  // Ends the plugin's work; every other handle has been released and every event is done. Not
  // called when the process just exits. @threads handle @blocks yes @allocates no @reenters no
  void (*shutdown)(stria_driver* driver);
} stria_driver_table;

// -------------------------------------------------------------------------------------------------
// Device

typedef struct stria_buffer_params {
  uint64_t size;
  const void* next;
  uint64_t bytes;       // 0 is legal
  stria_string memory;  // memory unit of the hardware model; empty: the device's main memory
} stria_buffer_params;

typedef struct stria_device_table {
  uint64_t size;
  const void* next;
  // The opened device's info; `properties` may now hold measured values. The sink is called once.
  // While the device is open the info stays the same.
  // @threads any @blocks no @allocates no @reenters yes
  stria_error* (*info)(stria_device* device, stria_device_sink sink, void* state);
  // Makes a compiler, which builds programs for this device.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*create_compiler)(stria_device* device, stria_compiler** compiler);
  // `options`: JSON object, "{}" if none. An executor is one stream of work; work on different
  // executors, and unrelated work on one, may overlap: events alone order it.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*create_executor)(stria_device* device, stria_string options,
                                  stria_executor** executor);
  // Memory of this buffer alone, with undefined contents, or STRIA_OUT_OF_MEMORY with the bytes
  // asked for and the bytes free. STRIA_NOT_FOUND: the device has no buffers in a memory unit of
  // that name.
  // @threads any @blocks yes @allocates yes @reenters no
  stria_error* (*allocate)(stria_device* device, const stria_buffer_params* params,
                           stria_buffer** buffer);
  // A host event: open until stria_event_table.signal.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*create_event)(stria_device* device, stria_event** event);
  // Gives the device back; its compilers, executors, buffers and events have been released before.
  // @threads handle @blocks yes @allocates no @reenters no
  void (*release)(stria_device* device);
} stria_device_table;

// -------------------------------------------------------------------------------------------------
// Compiler and Library

typedef struct stria_build_params {
  uint64_t size;
  const void* next;
  stria_string stripe;   // the whole program's device Stripe
  stria_string options;  // JSON object: {"fast_math": false, "dump_source": false, …}
} stria_build_params;

typedef struct stria_compiler_table {
  uint64_t size;
  const void* next;
  // Starts to compile and returns at once. The library's other slots return
  // STRIA_FAILED_PRECONDITION until `done` is, and its failure afterwards if it failed. A program
  // that the plugin's pipeline has made becomes code, or fails with STRIA_UNSUPPORTED and what of
  // it is not supported.
  // @threads any @blocks no @allocates yes @reenters no
  stria_error* (*build)(stria_compiler* compiler, const stria_build_params* params,
                        stria_event* const* waits, uint64_t wait_count, stria_library** library,
                        stria_event** done);
  // Optional: a pass of the plugin's own. Gives the new Stripe to the sink, named "stripe"; further
  // named texts are notes for people. STRIA_NOT_FOUND for a pass it does not have.
  // @threads any @blocks yes @allocates yes @reenters yes
  stria_error* (*transform)(stria_compiler* compiler, stria_string stripe, stria_string pass,
                            stria_string options, stria_text_sink sink, void* state);
  // @threads handle @blocks no @allocates no @reenters no
  void (*release)(stria_compiler* compiler);
} stria_compiler_table;

typedef struct stria_library_table {
  uint64_t size;
  const void* next;
  // The library's kernels in launch order: one per statement of prologue and main, or one for a
  // whole part. @threads any @blocks no @allocates no @reenters yes
  stria_error* (*kernels)(stria_library* library, stria_kernel_sink sink, void* state);
  // What was generated, for people: named texts such as "kernel_0.s". None is success.
  // @threads any @blocks yes @allocates yes @reenters yes
  stria_error* (*source)(stria_library* library, stria_text_sink sink, void* state);
  void (*release)(stria_library* library);  // @threads handle @blocks no @allocates no @reenters no
} stria_library_table;

// -------------------------------------------------------------------------------------------------
// Executor and Kernel

typedef struct stria_executor_table {
  uint64_t size;
  const void* next;
  // Readies kernel `index` of a library of the same device, whose build is done.
  // @threads any @blocks yes @allocates yes @reenters no
  stria_error* (*prepare)(stria_executor* executor, stria_library* library, uint64_t index,
                          stria_kernel** kernel);
  // A batch: launches wait for `waits` and for those their `after` names, nothing else. `done` is
  // when all are; if some fail, with the error of the first of them in the batch's order; its
  // duration runs from the first start to the last end. `each` is NULL or has room for one event
  // per launch. On an error nothing of the batch runs.
  // @threads any @blocks no @allocates yes @reenters no
  stria_error* (*submit)(stria_executor* executor, const stria_launch* const* launches,
                         uint64_t launch_count, stria_event* const* waits, uint64_t wait_count,
                         stria_event** each, stria_event** done);
  // Copies bytes between buffers of this device, or within one if the ranges do not overlap. To and
  // from the host: map. @threads any @blocks no @allocates no @reenters no
  stria_error* (*copy)(stria_executor* executor, stria_buffer* source, uint64_t source_offset,
                       stria_buffer* target, uint64_t target_offset, uint64_t bytes,
                       stria_event* const* waits, uint64_t wait_count, stria_event** done);
  // Repeats `pattern` (1, 2, 4, 8 or 16 bytes, copied) over `bytes`, a multiple of its size.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*fill)(stria_executor* executor, stria_buffer* target, uint64_t offset,
                       uint64_t bytes, const void* pattern, uint64_t pattern_size,
                       stria_event* const* waits, uint64_t wait_count, stria_event** done);
  // Hands everything submitted to the device at once. Without it work may wait a while for company;
  // it begins all the same, whether anybody waits for it or not.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*flush)(stria_executor* executor);
  // Waits until all work submitted before the call is done, failed or not; STRIA_DEADLINE_EXCEEDED
  // after timeout_ns (UINT64_MAX: no limit). @threads any @blocks yes @allocates no @reenters no
  stria_error* (*drain)(stria_executor* executor, uint64_t timeout_ns);
  // @threads handle @blocks no @allocates no @reenters no
  void (*release)(stria_executor* executor);
} stria_executor_table;

typedef struct stria_kernel_table {
  uint64_t size;
  const void* next;
  // Launches the kernel on its executor. Wrong argument counts and offsets beyond a buffer's end
  // are STRIA_INVALID_ARGUMENT. @threads any @blocks no @allocates no @reenters no
  stria_error* (*run)(stria_kernel* kernel, const stria_argument* const* arguments,
                      uint64_t argument_count, stria_event* const* waits, uint64_t wait_count,
                      stria_event** done);
  void (*release)(stria_kernel* kernel);  // @threads handle @blocks no @allocates no @reenters no
} stria_kernel_table;

// -------------------------------------------------------------------------------------------------
// Buffer

typedef struct stria_buffer_table {
  uint64_t size;
  const void* next;
  // Gives `bytes` of host memory that stand for the buffer's bytes from `offset`: the address at
  // once, the buffer's contents in it when `done` is. Put the buffer's writers into `waits`. The
  // memory may be read and written from `done` until its unmap, which comes once for every mapping,
  // failed ones too. A mapping holds its range from when its waits are over until the `done` of its
  // unmap; ranges held at once must not overlap. Before that it holds nothing: a range may be
  // mapped again while an earlier mapping of it is still open, even one whose own waits are not
  // over, if the waits of the later one end after the earlier unmap's `done`. Both may get the same
  // address: they are unmapped in the order in which they came.
  // @threads any @blocks no @allocates yes @reenters no
  stria_error* (*map_current)(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                              stria_event* const* waits, uint64_t wait_count, void** memory,
                              stria_event** done);
  // The same without reading back: the contents are undefined and all of them must be written,
  // after `done`. Put the buffer's users into `waits`.
  // @threads any @blocks no @allocates yes @reenters no
  stria_error* (*map_discard)(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                              stria_event* const* waits, uint64_t wait_count, void** memory,
                              stria_event** done);
  // Ends a mapping whose `done` is; `memory` is the address that the map gave. When `done` is, the
  // device sees what was written. Of a mapping that failed nothing is written to the buffer, and
  // `done` may fail with the same error. @threads any @blocks no @allocates no @reenters no
  stria_error* (*unmap)(stria_buffer* buffer, void* memory, stria_event** done);
  void (*release)(stria_buffer* buffer);  // @threads handle @blocks no @allocates no @reenters no
  // map_current for who only reads: the memory is not written, and its unmap takes nothing to the
  // device. Ranges that are mapped so may overlap each other while they are held. Since 0.5;
  // without it the host uses map_current. @threads any @blocks no @allocates yes @reenters no
  stria_error* (*map_read)(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                           stria_event* const* waits, uint64_t wait_count, void** memory,
                           stria_event** done);
} stria_buffer_table;

// -------------------------------------------------------------------------------------------------
// Event: something that will be done or have failed, once. Once its waits are over it comes to an
// end, and who waits for it returns then.

typedef struct stria_event_table {
  uint64_t size;
  const void* next;
  // Returns NULL as soon as the event is done, failed or not (see status), and
  // STRIA_DEADLINE_EXCEEDED if it is still open after timeout_ns (UINT64_MAX: no limit, 0: just
  // look).
  // @threads any @blocks yes @allocates no @reenters yes
  stria_error* (*wait)(stria_event* event, uint64_t timeout_ns);
  // 1 if done, failed or not. @threads any @blocks no @allocates no @reenters no
  stria_error* (*query)(stria_event* event, uint8_t* done);
  // NULL if done and well; its failure if it failed; STRIA_FAILED_PRECONDITION while it is open.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*status)(stria_event* event);
  // Nanoseconds from the start to the end of the work itself, without waiting. 0 for work that was
  // not done, for host events, and where it is not known; that of a batch is known if that of all
  // its launches is. STRIA_FAILED_PRECONDITION while it is open.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*duration_ns)(stria_event* event, uint64_t* nanoseconds);
  // Calls callback(state, error) once: at once if done, else from any thread when done. At once is
  // before on_done returns. The error is NULL or valid during the callback. The callback returns
  // soon and may call any slot that does not block.
  // @threads any @blocks no @allocates yes @reenters yes
  stria_error* (*on_done)(stria_event* event,
                          void (*callback)(void* state, const stria_error* error), void* state);
  // Host events only: it is done, or failed with a copy of `error`. A second call is
  // STRIA_FAILED_PRECONDITION. A host event that is released unsignalled fails with
  // STRIA_CANCELLED.
  // @threads any @blocks no @allocates no @reenters yes
  stria_error* (*signal)(stria_event* event, const stria_error* error);
  void (*release)(stria_event* event);  // @threads handle @blocks no @allocates no @reenters no
  // An event that is done when this one is, and well whatever became of it: for work that comes
  // after other work and does not share its fate, as it overwrites what that has used. Where the
  // device keeps that order itself, the later work need not wait for the host. Since 0.2; without
  // it the host signals an event of its own. @threads any @blocks no @allocates no @reenters no
  stria_error* (*end)(stria_event* event, stria_event** end);
} stria_event_table;

// -------------------------------------------------------------------------------------------------
// The one symbol

// Sanitizers whose run-time must be the same on both sides of the boundary.
typedef int32_t stria_sanitizer;
enum { STRIA_SANITIZER_NONE = 0, STRIA_SANITIZER_ADDRESS = 1, STRIA_SANITIZER_THREAD = 2 };

// A range of versions with one major: major.minor_min to major.minor_max, both inclusive.
typedef struct stria_version_range {
  uint64_t size;
  const void* next;
  uint32_t major;
  uint32_t minor_min;
  uint32_t minor_max;
} stria_version_range;

typedef struct stria_host_info {
  uint64_t size;
  const void* next;
  const stria_version_range* abi;     // what the host speaks
  const stria_version_range* stripe;  // Stripe text that the host can write
  stria_sanitizer sanitizer;
  uint8_t debug;       // built without optimisation; for messages only
  uint64_t page_size;  // bytes
  stria_string build;  // the host's version and compiler, for messages only
} stria_host_info;

// What the plugin says of itself: the same each time and to every host, but for the chosen minors.
typedef struct stria_plugin_info {
  // Set by the host: sizeof its struct, all zero behind `next`. The plugin writes nothing beyond
  // it, and sets it to sizeof its own struct where that is less: the host uses no member beyond
  // what is left.
  uint64_t size;
  const void* next;  // the host's, left as it is
  // Filled in always, also when the query fails, so that a refusal can print both sides. Static.
  const stria_version_range* abi;
  const stria_version_range* stripe;  // Stripe text that the plugin reads
  uint32_t abi_minor;                 // chosen: the highest common minor
  uint32_t stripe_minor;              // the minor that the host is to write
  stria_sanitizer sanitizer;
  uint8_t debug;
  uint64_t page_size;  // that the plugin was built for; 0: any
  stria_string id;     // equal to the manifest's
  stria_string version;
  stria_string build;  // the plugin's compiler, for messages only
  // The tables, valid until the shared object is unloaded.
  const stria_driver_table* driver;
  const stria_device_table* device;
  const stria_compiler_table* compiler;
  const stria_library_table* library;
  const stria_kernel_table* kernel;
  const stria_executor_table* executor;
  const stria_buffer_table* buffer;
  const stria_event_table* event;
  // Optional tables by name ("vendor.name") and version; a sized table or NULL. May itself be NULL.
  // Those of stria/experimental.h are asked for in this way.
  // @threads any @blocks no @allocates no @reenters no
  const void* (*get_extension)(stria_string name, uint32_t version);
} stria_plugin_info;

// Exported by the plugin. Called after loading, under the host's load lock, once per driver to
// come. STRIA_INCOMPATIBLE if the versions or builds do not fit.
// @threads handle @blocks no @allocates no @reenters no
typedef stria_error* (*stria_plugin_query_function)(const stria_host_info* host,
                                                    stria_plugin_info* plugin);
#if defined(__GNUC__) || defined(__clang__)
#define STRIA_EXPORT __attribute__((visibility("default")))
#else
#define STRIA_EXPORT __declspec(dllexport)
#endif
STRIA_EXPORT stria_error* stria_plugin_query(const stria_host_info* host,
                                             stria_plugin_info* plugin);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STRIA_PLUGIN_H
