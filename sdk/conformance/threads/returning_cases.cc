// SPDX-License-Identifier: Apache-2.0
// Slots that are tagged "@blocks no" return while the device has work that cannot begin: if one
// waited for that, it would never return.
#include "suite/prompt_call.h"
#include "threads/slot_calls.h"
#include "threads/thread_cases.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kBlocksNo =
    "@blocks no returns without waiting for device work, disk or other threads' long work";

// Work on two executors that waits for a host event, and a mapping behind it.
struct Backlog {
  Executor executors[2];
  Buffer source, target;
  std::vector<Event> events;

  static Status make(const DeviceWork& work, stria_event* open, Backlog& out) {
    STRIA_ASSIGN(out.source, work.buffer(pattern(4096, 61)));
    STRIA_ASSIGN(out.target, work.buffer(Bytes(4096)));
    for (Executor& executor : out.executors) {
      STRIA_ASSIGN(executor, work.executor());
    }
    stria_event* last = open;
    for (int i = 0; i < 8; ++i) {
      stria_event* const waits[] = {last};
      STRIA_ASSIGN(Event copied,
                   work.copy(out.executors[i % 2], i % 2 == 0 ? out.source : out.target, 0,
                             i % 2 == 0 ? out.target : out.source, 0, 4096, waits));
      out.events.push_back(std::move(copied));
      last = out.events.back().get();
    }
    return Status();
  }
  Status finish(const DeviceWork& work) const {
    for (const Event& event : events) STRIA_RETURN_IF_ERROR(work.wait(event));
    return work.holds(target, pattern(4096, 61), "after copies to and fro");
  }
};

Finding returns(Subject& subject, Slot slot, bool waits_itself, PromptCalls& prompt) {
  const DeviceWork work(subject);
  SlotCalls calls;
  const Status made = SlotCalls::make(subject, slot, calls);
  if (made.code() == StatusCode::unsupported) return Finding::skip(made.message());
  STRIA_RETURN_IF_ERROR(made);
  STRIA_ASSIGN(const Event open, work.host_event());
  Backlog backlog;
  STRIA_RETURN_IF_ERROR(Backlog::make(work, open.get(), backlog));
  // Does not come back if it waits for the backlog, or for its own waits.
  Status called;
  prompt.make(slot, [&] { called = calls.call(waits_itself ? open.get() : nullptr); });
  if (called.code() == StatusCode::unimplemented)
    return Finding::skip(fmt::format("the plugin has no {}", name_of(slot)));
  STRIA_RETURN_IF_ERROR(called);
  for (const Event& event : backlog.events) {
    STRIA_ASSIGN(const bool done, work.is_done(event));
    if (done) return broken("work behind an open host event is done");
  }
  STRIA_RETURN_IF_ERROR(work.signal(open));
  STRIA_RETURN_IF_ERROR(calls.finish());
  return backlog.finish(work);
}

// Slots that take a list of events to wait for.
bool takes_waits(Slot slot) {
  switch (slot) {
    case Slot::compiler_build:
    case Slot::executor_submit:
    case Slot::executor_copy:
    case Slot::executor_fill:
    case Slot::kernel_run:
    case Slot::buffer_map_current:
    case Slot::buffer_map_discard:
    case Slot::buffer_map_read: return true;
    default: return false;
  }
}

}  // namespace

void add_returning_cases(CaseMaker& maker) {
  for (const Slot slot : SlotCalls::all())
    for (const bool waits_itself : {false, true}) {
      if (waits_itself && !takes_waits(slot)) continue;
      Case& c = maker.add(
          'T',
          fmt::format("returns.{}{}", name_of(slot), waits_itself ? ".behind_an_open_event" : ""),
          Level::robust, kBlocksNo, [slot, waits_itself](Subject& subject) {
            return unless_late(
                [&](PromptCalls& calls) { return returns(subject, slot, waits_itself, calls); });
          });
      c.limit = std::chrono::seconds(30);
    }
  Case& c = maker.add('T', "returns.driver.create", Level::robust, kBlocksNo,
                      [](Subject& subject) -> Finding {
                        const DeviceWork work(subject);
                        STRIA_ASSIGN(const Event open, work.host_event());
                        Backlog backlog;
                        STRIA_RETURN_IF_ERROR(Backlog::make(work, open.get(), backlog));
                        TestHost host;
                        {
                          STRIA_ASSIGN(const Driver driver, subject.make_driver(host));
                          STRIA_RETURN_IF_ERROR(subject.list(driver.get()).status());
                        }
                        STRIA_RETURN_IF_ERROR(work.signal(open));
                        return backlog.finish(work);
                      });
  c.limit = std::chrono::seconds(30);
}

}  // namespace stria::conformance
