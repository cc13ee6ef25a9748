// SPDX-License-Identifier: Apache-2.0
#include "device_row.h"

#include <algorithm>
#include <chrono>
#include <random>

#include "../must.h"
#include "stria/runtime/inside.h"
#include "stria/type/half.h"

namespace stria::bench {
namespace {

Tensor filled(const Device& device, const TensorInfo& info, unsigned seed) {
  Tensor tensor = must(device.create_tensor(info));
  int64_t count = 1;
  for (int64_t size : info.sizes) count *= size;
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> drawn(static_cast<size_t>(std::min<int64_t>(count, 1 << 20)));
  for (float& x : drawn) x = distribution(random);
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = drawn[i % drawn.size()];
  if (info.type == DataType::fp16) {
    std::vector<uint16_t> halves(values.size());
    for (size_t i = 0; i < values.size(); ++i) halves[i] = fp16_from_double(values[i]);
    must(tensor.write({reinterpret_cast<const char*>(halves.data()), 2 * halves.size()}));
    return tensor;
  }
  must(tensor.write_values(values));
  return tensor;
}

}  // namespace

DeviceRow::DeviceRow(const Device& device, Executable made) : made_(std::move(made)) {
  unsigned seed = 1;
  for (const TensorInfo& info : made_.inputs()) inputs_.push_back(filled(device, info, seed++));
  for (const TensorInfo& info : made_.outputs())
    outputs_.push_back(must(device.create_tensor(info)));
}

DeviceRow::DeviceRow(Executable made, const DeviceRow& other)
    : made_(std::move(made)), inputs_(other.inputs_), outputs_(other.outputs_) {}

Event DeviceRow::run() const { return must(made_.run(inputs_, outputs_)); }

double DeviceRow::ms(uint32_t in_a_row) const {
  const auto begin = std::chrono::steady_clock::now();
  const Event runs = must(made_.run_in_a_row(in_a_row, inputs_, outputs_));
  queue_ns_ =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  must(runs.wait());
  return static_cast<double>(must(runs.duration_ns())) * 1e-6 / in_a_row;
}

double DeviceRow::ms_queued(uint32_t in_a_row, BusyDevice& busy) const {
  // What the host does before the first kernel is queued, and varies.
  constexpr double kFirstNs = 100e3, kAhead = 2;
  ms(in_a_row);
  const Event runs = must(busy.behind(
      kFirstNs + kAhead * queue_ns_, [&](const hal::Event& busy_until) -> Result<Event> {
        const Event ahead = Inside::event_of(busy_until);
        // What the device was given to do leaves its caches cold: one run that does not count.
        STRIA_ASSIGN(const Event warm, made_.run_in_a_row(1, inputs_, outputs_, {&ahead, 1}));
        return made_.run_in_a_row(in_a_row, inputs_, outputs_, {&warm, 1});
      }));
  must(runs.wait());
  return static_cast<double>(must(runs.duration_ns())) * 1e-6 / in_a_row;
}

}  // namespace stria::bench
