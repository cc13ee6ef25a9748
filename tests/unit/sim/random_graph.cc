// SPDX-License-Identifier: Apache-2.0
#include "random_graph.h"

#include <algorithm>

#include "stria/base/text.h"

namespace stria::sim {
namespace {

TaskGraph random_body(RandomNumbers& random, size_t kinds, int deep, uint64_t most_points);

void add_node(RandomNumbers& random, TaskGraph& graph, size_t kinds, int deep,
              uint64_t most_points) {
  std::vector<uint32_t> waits;
  const auto size = static_cast<uint32_t>(graph.size());
  for (uint64_t w = random.pick(0, 2); w > 0 && size > 0; --w) {
    const auto before = static_cast<uint32_t>(random.pick(0, size - 1));
    if (std::find(waits.begin(), waits.end(), before) == waits.end()) waits.push_back(before);
  }
  if (deep > 0 && random.one_in(3)) {
    Loop loop;
    loop.body = std::make_shared<const TaskGraph>(
        random_body(random, kinds, deep - 1, std::max<uint64_t>(2, most_points / 8)));
    loop.points = random.pick(1, most_points);
    loop.depth = random.one_in(4) ? loop.points : random.pick(1, 5);
    const auto nodes = static_cast<uint32_t>(loop.body->size());
    if (random.one_in(3)) {
      const auto node = static_cast<uint32_t>(random.pick(0, nodes - 1));
      loop.carried.push_back({node, static_cast<uint32_t>(random.pick(node, nodes - 1))});
    }
    graph.add_loop(std::move(loop), waits);
    return;
  }
  graph.add(static_cast<uint32_t>(random.pick(0, kinds - 1)), waits);
}

TaskGraph random_body(RandomNumbers& random, size_t kinds, int deep, uint64_t most_points) {
  TaskGraph out;
  out.add(static_cast<uint32_t>(random.pick(0, kinds - 1)), {});  // a task at least
  for (uint64_t n = random.pick(0, 3); n > 0; --n) add_node(random, out, kinds, deep, most_points);
  return out;
}

}  // namespace

RandomGraph random_graph(uint32_t seed) {
  RandomNumbers random(seed);
  const double widths[] = {8, 16, 24, 32, 64};
  HardwareModel model = small_model(widths[random.pick(0, 4)], widths[random.pick(0, 4)]);
  for (MemoryUnit& memory : model.memories)
    if (memory.name == "SRAM" && random.one_in(2))
      memory.read_bytes_per_cycle = widths[random.pick(0, 4)];
  if (random.one_in(3))
    for (MemoryUnit& memory : model.memories)
      if (memory.name == "DRAM")
        memory.dram = {4, 1024, 32, 32 / widths[random.pick(0, 4)], 40, 4, 0, 0};
  model.transfers[0].latency_cycles = static_cast<double>(random.pick(0, 3));
  model.transfers[0].half_duplex = random.one_in(4);
  RandomGraph out{Machine::make(model).value(), {}};
  for (int k = 0; k < 6; ++k) {
    TaskKind kind;
    const std::string sram = fmt::format("SRAM[{}]", random.pick(0, 1));
    const uint64_t bytes = random.pick(1, 9) * (random.one_in(2) ? 128 : 100);
    switch (random.pick(0, 4)) {
      case 0:
        kind = transfer(out.machine, "DRAM[0]", sram, bytes, random.pick(0, 2) ? -1 : 1);
        break;
      case 1: kind = transfer(out.machine, sram, "DRAM[0]", bytes); break;
      case 2: kind = operation(out.machine, "CONV", random.pick(1, 40)); break;
      case 3: kind = operation(out.machine, "CONV", random.pick(100, 3000), 0); break;
      default:
        kind = operation(out.machine, "DSP", random.pick(1, 60),
                         static_cast<int32_t>(random.pick(0, 1)));
    }
    if (kind.work == TaskKind::Work::operation) {
      kind.overhead_ticks = random.pick(0, 4);
      const UnitInstance memory{"SRAM", static_cast<int64_t>(random.pick(0, 1))};
      const int32_t port = out.machine.ports(memory).of(PortUse::first);
      if (port >= 0 && random.one_in(3))
        kind.flows.push_back({{static_cast<uint32_t>(port)}, bytes});
    }
    const std::optional<uint32_t> rows = out.machine.rows({"DRAM", 0});
    if (kind.work == TaskKind::Work::transfer && rows)
      kind.flows.push_back({{*rows}, bytes * random.pick(1, 4)});
    kind.pj = static_cast<double>(random.pick(0, 1000)) / 7;
    out.graph.kinds.push_back(std::move(kind));
  }
  TaskGraph root = random_body(random, 6, 2, 150);
  root.kinds = std::move(out.graph.kinds);
  Loop loop;  // one at least
  loop.body = std::make_shared<const TaskGraph>(random_body(random, 6, 1, 40));
  loop.points = random.pick(2, 300);
  loop.depth = random.pick(1, 4);
  root.add_loop(std::move(loop),
                random.one_in(2) ? std::vector<uint32_t>{0} : std::vector<uint32_t>{});
  out.graph = std::move(root);
  return out;
}

}  // namespace stria::sim
