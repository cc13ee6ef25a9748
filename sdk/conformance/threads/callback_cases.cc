// SPDX-License-Identifier: Apache-2.0
// What a callback may do: call every slot that does not block.
#include <condition_variable>
#include <mutex>

#include "threads/slot_calls.h"
#include "threads/thread_cases.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kMayCall =
    "The callback returns soon and may call any slot that does not block.";

// Of which event the callback is.
enum class Trigger { host_event, work, failed_work };
constexpr const char* kTriggers[] = {"host_event", "work", "failed_work"};

// Lives as long as a callback may come: for ever, if it never does.
struct Called {
  SlotCalls calls;
  const DeviceWork* work = nullptr;
  const Event* own = nullptr;
  std::mutex mutex;
  std::condition_variable changed;
  int times = 0;  // guarded by mutex, as is `status`
  Status status;

  Status act() {
    STRIA_ASSIGN(const bool done, work->is_done(*own));
    if (!done) return broken("the callback of an event comes while event.query says it is open");
    return calls.call(nullptr);
  }
  static void callback(void* state, const stria_error*) {
    auto& self = *static_cast<Called*>(state);
    Status found = self.act();
    const std::lock_guard lock(self.mutex);
    ++self.times;
    self.status = std::move(found);
    self.changed.notify_all();
  }
};

Finding called_in_callback(Subject& subject, Slot slot, Trigger trigger) {
  const DeviceWork work(subject);
  auto called = std::make_unique<Called>();
  const Status made = SlotCalls::make(subject, slot, called->calls);
  if (made.code() == StatusCode::unsupported) return Finding::skip(made.message());
  STRIA_RETURN_IF_ERROR(made);
  STRIA_ASSIGN(const Executor executor, work.executor());
  STRIA_ASSIGN(const Buffer buffer, work.allocate(64));
  STRIA_ASSIGN(const Event open, work.host_event());
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event behind, work.fill(executor, buffer, 0, 64, Bytes(1), waits));
  called->work = &work;
  called->own = trigger == Trigger::host_event ? &open : &behind;
  STRIA_SLOT(subject, event, on_done, called->own->get(), Called::callback, called.get());
  STRIA_RETURN_IF_ERROR(work.signal(open, trigger == Trigger::failed_work
                                              ? Status(StatusCode::data_loss, "as asked")
                                              : Status()));
  {
    std::unique_lock lock(called->mutex);
    if (!called->changed.wait_for(lock, std::chrono::milliseconds(patience_ms()),
                                  [&] { return called->times > 0; })) {
      (void)called.release();
      return broken("the callback has not come {} s after its event was to be done",
                    patience_ms() / 1000);
    }
    if (called->status.code() == StatusCode::unimplemented)
      return Finding::skip(fmt::format("the plugin has no {}", name_of(slot)));
    STRIA_RETURN_IF_ERROR(called->status.with_context("in a callback"));
  }
  STRIA_RETURN_IF_ERROR(called->calls.finish().with_context("called in a callback"));
  const std::lock_guard lock(called->mutex);
  if (called->times != 1) return broken("the callback comes {} times", called->times);
  return {};
}

}  // namespace

void add_callback_cases(CaseMaker& maker) {
  for (const Slot slot : SlotCalls::all()) {
    // Executors are given back on threads of the host's own.
    if (slot == Slot::executor_release) continue;
    for (const Trigger trigger : {Trigger::host_event, Trigger::work, Trigger::failed_work}) {
      // How the event ended makes no difference to most slots.
      if (trigger == Trigger::failed_work && slot < Slot::kernel_run) continue;
      Case& c = maker.add(
          'T',
          fmt::format("callback.of_{}.{}", kTriggers[static_cast<int>(trigger)], name_of(slot)),
          Level::robust, kMayCall,
          [slot, trigger](Subject& subject) { return called_in_callback(subject, slot, trigger); });
      c.limit = std::chrono::seconds(40);
    }
  }
}

}  // namespace stria::conformance
