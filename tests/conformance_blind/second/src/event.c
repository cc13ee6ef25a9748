// SPDX-License-Identifier: Apache-2.0
#include "event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"
#include "error.h"
#include "mistake.h"
#include "work_queue.h"

typedef struct dependant {
  stria_event* event;  // waits for the one whose list this is in; a reference
  uint64_t position;   // in its waits
} dependant;

typedef struct callback {
  void (*call)(void* state, const stria_error* error);
  void* state;
} callback;

enum { kHostEvent, kWork, kEnd };  // an end is done when its event is, and never fails

struct stria_event {
  atomic_uint references;
  int kind;
  stria_driver* driver;
  second_work_count* count;  // may be NULL
  // In `count`, and in all work of the driver.
  second_work_ticket ticket, driver_ticket;
  second_work work;
  // Waits that are not over, and one more until all have been looked at.
  atomic_uint_least64_t waiting;
  stria_event** parts;  // of an event of all
  uint64_t part_count;
  stria_event* next;  // in a list of events that are to be ended
  // What mistakes need: a place of the driver's events of the host (guarded by its lock), and
  // whether the event was ended before its waits were (guarded by its own).
  stria_event *ring_next, **ring_at;
  uint64_t ring_slot;
  int given_up;
  // Whether it has begun, and whether its handle was released before that; guarded by lock.
  int begun, cancelled;

  pthread_mutex_t lock;
  pthread_cond_t changed;
  atomic_int done;
  int signalled;       // guarded by lock, as all that follows
  stria_error* cause;  // the failure of the first wait in list order that failed
  uint64_t cause_position;
  stria_error* failure;       // not changed once done
  uint64_t begin_ns, end_ns;  // of the work; not changed once done
  dependant* dependants;
  uint64_t dependant_count, dependant_room;
  callback* callbacks;
  uint64_t callback_count, callback_room;
};

static stria_error* make(stria_driver* driver, int kind, stria_event** event) {
  stria_event* made = calloc(1, sizeof *made);
  if (made == NULL) return second_error(STRIA_OUT_OF_MEMORY, "no memory for an event");
  atomic_init(&made->references, 1);
  atomic_init(&made->waiting, 1);
  atomic_init(&made->done, 0);
  made->kind = kind;
  made->driver = driver;
  pthread_mutex_init(&made->lock, NULL);
  second_condition_init(&made->changed);
  *event = made;
  return NULL;
}

stria_event* second_event_keep(stria_event* event) {
  atomic_fetch_add(&event->references, 1);
  return event;
}

int second_event_done(const stria_event* event) { return atomic_load(&event->done); }

int second_event_is_of_other(const stria_event* event, const second_work_count* count) {
  return event->kind == kWork && event->count != NULL && event->count != count;
}

const stria_error* second_event_failure(const stria_event* event) { return event->failure; }

// Room for one more in an array that grows. 0 without memory.
static int grow(void** array, uint64_t count, uint64_t* room, size_t item_bytes) {
  if (count < *room) return 1;
  const uint64_t more = *room == 0 ? 4 : *room * 2;
  void* grown = realloc(*array, (size_t)more * item_bytes);
  if (grown == NULL) return 0;
  *array = grown;
  *room = more;
  return 1;
}

// Hands it to whoever runs it, with a reference.
static void hand_on(stria_event* event) {
  stria_driver* driver = event->driver;
  if (event->work.on_host)
    driver->services.post(driver->services.host, second_event_run, event);
  else
    second_work_queue_push(driver, event);
}

// ---- the end of events. A list and no recursion: chains of dependants may be long.

// Remembers the failure of a wait.
static void note(stria_event* event, uint64_t position, const stria_error* failure) {
  if (failure == NULL) return;
  pthread_mutex_lock(&event->lock);
  if (event->cause == NULL || position < event->cause_position) {
    second_error_release(event->cause);
    event->cause = second_error_share(failure);
    event->cause_position = position;
  }
  pthread_mutex_unlock(&event->lock);
}

