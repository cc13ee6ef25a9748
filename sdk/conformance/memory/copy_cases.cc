// SPDX-License-Identifier: Apache-2.0
#include "memory/copy_cases.h"

#include <algorithm>

#include "memory/bench.h"
#include "memory/sentences.h"

namespace stria::conformance {
namespace {

// Bytes behind each range that must stay as they are; before it there are as many as its offset.
constexpr uint64_t kGuard = 67;

struct Range {
  uint64_t from, to, bytes;
};

// Copies between two new buffers that are larger than the range, and looks at all of both.
Status try_copy(const Bench& bench, const Range& range) {
  const Bytes source_bytes = pattern(range.from + range.bytes + kGuard, 1);
  Bytes target_bytes = pattern(range.to + range.bytes + kGuard, 2);
  STRIA_ASSIGN(const Buffer source, bench.buffer(source_bytes));
  STRIA_ASSIGN(const Buffer target, bench.buffer(target_bytes));
  STRIA_RETURN_IF_ERROR(
      bench.finish(bench.copy(source, range.from, target, range.to, range.bytes)));
  std::copy_n(source_bytes.begin() + static_cast<ptrdiff_t>(range.from), range.bytes,
              target_bytes.begin() + static_cast<ptrdiff_t>(range.to));
  const std::string what =
      fmt::format("copy of {} bytes from {} to {}", range.bytes, range.from, range.to);
  STRIA_RETURN_IF_ERROR(bench.holds(target, target_bytes, what + ": the target"));
  return bench.holds(source, source_bytes, what + ": the source");
}

void add_range_cases(CaseMaker& maker) {
  struct Offsets {
    uint64_t from, to;
  };
  static constexpr Offsets kOffsets[] = {{0, 0},   {1, 0},   {0, 1},  {2, 2},   {3, 5},
                                         {4, 8},   {7, 2},   {8, 16}, {13, 64}, {63, 65},
                                         {100, 3}, {256, 1}, {5, 512}};
  for (const uint64_t bytes : {1,  2,  3,  4,  5,  7,   8,   9,   12,   15,   16,   17,   31,
                               32, 33, 63, 64, 65, 127, 255, 257, 1000, 1023, 4095, 4096, 4097})
    add_bench_case(maker, 'M', fmt::format("copy.bytes_{}", bytes), Level::right, says::kCopy,
                   [bytes](const Bench& bench) -> Status {
                     for (const Offsets& at : kOffsets)
                       STRIA_RETURN_IF_ERROR(try_copy(bench, {at.from, at.to, bytes}));
                     return Status();
                   });
  for (const Offsets& at : {Offsets{0, 3},
                            {1, 1},
                            {2, 7},
                            {4, 4},
                            {6, 2},
                            {9, 40},
                            {16, 17},
                            {31, 32},
                            {64, 64},
                            {65, 129},
                            {255, 256},
                            {4095, 4097}})
    add_bench_case(maker, 'M', fmt::format("copy.from_{}_to_{}", at.from, at.to), Level::right,
                   says::kCopy, [at](const Bench& bench) -> Status {
                     for (const uint64_t bytes : {1, 2, 4, 6, 11, 16, 61, 129})
                       STRIA_RETURN_IF_ERROR(try_copy(bench, {at.from, at.to, bytes}));
                     return Status();
                   });
  for (const uint64_t bytes : {65'536, 65'541, 1'048'576, 1'048'579, 4'194'305})
    add_bench_case(maker, 'M', fmt::format("copy.large_{}", bytes), Level::right, says::kCopy,
                   [bytes](const Bench& bench) -> Status {
                     STRIA_RETURN_IF_ERROR(try_copy(bench, {0, 0, bytes}));
                     return try_copy(bench, {3, 17, bytes});
                   });
  add_bench_case(maker, 'M', "copy.large_64_MiB", Level::right, says::kCopy,
                 [](const Bench& bench) -> Status {
                   return try_copy(bench, {1, 2, (uint64_t{64} << 20) + 5});
                 })
      .limit = std::chrono::seconds(40);
}

// Within one buffer of 4096 bytes.
void add_own_case(CaseMaker& maker, std::string_view name, Range range) {
  add_bench_case(maker, 'M', fmt::format("copy.within.{}", name), Level::right, says::kCopy,
                 [range](const Bench& bench) -> Status {
                   Bytes contents = pattern(4096, 4);
                   STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
                   STRIA_RETURN_IF_ERROR(
                       bench.finish(bench.copy(buffer, range.from, buffer, range.to, range.bytes)));
                   std::copy_n(contents.begin() + static_cast<ptrdiff_t>(range.from), range.bytes,
                               contents.begin() + static_cast<ptrdiff_t>(range.to));
                   return bench.holds(buffer, contents, "the buffer");
                 });
}

void add_own_cases(CaseMaker& maker) {
  add_own_case(maker, "forward", {0, 2048, 1000});
  add_own_case(maker, "backward", {2048, 0, 1000});
  add_own_case(maker, "adjacent_behind", {0, 2048, 2048});
  add_own_case(maker, "adjacent_before", {2048, 0, 2048});
  add_own_case(maker, "adjacent_odd", {1001, 0, 1001});
  add_own_case(maker, "one_byte_on", {16, 17, 1});
  add_own_case(maker, "one_byte_back", {17, 16, 1});
  add_own_case(maker, "odd_distance", {3, 1034, 1031});
}

// The ends of buffers, in both directions.
void add_end_cases(CaseMaker& maker) {
  struct End {
    std::string_view name;
    Range range;
  };
  for (const End& end : {End{"first_byte_to_last", {0, 999, 1}},
                         {"last_byte_to_first", {999, 0, 1}},
                         {"first_half_to_second", {0, 500, 500}},
                         {"all", {0, 0, 1000}},
                         {"tail", {993, 993, 7}}})
    add_bench_case(
        maker, 'M', fmt::format("copy.ends.{}", end.name), Level::right, says::kCopy,
        [range = end.range](const Bench& bench) -> Status {
          const Bytes source_bytes = pattern(1000, 5);
          Bytes target_bytes = pattern(1000, 6);
          STRIA_ASSIGN(const Buffer source, bench.buffer(source_bytes));
          STRIA_ASSIGN(const Buffer target, bench.buffer(target_bytes));
          STRIA_RETURN_IF_ERROR(
              bench.finish(bench.copy(source, range.from, target, range.to, range.bytes)));
          std::copy_n(source_bytes.begin() + static_cast<ptrdiff_t>(range.from), range.bytes,
                      target_bytes.begin() + static_cast<ptrdiff_t>(range.to));
          return bench.holds(target, target_bytes, "the target");
        });
}

void add_many_cases(CaseMaker& maker) {
  add_bench_case(
      maker, 'M', "copy.byte_by_byte", Level::right, says::kCopy, [](const Bench& bench) -> Status {
        constexpr uint64_t kBytes = 200;
        Bytes contents = pattern(kBytes, 7);
        STRIA_ASSIGN(const Buffer source, bench.buffer(contents));
        STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(kBytes)));
        for (uint64_t i = 0; i < kBytes; ++i)
          STRIA_RETURN_IF_ERROR(bench.finish(bench.copy(source, i, target, kBytes - 1 - i, 1)));
        std::reverse(contents.begin(), contents.end());
        return bench.holds(target, contents, "bytes that were copied one by one");
      });
  // Each hop at other offsets; the order is the waits' alone.
  add_bench_case(maker, 'M', "copy.through_ten_buffers", Level::right, says::kCopy,
                 [](const Bench& bench) -> Status {
                   constexpr uint64_t kBytes = 777;
                   const Bytes contents = pattern(kBytes, 8);
                   STRIA_ASSIGN(Buffer first, bench.buffer(contents));
                   std::vector<Buffer> buffers;
                   buffers.push_back(std::move(first));
                   std::vector<Event> events;
                   for (uint64_t i = 1; i <= 10; ++i) {
                     STRIA_ASSIGN(Buffer next, bench.subject().allocate(kBytes + i));
                     buffers.push_back(std::move(next));
                     const EventList waits = events.empty() ? EventList() : list_of(events.back());
                     STRIA_ASSIGN(Event done,
                                  bench.copy(buffers[i - 1], i - 1, buffers[i], i, kBytes, waits));
                     events.push_back(std::move(done));
                   }
                   STRIA_RETURN_IF_ERROR(bench.finish(events.back()));
                   return bench.holds(buffers.back(), contents, "the last of ten buffers", 10);
                 });
  // Neighbours do not overlap: nothing orders them, and each keeps its bytes.
  for (const uint64_t bytes : {1, 3, 4, 5, 16, 61})
    add_bench_case(
        maker, 'M', fmt::format("copy.neighbours_at_once_{}", bytes), Level::robust,
        says::kMayOverlap,
        [bytes](const Bench& bench) -> Status {
          constexpr uint64_t kCopies = 60;
          const Bytes contents = pattern(kCopies * bytes, 9);
          STRIA_ASSIGN(const Buffer source, bench.buffer(contents));
          STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(contents.size())));
          std::vector<Event> events;
          for (uint64_t i = 0; i < kCopies; ++i) {
            STRIA_ASSIGN(Event done, bench.copy(source, i * bytes, target, i * bytes, bytes, {},
                                                i % bench.executors()));
            events.push_back(std::move(done));
          }
          for (const Event& event : events) STRIA_RETURN_IF_ERROR(bench.finish(event));
          return bench.holds(target, contents, "ranges side by side, copied at once");
        },
        2);
  add_bench_case(
      maker, 'M', "copy.one_source_at_once", Level::robust, says::kMayOverlap,
      [](const Bench& bench) -> Status {
        const Bytes contents = pattern(3000, 10);
        STRIA_ASSIGN(const Buffer source, bench.buffer(contents));
        std::vector<Buffer> targets;
        std::vector<Event> events;
        for (size_t i = 0; i < 12; ++i) {
          STRIA_ASSIGN(Buffer target, bench.subject().allocate(contents.size()));
          STRIA_ASSIGN(Event done, bench.copy(source, 0, target, 0, contents.size(), {},
                                              i % bench.executors()));
          targets.push_back(std::move(target));
          events.push_back(std::move(done));
        }
        for (const Event& event : events) STRIA_RETURN_IF_ERROR(bench.finish(event));
        for (const Buffer& target : targets)
          STRIA_RETURN_IF_ERROR(bench.holds(target, contents, "one of twelve copies"));
        return bench.holds(source, contents, "the source of twelve copies");
      },
      2);
}

}  // namespace

void add_memory_copy_cases(CaseMaker& maker) {
  add_range_cases(maker);
  add_own_cases(maker);
  add_end_cases(maker);
  add_many_cases(maker);
}

}  // namespace stria::conformance
