// SPDX-License-Identifier: Apache-2.0
// Every call for the device's queue. As it is, the queue is a thread that does one job after the
// other. With a driver of your own: give the work to its queue, and call what is in `job` when the
// driver says that the work has ended, or keep the thread and wait there for the driver.
#ifndef ACME_VENDOR_QUEUE_H
#define ACME_VENDOR_QUEUE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct acme_queue acme_queue;

// Both return NULL, or what went wrong, a static text.
const char* acme_queue_create(acme_queue** queue);
// run(state) once, after all that was pushed before. May be called from any thread.
const char* acme_queue_push(acme_queue* queue, void (*run)(void* state), void* state);
// Ends when all that was pushed has been done. Not called by a job. NULL is fine.
void acme_queue_destroy(acme_queue* queue);

#ifdef __cplusplus
}
#endif

#endif  // ACME_VENDOR_QUEUE_H
