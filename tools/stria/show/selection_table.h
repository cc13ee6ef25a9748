// SPDX-License-Identifier: Apache-2.0
// What became of each device under a selector, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stria/runtime/pick/selection.h"

namespace stria::command {

// Does the name or pattern mean the device: "opencl", "opencl:0", "*:*H100*", "*radeon*"?
bool is_called(const DeviceInfo& device, const std::string& name);

// A device as tables have it, and what is said of it.
struct DeviceLine {
  std::string selector, name, said;
};
// A line each, in columns.
std::string table_of(const std::vector<DeviceLine>& lines);

// What drops the device, for a line: "dropped: 'mem>=8G': it has 2.0 GiB".
std::string verdict_text(const DeviceVerdict& verdict, const DeviceSelector& selector);
// What earlier processes have found out of a device, behind what else is said: "; in quarantine:
// …". "" if it is nothing, or stands among the reasons that drop it.
std::string history_text(const DeviceVerdict& verdict);
// Parts of what print_selection_json prints: one device, and the selector taken apart.
nlohmann::ordered_json json_of_quarantine(const std::optional<Quarantine>& quarantine);
nlohmann::ordered_json json_of_verdict(const Selection& selection, size_t device);
nlohmann::ordered_json json_of_selector(const DeviceSelector& selector);

// A line for each device: those that are kept in the order in which they are tried, then the others
// with what drops them.
void print_selection(const Selection& selection);
// The same as JSON, with the selector taken apart.
void print_selection_json(const Selection& selection);

}  // namespace stria::command
