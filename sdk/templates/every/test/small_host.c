// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "small_host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_least64_t allocations;

// ---- tasks: two threads, which end with the process

typedef struct task task;
struct task {
  void (*run)(void* state);
  void* state;
  task* next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static task *first, *last;
static int started, running;

static void* work(void* unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  for (;;) {
    task* next = first;
    if (next == NULL) {
      pthread_cond_wait(&changed, &lock);
      continue;
    }
    first = next->next;
    if (first == NULL) last = NULL;
    ++running;
    pthread_mutex_unlock(&lock);
    next->run(next->state);
    free(next);
    pthread_mutex_lock(&lock);
    --running;
    pthread_cond_broadcast(&changed);
  }
  return NULL;
}

static void post(stria_host* host, void (*run)(void*), void* state) {
  (void)host;
  task* made = malloc(sizeof *made);
  if (made == NULL) abort();
  *made = (task){run, state, NULL};
  pthread_mutex_lock(&lock);
  for (; started < 2; ++started) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) abort();
    pthread_detach(thread);
  }
  if (last != NULL)
    last->next = made;
  else
    first = made;
  last = made;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

void small_host_wait(void) {
  pthread_mutex_lock(&lock);
  while (first != NULL || running > 0) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

// ---- the other services

static void log_line(stria_host* host, stria_log_level level, stria_string message) {
  (void)host, (void)level;
  fprintf(stderr, "%.*s\n", (int)message.size, message.data);
}

static void* allocate(stria_host* host, uint64_t bytes, uint64_t alignment) {
  (void)host;
  void* memory = NULL;
  if (posix_memalign(&memory, (size_t)(alignment < 16 ? 16 : alignment), (size_t)bytes + 1) != 0)
    return NULL;
  memset(memory, 0xee, (size_t)bytes);  // what nobody has written is garbage
  atomic_fetch_add(&allocations, 1);
  return memory;
}

static void free_memory(stria_host* host, void* memory, uint64_t bytes, uint64_t alignment) {
  (void)host, (void)bytes, (void)alignment;
  if (memory == NULL) return;
  free(memory);
  atomic_fetch_sub(&allocations, 1);
}

static uint32_t concurrency(stria_host* host) {
  (void)host;
  return 2;
}

static void parallel_for(stria_host* host, uint64_t count, uint64_t grain,
                         void (*body)(void*, uint64_t, uint64_t), void* state) {
  (void)host;
  if (grain == 0) grain = count;
  for (uint64_t begin = 0; begin < count; begin += grain)
    body(state, begin, count - begin < grain ? count : begin + grain);
}

static void release_refusal(stria_error* error) { free(error); }

static stria_error* refusal(void) {
  static char text[] = "the small host has no interpreter and no cache";
  stria_error* error = calloc(1, sizeof *error);
  if (error == NULL) abort();
  error->size = sizeof *error;
  error->code = STRIA_UNIMPLEMENTED;
  error->message = (stria_string){text, sizeof text - 1};
  error->release = release_refusal;
  return error;
}

static stria_error* program_create(stria_host* host, stria_string stripe,
                                   stria_host_program** out) {
  (void)host, (void)stripe, (void)out;
  return refusal();
}

static stria_error* program_kernels(stria_host* host, stria_host_program* program,
                                    stria_kernel_sink sink, void* state) {
  (void)host, (void)program, (void)sink, (void)state;
  return refusal();
}

static stria_error* kernel_create(stria_host* host, stria_host_program* program, uint64_t index,
                                  stria_host_kernel** kernel) {
  (void)host, (void)program, (void)index, (void)kernel;
  return refusal();
}

static stria_error* kernel_run(stria_host* host, stria_host_kernel* kernel,
                               const stria_memory* arguments, uint64_t count) {
  (void)host, (void)kernel, (void)arguments, (void)count;
  return refusal();
}

static void kernel_release(stria_host* host, stria_host_kernel* kernel) {
  (void)host, (void)kernel;
}

static void program_release(stria_host* host, stria_host_program* program) {
  (void)host, (void)program;
}

static stria_error* cache_get(stria_host* host, stria_string key, stria_text_sink sink,
                              void* state) {
  (void)host, (void)key, (void)sink, (void)state;
  return NULL;
}

static stria_error* cache_put(stria_host* host, stria_string key, stria_string value) {
  (void)host, (void)key, (void)value;
  return NULL;
}

static stria_error* make_error(stria_host* host, stria_code code, int64_t native_code,
                               stria_string message, stria_string native_message) {
  (void)host, (void)native_code, (void)message, (void)native_message;
  stria_error* error = refusal();
  error->code = code;
  return error;
}

const stria_host_services* small_host_services(void) {
  static const stria_host_services services = {.size = sizeof services,
                                               .log = log_line,
                                               .allocate = allocate,
                                               .free = free_memory,
                                               .concurrency = concurrency,
                                               .parallel_for = parallel_for,
                                               .post = post,
                                               .program_create = program_create,
                                               .program_kernels = program_kernels,
                                               .kernel_create = kernel_create,
                                               .kernel_run = kernel_run,
                                               .kernel_release = kernel_release,
                                               .program_release = program_release,
                                               .cache_get = cache_get,
                                               .cache_put = cache_put,
                                               .make_error = make_error};
  return &services;
}

const stria_host_info* small_host_info(void) {
  static const stria_version_range abi = {.size = sizeof abi,
                                          .major = STRIA_ABI_MAJOR,
                                          .minor_min = STRIA_ABI_OLDEST_MINOR,
                                          .minor_max = STRIA_ABI_MINOR};
  static const stria_version_range stripe = {.size = sizeof stripe,
                                             .major = STRIA_STRIPE_MAJOR,
                                             .minor_min = STRIA_STRIPE_MINOR,
                                             .minor_max = STRIA_STRIPE_MINOR};
  static const stria_host_info info = {
      .size = sizeof info, .abi = &abi, .stripe = &stripe, .page_size = 4096};
  return &info;
}

uint64_t small_host_allocations(void) { return atomic_load(&allocations); }
