// SPDX-License-Identifier: Apache-2.0
// A device as unlike the helper's defaults as can be: memory of its own that the host sees only
// through copies, two queues with a thread each, and works that end in random order. It is made of
// overrides alone, so it shows that the boundary and the helper hold for such hardware.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "scripted_host.h"
#include "stria/hal/device.h"
#include "stria/sdk/plugin.h"

namespace stria::hal {
namespace {

// One queue: whatever is in it runs next, at random.
class Queue {
 public:
  explicit Queue(unsigned seed) : random_(seed), thread_([this] { work(); }) {}
  ~Queue() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void push(std::function<void()> job) {
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      std::swap(jobs_[random_() % jobs_.size()], jobs_.back());
      std::function<void()> job = std::move(jobs_.back());
      jobs_.pop_back();
      lock.unlock();
      job();
      job = nullptr;
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> jobs_;
  std::mt19937 random_;
  bool stop_ = false;
  std::thread thread_;
};

// The host gets copies, never the memory.
class FarBuffer final : public sdk::Buffer {
 public:
  FarBuffer(const sdk::Host& host, uint64_t bytes) : Buffer(bytes), host_(host), far_(bytes) {}
  std::byte* data() override { return far_.data(); }
  void* map(uint64_t offset, uint64_t bytes, bool current, sdk::Waits waits,
            sdk::Ref<sdk::Event>* done) override {
    auto copy =
        std::make_unique<Copy>(Copy{offset, std::vector<std::byte>(bytes, std::byte{0xee})});
    Copy* raw = copy.get();
    void* memory = raw->bytes.data();
    {
      std::lock_guard lock(mutex_);
      copies_[memory] = std::move(copy);
    }
    sdk::Ref<FarBuffer> self(this);
    *done = !current ? sdk::when_done(host_, host_.tracker(), waits)
                     : sdk::schedule(host_, host_.tracker(), waits, [self, raw] {
                         std::memcpy(raw->bytes.data(), self->far_.data() + raw->offset,
                                     raw->bytes.size());
                       });
    return memory;
  }
  sdk::Ref<sdk::Event> unmap(void* memory) override {
    std::shared_ptr<Copy> copy;
    {
      std::lock_guard lock(mutex_);
      auto at = copies_.find(memory);
      if (at == copies_.end())
        throw sdk::Error(STRIA_INVALID_ARGUMENT, "this address is not mapped");
      copy = std::move(at->second);
      copies_.erase(at);
    }
    sdk::Ref<FarBuffer> self(this);
    return sdk::schedule(host_, host_.tracker(), {}, [self, copy] {
      std::memcpy(self->far_.data() + copy->offset, copy->bytes.data(), copy->bytes.size());
    });
  }

 private:
  struct Copy {
    uint64_t offset;
    std::vector<std::byte> bytes;
  };
  const sdk::Host& host_;
  std::vector<std::byte> far_;
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<Copy>> copies_;
};

class QueueExecutor final : public sdk::Executor {
 public:
  QueueExecutor(const sdk::Host& host, std::shared_ptr<Queue> queue)
      : Executor(host), queue_(std::move(queue)) {}
  sdk::Ref<sdk::Event> launch(const sdk::Ref<sdk::Kernel>& kernel,
                              std::vector<sdk::Argument> arguments, sdk::Waits waits) override {
    struct Job {
      Queue* queue;  // of the executor; its thread must not be the one that ends it
      sdk::Ref<sdk::Kernel> kernel;
      std::vector<sdk::Argument> arguments;
      sdk::Ref<sdk::Tracker> tracker;
      sdk::Ref<sdk::Event> done;
    };
    auto done = sdk::make<sdk::Event>(host());
    tracker()->add();
    auto* job = new Job{queue_.get(), kernel, std::move(arguments), tracker(), done};
    sdk::when_done(host(), tracker(), waits)
        ->on_done(
            [](void* state, const stria_error* error) {
              std::shared_ptr<Job> job(static_cast<Job*>(state));
              if (error) {
                job->done->signal(sdk::outcome_of(error));
                job->tracker->remove();
                return;
              }
              job->queue->push([job] {
                const uint64_t begin = sdk::now_ns();
                std::vector<stria_memory> memory;
                for (sdk::Argument& argument : job->arguments)
                  memory.push_back(
                      {argument.buffer->data() + argument.offset, argument.buffer->size()});
                sdk::Outcome outcome =
                    sdk::outcome_of_call([&] { job->kernel->run(memory.data(), memory.size()); });
                job->done->signal(outcome, begin, sdk::now_ns());
                job->tracker->remove();
              });
            },
            job);
    return done;
  }

 private:
  std::shared_ptr<Queue> queue_;
};

class SlowDevice final : public sdk::Device {
 public:
  SlowDevice(const sdk::Host& host, sdk::DeviceInfo info)
      : Device(host, std::move(info)),
        queues_{std::make_shared<Queue>(1), std::make_shared<Queue>(2)} {}
  sdk::Ref<sdk::Executor> create_executor(std::string_view) override {
    return sdk::make<QueueExecutor>(host(), queues_[next_++ % 2]);
  }
  sdk::Ref<sdk::Buffer> allocate(uint64_t bytes, std::string_view) override {
    return sdk::make<FarBuffer>(host(), bytes);
  }

