// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/end_cases.h"

#include <unistd.h>

#include "lifecycle/session.h"
#include "suite/memory_in_use.h"
#include "suite/process_facts.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kEndsWork =
    "Ends the plugin's work; every other handle has been released and every event is done.";

// From begin to shutdown.
Status life(Subject& subject, Stage stage) {
  Session session(subject);
  STRIA_RETURN_IF_ERROR(session.go_to(stage));
  return session.end();
}

Status lives(Subject& subject, Stage stage, int count) {
  for (int i = 0; i < count; ++i) STRIA_RETURN_IF_ERROR(life(subject, stage));
  return Status();
}

// What ends a moment after the shutdown has a moment's time.
template <typename Good>
bool becomes(Good good) {
  for (int i = 0; i < patience_ms(3000); ++i) {
    if (good()) return true;
    ::usleep(1000);
  }
  return good();
}

// Threads and descriptors are no more after some further lives. What a library under the plugin
// keeps for the whole process is there after the first ones.
Finding leaves_no_more(Subject& subject, Stage stage) {
  STRIA_RETURN_IF_ERROR(lives(subject, stage, 2));
  const int threads = thread_count(), descriptors = descriptor_count();
  constexpr int kLives = 6;
  STRIA_RETURN_IF_ERROR(lives(subject, stage, kLives));
  if (!becomes([&] { return thread_count() <= threads && descriptor_count() <= descriptors; }))
    return Finding::leak(fmt::format(
        "after two shutdowns the process had {} threads and {} descriptors, after {} more {} and "
        "{}",
        threads, descriptors, kLives, thread_count(), descriptor_count()));
  return {};
}

// A leak grows with every life; what is kept for the process, and malloc's own lists for each of
// many threads, do so for a while.
constexpr int kWindows = 4, kLivesInWindow = 6, kFirstLives = 10;
// Of each life: memory that was mapped and not given back, beside the heap.
constexpr uint64_t kMostMapped = uint64_t{64} << 10;

Finding heap_does_not_grow(Subject& subject, Stage stage) {
  // Before a device is open nothing of that is there.
  const uint64_t allowed = stage < Stage::opened ? 1024 : 4096;
  STRIA_RETURN_IF_ERROR(lives(subject, stage, kFirstLives));
  uint64_t least = UINT64_MAX, least_mapped = UINT64_MAX;  // of all windows
  uint64_t before = heap_bytes(), mapped = ProcessFacts::now().mapped_bytes;
  for (int window = 0; window < kWindows; ++window) {
    STRIA_RETURN_IF_ERROR(lives(subject, stage, kLivesInWindow));
    const uint64_t now = heap_bytes(), mapped_now = ProcessFacts::now().mapped_bytes;
    least = std::min(least, now > before ? now - before : 0);
    least_mapped = std::min(least_mapped, mapped_now > mapped ? mapped_now - mapped : 0);
    before = now;
    mapped = mapped_now;
  }
  if (least / kLivesInWindow > allowed)
    return Finding::leak(fmt::format(
        "each driver that was made, used and shut down leaves {} bytes of the heap allocated",
        least / kLivesInWindow));
  if (least_mapped / kLivesInWindow > kMostMapped)
    return Finding::leak(
        fmt::format("each driver that was made, used and shut down leaves {} KiB mapped",
                    (least_mapped / kLivesInWindow) >> 10));
  return {};
}

}  // namespace

void add_end_cases(CaseMaker& maker) {
  for (const Stage stage : kStages) {
    if (stage < Stage::created || stage == Stage::ended) continue;
    Case& c = maker.add('E', fmt::format("shutdown.leaves_nothing_after_{}", name_of(stage)),
                        Level::robust, kEndsWork,
                        [stage](Subject& subject) { return leaves_no_more(subject, stage); });
    c.place = Place::bare;
    c.limit = std::chrono::seconds(120);
  }
  for (const Stage stage :
       {Stage::created, Stage::listed, Stage::opened, Stage::waiting, Stage::failed}) {
    Case& c = maker.add('E', fmt::format("shutdown.heap_does_not_grow_after_{}", name_of(stage)),
                        Level::robust, kEndsWork,
                        [stage](Subject& subject) { return heap_does_not_grow(subject, stage); });
    c.place = Place::bare;
    c.limit = std::chrono::seconds(180);
  }
  Case& c = maker.add(
      'E', "shutdown.ends_every_thread_if_unloadable", Level::robust,
      "Only if it leaves no thread, no `atexit` handler and no `thread_local` with a destructor "
      "behind",
      [](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.manifest().status());
        if (!subject.manifest()->unloadable)
          return Finding::skip("the manifest does not say that it is unloadable");
        // The host's own threads are there before, and stay.
        STRIA_RETURN_IF_ERROR(life(subject, Stage::created));
        subject.host().start_threads();
        const int before = thread_count();
        STRIA_RETURN_IF_ERROR(life(subject, Stage::failed));
        if (!becomes([&] { return thread_count() <= before; }))
          return broken("after driver.shutdown there are {} threads, before driver.create {}",
                        thread_count(), before);
        return {};
      });
  c.place = Place::bare;
  c.limit = std::chrono::seconds(60);
  c.source = "guide/manifest.md";
}

}  // namespace stria::conformance
