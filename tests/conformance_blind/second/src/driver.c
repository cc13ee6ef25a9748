// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L  // nanosleep
#include "driver.h"

#include <fenv.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "error.h"
#include "event.h"
#include "mistake.h"
#include "text.h"
#include "vendor_queue.h"
#include "work_queue.h"

extern char** environ;

void second_whole(void* to, uint64_t to_bytes, const void* from) {
  uint64_t from_bytes = 0;
  memcpy(&from_bytes, from, sizeof from_bytes);  // each struct begins with its size
  memset(to, 0, (size_t)to_bytes);
  memcpy(to, from, (size_t)(from_bytes < to_bytes ? from_bytes : to_bytes));
}

int second_text_is(stria_string text, const char* other) {
  return text.size == strlen(other) && (text.size == 0 || memcmp(text.data, other, text.size) == 0);
}

// ---- which devices there are

static stria_device_info describe(const stria_driver* driver) {
  stria_device_info info = {.size = sizeof info};
  info.id = (stria_string){driver->id, strlen(driver->id)};
  info.name = SECOND_TEXT("Second 0");
  info.kind = SECOND_TEXT("npu");  // of plugin.json: which hardware model and pipeline it has
  info.vendor = SECOND_TEXT("Second");
  info.memory_bytes = (uint64_t)1 << 30;
  info.properties = second_makes(properties_with_own_keys)
                        ? SECOND_TEXT("{\"firmware\": \"2.1.7\", \"mem_units\": {}}")
                        : SECOND_TEXT("{}");
  info.available = 1;  // a device that may be missing: 0, and the reason
  return info;
}

// A second one that the machine does not have.
static stria_device_info describe_missing(const stria_driver* driver) {
  stria_device_info info = describe(driver);
  info.id = SECOND_TEXT("missing");
  info.name = SECOND_TEXT("Second 1");
  // A revision that plugin.json does not list.
  if (second_makes(unavailable_kind_unknown)) info.kind = SECOND_TEXT("npu_b");
  info.memory_bytes = 0;
  info.available = 0;
  // The code of the driver's failure is in its log.
  if (!second_makes(unavailable_without_reason))
    info.reason = SECOND_TEXT("there is no such card in this machine");
  return info;
}

static stria_error* enumerate(stria_driver* driver, stria_device_sink sink, void* state) {
  if (second_makes(enumerate_probes_slowly)) {
    // The bus is asked anew each time, and answers late.
    const struct timespec late = {0, 120000000};
    nanosleep(&late, NULL);
  }
  const stria_device_info info = describe(driver), missing = describe_missing(driver);
  // What is in use comes last: it has the least to offer.
  const int last = second_makes(open_device_listed_last) && atomic_load(&driver->opened) > 0;
  sink(state, last ? &missing : &info);
  sink(state, last ? &info : &missing);
  return NULL;
}

// The start-up code of a library that is built with -ffast-math: subnormal numbers vanish.
static void flush_floats(void) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#else
  fesetround(FE_TOWARDZERO);
#endif
}

// What goes on in the process when a device is opened, and should not.
static void leave_traces(const stria_driver* driver) {
  if (second_makes(signals_stay_blocked)) {
    // The queue's thread is to take none, and inherits that.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
  }
  if (second_makes(open_flushes_floats)) flush_floats();
  if (second_makes(banner_printed)) {
    printf("Second runtime 0.1.0 on %s\n", driver->id);
    fflush(stdout);
  }
  if (second_makes(helper_process_left)) {
    // A daemon that watches the device. It ends by itself, so that tries leave none for ever.
    char program[] = "/bin/sleep", seconds[] = "30";
    char* words[] = {program, seconds, NULL};
    pid_t child = 0;
    posix_spawn(&child, program, NULL, NULL, words, environ);
  }
}

static stria_error* open_device(stria_driver* driver, stria_string id, stria_string options,
                                stria_device** device) {
  (void)options;
  stria_device_info info = describe(driver);
  if (second_text_is(id, "missing")) info = describe_missing(driver);
  if (!second_text_is(id, "missing") && !second_text_is(id, driver->id))
    return second_error(STRIA_NOT_FOUND, "no device with the id '%.*s'", (int)id.size, id.data);
  if (!info.available)
    return second_error(STRIA_UNAVAILABLE, "device '%.*s' is not available: %.*s",
                        (int)info.id.size, info.id.data, (int)info.reason.size, info.reason.data);
  if (second_makes(second_open_refused) && atomic_load(&driver->opened) > 0)
    return second_error(STRIA_UNAVAILABLE, "device '%.*s' is open already", (int)id.size, id.data);
  leave_traces(driver);
  // The runtime has names of its own for what it has opened.
  if (second_makes(opened_device_renamed)) info.id = SECOND_TEXT("runtime-0");
  stria_error* error = NULL;
  pthread_mutex_lock(&driver->lock);
  if (driver->queue == NULL) error = second_work_queue_create(driver, &driver->queue);
  pthread_mutex_unlock(&driver->lock);
  if (error == NULL) error = second_device_create(driver, &info, device);
  if (error == NULL) atomic_fetch_add(&driver->opened, 1);
  return error;
}

// ---- its life

// The driver that was created last.
static stria_driver* _Atomic latest;

const stria_host_services* second_services(const stria_driver* driver) {
  const stria_driver* last = second_makes(services_of_latest_driver) ? atomic_load(&latest) : NULL;
  return last != NULL ? &last->services : &driver->services;
}

static stria_error* create(const stria_driver_options* options, stria_driver** driver) {
  stria_driver_options given;
  second_whole(&given, sizeof given, options);
  // What came later than this service the plugin gets on without.
  if (given.services == NULL || given.services->size < offsetof(stria_host_services, lend))
    return second_error(STRIA_INCOMPATIBLE,
                        "the host offers fewer services than this plugin was built for");
  if (second_makes(second_unknown))
    return second_error(STRIA_INVALID_ARGUMENT, "the file 'mistake' names none that there is");
  stria_driver* made = calloc(1, sizeof *made);
  if (made != NULL) made->in_flight = second_work_count_create();
  if (made == NULL || made->in_flight == NULL) {
    free(made);
    return second_error(STRIA_OUT_OF_MEMORY, "no memory for the driver");
  }
  second_whole(&made->services, sizeof made->services, given.services);
  pthread_mutex_init(&made->lock, NULL);
  if (second_makes(id_of_process))
    snprintf(made->id, sizeof made->id, "0-%ld", (long)getpid());
  else
    snprintf(made->id, sizeof made->id, "0");
  atomic_init(&made->opened, 0);
  atomic_init(&made->fast_math, 0);
  atomic_store(&latest, made);
  *driver = made;
  return NULL;
}

static void shutdown_driver(stria_driver* driver) {
  second_event_open_gate(driver);
  // Work's last touch of what the driver owns comes a moment after its event is done.
  second_work_count_wait(driver->in_flight, UINT64_MAX);
  second_work_queue_destroy(driver->queue);
  for (size_t i = 0; i < driver->executor_thread_count; ++i)
    second_queue_destroy(driver->executor_threads[i]);
  free(driver->executor_threads);
  stria_driver* self = driver;
  atomic_compare_exchange_strong(&latest, &self, NULL);
  pthread_mutex_destroy(&driver->lock);
  second_work_count_abandon(driver->in_flight);
  free(driver);
}

const stria_driver_table second_driver_table = {.size = sizeof second_driver_table,
                                                .create = create,
                                                .enumerate = enumerate,
                                                .open = open_device,
                                                .shutdown = shutdown_driver};
