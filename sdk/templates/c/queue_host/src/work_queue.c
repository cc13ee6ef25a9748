// SPDX-License-Identifier: Apache-2.0
// The host's worker threads: nothing of the driver's own is needed.
#include "work_queue.h"

#include "driver.h"

stria_error* acme_work_queue_create(stria_driver* driver, acme_work_queue** queue) {
  (void)driver;
  *queue = NULL;
  return NULL;
}

void acme_work_queue_push(stria_driver* driver, stria_event* event) {
  driver->services.post(driver->services.host, acme_event_run, event);
}

void acme_work_queue_destroy(acme_work_queue* queue) { (void)queue; }
