// SPDX-License-Identifier: Apache-2.0
#include "memory/map_order_cases.h"

#include <algorithm>

#include "memory/bench.h"
#include "memory/mapped.h"
#include "memory/sentences.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kBytes = 640;

// Ends a mapping of all of a buffer: looks at it, or writes what is then there.
Status use(const Bench& bench, Mapped& mapped, MapMode mode, Bytes& contents, uint32_t seed) {
  if (mode != MapMode::discard)
    STRIA_RETURN_IF_ERROR(
        mapped.holds(contents, fmt::format("the memory of map_{}", name_of(mode))));
  if (mode != MapMode::read) {
    contents = pattern(contents.size(), seed);
    mapped.write(contents);
  }
  STRIA_ASSIGN(const Event ended, mapped.unmap());
  return bench.finish(ended);
}

// ---- what a mapping waits for

void add_wait_cases(CaseMaker& maker) {
  constexpr std::string_view kPutWriters = "Put the buffer's writers into `waits`.";
  for (const MapMode mode : kMapModes) {
    add_bench_case(
        maker, 'M', fmt::format("map.{}.gives_the_address_at_once", name_of(mode)), Level::right,
        sentence_of(MapMode::current), [mode](const Bench& bench) -> Status {
          Bytes contents = pattern(kBytes, 60);
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
          STRIA_ASSIGN(const Event gate, bench.subject().host_event());
          // make() looks at the address.
          STRIA_ASSIGN(Mapped mapped, Mapped::make(bench, mode, buffer, 0, kBytes, list_of(gate)));
          STRIA_RETURN_IF_ERROR(
              bench.stays_open(mapped.ready(), "the event that it waits for is open"));
          STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
          STRIA_RETURN_IF_ERROR(bench.finish(mapped.ready()));
          STRIA_RETURN_IF_ERROR(use(bench, mapped, mode, contents, 61));
          return bench.holds(buffer, contents, "the buffer after its unmap");
        });
    // The writer is queued behind an open event when the buffer is mapped.
    add_bench_case(maker, 'M', fmt::format("map.{}.after_a_queued_fill", name_of(mode)),
                   Level::right, kPutWriters, [mode](const Bench& bench) -> Status {
                     STRIA_ASSIGN(const Buffer buffer, bench.buffer(pattern(kBytes, 62)));
                     STRIA_ASSIGN(const Event gate, bench.subject().host_event());
                     STRIA_ASSIGN(const Event filled, bench.fill(buffer, kBytes, 5, list_of(gate)));
                     STRIA_ASSIGN(Mapped mapped,
                                  Mapped::make(bench, mode, buffer, 0, kBytes, list_of(filled)));
                     STRIA_RETURN_IF_ERROR(
                         bench.stays_open(mapped.ready(), "the fill that it waits for is queued"));
                     STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
                     STRIA_RETURN_IF_ERROR(bench.finish(mapped.ready()));
                     Bytes contents = bytes_of(kBytes, 5);
                     STRIA_RETURN_IF_ERROR(use(bench, mapped, mode, contents, 63));
                     return bench.holds(buffer, contents, "the buffer after its unmap");
                   });
    // A reader's turn comes before what the host writes then.
    add_bench_case(
        maker, 'M', fmt::format("map.{}.after_a_queued_reader", name_of(mode)), Level::right,
        "Put the buffer's users into `waits`.", [mode](const Bench& bench) -> Status {
          Bytes contents = pattern(kBytes, 64);
          const Bytes before = contents;
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
          STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(kBytes)));
          STRIA_ASSIGN(const Event gate, bench.subject().host_event());
          STRIA_ASSIGN(const Event copied, bench.copy(buffer, 0, target, 0, kBytes, list_of(gate)));
          STRIA_ASSIGN(Mapped mapped,
                       Mapped::make(bench, mode, buffer, 0, kBytes, list_of(copied)));
          STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
          STRIA_RETURN_IF_ERROR(bench.finish(mapped.ready()));
          STRIA_RETURN_IF_ERROR(use(bench, mapped, mode, contents, 65));
          STRIA_RETURN_IF_ERROR(bench.holds(target, before, "the copy made before"));
          return bench.holds(buffer, contents, "the buffer after its unmap");
        });
    // Work that the mapping does not wait for has not begun, and will not before the mapping's end.
    add_bench_case(
        maker, 'M', fmt::format("map.{}.beside_blocked_work", name_of(mode)), Level::robust,
        says::kStartsAfterWaits, [mode](const Bench& bench) -> Status {
          Bytes contents = pattern(2 * kBytes, 66);
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
          STRIA_ASSIGN(const Event gate, bench.subject().host_event());
          STRIA_ASSIGN(const Event filled,
                       bench.fill(buffer, kBytes, kBytes, bytes_of(1, 9), list_of(gate)));
          STRIA_ASSIGN(Mapped mapped, Mapped::make(bench, mode, buffer, 0, kBytes));
          STRIA_RETURN_IF_ERROR(bench.finish(mapped.ready())
                                    .with_context("a mapping that waits for nothing, while a fill "
                                                  "of another range waits for an open event"));
          Bytes half(contents.begin(), contents.begin() + kBytes);
          STRIA_RETURN_IF_ERROR(use(bench, mapped, mode, half, 67));
          STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
          STRIA_RETURN_IF_ERROR(bench.finish(filled));
          STRIA_RETURN_IF_ERROR(bench.holds(buffer, half, "the range that was mapped"));
          return bench.holds(buffer, bytes_of(kBytes, 9), "the range that was filled", kBytes);
        });
  }
}

