// SPDX-License-Identifier: Apache-2.0
#include "model/bounds_cases.h"

#include "model/kind_files.h"
#include "stria/hwmodel/unlikely_numbers.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kUnits =
    "Numbers that no machine has are a slip of a unit, as bytes where KiB are asked for.";

constexpr std::string_view kSays =
    "It says at least one memory unit with a size, and at least one execution unit.";

constexpr std::string_view kProperties =
    "What the device says of itself as an overlay over the kind's hardware model: a JSON object "
    "with that schema's keys";

using Check = std::function<Status(const HardwareModel&)>;

// Two cases: the file's model, and that model completed by the open device.
void add(CaseMaker& maker, const std::string& kind, std::string_view name, const Check& check,
         std::string_view sentence = kUnits) {
  Case& of_file = maker.add('H', fmt::format("{}.file.{}", kind, name), Level::loads, sentence,
                            [kind, check](Subject& subject) -> Finding {
                              STRIA_ASSIGN(const HardwareModel model, model_of(subject, kind));
                              return check(model);
                            });
  of_file.place = Place::bare;
  of_file.source = "guide/hardware_model.md";
  Case& of_device = maker.add('H', fmt::format("{}.device.{}", kind, name), Level::right, sentence,
                              [kind, check](Subject& subject) -> Finding {
                                STRIA_ASSIGN(const auto model, reported_model(subject, kind));
                                if (!model) return Finding::skip("the device is of another kind");
                                return check(*model);
                              });
  of_device.source = "guide/hardware_model.md";
}

// What the device reports is a part of a model, and fits into the file's.
void add_reads(CaseMaker& maker, const std::string& kind) {
  Case& c = maker.add('H', kind + ".device.reads", Level::loads, kProperties,
                      [kind](Subject& subject) -> Finding {
                        STRIA_ASSIGN(const auto model, reported_model(subject, kind));
                        return model ? Finding() : Finding::skip("the device is of another kind");
                      });
  c.source = "stria/plugin.h";
}

// The first number of a kind that no machine has.
Status likely(const HardwareModel& model, NumberKind kind) {
  for (const UnlikelyNumber& one : unlikely_numbers(model, kind)) {
    const Status status = broken("{}", one.text(model));
    return one.no_power_of_two ? with_rule(status, Rule::powers_of_two) : status;
  }
  return Status();
}

Status says_something(const HardwareModel& model) {
  if (model.memories.empty()) return broken("the model has no memory unit");
  if (model.executors.empty()) return broken("the model has no execution unit");
  return Status();
}

Status buses_end_somewhere(const HardwareModel& model) {
  for (const Bus& bus : model.buses)
    for (const auto* ends : {&bus.sources, &bus.sinks})
      for (const UnitInstance& end : *ends) {
        const auto count = model.unit_count(end.name);
        if (!count) return broken("a bus ends at {}[{}], which is no unit", end.name, end.instance);
        if (end.instance < 0 || end.instance >= *count)
          return broken("a bus ends at {}[{}]; the model has {} of it", end.name, end.instance,
                        *count);
      }
  return Status();
}

Status has_main_memory(const HardwareModel& model) {
  const MemoryUnit* main = largest_memory(model);
  if (!main || main->size_bytes == 0) return broken("no memory unit says its size");
  return Status();
}

}  // namespace

void add_bounds_cases(CaseMaker& maker, const std::string& kind) {
  add_reads(maker, kind);
  add(maker, kind, "says_something", says_something, kSays);
  add(maker, kind, "main_memory", has_main_memory, kSays);
  for (const auto& [name, numbers] : {std::pair{"sizes", NumberKind::sizes},
                                      {"counts", NumberKind::counts},
                                      {"clocks", NumberKind::clocks},
                                      {"operations", NumberKind::operations},
                                      {"bandwidths", NumberKind::bandwidths},
                                      {"latencies", NumberKind::latencies},
                                      {"vectors", NumberKind::vectors},
                                      {"lines", NumberKind::lines},
                                      {"energies", NumberKind::energies}})
    add(maker, kind, name,
        [numbers](const HardwareModel& model) { return likely(model, numbers); });
  add(maker, kind, "buses", buses_end_somewhere, sentence_of(Rule::model));
  Case& c = maker.add(
      'H', kind + ".device.memory_agrees", Level::right, kUnits,
      [kind](Subject& subject) -> Finding {
        STRIA_ASSIGN(const auto model, reported_model(subject, kind));
        if (!model) return Finding::skip("the device is of another kind");
        const uint64_t said = subject.device_info().memory_bytes;
        const MemoryUnit* main = largest_memory(*model);
        if (said == 0 || !main || main->size_bytes == 0 || model->simulated)
          return Finding::skip("one of the two does not say its size, or no machine is behind it");
        if (const auto unlikely = unlikely_memory(*model, said))
          return broken("{}", unlikely->text(*model));
        return {};
      });
  c.source = "guide/hardware_model.md";
}

}  // namespace stria::conformance
