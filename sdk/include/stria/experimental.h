// SPDX-License-Identifier: Apache-2.0
// Experimental tables, in plain C11: what a plugin may offer beyond stria/plugin.h. The host asks
// for each by name and version through stria_plugin_info.get_extension, which answers NULL for what
// the plugin does not have. The rules of stria/plugin.h hold here, but for one: a table may change
// with any release, and then its version does. What proves itself moves into the tables there.
#ifndef STRIA_EXPERIMENTAL_H
#define STRIA_EXPERIMENTAL_H

#include "stria/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// -------------------------------------------------------------------------------------------------
// Memory that others made, and memory for others

#define STRIA_SHARING "stria.sharing"
#define STRIA_SHARING_VERSION 1

typedef int32_t stria_memory_kind;
enum {
  STRIA_HOST_MEMORY = 1,       // `address` in this process
  STRIA_MEMORY_DESCRIPTOR = 2  // a file descriptor that can be mapped: memfd, dma-buf
};

typedef struct stria_shared_memory {
  uint64_t size;
  const void* next;
  stria_memory_kind kind;
  int32_t descriptor;  // STRIA_MEMORY_DESCRIPTOR only
  void* address;       // STRIA_HOST_MEMORY only
  uint64_t offset;     // bytes from the start of the descriptor's memory; 0 for host memory
  uint64_t bytes;
  // Imports only: called once, from any thread, when the plugin does not touch the memory any more:
  // after the buffer's release and the work that uses it. Not called if the import fails. May be
  // NULL. It returns soon and calls no slot that blocks.
  void (*released)(void* state);
  void* state;
} stria_shared_memory;

typedef struct stria_sharing_table {
  uint64_t size;
  const void* next;
  // Which kinds the device takes and gives: bit k stands for kind k.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*kinds)(stria_device* device, uint32_t* imported, uint32_t* exported);
  // A buffer whose memory is `memory`: kernels read and write it there, and mappings see it. The
  // descriptor stays the caller's. STRIA_UNSUPPORTED for a kind, an address or an offset that the
  // device cannot use, with what it asks for. @threads any @blocks yes @allocates yes @reenters no
  stria_error* (*import_buffer)(stria_device* device, const stria_shared_memory* memory,
                                stria_buffer** buffer);
  // The memory of `buffer` for others, who may touch it while the buffer and no work on it lives. A
  // descriptor is the receiver's, who closes it.
  // @threads any @blocks no @allocates yes @reenters no
  stria_error* (*export_buffer)(stria_buffer* buffer, stria_memory_kind kind,
                                stria_shared_memory* memory);
} stria_sharing_table;

// -------------------------------------------------------------------------------------------------
// Copies between devices of one plugin, without the host in between

#define STRIA_PEERS "stria.peers"
#define STRIA_PEERS_VERSION 1

typedef struct stria_peers_table {
  uint64_t size;
  const void* next;
  // 1 if `device` can copy from and to buffers of `peer`, another device of the same driver.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*reaches)(stria_device* device, stria_device* peer, uint8_t* reached);
  // stria_executor_table.copy for buffers of which one belongs to a device that the executor's
  // reaches. The waits are events of the executor's device.
  // @threads any @blocks no @allocates no @reenters no
  stria_error* (*copy)(stria_executor* executor, stria_buffer* source, uint64_t source_offset,
                       stria_buffer* target, uint64_t target_offset, uint64_t bytes,
                       stria_event* const* waits, uint64_t wait_count, stria_event** done);
} stria_peers_table;

// -------------------------------------------------------------------------------------------------
// Events of queues that are not the plugin's

#define STRIA_FOREIGN_EVENTS "stria.foreign_events"
#define STRIA_FOREIGN_EVENTS_VERSION 1

typedef int32_t stria_event_kind;
enum {
  STRIA_EVENT_DESCRIPTOR = 1  // a file descriptor that polls readable from when the event is done:
                              // eventfd, sync_file, pidfd, a pipe
};

typedef struct stria_foreign_event {
  uint64_t size;
  const void* next;
  stria_event_kind kind;
  int32_t descriptor;
} stria_foreign_event;

typedef struct stria_foreign_events_table {
  uint64_t size;
  const void* next;
  // An event of the device that is done when `foreign` is. A descriptor does not say how its work
  // ended, so the event is well then; it is STRIA_CANCELLED if the driver ends before. The
  // descriptor stays the caller's and nothing is read from it.
  // @threads any @blocks no @allocates yes @reenters no
  stria_error* (*import_event)(stria_device* device, const stria_foreign_event* foreign,
                               stria_event** event);
  // The event for others: a descriptor, the receiver's, that polls readable when the event is done,
  // failed or not. @threads any @blocks no @allocates yes @reenters no
  stria_error* (*export_event)(stria_event* event, stria_event_kind kind,
                               stria_foreign_event* foreign);
} stria_foreign_events_table;

// -------------------------------------------------------------------------------------------------
// What a program will cost, as the plugin knows it

#define STRIA_ESTIMATE "stria.estimate"
#define STRIA_ESTIMATE_VERSION 1

// What one run of the program will take. Each is 0 where the plugin does not know it; `low` and
// `high` enclose what is expected in nine runs of ten. The same program has the same estimate, and
// hundreds of times the work do not take less time.
typedef struct stria_estimate {
  uint64_t size;
  const void* next;
  uint64_t time_ns, low_time_ns, high_time_ns;  // of main, from its first start to its last end
  uint64_t prologue_ns;
  uint64_t energy_pj;
  uint64_t build_ns;  // of stria_compiler_table.build
} stria_estimate;

typedef struct stria_estimate_table {
  uint64_t size;
  const void* next;
  // Of device Stripe as stria_compiler_table.build takes it; of any other text it fails. Nothing
  // runs on the device. STRIA_UNSUPPORTED for a program that it cannot judge.
  // STRIA_UNIMPLEMENTED from a device that estimates nothing, which is the same as no table.
  // @threads any @blocks yes @allocates yes @reenters no
  stria_error* (*estimate)(stria_device* device, const stria_build_params* program,
                           stria_estimate* estimate);
} stria_estimate_table;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STRIA_EXPERIMENTAL_H
