// SPDX-License-Identifier: Apache-2.0
#include "vendor_queue.h"

#include <stdlib.h>

#include "ready_queue.h"

// The driver's queue stands here, beside the thread that waits for it: as it is, there is none.
struct acme_queue {
  acme_ready_queue* thread;
};

acme_result acme_queue_create(acme_queue** queue) {
  acme_queue* made = calloc(1, sizeof *made);
  if (made == NULL) return acme_failed(STRIA_OUT_OF_MEMORY, 0, "no memory for a queue");
  const acme_result result = acme_ready_queue_create(NULL, &made->thread);
  if (result.code == STRIA_OK)
    *queue = made;
  else
    acme_queue_destroy(made);
  return result;
}

acme_result acme_queue_push(acme_queue* queue, void (*run)(void* state), void* state) {
  return acme_ready_queue_push(queue->thread, run, state);
}

void acme_queue_destroy(acme_queue* queue) {
  if (queue == NULL) return;
  acme_ready_queue_destroy(queue->thread);
  free(queue);
}

void* acme_queue_native(void) { return acme_ready_queue_native(); }