// ---- what waits for an unmap

void add_unmap_cases(CaseMaker& maker) {
  for (const MapMode mode : {MapMode::current, MapMode::discard}) {
    const auto add = [&](std::string_view name,
                         std::function<Status(const Bench&, const Buffer&, const Event& unmapped,
                                              const Bytes& written)>
                             run) {
      add_bench_case(maker, 'M', fmt::format("unmap.{}_then_{}", name_of(mode), name), Level::right,
                     says::kUnmap, [mode, run = std::move(run)](const Bench& bench) -> Status {
                       STRIA_ASSIGN(const Buffer buffer, bench.buffer(pattern(kBytes, 70)));
                       STRIA_ASSIGN(Mapped mapped, map_now(bench, mode, buffer, 0, kBytes));
                       const Bytes written = pattern(kBytes, 71);
                       mapped.write(written);
                       STRIA_ASSIGN(const Event unmapped, mapped.unmap());
                       return run(bench, buffer, unmapped, written);
                     });
    };
    add("copy",
        [](const Bench& bench, const Buffer& buffer, const Event& unmapped,
           const Bytes& written) -> Status {
          STRIA_ASSIGN(const Buffer target, bench.subject().allocate(kBytes));
          STRIA_RETURN_IF_ERROR(
              bench.finish(bench.copy(buffer, 0, target, 0, kBytes, list_of(unmapped))));
          return bench.holds(target, written, "a copy that waited for the unmap");
        });
    add("fill",
        [](const Bench& bench, const Buffer& buffer, const Event& unmapped,
           const Bytes& written) -> Status {
          STRIA_RETURN_IF_ERROR(
              bench.finish(bench.fill(buffer, 100, 33, bytes_of(1, 4), list_of(unmapped))));
          Bytes expected = written;
          std::fill_n(expected.begin() + 100, 33, std::byte{4});
          return bench.holds(buffer, expected, "a fill that waited for the unmap");
        });
    add("map",
        [](const Bench& bench, const Buffer& buffer, const Event& unmapped,
           const Bytes& written) -> Status {
          STRIA_ASSIGN(Mapped again,
                       Mapped::make(bench, MapMode::current, buffer, 0, kBytes, list_of(unmapped)));
          STRIA_RETURN_IF_ERROR(bench.finish(again.ready()));
          STRIA_RETURN_IF_ERROR(again.holds(written, "a mapping that waited for the unmap"));
          return again.end();
        });
    // By hand, without a wait in a list.
    add("look",
        [](const Bench& bench, const Buffer& buffer, const Event& unmapped,
           const Bytes& written) -> Status {
          STRIA_RETURN_IF_ERROR(bench.finish(unmapped));
          return bench.holds(buffer, written, "the buffer after the unmap");
        });
    // Nobody waits for the unmap's event itself; what waits for both is late enough.
    add("two_copies",
        [](const Bench& bench, const Buffer& buffer, const Event& unmapped,
           const Bytes& written) -> Status {
          STRIA_ASSIGN(const Buffer first, bench.subject().allocate(kBytes));
          STRIA_ASSIGN(const Buffer second, bench.subject().allocate(kBytes));
          STRIA_ASSIGN(const Event one, bench.copy(buffer, 0, first, 0, kBytes, list_of(unmapped)));
          STRIA_ASSIGN(const Event two, bench.copy(first, 0, second, 0, kBytes, list_of(one)));
          STRIA_RETURN_IF_ERROR(bench.finish(two));
          return bench.holds(second, written, "a copy of a copy that waited for the unmap");
        });
  }
}

