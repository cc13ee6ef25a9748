// SPDX-License-Identifier: Apache-2.0
#include "executor.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "driver.h"
#include "error.h"
#include "event.h"
#include "kernel.h"
#include "mistake.h"
#include "vendor_queue.h"

struct stria_executor {
  atomic_uint references;  // the handle, and kernels
  stria_driver* driver;
  second_work_count* in_flight;
  pthread_mutex_t lock;
  stria_event* last_batch;  // a reference; guarded by lock, and there for a mistake alone
};

// A queue of the hardware for each executor, which the driver gives back at its end.
static void add_thread(stria_driver* driver) {
  second_queue* queue = NULL;
  if (second_queue_create(&queue).code != STRIA_OK) return;
  pthread_mutex_lock(&driver->lock);
  const size_t count = driver->executor_thread_count;
  second_queue** more = realloc(driver->executor_threads, (count + 1) * sizeof *more);
  if (more != NULL) {
    more[count] = queue;
    driver->executor_threads = more;
    driver->executor_thread_count = count + 1;
  }
  pthread_mutex_unlock(&driver->lock);
  if (more == NULL) second_queue_destroy(queue);
}

stria_error* second_executor_create(stria_driver* driver, stria_executor** executor) {
  stria_executor* made = calloc(1, sizeof *made);
  if (made != NULL) made->in_flight = second_work_count_create();
  if (made == NULL || made->in_flight == NULL) {
    free(made);
    return second_error(STRIA_OUT_OF_MEMORY, "no memory for an executor");
  }
  atomic_init(&made->references, 1);
  made->driver = driver;
  pthread_mutex_init(&made->lock, NULL);
  if (second_makes(thread_per_executor)) add_thread(driver);
  *executor = made;
  return NULL;
}

stria_executor* second_executor_keep(stria_executor* executor) {
  atomic_fetch_add(&executor->references, 1);
  return executor;
}

void second_executor_release(stria_executor* executor) {
  if (atomic_fetch_sub(&executor->references, 1) != 1) return;
  if (executor->last_batch != NULL) second_event_release(executor->last_batch);
  pthread_mutex_destroy(&executor->lock);
  second_work_count_abandon(executor->in_flight);
  free(executor);
}

stria_driver* second_executor_driver(const stria_executor* executor) { return executor->driver; }

// The waits but for work of other executors, whose semaphores this one does not know.
static stria_error* start_with_own(stria_executor* self, second_waits waits, second_work work,
                                   stria_event** done) {
  stria_event** own = calloc((size_t)waits.count + 1, sizeof *own);
  if (own == NULL) return second_event_after(self->driver, self->in_flight, waits, work, done);
  uint64_t count = 0;
  for (uint64_t i = 0; i < waits.count; ++i)
    if (!second_event_is_of_other(waits.events[i], self->in_flight)) own[count++] = waits.events[i];
  stria_error* error =
      second_event_after(self->driver, self->in_flight, (second_waits){own, count}, work, done);
  free(own);
  return error;
}

// What waits until somebody waits for it, flushes or drains.
static stria_error* start_behind_gate(stria_executor* self, second_waits waits, second_work work,
                                      stria_event** done) {
  stria_event* gate = NULL;
  stria_event** gated = calloc((size_t)waits.count + 1, sizeof *gated);
  stria_error* error = gated == NULL ? second_error(STRIA_OUT_OF_MEMORY, "no memory for work")
                                     : second_event_keep_gate(self->driver, &gate);
  if (error != NULL) {
    if (work.drop != NULL) work.drop(work.state);
    free(gated);
    return error;
  }
  if (waits.count > 0) memcpy(gated, waits.events, (size_t)waits.count * sizeof *gated);
  gated[waits.count] = gate;
  error = second_event_after(self->driver, self->in_flight, (second_waits){gated, waits.count + 1},
                             work, done);
  second_event_release(gate);
  free(gated);
  return error;
}

