// SPDX-License-Identifier: Apache-2.0
// The plugin under test in this process: its tables with the suite's checks around them, a driver,
// an open device. Cases use the C tables themselves, as any host would. What takes a plugin's
// object gives it back by Handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/boundary/tables.h"
#include "stria/hal/files/manifest.h"
#include "suite/call_record.h"
#include "suite/handle.h"
#include "suite/patience.h"
#include "suite/test_host.h"

namespace stria::conformance {

struct SubjectOptions {
  std::filesystem::path directory;  // absolute
  std::string device_id;            // empty: the first that is available
  CallRecord* record = nullptr;     // not null
  double patience = 1;              // times each limit, for slow machines
  // Where cases may write; each gets a folder of its own there. Made when the first one asks.
  std::filesystem::path scratch;
  // The plugin in a process of its own (stria/hal/isolation/isolate.h). Cases that load the shared
  // object or ask it themselves do so here all the same.
  bool isolated = false;
};

using Bytes = std::vector<std::byte>;

// What a host says of itself when it asks a plugin for its tables.
struct HostSays {
  HostSays();  // what the product's own host says
  stria_version_range abi, stripe;
  stria_host_info info;  // points to the two
};

class Subject {
 public:
  explicit Subject(SubjectOptions options);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const SubjectOptions& options() const { return options_; }
  const Result<hal::Manifest>& manifest() const { return manifest_; }
  std::filesystem::path library() const;  // of the manifest, absolute

  // ---- of cases at Place::bare, or later; each does nothing the second time

  // Loads the shared object and finds its symbol.
  Status load();
  stria_plugin_query_function query() const { return query_; }  // after load()
  void* object() const { return object_; }                      // what dlopen gave
  // load(), and asks for the tables; if isolated, those that stand in for the plugin's.
  Status ask();
  // The tables with checks; after ask().
  const hal::Tables& tables() const { return tables_; }
  // As the plugin gave them.
  const hal::Tables& own_tables() const { return own_tables_; }
  const hal::TableSizes& table_sizes() const { return table_sizes_; }
  // The minor version of the boundary that the plugin speaks with this host.
  uint32_t abi_minor() const { return abi_minor_; }
  const void* extension(std::string_view name, uint32_t version) const;
  // ask(), and makes a driver on a host of the subject's.
  Status begin();
  // begin(), and opens the device.
  Status open();

  // ---- the subject's own driver and device; after open()

  TestHost& host() { return *host_; }
  stria_driver* driver() const { return driver_.get(); }
  stria_device* device() const { return device_.get(); }
  const hal::DeviceInfo& device_info() const { return device_info_; }
  // Gives back what open() made, in the right order; what is wrong with the end.
  Status end();
  // A folder of the running case's own, empty. It goes when the case has ended.
  Result<std::filesystem::path> scratch();
  // All folders that scratch() has made, with what is in them.
  void remove_scratch();

  // ---- shorter ways to single slots. A failure's message begins with the slot.

  Result<Driver> make_driver(TestHost& host, std::string_view options = "{}") const;
  Result<std::vector<hal::DeviceInfo>> list(stria_driver* driver) const;
  Result<Device> open_device(stria_driver* driver, std::string_view id,
                             std::string_view options = "{}") const;
  Result<Executor> make_executor(std::string_view options = "{}") const;
  Result<Compiler> make_compiler() const;
  Result<Buffer> allocate(uint64_t bytes, std::string_view memory = {}) const;
  Result<Event> host_event() const;
  Status signal(const Event& event, const Status& failure = Status()) const;
  Result<Event> copy(const Executor& on, const Buffer& source, uint64_t source_offset,
                     const Buffer& target, uint64_t target_offset, uint64_t bytes,
                     std::span<stria_event* const> waits = {}) const;
  Result<Event> fill(const Executor& on, const Buffer& target, uint64_t offset, uint64_t bytes,
                     std::span<const std::byte> pattern,
                     std::span<stria_event* const> waits = {}) const;
  // event.wait, then event.status: the event's own failure, or that it is not done in time.
  Status wait(const Event& event, int limit_ms = patience_ms(5000)) const;
  Result<bool> is_done(const Event& event) const;
  // By map_discard and by map_current, with waits for the end.
  Status write(const Buffer& buffer, uint64_t offset, std::span<const std::byte> bytes) const;
  Result<Bytes> read(const Buffer& buffer, uint64_t offset, uint64_t bytes) const;

  // What a plugin's error says, and gives it back: "executor.copy: …". Its rule is the slot's.
  static Status failure(Slot slot, stria_error* error);
  // The same where `slot` of `table` tells of the event's work: the rule is that work's, unless
  // another slot of the event says the opposite.
  static Status of_event(const stria_event_table& table, const Event& event, Slot slot,
                         stria_error* error);

 private:
  std::chrono::milliseconds scaled(std::chrono::milliseconds limit) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(limit * options_.patience);
  }

  SubjectOptions options_;
  Result<hal::Manifest> manifest_;
  void* object_ = nullptr;
  stria_plugin_query_function query_ = nullptr;
  const void* (*get_extension_)(stria_string, uint32_t) = nullptr;
  hal::Tables own_tables_{}, tables_{};
  hal::TableSizes table_sizes_{};
  uint32_t abi_minor_ = 0;
  bool asked_ = false;
  std::unique_ptr<TestHost> host_;
  hal::DeviceInfo device_info_;
  Driver driver_;
  Device device_;  // goes before the driver
  std::vector<std::filesystem::path> scratches_;
  int next_scratch_ = 0;
};

// `count` bytes that depend on `seed` and look like nothing else.
Bytes pattern(size_t count, uint32_t seed);
// "byte 17 is 3, not 200"; "" if both are equal.
std::string difference(std::span<const std::byte> got, std::span<const std::byte> expected);

// Runs a slot that returns an error, and returns from the function with its failure.
#define STRIA_SLOT(subject, table, slot, ...)                   \
  STRIA_RETURN_IF_ERROR(::stria::conformance::Subject::failure( \
      ::stria::conformance::Slot::table##_##slot, (subject).tables().table.slot(__VA_ARGS__)))

}  // namespace stria::conformance
