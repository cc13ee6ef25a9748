// SPDX-License-Identifier: Apache-2.0
#include "events/order_cases.h"

#include <algorithm>

#include "events/sentences.h"
#include "events/trial.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kBytes = 400;

// ---- work of one kind after work of another, on the same buffer

enum class Before { fill, copy, unmap, end };
constexpr Before kBefore[] = {Before::fill, Before::copy, Before::unmap, Before::end};
constexpr std::string_view kBeforeNames[] = {"fill", "copy", "unmap", "end_of_fill"};

// What writes the buffer first; all but an unmap wait for `gate`.
struct First {
  Buffer source;
  Event work;
  Event done;  // what to wait for; empty: `work`
  Bytes contents;
  const Event& event() const { return done ? done : work; }
};

Result<First> begin_first(const Bench& bench, Before before, const Buffer& buffer,
                          const Event& gate) {
  First first;
  if (before == Before::unmap) {
    first.contents = pattern(kBytes, 310);
    STRIA_ASSIGN(Mapped mapped, map_now(bench, MapMode::discard, buffer, 0, kBytes));
    mapped.write(first.contents);
    STRIA_ASSIGN(first.work, mapped.unmap());
    return first;
  }
  if (before == Before::copy) {
    first.contents = pattern(kBytes, 311);
    STRIA_ASSIGN(first.source, bench.buffer(first.contents));
    STRIA_ASSIGN(first.work, bench.copy(first.source, 0, buffer, 0, kBytes, list_of(gate)));
    return first;
  }
  first.contents = bytes_of(kBytes, 0x21);
  STRIA_ASSIGN(first.work, bench.fill(buffer, kBytes, 0x21, list_of(gate)));
  if (before == Before::end) {
    STRIA_ASSIGN(first.done, bench.end_of(first.work));
  }
  return first;
}

Status try_order(const Bench& bench, Before before, Op op) {
  const size_t on = bench.executors() - 1;
  STRIA_ASSIGN(const Event gate, bench.subject().host_event());
  STRIA_ASSIGN(const Buffer buffer, bench.buffer(pattern(kBytes, 312)));
  STRIA_ASSIGN(const Buffer other, bench.buffer(Bytes(kBytes)));
  STRIA_ASSIGN(const First first, begin_first(bench, before, buffer, gate));
  const EventList waits = list_of(first.event());
  Event second;
  std::optional<Mapped> mapped;
  Bytes expected = first.contents;  // of `buffer`, in the end
  if (op == Op::fill) {
    // A part: the rest shows that the first was done, and the part that it was done before.
    STRIA_ASSIGN(second, bench.fill(buffer, 7, 200, bytes_of(1, 0x54), waits, on));
    std::fill_n(expected.begin() + 7, 200, std::byte{0x54});
  } else if (op == Op::copy) {
    STRIA_ASSIGN(second, bench.copy(buffer, 0, other, 0, kBytes, waits, on));
  } else {
    STRIA_ASSIGN(Mapped made, Mapped::make(bench, mode_of(op), buffer, 0, kBytes, waits));
    mapped.emplace(std::move(made));
  }
  const Event& done = mapped ? mapped->ready() : second;
  if (before != Before::unmap)
    STRIA_RETURN_IF_ERROR(
        bench.stays_open(done, fmt::format("the {} that it waits for has not begun",
                                           kBeforeNames[static_cast<size_t>(before)])));
  STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
  STRIA_RETURN_IF_ERROR(bench.finish(done));
  if (mapped) {
    if (op != Op::map_discard)
      STRIA_RETURN_IF_ERROR(mapped->holds(first.contents, "the mapping's memory"));
    if (op != Op::map_read) {
      expected = pattern(kBytes, 313);
      mapped->write(expected);
    }
    STRIA_RETURN_IF_ERROR(mapped->end());
  }
  STRIA_RETURN_IF_ERROR(bench.holds(buffer, expected, "the buffer after both"));
  return op == Op::copy ? bench.holds(other, first.contents, "the copy") : Status();
}

