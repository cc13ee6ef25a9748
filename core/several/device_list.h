// SPDX-License-Identifier: Apache-2.0
// Several devices as text: selectors with semicolons between. Each stands for all the devices that
// it keeps, in the order in which it would try them.
//
//   acme:0;acme:1         these two
//   kind:gpu, mem>=8G     every GPU of that size
//   llvm_cpu;llvm_cpu     the same device twice
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/pick/device_info.h"
#include "stria/runtime/pick/device_selector.h"
#include "stria/runtime/runtime.h"

namespace stria {

struct ListedDevice {
  DeviceSelector selector;  // that it is kept by
  DeviceInfo info;
};

// The selectors of the text; a semicolon in quotes is none of these. invalid_argument as
// parse_device_selector, with the number of the selector if there are several.
Result<std::vector<std::string>> split_device_list(std::string_view text);

// The devices for a program that was lowered; opens none. Fails as Runtime::open does where one of
// the selectors leaves no device.
Result<std::vector<ListedDevice>> list_devices(const Runtime& runtime, std::string_view text,
                                               const Compilation* program);

}  // namespace stria
