// SPDX-License-Identifier: Apache-2.0
// Device selectors: the canonical text reads back to the same selector, and every device of a fixed
// list is kept or dropped for a reason.
#include "fuzzer.h"
#include "stria/base/status.h"
#include "stria/runtime/pick/selection.h"

namespace {

using namespace stria;

std::vector<DeviceFacts> machine() {
  std::vector<DeviceFacts> out;
  const auto add = [&](const char* plugin, uint32_t number, const char* name, const char* kind) {
    DeviceFacts& one = out.emplace_back();
    one.info.plugin = plugin;
    one.info.selector = fmt::format("{}:{}", plugin, number);
    one.info.name = name;
    one.info.kind = kind;
    one.info.available = true;
    one.info.memory_bytes = uint64_t{1} << (30 + number);
    one.number = number;
    one.operations_per_second = number;
    return &one;
  };
  add("llvm_cpu", 0, "Acme 300", "cpu");
  add("opencl", 0, "Größe, rev \"B\"", "gpu")->lacks_types = {{DataType::fp64, "cl_khr_fp64"}};
  add("opencl", 1, "", "gpu")->info.available = false;
  add("sim", 0, "\xff\xfe", "eyeriss_like")->simulated = true;
  add("vulkan", 0, "llvmpipe", "software")->model_trouble = "unreadable";
  add("bad", 0, "", "")->plugin_trouble = "not trusted";
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<DeviceFacts> devices = machine();
  const Result<DeviceSelector> selector = parse_device_selector(fuzz::text_of(data, size));
  if (!selector.ok()) {
    STRIA_CHECK(!selector.status().message().empty(), "a failure without a message");
    STRIA_CHECK(selector.status().message().find('\n') == std::string::npos,
                "a failure of several lines");
    return 0;
  }
  const std::string canonical = selector->to_string();
  const Result<DeviceSelector> again = parse_device_selector(canonical);
  if (canonical.size() <= kMaxSelectorBytes) {
    STRIA_CHECK(again.ok(), "'{}' cannot be read: {}", canonical, again.status().message());
    STRIA_CHECK(*again == *selector, "'{}' is another selector", canonical);
    STRIA_CHECK(again->to_string() == canonical, "'{}' is not canonical", canonical);
  }
  ProgramNeeds needs;
  needs.types[DataType::fp64] = {"kernel"};
  needs.bytes = uint64_t{3} << 29;
  for (const ProgramNeeds* asked :
       {static_cast<const ProgramNeeds*>(nullptr), &std::as_const(needs)}) {
    const Selection selection = select(devices, *selector, asked);
    STRIA_CHECK(selection.devices.size() == devices.size(), "a device has no verdict");
    size_t kept = 0;
    for (const DeviceVerdict& one : selection.devices) {
      kept += one.kept();
      for (const Objection& objection : one.objections)
        STRIA_CHECK(!text_of(objection, *selector).empty() &&
                        (!objection.term || *objection.term < selector->terms.size()),
                    "no reason");
    }
    STRIA_CHECK(kept == selection.order.size(), "what is kept is not what is tried");
    const Status any = check_any_kept(selection);
    STRIA_CHECK(any.ok() == (kept > 0) && (any.ok() || !any.message().empty()), "{}",
                any.message());
  }
  return 0;
}