// Whether an event of which a wait has ended is to be run or ended now: when it was the last one.
static int is_over(stria_event* event, int last) {
  if (!second_makes(failure_before_waits_end)) return last;
  // It cannot end well any more, so why wait.
  pthread_mutex_lock(&event->lock);
  const int now = (last || event->cause != NULL) && !event->given_up;
  if (now) event->given_up = 1;
  pthread_mutex_unlock(&event->lock);
  return now;
}

// How deep this thread is in callbacks.
static _Thread_local int callback_depth;

int second_event_in_callback(void) { return callback_depth > 0; }

static void call_back(const callback* given, const stria_error* failure) {
  ++callback_depth;
  given->call(given->state, failure);
  --callback_depth;
}

// Marks it done, tells who waits, and puts what waited for it alone into `over`, with a reference.
static void mark_done(stria_event* event, stria_error* failure, stria_event** over) {
  pthread_mutex_lock(&event->lock);
  event->failure = failure;
  dependant* dependants = event->dependants;
  callback* callbacks = event->callbacks;
  const uint64_t dependant_count = event->dependant_count;
  const uint64_t callback_count = event->callback_count;
  event->dependants = NULL;
  event->callbacks = NULL;
  event->dependant_count = event->callback_count = 0;
  atomic_store(&event->done, 1);
  pthread_cond_broadcast(&event->changed);
  pthread_mutex_unlock(&event->lock);
  for (uint64_t i = 0; i < callback_count; ++i) call_back(&callbacks[i], failure);
  free(callbacks);
  for (uint64_t i = 0; i < dependant_count; ++i) {
    stria_event* waiting = dependants[i].event;
    note(waiting, dependants[i].position, failure);
    if (is_over(waiting, atomic_fetch_sub(&waiting->waiting, 1) == 1)) {
      waiting->next = *over;
      *over = waiting;
    } else {
      second_event_release(waiting);
    }
  }
  free(dependants);
}

// The times of the parts, all done and well: none if that of one is not known.
static void take_times(stria_event* event) {
  for (uint64_t i = 0; i < event->part_count; ++i) {
    const stria_event* part = event->parts[i];
    if (part->begin_ns == 0 && part->end_ns == 0) {
      event->begin_ns = event->end_ns = 0;
      return;
    }
    if (i == 0 || part->begin_ns < event->begin_ns) event->begin_ns = part->begin_ns;
    if (i == 0 || part->end_ns > event->end_ns) event->end_ns = part->end_ns;
  }
}

// How an event without work of its own ends.
static stria_error* outcome_of(const stria_event* event) {
  const int well = event->kind == kEnd && !second_makes(end_carries_failure);
  return well ? NULL : second_error_inherited(event->cause);
}

static int is_to_run(const stria_event* event) {
  return event->kind == kWork && event->cause == NULL && event->work.run != NULL;
}

static void drop_work(stria_event* event) {
  if (event->work.drop != NULL) event->work.drop(event->work.state);
  event->work.drop = NULL;
  for (uint64_t i = 0; i < event->part_count; ++i) second_event_release(event->parts[i]);
  free(event->parts);
  event->parts = NULL;
  event->part_count = 0;
}

static void end(stria_event* event, stria_error* failure);

// Ends an event that failed before its work began, and says so in a line, which lies on the stack
// until all behind the event have ended.
static void end_and_tell(stria_event* event) {
  stria_driver* driver = event->driver;
  char line[1024];
  const int length = snprintf(line, sizeof line, "second: work was not done: %.*s",
                              (int)event->cause->message.size, event->cause->message.data);
  const uint64_t size = length < 0                     ? 0
                        : (size_t)length < sizeof line ? (uint64_t)length
                                                       : sizeof line - 1;
  driver->services.log(driver->services.host, STRIA_LOG_DEBUG, (stria_string){line, size});
  end(event, outcome_of(event));
}

