// SPDX-License-Identifier: Apache-2.0
// Where in a process a plugin is loaded and used: on which thread, beside which others, in whose
// runtime.
#include <unistd.h>

#include <atomic>
#include <thread>

#include "company/company_cases.h"
#include "company/together.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/program.h"
#include "stria/runtime/runtime.h"
#include "stria/runtime/tensor.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kAnyThread =
    "@threads handle calls on one handle come one after another; different handles at once";
constexpr std::string_view kSeveral =
    "A process may create several, of several hosts: a plugin keeps what it knows in its driver, "
    "not in globals.";

Case& add(CaseMaker& maker, const std::string& name, std::string_view sentence,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('C', name, Level::robust, sentence, std::move(run));
  c.place = Place::bare;
  c.limit = std::chrono::seconds(120);
  return c;
}

Status on_a_thread(const std::function<Status()>& work) {
  Status status;
  std::thread([&] { status = work(); }).join();
  return status;
}

// Threads that are busy with something else for as long as the object lives.
class BusyThreads {
 public:
  explicit BusyThreads(int count) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this] {
        while (!stop_) ::usleep(200);
      });
  }
  ~BusyThreads() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  BusyThreads(const BusyThreads&) = delete;
  BusyThreads& operator=(const BusyThreads&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// A runtime of the product's that has this plugin alone, and its device.
struct Product {
  explicit Product(const Subject& subject)
      : runtime([&] {
          RuntimeOptions options;
          options.plugin_paths = {subject.options().directory};
          options.only_plugin_paths = true;
          options.probe_plugins = false;  // this process is one of its own already
          return options;
        }()) {}
  Result<::stria::Device> open(const Subject& subject) const {
    const auto& records = Inside::records(runtime);
    if (records.size() != 1) return broken("the runtime finds {} plugins", records.size());
    STRIA_RETURN_IF_ERROR(records[0].status());
    STRIA_ASSIGN(const auto devices, records[0].plugin.devices());
    for (const hal::DeviceInfo& info : devices)
      if (subject.options().device_id.empty() ? info.available
                                              : info.id == subject.options().device_id)
        return Inside::open(records[0].plugin, info.id);
    return broken("the runtime finds no device that is available");
  }
  Runtime runtime;
};

Status product_works(const ::stria::Device& device, float more) {
  STRIA_ASSIGN(
      const Program program,
      Program::from_tile({"more.tile", "function more(A[N], B[N]) -> (R) { R = A + B; }\n"}));
  const TensorType type{DataType::fp32, {100}};
  auto compiled = device.compile(program, {{"A", type}, {"B", type}});
  if (compiled.status().code() == StatusCode::unsupported) return Status();
  STRIA_RETURN_IF_ERROR(compiled.status());
  const std::vector<float> a(100, 2.0f), b(100, more);
  STRIA_ASSIGN(const Tensor in_a, device.create_tensor({100}, a));
  STRIA_ASSIGN(const Tensor in_b, device.create_tensor({100}, b));
  STRIA_ASSIGN(const Tensor out, device.create_tensor(DataType::fp32, {100}));
  STRIA_ASSIGN(const ::stria::Event done, compiled->run({in_a, in_b}, {out}));
  STRIA_RETURN_IF_ERROR(done.wait());
  STRIA_ASSIGN(const std::vector<float> got, out.read_values<float>());
  for (const float value : got)
    if (value != 2.0f + more)
      return broken("2 + {} is {} in a runtime of the product's", more, value);
  return Status();
}

}  // namespace

