// SPDX-License-Identifier: Apache-2.0
// The device's queue. The driver's calls are in vendor_queue.c.
#include "work_queue.h"

#include <stdlib.h>

#include "driver.h"
#include "error.h"
#include "vendor_failure.h"
#include "vendor_queue.h"

struct second_work_queue {
  second_queue* queue;
};

stria_error* second_work_queue_create(stria_driver* driver, second_work_queue** queue) {
  (void)driver;
  second_work_queue* made = calloc(1, sizeof *made);
  if (made == NULL) return second_error(STRIA_OUT_OF_MEMORY, "no memory for a queue");
  stria_error* error = second_failure_of("make a queue", second_queue_create(&made->queue));
  if (error != NULL) {
    free(made);
    return error;
  }
  *queue = made;
  return NULL;
}

void second_work_queue_push(stria_driver* driver, stria_event* event) {
  stria_error* error = second_failure_of(
      "give work to the queue", second_queue_push(driver->queue->queue, second_event_run, event));
  if (error != NULL) second_event_refuse(event, error);
}

void second_work_queue_destroy(second_work_queue* queue) {
  if (queue == NULL) return;
  second_queue_destroy(queue->queue);
  free(queue);
}
