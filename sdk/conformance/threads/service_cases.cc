// SPDX-License-Identifier: Apache-2.0
// While a plugin calls a service of the host, another thread uses the plugin: a plugin that holds a
// lock then keeps that thread out, and two such threads end for ever.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "suite/device_work.h"
#include "suite/small_program.h"
#include "threads/thread_cases.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kNoLock =
    "A plugin calls none of them while it holds a lock that one of its own slots needs.";
// In so many calls the services look; later ones pass.
constexpr int kMostLooks = 200;

// What any thread may do at any time, and does not block.
Status use(const DeviceWork& work, const Event& open) {
  STRIA_ASSIGN(const Buffer buffer, work.allocate(64));
  STRIA_ASSIGN(const Event event, work.host_event());
  STRIA_RETURN_IF_ERROR(work.is_done(open).status());
  return work.signal(event);
}

// Called in each service.
class Look {
 public:
  Look(const DeviceWork& work, const Event& open) : work_(work), open_(open) {}
  ~Look() {
    for (std::thread& thread : late_) thread.join();
  }
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  void at(const char* service) {
    // Services that the other thread's calls need pass.
    if (looks_.exchange(true)) return;
    if (count_ < kMostLooks && found_.empty()) {
      ++count_;
      auto done = std::make_shared<std::atomic<bool>>(false);
      std::thread other([this, done] {
        (void)use(work_, open_);
        *done = true;
      });
      const auto end =
          std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms(2000));
      while (!*done && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (!*done) found_ = service;
      *done ? other.join() : late_.push_back(std::move(other));
    }
    looks_ = false;
  }
  // The service in which the plugin kept the other thread out; "" if there is none.
  const std::string& found() const { return found_; }

 private:
  const DeviceWork work_;
  const Event& open_;
  std::atomic<bool> looks_{false};
  // Of the thread that looks.
  int count_ = 0;
  std::string found_;
  std::vector<std::thread> late_;
};

using Act = Finding (*)(Subject& subject, const DeviceWork& work);

Finding works(Subject&, const DeviceWork& work) { return work_round(work, 9); }

Finding runs(Subject& subject, const DeviceWork& work) {
  STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
  return program_round(work, program, 9);
}

Finding uses_up_memory(Subject& subject, const DeviceWork& work) {
  const uint64_t all = subject.device_info().memory_bytes;
  if (all == 0) return Finding::skip("the device does not say how much memory it has");
  std::vector<Buffer> kept;
  for (const uint64_t bytes : {all / 4, all / 4, all / 4, all / 4, all / 4, all, UINT64_MAX / 2}) {
    Result<Buffer> buffer = work.allocate(bytes);
    if (buffer.ok()) kept.push_back(std::move(*buffer));
  }
  return {};
}

Finding fails(Subject&, const DeviceWork& work) {
  STRIA_ASSIGN(const Executor executor, work.executor());
  STRIA_ASSIGN(const Buffer buffer, work.buffer(Bytes(64)));
  STRIA_ASSIGN(const Event gate, work.host_event());
  stria_event* const waits[] = {gate.get()};
  const std::byte mark{1};
  STRIA_ASSIGN(const Event filled, work.fill(executor, buffer, 0, 64, {&mark, 1}, waits));
  STRIA_RETURN_IF_ERROR(work.signal(gate, make_error(StatusCode::data_loss, "a tape was torn")));
  STRIA_RETURN_IF_ERROR(work.wait_for_end(filled));
  // What is refused may be logged.
  (void)work.fill(executor, buffer, 60, 64, {&mark, 1});
  (void)work.executor("no options");
  return {};
}

Finding holds_no_lock(Subject& subject, Act act) {
  TestHost host;
  STRIA_ASSIGN(const Driver driver, subject.make_driver(host));
  STRIA_ASSIGN(const Device device, subject.open_device(driver.get(), subject.device_info().id));
  const DeviceWork work(subject.tables(), device.get());
  STRIA_ASSIGN(const Event open, work.host_event());
  Look look(work, open);
  host.watch([&look](const char* service) { look.at(service); });
  Finding finding = act(subject, work);
  host.watch({});
  STRIA_RETURN_IF_ERROR(work.signal(open));
  if (!look.found().empty())
    return broken(
        "while the plugin is in the host's service {}, no other thread can allocate and release a "
        "buffer and use an event",
        look.found());
  return finding;
}

}  // namespace

void add_service_lock_cases(CaseMaker& maker) {
  struct How {
    const char* name;
    Act act;
  };
  for (const How& how :
       {How{"in_work", works}, How{"in_programs", runs},
        How{"when_memory_is_used_up", uses_up_memory}, How{"in_failures", fails}}) {
    Case& c =
        maker.add('T', fmt::format("services.under_no_lock.{}", how.name), Level::robust, kNoLock,
                  [act = how.act](Subject& subject) { return holds_no_lock(subject, act); });
    c.limit = std::chrono::seconds(60);
    c.place = Place::own;
  }
}

}  // namespace stria::conformance
