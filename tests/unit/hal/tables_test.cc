// SPDX-License-Identifier: Apache-2.0
// Plugins of another age and bad ones: short tables, missing slots, wrong versions, exceptions.
#include "stria/hal/boundary/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "scripted_host.h"
#include "stria/hal/boundary/error.h"
#include "stria/sdk/plugin.h"

namespace stria::hal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

stria_error* real_flush(stria_executor*) { return nullptr; }

TEST(Tables, AMissingSlotSaysItsName) {
  stria_plugin_info info{};
  info.size = sizeof info;
  Tables tables = normalise(info);
  Status status =
      take_error(tables.executor.fill(nullptr, nullptr, 0, 0, nullptr, 0, nullptr, 0, nullptr));
  EXPECT_EQ(status.code(), StatusCode::unimplemented);
  EXPECT_EQ(status.message(), "the plugin has no slot executor.fill");
  tables.buffer.release(nullptr);  // does nothing
}

TEST(Tables, AShortTableCountsAsFarAsItGoes) {
  stria_executor_table executor{};
  executor.flush = real_flush;
  executor.drain = [](stria_executor*, uint64_t) -> stria_error* { throw 1; };  // beyond size
  executor.size = offsetof(stria_executor_table, drain);
  stria_plugin_info info{};
  info.size = sizeof info;
  info.executor = &executor;
  Tables tables = normalise(info);
  EXPECT_EQ(tables.executor.flush, real_flush);
  EXPECT_EQ(take_error(tables.executor.drain(nullptr, 0)).code(), StatusCode::unimplemented);
  EXPECT_EQ(tables.executor.size, sizeof(stria_executor_table));
  // Half a pointer is no slot.
  executor.size = offsetof(stria_executor_table, flush) + 4;
  EXPECT_EQ(take_error(normalise(info).executor.flush(nullptr)).code(), StatusCode::unimplemented);
}

TEST(Tables, AShortInfoHasNoTables) {
  stria_executor_table executor{};
  executor.size = sizeof executor;
  executor.flush = real_flush;
  stria_plugin_info info{};
  info.executor = &executor;
  info.size = offsetof(stria_plugin_info, executor);
  EXPECT_EQ(take_error(normalise(info).executor.flush(nullptr)).code(), StatusCode::unimplemented);
  // A newer plugin's longer tables are cut.
  info.size = sizeof info + 64;
  executor.size = sizeof executor + 64;
  EXPECT_EQ(normalise(info).executor.flush, real_flush);
}

TEST(Errors, CrossWithTheirDetails) {
  stria_error cause{};
  cause.size = sizeof cause;
  cause.code = STRIA_DEVICE_LOST;
  cause.message = to_c("the link is down");
  stria_error error{};
  error.size = sizeof error;
  error.code = STRIA_OUT_OF_MEMORY;
  error.message = to_c("no room");
  error.native_code = -4;
  error.native_message = to_c("MEM_FAIL");
  error.place = to_c("acme.c:12");
  error.suggestion = to_c("free something");
  error.cause = &cause;
  EXPECT_EQ(status_of(&error).to_string(),
            "out_of_memory: no room (driver: MEM_FAIL, -4); free something; because the link is "
            "down");
  const std::string for_author =
      "out_of_memory: no room (driver: MEM_FAIL, -4) [acme.c:12]; free something; because the link "
      "is down";
  EXPECT_EQ(status_of(&error, Reader::author).to_string(), for_author);
  // A copy has all of it, and nothing of the original.
  stria_error* copy = copy_of(error);
  error = {};
  EXPECT_EQ(status_of(copy, Reader::author).to_string(), for_author);
  copy->release(copy);
  error.size = sizeof error;
  error.code = STRIA_OUT_OF_MEMORY;
  error.message = to_c("no room");
  error.native_code = -4;
  error.native_message = to_c("MEM_FAIL");
  error.cause = &cause;
  // Fields beyond the size are not looked at, and a ring of causes ends.
  error.size = offsetof(stria_error, native_message);
  EXPECT_EQ(status_of(&error).message(), "no room (driver: -4)");
  error.size = sizeof error;
  cause.cause = &error;
  EXPECT_LT(status_of(&error).message().size(), 2000u);
  // A copy of the ring ends, too, and may be released.
  copy = copy_of(error);
  EXPECT_LT(status_of(copy).message().size(), 2000u);
  copy->release(copy);
  error.code = 77;
  EXPECT_EQ(status_of(&error).code(), kPluginFault);
  EXPECT_THAT(status_of(&error).message(), HasSubstr("unknown code 77"));
}