// ---- a range that is mapped again

struct Again {
  uint64_t first_offset, first_bytes, second_offset, second_bytes;
};

// The second mapping is made while the first is open; its own wait ends after the first's unmap.
Status try_again(const Bench& bench, MapMode first_mode, MapMode second_mode, const Again& range,
                 bool first_waits) {
  Bytes contents = pattern(kBytes, 80);
  STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
  STRIA_ASSIGN(const Event first_gate, bench.subject().host_event());
  STRIA_ASSIGN(const Event second_gate, bench.subject().host_event());
  STRIA_ASSIGN(Mapped first,
               Mapped::make(bench, first_mode, buffer, range.first_offset, range.first_bytes,
                            first_waits ? list_of(first_gate) : EventList()));
  if (!first_waits) STRIA_RETURN_IF_ERROR(bench.finish(first.ready()));
  STRIA_ASSIGN(Mapped second, Mapped::make(bench, second_mode, buffer, range.second_offset,
                                           range.second_bytes, list_of(second_gate)));
  const auto part = [&](uint64_t offset, uint64_t bytes) {
    return Bytes(contents.begin() + static_cast<ptrdiff_t>(offset),
                 contents.begin() + static_cast<ptrdiff_t>(offset + bytes));
  };
  STRIA_RETURN_IF_ERROR(bench.subject().signal(first_gate));
  STRIA_RETURN_IF_ERROR(bench.finish(first.ready()).with_context("the first mapping"));
  STRIA_RETURN_IF_ERROR(
      bench.stays_open(second.ready(), "the event that the second mapping waits for is open"));
  Bytes held = part(range.first_offset, range.first_bytes);
  STRIA_RETURN_IF_ERROR(use(bench, first, first_mode, held, 81).with_context("the first mapping"));
  std::copy(held.begin(), held.end(),
            contents.begin() + static_cast<ptrdiff_t>(range.first_offset));
  STRIA_RETURN_IF_ERROR(bench.subject().signal(second_gate));
  STRIA_RETURN_IF_ERROR(bench.finish(second.ready()).with_context("the second mapping"));
  held = part(range.second_offset, range.second_bytes);
  STRIA_RETURN_IF_ERROR(
      use(bench, second, second_mode, held, 82).with_context("the second mapping"));
  std::copy(held.begin(), held.end(),
            contents.begin() + static_cast<ptrdiff_t>(range.second_offset));
  return bench.holds(buffer, contents, "the buffer after both mappings");
}

void add_again_cases(CaseMaker& maker) {
  for (const bool first_waits : {false, true})
    for (const MapMode first : kMapModes)
      for (const MapMode second : kMapModes)
        add_bench_case(maker, 'M',
                       fmt::format("map.again.{}_while_{}_{}", name_of(second), name_of(first),
                                   first_waits ? "waits" : "is_held"),
                       Level::right, says::kMapAgain,
                       [first, second, first_waits](const Bench& bench) -> Status {
                         return try_again(bench, first, second, {0, kBytes, 0, kBytes},
                                          first_waits);
                       });
  struct Part {
    std::string_view name;
    Again range;
  };
  for (const Part& part : {Part{"inside", {0, kBytes, 101, 7}},
                           {"around", {101, 7, 0, kBytes}},
                           {"overlapping_behind", {0, 300, 299, 300}},
                           {"overlapping_before", {299, 300, 0, 300}},
                           {"the_same_odd_range", {13, 77, 13, 77}}})
    add_bench_case(maker, 'M', fmt::format("map.again.{}", part.name), Level::right,
                   says::kMapAgain, [range = part.range](const Bench& bench) -> Status {
                     return try_again(bench, MapMode::current, MapMode::current, range, true);
                   });
  // A row of them, each of which waits for its own event; they may all have the same address.
  for (const MapMode mode : {MapMode::current, MapMode::discard})
    add_bench_case(
        maker, 'M', fmt::format("map.again.ten_in_a_row_{}", name_of(mode)), Level::right,
        "Both may get the same address: they are unmapped in the order in which they came.",
        [mode](const Bench& bench) -> Status {
          Bytes contents = pattern(kBytes, 83);
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
          std::vector<Event> gates;
          std::vector<Mapped> mappings;
          for (int i = 0; i < 10; ++i) {
            STRIA_ASSIGN(Event gate, bench.subject().host_event());
            gates.push_back(std::move(gate));
            STRIA_ASSIGN(Mapped mapped,
                         Mapped::make(bench, mode, buffer, 0, kBytes, list_of(gates.back())));
            mappings.push_back(std::move(mapped));
          }
          for (uint32_t i = 0; i < 10; ++i) {
            STRIA_RETURN_IF_ERROR(bench.subject().signal(gates[i]));
            STRIA_RETURN_IF_ERROR(bench.finish(mappings[i].ready()));
            STRIA_RETURN_IF_ERROR(use(bench, mappings[i], mode, contents, 84 + i)
                                      .with_context(fmt::format("mapping {} of ten", i)));
          }
          return bench.holds(buffer, contents, "the buffer after ten mappings");
        });
}

