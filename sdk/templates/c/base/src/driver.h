// SPDX-License-Identifier: Apache-2.0
// The plugin at work: the host's services, and what all devices share.
#ifndef ACME_DRIVER_H
#define ACME_DRIVER_H

#include <pthread.h>

#include "stria/plugin.h"
#include "work_count.h"

struct acme_work_queue;

struct stria_driver {
  stria_host_services services;  // what a host does not have is NULL
  acme_work_count* in_flight;    // all work of the driver
  pthread_mutex_t lock;
  struct acme_work_queue* queue;  // made when a device is opened first; guarded by lock
};

extern const stria_driver_table acme_driver_table;

// The members of a struct of the host's as this header knows them: what a shorter one does not have
// is 0.
void acme_whole(void* to, uint64_t to_bytes, const void* from);
// Whether a text of the host's is this one.
int acme_text_is(stria_string text, const char* other);

#endif  // ACME_DRIVER_H
