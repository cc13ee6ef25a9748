// SPDX-License-Identifier: Apache-2.0
// The plugin through its table, as a host sees it: memory, order, failures. Kernels are tested by
// check.sh, with programs.
//   plugin_test LIBRARY   the plugin's shared object
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "small_host.h"
#include "stria/plugin.h"

static int failures = 0;
#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                             \
    }                                                                         \
  } while (0)

// Expects success.
static void well_(stria_error* error, int line) {
  if (error == NULL) return;
  fprintf(stderr, "%s:%d: %.*s\n", __FILE__, line, (int)error->message.size, error->message.data);
  ++failures;
  error->release(error);
}
#define WELL(call) well_(call, __LINE__)

// The code of an error, which is released; STRIA_OK for none.
static stria_code code_of(stria_error* error) {
  if (error == NULL) return STRIA_OK;
  const stria_code code = error->code;
  EXPECT(error->message.size > 0);
  error->release(error);
  return code;
}

static const stria_plugin_info* tables;
static stria_device* device;
static stria_executor* executor;

enum { kForever = 1000000000 };  // 1 s: nothing here takes so long

static void wait_for(stria_event* event) { WELL(tables->event->wait(event, 20ull * kForever)); }

static stria_buffer* allocate(uint64_t bytes) {
  stria_buffer_params params = {.size = sizeof params, .bytes = bytes};
  stria_buffer* buffer = NULL;
  WELL(tables->device->allocate(device, &params, &buffer));
  return buffer;
}

static void fill_buffer(stria_buffer* buffer, uint64_t bytes, unsigned char value,
                        stria_event* wait, stria_event** done) {
  WELL(tables->executor->fill(executor, buffer, 0, bytes, &value, 1, &wait, wait != NULL, done));
}

// A byte of a buffer when `wait` is over, by a mapping.
static int byte_at(stria_buffer* buffer, uint64_t offset, stria_event* wait) {
  void* memory = NULL;
  stria_event *ready = NULL, *done = NULL;
  WELL(tables->buffer->map_current(buffer, offset, 1, &wait, wait != NULL, &memory, &ready));
  wait_for(ready);
  const int byte = *(unsigned char*)memory;
  WELL(tables->buffer->unmap(buffer, memory, &done));
  wait_for(done);
  tables->event->release(ready);
  tables->event->release(done);
  return byte;
}

// The message of an error, which is released: in `room`.
static const char* message_of(stria_error* error, char* room, size_t room_bytes) {
  snprintf(room, room_bytes, "%.*s", error == NULL ? 0 : (int)error->message.size,
           error == NULL ? "" : error->message.data);
  if (error != NULL) {
    EXPECT(error->place.size > 0);
    error->release(error);
  }
  return room;
}

static void test_memory(void) {
  stria_buffer *a = allocate(100), *b = allocate(100), *empty = allocate(0);
  void* memory = NULL;
  stria_event *ready = NULL, *written = NULL, *copied = NULL;
  WELL(tables->buffer->map_discard(a, 10, 50, NULL, 0, &memory, &ready));
  wait_for(ready);
  memset(memory, 7, 50);
  WELL(tables->buffer->unmap(a, memory, &written));
  WELL(tables->executor->copy(executor, a, 10, b, 0, 50, &written, 1, &copied));
  EXPECT(byte_at(b, 0, copied) == 7);
  EXPECT(byte_at(b, 49, copied) == 7);
  // Beyond the end, and over itself.
  stria_event* none = NULL;
  EXPECT(code_of(tables->executor->copy(executor, a, 60, b, 0, 50, NULL, 0, &none)) ==
         STRIA_INVALID_ARGUMENT);
  EXPECT(code_of(tables->executor->copy(executor, a, 0, a, 10, 50, NULL, 0, &none)) ==
         STRIA_INVALID_ARGUMENT);
  EXPECT(code_of(tables->buffer->map_current(a, 99, 2, NULL, 0, &memory, &none)) ==
         STRIA_INVALID_ARGUMENT);
  stria_buffer_params huge = {.size = sizeof huge, .bytes = UINT64_MAX / 2};
  EXPECT(code_of(tables->device->allocate(device, &huge, &b)) == STRIA_OUT_OF_MEMORY);
  // A failure names what was asked for, and what there is.
  char text[256];
  EXPECT(strstr(message_of(tables->device->allocate(device, &huge, &b), text, sizeof text),
                "9223372036854775807 bytes") != NULL);
  EXPECT(strstr(text, " are free") != NULL);
  const unsigned char pattern[32] = {0};
  EXPECT(strstr(message_of(tables->executor->fill(executor, a, 0, 64, pattern, 32, NULL, 0, &none),
                           text, sizeof text),
                "a pattern of 32") != NULL);
  tables->event->release(ready);
  tables->event->release(written);
  tables->event->release(copied);
  tables->buffer->release(a);
  tables->buffer->release(b);
  tables->buffer->release(empty);
}