void add_pair_cases(CaseMaker& maker) {
  for (const size_t executors : {1, 2})
    for (const Before before : kBefore)
      for (const Op op : kOps) {
        // Mappings are not an executor's.
        if (executors == 2 && op != Op::fill && op != Op::copy) continue;
        add_bench_case(
            maker, 'Q',
            fmt::format("order.{}_after_{}{}", name_of(op),
                        kBeforeNames[static_cast<size_t>(before)],
                        executors == 2 ? "_of_another_executor" : ""),
            Level::right, says::kStartsWhenAllDone,
            [before, op](const Bench& bench) -> Status { return try_order(bench, before, op); },
            executors);
      }
}

// ---- done before what waits for it is

// Work starts when all that it waits for is done: who sees the last event done sees all of them so.
void add_done_cases(CaseMaker& maker) {
  const auto all_done = [](const Bench& bench, const std::vector<Event>& events) -> Status {
    STRIA_RETURN_IF_ERROR(bench.finish(events.back()));
    for (size_t i = 0; i < events.size(); ++i) {
      STRIA_ASSIGN(const bool done, bench.subject().is_done(events[i]));
      if (!done)
        return broken("event {} of a chain of {} is open when the last one is done", i,
                      events.size());
    }
    return Status();
  };
  // Once may be luck.
  constexpr int kTimes = 60;
  for (const size_t executors : {1, 3})
    add_bench_case(
        maker, 'Q', fmt::format("order.waits_are_done_before_over_{}_executors", executors),
        Level::robust, says::kStartsWhenAllDone,
        [all_done](const Bench& bench) -> Status {
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
          for (int time = 0; time < kTimes; ++time) {
            std::vector<Event> events;
            for (unsigned i = 0; i < 12; ++i) {
              STRIA_ASSIGN(
                  Event filled,
                  bench.fill(buffer, 64, i, events.empty() ? EventList() : list_of(events.back()),
                             i % bench.executors()));
              events.push_back(std::move(filled));
            }
            STRIA_RETURN_IF_ERROR(all_done(bench, events));
          }
          return Status();
        },
        executors);
  add_bench_case(maker, 'Q', "order.waits_are_done_before_around_an_unmap", Level::robust,
                 says::kStartsWhenAllDone, [all_done](const Bench& bench) -> Status {
                   STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
                   STRIA_ASSIGN(const Buffer other, bench.buffer(Bytes(64)));
                   for (int time = 0; time < kTimes; ++time) {
                     std::vector<Event> events;
                     STRIA_ASSIGN(Mapped mapped, map_now(bench, MapMode::discard, buffer, 0, 64));
                     mapped.write(Bytes(64));
                     STRIA_ASSIGN(Event unmapped, mapped.unmap());
                     events.push_back(std::move(unmapped));
                     STRIA_ASSIGN(Event copied,
                                  bench.copy(buffer, 0, other, 0, 64, list_of(events.back())));
                     events.push_back(std::move(copied));
                     STRIA_RETURN_IF_ERROR(all_done(bench, events));
                   }
                   return Status();
                 });
}

// ---- chains

