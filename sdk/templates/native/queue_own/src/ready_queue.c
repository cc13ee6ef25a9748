// SPDX-License-Identifier: Apache-2.0
#include "ready_queue.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct queue_job queue_job;
struct queue_job {
  void (*run)(void* state);
  void* state;
  queue_job* next;
};

struct acme_ready_queue {
  void* native;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  queue_job* first;  // guarded by lock, as all that follows
  queue_job* last;
  int stop;
};

// Of the queue whose thread this is.
static _Thread_local void* native_here = NULL;

static void* work(void* state) {
  acme_ready_queue* queue = state;
  native_here = queue->native;
  pthread_mutex_lock(&queue->lock);
  for (;;) {
    queue_job* job = queue->first;
    if (job == NULL) {
      if (queue->stop) break;
      pthread_cond_wait(&queue->changed, &queue->lock);
      continue;
    }
    queue->first = job->next;
    if (queue->first == NULL) queue->last = NULL;
    pthread_mutex_unlock(&queue->lock);
    job->run(job->state);
    free(job);
    pthread_mutex_lock(&queue->lock);
  }
  pthread_mutex_unlock(&queue->lock);
  return NULL;
}

acme_result acme_ready_queue_create(void* native, acme_ready_queue** queue) {
  acme_ready_queue* made = calloc(1, sizeof *made);
  if (made == NULL) return acme_failed(STRIA_OUT_OF_MEMORY, 0, "no memory for a queue");
  made->native = native;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->changed, NULL);
  const int failed = pthread_create(&made->thread, NULL, work, made);
  if (failed != 0) {
    pthread_cond_destroy(&made->changed);
    pthread_mutex_destroy(&made->lock);
    free(made);
    return acme_failed(STRIA_UNAVAILABLE, failed, "no thread for a queue");
  }
  *queue = made;
  return acme_well();
}

acme_result acme_ready_queue_push(acme_ready_queue* queue, void (*run)(void* state), void* state) {
  queue_job* job = malloc(sizeof *job);
  if (job == NULL) return acme_failed(STRIA_OUT_OF_MEMORY, 0, "no memory for a job");
  job->run = run;
  job->state = state;
  job->next = NULL;
  pthread_mutex_lock(&queue->lock);
  if (queue->last != NULL)
    queue->last->next = job;
  else
    queue->first = job;
  queue->last = job;
  pthread_cond_signal(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  return acme_well();
}

void acme_ready_queue_destroy(acme_ready_queue* queue) {
  if (queue == NULL) return;
  pthread_mutex_lock(&queue->lock);
  queue->stop = 1;
  pthread_cond_signal(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  pthread_join(queue->thread, NULL);
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->lock);
  free(queue);
}

void* acme_ready_queue_native(void) { return native_here; }