static stria_error* start(stria_executor* self, second_waits waits, second_work work,
                          stria_event** done) {
  if (second_makes(callbacks_may_not_submit) && second_event_in_callback()) {
    if (work.drop != NULL) work.drop(work.state);
    return second_error(STRIA_FAILED_PRECONDITION, "no work can be submitted in a callback");
  }
  if (second_makes(work_begins_when_waited_for)) return start_behind_gate(self, waits, work, done);
  if (second_makes(waits_of_other_executors_skipped))
    return start_with_own(self, waits, work, done);
  return second_event_after(self->driver, self->in_flight, waits, work, done);
}

// ---- launches

typedef struct launch_work {
  stria_kernel* kernel;  // a reference, as are the buffers
  uint64_t count;
  stria_argument arguments[];
} launch_work;

static stria_error* run_launch(void* state) {
  const launch_work* self = state;
  return second_kernel_launch(self->kernel, self->arguments);
}

static void drop_launch(void* state) {
  launch_work* self = state;
  for (uint64_t i = 0; i < self->count; ++i) second_buffer_release(self->arguments[i].buffer);
  second_kernel_release(self->kernel);
  free(self);
}

// Why an argument is wrong; NULL if it is right.
static stria_error* check_argument(const stria_kernel_info* kernel, const stria_argument_info* info,
                                   const stria_argument* argument) {
  if (argument->buffer == NULL)
    return second_error(STRIA_INVALID_ARGUMENT, "argument '%.*s' of kernel '%.*s' has no buffer",
                        (int)info->name.size, info->name.data, (int)kernel->name.size,
                        kernel->name.data);
  if (second_buffer_has(argument->buffer, argument->offset, info->bytes)) return NULL;
  return second_error(STRIA_INVALID_ARGUMENT,
                      "argument '%.*s' of kernel '%.*s': %llu bytes at offset %llu of a buffer of "
                      "%llu bytes",
                      (int)info->name.size, info->name.data, (int)kernel->name.size,
                      kernel->name.data, (unsigned long long)info->bytes,
                      (unsigned long long)argument->offset,
                      (unsigned long long)second_buffer_size(argument->buffer));
}

// A launch with arguments that are right for the kernel.
static stria_error* make_launch(stria_kernel* kernel, const stria_argument* const* arguments,
                                uint64_t count, launch_work** launch) {
  const stria_kernel_info* info = second_kernel_info(kernel);
  if (count != info->argument_count)
    // The launch never gets as far as a driver's status, which says what is wrong.
    return second_error(
        second_makes(argument_error_without_code) ? STRIA_OK : STRIA_INVALID_ARGUMENT,
        "kernel '%.*s' takes %llu arguments, not %llu", (int)info->name.size, info->name.data,
        (unsigned long long)info->argument_count, (unsigned long long)count);
  launch_work* made = calloc(1, sizeof *made + (size_t)count * sizeof made->arguments[0]);
  if (made == NULL) return second_error(STRIA_OUT_OF_MEMORY, "no memory for a launch");
  made->kernel = second_kernel_keep(kernel);
  for (uint64_t i = 0; i < count; ++i) {
    second_whole(&made->arguments[i], sizeof made->arguments[i], arguments[i]);
    stria_error* error = check_argument(info, info->arguments[i], &made->arguments[i]);
    if (error != NULL) {
      drop_launch(made);
      return error;
    }
    second_buffer_keep(made->arguments[i].buffer);
    made->count = i + 1;
  }
  *launch = made;
  return NULL;
}

static stria_error* run_slot(stria_kernel* kernel, const stria_argument* const* arguments,
                             uint64_t argument_count, stria_event* const* waits,
                             uint64_t wait_count, stria_event** done) {
  launch_work* launch = NULL;
  stria_error* error = make_launch(kernel, arguments, argument_count, &launch);
  if (error != NULL) return error;
  return start(second_kernel_executor(kernel), (second_waits){waits, wait_count},
               (second_work){run_launch, drop_launch, launch, 0}, done);
}

const stria_kernel_table second_kernel_table = {
    .size = sizeof second_kernel_table, .run = run_slot, .release = second_kernel_release};

