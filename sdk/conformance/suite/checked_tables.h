// SPDX-License-Identifier: Apache-2.0
// The plugin's tables with a check around every slot: an exception that comes out, an error that
// is none, how long the call takes. Once per process: the slots are plain functions, and one plugin
// is under test in a process.
#pragma once

#include <optional>
#include <string>

#include "stria/hal/boundary/tables.h"
#include "suite/call_record.h"
#include "suite/rules.h"

namespace stria::conformance {

// Tables that call `plugin`'s slots and write down in `record` what they see. Not thread-safe; a
// later call replaces what the tables of an earlier one do.
hal::Tables checked(const hal::Tables& plugin, CallRecord& record);

// What is wrong with an error that a slot returned, in words, and the rule that it breaks; nothing
// if it is one.
struct ErrorFault {
  std::string text;
  Rule rule;
};
std::optional<ErrorFault> fault_of(const stria_error& error);

}  // namespace stria::conformance
