// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "work_count.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { kNanoseconds = 1000000000 };

uint64_t second_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * kNanoseconds + (uint64_t)now.tv_nsec;
}

uint64_t second_end_of_ns(uint64_t timeout_ns) {
  const uint64_t now = second_now_ns();
  return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

void second_condition_init(pthread_cond_t* condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

int second_condition_wait(pthread_cond_t* condition, pthread_mutex_t* lock, uint64_t end_ns) {
  if (end_ns == UINT64_MAX) return pthread_cond_wait(condition, lock) == 0;
  struct timespec end;
  end.tv_sec = (time_t)(end_ns / kNanoseconds);
  end.tv_nsec = (long)(end_ns % kNanoseconds);
  return pthread_cond_timedwait(condition, lock, &end) != ETIMEDOUT;
}

second_work_count* second_work_count_create(void) {
  second_work_count* made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  pthread_mutex_init(&made->lock, NULL);
  second_condition_init(&made->changed);
  return made;
}

static void unlock_and_free_if(second_work_count* self, int unused) {
  pthread_mutex_unlock(&self->lock);
  if (!unused) return;
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->lock);
  free(self);
}

void second_work_count_abandon(second_work_count* self) {
  pthread_mutex_lock(&self->lock);
  self->abandoned = 1;
  unlock_and_free_if(self, self->first == NULL);
}

void second_work_count_add(second_work_count* self, second_work_ticket* ticket) {
  pthread_mutex_lock(&self->lock);
  *ticket = (second_work_ticket){self->last, NULL, self->begun++};
  if (self->last != NULL)
    self->last->later = ticket;
  else
    self->first = ticket;
  self->last = ticket;
  pthread_mutex_unlock(&self->lock);
}

void second_work_count_remove(second_work_count* self, second_work_ticket* ticket) {
  pthread_mutex_lock(&self->lock);
  // Whoever waits looks at the first only.
  if (self->first == ticket) pthread_cond_broadcast(&self->changed);
  if (ticket->earlier != NULL)
    ticket->earlier->later = ticket->later;
  else
    self->first = ticket->later;
  if (ticket->later != NULL)
    ticket->later->earlier = ticket->earlier;
  else
    self->last = ticket->earlier;
  unlock_and_free_if(self, self->first == NULL && self->abandoned);
}

int second_work_count_wait(second_work_count* self, uint64_t timeout_ns) {
  const uint64_t end_ns = second_end_of_ns(timeout_ns);
  int in_time = 1;
  pthread_mutex_lock(&self->lock);
  const uint64_t begun = self->begun;
  while (self->first != NULL && self->first->number < begun && in_time)
    in_time = second_condition_wait(&self->changed, &self->lock, end_ns);
  const int over = self->first == NULL || self->first->number >= begun;
  pthread_mutex_unlock(&self->lock);
  return over;
}