// What waits for one event begins when it ends, however much that is.
static void test_many(void) {
  enum { kMany = 300 };
  stria_buffer* buffer = allocate(kMany);
  stria_event *gate = NULL, *done[kMany] = {NULL};
  WELL(tables->device->create_event(device, &gate));
  for (int i = 0; i < kMany; ++i) {
    const unsigned char value = (unsigned char)i;
    WELL(tables->executor->fill(executor, buffer, (uint64_t)i, 1, &value, 1, &gate, 1, &done[i]));
  }
  WELL(tables->event->signal(gate, NULL));
  for (int i = 0; i < kMany; ++i) {
    EXPECT(byte_at(buffer, (uint64_t)i, done[i]) == (unsigned char)i);
    tables->event->release(done[i]);
  }
  tables->event->release(gate);
  tables->buffer->release(buffer);
}

static void test_order(void) {
  stria_buffer* buffer = allocate(1 << 16);
  stria_event *gate = NULL, *first = NULL, *second = NULL;
  WELL(tables->device->create_event(device, &gate));
  fill_buffer(buffer, 1 << 16, 1, gate, &first);
  fill_buffer(buffer, 1 << 16, 2, first, &second);
  uint8_t done = 1;
  WELL(tables->event->query(second, &done));
  EXPECT(done == 0);
  EXPECT(code_of(tables->event->wait(second, 1000)) == STRIA_DEADLINE_EXCEEDED);
  EXPECT(code_of(tables->event->status(second)) == STRIA_FAILED_PRECONDITION);
  EXPECT(code_of(tables->executor->drain(executor, 1000)) == STRIA_DEADLINE_EXCEEDED);
  EXPECT(code_of(tables->event->signal(second, NULL)) == STRIA_FAILED_PRECONDITION);
  WELL(tables->event->signal(gate, NULL));
  EXPECT(code_of(tables->event->signal(gate, NULL)) == STRIA_FAILED_PRECONDITION);
  EXPECT(byte_at(buffer, 0, second) == 2);
  WELL(tables->executor->drain(executor, 20ull * kForever));
  uint64_t nanoseconds = 0;
  WELL(tables->event->duration_ns(second, &nanoseconds));
  tables->event->release(gate);
  tables->event->release(first);
  tables->event->release(second);
  tables->buffer->release(buffer);
}

typedef struct draining {
  stria_event *first, *second;
  stria_event* later;
  stria_buffer* buffer;
} draining;

// While another thread drains: work that is begun now, and the end of what was begun before.
static void* begin_more(void* state) {
  draining* self = state;
  const struct timespec moment = {.tv_nsec = 100000000};
  nanosleep(&moment, NULL);
  fill_buffer(self->buffer, 16, 2, self->second, &self->later);
  WELL(tables->event->signal(self->first, NULL));
  return NULL;
}

// drain waits for what was begun before it, and not for what comes later.
static void test_drain(void) {
  draining state = {.buffer = allocate(16)};
  stria_event* filled = NULL;
  WELL(tables->device->create_event(device, &state.first));
  WELL(tables->device->create_event(device, &state.second));
  fill_buffer(state.buffer, 16, 1, state.first, &filled);
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, begin_more, &state) == 0);
  WELL(tables->executor->drain(executor, 20ull * kForever));
  pthread_join(thread, NULL);
  uint8_t done = 0;
  WELL(tables->event->query(filled, &done));
  EXPECT(done == 1);
  WELL(tables->event->query(state.later, &done));
  EXPECT(done == 0);
  EXPECT(code_of(tables->executor->drain(executor, 1000)) == STRIA_DEADLINE_EXCEEDED);
  WELL(tables->event->signal(state.second, NULL));
  WELL(tables->executor->drain(executor, 20ull * kForever));
  EXPECT(byte_at(state.buffer, 0, state.later) == 2);
  tables->event->release(filled);
  tables->event->release(state.later);
  tables->event->release(state.first);
  tables->event->release(state.second);
  tables->buffer->release(state.buffer);
}

typedef struct called {
  int times;
  stria_code code;
} called;

static void note_call(void* state, const stria_error* error) {
  called* self = state;
  ++self->times;
  self->code = error == NULL ? STRIA_OK : error->code;
}