// Ends an event, whose work is over or not to be done, and the light ones behind it. Takes over the
// reference and the failure. What is ready to run goes to the queue.
static void end(stria_event* event, stria_error* failure) {
  stria_event* over = NULL;
  event->next = NULL;
  for (;;) {
    drop_work(event);
    mark_done(event, failure, &over);
    // The driver stays until the list is empty: what is in it is counted.
    if (event->kind != kHostEvent) {
      stria_driver* driver = event->driver;
      if (event->count != NULL) second_work_count_remove(event->count, &event->ticket);
      second_work_count_remove(driver->in_flight, &event->driver_ticket);
    }
    second_event_release(event);
    for (event = NULL; over != NULL && event == NULL;) {
      event = over;
      over = event->next;
      event->next = NULL;
      if (is_to_run(event)) {
        hand_on(event);
        event = NULL;
      } else if (event->cause != NULL && second_makes(failure_chain_recurses)) {
        end_and_tell(event);
        event = NULL;
      }
    }
    if (event == NULL) return;
    failure = outcome_of(event);
    if (event->cause == NULL) take_times(event);
  }
}

// ---- work

// Puts `event` behind `wait`. 1: it waits; 0: that one is done; -1: no memory.
static int wait_for(stria_event* event, stria_event* wait, uint64_t position) {
  int waits = 0;
  pthread_mutex_lock(&wait->lock);
  if (!atomic_load(&wait->done)) {
    waits = -1;
    if (grow((void**)&wait->dependants, wait->dependant_count, &wait->dependant_room,
             sizeof(dependant))) {
      wait->dependants[wait->dependant_count++] = (dependant){second_event_keep(event), position};
      waits = 1;
    }
  }
  pthread_mutex_unlock(&wait->lock);
  return waits;
}

// Runs or ends an event that waits for nothing any more. Takes over a reference.
static void go_on(stria_event* event) {
  if (is_to_run(event)) {
    hand_on(event);
    return;
  }
  if (event->cause == NULL) take_times(event);
  end(event, outcome_of(event));
}

static int named_before(second_waits waits, uint64_t position) {
  for (uint64_t i = 0; i < position; ++i)
    if (waits.events[i] == waits.events[position]) return 1;
  return 0;
}

// How many there are to wait for.
static uint64_t pending_of(second_waits waits) {
  if (!second_makes(wait_named_twice_counts_double)) return waits.count;
  // What is pending is a set; each end takes one off for every place in the list all the same.
  uint64_t different = 0;
  for (uint64_t i = 0; i < waits.count; ++i) different += !named_before(waits, i);
  return different;
}

// Starts an event that nobody else knows yet. Afterwards the caller's reference is for the handle.
static void start(stria_event* event, second_waits waits) {
  second_work_count_add(event->driver->in_flight, &event->driver_ticket);
  if (event->count != NULL) second_work_count_add(event->count, &event->ticket);
  atomic_store(&event->waiting, pending_of(waits) + 1);
  uint64_t over = 1;
  for (uint64_t i = 0; i < waits.count; ++i) {
    const int waiting = wait_for(event, waits.events[i], i);
    if (waiting == 1) continue;
    if (waiting == 0) {
      note(event, i, second_event_failure(waits.events[i]));
    } else {
      stria_error* error = second_error(STRIA_OUT_OF_MEMORY, "no memory to wait for an event");
      note(event, i, error);
      second_error_release(error);
    }
    if (second_makes(wait_named_twice_counts_double) && named_before(waits, i)) continue;
    ++over;
  }
  const int last = atomic_fetch_sub(&event->waiting, over) == over;
  if (is_over(event, last)) go_on(second_event_keep(event));
}

stria_error* second_event_after(stria_driver* driver, second_work_count* count, second_waits waits,
                                second_work work, stria_event** event) {
  stria_event* made = NULL;
  stria_error* error = make(driver, kWork, &made);
  if (error != NULL) {
    if (work.drop != NULL) work.drop(work.state);
    return error;
  }
  made->count = count;
  made->work = work;
  if (work.run != NULL) made->begin_ns = second_now_ns();
  start(made, waits);
  *event = made;
  return NULL;
}

