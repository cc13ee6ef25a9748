// SPDX-License-Identifier: Apache-2.0
// The tables of stria/experimental.h, made from what the classes override.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stria/experimental.h"
#include "stria/sdk/device.h"
#include "stria/sdk/handles.h"

namespace stria::sdk {

struct ExperimentalTables {
  // ---- sharing
  static stria_error* kinds(stria_device* device, uint32_t* imported, uint32_t* exported) {
    return slot([&] {
      const Device::ShareKinds all = as<Device>(device).share_kinds();
      *imported = all.imported;
      *exported = all.exported;
    });
  }
  static stria_error* import_buffer(stria_device* device, const stria_shared_memory* memory,
                                    stria_buffer** buffer) {
    return slot([&] {
      auto& self = as<Device>(device);
      const stria_shared_memory given = whole(memory);
      if (given.kind < 0 || given.kind > 31 || !(self.share_kinds().imported >> given.kind & 1))
        throw Error(STRIA_UNSUPPORTED,
                    "this device takes no memory of the kind " + std::to_string(given.kind));
      *buffer = give<stria_buffer>(self.import_buffer(given));
    });
  }
  static stria_error* export_buffer(stria_buffer* buffer, stria_memory_kind kind,
                                    stria_shared_memory* memory) {
    return slot([&] { copy_out(as<Buffer>(buffer).share(kind), memory); });
  }

  // ---- peers
  static stria_error* reaches(stria_device* device, stria_device* peer, uint8_t* reached) {
    return slot([&] { *reached = as<Device>(device).reaches(as<Device>(peer)) ? 1 : 0; });
  }
  static stria_error* copy(stria_executor* executor, stria_buffer* source, uint64_t source_offset,
                           stria_buffer* target, uint64_t target_offset, uint64_t bytes,
                           stria_event* const* waits, uint64_t wait_count, stria_event** done) {
    return slot([&] {
      auto& from = as<Buffer>(source);
      auto& to = as<Buffer>(target);
      check_range(from, source_offset, bytes, "source of a copy");
      check_range(to, target_offset, bytes, "target of a copy");
      *done = give<stria_event>(as<Executor>(executor).copy_between(
          {Ref<Buffer>(&from), source_offset}, {Ref<Buffer>(&to), target_offset}, bytes,
          waits_of(waits, wait_count)));
    });
  }

  // ---- foreign events
  static stria_error* import_event(stria_device* device, const stria_foreign_event* foreign,
                                   stria_event** event) {
    return slot(
        [&] { *event = give<stria_event>(as<Device>(device).import_event(whole(foreign))); });
  }
  static stria_error* export_event(stria_event* event, stria_event_kind kind,
                                   stria_foreign_event* foreign) {
    return slot([&] {
      if (kind != STRIA_EVENT_DESCRIPTOR)
        throw Error(STRIA_UNSUPPORTED,
                    "this device gives no events of the kind " + std::to_string(kind));
      copy_out(event_descriptor(as<Event>(event)), foreign);
    });
  }

  // ---- estimate
  static stria_error* estimate_program(stria_device* device, const stria_build_params* program,
                                       stria_estimate* out) {
    return slot([&] {
      const stria_build_params given = whole(program);
      stria_estimate made =
          as<Device>(device).estimate(view_of(given.stripe), view_of(given.options));
      made.size = sizeof made;
      copy_out(made, out);
    });
  }

  // For stria_plugin_info.get_extension.
  static const void* find(stria_string name, uint32_t version) {
    const std::string_view wanted = view_of(name);
    if (wanted == STRIA_SHARING && version == STRIA_SHARING_VERSION) return &sharing_table;
    if (wanted == STRIA_PEERS && version == STRIA_PEERS_VERSION) return &peers_table;
    if (wanted == STRIA_FOREIGN_EVENTS && version == STRIA_FOREIGN_EVENTS_VERSION)
      return &foreign_events_table;
    if (wanted == STRIA_ESTIMATE && version == STRIA_ESTIMATE_VERSION) return &estimate_table;
    return nullptr;
  }

  static constexpr stria_sharing_table sharing_table{sizeof(stria_sharing_table), nullptr, kinds,
                                                     import_buffer, export_buffer};
  static constexpr stria_peers_table peers_table{sizeof(stria_peers_table), nullptr, reaches, copy};
  static constexpr stria_foreign_events_table foreign_events_table{
      sizeof(stria_foreign_events_table), nullptr, import_event, export_event};
  static constexpr stria_estimate_table estimate_table{sizeof(stria_estimate_table), nullptr,
                                                       estimate_program};
};

inline const void* Driver::extension(stria_string name, uint32_t version) {
  return ExperimentalTables::find(name, version);
}

}  // namespace stria::sdk
