// SPDX-License-Identifier: Apache-2.0
// Every call for the device's queue. As it is, the queue is a thread that does one job after the
// other (ready_queue.h). run(state) does the whole work of a job: it calls the vendor_ functions
// for memory and code, which return when the device has done what they ask for, and it ends the
// job's event. So it is called on a thread that may wait, never in a callback of the driver. With
// a driver of your own, keep the thread, and let the vendor_ functions wait for the driver there;
// or give the jobs to threads that the driver has.
#ifndef ACME_VENDOR_QUEUE_H
#define ACME_VENDOR_QUEUE_H

#include "vendor_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct acme_queue acme_queue;

acme_result acme_queue_create(acme_queue** queue);
// run(state) once, after all that was pushed before. May be called from any thread, by a job of the
// queue too: the end of one starts those that waited for it, however many they are. So it does not
// wait for room, and takes as many as come: where the hardware's ring is full, they are kept here.
acme_result acme_queue_push(acme_queue* queue, void (*run)(void* state), void* state);
// Ends when all that was pushed has been done. Not called by a job. NULL is fine.
void acme_queue_destroy(acme_queue* queue);
// What the driver calls the queue whose job runs on this thread, for the calls that want it, as a
// launch does; NULL if there is none.
void* acme_queue_native(void);

#ifdef __cplusplus
}
#endif

#endif  // ACME_VENDOR_QUEUE_H