TEST(Errors, RoundTrip) {
  stria_error* error = to_error(Status(StatusCode::data_loss, "torn"));
  EXPECT_EQ(take_error(error).to_string(), "data_loss: torn");
  // The host's words keep their code; work that failed by a plugin's fault is that plugin's bug.
  const Status incompatible(StatusCode::incompatible, "another version");
  for (const auto& [made, code] : {std::pair{to_error(incompatible), STRIA_INCOMPATIBLE},
                                   {to_error_of_work(incompatible), STRIA_INTERNAL}}) {
    EXPECT_EQ(made->code, code);
    made->release(made);
  }
  EXPECT_EQ(to_error(Status()), nullptr);
  EXPECT_TRUE(take_error(nullptr).ok());
}

// ---- whole plugins that are linked into the test

Manifest manifest_of(const char* id) {
  Manifest manifest;
  manifest.id = id;
  manifest.version = "1.0.0";
  manifest.abi = {STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR, STRIA_ABI_MINOR};
  manifest.stripe = {STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR};
  manifest.devices = {{"toy", "hw/toy.json", "passes/toy.json"}};
  return manifest;
}

class ToyDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override {
    if (options().options == "throw") throw std::runtime_error("enumerate fell over");
    sdk::DeviceInfo one, two;
    one.id = "a";
    one.kind = "toy";
    one.memory_bytes = 1000;
    two.id = "b";
    two.kind = "toy";
    two.available = false;
    two.reason = "no driver";
    return {one, two};
  }
};

stria_error* toy_query(const stria_host_info* host, stria_plugin_info* info) {
  return sdk::query<ToyDriver>(host, info, "toy", "1.0.0");
}

std::shared_ptr<Host> bare_host() { return std::make_shared<Host>(HostFunctions(), 2); }

std::vector<std::string> steps_of(const LoadResult& result) {
  std::vector<std::string> out;
  for (const Verdict& verdict : result.verdicts)
    out.push_back(std::string(name_of(verdict.step)) + (verdict.status.ok() ? "" : " failed"));
  return out;
}

TEST(Adopt, ListsAndOpens) {
  LoadResult result = adopt_plugin(manifest_of("toy"), toy_query, bare_host());
  ASSERT_TRUE(result.status().ok()) << result.status().to_string();
  EXPECT_THAT(steps_of(result), ElementsAre("version", "query", "create"));
  auto devices = result.plugin.devices();
  ASSERT_TRUE(devices.ok());
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_FALSE((*devices)[1].available);
  EXPECT_EQ((*devices)[1].reason, "no driver");
  auto unavailable = result.plugin.open("b");
  EXPECT_EQ(unavailable.status().code(), StatusCode::unavailable);
  EXPECT_THAT(unavailable.status().message(), HasSubstr("no driver"));
  EXPECT_EQ(result.plugin.open("c").status().code(), StatusCode::not_found);
  {
    auto device = result.plugin.open("a");
    ASSERT_TRUE(device.ok());
    auto buffer = device->allocate(400);
    ASSERT_TRUE(buffer.ok());
    Status full = device->allocate(601).status();
    EXPECT_EQ(full.code(), StatusCode::out_of_memory);
    EXPECT_THAT(full.message(), HasSubstr("601 bytes"));
    EXPECT_THAT(full.message(), HasSubstr("600 of 1000"));
    EXPECT_TRUE(device->allocate(600).ok());  // and given back at once
    EXPECT_TRUE(device->allocate(0).ok());
    Status used = result.plugin.shutdown();
    EXPECT_EQ(used.code(), StatusCode::failed_precondition);
    EXPECT_EQ(used.message(), "plugin toy is still used: 1 x device, 1 x buffer");
  }
  EXPECT_TRUE(result.plugin.shutdown().ok());
  EXPECT_EQ(result.plugin.devices().status().code(), StatusCode::failed_precondition);
  EXPECT_EQ(result.plugin.open("a").status().code(), StatusCode::failed_precondition);
}

