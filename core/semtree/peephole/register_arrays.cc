// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/peephole/register_arrays.h"

#include <string>

#include "stria/base/refusal.h"
#include "stria/base/status.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

struct Usage {
  int lanes = 0;                       // of all accesses so far; 0: none yet
  std::vector<Place> across;           // loads of one lane of each of several slots
  Refusal obstacle = Refusal::none();  // why it cannot be in registers
};

void inspect(const Place& place, bool may_be_across, Usage& usage) {
  if (usage.obstacle) return;
  if (place.offset) {
    usage.obstacle = "a subscript is not constant";
  } else if (place.lanes > 1 && place.stride > 1 && may_be_across) {
    usage.across.push_back(place);
    return;
  } else if (place.lanes > 1 && place.stride != 1) {
    usage.obstacle = fmt::format("{} lanes are accessed with stride {}", place.lanes, place.stride);
  } else if (usage.lanes != 0 && usage.lanes != place.lanes) {
    usage.obstacle =
        fmt::format("it is accessed by {} and by {} elements", usage.lanes, place.lanes);
  } else if (place.constant % place.lanes != 0) {
    usage.obstacle =
        fmt::format("{} lanes are accessed at element {}", place.lanes, place.constant);
  }
  usage.lanes = place.lanes;
}

// Loads across slots take the same lane of each.
void inspect_across(Usage& usage) {
  for (const Place& place : usage.across)
    if (!usage.obstacle && (usage.lanes == 0 || place.stride % usage.lanes != 0))
      usage.obstacle = fmt::format("{} lanes are accessed with stride {}, slots have {}",
                                   place.lanes, place.stride, usage.lanes);
}

class MaskRemover {
 public:
  explicit MaskRemover(Function& function) : function_(function) {}

  void run(Body& body) {
    Body out;
    for (Statement& statement : body) {
      if (auto* loop = std::get_if<For>(&statement.op)) run(loop->body);
      if (auto* branch = std::get_if<If>(&statement.op)) run(branch->then);
      if (auto* load = std::get_if<Load>(&statement.op); load && in_registers(load->place)) {
        load->place.mask = nullptr;  // lanes beyond the mask are never used
      }
      if (auto* store = std::get_if<Store>(&statement.op);
          store && in_registers(store->place) && store->place.mask) {
        const Type type{function_.element_type(store->place.memory), store->place.lanes};
        function_.vars.push_back({fmt::format("old_{}", function_.vars.size()), type});
        const int old = static_cast<int>(function_.vars.size()) - 1;
        ExprRef mask = std::move(store->place.mask);
        store->place.mask = nullptr;
        out.push_back({Load{old, store->place}});
        store->value = select(std::move(mask), std::move(store->value), variable(old, type));
      }
      out.push_back(std::move(statement));
    }
    body = std::move(out);
  }

 private:
  bool in_registers(const Place& place) const {
    return !function_.is_param(place.memory) && function_.array(place.memory).in_registers;
  }
  Function& function_;
};

}  // namespace

Status place_arrays_in_registers(Function& function, const std::vector<bool>& wanted, bool across) {
  std::vector<Usage> usages(function.arrays.size());
  walk(function.body, [&](const Statement& statement) {
    const Place* place = nullptr;
    bool may_be_across = false;
    if (auto* load = std::get_if<Load>(&statement.op)) {
      place = &load->place;
      may_be_across = across;
    }
    if (auto* store = std::get_if<Store>(&statement.op)) place = &store->place;
    if (place && !function.is_param(place->memory))
      inspect(*place, may_be_across, usages[place->memory - function.params.size()]);
  });
  walk(function.body, [&](const Statement& statement) {
    const auto* call = std::get_if<MicroKernel>(&statement.op);
    if (!call) return;
    for (const MicroKernel::Operand& operand : call->operands)
      if (!function.is_param(operand.place.memory))
        usages[static_cast<size_t>(operand.place.memory) - function.params.size()].obstacle =
            fmt::format("the micro-kernel '{}' gets its address", call->symbol);
  });
  for (size_t i = 0; i < usages.size(); ++i) {
    Array& array = function.arrays[i];
    if (!wanted[i]) continue;
    inspect_across(usages[i]);
    if (const Refusal& obstacle = usages[i].obstacle) {
      function.notes.push_back(
          fmt::format("{} is on the stack: {}", array.name, obstacle.reason()));
    } else {
      array.in_registers = true;
      array.slot_lanes = usages[i].lanes == 0 ? 1 : usages[i].lanes;
    }
  }
  MaskRemover(function).run(function.body);
  Status status;
  walk(function.body, [&](const Statement& statement) {
    auto* operation = std::get_if<Instruction>(&statement.op);
    if (!operation || !status.ok()) return;
    for (const Instruction::Operand& operand : operation->operands) {
      const Array& array = function.array(operand.memory);
      if (array.in_registers) continue;
      const Refusal& obstacle =
          usages[static_cast<size_t>(operand.memory) - function.params.size()].obstacle;
      status = unsupported("'{}' of kernel '{}' is an operand of '{}' and not in registers: {}",
                           array.name, function.name, operation->name,
                           obstacle ? obstacle.reason() : "");
    }
  });
  return status;
}

}  // namespace stria::semtree
