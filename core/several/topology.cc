// SPDX-License-Identifier: Apache-2.0
#include "stria/several/topology.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <mutex>

#include "stria/base/status.h"
#include "stria/hal/experimental.h"
#include "stria/runtime/inside.h"
#include "stria/several/kept_rates.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

// Two sizes tell latency and rate apart. The larger one is beyond what caches and rings hold.
constexpr int64_t kSmall = 4 << 10;
constexpr int64_t kLarge = 16 << 20;
constexpr int kRounds = 5;

using Clock = std::chrono::steady_clock;

// A tensor of each size on a device, written once, so that its memory is there.
struct Probe {
  Tensor small, large;
};
Result<Probe> probe_on(const Device& device) {
  Probe out;
  for (const auto& [tensor, bytes] : {std::pair{&out.small, kSmall}, {&out.large, kLarge}}) {
    STRIA_ASSIGN(*tensor, device.create_tensor(DataType::u8, {bytes}, "probe of a rate"));
    STRIA_RETURN_IF_ERROR(tensor->write(std::string(static_cast<size_t>(bytes), '\1')));
  }
  return out;
}

// The quickest of a few, for what else a machine does makes times longer, never shorter.
Result<double> quickest(const std::function<Status()>& move) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= kRounds; ++round) {
    const Clock::time_point begin = Clock::now();
    STRIA_RETURN_IF_ERROR(move());
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    if (round > 0) best = std::min(best, took);
  }
  return best;
}

// `move(large)` moves a probe of either size.
Result<MoveRate> rate_of(const std::function<Status(bool large)>& move) {
  STRIA_ASSIGN(const double small, quickest([&] { return move(false); }));
  STRIA_ASSIGN(const double large, quickest([&] { return move(true); }));
  MoveRate out;
  const double more = std::max(large - small, large / 100);
  out.bytes_per_s = static_cast<double>(kLarge - kSmall) / more;
  out.latency_s = std::max(small - static_cast<double>(kSmall) / out.bytes_per_s, 0.0);
  return out;
}

// One measurement at a time: two at once would measure each other.
std::mutex& measuring() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

Result<MoveRate> kept_or(const char* what, const Device& from, const Device& to,
                         const TopologyOptions& options,
                         const std::function<Result<MoveRate>()>& measure) {
  const KeptRate kept(what, from.info(), to.info());
  if (!options.again)
    if (const std::optional<MoveRate> known = kept.find()) return *known;
  const std::lock_guard lock(measuring());
  STRIA_ASSIGN(const MoveRate rate, measure());
  kept.keep(rate);
  return rate;
}

Result<MoveRate> measure_to_host(const Device& device, const TopologyOptions& options) {
  return kept_or("to host", device, device, options, [&]() -> Result<MoveRate> {
    STRIA_ASSIGN(const Probe probe, probe_on(device));
    std::vector<std::byte> bytes(kLarge);
    return rate_of([&](bool large) {
      const Tensor& tensor = large ? probe.large : probe.small;
      return Inside::read_into(tensor, {bytes.data(), tensor.byte_count()});
    });
  });
}

// Which of the two does the copy; null: neither reaches the other.
const Device* copier_of(const Device& from, const Device& to) {
  for (const auto& [one, other] : {std::pair{&to, &from}, {&from, &to}}) {
    const Result<bool> reached = hal::reaches(Inside::hal_device(*one), Inside::hal_device(*other));
    if (reached.ok() && *reached) return one;
  }
  return nullptr;
}

}  // namespace

double MoveRate::seconds(uint64_t bytes) const {
  if (!known()) return std::numeric_limits<double>::infinity();
  return latency_s + static_cast<double>(bytes) / bytes_per_s;
}

std::string_view name_of(MoveWay way) { return way == MoveWay::peer ? "peer copy" : "host"; }

MoveWay DeviceLink::way(uint64_t bytes) const {
  return peer.seconds(bytes) < host.seconds(bytes) ? MoveWay::peer : MoveWay::host;
}

Result<MoveRate> measure_to_device(const Device& device, const TopologyOptions& options) {
  return kept_or("to device", device, device, options, [&]() -> Result<MoveRate> {
    STRIA_ASSIGN(const Probe probe, probe_on(device));
    const std::string bytes(static_cast<size_t>(kLarge), '\2');
    return rate_of([&](bool large) {
      const Tensor& tensor = large ? probe.large : probe.small;
      return tensor.write(std::string_view(bytes).substr(0, tensor.byte_count()));
    });
  });
}

Result<Event> copy_tensor(const Device& from_device, const Tensor& from, const Device& to_device,
                          const Tensor& to, MoveWay way) {
  if (from.tensor_type() != to.tensor_type())
    return invalid_argument("a copy of {} into {}", to_string(from.type(), from.sizes()),
                            to_string(to.type(), to.sizes()));
  if (way == MoveWay::host) {
    std::vector<std::byte> bytes(from.byte_count());
    STRIA_RETURN_IF_ERROR(Inside::read_into(from, bytes));
    STRIA_RETURN_IF_ERROR(to.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    return Event();
  }
  const Device* const copier = copier_of(from_device, to_device);
  if (copier == nullptr)
    return unsupported("{} and {} do not reach each other's memory", from_device.name(),
                       to_device.name());
  STRIA_ASSIGN(const hal::Executor executor, Inside::hal_device(*copier).create_executor());
  return Inside::copy(executor, from, to);
}

Result<DeviceLink> measure_link(const Device& from, const Device& to,
                                const TopologyOptions& options) {
  DeviceLink out;
  out.to = 1;
  out.reaches = copier_of(from, to) != nullptr;
  const auto measure = [&](MoveWay way) -> Result<MoveRate> {
    STRIA_ASSIGN(const Probe source, probe_on(from));
    STRIA_ASSIGN(const Probe target, probe_on(to));
    return rate_of([&](bool large) -> Status {
      STRIA_ASSIGN(const Event moved, copy_tensor(from, large ? source.large : source.small, to,
                                                  large ? target.large : target.small, way));
      return moved.valid() ? moved.wait() : Status();
    });
  };
  STRIA_ASSIGN(out.host, kept_or("through the host", from, to, options,
                                 [&] { return measure(MoveWay::host); }));
  if (out.reaches) {
    STRIA_ASSIGN(out.peer,
                 kept_or("peer copy", from, to, options, [&] { return measure(MoveWay::peer); }));
  }
  return out;
}

Result<Topology> measure_topology(std::span<const Device> devices, const TopologyOptions& options) {
  Topology out;
  for (const Device& device : devices) {
    STRIA_ASSIGN(out.to_device.emplace_back(), measure_to_device(device, options));
    STRIA_ASSIGN(out.to_host.emplace_back(), measure_to_host(device, options));
  }
  for (size_t from = 0; from < devices.size(); ++from)
    for (size_t to = 0; to < devices.size(); ++to) {
      if (from == to) continue;
      STRIA_ASSIGN(DeviceLink link, measure_link(devices[from], devices[to], options));
      link.from = from;
      link.to = to;
      out.links.push_back(link);
    }
  return out;
}

}  // namespace stria