TEST(Adopt, AForkedChildMayNotUseIt) {
  LoadResult result = adopt_plugin(manifest_of("toy"), toy_query, bare_host());
  ASSERT_TRUE(result.status().ok());
  pid_t child = ::fork();
  if (child == 0) {
    bool refused = result.plugin.devices().status().code() == StatusCode::failed_precondition &&
                   result.plugin.open("a").status().code() == StatusCode::failed_precondition;
    ::_exit(refused ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(::waitpid(child, &outcome, 0), child);
  EXPECT_EQ(outcome, 0);
  EXPECT_TRUE(result.plugin.shutdown().ok());
}

TEST(Adopt, AnInterpreterThatIsNotThereIsAFailedBuild) {
  LoadResult result = adopt_plugin(manifest_of("toy"), toy_query, bare_host());
  ASSERT_TRUE(result.status().ok());
  {
    auto device = result.plugin.open("a");
    auto compiler = device->create_compiler();
    auto build = compiler->build("stripe 1.0");
    ASSERT_TRUE(build.ok());
    EXPECT_EQ(build->done.wait().code(), StatusCode::unimplemented);
    EXPECT_EQ(build->library.kernels().status().code(), StatusCode::unimplemented);
    EXPECT_EQ(compiler->transform("x", "fold", "{}").status().code(), StatusCode::not_found);
  }
  EXPECT_TRUE(result.plugin.shutdown().ok());
}

TEST(Adopt, ThrowingSlotsAreFailuresOfThePlugin) {
  // The helper catches …
  LoadOptions options;
  options.driver_options = "throw";
  LoadResult result = adopt_plugin(manifest_of("toy"), toy_query, bare_host(), options);
  ASSERT_TRUE(result.status().ok());
  EXPECT_THAT(result.plugin.devices().status().to_string(), HasSubstr("enumerate fell over"));
  EXPECT_TRUE(result.plugin.shutdown().ok());
  // … and where a plugin does not, the host does.
  auto throwing = [](const stria_host_info*, stria_plugin_info*) -> stria_error* { throw 5; };
  LoadResult bad = adopt_plugin(manifest_of("toy"), throwing, bare_host());
  EXPECT_THAT(steps_of(bad), ElementsAre("version", "query failed"));
  EXPECT_EQ(bad.status().code(), kPluginFault);
  EXPECT_THAT(bad.status().message(), HasSubstr("an exception came out of the plugin"));
  EXPECT_FALSE(bad.plugin.valid());
}

TEST(Adopt, VersionRefusalsPrintBothRanges) {
  // The manifest alone is enough …
  Manifest manifest = manifest_of("toy");
  manifest.abi = {0, 7, 9};
  LoadResult result = adopt_plugin(manifest, toy_query, bare_host());
  EXPECT_THAT(steps_of(result), ElementsAre("version failed"));
  EXPECT_EQ(result.status().message(),
            "ABI versions do not meet: the host speaks 0.1 to 0.5, the plugin 0.7 to 0.9");
  manifest = manifest_of("toy");
  manifest.stripe = {3, 0, 1};
  EXPECT_EQ(adopt_plugin(manifest, toy_query, bare_host()).status().message(),
            "Stripe text versions do not meet: the host speaks 1.0, the plugin 3.0 to 3.1");
  // … but it may lie: the plugin's own word counts too.
  static const stria_version_range future = {sizeof(stria_version_range), nullptr, 0, 8, 9};
  auto newer = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = toy_query(host, info);
    if (error) error->release(error);
    info->abi = &future;
    return to_error(make_error(StatusCode::incompatible, "too old a host"));
  };
  result = adopt_plugin(manifest_of("toy"), newer, bare_host());
  EXPECT_THAT(steps_of(result), ElementsAre("version", "query failed"));
  EXPECT_EQ(result.status().code(), StatusCode::incompatible);
  EXPECT_EQ(result.status().message(),
            "ABI versions do not meet: the host speaks 0.1 to 0.5, the plugin 0.8 to 0.9");
}

TEST(Adopt, WhatDoesNotFitIsRefused) {
  auto nothing = [](const stria_host_info*, stria_plugin_info*) -> stria_error* { return nullptr; };
  EXPECT_EQ(adopt_plugin(manifest_of("toy"), nothing, bare_host()).status().message(),
            "the plugin does not say which versions it speaks");
  EXPECT_EQ(adopt_plugin(manifest_of("top"), toy_query, bare_host()).status().message(),
            "the manifest says top 1.0.0, the shared object says toy 1.0.0");
  auto sanitized = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = toy_query(host, info);
    info->sanitizer = info->sanitizer == STRIA_SANITIZER_THREAD ? STRIA_SANITIZER_ADDRESS
                                                                : STRIA_SANITIZER_THREAD;
    return error;
  };
  EXPECT_THAT(adopt_plugin(manifest_of("toy"), sanitized, bare_host()).status().message(),
              HasSubstr("the plugin with the "));
  auto paged = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = toy_query(host, info);
    info->page_size = 3;
    return error;
  };
  EXPECT_THAT(adopt_plugin(manifest_of("toy"), paged, bare_host()).status().message(),
              HasSubstr("needs pages of 3 bytes"));
  auto choosy = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = toy_query(host, info);
    info->stripe_minor = 7;
    return error;
  };
  EXPECT_EQ(adopt_plugin(manifest_of("toy"), choosy, bare_host()).status().message(),
            "the highest common versions are ABI 0.5 and Stripe text 1.0, the plugin chose the "
            "minors 5 and 7");
  // No driver table: its first slot is missing.
  auto tableless = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = toy_query(host, info);
    info->driver = nullptr;
    return error;
  };
  LoadResult result = adopt_plugin(manifest_of("toy"), tableless, bare_host());
  EXPECT_THAT(steps_of(result), ElementsAre("version", "query", "create failed"));
  EXPECT_THAT(result.status().message(), HasSubstr("the plugin has no slot driver.create"));
}

