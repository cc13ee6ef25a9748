// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/teardown_cases.h"

#include <algorithm>
#include <array>
#include <thread>

#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kBelongToCaller =
    "Handles that a slot makes belong to the caller, who gives them back through the noun's "
    "`release`.";

// What is given back; the device comes last.
enum class Noun { compiler, library, kernel, executor, buffer, event, host_event };
constexpr std::array kNouns = {Noun::compiler, Noun::library, Noun::kernel,    Noun::executor,
                               Noun::buffer,   Noun::event,   Noun::host_event};
constexpr const char* kNames[] = {"compiler", "library", "kernel",    "executor",
                                  "buffer",   "event",   "host_event"};
const char* name_of(Noun noun) { return kNames[static_cast<int>(noun)]; }

// One of each, of a device of its own, with nothing in flight.
class Household {
 public:
  static Status make(Subject& subject, Household& out) {
    STRIA_ASSIGN(out.program_, SmallProgram::of(subject));
    STRIA_ASSIGN(out.device_, subject.open_device(subject.driver(), subject.device_info().id));
    out.work_.emplace(subject.tables(), out.device_.get());
    STRIA_ASSIGN(out.loaded_, load(*out.work_, *out.program_));
    STRIA_ASSIGN(out.tensors_, SmallTensors::make(*out.work_, *out.program_, 1));
    STRIA_ASSIGN(out.event_, start(*out.work_, out.loaded_, out.tensors_));
    STRIA_RETURN_IF_ERROR(out.work_->wait(out.event_));
    STRIA_ASSIGN(out.host_event_, out.work_->host_event());
    return out.work_->signal(out.host_event_);
  }
  ~Household() {
    for (const Noun noun : kNouns) release(noun);
  }

  void release(Noun noun) {
    switch (noun) {
      case Noun::compiler: loaded_.compiler.reset(); break;
      case Noun::library: loaded_.library.reset(); break;
      case Noun::kernel: loaded_.kernels.clear(); break;
      case Noun::executor: loaded_.executor.reset(); break;
      case Noun::buffer: tensors_ = SmallTensors(); break;
      case Noun::event: event_.reset(); break;
      case Noun::host_event: host_event_.reset(); break;
    }
  }

  // Everything that is still there does what it did.
  Status rest_works() const {
    if (loaded_.library) {
      STRIA_ASSIGN(const auto kernels, kernels_of(*work_, loaded_.library));
      if (kernels.empty()) return broken("library.kernels lists nothing any more");
    }
    if (loaded_.compiler && loaded_.library) {
      // Builds go on while libraries of earlier ones live.
      STRIA_ASSIGN(const SmallBuild again, begin_build(*work_, program_->stripe()));
      STRIA_RETURN_IF_ERROR(work_->wait(again.done));
    }
    for (const Event* event : {&event_, &host_event_})
      if (*event) STRIA_RETURN_IF_ERROR(work_->wait(*event));
    if (tensors_.r) STRIA_RETURN_IF_ERROR(tensors_.check(*work_, *program_, 1));
    if (loaded_.executor && !loaded_.kernels.empty()) {
      STRIA_ASSIGN(const SmallTensors more, SmallTensors::make(*work_, *program_, 2));
      STRIA_ASSIGN(const Event done, start(*work_, loaded_, more));
      STRIA_RETURN_IF_ERROR(work_->wait(done));
      STRIA_RETURN_IF_ERROR(more.check(*work_, *program_, 2));
    }
    return work_round(*work_, 3);
  }

 private:
  std::optional<SmallProgram> program_;
  Device device_;  // the first member that is an object of the plugin's: goes last
  std::optional<DeviceWork> work_;
  LoadedSmall loaded_;
  SmallTensors tensors_;
  Event event_, host_event_;
};

Case& add(CaseMaker& maker, const std::string& name, std::function<Finding(Subject&)> run) {
  Case& c = maker.add('E', name, Level::robust, kBelongToCaller, std::move(run));
  c.place = Place::own;
  c.limit = std::chrono::seconds(60);
  return c;
}

}  // namespace

void add_teardown_cases(CaseMaker& maker) {
  for (const Noun first : kNouns)
    for (const Noun second : kNouns) {
      if (first == second) continue;
      add(maker, fmt::format("teardown.{}_then_{}", name_of(first), name_of(second)),
          [first, second](Subject& subject) -> Finding {
            {
              Household household;
              STRIA_RETURN_IF_ERROR(Household::make(subject, household));
              household.release(first);
              STRIA_RETURN_IF_ERROR(household.rest_works().with_context(
                  fmt::format("after the release of the {}", name_of(first))));
              household.release(second);
              STRIA_RETURN_IF_ERROR(household.rest_works().with_context(
                  fmt::format("after the release of {} and {}", name_of(first), name_of(second))));
            }
            return work_round(DeviceWork(subject), 4);
          });
    }
  add(maker, "teardown.orders_of_all", [](Subject& subject) -> Finding {
    // Each noun stands at each place, and before and behind each other one.
    std::array<Noun, kNouns.size()> order = kNouns;
    for (size_t round = 0; round < 2 * kNouns.size(); ++round) {
      if (round == kNouns.size()) std::reverse(order.begin(), order.end());
      std::rotate(order.begin(), order.begin() + 1, order.end());
      Household household;
      STRIA_RETURN_IF_ERROR(Household::make(subject, household));
      for (const Noun noun : order) household.release(noun);
    }
    return work_round(DeviceWork(subject), 5);
  }).limit = std::chrono::seconds(120);
  add(maker, "teardown.device_right_after_the_rest", [](Subject& subject) -> Finding {
    for (int i = 0; i < 3; ++i) {
      Household household;
      STRIA_RETURN_IF_ERROR(Household::make(subject, household));
    }
    return work_round(DeviceWork(subject), 6);
  });
  add(maker, "teardown.driver_right_after_the_rest", [](Subject& subject) -> Finding {
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    for (uint32_t i = 0; i < 3; ++i) {
      TestHost host;
      {
        STRIA_ASSIGN(const Driver driver, subject.make_driver(host));
        STRIA_ASSIGN(const Device device,
                     subject.open_device(driver.get(), subject.device_info().id));
        STRIA_RETURN_IF_ERROR(
            program_round(DeviceWork(subject.tables(), device.get()), program, i));
      }
      if (const std::string taken = host.taken(2000); !taken.empty())
        return broken_rule(Rule::leaves_nothing,
                           "after driver.shutdown the plugin still holds {} of the host's", taken);
    }
    return {};
  });
  add(maker, "teardown.on_another_thread", [](Subject& subject) -> Finding {
    Status status;
    auto household = std::make_unique<Household>();
    STRIA_RETURN_IF_ERROR(Household::make(subject, *household));
    std::thread([&] {
      status = household->rest_works();
      household.reset();
    }).join();
    STRIA_RETURN_IF_ERROR(status);
    return work_round(DeviceWork(subject), 7);
  });
}

}  // namespace stria::conformance
