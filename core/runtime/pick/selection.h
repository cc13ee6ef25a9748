// SPDX-License-Identifier: Apache-2.0
// What becomes of each device under a selector, and for a program: kept or dropped, at which gate,
// and why. Runtime::select makes it of the devices that there are.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/runtime/pick/device_info.h"
#include "stria/runtime/pick/device_record.h"
#include "stria/runtime/pick/device_selector.h"
#include "stria/runtime/pick/program_needs.h"
#include "stria/type/data_type.h"

namespace stria {

// What is known of a device without opening it. Plain value.
struct DeviceFacts {
  DeviceInfo info;
  uint32_t number = 0;  // in its plugin's list, from 0
  // Why the plugin cannot be used; empty: it can. There is no device then: of `info` only plugin
  // and selector are set.
  std::string plugin_trouble;
  // From earlier processes:
  std::optional<Quarantine> quarantine;
  std::optional<Conformance> conformance;
  // From the hardware model:
  std::string model_trouble;                    // why there is none; what follows is not known then
  bool simulated = false;                       // no machine is behind it
  std::map<DataType, std::string> lacks_types;  // what is missing for each: "shaderFloat64"
  double operations_per_second = 0;             // promised; 0: nothing, or of no machine
};

// Where a device can be dropped, in this order.
enum class Gate {
  name,         // no name means it, or one behind '!' does
  plugin,       // its plugin cannot be used
  available,    // it is not there
  quarantine,   // it failed not long ago; of `auto` alone, as is the next one
  conformance,  // its plugin fails the conformance suite
  condition,    // mem>=8G, !kind:cpu
  types,        // the program needs types of elements that it lacks
  memory,       // the program's inputs, weights and outputs do not fit, or what a run has at once
  build,        // its pipeline fails for the program
  limit,        // a deadline or a cap of power, by what is predicted
};
// "name", "plugin", …
STRIA_API std::string_view name_of(Gate gate);

struct Objection {
  Gate gate = Gate::name;
  // Position in DeviceSelector::terms; nullopt: no single term is the reason.
  std::optional<size_t> term;
  std::string why;  // one line: "it has 7.6 GiB"
};

struct DeviceVerdict {
  DeviceInfo device;
  std::vector<Objection> objections;  // all there are, in the order of gates; empty: it is kept
  // As in its facts, also where they are no objection.
  std::optional<Quarantine> quarantine = {};
  std::optional<Conformance> conformance = {};
  bool kept() const { return objections.empty(); }
};

struct Selection {
  DeviceSelector selector;
  std::vector<DeviceVerdict> devices;  // in the order of the facts
  std::vector<size_t> order;           // positions of those that are kept; the first is taken first
  std::vector<size_t> idle;            // positions of terms whose name means no device here
};

// Does it run on the processor what is made for another device? Then whatever else is there is
// better, whatever the models promise: they cannot tell what the detour costs.
STRIA_API bool is_software(const DeviceInfo& device);

// A function of its arguments: safe from any thread. `needs` may be null: no program is asked
// about.
// What the selector asks for beside devices (objective, runs, deadline, power) is carried and does
// not change the order: who opens a device by it asks check_can_be_kept(), which refuses it.
STRIA_API Selection select(const std::vector<DeviceFacts>& devices, const DeviceSelector& selector,
                           const ProgramNeeds* needs = nullptr);

// What speaks against a device, or a model, of which only this is known.
std::vector<Objection> lacks_of(const ProgramNeeds& needs,
                                const std::map<DataType, std::string>& lacks_types,
                                uint64_t memory_bytes);

// Why nothing is kept, with a line for each device: not_found if no name means any, else
// unavailable, or unsupported if it is for the program alone. Ok if something is kept.
STRIA_API Status check_any_kept(const Selection& selection);

// "'acmee' means no device here, did you mean 'acme'?" for each name of a list that is idle where
// others are not: nobody would see it otherwise.
STRIA_API std::vector<std::string> idle_names(const Selection& selection);

// ", did you mean 'gpu'?" of a name or a kind that means nothing there; "" if nothing is near.
std::string nearest_of(const Selection& selection);
// Of a plugin that is not there: what STRIA_PLUGIN_PATH has to do with it, a sentence.
std::string plugin_path_hint(std::string_view plugin);
// The same of the first name of a selection that means no plugin; "" if there is none.
std::string plugin_path_hint(const Selection& selection);

// Must a selector know more than names to be evaluated: what hardware models say?
bool asks_models(const DeviceSelector& selector);

// "'mem>=8G': it has 7.6 GiB": an objection with its term, if it has one.
STRIA_API std::string text_of(const Objection& objection, const DeviceSelector& selector);

}  // namespace stria