// A plugin before ABI 0.5 has a buffer table that ends behind `release`.
TEST(Adopt, WhereABufferCannotBeMappedToReadItIsMappedToWrite) {
  static const stria_version_range old = {sizeof(stria_version_range), nullptr, 0, 1, 4};
  static stria_buffer_table buffers;
  auto older = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = toy_query(host, info);
    buffers = *info->buffer;
    buffers.size = offsetof(stria_buffer_table, map_read);
    info->buffer = &buffers;
    info->abi = &old;
    info->abi_minor = 4;
    return error;
  };
  Manifest manifest = manifest_of("toy");
  manifest.abi = {0, 1, 4};
  LoadResult loaded = adopt_plugin(manifest, older, bare_host());
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  Device device = loaded.plugin.open("a").value();
  Buffer buffer = device.allocate(8).value();
  Mapping mapping = buffer.map_read().value();
  EXPECT_TRUE(mapping.ready().wait().ok());
  EXPECT_EQ(mapping.size(), 8u);
}

// A plugin of ABI 0.1 has an event table that ends behind `release`.
TEST(Adopt, WhereAnEventHasNoEndTheHostMakesOne) {
  static const stria_version_range old = {sizeof(stria_version_range), nullptr, 0, 1, 1};
  static stria_event_table events;
  auto older = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = toy_query(host, info);
    events = *info->event;
    events.size = offsetof(stria_event_table, end);
    info->event = &events;
    info->abi = &old;
    info->abi_minor = 1;
    return error;
  };
  Manifest manifest = manifest_of("toy");
  manifest.abi = {0, 1, 1};
  LoadResult loaded = adopt_plugin(manifest, older, bare_host());
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  Device device = loaded.plugin.open("a").value();
  Event open = device.create_event().value(), failed = device.create_event().value();
  Event end = open.end().value(), end_of_failed = failed.end().value();
  EXPECT_FALSE(end.is_done());
  EXPECT_TRUE(open.signal().ok());
  EXPECT_TRUE(failed.signal(Status(StatusCode::data_loss, "torn")).ok());
  EXPECT_TRUE(end.wait().ok());
  EXPECT_TRUE(end_of_failed.wait().ok());
}

size_t size_of_services = 0;  // as an older host says it
const stria_driver_table* toy_driver = nullptr;

