// SPDX-License-Identifier: Apache-2.0
// Where work runs. One queue a driver.
#ifndef ACME_WORK_QUEUE_H
#define ACME_WORK_QUEUE_H

#include "event.h"

typedef struct acme_work_queue acme_work_queue;

stria_error* acme_work_queue_create(stria_driver* driver, acme_work_queue** queue);
// Takes over a reference to the event, and calls acme_event_run with it, or acme_event_refuse.
void acme_work_queue_push(stria_driver* driver, stria_event* event);
// After all work. NULL is fine.
void acme_work_queue_destroy(acme_work_queue* queue);

#endif  // ACME_WORK_QUEUE_H
