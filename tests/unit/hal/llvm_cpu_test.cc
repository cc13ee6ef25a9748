// SPDX-License-Identifier: Apache-2.0
// The plugin `llvm_cpu` through the boundary. Its kernels are machine code that no test can stop
// halfway, but they ask the host for threads: a host service of the test's own is where they meet.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "scripted_host.h"
#include "stria/hal/device.h"

namespace stria::hal {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kCount = 4096;

// R = A + A, over parallel points.
constexpr const char* kDouble = R"(stripe 1.0
0: #program block [] ( // double
    none new@0 A[0] fp32(4096:1)
    none new@0 R[0] fp32(4096:1)
) {
  0: #main block [] ( // main
      in A[0] fp32(4096:1)
      out R[0] fp32(4096:1)
  ) {
    0: #kernel #parallel block [x:4096] ( // double_it
        in A[x] fp32(1:1)
        out R[x] fp32(1:1)
    ) {
      0: $a = load(A)
      1: $r = add.fp32($a, $a)
      2: R = store($r)
    }
  }
}
)";

// What the patched parallel_for does first; set by a test that runs alone.
std::function<void()>* on_loop = nullptr;
stria_plugin_query_function real_query = nullptr;
const stria_driver_table* real_driver = nullptr;
const stria_host_services* real_services = nullptr;

std::atomic<int> lent{0};  // threads

// The real plugin, given host services whose parallel_for calls on_loop, and whose lend counts.
stria_error* patched_query(const stria_host_info* host, stria_plugin_info* info) {
  stria_error* error = real_query(host, info);
  if (error) return error;
  static stria_driver_table driver;
  real_driver = info->driver;
  driver = *real_driver;
  driver.create = [](const stria_driver_options* options, stria_driver** out) -> stria_error* {
    static stria_host_services services;
    real_services = options->services;
    services = *real_services;
    services.parallel_for = [](stria_host* host, uint64_t count, uint64_t grain,
                               void (*body)(void*, uint64_t, uint64_t), void* state) {
      if (on_loop) (*on_loop)();
      real_services->parallel_for(host, count, grain, body, state);
    };
    services.lend = [](stria_host* host, uint8_t (*done)(void*), void* state) -> uint8_t {
      ++lent;
      return real_services->lend(host, done, state);
    };
    stria_driver_options patched = *options;
    patched.services = &services;
    return real_driver->create(&patched, out);
  };
  info->driver = &driver;
  return nullptr;
}

class LlvmCpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto manifest = read_manifest(built_plugin("llvm_cpu"));
    ASSERT_TRUE(manifest.ok()) << manifest.status().to_string();
    void* library =
        ::dlopen((built_plugin("llvm_cpu") / manifest->library).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    real_query =
        reinterpret_cast<stria_plugin_query_function>(::dlsym(library, "stria_plugin_query"));
    HostFunctions functions = scripted_functions(nullptr);
    functions.cache_get = [this](std::string_view key) -> Result<std::optional<std::string>> {
      std::lock_guard lock(cache_mutex_);
      if (!cache_works_) return make_error(StatusCode::data_loss, "no cache today");
      auto at = cache_.find(std::string(key));
      if (at == cache_.end()) return std::optional<std::string>();
      ++hits_;
      return std::optional(at->second);
    };
    functions.cache_put = [this](std::string_view key, std::string_view value) -> Status {
      std::lock_guard lock(cache_mutex_);
      if (!cache_works_) return make_error(StatusCode::data_loss, "no cache today");
      cache_[std::string(key)] = value;
      return Status();
    };
    LoadResult loaded =
        adopt_plugin(*manifest, patched_query, std::make_shared<Host>(std::move(functions), 2));
    ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
    plugin_ = loaded.plugin;
    auto devices = plugin_.devices();
    ASSERT_TRUE(devices.ok());
    ASSERT_EQ(devices->size(), 1u);
    info_ = devices->at(0);
    auto device = plugin_.open(info_.id);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
    executor_ = *device_.create_executor();
    compiler_ = *device_.create_compiler();
    a_ = *device_.allocate(4 * kCount);
    Mapping mapping = *a_.map_discard();
    ASSERT_TRUE(mapping.ready().wait().ok());
    for (int64_t i = 0; i < kCount; ++i)
      reinterpret_cast<float*>(mapping.data())[i] = static_cast<float>(i);
  }
  void TearDown() override {
    on_loop = nullptr;
    a_ = {};
    compiler_ = {};
    executor_ = {};
    device_ = {};
    Status status = plugin_.shutdown();
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  Kernel doubling() {
    auto build = compiler_.build(kDouble);
    EXPECT_TRUE(build.ok());
    Status status = build->done.wait();
    EXPECT_TRUE(status.ok()) << status.to_string();
    auto kernel = executor_.prepare(build->library, 0);
    EXPECT_TRUE(kernel.ok()) << kernel.status().to_string();
    return *kernel;
  }
  // Zeros.
  Buffer result() {
    Buffer buffer = *device_.allocate(4 * kCount);
    std::byte zero{0};
    EXPECT_TRUE(executor_.fill(buffer, 0, 4 * kCount, {&zero, 1})->wait().ok());
    return buffer;
  }
  // How many elements are twice their index.
  int64_t doubled(const Buffer& buffer) {
    Mapping mapping = *buffer.map_current();
    EXPECT_TRUE(mapping.ready().wait().ok());
    int64_t count = 0;
    for (int64_t i = 0; i < kCount; ++i)
      count += reinterpret_cast<const float*>(mapping.data())[i] == static_cast<float>(2 * i);
    return count;
  }

  // What the host keeps for the plugin, and how often it was found.
  std::mutex cache_mutex_;
  std::map<std::string, std::string> cache_;
  int hits_ = 0;
  bool cache_works_ = true;

  Plugin plugin_;
  DeviceInfo info_;
  Device device_;
  Executor executor_;
  Compiler compiler_;
  Buffer a_;
};