// A host of ABI 0.2 has services that end before `lend`.
TEST(Adopt, AnOlderHostWithoutLendIsEnough) {
  auto of_older_host = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    static stria_driver_table driver;
    stria_error* error = toy_query(host, info);
    toy_driver = info->driver;
    driver = *toy_driver;
    driver.create = [](const stria_driver_options* options, stria_driver** out) -> stria_error* {
      static stria_host_services services;
      services = *options->services;
      services.size = size_of_services;
      services.lend = [](stria_host*, uint8_t (*)(void*), void*) -> uint8_t {  // beyond its size
        std::abort();
      };
      stria_driver_options older = *options;
      older.services = &services;
      return toy_driver->create(&older, out);
    };
    info->driver = &driver;
    return error;
  };
  size_of_services = offsetof(stria_host_services, lend);
  LoadResult loaded = adopt_plugin(manifest_of("toy"), of_older_host, bare_host());
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  Event open = loaded.plugin.open("a").value().create_event().value();
  std::thread signaller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_TRUE(open.signal().ok());
  });
  EXPECT_TRUE(open.wait().ok());
  signaller.join();
  size_of_services = offsetof(stria_host_services, make_error);
  LoadResult refused = adopt_plugin(manifest_of("toy"), of_older_host, bare_host());
  EXPECT_EQ(refused.status().code(), StatusCode::incompatible);
  EXPECT_THAT(refused.status().message(),
              HasSubstr("the host offers fewer services than this plugin was built for"));
}

TEST(Adopt, TheHelperFillsAShortInfoOnlyAsFarAsItGoes) {
  stria_version_range abi = {sizeof abi, nullptr, STRIA_ABI_MAJOR, STRIA_ABI_MINOR,
                             STRIA_ABI_MINOR};
  stria_version_range stripe = {sizeof stripe, nullptr, STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR,
                                STRIA_STRIPE_MINOR};
  stria_host_info host{};
  host.size = sizeof host;
  host.abi = &abi;
  host.stripe = &stripe;
  stria_plugin_info info{};
  info.size = offsetof(stria_plugin_info, driver);
  EXPECT_EQ(toy_query(&host, &info), nullptr);
  EXPECT_NE(info.abi, nullptr);
  EXPECT_EQ(info.driver, nullptr);
}

TEST(Adopt, TheSizeOfAnInfoSaysAfterwardsHowFarBothKnowIt) {
  stria_version_range abi = {sizeof abi, nullptr, STRIA_ABI_MAJOR, STRIA_ABI_MINOR,
                             STRIA_ABI_MINOR};
  stria_version_range stripe = {sizeof stripe, nullptr, STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR,
                                STRIA_STRIPE_MINOR};
  stria_host_info host{};
  host.size = sizeof host;
  host.abi = &abi;
  host.stripe = &stripe;
  struct {
    stria_plugin_info info;
    uint64_t newer;  // what a later host's struct may have more
  } longer{};
  longer.info.size = sizeof longer;
  EXPECT_EQ(toy_query(&host, &longer.info), nullptr);
  EXPECT_EQ(longer.info.size, sizeof(stria_plugin_info));
  EXPECT_EQ(longer.newer, 0u);
}

TEST(Adopt, TheHelperReadsAShortKernelInfoOnlyAsFarAsItGoes) {
  stria_argument_info argument{};
  argument.size = offsetof(stria_argument_info, may_overlap);
  argument.direction = STRIA_IN;
  argument.bytes = 8;
  const uint32_t position = 1;
  argument.may_overlap = &position;  // beyond size, as all that follows
  argument.may_overlap_count = 1;
  const stria_argument_info* const arguments[] = {&argument};
  stria_kernel_info kernel{};
  kernel.size = sizeof kernel;
  kernel.arguments = arguments;
  kernel.argument_count = 1;
  kernel.part = STRIA_MAIN;
  kernel.interpreted = to_c("too\nlarge");
  EXPECT_EQ(sdk::copy_of(kernel).interpreted, "too\nlarge");
  EXPECT_EQ(copy_of(kernel).value().interpreted, "too large");
  kernel.size = offsetof(stria_kernel_info, interpreted);  // of ABI 0.3
  EXPECT_EQ(sdk::copy_of(kernel).interpreted, "");
  EXPECT_EQ(copy_of(kernel).value().interpreted, "");
  sdk::KernelInfo copied = sdk::copy_of(kernel);
  ASSERT_EQ(copied.arguments.size(), 1u);
  EXPECT_EQ(copied.arguments[0].bytes, 8u);
  EXPECT_TRUE(copied.arguments[0].may_overlap.empty());
  kernel.size = offsetof(stria_kernel_info, arguments);
  EXPECT_TRUE(sdk::copy_of(kernel).arguments.empty());
}

