// SPDX-License-Identifier: Apache-2.0
#include "memory/map_cases.h"

#include <algorithm>

#include "memory/bench.h"
#include "memory/mapped.h"
#include "memory/sentences.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kBytes = 8200;

auto at(Bytes& bytes, uint64_t offset) { return bytes.begin() + static_cast<ptrdiff_t>(offset); }

// Maps a part of a buffer, looks at it, writes it as the mode allows, and looks at the whole.
Status try_map(const Bench& bench, MapMode mode, uint64_t size, uint64_t offset, uint64_t bytes) {
  Bytes contents = pattern(size, 31);
  STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
  STRIA_ASSIGN(Mapped mapped, map_now(bench, mode, buffer, offset, bytes));
  const std::string what =
      fmt::format("map_{} of {} bytes at {} of {}", name_of(mode), bytes, offset, size);
  if (mode != MapMode::discard)
    STRIA_RETURN_IF_ERROR(
        mapped.holds(std::span(contents).subspan(offset, bytes), what + ": its memory"));
  if (mode != MapMode::read) {
    const Bytes written = pattern(bytes, 32);
    mapped.write(written);
    std::copy(written.begin(), written.end(), at(contents, offset));
  }
  STRIA_RETURN_IF_ERROR(mapped.end());
  const Status after = bench.holds(buffer, contents, what + ": the buffer after its unmap");
  return mode == MapMode::read ? after : with_rule(after, rule_of(Slot::buffer_unmap));
}

void add_range_cases(CaseMaker& maker) {
  struct Range {
    uint64_t offset, bytes;
  };
  for (const MapMode mode : kMapModes) {
    for (const Range& range : {Range{0, kBytes},
                               {0, 1},
                               {1, 1},
                               {3, 5},
                               {4, 4},
                               {7, 64},
                               {16, 16},
                               {63, 2},
                               {64, 64},
                               {100, 1000},
                               {4095, 2},
                               {4096, 4096},
                               {kBytes - 1, 1},
                               {kBytes / 2 + 1, kBytes / 2 - 1}})
      add_bench_case(maker, 'M',
                     fmt::format("map.{}.at_{}_bytes_{}", name_of(mode), range.offset, range.bytes),
                     Level::right, sentence_of(mode), [mode, range](const Bench& bench) -> Status {
                       return try_map(bench, mode, kBytes, range.offset, range.bytes);
                     });
    add_bench_case(maker, 'M', fmt::format("map.{}.large", name_of(mode)), Level::right,
                   sentence_of(mode), [mode](const Bench& bench) -> Status {
                     STRIA_RETURN_IF_ERROR(try_map(bench, mode, 5'000'001, 0, 5'000'001));
                     return try_map(bench, mode, 5'000'001, 1, 4'999'999);
                   });
    add_bench_case(maker, 'M', fmt::format("map.{}.often", name_of(mode)), Level::right,
                   sentence_of(mode), [mode](const Bench& bench) -> Status {
                     for (uint64_t i = 0; i < 100; ++i)
                       STRIA_RETURN_IF_ERROR(try_map(bench, mode, 300, i, 100 + i % 7));
                     return Status();
                   });
  }
}

