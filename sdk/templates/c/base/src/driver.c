// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "error.h"
#include "text.h"
#include "work_queue.h"

void acme_whole(void* to, uint64_t to_bytes, const void* from) {
  uint64_t from_bytes = 0;
  memcpy(&from_bytes, from, sizeof from_bytes);  // each struct begins with its size
  memset(to, 0, (size_t)to_bytes);
  memcpy(to, from, (size_t)(from_bytes < to_bytes ? from_bytes : to_bytes));
}

int acme_text_is(stria_string text, const char* other) {
  return text.size == strlen(other) && (text.size == 0 || memcmp(text.data, other, text.size) == 0);
}

// ---- which devices there are

static stria_device_info describe(void) {
  stria_device_info info = {.size = sizeof info};
  info.id = ACME_TEXT("0");
  info.name = ACME_TEXT("Acme 0");
  info.kind = ACME_TEXT("npu");  // of plugin.json: which hardware model and pipeline it has
  info.vendor = ACME_TEXT("Acme");
  info.memory_bytes = (uint64_t)1 << 30;
  info.properties = ACME_TEXT("{}");
  info.available = 1;  // a device that may be missing: 0, and the reason
  return info;
}

static stria_error* enumerate(stria_driver* driver, stria_device_sink sink, void* state) {
  (void)driver;
  const stria_device_info info = describe();
  sink(state, &info);
  return NULL;
}

static stria_error* open_device(stria_driver* driver, stria_string id, stria_string options,
                                stria_device** device) {
  (void)options;
  const stria_device_info info = describe();
  if (!acme_text_is(id, "0"))
    return acme_error(STRIA_NOT_FOUND, "no device with the id '%.*s'", (int)id.size, id.data);
  if (!info.available)
    return acme_error(STRIA_UNAVAILABLE, "device '%.*s' is not available: %.*s", (int)info.id.size,
                      info.id.data, (int)info.reason.size, info.reason.data);
  stria_error* error = NULL;
  pthread_mutex_lock(&driver->lock);
  if (driver->queue == NULL) error = acme_work_queue_create(driver, &driver->queue);
  pthread_mutex_unlock(&driver->lock);
  return error != NULL ? error : acme_device_create(driver, &info, device);
}

// ---- its life

static stria_error* create(const stria_driver_options* options, stria_driver** driver) {
  stria_driver_options given;
  acme_whole(&given, sizeof given, options);
  // What came later than this service the plugin gets on without.
  if (given.services == NULL || given.services->size < offsetof(stria_host_services, lend))
    return acme_error(STRIA_INCOMPATIBLE,
                      "the host offers fewer services than this plugin was built for");
  stria_driver* made = calloc(1, sizeof *made);
  if (made != NULL) made->in_flight = acme_work_count_create();
  if (made == NULL || made->in_flight == NULL) {
    free(made);
    return acme_error(STRIA_OUT_OF_MEMORY, "no memory for the driver");
  }
  acme_whole(&made->services, sizeof made->services, given.services);
  pthread_mutex_init(&made->lock, NULL);
  *driver = made;
  return NULL;
}

static void shutdown_driver(stria_driver* driver) {
  // Work's last touch of what the driver owns comes a moment after its event is done.
  acme_work_count_wait(driver->in_flight, UINT64_MAX);
  acme_work_queue_destroy(driver->queue);
  pthread_mutex_destroy(&driver->lock);
  acme_work_count_abandon(driver->in_flight);
  free(driver);
}

const stria_driver_table acme_driver_table = {.size = sizeof acme_driver_table,
                                              .create = create,
                                              .enumerate = enumerate,
                                              .open = open_device,
                                              .shutdown = shutdown_driver};
