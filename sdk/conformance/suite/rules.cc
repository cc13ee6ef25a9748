// SPDX-License-Identifier: Apache-2.0
#include "suite/rules.h"

namespace stria::conformance {
namespace {

// Begins a mark; two letters follow. Messages have no such byte of their own.
constexpr char kMark = '\x1f';
constexpr size_t kMarkBytes = 3;
constexpr int kLetters = 26;

std::string_view sentence_of(Slot slot) {
  switch (slot) {
    case Slot::driver_create:
      return "A process may create several, of several hosts: a plugin keeps what it knows in its "
             "driver, not in globals.";
    case Slot::driver_enumerate:
      return "Every device there could be, in a stable order, unavailable ones with the reason.";
    case Slot::driver_open: return "Opens the device with that id.";
    case Slot::driver_shutdown:
      return "Ends the plugin's work; every other handle has been released and every event is "
             "done.";
    case Slot::device_info:
      return "The opened device's info; `properties` may now hold measured values.";
    case Slot::device_create_compiler:
    case Slot::compiler_build: return "Starts to compile and returns at once.";
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
    case Slot::library_source: return "What was generated, for people: named texts such as";
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
      return "Returns NULL as soon as the event is done, failed or not (see status)";
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
    case Rule::begins: return "it begins all the same, whether anybody waits for it or not.";
    case Rule::ends_wait:
      return "STRIA_DEADLINE_EXCEEDED if it is still open after timeout_ns (UINT64_MAX: no limit, "
             "0: "
             "just look).";
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
    case Rule::builds_or_refuses:
      return "A program that the plugin's pipeline has made becomes code, or fails with "
             "STRIA_UNSUPPORTED and what of it is not supported.";
    case Rule::gives_back:
      return "Gives back what `allocate` gave for the same bytes and alignment.";
    case Rule::only_arguments:
      return "A kernel writes the elements of its out and inout arguments, and nothing beside "
             "them.";
    case Rule::count: return "";
  }
  return sentence_of(static_cast<Slot>(rule));
}

bool may_be_the_cases(Rule rule) {
  return static_cast<int>(rule) < kSlots || rule == Rule::begins || rule == Rule::ends_wait;
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