static stria_error* prepare_slot(stria_executor* executor, stria_library* library, uint64_t index,
                                 stria_kernel** kernel) {
  return second_kernel_create(executor, library, index, kernel);
}

// ---- batches

// All launches of a batch are made before one starts, so that on an error nothing runs.
static stria_error* make_batch(const stria_executor* self, const stria_launch* const* launches,
                               uint64_t count, launch_work** batch) {
  for (uint64_t n = 0; n < count; ++n) {
    stria_launch given;
    second_whole(&given, sizeof given, launches[n]);
    if (second_kernel_executor(given.kernel) != self)
      return second_error(STRIA_INVALID_ARGUMENT,
                          "the kernel of launch %llu was prepared by another executor",
                          (unsigned long long)n);
    for (uint64_t a = 0; a < given.after_count; ++a)
      if (given.after[a] >= n)
        return second_error(STRIA_INVALID_ARGUMENT, "launch %llu waits for launch %u",
                            (unsigned long long)n, (unsigned)given.after[a]);
    stria_error* error =
        make_launch(given.kernel, given.arguments, given.argument_count, &batch[n]);
    if (error != NULL) return error;
  }
  return NULL;
}

// Starts launch n, behind `waits` and the earlier events that it names.
static stria_error* start_launch(stria_executor* self, const stria_launch* launch,
                                 second_waits waits, stria_event* const* earlier, launch_work* work,
                                 stria_event** event) {
  stria_launch given;
  second_whole(&given, sizeof given, launch);
  const second_work started = {run_launch, drop_launch, work, 0};
  // What waits for an earlier launch waits for the batch's events through it.
  if (given.after_count == 0) return start(self, waits, started, event);
  stria_event** own = calloc((size_t)given.after_count, sizeof *own);
  if (own == NULL) {
    drop_launch(work);
    return second_error(STRIA_OUT_OF_MEMORY, "no memory for a batch");
  }
  for (uint64_t a = 0; a < given.after_count; ++a) own[a] = earlier[given.after[a]];
  stria_error* error = start(self, (second_waits){own, given.after_count}, started, event);
  free(own);
  return error;
}

// The waits of a batch, and behind them a gate that opens once all launches are there: if one of
// them cannot be started, none of the batch runs. The array is the caller's.
static stria_error* make_gate(stria_executor* self, stria_event* const* waits, uint64_t* wait_count,
                              stria_event** gate, stria_event*** gated) {
  stria_error* error = second_event_of_host(self->driver, gate);
  if (error != NULL) return error;
  *gated = calloc((size_t)*wait_count + 2, sizeof **gated);
  if (*gated == NULL) return second_error(STRIA_OUT_OF_MEMORY, "no memory for a batch");
  if (*wait_count > 0) memcpy(*gated, waits, (size_t)*wait_count * sizeof *waits);
  // Another thread's batch must not give it back: the event stays with the executor until then.
  pthread_mutex_lock(&self->lock);
  if (self->last_batch != NULL) (*gated)[(*wait_count)++] = second_event_keep(self->last_batch);
  pthread_mutex_unlock(&self->lock);
  (*gated)[(*wait_count)++] = *gate;
  return NULL;
}

static void remember_batch(stria_executor* self, stria_event* done) {
  pthread_mutex_lock(&self->lock);
  stria_event* before = self->last_batch;
  self->last_batch = second_event_keep(done);
  pthread_mutex_unlock(&self->lock);
  if (before != NULL) second_event_release(before);
}