// ---- mappings that fail

void add_failed_cases(CaseMaker& maker) {
  const Status torn(StatusCode::data_loss, "the event of the suite's own");
  const auto is_torn = [torn](const Bench& bench, const Mapped& mapped) -> Status {
    const Status status = bench.finish(mapped.ready());
    if (status.ok()) return broken("a mapping whose wait failed is done and well");
    if (status.code() == torn.code() && status.message().find(torn.message()) != std::string::npos)
      return Status();
    return broken("a mapping whose wait failed with '{}' fails with '{}'", torn.to_string(),
                  status.to_string());
  };
  for (const MapMode mode : kMapModes)
    for (const bool before : {false, true})
      add_bench_case(
          maker, 'M',
          fmt::format("map.failed.{}{}", name_of(mode), before ? "_before_it_began" : ""),
          Level::right, says::kFailedMapping,
          [mode, before, torn, is_torn](const Bench& bench) -> Status {
            Bytes contents = pattern(kBytes, 90);
            STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
            STRIA_ASSIGN(const Event gate, bench.subject().host_event());
            if (before) STRIA_RETURN_IF_ERROR(bench.subject().signal(gate, torn));
            {
              STRIA_ASSIGN(Mapped mapped,
                           Mapped::make(bench, mode, buffer, 3, kBytes - 7, list_of(gate)));
              if (!before) STRIA_RETURN_IF_ERROR(bench.subject().signal(gate, torn));
              STRIA_RETURN_IF_ERROR(is_torn(bench, mapped));
              STRIA_ASSIGN(const Event ended, mapped.unmap());
              const Status end = bench.finish(ended);
              if (!end.ok() && end.code() != torn.code())
                return broken("the unmap of a mapping that failed fails with another error: {}",
                              end.to_string());
            }
            STRIA_RETURN_IF_ERROR(
                bench.holds(buffer, contents, "a buffer after a mapping that failed"));
            // Its range is free again.
            STRIA_ASSIGN(Mapped again, map_now(bench, mode, buffer, 0, kBytes));
            STRIA_RETURN_IF_ERROR(use(bench, again, mode, contents, 91));
            return bench.holds(buffer, contents, "the buffer after the next mapping");
          });
  add_bench_case(
      maker, 'M', "map.failed.beside_good_ones", Level::right, says::kFailedMapping,
      [torn, is_torn](const Bench& bench) -> Status {
        Bytes contents = pattern(kBytes, 92);
        STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
        STRIA_ASSIGN(const Event gate, bench.subject().host_event());
        STRIA_ASSIGN(Mapped good, map_now(bench, MapMode::current, buffer, 0, 100));
        STRIA_ASSIGN(Mapped bad,
                     Mapped::make(bench, MapMode::discard, buffer, 100, 100, list_of(gate)));
        STRIA_ASSIGN(Mapped other, map_now(bench, MapMode::discard, buffer, 200, 100));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate, torn));
        STRIA_RETURN_IF_ERROR(is_torn(bench, bad));
        for (Mapped* mapped : {&good, &other}) mapped->write(bytes_of(100, 1));
        std::fill_n(contents.begin(), 100, std::byte{1});
        std::fill_n(contents.begin() + 200, 100, std::byte{1});
        STRIA_ASSIGN(const Event bad_end, bad.unmap());
        STRIA_RETURN_IF_ERROR(good.end());
        STRIA_RETURN_IF_ERROR(other.end());
        (void)bench.finish(bad_end);  // may fail
        return bench.holds(buffer, contents, "a buffer with one mapping of three that failed");
      });
}

}  // namespace

void add_memory_map_order_cases(CaseMaker& maker) {
  add_wait_cases(maker);
  add_unmap_cases(maker);
  add_again_cases(maker);
  add_failed_cases(maker);
}

}  // namespace stria::conformance