stria_error* second_event_of_all(stria_driver* driver, second_work_count* count, second_waits parts,
                                 stria_event** event) {
  stria_event* made = NULL;
  stria_error* error = make(driver, kWork, &made);
  if (error != NULL) return error;
  made->count = count;
  // The fence of a batch is reached, whatever became of its launches.
  if (second_makes(batch_loses_failure)) made->kind = kEnd;
  made->parts = calloc(parts.count == 0 ? 1 : (size_t)parts.count, sizeof *made->parts);
  if (made->parts == NULL) {
    second_event_release(made);
    return second_error(STRIA_OUT_OF_MEMORY, "no memory for an event");
  }
  for (uint64_t i = 0; i < parts.count; ++i) made->parts[i] = second_event_keep(parts.events[i]);
  made->part_count = parts.count;
  start(made, parts);
  *event = made;
  return NULL;
}

// 0 if its handle is gone.
static int begin_unless_cancelled(stria_event* event) {
  pthread_mutex_lock(&event->lock);
  event->begun = 1;
  const int cancelled = event->cancelled;
  pthread_mutex_unlock(&event->lock);
  return !cancelled;
}

void second_event_run(void* given) {
  stria_event* event = given;
  if (!begin_unless_cancelled(event)) {
    end(event, second_error(STRIA_CANCELLED, "nobody wants the work any more"));
    return;
  }
  if (!second_makes(duration_since_submission)) event->begin_ns = second_now_ns();
  stria_error* failure = event->work.run(event->work.state);
  event->end_ns = second_now_ns();
  end(event, failure);
}

void second_event_refuse(stria_event* event, stria_error* error) { end(event, error); }

// ---- host events

stria_error* second_event_of_host(stria_driver* driver, stria_event** event) {
  stria_error* error = make(driver, kHostEvent, event);
  // It takes as long as it is open.
  if (error == NULL && second_makes(host_event_has_duration)) (*event)->begin_ns = second_now_ns();
  return error;
}

// 0 if it was signalled before. Takes over the failure.
static int signal_once(stria_event* event, stria_error* failure) {
  pthread_mutex_lock(&event->lock);
  const int first = !event->signalled;
  event->signalled = 1;
  pthread_mutex_unlock(&event->lock);
  if (!first) {
    second_error_release(failure);
    return 0;
  }
  if (second_makes(host_event_has_duration)) event->end_ns = second_now_ns();
  end(second_event_keep(event), failure);
  return 1;
}

// Out of the driver's events of the host.
static void leave_ring(stria_event* event) {
  if (event->ring_at == NULL) return;
  pthread_mutex_lock(&event->driver->lock);
  *event->ring_at = event->ring_next;
  if (event->ring_next != NULL) event->ring_next->ring_at = event->ring_at;
  pthread_mutex_unlock(&event->driver->lock);
}

void second_event_release(stria_event* event) {
  if (event->kind == kHostEvent && !second_event_done(event) &&
      atomic_load(&event->references) == 1) {
    // The last one is the caller's: nobody can signal it any more.
    signal_once(
        event, second_makes(dropped_event_is_well)
                   ? NULL
                   : second_error(STRIA_CANCELLED, "an event was dropped before it was signalled"));
  }
  if (atomic_fetch_sub(&event->references, 1) != 1) return;
  leave_ring(event);
  second_error_release(event->cause);
  second_error_release(event->failure);
  pthread_cond_destroy(&event->changed);
  pthread_mutex_destroy(&event->lock);
  free(event);
}

// ---- what mistakes do to events of the host, and to handles

void second_event_enter_ring(stria_event* event) {
  enum { kSlots = 256 };  // of the table that the device polls
  stria_driver* driver = event->driver;
  pthread_mutex_lock(&driver->lock);
  event->ring_slot = driver->host_event_count++ % kSlots;
  event->ring_next = driver->host_events;
  event->ring_at = &driver->host_events;
  if (event->ring_next != NULL) event->ring_next->ring_at = &event->ring_next;
  driver->host_events = event;
  pthread_mutex_unlock(&driver->lock);
}

