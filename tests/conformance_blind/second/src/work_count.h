// SPDX-License-Identifier: Apache-2.0
// Counts work in flight, so that one can wait for its end; and time.
#ifndef SECOND_WORK_COUNT_H
#define SECOND_WORK_COUNT_H

#include <pthread.h>
#include <stdint.h>

// The place of one work in a count.
typedef struct second_work_ticket second_work_ticket;
struct second_work_ticket {
  second_work_ticket *earlier, *later;
  uint64_t number;
};

typedef struct second_work_count {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  // Guarded by lock: what is in flight, in the order in which it was begun, and how much has been.
  second_work_ticket *first, *last;
  uint64_t begun;
  int abandoned;
} second_work_count;

// NULL without memory.
second_work_count* second_work_count_create(void);
// Frees it, when there is no work any more.
void second_work_count_abandon(second_work_count* self);
// The ticket stays the caller's, until the work is removed.
void second_work_count_add(second_work_count* self, second_work_ticket* ticket);
// The last touch of `self` by the work.
void second_work_count_remove(second_work_count* self, second_work_ticket* ticket);
// Waits for the work that was begun before the call. 0 if some of it is still in flight after
// timeout_ns; UINT64_MAX: no limit.
int second_work_count_wait(second_work_count* self, uint64_t timeout_ns);

// Monotonic nanoseconds.
uint64_t second_now_ns(void);
// A condition for waits with a limit, and such a wait: 0 when `end_ns` of second_now_ns is over.
void second_condition_init(pthread_cond_t* condition);
int second_condition_wait(pthread_cond_t* condition, pthread_mutex_t* lock, uint64_t end_ns);
// The end of a limit that begins now.
uint64_t second_end_of_ns(uint64_t timeout_ns);

#endif  // SECOND_WORK_COUNT_H
