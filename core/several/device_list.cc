// SPDX-License-Identifier: Apache-2.0
#include "stria/several/device_list.h"

#include "stria/runtime/inside.h"

namespace stria {

Result<std::vector<std::string>> split_device_list(std::string_view text) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : text) {
    quoted = quoted != (c == '"');
    if (c == ';' && !quoted)
      out.emplace_back();
    else
      out.back() += c;
  }
  for (size_t n = 0; n < out.size(); ++n) {
    const Status status = parse_device_selector(out[n]).status();
    if (status.ok()) continue;
    return out.size() == 1
               ? status
               : status.with_context(fmt::format("selector {} of {}", n + 1, out.size()));
  }
  return out;
}

Result<std::vector<ListedDevice>> list_devices(const Runtime& runtime, std::string_view text,
                                               const Compilation* program) {
  STRIA_ASSIGN(const std::vector<std::string> selectors, split_device_list(text));
  std::vector<ListedDevice> out;
  for (const std::string& one : selectors) {
    STRIA_ASSIGN(const Selection selection, Inside::order(runtime, one, program));
    for (const size_t at : selection.order)
      out.push_back({selection.selector, selection.devices[at].device});
  }
  return out;
}

}  // namespace stria
