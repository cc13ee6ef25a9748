// SPDX-License-Identifier: Apache-2.0
// Where work runs. One queue a driver.
#ifndef SECOND_WORK_QUEUE_H
#define SECOND_WORK_QUEUE_H

#include "event.h"

typedef struct second_work_queue second_work_queue;

stria_error* second_work_queue_create(stria_driver* driver, second_work_queue** queue);
// Takes over a reference to the event, and calls second_event_run with it, or second_event_refuse.
void second_work_queue_push(stria_driver* driver, stria_event* event);
// After all work. NULL is fine.
void second_work_queue_destroy(second_work_queue* queue);

#endif  // SECOND_WORK_QUEUE_H
