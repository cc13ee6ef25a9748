// SPDX-License-Identifier: Apache-2.0
#include "suite/rules.h"

namespace stria::conformance {
namespace {

// Begins a mark; two letters follow. Messages have no such byte of their own.
constexpr char kMark = '\x1f';
constexpr size_t kMarkBytes = 3;
constexpr int kLetters = 26;

constexpr std::string_view kBuilds =
    "A program that the plugin's pipeline has made becomes code, or fails with STRIA_UNSUPPORTED "
    "and what of it is not supported.";

std::string_view sentence_of(Slot slot) {
  switch (slot) {
    case Slot::driver_create: return "Begins the plugin's work for one host.";
    case Slot::driver_enumerate:
      return "Every device there could be, in a stable order, unavailable ones with the reason.";
    case Slot::driver_open: return "Opens the device with that id.";
    case Slot::driver_shutdown:
      return "Ends the plugin's work; every other handle has been released and every event is "
             "done.";
    case Slot::device_info:
      return "The opened device's info; `properties` may now hold measured values.";
    case Slot::device_create_compiler:
      return "Makes a compiler, which builds programs for this device.";
    case Slot::compiler_build: return kBuilds;
    case Slot::device_create_executor: return "An executor is one stream of work";
    case Slot::device_allocate:
      return "Memory of this buffer alone, with undefined contents, or STRIA_OUT_OF_MEMORY with "
             "the "
             "bytes asked for and the bytes free.";
    case Slot::device_create_event: return "A host event: open until stria_event_table.signal.";
    case Slot::device_release:
      return "Gives the device back; its compilers, executors, buffers and events have been "
             "released before.";
    case Slot::compiler_transform: return "Optional: a pass of the plugin's own.";
    case Slot::library_kernels:
      return "The library's kernels in launch order: one per statement of prologue and main, or "
             "one for a whole part.";
    case Slot::library_source:
      return "What was generated, for people: named texts such as \"kernel_0.s\". None is success.";
    case Slot::kernel_run: return "Launches the kernel on its executor.";
    case Slot::executor_prepare:
      return "Readies kernel `index` of a library of the same device, whose build is done.";
    case Slot::executor_submit:
      return "launches wait for `waits` and for those their `after` names, nothing else.";
    case Slot::executor_copy:
      return "Copies bytes between buffers of this device, or within one if the ranges do not "
             "overlap.";
    case Slot::executor_fill:
      return "Repeats `pattern` (1, 2, 4, 8 or 16 bytes, copied) over `bytes`, a multiple of its "
             "size.";
    case Slot::executor_flush: return "Hands everything submitted to the device at once.";
    case Slot::executor_drain:
      return "Waits until all work submitted before the call is done, failed or not;";
    case Slot::buffer_map_current:
      return "Gives `bytes` of host memory that stand for the buffer's bytes from `offset`: the "
             "address at once, the buffer's contents in it when `done` is.";
    case Slot::buffer_map_discard:
      return "The same without reading back: the contents are undefined and all of them must be "
             "written, after `done`.";
    case Slot::buffer_unmap: return "When `done` is, the device sees what was written.";
    case Slot::buffer_map_read:
      return "map_current for who only reads: the memory is not written, and its unmap takes "
             "nothing to the device.";
    case Slot::event_wait:
      return "Returns NULL as soon as the event is done, failed or not (see status), and "
             "STRIA_DEADLINE_EXCEEDED if it is still open after timeout_ns (UINT64_MAX: no limit, "
             "0: just look).";
    case Slot::event_query: return "1 if done, failed or not.";
    case Slot::event_status:
      return "NULL if done and well; its failure if it failed; STRIA_FAILED_PRECONDITION while it "
             "is open.";
    case Slot::event_duration_ns:
      return "Nanoseconds from the start to the end of the work itself, without waiting.";
    case Slot::event_on_done:
      return "Calls callback(state, error) once: at once if done, else from any thread when done.";
    case Slot::event_signal:
      return "Host events only: it is done, or failed with a copy of `error`.";
    case Slot::event_end:
      return "An event that is done when this one is, and well whatever became of it";
    case Slot::compiler_release:
    case Slot::library_release:
    case Slot::kernel_release:
    case Slot::executor_release:
    case Slot::buffer_release:
    case Slot::event_release:
      return "A handle stays usable by work in flight after its release: releasing never waits and "
             "never cancels.";
    case Slot::count: break;
  }
  return "";
}

}  // namespace

std::string_view sentence_of(Rule rule) {
  switch (rule) {
    case Rule::begins:
      return "Hands everything submitted to the device at once. Without it work may wait a while "
             "for company; it begins all the same, whether anybody waits for it or not.";
    case Rule::ends_wait:
      return "STRIA_DEADLINE_EXCEEDED if it is still open after timeout_ns (UINT64_MAX: no limit, "
             "0: "
             "just look).";
    case Rule::ends:
      return "Event: something that will be done or have failed, once. Once its waits are over it "
             "comes to an end, and who waits for it returns then.";
    case Rule::returns: return "may wait for what its comment says, and no longer";
    case Rule::returns_at_once:
      return "returns without waiting for device work, disk or other threads' long work";
    case Rule::keeps_process:
      return "Nothing that a plugin does ends the process: no slot and no thread of its own exits, "
             "aborts or faults, whatever it was given and whatever the device did.";
    case Rule::no_exception:
      return "Only C types, text and bytes cross: no C++ object, no exception, no allocator, no "
             "FILE.";
    case Rule::gives_error:
      return "A slot that can fail returns a stria_error that the caller owns, or NULL for "
             "success.";
    case Rule::builds_or_refuses: return kBuilds;
    case Rule::gives_back:
      return "Gives back what `allocate` gave for the same bytes and alignment.";
    case Rule::only_arguments:
      return "A kernel writes the elements of its out and inout arguments, and nothing beside "
             "them.";
    case Rule::leaves_nothing:
      return "What a plugin takes for a handle (memory, the host's too, threads, descriptors) goes "
             "with it, and the rest with the driver: nothing grows with use.";
    case Rule::equal:
      return "Integers and `bool` have no bound: they must be equal to the typed value.";
    case Rule::within_bound:
      return "A result of a device may differ from the fp64 value by at most the bound, and so may "
             "the interpreter's own typed value.";
    case Rule::bool_element: return "An element of bool is a byte that holds 0 or 1.";
    case Rule::struct_size:
      return "Every struct starts with `size`, sizeof the struct as its maker compiled it";
    case Rule::text:
      return "text UTF-8 in {data, size} without a terminating zero. An empty text may have data "
             "NULL.";
    case Rule::boolean: return "booleans uint8_t (0 or 1)";
    case Rule::call_only: return "Pointers given to a slot are valid during the call only";
    case Rule::no_output: return "On failure no output parameter has been written.";
    case Rule::error_code: return "one of the kinds above, never STRIA_OK";
    case Rule::error_message: return "one sentence that names the thing, the value and the limit";
    case Rule::error_release:
      return "A failure. Made by either side, owned by who receives it, who calls "
             "error->release(error) once.";
    case Rule::sink_devices:
      return "Receives devices: called zero or more times before the slot returns.";
    case Rule::sink_once: return "The sink is called once.";
    case Rule::available: return "1: open works";
    case Rule::refuses: return "STRIA_INCOMPATIBLE if the versions or builds do not fit.";
    case Rule::says_versions:
      return "Filled in always, also when the query fails, so that a refusal can print both sides.";
    case Rule::as_manifest: return "the manifest must say the same";
    case Rule::slots:
      return "Only compiler.transform, library.source, executor.flush, buffer.map_read and "
             "event.end may be missing: nothing can be run without the others.";
    case Rule::manifest:
      return "A manifest that is no strict JSON, has an unknown key, lacks a key that it needs, "
             "has "
             "a value of another form or names a file that is not there is not read, and its "
             "plugin is not loaded.";
    case Rule::model:
      return "The file has the form of the schema, with no other key and no number outside of its "
             "limits, and each unit that it names is there.";
    case Rule::powers_of_two: return "A vector and a line of memory have a power of two of bytes.";
    case Rule::pipeline:
      return "A pipeline is a file that `stria opt` reads: known passes with known options, and a "
             "name for each step.";
    case Rule::judges: return "STRIA_UNSUPPORTED for a program that it cannot judge.";
    case Rule::count: return "";
  }
  return sentence_of(static_cast<Slot>(rule));
}

std::string_view source_of(Rule rule) {
  switch (rule) {
    case Rule::equal:
    case Rule::within_bound: return "docs/semantics.md";
    case Rule::as_manifest:
    case Rule::manifest: return "guide/manifest.md";
    case Rule::model:
    case Rule::powers_of_two:
    case Rule::pipeline: return "guide/hardware_model.md";
    case Rule::judges: return "stria/experimental.h";
    default: return "stria/plugin.h";
  }
}

bool may_be_the_cases(Rule rule) {
  switch (rule) {
    case Rule::begins:
    case Rule::ends_wait:
    case Rule::ends:
    case Rule::returns:
    case Rule::keeps_process:
    case Rule::equal:
    case Rule::within_bound: return true;
    default: return static_cast<int>(rule) < kSlots;
  }
}

std::string mark_of(Rule rule) {
  const int number = static_cast<int>(rule);
  return {kMark, static_cast<char>('a' + number / kLetters),
          static_cast<char>('a' + number % kLetters)};
}

Status with_rule(const Status& status, Rule rule) {
  if (status.ok() || status.message().find(kMark) != std::string::npos) return status;
  return Status(status.code(), status.message() + mark_of(rule));
}

std::optional<Rule> take_rule(std::string& text) {
  std::optional<Rule> out;
  for (size_t at = 0; (at = text.find(kMark, at)) != std::string::npos;) {
    // A plugin's own text may have such a byte.
    const std::string mark = text.substr(at, kMarkBytes);
    const int number = mark.size() < kMarkBytes ? -1 : (mark[1] - 'a') * kLetters + mark[2] - 'a';
    if (number < 0 || number >= kRules || mark != mark_of(static_cast<Rule>(number))) {
      ++at;
      continue;
    }
    out = static_cast<Rule>(number);
    text.erase(at, kMarkBytes);
  }
  return out;
}

}  // namespace stria::conformance
