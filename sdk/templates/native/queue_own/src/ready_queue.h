// SPDX-License-Identifier: Apache-2.0
// A thread that does one job after the other, however many are pushed. Nothing in it knows the
// device; vendor_queue.c does.
#ifndef ACME_READY_QUEUE_H
#define ACME_READY_QUEUE_H

#include "vendor_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct acme_ready_queue acme_ready_queue;

// `native`: what acme_ready_queue_native() gives to jobs.
acme_result acme_ready_queue_create(void* native, acme_ready_queue** queue);
// run(state) once, after all that was pushed before. From any thread, a job's too.
acme_result acme_ready_queue_push(acme_ready_queue* queue, void (*run)(void* state), void* state);
// Ends when all that was pushed has been done. NULL is fine. Not called by a job.
void acme_ready_queue_destroy(acme_ready_queue* queue);
// Of the queue whose job calls; NULL on any other thread.
void* acme_ready_queue_native(void);

#ifdef __cplusplus
}
#endif

#endif  // ACME_READY_QUEUE_H
