// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/experimental.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "stria/hal/boundary/sized.h"
#include "stria/hal/device_state.h"

namespace stria::hal {
namespace {

struct TableName {
  const char* name;
  uint32_t version;
};
constexpr TableName kSharing{STRIA_SHARING, STRIA_SHARING_VERSION};
constexpr TableName kPeers{STRIA_PEERS, STRIA_PEERS_VERSION};
constexpr TableName kForeignEvents{STRIA_FOREIGN_EVENTS, STRIA_FOREIGN_EVENTS_VERSION};
constexpr TableName kEstimate{STRIA_ESTIMATE, STRIA_ESTIMATE_VERSION};

// The plugin's table as far as it has it: what lies beyond its size is null.
template <typename Table>
Result<Table> table_of(const PluginState& plugin, const TableName& wanted) {
  STRIA_RETURN_IF_ERROR(plugin.usable());
  const void* found = nullptr;
  if (plugin.get_extension) {
    try {
      found = plugin.get_extension(to_c(wanted.name), wanted.version);
    } catch (...) {
      return plugin.thrown("get_extension");
    }
  }
  Table table{};
  if (is_address(found, alignof(Table))) {
    uint64_t size = 0;
    std::memcpy(&size, found, sizeof size);
    const size_t bytes = std::min<uint64_t>(size, sizeof table);
    std::memcpy(static_cast<void*>(&table), found, bytes - bytes % sizeof(void*));
    return table;
  }
  return make_error(StatusCode::unimplemented, "plugin {} has no table '{}' of version {}",
                    plugin.manifest.id, wanted.name, wanted.version);
}

// Calls a slot of such a table.
template <typename Function, typename... Args>
Status call(const PluginState& plugin, const char* slot, Function function, Args... args) {
  if (function) return plugin.call(slot, function, args...);
  return make_error(StatusCode::unimplemented, "plugin {} has no slot {}", plugin.manifest.id,
                    slot);
}

Status no_object(const char* noun) {
  return make_error(StatusCode::failed_precondition, "there is no {} to use", noun);
}

stria_shared_memory shared(stria_memory_kind kind, uint64_t bytes) {
  stria_shared_memory memory{};
  memory.size = sizeof memory;
  memory.kind = kind;
  memory.descriptor = -1;
  memory.bytes = bytes;
  return memory;
}

Result<Buffer> import_shared(const std::shared_ptr<DeviceState>& device,
                             const stria_shared_memory& memory,
                             std::shared_ptr<const void> companion) {
  const PluginState& plugin = *device->plugin;
  STRIA_ASSIGN(const auto table, table_of<stria_sharing_table>(plugin, kSharing));
  stria_buffer* handle = nullptr;
  STRIA_RETURN_IF_ERROR(
      call(plugin, "sharing.import_buffer", table.import_buffer, device->handle, &memory, &handle));
  if (!handle) return plugin.gave_nothing("sharing.import_buffer");
  return Buffer(device, handle, memory.bytes, std::move(companion));
}

Result<stria_shared_memory> export_shared(const Buffer& buffer, stria_memory_kind kind) {
  const std::shared_ptr<DeviceState> device = buffer.device();
  if (!device) return no_object("buffer");
  const PluginState& plugin = *device->plugin;
  STRIA_ASSIGN(const auto table, table_of<stria_sharing_table>(plugin, kSharing));
  stria_shared_memory memory = shared(kind, 0);
  STRIA_RETURN_IF_ERROR(
      call(plugin, "sharing.export_buffer", table.export_buffer, buffer.handle(), kind, &memory));
  Descriptor own(kind == STRIA_MEMORY_DESCRIPTOR ? memory.descriptor : -1);
  const bool given =
      kind == STRIA_HOST_MEMORY ? memory.address || buffer.size() == 0 : memory.descriptor >= 0;
  if (!given) return plugin.gave_nothing("sharing.export_buffer");
  if (memory.kind != kind || memory.bytes < buffer.size())
    return plugin.in_slot(
        "sharing.export_buffer",
        make_error(kPluginFault, "it gave memory of kind {} with {} bytes, not of kind {} with {}",
                   memory.kind, memory.bytes, kind, buffer.size()));
  (void)own.release();
  return memory;
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}
int Descriptor::release() { return std::exchange(descriptor_, -1); }
Descriptor::~Descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<ShareKinds> share_kinds(const Device& device) {
  const std::shared_ptr<DeviceState>& state = device.state();
  if (!state) return no_object("device");
  STRIA_ASSIGN(const auto table, table_of<stria_sharing_table>(*state->plugin, kSharing));
  ShareKinds kinds;
  STRIA_RETURN_IF_ERROR(call(*state->plugin, "sharing.kinds", table.kinds, state->handle,
                             &kinds.imported, &kinds.exported));
  return kinds;
}

Result<Buffer> import_memory(const Device& device, std::span<std::byte> memory,
                             std::shared_ptr<const void> owner) {
  if (!device.state()) return no_object("device");
  // The plugin's last touch may come after the last handle: it says when.
  const uintptr_t ticket = keep(std::move(owner));
  stria_shared_memory given = shared(STRIA_HOST_MEMORY, memory.size());
  given.address = memory.data();
  given.state = reinterpret_cast<void*>(ticket);
  given.released = [](void* state) { drop_kept(reinterpret_cast<uintptr_t>(state)); };
  Result<Buffer> buffer = import_shared(device.state(), given, nullptr);
  if (!buffer.ok()) drop_kept(ticket);
  return buffer;
}

Result<Buffer> import_descriptor(const Device& device, int descriptor, uint64_t offset,
                                 uint64_t bytes) {
  if (!device.state()) return no_object("device");
  stria_shared_memory given = shared(STRIA_MEMORY_DESCRIPTOR, bytes);
  given.descriptor = descriptor;
  given.offset = offset;
  return import_shared(device.state(), given, nullptr);
}

Result<std::span<std::byte>> export_memory(const Buffer& buffer) {
  STRIA_ASSIGN(const stria_shared_memory memory, export_shared(buffer, STRIA_HOST_MEMORY));
  return std::span<std::byte>(static_cast<std::byte*>(memory.address), buffer.size());
}

Result<ExportedDescriptor> export_descriptor(const Buffer& buffer) {
  STRIA_ASSIGN(const stria_shared_memory memory, export_shared(buffer, STRIA_MEMORY_DESCRIPTOR));
  return ExportedDescriptor{Descriptor(memory.descriptor), memory.offset};
}

Result<bool> reaches(const Device& device, const Device& peer) {
  if (!device.state() || !peer.state()) return no_object("device");
  if (device.state()->plugin != peer.state()->plugin) return false;
  const PluginState& plugin = *device.state()->plugin;
  STRIA_ASSIGN(const auto table, table_of<stria_peers_table>(plugin, kPeers));
  uint8_t reached = 0;
  STRIA_RETURN_IF_ERROR(call(plugin, "peers.reaches", table.reaches, device.state()->handle,
                             peer.state()->handle, &reached));
  return reached != 0;
}

Result<Event> copy_between(const Executor& executor, const Buffer& source, uint64_t source_offset,
                           const Buffer& target, uint64_t target_offset, uint64_t bytes,
                           Waits waits) {
  const std::shared_ptr<DeviceState> own = executor.device();
  if (!own) return no_object("executor");
  for (const auto& [buffer, offset] :
       {std::pair{&source, source_offset}, {&target, target_offset}}) {
    if (!buffer->valid()) return no_object("buffer");
    if (offset > buffer->size() || bytes > buffer->size() - offset)
      return make_error(StatusCode::out_of_range, "{} bytes from offset {} of a buffer of {} bytes",
                        bytes, offset, buffer->size());
    if (buffer->device() == own) continue;
    STRIA_ASSIGN(const bool reached, reaches(Device(own), Device(buffer->device())));
    if (!reached)
      return unsupported(
          "device '{}' of plugin {} does not reach memory of device '{}' of plugin {}",
          own->info.id, own->plugin->manifest.id, buffer->device()->info.id,
          buffer->device()->plugin->manifest.id);
  }
  if (source.device() != own && target.device() != own)
    return invalid_argument(
        "neither buffer of the copy is of device '{}', whose executor is to do it", own->info.id);
  if (source == target)
    return executor.copy(source, source_offset, target, target_offset, bytes, waits);
  const PluginState& plugin = *own->plugin;
  STRIA_ASSIGN(const auto table, table_of<stria_peers_table>(plugin, kPeers));
  STRIA_ASSIGN(WaitList list, WaitList::make(own, waits));
  stria_event* done = nullptr;
  STRIA_RETURN_IF_ERROR(call(plugin, "peers.copy", table.copy, executor.handle(), source.handle(),
                             source_offset, target.handle(), target_offset, bytes, list.data(),
                             list.size(), &done));
  if (!done) return plugin.gave_nothing("peers.copy");
  return Event(own, done, "peers.copy");
}

Result<Event> import_event(const Device& device, int descriptor) {
  const std::shared_ptr<DeviceState>& state = device.state();
  if (!state) return no_object("device");
  const PluginState& plugin = *state->plugin;
  STRIA_ASSIGN(const auto table, table_of<stria_foreign_events_table>(plugin, kForeignEvents));
  stria_foreign_event foreign{};
  foreign.size = sizeof foreign;
  foreign.kind = STRIA_EVENT_DESCRIPTOR;
  foreign.descriptor = descriptor;
  stria_event* event = nullptr;
  STRIA_RETURN_IF_ERROR(call(plugin, "foreign_events.import_event", table.import_event,
                             state->handle, static_cast<const stria_foreign_event*>(&foreign),
                             &event));
  if (!event) return plugin.gave_nothing("foreign_events.import_event");
  return Event(state, event, "foreign_events.import_event");
}

Result<Descriptor> export_event(const Event& event) {
  if (!event.valid()) return no_object("event");
  const PluginState& plugin = *event.device()->plugin;
  STRIA_ASSIGN(const auto table, table_of<stria_foreign_events_table>(plugin, kForeignEvents));
  stria_foreign_event foreign{};
  foreign.size = sizeof foreign;
  foreign.descriptor = -1;
  STRIA_RETURN_IF_ERROR(call(plugin, "foreign_events.export_event", table.export_event,
                             event.handle(), stria_event_kind{STRIA_EVENT_DESCRIPTOR}, &foreign));
  if (foreign.descriptor < 0) return plugin.gave_nothing("foreign_events.export_event");
  return Descriptor(foreign.descriptor);
}

Result<Estimate> estimate(const Device& device, std::string_view stripe, std::string_view options) {
  const std::shared_ptr<DeviceState>& state = device.state();
  if (!state) return no_object("device");
  const PluginState& plugin = *state->plugin;
  STRIA_ASSIGN(const auto table, table_of<stria_estimate_table>(plugin, kEstimate));
  stria_build_params params{};
  params.size = sizeof params;
  params.stripe = to_c(stripe);
  params.options = to_c(options);
  stria_estimate out{};
  out.size = sizeof out;
  STRIA_RETURN_IF_ERROR(call(plugin, "estimate.estimate", table.estimate, state->handle,
                             static_cast<const stria_build_params*>(&params), &out));
  // 0 is what the plugin does not know.
  const uint64_t low = out.low_time_ns, time = out.time_ns, high = out.high_time_ns;
  const auto above = [](uint64_t a, uint64_t b) { return a != 0 && b != 0 && a > b; };
  if (above(low, time) || above(time, high) || above(low, high))
    return plugin.in_slot("estimate.estimate",
                          make_error(kPluginFault,
                                     "a time of {} ns with bounds of {} and {} ns (0: not known), "
                                     "which are not in order",
                                     time, low, high));
  return Estimate{out.time_ns,     out.low_time_ns, out.high_time_ns,
                  out.prologue_ns, out.energy_pj,   out.build_ns};
}

}  // namespace stria::hal