void add_place_cases(CaseMaker& maker) {
  add(maker, "thread.loaded_on_one_that_ends", kAnyThread, [](Subject& subject) -> Finding {
    STRIA_RETURN_IF_ERROR(on_a_thread([&] { return subject.ask(); }));
    STRIA_RETURN_IF_ERROR(subject_works(subject, 1));
    return subject.end();
  });
  add(maker, "thread.begun_on_one_that_ends", kAnyThread, [](Subject& subject) -> Finding {
    STRIA_RETURN_IF_ERROR(on_a_thread([&] { return subject.open(); }));
    STRIA_RETURN_IF_ERROR(subject_works(subject, 1));
    return subject.end();
  });
  add(maker, "thread.each_step_on_another", kAnyThread, [](Subject& subject) -> Finding {
    STRIA_RETURN_IF_ERROR(on_a_thread([&] { return subject.load(); }));
    STRIA_RETURN_IF_ERROR(on_a_thread([&] { return subject.ask(); }));
    STRIA_RETURN_IF_ERROR(on_a_thread([&] { return subject.begin(); }));
    STRIA_RETURN_IF_ERROR(on_a_thread([&] { return subject.open(); }));
    for (uint32_t i = 0; i < 3; ++i)
      STRIA_RETURN_IF_ERROR(on_a_thread([&] { return subject_works(subject, i); }));
    return on_a_thread([&] { return subject.end(); });
  });
  add(maker, "thread.whole_life_on_one_that_ends", kAnyThread, [](Subject& subject) -> Finding {
    for (uint32_t i = 0; i < 3; ++i)
      STRIA_RETURN_IF_ERROR(on_a_thread([&]() -> Status {
        STRIA_RETURN_IF_ERROR(subject_works(subject, i));
        return subject.end();
      }));
    return {};
  });
  for (const int threads : {1, 16})
    add(maker, fmt::format("thread.loaded_while_{}_run", threads), kAnyThread,
        [threads](Subject& subject) -> Finding {
          const BusyThreads busy(threads);
          STRIA_RETURN_IF_ERROR(subject_works(subject, 1));
          return subject.end();
        });
  add(maker, "thread.with_a_small_stack", kAnyThread, [](Subject& subject) -> Finding {
    // A thread that compiles needs the usual 8 MiB, one that only copies does not.
    STRIA_RETURN_IF_ERROR(subject.open());
    struct Task {
      Subject* subject;
      Status status;
    } task{&subject, Status()};
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, size_t{256} << 10);
    pthread_t thread;
    const int failed = ::pthread_create(
        &thread, &attributes,
        [](void* raw) -> void* {
          auto& own = *static_cast<Task*>(raw);
          own.status = work_round(DeviceWork(*own.subject), 1);
          return nullptr;
        },
        &task);
    ::pthread_attr_destroy(&attributes);
    if (failed != 0) return make_error(StatusCode::unavailable, "no thread can be started");
    ::pthread_join(thread, nullptr);
    return task.status;
  });

  add(maker, "runtime.beside_the_products", kSeveral, [](Subject& subject) -> Finding {
    const Product product(subject);
    STRIA_ASSIGN(const ::stria::Device device, product.open(subject));
    STRIA_RETURN_IF_ERROR(product_works(device, 1));
    STRIA_RETURN_IF_ERROR(subject_works(subject, 1));
    STRIA_RETURN_IF_ERROR(product_works(device, 2));
    STRIA_RETURN_IF_ERROR(subject.end());
    return product_works(device, 3);
  });
  add(maker, "runtime.two_of_the_products", kSeveral, [](Subject& subject) -> Finding {
    const Product first(subject), second(subject);
    STRIA_ASSIGN(const ::stria::Device a, first.open(subject));
    STRIA_ASSIGN(const ::stria::Device b, second.open(subject));
    for (int round = 1; round <= 2; ++round) {
      STRIA_RETURN_IF_ERROR(product_works(a, static_cast<float>(round)));
      STRIA_RETURN_IF_ERROR(product_works(b, static_cast<float>(round + 10)));
    }
    return {};
  });
  add(maker, "runtime.one_after_the_other", kSeveral, [](Subject& subject) -> Finding {
    for (int round = 1; round <= 2; ++round) {
      Product product(subject);
      {
        STRIA_ASSIGN(const ::stria::Device device, product.open(subject));
        STRIA_RETURN_IF_ERROR(product_works(device, static_cast<float>(round)));
      }
      STRIA_RETURN_IF_ERROR(product.runtime.shutdown());
    }
    STRIA_RETURN_IF_ERROR(subject_works(subject, 3));
    return subject.end();
  });
}

}  // namespace stria::conformance