// Fills of one range, each after the one before; the last one counts.
Status try_chain(const Bench& bench, uint32_t length, bool gated) {
  STRIA_ASSIGN(const Event gate, bench.subject().host_event());
  STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(kBytes)));
  Event last;
  Bytes written;
  for (uint32_t i = 0; i < length; ++i) {
    written = pattern(16, i);
    const EventList waits = last ? list_of(last) : gated ? list_of(gate) : EventList();
    STRIA_ASSIGN(last, bench.fill(buffer, 0, kBytes, written, waits, i % bench.executors()));
  }
  if (gated) STRIA_RETURN_IF_ERROR(bench.stays_open(last, "the first of its chain is blocked"));
  STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
  STRIA_RETURN_IF_ERROR(bench.flush());
  // Long chains take their time.
  STRIA_RETURN_IF_ERROR(bench.subject().wait(last, patience_ms(60'000)));
  Bytes expected(kBytes);
  for (uint64_t i = 0; i < kBytes; ++i) expected[i] = written[i % 16];
  return bench.holds(buffer, expected, fmt::format("the buffer after {} fills in a row", length));
}

// Two ranges that take turns: each copy reads what the one before wrote.
Status try_ping_pong(const Bench& bench, uint32_t rounds) {
  STRIA_ASSIGN(const Event gate, bench.subject().host_event());
  Bytes contents = pattern(kBytes, 320);
  STRIA_ASSIGN(const Buffer a, bench.buffer(contents));
  STRIA_ASSIGN(const Buffer b, bench.buffer(Bytes(kBytes)));
  Event last;
  for (uint32_t i = 0; i < rounds; ++i) {
    const Buffer& from = i % 2 == 0 ? a : b;
    const Buffer& to = i % 2 == 0 ? b : a;
    const EventList waits = last ? list_of(last) : list_of(gate);
    // Shifted by one: the order shows in each byte.
    STRIA_ASSIGN(last, bench.copy(from, 0, to, 1, kBytes - 1, waits, i % bench.executors()));
  }
  STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
  STRIA_RETURN_IF_ERROR(bench.finish(last));
  Bytes other(kBytes);
  for (uint32_t i = 0; i < rounds; ++i) {
    std::copy(contents.begin(), contents.end() - 1, other.begin() + 1);
    std::swap(contents, other);
  }
  return bench.holds(rounds % 2 == 0 ? a : b, contents,
                     fmt::format("the last of {} copies there and back", rounds));
}

void add_chain_cases(CaseMaker& maker) {
  for (const uint32_t length : {2, 3, 10, 100})
    for (const bool gated : {false, true})
      add_bench_case(maker, 'Q', fmt::format("order.chain_{}{}", length, gated ? "_blocked" : ""),
                     Level::right, says::kStartsWhenAllDone,
                     [length, gated](const Bench& bench) -> Status {
                       return try_chain(bench, length, gated);
                     });
  for (const uint32_t length : {1000, 5000})
    add_bench_case(
        maker, 'Q', fmt::format("order.chain_{}_blocked", length), Level::robust,
        says::kStartsWhenAllDone,
        [length](const Bench& bench) -> Status { return try_chain(bench, length, true); })
        .limit = std::chrono::seconds(70);
  for (const size_t executors : {2, 4, 8})
    add_bench_case(
        maker, 'Q', fmt::format("order.chain_over_{}_executors", executors), Level::robust,
        says::kEventsAloneOrder,
        [](const Bench& bench) -> Status { return try_chain(bench, 64, true); }, executors);
  for (const uint32_t rounds : {2, 9, 60})
    add_bench_case(maker, 'Q', fmt::format("order.there_and_back_{}", rounds), Level::right,
                   says::kStartsWhenAllDone,
                   [rounds](const Bench& bench) -> Status { return try_ping_pong(bench, rounds); });
  add_bench_case(
      maker, 'Q', "order.there_and_back_over_2_executors", Level::robust, says::kEventsAloneOrder,
      [](const Bench& bench) -> Status { return try_ping_pong(bench, 40); }, 2);
  // One before many, many before one.
  for (const size_t width : {2, 10, 100})
    add_bench_case(
        maker, 'Q', fmt::format("order.fan_{}", width), Level::right, says::kStartsWhenAllDone,
        [width](const Bench& bench) -> Status {
          STRIA_ASSIGN(const Event gate, bench.subject().host_event());
          STRIA_ASSIGN(const Buffer source, bench.buffer(Bytes(8)));
          STRIA_ASSIGN(const Buffer middle, bench.buffer(Bytes(8 * width)));
          STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(8 * width)));
          STRIA_ASSIGN(const Event first, bench.fill(source, 8, 0x33, list_of(gate)));
          std::vector<Event> events;
          EventList all;
          for (size_t i = 0; i < width; ++i) {
            STRIA_ASSIGN(Event copied, bench.copy(source, 0, middle, 8 * i, 8, list_of(first)));
            all.push_back(copied.get());
            events.push_back(std::move(copied));
          }
          STRIA_ASSIGN(const Event last, bench.copy(middle, 0, target, 0, 8 * width, all));
          STRIA_RETURN_IF_ERROR(bench.stays_open(last, "the first of all is blocked"));
          STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
          STRIA_RETURN_IF_ERROR(bench.finish(last));
          return bench.holds(target, bytes_of(8 * width, 0x33), "what came through all of them");
        });
}