// A failure goes along the events, and an `end` stops it.
static void test_failures(void) {
  stria_buffer* buffer = allocate(16);
  stria_event *written = NULL, *gate = NULL, *failed = NULL, *behind = NULL, *end = NULL;
  stria_event* after = NULL;
  fill_buffer(buffer, 16, 1, NULL, &written);
  wait_for(written);
  WELL(tables->device->create_event(device, &gate));
  fill_buffer(buffer, 16, 2, gate, &failed);
  fill_buffer(buffer, 16, 3, failed, &behind);
  called call = {0, STRIA_OK}, late = {0, STRIA_OK};
  WELL(tables->event->on_done(behind, note_call, &call));
  if (tables->event->end != NULL) WELL(tables->event->end(failed, &end));
  const char text[] = "the device is on fire";
  const char cause[] = "somebody has smoked", place[] = "hall.c:3";
  const stria_error spark = {.size = sizeof spark,
                             .code = STRIA_INTERNAL,
                             .message = {cause, sizeof cause - 1},
                             .place = {place, sizeof place - 1}};
  const stria_error fire = {.size = sizeof fire,
                            .code = STRIA_UNAVAILABLE,
                            .native_code = 7,
                            .message = {text, sizeof text - 1},
                            .cause = &spark};
  WELL(tables->event->signal(gate, &fire));
  wait_for(behind);
  // The failure comes whole, with its cause.
  stria_error* given = tables->event->status(behind);
  EXPECT(given != NULL && given->native_code == 7 && given->cause != NULL);
  if (given != NULL && given->cause != NULL) {
    EXPECT(given->cause->code == STRIA_INTERNAL && given->cause->cause == NULL);
    EXPECT(given->cause->message.size == sizeof cause - 1 &&
           memcmp(given->cause->message.data, cause, sizeof cause - 1) == 0);
    EXPECT(given->cause->place.size == sizeof place - 1);
  }
  if (given != NULL) given->release(given);
  EXPECT(code_of(tables->event->status(behind)) == STRIA_UNAVAILABLE);
  EXPECT(call.times == 1 && call.code == STRIA_UNAVAILABLE);
  WELL(tables->event->on_done(behind, note_call, &late));
  EXPECT(late.times == 1 && late.code == STRIA_UNAVAILABLE);
  if (end != NULL) {
    fill_buffer(buffer, 16, 4, end, &after);
    EXPECT(byte_at(buffer, 0, after) == 4);
    tables->event->release(after);
    tables->event->release(end);
  } else {
    EXPECT(byte_at(buffer, 0, NULL) == 1);
  }
  tables->event->release(written);
  tables->event->release(gate);
  tables->event->release(failed);
  tables->event->release(behind);
  tables->buffer->release(buffer);
}

// Handles go while work is in flight, and an event that nobody can signal any more fails.
static void test_releases(void) {
  stria_buffer *a = allocate(1 << 16), *b = allocate(1 << 16);
  stria_event *gate = NULL, *filled = NULL, *copied = NULL;
  WELL(tables->device->create_event(device, &gate));
  fill_buffer(a, 1 << 16, 5, gate, &filled);
  WELL(tables->executor->copy(executor, a, 0, b, 0, 1 << 16, &filled, 1, &copied));
  tables->buffer->release(a);
  tables->event->release(filled);
  WELL(tables->event->signal(gate, NULL));
  tables->event->release(gate);
  EXPECT(byte_at(b, 0, copied) == 5);
  tables->event->release(copied);
  WELL(tables->device->create_event(device, &gate));
  fill_buffer(b, 1 << 16, 6, gate, &filled);
  tables->event->release(gate);
  wait_for(filled);
  EXPECT(code_of(tables->event->status(filled)) == STRIA_CANCELLED);
  tables->event->release(filled);
  tables->buffer->release(b);
}

// A chain that is longer than any stack of calls.
static void test_long_chain(void) {
  stria_buffer* buffer = allocate(1);
  stria_event *gate = NULL, *last = NULL;
  WELL(tables->device->create_event(device, &gate));
  last = gate;
  for (int i = 0; i < 20000; ++i) {
    stria_event* next = NULL;
    fill_buffer(buffer, 1, (unsigned char)(i % 251), last, &next);
    if (last != gate) tables->event->release(last);
    last = next;
  }
  const char text[] = "not today";
  const stria_error refusal = {
      .size = sizeof refusal, .code = STRIA_CANCELLED, .message = {text, sizeof text - 1}};
  WELL(tables->event->signal(gate, &refusal));
  wait_for(last);
  EXPECT(code_of(tables->event->status(last)) == STRIA_CANCELLED);
  tables->event->release(last);
  tables->event->release(gate);
  tables->buffer->release(buffer);
}

static void open_first(void* state, const stria_device_info* info) {
  if (device == NULL && info->available)
    WELL(tables->driver->open(state, info->id, (stria_string){"{}", 2}, &device));
}

int main(int count, char** arguments) {
  void* library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "usage: plugin_test LIBRARY (%s)\n", count == 2 ? dlerror() : "no library");
    return 2;
  }
  void* const symbol = dlsym(library, "stria_plugin_query");
  stria_plugin_query_function query = NULL;
  memcpy(&query, &symbol, sizeof query);
  static stria_plugin_info info = {.size = sizeof info};
  tables = &info;
  WELL(query(small_host_info(), &info));
  if (failures > 0) return 1;
  const stria_driver_options options = {.size = sizeof options,
                                        .directory = {"/", 1},
                                        .options = {"{}", 2},
                                        .services = small_host_services()};
  stria_driver* driver = NULL;
  WELL(info.driver->create(&options, &driver));
  WELL(info.driver->enumerate(driver, open_first, driver));
  EXPECT(device != NULL);
  if (device == NULL) return 1;
  WELL(info.device->create_executor(device, (stria_string){"{}", 2}, &executor));
  test_memory();
  test_order();
  test_many();
  test_drain();
  test_failures();
  test_releases();
  test_long_chain();
  info.executor->release(executor);
  info.device->release(device);
  info.driver->shutdown(driver);
  small_host_wait();
  EXPECT(small_host_allocations() == 0);
  if (failures == 0) puts("all well");
  return failures > 0;
}
