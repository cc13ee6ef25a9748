// SPDX-License-Identifier: Apache-2.0
// Every call for the device's queue. As it is, the queue is a thread that does one job after the
// other. run(state) does the whole work of a job: it calls the vendor_ functions for memory and
// code, which return when the device has done what they ask for, and it ends the job's event. So it
// is called on a thread that may wait, never in a callback of the driver. With a driver of your
// own, keep the thread, and let the vendor_ functions wait for the driver there; or give the jobs
// to threads that the driver has.
#ifndef SECOND_VENDOR_QUEUE_H
#define SECOND_VENDOR_QUEUE_H

#include "vendor_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct second_queue second_queue;

second_result second_queue_create(second_queue** queue);
// run(state) once, after all that was pushed before. May be called from any thread.
second_result second_queue_push(second_queue* queue, void (*run)(void* state), void* state);
// Ends when all that was pushed has been done. Not called by a job. NULL is fine.
void second_queue_destroy(second_queue* queue);

#ifdef __cplusplus
}
#endif

#endif  // SECOND_VENDOR_QUEUE_H
