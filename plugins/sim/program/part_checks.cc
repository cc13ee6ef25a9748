// SPDX-License-Identifier: Apache-2.0
#include "program/part_checks.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "stria/base/text.h"
#include "stria/stripe/statement_conflicts.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"

namespace stria::sim {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

std::string memory_of(const Refinement& ref) {
  if (ref.location.empty()) return "";
  const stripe::LocationUnit& unit = ref.location.path.back();
  const bool numbered = unit.units.size() == 1 && unit.units[0].is_constant();
  return fmt::format("{}[{}]", unit.name, numbered ? unit.units[0].constant() : 0);
}

std::string name_of(const Statement& stmt, size_t position) {
  const Block* block = stmt.block();
  return block && !block->name.empty() ? fmt::format("'{}'", block->name)
                                       : fmt::format("statement {}", position);
}

// What a statement does with a tensor of the part, by the tensor's position.
struct Use {
  bool reads = false, writes = false;
};

std::map<size_t, Use> uses_of(const Block& part, const Statement& stmt) {
  std::map<size_t, Use> out;
  const auto add = [&](const std::string& name, bool reads, bool writes) {
    const Refinement* ref = part.find_ref(name);
    if (!ref) return;
    Use& use = out[static_cast<size_t>(ref - part.refs.data())];
    use.reads = use.reads || reads;
    use.writes = use.writes || writes;
  };
  if (const Block* block = stmt.block())
    for (const Refinement& ref : block->refs) {
      if (ref.dir != RefDir::none) add(ref.from, ref.dir != RefDir::out, ref.dir != RefDir::in);
    }
  if (const auto* special = stmt.special()) {
    for (const std::string& name : special->inputs) add(name, true, false);
    for (const std::string& name : special->outputs) add(name, false, true);
  }
  return out;
}

}  // namespace

Status check_model(const HardwareModel& model) {
  const std::set<std::string> above_0 = {"clock_mhz", "size_KiB", "ops_per_cycle",
                                         "bytes_per_cycle"};
  // "m.json:45, --set DRAM_BYTES"; without a field the model alone.
  const auto place = [&](const std::string& pointer) {
    const auto at = model.origins().find(pointer);
    return at == model.origins().end() ? fmt::format("'{}'", model.name) : at->second.to_string();
  };
  const nlohmann::json leaves = model.merged().flatten();
  for (const auto& [pointer, value] : leaves.items())
    if (value.is_number() && value.get<double>() == 0 &&
        above_0.count(pointer.substr(pointer.rfind('/') + 1)))
      return make_error(StatusCode::out_of_range,
                        "{}: {} is 0, a simulated machine needs more than that", place(pointer),
                        pointer);
  for (size_t b = 0; b < model.buses.size(); ++b)
    if (model.buses[b].bytes_per_cycle <= 0)
      return make_error(StatusCode::out_of_range,
                        "{}: /buses/{}: a simulated machine needs its bytes_per_cycle",
                        place(fmt::format("/buses/{}/sources", b)), b);
  return {};
}

Status check_capacity(const stripe::Program& program, const HardwareModel& model) {
  Status status;
  stripe::visit_blocks(program.entry, [&](const stripe::Place& place) {
    for (const Refinement& ref : place.block->refs) {
      if (!status.ok() || ref.dir != RefDir::none || ref.location.empty()) continue;
      const std::string& name = ref.location.path.back().name;
      const MemoryUnit* memory = model.find_memory(name);
      if (!memory) {
        status = not_found("{}: '{}' is in '{}', which the hardware model has not", place.path(),
                           ref.into, name);
        continue;
      }
      const int64_t copies =
          std::max<int64_t>(1, place.block->tags.integer(stripe::tag::kPipeline).value_or(1));
      const int64_t end = ref.offset_bytes + ref.shape.span_bytes() * copies;
      if (memory->size_bytes > 0 && end > memory->size_bytes)
        status =
            make_error(StatusCode::out_of_range,
                       "{}: '{}' ({} bytes at {}{}) does not fit into '{}' of {} bytes: {} too "
                       "many",
                       place.path(), ref.into, ref.shape.span_bytes(), ref.offset_bytes,
                       copies > 1 ? fmt::format(", {} times", copies) : "", name,
                       memory->size_bytes, end - memory->size_bytes);
    }
  });
  return status;
}

Status check_order(const stripe::Program& program, const Block& part,
                   const std::vector<StatementSpan>& spans) {
  struct Bytes {
    std::string memory;
    int64_t begin = 0, end = 0;
  };
  std::vector<Bytes> bytes;
  const bool placed = program.entry.tags.has(stripe::tag::kPlaced);
  for (const Refinement& ref : part.refs) {
    const Refinement* at = ref.dir == RefDir::none ? &ref : program.entry.find_ref(ref.from);
    if (!at) return not_found("'{}' is of no tensor of the program", ref.into);
    bytes.push_back({placed ? memory_of(*at) : at->into, at->offset_bytes,
                     at->offset_bytes + at->shape.span_bytes()});
  }
  std::vector<std::map<size_t, Use>> uses;
  for (const Statement& stmt : part.stmts) uses.push_back(uses_of(part, stmt));

  std::map<size_t, uint64_t> written;  // the first end of a statement that writes the allocation
  for (size_t s = 0; s < uses.size(); ++s)
    for (const auto& [tensor, use] : uses[s])
      if (use.writes) {
        const auto [at, added] = written.emplace(tensor, spans[s].end);
        at->second = std::min(at->second, spans[s].end);
      }
  for (size_t s = 0; s < uses.size(); ++s)
    for (const auto& [tensor, use] : uses[s]) {
      if (!use.reads || use.writes || part.refs[tensor].dir != RefDir::none) continue;
      const auto at = written.find(tensor);
      if (at == written.end() || at->second > spans[s].start)
        return invalid_argument("{} reads '{}' before anything is written to it",
                                name_of(part.stmts[s], s), part.refs[tensor].into);
    }

  // By start, so that statements which overlap in time stand close to each other.
  std::vector<size_t> order(uses.size());
  for (size_t s = 0; s < order.size(); ++s) order[s] = s;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return spans[a].start < spans[b].start; });
  const stripe::Place entry{nullptr, &program.entry, 0, 0, {}};
  const stripe::Place place{&entry, &part, 0, 1, part.index_box({})};
  std::optional<stripe::StatementConflicts> conflicts;
  for (size_t n = 0; n < order.size(); ++n)
    for (size_t m = n + 1; m < order.size() && spans[order[m]].start < spans[order[n]].end; ++m) {
      const size_t a = std::min(order[n], order[m]), b = std::max(order[n], order[m]);
      for (const auto& [x, of_a] : uses[a])
        for (const auto& [y, of_b] : uses[b]) {
          if (!of_a.writes && !of_b.writes) continue;
          const Bytes &p = bytes[x], &q = bytes[y];
          if (p.memory != q.memory || p.begin >= q.end || q.begin >= p.end) continue;
          if (x == y) {
            if (!conflicts) conflicts.emplace(place);
            if (!conflicts->must_wait(b, a)) continue;
          }
          return invalid_argument(
              "{} and {} run at the same time, and both touch bytes {} to {} of '{}' ('{}' and "
              "'{}'), which one of them writes: no dependency orders them",
              name_of(part.stmts[a], a), name_of(part.stmts[b], b), std::max(p.begin, q.begin),
              std::min(p.end, q.end) - 1, p.memory, part.refs[x].into, part.refs[y].into);
        }
    }
  return {};
}

}  // namespace stria::sim
