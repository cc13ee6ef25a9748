// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/end_cases.h"

#include <malloc.h>
#include <unistd.h>

#include "lifecycle/session.h"
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
  for (int i = 0; i < 3000; ++i) {
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

// Bytes that are allocated, in all arenas.
uint64_t allocated() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// A leak grows with every life; what is kept for the process does not. Below a few bytes of each
// allocation nobody sees it among the caches of a process.
constexpr int kWindows = 4;
constexpr uint64_t kLeastLeak = 256;   // bytes in each life
constexpr uint64_t kAllowed = 16'384;  // bytes in each life that a vendor's library may lose

Finding heap_does_not_grow(Subject& subject, Stage stage, int lives_in_window) {
  STRIA_RETURN_IF_ERROR(lives(subject, stage, lives_in_window));
  uint64_t least = UINT64_MAX;
  uint64_t before = allocated();
  for (int window = 0; window < kWindows; ++window) {
    STRIA_RETURN_IF_ERROR(lives(subject, stage, lives_in_window));
    ::usleep(10'000);
    const uint64_t now = allocated();
    least = std::min(least, now > before ? now - before : 0);
    before = now;
  }
  const uint64_t each = least / static_cast<uint64_t>(lives_in_window);
  if (each >= kLeastLeak && each > kAllowed)
    return Finding::leak(fmt::format(
        "each driver that was made, used and shut down leaves {} bytes of the heap allocated",
        each));
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
  for (const Stage stage : {Stage::created, Stage::opened, Stage::waiting, Stage::failed}) {
    Case& c = maker.add(
        'E', fmt::format("shutdown.heap_does_not_grow_after_{}", name_of(stage)), Level::robust,
        kEndsWork, [stage](Subject& subject) { return heap_does_not_grow(subject, stage, 5); });
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