// ---- what does not wait

// Something blocked before it in the same queue; work that does not wait for that is done.
void add_beside_cases(CaseMaker& maker) {
  for (const size_t executors : {1, 2})
    for (const Op op : kOps)
      for (const Op blocked : {Op::fill, Op::copy, Op::map_current}) {
        if (executors == 2 && op != Op::fill && op != Op::copy) continue;
        add_bench_case(
            maker, 'Q',
            fmt::format("beside.{}_beside_a_blocked_{}{}", name_of(op), name_of(blocked),
                        executors == 2 ? "_of_another_executor" : ""),
            Level::robust, says::kEventsAloneOrder,
            [op, blocked](const Bench& bench) -> Status {
              STRIA_ASSIGN(const Event gate, bench.subject().host_event());
              STRIA_ASSIGN(Trial waiting, Trial::start(bench, blocked, list_of(gate)));
              STRIA_ASSIGN(Trial free, Trial::start(bench, op, {}, bench.executors() - 1));
              STRIA_RETURN_IF_ERROR(
                  free.was_done().with_context("beside work that waits for an open event"));
              STRIA_RETURN_IF_ERROR(
                  bench.stays_open(waiting.done(), "the event that it waits for is open"));
              STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
              return waiting.was_done();
            },
            executors);
      }
  // Two chains through one executor, each held up for a while.
  add_bench_case(
      maker, 'Q', "beside.two_chains_in_turn", Level::robust, says::kEventsAloneOrder,
      [](const Bench& bench) -> Status {
        STRIA_ASSIGN(const Event a_gate, bench.subject().host_event());
        STRIA_ASSIGN(const Event b_gate, bench.subject().host_event());
        STRIA_ASSIGN(const Buffer a, bench.buffer(Bytes(64)));
        STRIA_ASSIGN(const Buffer b, bench.buffer(Bytes(64)));
        Event a_last, b_last;
        for (unsigned i = 1; i <= 20; ++i) {
          STRIA_ASSIGN(a_last, bench.fill(a, 64, i, a_last ? list_of(a_last) : list_of(a_gate)));
          STRIA_ASSIGN(b_last,
                       bench.fill(b, 64, 100 + i, b_last ? list_of(b_last) : list_of(b_gate)));
        }
        STRIA_RETURN_IF_ERROR(bench.subject().signal(b_gate));
        STRIA_RETURN_IF_ERROR(bench.finish(b_last));
        STRIA_RETURN_IF_ERROR(bench.holds(b, bytes_of(64, 120), "the second chain's"));
        STRIA_RETURN_IF_ERROR(bench.stays_open(a_last, "its chain is blocked"));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(a_gate));
        STRIA_RETURN_IF_ERROR(bench.finish(a_last));
        return bench.holds(a, bytes_of(64, 20), "the first chain's");
      });
}

}  // namespace

void add_event_order_cases(CaseMaker& maker) {
  add_pair_cases(maker);
  add_done_cases(maker);
  add_chain_cases(maker);
  add_beside_cases(maker);
}

}  // namespace stria::conformance
