// SPDX-License-Identifier: Apache-2.0
#include "memory/fill_cases.h"

#include <algorithm>
#include <cstring>

#include "memory/bench.h"
#include "memory/sentences.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kGuard = 67;  // bytes behind the range, which must stay as they are
constexpr uint64_t kPatternSizes[] = {1, 2, 4, 8, 16};

void repeat(Bytes& into, uint64_t offset, uint64_t bytes, const Bytes& repeated) {
  for (uint64_t i = 0; i < bytes; ++i) into[offset + i] = repeated[i % repeated.size()];
}

// Fills a part of a new buffer and looks at all of it.
Status try_fill(const Bench& bench, uint64_t offset, uint64_t times, const Bytes& repeated) {
  const uint64_t bytes = times * repeated.size();
  Bytes contents = pattern(offset + bytes + kGuard, 11);
  STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
  STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(buffer, offset, bytes, repeated)));
  repeat(contents, offset, bytes, repeated);
  return bench.holds(
      buffer, contents,
      fmt::format("{} bytes at {} filled with a pattern of {}", bytes, offset, repeated.size()));
}

void add_offset_cases(CaseMaker& maker) {
  for (const uint64_t size : kPatternSizes) {
    for (const uint64_t offset : {0, 1, 2, 3, 4, 6, 8, 12, 15, 16, 33, 64, 4097})
      add_bench_case(maker, 'M', fmt::format("fill.pattern_{}.at_{}", size, offset), Level::right,
                     says::kFill, [size, offset](const Bench& bench) -> Status {
                       const Bytes repeated = pattern(size, 12);
                       for (const uint64_t times : {1, 2, 3, 4, 5, 16, 17, 127, 256})
                         STRIA_RETURN_IF_ERROR(try_fill(bench, offset, times, repeated));
                       return Status();
                     });
    add_bench_case(maker, 'M', fmt::format("fill.pattern_{}.large", size), Level::right,
                   says::kFill, [size](const Bench& bench) -> Status {
                     const Bytes repeated = pattern(size, 13);
                     // Past every buffer in which a driver might lay out the pattern first.
                     STRIA_RETURN_IF_ERROR(try_fill(bench, 0, 1'048'576 / size, repeated));
                     return try_fill(bench, 5, 2'200'000 / size + 1, repeated);
                   });
  }
}

// Patterns that a driver may have a shorter way for: of one byte throughout, of two equal halves,
// with one byte that differs.
void add_shape_cases(CaseMaker& maker) {
  for (const uint64_t size : kPatternSizes)
    add_bench_case(maker, 'M', fmt::format("fill.pattern_{}.shapes", size), Level::right,
                   says::kFill, [size](const Bench& bench) -> Status {
                     std::vector<Bytes> shapes = {bytes_of(size, 0), bytes_of(size, 255),
                                                  bytes_of(size, 90)};
                     for (uint64_t period = 1; period < size; period *= 2) {
                       Bytes halves(size);
                       repeat(halves, 0, size, pattern(period, 14));
                       shapes.push_back(halves);
                       // Equal but for the last byte.
                       halves.back() ^= std::byte{128};
                       shapes.push_back(halves);
                     }
                     for (const Bytes& shape : shapes)
                       for (const uint64_t offset : {0, 4, 7})
                         STRIA_RETURN_IF_ERROR(try_fill(bench, offset, 37, shape));
                     return Status();
                   });
}