void add_write_cases(CaseMaker& maker) {
  const std::string_view current = sentence_of(MapMode::current);
  add_bench_case(maker, 'M', "map.current.writes_nothing", Level::right, current,
                 [](const Bench& bench) -> Status {
                   const Bytes contents = pattern(500, 33);
                   STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
                   STRIA_ASSIGN(Mapped mapped, map_now(bench, MapMode::current, buffer, 3, 400));
                   STRIA_RETURN_IF_ERROR(mapped.end());
                   return bench.holds(buffer, contents, "a buffer that was mapped and not written");
                 });
  add_bench_case(maker, 'M', "map.current.writes_some", Level::right, current,
                 [](const Bench& bench) -> Status {
                   Bytes contents = pattern(500, 34);
                   STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
                   STRIA_ASSIGN(Mapped mapped, map_now(bench, MapMode::current, buffer, 3, 400));
                   for (const uint64_t i : {0, 1, 17, 64, 255, 399})
                     contents[3 + i] = mapped.memory()[i] = static_cast<std::byte>(i + 1);
                   STRIA_RETURN_IF_ERROR(mapped.end());
                   return bench.holds(buffer, contents, "a buffer of which six bytes were written");
                 });
  // One bit of one byte, wherever it is: who compares must compare all.
  add_bench_case(
      maker, 'M', "map.current.writes_one_bit", Level::right, current,
      [](const Bench& bench) -> Status {
        Bytes contents = pattern(kBytes, 39);
        STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
        int bit = 0;
        for (const uint64_t at :
             {uint64_t{0}, uint64_t{1}, uint64_t{63}, uint64_t{64}, uint64_t{65}, uint64_t{300},
              uint64_t{4095}, uint64_t{4096}, kBytes / 2, kBytes - 64, kBytes - 1}) {
          STRIA_ASSIGN(Mapped mapped, map_now(bench, MapMode::current, buffer, 0, kBytes));
          contents[at] ^= std::byte{1} << (bit++ % 8);
          mapped.memory()[at] = contents[at];
          STRIA_RETURN_IF_ERROR(mapped.end());
          STRIA_RETURN_IF_ERROR(bench.holds(
              buffer, contents, fmt::format("a buffer of which byte {} was written", at)));
        }
        return Status();
      });
  for (const MapMode mode : {MapMode::current, MapMode::discard})
    add_bench_case(maker, 'M', fmt::format("map.{}.writes_from_the_end", name_of(mode)),
                   Level::right, sentence_of(mode), [mode](const Bench& bench) -> Status {
                     Bytes contents = pattern(500, 35);
                     const Bytes written = pattern(400, 36);
                     STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
                     STRIA_ASSIGN(Mapped mapped, map_now(bench, mode, buffer, 5, 400));
                     for (uint64_t i = written.size(); i-- > 0;) mapped.memory()[i] = written[i];
                     STRIA_RETURN_IF_ERROR(mapped.end());
                     std::copy(written.begin(), written.end(), at(contents, 5));
                     return bench.holds(buffer, contents, "a buffer written from its end on");
                   });
  add_bench_case(maker, 'M', "map.current.reads_what_it_wrote", Level::right, current,
                 [](const Bench& bench) -> Status {
                   STRIA_ASSIGN(const Buffer buffer, bench.buffer(pattern(500, 37)));
                   STRIA_ASSIGN(Mapped mapped, map_now(bench, MapMode::current, buffer, 0, 500));
                   const Bytes written = pattern(500, 38);
                   mapped.write(written);
                   STRIA_RETURN_IF_ERROR(mapped.holds(written, "memory that was written"));
                   STRIA_RETURN_IF_ERROR(mapped.end());
                   STRIA_ASSIGN(Mapped again, map_now(bench, MapMode::current, buffer, 0, 500));
                   STRIA_RETURN_IF_ERROR(again.holds(written, "the next mapping's memory"));
                   return again.end();
                 });
  // Each mode after each other.
  for (const MapMode first : kMapModes)
    for (const MapMode second : kMapModes)
      add_bench_case(maker, 'M', fmt::format("map.{}.after_{}", name_of(second), name_of(first)),
                     Level::right, sentence_of(second),
                     [first, second](const Bench& bench) -> Status {
                       Bytes contents = pattern(256, 39);
                       STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
                       for (const MapMode mode : {first, second}) {
                         STRIA_ASSIGN(Mapped mapped, map_now(bench, mode, buffer, 1, 254));
                         if (mode != MapMode::discard)
                           STRIA_RETURN_IF_ERROR(mapped.holds(std::span(contents).subspan(1, 254),
                                                              "a mapping's memory"));
                         if (mode != MapMode::read) {
                           const Bytes written = pattern(254, mode == first ? 40 : 41);
                           mapped.write(written);
                           std::copy(written.begin(), written.end(), at(contents, 1));
                         }
                         STRIA_RETURN_IF_ERROR(mapped.end());
                       }
                       return bench.holds(buffer, contents, "the buffer after both mappings");
                     });
}

// ---- several at once

enum class Order { as_mapped, backward, mixed };
constexpr std::string_view kOrders[] = {"as_mapped", "backward", "mixed"};

// Ranges without a gap between them, of odd sizes, mapped at the same time.
Status try_several(const Bench& bench, size_t count, Order order, bool all_modes) {
  std::vector<uint64_t> begins = {1};
  for (size_t i = 0; i < count; ++i) begins.push_back(begins.back() + 1 + i * 5 % 23);
  Bytes contents = pattern(begins.back() + 3, 42);
  STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
  std::vector<Mapped> mappings;
  std::vector<MapMode> modes;
  for (size_t i = 0; i < count; ++i) {
    modes.push_back(all_modes ? kMapModes[i % 2] : MapMode::current);
    STRIA_ASSIGN(Mapped mapped,
                 Mapped::make(bench, modes[i], buffer, begins[i], begins[i + 1] - begins[i]));
    mappings.push_back(std::move(mapped));
  }
  for (const Mapped& mapped : mappings) STRIA_RETURN_IF_ERROR(bench.finish(mapped.ready()));
  for (size_t i = 0; i < count; ++i) {
    const std::span<const std::byte> mine = mappings[i].memory();
    for (size_t k = 0; k < i; ++k) {
      const std::span<const std::byte> other = mappings[k].memory();
      if (mine.data() < other.data() + other.size() && other.data() < mine.data() + mine.size())
        return broken_rule(rule_of(Slot::buffer_map_current),
                           "mappings {} and {} of one buffer, side by side, share memory", k, i);
    }
    if (modes[i] == MapMode::current)
      STRIA_RETURN_IF_ERROR(mappings[i].holds(std::span(contents).subspan(begins[i], mine.size()),
                                              fmt::format("mapping {} of {}", i, count)));
  }
  for (size_t i = 0; i < count; ++i) {
    const Bytes written = pattern(mappings[i].memory().size(), static_cast<uint32_t>(43 + i));
    mappings[i].write(written);
    std::copy(written.begin(), written.end(), at(contents, begins[i]));
  }
  std::vector<Event> ends;
  for (size_t n = 0; n < count; ++n) {
    // 7 has no common divisor with any of the counts but itself, which is not among them.
    const size_t i = order == Order::as_mapped  ? n
                     : order == Order::backward ? count - 1 - n
                                                : (n * 7 + 3) % count;
    STRIA_ASSIGN(Event ended, mappings[i].unmap());
    ends.push_back(std::move(ended));
  }
  for (const Event& end : ends) STRIA_RETURN_IF_ERROR(bench.finish(end));
  return bench.holds(buffer, contents, "the buffer after all mappings");
}