TEST_F(LlvmCpuTest, DescribesTheMachine) {
  EXPECT_TRUE(info_.available);
  EXPECT_EQ(info_.kind, "cpu");
  EXPECT_GT(info_.memory_bytes, uint64_t{64} << 20);
  auto properties = nlohmann::json::parse(info_.properties);
  EXPECT_EQ(properties["exec_units"]["CORE"]["count"], 2);  // the host's threads
  EXPECT_GE(properties["exec_units"]["CORE"]["vector_bytes"], 16);
}

TEST_F(LlvmCpuTest, RunReturnsWhileAnEventItWaitsForIsOpen) {
  Kernel kernel = doubling();
  EXPECT_EQ(kernel.info().name, "double_it");
  Buffer r = result();
  Event open = *device_.create_event();
  Event done = *kernel.run(std::vector<Argument>{{r, 0}, {a_, 0}}, std::vector{open});
  EXPECT_FALSE(done.is_done());
  EXPECT_EQ(done.wait(1'000'000).code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(doubled(r), 1);  // 0 = 2 * 0
  EXPECT_TRUE(open.signal().ok());
  EXPECT_TRUE(done.wait().ok());
  EXPECT_EQ(doubled(r), kCount);
  EXPECT_GT(*done.duration_ns(), 0u);
}

TEST_F(LlvmCpuTest, WhoWaitsWithoutALimitIsLentToLoops) {
  Kernel kernel = doubling();
  Buffer r = result();
  Event open = *device_.create_event();
  Event done = *kernel.run(std::vector<Argument>{{r, 0}, {a_, 0}}, std::vector{open});
  lent = 0;
  EXPECT_EQ(done.wait(1000).code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(lent, 0);  // a piece may take longer than the limit
  std::thread signaller([&] {
    while (lent == 0) std::this_thread::yield();
    EXPECT_TRUE(open.signal().ok());
  });
  EXPECT_TRUE(done.wait().ok());
  signaller.join();
  EXPECT_EQ(lent, 1);
  EXPECT_EQ(doubled(r), kCount);
}

TEST_F(LlvmCpuTest, AFailureTravelsToEveryDependant) {
  Kernel kernel = doubling();
  Buffer r = result(), s = result();
  Event open = *device_.create_event();
  Event first = *kernel.run(std::vector<Argument>{{r, 0}, {a_, 0}}, std::vector{open});
  Event second = *kernel.run(std::vector<Argument>{{s, 0}, {r, 0}}, std::vector{first});
  Mapping mapping = *s.map_current(std::vector{second});
  EXPECT_TRUE(open.signal(Status(StatusCode::data_loss, "torn")).ok());
  for (const Event& event : {first, second, mapping.ready()})
    EXPECT_EQ(event.wait().to_string(), "data_loss: torn");
  EXPECT_EQ(doubled(r), 1);
  EXPECT_EQ(doubled(s), 1);
}

TEST_F(LlvmCpuTest, IndependentKernelsOverlap) {
  Kernel kernel = doubling();
  Buffer r = result(), s = result();
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0;
  bool alone = false;
  std::function<void()> meet = [&] {
    std::unique_lock lock(mutex);
    ++arrived;
    changed.notify_all();
    alone =
        alone || !changed.wait_for(lock, std::chrono::seconds(10), [&] { return arrived >= 2; });
  };
  on_loop = &meet;
  Event first = *kernel.run(std::vector<Argument>{{r, 0}, {a_, 0}});
  Event second = *kernel.run(std::vector<Argument>{{s, 0}, {a_, 0}});
  EXPECT_TRUE(first.wait().ok());
  EXPECT_TRUE(second.wait().ok());
  EXPECT_FALSE(alone);
  EXPECT_EQ(arrived, 2);
  EXPECT_EQ(doubled(r), kCount);
  EXPECT_EQ(doubled(s), kCount);
}

TEST_F(LlvmCpuTest, CodeIsTakenFromTheCache) {
  const auto runs = [&](const Kernel& kernel) {
    Buffer r = result();
    EXPECT_TRUE(kernel.run(std::vector<Argument>{{r, 0}, {a_, 0}})->wait().ok());
    return doubled(r) == kCount;
  };
  EXPECT_TRUE(runs(doubling()));
  EXPECT_EQ(hits_, 0);
  ASSERT_EQ(cache_.size(), 1u);
  EXPECT_THAT(cache_.begin()->first, testing::AllOf(HasSubstr(kDouble), HasSubstr("LLVM 19.1")));
  const Kernel kept = doubling();
  EXPECT_EQ(hits_, 1);
  EXPECT_EQ(kept.info().name, "double_it");
  EXPECT_TRUE(runs(kept));
  // Options are part of the key; what is dumped has to be made.
  EXPECT_TRUE(compiler_.build(kDouble, "{\"fast_math\": true}")->done.wait().ok());
  EXPECT_EQ(cache_.size(), 2u);
  EXPECT_TRUE(compiler_.build(kDouble, "{\"dump_source\": true}")->done.wait().ok());
  EXPECT_EQ(cache_.size(), 2u);
  EXPECT_EQ(hits_, 1);
}

TEST_F(LlvmCpuTest, ADamagedOrFailingCacheCostsTimeOnly) {
  const auto runs = [&] {
    const Kernel kernel = doubling();
    Buffer r = result();
    EXPECT_TRUE(kernel.run(std::vector<Argument>{{r, 0}, {a_, 0}})->wait().ok());
    return doubled(r) == kCount;
  };
  EXPECT_TRUE(runs());
  ASSERT_EQ(cache_.size(), 1u);
  std::string& value = cache_.begin()->second;
  const std::string whole = value;
  value.resize(value.size() / 2);
  EXPECT_TRUE(runs());
  EXPECT_EQ(hits_, 1);
  EXPECT_EQ(value, whole);  // made again, the same
  cache_works_ = false;
  EXPECT_TRUE(runs());
}

TEST_F(LlvmCpuTest, BuildsFailWithTheReasonAndDumpTheirSource) {
  auto broken = compiler_.build("stripe 1.0\n0: block [");
  ASSERT_TRUE(broken.ok());
  EXPECT_EQ(broken->done.wait().code(), StatusCode::invalid_argument);
  auto options = compiler_.build(kDouble, "{\"fast_math\": 3}");
  EXPECT_THAT(options->done.wait().message(), HasSubstr("fast_math"));
  EXPECT_EQ(compiler_.build(kDouble, "[]")->done.wait().code(), StatusCode::invalid_argument);
  auto dumped = compiler_.build(kDouble, "{\"dump_source\": true}");
  ASSERT_TRUE(dumped->done.wait().ok());
  auto texts = dumped->library.source();
  ASSERT_TRUE(texts.ok());
  ASSERT_EQ(texts->size(), 3u);
  EXPECT_EQ((*texts)[0].name, "double_it.semtree");
  EXPECT_EQ((*texts)[1].name, "double_it.ll");
  EXPECT_EQ((*texts)[2].name, "double_it.s");
}

}  // namespace
}  // namespace stria::hal