 private:
  std::shared_ptr<Queue> queues_[2];
  std::atomic<unsigned> next_{0};
};

class SlowDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override {
    sdk::DeviceInfo info;
    info.kind = "slow";
    return {info};
  }
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view) override {
    return sdk::make<SlowDevice>(host(), info);
  }
};

stria_error* slow_query(const stria_host_info* host, stria_plugin_info* info) {
  return sdk::query<SlowDriver>(host, info, "slow", "1.0.0");
}

constexpr uint64_t kBytes = sizeof(uint64_t);

TEST(SlowDevice, RandomProgramsOverTwoQueuesComputeTheSame) {
  auto script = std::make_shared<Script>();
  ArgumentInfo out{"R", Direction::out, kBytes, {}}, a{"A", Direction::in, kBytes, {}}, b = a;
  (*script)["add"] = {{out, a, b}, [](std::span<const stria_memory> memory) {
                        auto value = [&](int i) { return *static_cast<uint64_t*>(memory[i].data); };
                        *static_cast<uint64_t*>(memory[0].data) = value(1) + value(2);
                        return Status();
                      }};
  (*script)["fail"] = {{out, a, b}, [](std::span<const stria_memory>) {
                         return make_error(StatusCode::device_lost, "gone");
                       }};
  Manifest manifest;
  manifest.id = "slow";
  manifest.version = "1.0.0";
  manifest.abi = {STRIA_ABI_MAJOR, STRIA_ABI_MINOR, STRIA_ABI_MINOR};
  manifest.stripe = {STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR};
  manifest.devices = {{"slow", "hw/slow.json", "passes/slow.json"}};
  LoadResult loaded = adopt_plugin(manifest, slow_query, scripted_host(script, 2));
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  {
    Device device = *loaded.plugin.open("0");
    Executor queues[2] = {*device.create_executor(), *device.create_executor()};
    Compiler compiler = *device.create_compiler();
    Build build = *compiler.build("add\nfail");
    ASSERT_TRUE(build.done.wait().ok());
    Kernel add[2], fail[2];
    for (int q : {0, 1}) {
      add[q] = *queues[q].prepare(build.library, 0);
      fail[q] = *queues[q].prepare(build.library, 1);
    }
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937 random(seed);
      constexpr unsigned kNodes = 40;
      std::vector<Buffer> values;
      std::vector<Event> events;
      std::vector<uint64_t> expected;
      std::vector<bool> lost;
      for (unsigned i = 0; i < kNodes; ++i) {
        Buffer value = *device.allocate(kBytes);
        if (i < 2) {
          Mapping mapping = *value.map_discard();
          ASSERT_TRUE(mapping.ready().wait().ok());
          std::memcpy(mapping.data(), &seed, sizeof seed);
          std::memset(mapping.data() + sizeof seed, 0, kBytes - sizeof seed);
          events.push_back(*mapping.unmap());
          expected.push_back(seed);
          lost.push_back(false);
        } else {
          const unsigned x = random() % i, y = random() % i, q = random() % 2;
          std::vector<Event> waits = {events[x], events[y]};
          const bool fails = random() % 60 == 0;
          std::vector<Argument> arguments = {{value, 0}, {values[x], 0}, {values[y], 0}};
          if (random() % 3 == 0) {
            // The same as a batch of one on its executor.
            events.push_back(*queues[q].submit(
                std::vector<Launch>{{fails ? fail[q] : add[q], arguments, {}}}, waits));
          } else {
            events.push_back(*(fails ? fail[q] : add[q]).run(arguments, waits));
          }
          expected.push_back(expected[x] + expected[y]);
          lost.push_back(fails || lost[x] || lost[y]);
        }
        values.push_back(value);
      }
      for (unsigned i = kNodes; i-- > 0;) {
        Mapping mapping = *values[i].map_current({&events[i], 1});
        Status status = mapping.ready().wait();
        ASSERT_EQ(status.code(), lost[i] ? StatusCode::device_lost : StatusCode::ok)
            << seed << " " << i;
        if (!lost[i]) {
          uint64_t value;
          std::memcpy(&value, mapping.data(), kBytes);
          ASSERT_EQ(value, expected[i]) << seed << " " << i;
        }
      }
      ASSERT_TRUE(queues[0].drain().ok());
      ASSERT_TRUE(queues[1].drain().ok());
      for (const Event& event : events) ASSERT_TRUE(event.is_done());
    }
    // A kernel belongs to the executor it was prepared by.
    Buffer one = *device.allocate(kBytes), two = *device.allocate(kBytes);
    std::vector<Launch> foreign = {{add[1], {{one, 0}, {two, 0}, {two, 0}}, {}}};
    EXPECT_EQ(queues[0].submit(foreign).status().code(), StatusCode::invalid_argument);
  }
  EXPECT_TRUE(loaded.plugin.shutdown().ok());
}

}  // namespace
}  // namespace stria::hal
