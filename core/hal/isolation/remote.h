// SPDX-License-Identifier: Apache-2.0
// What the handles of the isolated tables stand for: an object of the plugin's in its process.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/hal/isolation/connection.h"
#include "stria/hal/isolation/messages.h"
#include "stria/sdk/error.h"
#include "stria/sdk/handles.h"
#include "stria/sdk/host.h"
#include "stria/sdk/object.h"

namespace stria::hal::isolation {

// A driver of the tables. It has processes of which one at most waits for a device.
struct RemoteDriver {
  std::string plugin, directory, options;
  IsolateOptions how;
  std::unique_ptr<sdk::Host> host;

  // The process that waits, or a new one; it is the caller's.
  sdk::Ref<Connection> take();
  // Keeps it for the next device, or ends it. One with work that is not done gets no other device,
  // for it may hang. It ends once its work is done, when a device is asked for, or with the driver.
  void give_back(sdk::Ref<Connection> connection);
  // All processes without a device, which are to be ended.
  std::vector<sdk::Ref<Connection>> take_all();

 private:
  std::mutex mutex_;
  sdk::Ref<Connection> idle_;               // guarded by mutex_
  std::vector<sdk::Ref<Connection>> busy_;  // likewise
};

// Released with its last reference.
struct Remote : sdk::Object {
  explicit Remote(sdk::Ref<Connection> owner)
      : connection(std::move(owner)), id(connection->new_id()) {}
  ~Remote() override {
    if (made) connection->release(id, true);
  }
  const sdk::Ref<Connection> connection;
  const Id id;
  bool made = false;  // the plugin has it, or will
};

struct RemoteDevice : sdk::Object {
  RemoteDriver* driver = nullptr;
  sdk::Ref<Connection> connection;
  Id id = 0;
  DeviceInfo info;
};
struct RemoteCompiler : Remote {
  using Remote::Remote;
};
struct RemoteExecutor : Remote {
  using Remote::Remote;
};
struct RemoteBuffer : Remote {
  using Remote::Remote;
  uint64_t bytes = 0;
};
struct RemoteLibrary : Remote {
  using Remote::Remote;
  // Asked for once, when the build is done.
  std::shared_ptr<const std::vector<KernelInfo>> kernels();

 private:
  std::mutex mutex_;
  std::shared_ptr<const std::vector<KernelInfo>> kernels_;  // guarded by mutex_
};
struct RemoteKernel : Remote {
  using Remote::Remote;
  Id executor = 0;
  std::shared_ptr<const std::vector<KernelInfo>> all;
  uint64_t index = 0;
  const KernelInfo& info() const { return (*all)[index]; }
};

// ---- between handles and objects

using sdk::as;
using sdk::give;
template <typename Object, typename Handle>
void drop(Handle* handle) {
  sdk::Ref<Object>::adopt(reinterpret_cast<Object*>(handle));
}

// An event that a message is about to begin: not waited for if the message cannot be sent.
class Begun {
 public:
  Begun(Connection& connection, Kind maker) : event_(connection.open_event(maker)) {}
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;
  ~Begun() {
    if (event_) event_->connection().forget_event(event_->id());
  }
  Id id() const { return event_->id(); }
  stria_event* take() { return give<stria_event>(std::move(event_)); }

 private:
  sdk::Ref<RemoteEvent> event_;
};

Ids ids_of(stria_event* const* events, uint64_t count);

// The tables.
extern const stria_driver_table kDriverTable;
extern const stria_device_table kDeviceTable;
extern const stria_compiler_table kCompilerTable;
extern const stria_library_table kLibraryTable;
extern const stria_kernel_table kKernelTable;
extern const stria_executor_table kExecutorTable;
extern const stria_buffer_table kBufferTable;
extern const stria_event_table kEventTable;
const void* find_extension(stria_string name, uint32_t version);

}  // namespace stria::hal::isolation
