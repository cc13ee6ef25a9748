// SPDX-License-Identifier: Apache-2.0
#include "suite/call_record.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "stria/base/status.h"
#include "stria/base/text.h"

namespace stria::conformance {

std::string_view name_of(Slot slot) {
  static constexpr std::string_view kNames[] = {
#define SLOT(table, slot) #table "." #slot,
#include "stria/hal/boundary/slots.def"
  };
  return slot == Slot::count ? "no slot" : kNames[static_cast<int>(slot)];
}

bool must_not_block(Slot slot) {
  switch (slot) {
    case Slot::driver_create:
    case Slot::device_info:
    case Slot::device_create_compiler:
    case Slot::device_create_executor:
    case Slot::device_create_event:
    case Slot::compiler_build:
    case Slot::compiler_release:
    case Slot::library_kernels:
    case Slot::library_release:
    case Slot::executor_submit:
    case Slot::executor_copy:
    case Slot::executor_fill:
    case Slot::executor_flush:
    case Slot::executor_release:
    case Slot::kernel_run:
    case Slot::kernel_release:
    case Slot::buffer_map_current:
    case Slot::buffer_map_discard:
    case Slot::buffer_map_read:
    case Slot::buffer_unmap:
    case Slot::buffer_release:
    case Slot::event_query:
    case Slot::event_status:
    case Slot::event_duration_ns:
    case Slot::event_on_done:
    case Slot::event_signal:
    case Slot::event_release:
    case Slot::event_end: return true;
    default: return false;
  }
}

CallRecord* CallRecord::create() {
  void* memory = ::mmap(nullptr, sizeof(CallRecord), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<CallRecord*>(memory);
}

void FirstText::put(std::string_view what) {
  int32_t none = empty;
  if (!state.compare_exchange_strong(none, being_written)) return;
  const size_t size = std::min<size_t>(what.size(), kFaultBytes - 1);
  std::memcpy(text, what.data(), size);
  text[size] = 0;
  state = written;
}

std::string FirstText::get() const { return state == written ? text : ""; }

std::string FirstText::take() {
  std::string out = get();
  // What is being written just now is for whoever comes next.
  int32_t done = written;
  if (!out.empty()) state.compare_exchange_strong(done, empty);
  return out;
}

void CallRecord::forget_last_process() {
  for (OpenCall& call : open) call.slot = 0;
  for (Interpreted& some : interpreted)
    if (some.reason.state == FirstText::being_written) some.reason.state = FirstText::empty;
  for (SlotRecord& slot : slots) {
    slot.case_faults = 0;
    slot.case_fault.state = FirstText::empty;
    // One that died while it wrote would keep all others from saying theirs.
    if (slot.fault.state == FirstText::being_written) slot.fault.state = FirstText::empty;
  }
}

void CallRecord::add_interpreted(std::string_view reason, uint64_t count) {
  interpreted_kernels += count;
  for (Interpreted& some : interpreted) {
    some.reason.put(reason);  // changes nothing where another one stands
    if (some.reason.get() != reason.substr(0, kFaultBytes - 1)) continue;
    some.kernels += count;
    return;
  }
}

void CallRecord::add_fault(Slot slot, std::string_view what) {
  SlotRecord& record = slots[static_cast<int>(slot)];
  // The texts first: who sees the count finds them, but for those that are being written.
  record.fault.put(what);
  record.case_fault.put(what);
  ++record.faults;
  ++record.case_faults;
}

std::string CallRecord::take_case_fault() {
  std::string out;
  for (int i = 0; i < kSlots; ++i) {
    SlotRecord& record = slots[i];
    if (record.case_faults.exchange(0) == 0) continue;
    std::string text = record.case_fault.take();
    // Two threads at once, and the first has not written it yet.
    if (text.empty()) text = fmt::format("{} broke a rule", name_of(static_cast<Slot>(i)));
    if (out.empty()) out = std::move(text);
  }
  return out;
}

std::string CallRecord::open_calls() const {
  std::vector<std::string> names;
  for (const Slot slot : open_slots()) names.emplace_back(name_of(slot));
  return join(names, ", ");
}

std::vector<Slot> CallRecord::open_slots() const {
  std::vector<Slot> out;
  for (const OpenCall& call : open)
    if (const int32_t slot = call.slot; slot > 0 && slot <= kSlots)
      out.push_back(static_cast<Slot>(slot - 1));
  return out;
}

}  // namespace stria::conformance
