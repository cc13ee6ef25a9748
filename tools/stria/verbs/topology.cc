// SPDX-License-Identifier: Apache-2.0
#include "verbs/topology.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "inputs/device_choice.h"
#include "inputs/open_device.h"
#include "message.h"
#include "progress.h"
#include "stria/runtime/inside.h"
#include "stria/several/device_list.h"
#include "stria/several/topology.h"

namespace stria::command {
namespace {

// What the way is said of: large enough that the rate counts.
constexpr uint64_t kShownBytes = 16 << 20;

std::string text_of(const MoveRate& rate) {
  return fmt::format("{:.3g} GB/s, {:.3g} us", rate.bytes_per_s * 1e-9, rate.latency_s * 1e6);
}

// One row for each place that bytes come from, a column for each that they go to.
void print_text(const std::vector<Device>& devices, const Topology& all) {
  std::vector<std::vector<std::string>> rows = {{"from", "to host"}};
  for (const Device& device : devices) rows[0].push_back("to " + device.info().selector);
  rows.push_back({"host", "-"});
  for (const MoveRate& rate : all.to_device) rows[1].push_back(text_of(rate));
  for (size_t from = 0; from < devices.size(); ++from) {
    std::vector<std::string>& row =
        rows.emplace_back(std::vector{devices[from].info().selector, text_of(all.to_host[from])});
    row.resize(2 + devices.size(), "-");
  }
  for (const DeviceLink& link : all.links) {
    const MoveWay way = link.way(kShownBytes);
    rows[2 + link.from][2 + link.to] =
        fmt::format("{}, {}", text_of(way == MoveWay::peer ? link.peer : link.host), name_of(way));
  }
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (size_t n = 0; n < row.size(); ++n) widths[n] = std::max(widths[n], row[n].size());
  for (const auto& row : rows) {
    std::string line;
    for (size_t n = 0; n < row.size(); ++n) line += fmt::format("{:<{}}  ", row[n], widths[n]);
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

nlohmann::ordered_json json_of(const MoveRate& rate) {
  if (!rate.known()) return nullptr;
  return {{"bytes_per_s", rate.bytes_per_s}, {"latency_s", rate.latency_s}};
}

void print_json(const std::vector<Device>& devices, const Topology& all) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array(), links = list;
  for (size_t n = 0; n < devices.size(); ++n)
    list.push_back({{"selector", devices[n].info().selector},
                    {"name", devices[n].info().name},
                    {"from_host", json_of(all.to_device[n])},
                    {"to_host", json_of(all.to_host[n])}});
  for (const DeviceLink& link : all.links)
    links.push_back({{"from", devices[link.from].info().selector},
                     {"to", devices[link.to].info().selector},
                     {"way", link.way(kShownBytes) == MoveWay::peer ? "peer" : "host"},
                     {"peer", json_of(link.peer)},
                     {"host", json_of(link.host)}});
  const nlohmann::ordered_json text = {{"devices", std::move(list)}, {"links", std::move(links)}};
  std::printf("%s\n",
              text.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace

Outcome show_topology(const DevicesOptions& options) {
  const std::string selector = (options.isolated ? "isolated:" : "") +
                               (options.select.empty() ? std::string("real") : options.select);
  STRIA_OR_FAIL(const std::vector<std::string> selectors, ExitCode::usage,
                split_device_list(selector));
  for (const std::string& one : selectors) STRIA_FAIL_IF(check_selector(one));
  const Runtime runtime = runtime_for_devices(selector);
  STRIA_OR_FAIL(const std::vector<ListedDevice> listed, ExitCode::device,
                list_devices(runtime, selector, nullptr));
  std::vector<Device> devices;
  for (const ListedDevice& one : listed) {
    Result<Device> device = Inside::open_kept(runtime, one.selector, one.info);
    if (!device.ok()) {
      print_message(
          fmt::format("{} cannot be opened: {}", one.info.selector, device.status().message()));
      continue;
    }
    take_device(*device);
    devices.push_back(*std::move(device));
  }
  if (devices.empty())
    return Outcome(ExitCode::device, not_found("no device of '{}' can be opened", selector));
  Topology all;
  {
    Progress progress("measuring the ways between devices");
    STRIA_OR_FAIL(all, ExitCode::device, measure_topology(devices, {options.again}));
  }
  options.json ? print_json(devices, all) : print_text(devices, all);
  return Outcome();
}

}  // namespace stria::command
