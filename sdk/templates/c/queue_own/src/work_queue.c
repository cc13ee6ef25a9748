// SPDX-License-Identifier: Apache-2.0
// The device's queue. The driver's calls are in vendor_queue.c.
#include "work_queue.h"

#include <stdlib.h>

#include "driver.h"
#include "error.h"
#include "vendor_failure.h"
#include "vendor_queue.h"

struct acme_work_queue {
  acme_queue* queue;
};

stria_error* acme_work_queue_create(stria_driver* driver, acme_work_queue** queue) {
  (void)driver;
  acme_work_queue* made = calloc(1, sizeof *made);
  if (made == NULL) return acme_error(STRIA_OUT_OF_MEMORY, "no memory for a queue");
  stria_error* error = acme_failure_of("make a queue", acme_queue_create(&made->queue));
  if (error != NULL) {
    free(made);
    return error;
  }
  *queue = made;
  return NULL;
}

void acme_work_queue_push(stria_driver* driver, stria_event* event) {
  stria_error* error = acme_failure_of(
      "give work to the queue", acme_queue_push(driver->queue->queue, acme_event_run, event));
  if (error != NULL) acme_event_refuse(event, error);
}

void acme_work_queue_destroy(acme_work_queue* queue) {
  if (queue == NULL) return;
  acme_queue_destroy(queue->queue);
  free(queue);
}