TEST(Adopt, SuccessWithoutAResultIsThePluginsFault) {
  auto hollow = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    static stria_device_table device = sdk::Tables<ToyDriver>::device_table;
    device.allocate = [](stria_device*, const stria_buffer_params*,
                         stria_buffer**) -> stria_error* { return nullptr; };
    stria_error* error = toy_query(host, info);
    info->device = &device;
    return error;
  };
  LoadResult result = adopt_plugin(manifest_of("toy"), hollow, bare_host());
  ASSERT_TRUE(result.status().ok());
  EXPECT_EQ(result.plugin.open("a")->allocate(1).status().to_string(),
            "incompatible: plugin toy: device.allocate succeeded but gave no result");
  EXPECT_TRUE(result.plugin.shutdown().ok());
}

// Events of a batch that lacks some: those that are there are given back.
TEST(Adopt, WhatCameWithAMissingResultIsReleased) {
  static int released;
  static char objects[4];
  static bool with_done;
  auto partly = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    static stria_device_table device = sdk::Tables<ToyDriver>::device_table;
    static stria_compiler_table compiler = sdk::Tables<ToyDriver>::compiler_table;
    static stria_library_table library = sdk::Tables<ToyDriver>::library_table;
    static stria_executor_table executor = sdk::Tables<ToyDriver>::executor_table;
    static stria_kernel_table kernel = sdk::Tables<ToyDriver>::kernel_table;
    static stria_event_table event = sdk::Tables<ToyDriver>::event_table;
    device.create_compiler = [](stria_device*, stria_compiler** out) -> stria_error* {
      *out = reinterpret_cast<stria_compiler*>(objects);
      return nullptr;
    };
    compiler.build = [](stria_compiler*, const stria_build_params*, stria_event* const*, uint64_t,
                        stria_library** out, stria_event** done) -> stria_error* {
      *out = reinterpret_cast<stria_library*>(objects);
      *done = reinterpret_cast<stria_event*>(objects);
      return nullptr;
    };
    compiler.release = [](stria_compiler*) {};
    library.kernels = [](stria_library*, stria_kernel_sink sink, void* state) -> stria_error* {
      stria_kernel_info one{};
      one.size = sizeof one;
      one.name = to_c("k");
      one.part = STRIA_MAIN;
      sink(state, &one);
      return nullptr;
    };
    library.release = [](stria_library*) {};
    executor.prepare = [](stria_executor*, stria_library*, uint64_t,
                          stria_kernel** out) -> stria_error* {
      *out = reinterpret_cast<stria_kernel*>(objects);
      return nullptr;
    };
    executor.submit = [](stria_executor*, const stria_launch* const*, uint64_t, stria_event* const*,
                         uint64_t, stria_event** each, stria_event** done) -> stria_error* {
      each[1] = reinterpret_cast<stria_event*>(objects + 1);
      if (with_done) *done = reinterpret_cast<stria_event*>(objects + 2);
      return nullptr;
    };
    kernel.release = [](stria_kernel*) {};
    event.release = [](stria_event*) { ++released; };
    stria_error* error = toy_query(host, info);
    info->device = &device;
    info->compiler = &compiler;
    info->library = &library;
    info->executor = &executor;
    info->kernel = &kernel;
    info->event = &event;
    return error;
  };
  LoadResult result = adopt_plugin(manifest_of("toy"), partly, bare_host());
  ASSERT_TRUE(result.status().ok()) << result.status().to_string();
  {
    Device device = *result.plugin.open("a");
    Library library = device.create_compiler()->build("k")->library;
    Executor executor = *device.create_executor();
    Kernel kernel = *executor.prepare(library, 0);
    for (bool done : {true, false}) {
      released = 0;
      with_done = done;
      std::vector<Event> each;
      const std::vector<Launch> two = {{kernel, {}, {}}, {kernel, {}, {}}};
      EXPECT_EQ(executor.submit(two, {}, &each).status().message(),
                "plugin toy: executor.submit succeeded but gave no result");
      each.clear();
      EXPECT_EQ(released, done ? 2 : 1);
    }
  }
  EXPECT_TRUE(result.plugin.shutdown().ok());
}

}  // namespace
}  // namespace stria::hal