// An open event in the same slot, with a reference; NULL if there is none.
static stria_event* other_in_slot(const stria_event* event) {
  stria_driver* driver = event->driver;
  stria_event* found = NULL;
  pthread_mutex_lock(&driver->lock);
  for (stria_event* at = driver->host_events; at != NULL && found == NULL; at = at->ring_next) {
    if (at == event || at->ring_slot != event->ring_slot || second_event_done(at)) continue;
    // One that is just being freed has no reference left to share.
    unsigned references = atomic_load(&at->references);
    while (references > 0 && found == NULL)
      if (atomic_compare_exchange_weak(&at->references, &references, references + 1)) found = at;
  }
  pthread_mutex_unlock(&driver->lock);
  return found;
}

static void signal_slot_of(const stria_event* event, const stria_error* error) {
  for (stria_event* other; (other = other_in_slot(event)) != NULL;) {
    signal_once(other, second_error_share(error));
    second_event_release(other);
  }
}

// The event's list of who waits is gone with its handle: nobody waits for it any more.
static void forget_waiters(stria_event* event) {
  pthread_mutex_lock(&event->lock);
  dependant* dependants = event->dependants;
  const uint64_t count = event->dependant_count;
  event->dependants = NULL;
  event->dependant_count = event->dependant_room = 0;
  pthread_mutex_unlock(&event->lock);
  for (uint64_t i = 0; i < count; ++i) {
    if (atomic_fetch_sub(&dependants[i].event->waiting, 1) == 1)
      go_on(dependants[i].event);
    else
      second_event_release(dependants[i].event);
  }
  free(dependants);
}

// Work of an executor that has not begun, and that nothing waits for, goes with its handle.
static void cancel_unseen(stria_event* event) {
  pthread_mutex_lock(&event->lock);
  if (!event->begun && event->dependant_count == 0 && event->callback_count == 0)
    event->cancelled = 1;
  pthread_mutex_unlock(&event->lock);
}

stria_error* second_event_keep_gate(stria_driver* driver, stria_event** gate) {
  stria_error* error = NULL;
  pthread_mutex_lock(&driver->lock);
  if (driver->gate == NULL) error = second_event_of_host(driver, &driver->gate);
  if (error == NULL) *gate = second_event_keep(driver->gate);
  pthread_mutex_unlock(&driver->lock);
  return error;
}

void second_event_open_gate(stria_driver* driver) {
  if (!second_makes(work_begins_when_waited_for)) return;
  pthread_mutex_lock(&driver->lock);
  stria_event* gate = driver->gate;
  driver->gate = NULL;
  pthread_mutex_unlock(&driver->lock);
  if (gate == NULL) return;
  signal_once(gate, NULL);
  second_event_release(gate);
}

// A callback on an event that is done, on its way to another thread.
typedef struct late_callback {
  stria_event* event;  // a reference
  callback given;
  second_work_ticket ticket;
} late_callback;

static void run_late_callback(void* given) {
  late_callback* late = given;
  second_work_count* in_flight = late->event->driver->in_flight;
  call_back(&late->given, late->event->failure);
  second_event_release(late->event);
  second_work_count_remove(in_flight, &late->ticket);
  free(late);
}

static stria_error* post_callback(stria_event* event, callback given) {
  late_callback* late = calloc(1, sizeof *late);
  if (late == NULL) return second_error(STRIA_OUT_OF_MEMORY, "no memory for a callback");
  stria_driver* driver = event->driver;
  late->event = second_event_keep(event);
  late->given = given;
  second_work_count_add(driver->in_flight, &late->ticket);
  driver->services.post(driver->services.host, run_late_callback, late);
  return NULL;
}

// ---- the table

static stria_error* still_open(void) {
  return second_error(STRIA_FAILED_PRECONDITION, "the event is still open");
}