void add_several_cases(CaseMaker& maker) {
  for (const size_t count : {2, 5, 40})
    for (const Order order : {Order::as_mapped, Order::backward, Order::mixed})
      for (const bool all_modes : {false, true})
        add_bench_case(maker, 'M',
                       fmt::format("map.several.{}_{}_unmapped_{}", count,
                                   all_modes ? "of_both_modes" : "current",
                                   kOrders[static_cast<size_t>(order)]),
                       Level::right, says::kHoldsRange,
                       [count, order, all_modes](const Bench& bench) -> Status {
                         return try_several(bench, count, order, all_modes);
                       });
}

// ---- who only reads

void add_reader_cases(CaseMaker& maker) {
  struct Range {
    uint64_t offset, bytes;
  };
  struct Readers {
    std::string_view name;
    std::vector<Range> ranges;
  };
  for (const Readers& readers : {Readers{"same", {{3, 100}, {3, 100}}},
                                 {"nested", {{0, 300}, {7, 20}, {8, 3}}},
                                 {"crossing", {{0, 150}, {100, 150}, {201, 99}}},
                                 {"begin_and_whole", {{0, 1}, {0, 300}}},
                                 {"ten_of_all", std::vector<Range>(10, {0, 300})}})
    for (const bool backward : {false, true})
      add_bench_case(
          maker, 'M',
          fmt::format("map.read.overlapping_{}{}", readers.name, backward ? "_backward" : ""),
          Level::right, says::kReadersOverlap,
          [ranges = readers.ranges, backward](const Bench& bench) -> Status {
            const Bytes contents = pattern(300, 50);
            STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
            std::vector<Mapped> mappings;
            for (const Range& range : ranges) {
              STRIA_ASSIGN(Mapped mapped,
                           map_now(bench, MapMode::read, buffer, range.offset, range.bytes));
              mappings.push_back(std::move(mapped));
            }
            for (size_t n = 0; n < ranges.size(); ++n) {
              const size_t i = backward ? ranges.size() - 1 - n : n;
              STRIA_RETURN_IF_ERROR(
                  mappings[i].holds(std::span(contents).subspan(ranges[i].offset, ranges[i].bytes),
                                    fmt::format("reader {} of {}", i, ranges.size())));
              STRIA_RETURN_IF_ERROR(mappings[i].end());
            }
            return bench.holds(buffer, contents, "a buffer that was only read");
          });
  add_bench_case(maker, 'M', "map.read.beside_a_writer", Level::right, says::kHoldsRange,
                 [](const Bench& bench) -> Status {
                   Bytes contents = pattern(300, 51);
                   STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
                   STRIA_ASSIGN(Mapped reader, map_now(bench, MapMode::read, buffer, 0, 151));
                   STRIA_ASSIGN(Mapped writer, map_now(bench, MapMode::current, buffer, 151, 149));
                   const Bytes written = pattern(149, 52);
                   writer.write(written);
                   STRIA_RETURN_IF_ERROR(writer.end());
                   STRIA_RETURN_IF_ERROR(reader.holds(std::span(contents).first(151),
                                                      "a reader's memory beside a writer"));
                   STRIA_RETURN_IF_ERROR(reader.end());
                   std::copy(written.begin(), written.end(), at(contents, 151));
                   return bench.holds(buffer, contents, "the buffer after both");
                 });
  // What the device writes while the host still looks at what it has read stays.
  add_bench_case(maker, 'M', "map.read.takes_nothing_back", Level::right,
                 sentence_of(MapMode::read), [](const Bench& bench) -> Status {
                   STRIA_ASSIGN(const Buffer buffer, bench.buffer(pattern(300, 53)));
                   STRIA_ASSIGN(Mapped reader, map_now(bench, MapMode::read, buffer, 0, 300));
                   STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(buffer, 300, 6)));
                   STRIA_RETURN_IF_ERROR(reader.end());
                   return bench.holds(buffer, bytes_of(300, 6),
                                      "a buffer that was filled while it was mapped by map_read");
                 });
}

}  // namespace

void add_memory_map_cases(CaseMaker& maker) {
  add_range_cases(maker);
  add_write_cases(maker);
  add_several_cases(maker);
  add_reader_cases(maker);
}

}  // namespace stria::conformance