// The pattern is read before the call returns: the work starts long after.
void add_copied_cases(CaseMaker& maker) {
  for (const uint64_t size : kPatternSizes) {
    add_bench_case(maker, 'M', fmt::format("fill.pattern_{}.is_copied", size), Level::right,
                   says::kFill, [size](const Bench& bench) -> Status {
                     STRIA_ASSIGN(const Event gate, bench.subject().host_event());
                     STRIA_ASSIGN(const Buffer buffer, bench.buffer(bytes_of(size * 50, 1)));
                     const Bytes meant = pattern(size, 15);
                     Bytes given = meant;
                     STRIA_ASSIGN(const Event done,
                                  bench.fill(buffer, 0, size * 50, given, list_of(gate)));
                     std::fill(given.begin(), given.end(), std::byte{0});
                     STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
                     STRIA_RETURN_IF_ERROR(bench.finish(done));
                     Bytes expected(size * 50);
                     repeat(expected, 0, expected.size(), meant);
                     return bench.holds(buffer, expected,
                                        "a fill whose pattern was overwritten after the call");
                   });
    // Bytes have no alignment, whatever their number.
    add_bench_case(
        maker, 'M', fmt::format("fill.pattern_{}.from_odd_address", size), Level::right,
        says::kFill, [size](const Bench& bench) -> Status {
          const Bytes repeated = pattern(size, 16);
          for (const size_t shift : {1, 2, 3, 5, 7}) {
            alignas(16) std::byte room[32];
            std::memcpy(room + shift, repeated.data(), size);
            Bytes contents = pattern(size * 20 + kGuard, 17);
            STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
            STRIA_RETURN_IF_ERROR(
                bench.finish(bench.fill(buffer, 3, size * 20, {room + shift, size})));
            repeat(contents, 3, size * 20, repeated);
            STRIA_RETURN_IF_ERROR(bench.holds(
                buffer, contents,
                fmt::format("a fill whose pattern lies {} behind an even address", shift)));
          }
          return Status();
        });
    add_bench_case(
        maker, 'M', fmt::format("fill.pattern_{}.at_ends", size), Level::right, says::kFill,
        [size](const Bench& bench) -> Status {
          constexpr uint64_t kBytes = 1008;
          const Bytes repeated = pattern(size, 18);
          Bytes contents = pattern(kBytes, 19);
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
          for (const uint64_t offset : {uint64_t{0}, kBytes - size}) {
            STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(buffer, offset, size, repeated)));
            repeat(contents, offset, size, repeated);
            STRIA_RETURN_IF_ERROR(bench.holds(buffer, contents, "one pattern at an end"));
          }
          STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(buffer, 0, kBytes, repeated)));
          repeat(contents, 0, kBytes, repeated);
          return bench.holds(buffer, contents, "a buffer filled as a whole");
        });
  }
}

void add_many_cases(CaseMaker& maker) {
  for (const uint64_t size : kPatternSizes)
    add_bench_case(
        maker, 'M', fmt::format("fill.neighbours_at_once_{}", size), Level::robust,
        says::kMayOverlap,
        [size](const Bench& bench) -> Status {
          constexpr uint64_t kFills = 60;
          Bytes contents = pattern(1 + kFills * size + kGuard, 20);
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
          std::vector<Event> events;
          for (uint64_t i = 0; i < kFills; ++i) {
            const Bytes repeated = pattern(size, static_cast<uint32_t>(100 + i));
            STRIA_ASSIGN(Event done, bench.fill(buffer, 1 + i * size, size, repeated, {},
                                                i % bench.executors()));
            repeat(contents, 1 + i * size, size, repeated);
            events.push_back(std::move(done));
          }
          for (const Event& event : events) STRIA_RETURN_IF_ERROR(bench.finish(event));
          return bench.holds(buffer, contents, "ranges side by side, filled at once");
        },
        2);
  add_bench_case(
      maker, 'M', "fill.one_over_another", Level::right, says::kFill,
      [](const Bench& bench) -> Status {
        Bytes contents(500);
        STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
        for (uint64_t i = 0; i < 40; ++i) {
          const Bytes repeated = pattern(kPatternSizes[i % 5], static_cast<uint32_t>(200 + i));
          const uint64_t bytes = 16 * (1 + i % 7), offset = (i * 53) % (500 - bytes);
          STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(buffer, offset, bytes, repeated)));
          repeat(contents, offset, bytes, repeated);
        }
        return bench.holds(buffer, contents, "forty fills one after the other");
      });
}

}  // namespace

void add_memory_fill_cases(CaseMaker& maker) {
  add_offset_cases(maker);
  add_shape_cases(maker);
  add_copied_cases(maker);
  add_many_cases(maker);
}

}  // namespace stria::conformance