static stria_error* wait_slot(stria_event* event, uint64_t timeout_ns) {
  // None is given, so the driver's own limit holds.
  if (second_makes(zero_limit_is_default) && timeout_ns == 0) timeout_ns = 2000000000;
  second_event_open_gate(event->driver);
  const uint64_t end_ns = second_end_of_ns(timeout_ns);
  int in_time = timeout_ns > 0;
  pthread_mutex_lock(&event->lock);
  while (!atomic_load(&event->done) && in_time)
    in_time = second_condition_wait(&event->changed, &event->lock, end_ns);
  pthread_mutex_unlock(&event->lock);
  if (second_event_done(event) && second_makes(wait_returns_failure))
    return second_error_share(event->failure);
  return second_event_done(event)
             ? NULL
             : second_error(STRIA_DEADLINE_EXCEEDED, "the event is still open after %llu ns",
                            (unsigned long long)timeout_ns);
}

static stria_error* query_slot(stria_event* event, uint8_t* done) {
  // The runtime asks the device, and waits for its answer.
  if (second_makes(query_waits_a_while)) second_error_release(wait_slot(event, 50000000));
  *done = second_event_done(event) != 0;
  return NULL;
}

static stria_error* status_slot(stria_event* event) {
  return second_event_done(event) ? second_error_share(event->failure) : still_open();
}

static stria_error* duration_slot(stria_event* event, uint64_t* nanoseconds) {
  if (!second_event_done(event)) return still_open();
  *nanoseconds = event->failure != NULL ? 0 : event->end_ns - event->begin_ns;
  // The device's counter, which goes 19.2 million times a second.
  if (second_makes(duration_in_ticks)) *nanoseconds = *nanoseconds * 192 / 10000;
  return NULL;
}

static stria_error* on_done_slot(stria_event* event, void (*call)(void*, const stria_error*),
                                 void* state) {
  pthread_mutex_lock(&event->lock);
  const int done = second_event_done(event);
  const int kept = !done && grow((void**)&event->callbacks, event->callback_count,
                                 &event->callback_room, sizeof(callback));
  // Room for one is all that most events need.
  if (kept && second_makes(callback_replaced)) event->callback_count = 0;
  if (kept) event->callbacks[event->callback_count++] = (callback){call, state};
  pthread_mutex_unlock(&event->lock);
  if (!done && !kept) return second_error(STRIA_OUT_OF_MEMORY, "no memory for a callback");
  const callback given = {call, state};
  // Whoever is in the list already is called; the list is not looked at again.
  if (done && second_makes(callback_in_callback_lost) && second_event_in_callback()) return NULL;
  if (done && second_makes(late_callback_posted)) return post_callback(event, given);
  if (done) call_back(&given, second_makes(late_callback_without_error) ? NULL : event->failure);
  return NULL;
}

static stria_error* signal_slot(stria_event* event, const stria_error* error) {
  if (event->kind != kHostEvent)
    return second_error(STRIA_FAILED_PRECONDITION, "only a host event can be signalled");
  // A callback may release the event.
  const int wraps = second_makes(event_ring_wraps);
  if (wraps) second_event_keep(event);
  const int first = signal_once(event, second_error_share(error));
  if (wraps && first) signal_slot_of(event, error);
  if (wraps) second_event_release(event);
  if (first) return NULL;
  return second_error(STRIA_FAILED_PRECONDITION, "the event was signalled before");
}

static void release_slot(stria_event* event) {
  if (second_makes(release_forgets_waiters) && event->kind == kWork) forget_waiters(event);
  if (second_makes(event_release_cancels) && event->kind == kWork && event->count != NULL)
    cancel_unseen(event);
  second_event_release(event);
}

static stria_error* end_slot(stria_event* event, stria_event** behind) {
  stria_event* made = NULL;
  stria_error* error = make(event->driver, kEnd, &made);
  if (error != NULL) return error;
  // Nobody waits for what is known to end.
  start(made, (second_waits){&event, second_makes(end_is_done_at_once) ? 0 : 1});
  *behind = made;
  return NULL;
}

const stria_event_table second_event_table = {.size = sizeof second_event_table,
                                              .wait = wait_slot,
                                              .query = query_slot,
                                              .status = status_slot,
                                              .duration_ns = duration_slot,
                                              .on_done = on_done_slot,
                                              .signal = signal_slot,
                                              .release = release_slot,
                                              .end = end_slot};