static stria_error* submit_slot(stria_executor* self, const stria_launch* const* launches,
                                uint64_t launch_count, stria_event* const* waits,
                                uint64_t wait_count, stria_event** each, stria_event** done) {
  launch_work** batch = calloc((size_t)launch_count + 1, sizeof *batch);
  stria_event** events = calloc((size_t)launch_count + 1, sizeof *events);
  stria_error* error = NULL;
  if (batch == NULL || events == NULL)
    error = second_error(STRIA_OUT_OF_MEMORY, "no memory for a batch");
  if (error == NULL) error = make_batch(self, launches, launch_count, batch);
  stria_event *gate = NULL, **gated = NULL;
  uint64_t gated_count = wait_count;
  if (error == NULL) error = make_gate(self, waits, &gated_count, &gate, &gated);
  uint64_t started = 0;
  const second_waits given = {gated, gated_count};
  for (; error == NULL && started < launch_count; ++started) {
    launch_work* work = batch[started];
    batch[started] = NULL;  // it is taken over
    // What the batch waits for stands before its first command; the others have the gate alone.
    const second_waits gate_only = {gated + gated_count - 1, 1};
    const int later = started > 0 && second_makes(batch_waits_first_launch_only);
    error = start_launch(self, launches[started], later ? gate_only : given, events, work,
                         &events[started]);
    if (error != NULL) break;
  }
  if (error == NULL && launch_count == 0)
    error = start(self, given, (second_work){.run = NULL}, done);
  else if (error == NULL)
    error = second_event_of_all(self->driver, self->in_flight, (second_waits){events, launch_count},
                                done);
  if (gate != NULL) {
    second_error_release(second_event_table.signal(gate, error));
    second_event_release(gate);
  }
  // Between the caller's waits and the gate: the last batch.
  if (gated != NULL && gated_count == wait_count + 2) second_event_release(gated[wait_count]);
  if (error == NULL && second_makes(batch_waits_for_last_batch)) remember_batch(self, *done);
  free(gated);
  for (uint64_t n = 0; batch != NULL && n < launch_count; ++n)
    if (batch[n] != NULL) drop_launch(batch[n]);
  for (uint64_t n = 0; events != NULL && n < started; ++n) {
    const int own = error == NULL && each != NULL && !second_makes(each_is_the_batch);
    if (own)
      each[n] = events[n];
    else
      second_event_release(events[n]);
    // There is one time stamp for the batch.
    if (error == NULL && each != NULL && !own) each[n] = second_event_keep(*done);
  }
  free(batch);
  free(events);
  return error;
}

// ---- copies and fills

typedef struct transfer_work {
  stria_buffer* from;  // a reference; NULL: a fill
  stria_buffer* to;    // a reference
  uint64_t from_offset, to_offset, bytes, pattern_bytes;
  unsigned char pattern[16];
} transfer_work;

static stria_error* run_transfer(void* state) {
  const transfer_work* self = state;
  if (self->from == NULL)
    return second_buffer_fill(self->to, self->to_offset, self->bytes, self->pattern,
                              self->pattern_bytes);
  return second_buffer_copy(self->from, self->from_offset, self->to, self->to_offset, self->bytes);
}

static void drop_transfer(void* state) {
  transfer_work* self = state;
  if (self->from != NULL) second_buffer_release(self->from);
  second_buffer_release(self->to);
  free(self);
}

static stria_error* start_transfer(stria_executor* self, const transfer_work* from,
                                   second_waits waits, stria_event** done) {
  transfer_work* made = malloc(sizeof *made);
  if (made == NULL) return second_error(STRIA_OUT_OF_MEMORY, "no memory for a copy");
  *made = *from;
  if (made->from != NULL) second_buffer_keep(made->from);
  second_buffer_keep(made->to);
  // Copies are another engine's, which drain does not ask.
  if (second_makes(drain_forgets_copies))
    return second_event_after(self->driver, NULL, waits,
                              (second_work){run_transfer, drop_transfer, made, 0}, done);
  return start(self, waits, (second_work){run_transfer, drop_transfer, made, 0}, done);
}

