// SPDX-License-Identifier: Apache-2.0
#include "suite/call_record.h"

#include <sys/mman.h>

#include <cstring>

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

void CallRecord::forget_open_calls() {
  for (OpenCall& call : open) call.slot = 0;
}

std::string CallRecord::open_calls() const {
  std::vector<std::string> names;
  for (const OpenCall& call : open)
    if (const int32_t slot = call.slot; slot > 0 && slot <= kSlots)
      names.emplace_back(name_of(static_cast<Slot>(slot - 1)));
  return join(names, ", ");
}

}  // namespace stria::conformance
