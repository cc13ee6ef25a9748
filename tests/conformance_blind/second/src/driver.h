// SPDX-License-Identifier: Apache-2.0
// The plugin at work: the host's services, and what all devices share.
#ifndef SECOND_DRIVER_H
#define SECOND_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "stria/plugin.h"
#include "work_count.h"

struct second_queue;
struct second_work_queue;

struct stria_driver {
  stria_host_services services;  // what a host does not have is NULL
  second_work_count* in_flight;  // all work of the driver
  pthread_mutex_t lock;
  struct second_work_queue* queue;  // made when a device is opened first; guarded by lock
  char id[32];                      // of the device that there is
  // What mistakes need: devices that are open, threads of executors (guarded by lock), and whether
  // a build has asked for fast_math.
  atomic_int opened;
  struct second_queue** executor_threads;
  size_t executor_thread_count;
  atomic_int fast_math;
  // Events of the host that are in a table; guarded by lock.
  stria_event* host_events;
  uint64_t host_event_count;
  // What work waits for until somebody waits for it; guarded by lock.
  stria_event* gate;
};

// The host's services for work. Each driver has its own, but for a mistake.
const stria_host_services* second_services(const stria_driver* driver);

extern const stria_driver_table second_driver_table;

// The members of a struct of the host's as this header knows them: what a shorter one does not have
// is 0.
void second_whole(void* to, uint64_t to_bytes, const void* from);
// Whether a text of the host's is this one.
int second_text_is(stria_string text, const char* other);

#endif  // SECOND_DRIVER_H