static stria_error* copy_slot(stria_executor* self, stria_buffer* source, uint64_t source_offset,
                              stria_buffer* target, uint64_t target_offset, uint64_t bytes,
                              stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  stria_error* error = second_buffer_check(source, source_offset, bytes, "the source of a copy");
  if (error == NULL)
    error = second_buffer_check(target, target_offset, bytes, "the target of a copy");
  if (error != NULL) return error;
  const uint64_t apart = second_makes(neighbours_overlap) ? 1 : 0;
  if (source == target && source_offset < target_offset + bytes + apart &&
      target_offset < source_offset + bytes + apart)
    return second_error(STRIA_INVALID_ARGUMENT, "source and target of a copy overlap");
  // Long copies go by words.
  if (second_makes(copy_in_words) && bytes > 64) bytes -= bytes % 4;
  // The length of a descriptor has 24 bits.
  if (second_makes(copy_length_of_24_bits)) bytes &= 0xffffff;
  const transfer_work work = {.from = source,
                              .to = target,
                              .from_offset = source_offset,
                              .to_offset = target_offset,
                              .bytes = bytes};
  return start_transfer(self, &work, (second_waits){waits, wait_count}, done);
}

// A range of whole words around that of a fill: the engine writes no smaller pieces. The pattern
// stays where it was.
static void widen_to_words(transfer_work* fill) {
  const uint64_t lead = fill->to_offset % 4, most = second_buffer_size(fill->to);
  const uint64_t end = (fill->to_offset + fill->bytes + 3) / 4 * 4;
  if (lead % 2 == 1 && fill->pattern_bytes == 2) {
    const unsigned char first = fill->pattern[0];
    fill->pattern[0] = fill->pattern[1];
    fill->pattern[1] = first;
  }
  fill->to_offset -= lead;
  fill->bytes =
      (end < most ? end : most / fill->pattern_bytes * fill->pattern_bytes) - fill->to_offset;
}

static stria_error* fill_slot(stria_executor* self, stria_buffer* target, uint64_t offset,
                              uint64_t bytes, const void* pattern, uint64_t pattern_size,
                              stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  const int power =
      pattern_size > 0 && pattern_size <= 16 && (pattern_size & (pattern_size - 1)) == 0;
  if (!power || bytes % pattern_size != 0)
    return second_error(
        STRIA_INVALID_ARGUMENT,
        "a fill of %llu bytes with a pattern of %llu: a pattern has 1, 2, 4, 8 or 16 "
        "bytes, and a fill a multiple of them",
        (unsigned long long)bytes, (unsigned long long)pattern_size);
  // More than all of it is all of it.
  const uint64_t size = second_buffer_size(target);
  if (second_makes(fill_clipped_to_buffer) && offset <= size && bytes > size - offset)
    bytes = (size - offset) / pattern_size * pattern_size;
  stria_error* error = second_buffer_check(target, offset, bytes, "the target of a fill");
  if (error != NULL) return error;
  transfer_work work = {
      .to = target, .to_offset = offset, .bytes = bytes, .pattern_bytes = pattern_size};
  memcpy(work.pattern, pattern, (size_t)pattern_size);
  if (second_makes(fill_pattern_of_8) && pattern_size == 16) work.pattern_bytes = 8;
  if (second_makes(fill_whole_words) && pattern_size < 4 && bytes > 0) widen_to_words(&work);
  return start_transfer(self, &work, (second_waits){waits, wait_count}, done);
}

// ---- the rest

static stria_error* flush_slot(stria_executor* self) {
  second_event_open_gate(self->driver);  // but for a mistake, nothing waits for company
  return NULL;
}

static stria_error* drain_slot(stria_executor* self, uint64_t timeout_ns) {
  second_event_open_gate(self->driver);
  if (second_work_count_wait(self->in_flight, timeout_ns)) return NULL;
  return second_error(STRIA_DEADLINE_EXCEEDED, "work is still going on after %llu ns",
                      (unsigned long long)timeout_ns);
}

static void release_slot(stria_executor* self) {
  // Not for ever: whoever waits for the release may be who ends the work.
  if (second_makes(executor_release_waits)) second_work_count_wait(self->in_flight, 2000000000);
  second_executor_release(self);
}

const stria_executor_table second_executor_table = {.size = sizeof second_executor_table,
                                                    .prepare = prepare_slot,
                                                    .submit = submit_slot,
                                                    .copy = copy_slot,
                                                    .fill = fill_slot,
                                                    .flush = flush_slot,
                                                    .drain = drain_slot,
                                                    .release = release_slot};
