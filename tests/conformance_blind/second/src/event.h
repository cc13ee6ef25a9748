// SPDX-License-Identifier: Apache-2.0
// Events and the work behind them: work starts when all that it waits for is done; a failure
// travels to everything that depends on it, and carries its first cause. Nothing here knows the
// device.
#ifndef SECOND_EVENT_H
#define SECOND_EVENT_H

#include "stria/plugin.h"
#include "work_count.h"

// Events to wait for.
typedef struct second_waits {
  stria_event* const* events;
  uint64_t count;
} second_waits;

// What an event does once its waits are over and well.
typedef struct second_work {
  // Runs on the queue; NULL: nothing is to be done, and no thread is needed. A failure is the
  // event's.
  stria_error* (*run)(void* state);
  // Gives `state` back: once, after run or instead of it, before the event is done. May be NULL.
  void (*drop)(void* state);
  void* state;
  int on_host;  // 1: runs on a worker thread of the host, not on the queue
} second_work;

// An event that is done when `work` is. It takes over work.state, also if it fails. `count`, if not
// NULL, counts it until it is done.
stria_error* second_event_after(stria_driver* driver, second_work_count* count, second_waits waits,
                                second_work work, stria_event** event);
// One event for all of `parts`: done when they are, with the first failure in their order; its
// duration is from the first start to the last end.
stria_error* second_event_of_all(stria_driver* driver, second_work_count* count, second_waits parts,
                                 stria_event** event);
// Of second_event_after, called by the queue when it is the work's turn. Takes over a reference.
void second_event_run(void* event);
// Ends it without running it. Takes over the reference, and `error`.
void second_event_refuse(stria_event* event, stria_error* error);

// A host event (device_table.create_event).
stria_error* second_event_of_host(stria_driver* driver, stria_event** event);
// Puts an event of the host into the table of those, which has too few places: a mistake.
void second_event_enter_ring(stria_event* event);
// What work waits for until it is opened: a mistake. The gate that is there, or a new one, with a
// reference; and the gate opens, if there is one.
stria_error* second_event_keep_gate(stria_driver* driver, stria_event** gate);
void second_event_open_gate(stria_driver* driver);
// Whether it was made by work of another counter than this one.
int second_event_is_of_other(const stria_event* event, const second_work_count* count);
// Whether the calling thread is in a callback.
int second_event_in_callback(void);
stria_event* second_event_keep(stria_event* event);
void second_event_release(stria_event* event);
// 0 if it is still open.
int second_event_done(const stria_event* event);
// Of one that is done: its failure, the event's own, or NULL.
const stria_error* second_event_failure(const stria_event* event);

extern const stria_event_table second_event_table;

#endif  // SECOND_EVENT_H
