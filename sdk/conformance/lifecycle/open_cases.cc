// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/open_cases.h"

#include "negotiation/answer.h"
#include "suite/device_work.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kOpens = "Opens the device with that id.";
constexpr std::string_view kOpenAlready =
    "It may be open already: each opening is a device of its own.";
constexpr std::string_view kNotFound = "a name or device that is not there";
constexpr std::string_view kOptions = "`options` is a JSON object, \"{}\" if none.";

Case& add(CaseMaker& maker, std::string_view name, Level level, std::string_view sentence,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('E', name, level, sentence, std::move(run));
  c.place = Place::own;
  c.limit = std::chrono::seconds(60);
  return c;
}

// What opening under these names gives. The driver works on afterwards.
Finding refuses_id(Subject& subject, const std::string& id) {
  STRIA_ASSIGN(const auto devices, subject.list(subject.driver()));
  for (const hal::DeviceInfo& device : devices)
    if (device.id == id) return Finding::skip("the plugin has a device of that id");
  for (int time = 0; time < 2; ++time) {
    stria_device* device = nullptr;
    const Status status = Subject::failure(
        Slot::driver_open,
        subject.tables().driver.open(subject.driver(), hal::to_c(id), hal::to_c("{}"), &device));
    if (status.ok())
      return broken("driver.open of an id of {} bytes that it does not list succeeds", id.size());
    if (device) return broken("driver.open fails ({}) and gives a device", status.message());
    if (status.code() != StatusCode::not_found)
      return broken(
          "driver.open of an id of {} bytes that it does not list says '{}', not "
          "STRIA_NOT_FOUND",
          id.size(), status.to_string());
  }
  return work_round(DeviceWork(subject), 1);
}

void add_unknown_id_cases(CaseMaker& maker) {
  struct Unknown {
    const char* name;
    std::function<std::string(const std::string& id)> make;  // of the open device's
  };
  static const Unknown all[] = {
      {"empty", [](const std::string&) { return std::string(); }},
      {"nobodys", [](const std::string&) { return std::string("no such device"); }},
      {"with_more_behind", [](const std::string& id) { return id + "x"; }},
      {"with_a_blank_behind", [](const std::string& id) { return id + " "; }},
      {"with_a_zero_behind", [](const std::string& id) { return id + std::string(1, '\0'); }},
      {"cut", [](const std::string& id) { return id.substr(0, id.size() - 1); }},
      {"twice", [](const std::string& id) { return id + id; }},
      {"of_a_mebibyte", [](const std::string&) { return std::string(size_t{1} << 20, 'y'); }},
      {"of_bytes_that_are_no_text", [](const std::string&) { return std::string("\xff\xfe\x80"); }},
      {"with_format_signs", [](const std::string&) { return std::string("%s%n{}{0}"); }},
  };
  for (const Unknown& unknown : all)
    add(maker, fmt::format("open.unknown_id.{}", unknown.name), Level::right, kNotFound,
        [&unknown](Subject& subject) {
          return refuses_id(subject, unknown.make(subject.device_info().id));
        });
}

// Options may mean nothing to the plugin. If it minds them, it says so, and goes on.
Finding minds_options(Subject& subject, const std::string& options) {
  {
    stria_device* raw = nullptr;
    const Status status = Subject::failure(
        Slot::driver_open,
        subject.tables().driver.open(subject.driver(), hal::to_c(subject.device_info().id),
                                     hal::to_c(options), &raw));
    if (!status.ok() && raw)
      return broken("driver.open fails ({}) and gives a device", status.message());
    if (status.ok() && !raw)
      return broken_rule(rule_of(Slot::driver_open),
                         "driver.open says that it succeeded and gives nothing");
    if (!status.ok() && status.code() != StatusCode::invalid_argument &&
        status.code() != StatusCode::unsupported && status.code() != StatusCode::not_found &&
        status.code() != StatusCode::out_of_range)
      return broken("driver.open with odd options says '{}', not STRIA_INVALID_ARGUMENT",
                    status.to_string());
    if (raw) {
      const Device device(raw, subject.tables().device.release);
      STRIA_RETURN_IF_ERROR(work_round(DeviceWork(subject.tables(), raw), 2));
    }
  }
  STRIA_ASSIGN(const Device device,
               subject.open_device(subject.driver(), subject.device_info().id));
  return work_round(DeviceWork(subject.tables(), device.get()), 3);
}

void add_options_cases(CaseMaker& maker) {
  static const std::pair<const char*, std::string> all[] = {
      {"unknown_key", "{\"no_plugin_has_this_option\": 1}"},
      {"nested", "{\"a\": {\"b\": [1, 2, {\"c\": null}]}}"},
      {"with_blanks", " \n\t{ }\n "},
      {"empty_text", ""},
      {"no_json", "fast=1,slow=2"},
      {"list", "[1, 2, 3]"},
      {"number", "17"},
      {"cut_off", "{\"a\": "},
      {"bytes_that_are_no_text", "{\"\xff\": \"\xfe\"}"},
      {"deep", std::string(100'000, '[')},
      {"long_value", "{\"a\": \"" + std::string(size_t{1} << 20, 'z') + "\"}"},
  };
  for (const auto& [name, options] : all)
    add(maker, fmt::format("open.options.{}", name), Level::robust, kOptions,
        [text = &options](Subject& subject) { return minds_options(subject, *text); });
}

// ---- several open devices

void add_several_cases(CaseMaker& maker) {
  add(maker, "open.one_device_twice", Level::right, kOpenAlready, [](Subject& subject) -> Finding {
    const std::string& id = subject.device_info().id;
    STRIA_ASSIGN(Device second, subject.open_device(subject.driver(), id));
    STRIA_RETURN_IF_ERROR(work_round(DeviceWork(subject.tables(), second.get()), 1));
    STRIA_RETURN_IF_ERROR(work_round(DeviceWork(subject), 2));
    second.reset();
    return work_round(DeviceWork(subject), 3);
  });
  add(maker, "open.one_device_twice_and_end_the_first", Level::right, kOpenAlready,
      [](Subject& subject) -> Finding {
        const std::string& id = subject.device_info().id;
        STRIA_ASSIGN(Device first, subject.open_device(subject.driver(), id));
        STRIA_ASSIGN(const Device second, subject.open_device(subject.driver(), id));
        STRIA_RETURN_IF_ERROR(work_round(DeviceWork(subject.tables(), first.get()), 1));
        first.reset();
        return work_round(DeviceWork(subject.tables(), second.get()), 2);
      });
  add(maker, "open.one_device_20_times_at_once", Level::robust, kOpenAlready,
      [](Subject& subject) -> Finding {
        std::vector<Device> devices;
        for (int i = 0; i < 20; ++i) {
          STRIA_ASSIGN(Device device,
                       subject.open_device(subject.driver(), subject.device_info().id));
          devices.push_back(std::move(device));
        }
        for (size_t i = 0; i < devices.size(); ++i)
          STRIA_RETURN_IF_ERROR(
              work_round(DeviceWork(subject.tables(), devices[i].get()), static_cast<uint32_t>(i)));
        return {};
      });
  for (const bool at_once : {false, true})
    add(maker, at_once ? "open.every_device_at_once" : "open.every_device_in_turn", Level::robust,
        "1: open works",
        [at_once](Subject& subject) -> Finding {
          STRIA_ASSIGN(const auto all, subject.list(subject.driver()));
          std::vector<Device> devices;
          for (const hal::DeviceInfo& info : all) {
            if (!info.available) continue;
            STRIA_ASSIGN(Device device, subject.open_device(subject.driver(), info.id));
            STRIA_RETURN_IF_ERROR(work_round(DeviceWork(subject.tables(), device.get()), 5)
                                      .with_context("device " + info.id));
            if (at_once) devices.push_back(std::move(device));
          }
          for (const Device& device : devices)
            STRIA_RETURN_IF_ERROR(work_round(DeviceWork(subject.tables(), device.get()), 6));
          return {};
        })
        .limit = std::chrono::seconds(120);
  add(maker, "open.unavailable_ones_say_why", Level::right, "why not, if not available",
      [](Subject& subject) -> Finding {
        STRIA_ASSIGN(const auto all, subject.list(subject.driver()));
        int tried = 0;
        for (const hal::DeviceInfo& info : all) {
          if (info.available) continue;
          ++tried;
          // It may have become available meanwhile.
          const Status status = subject.open_device(subject.driver(), info.id).status();
          if (!status.ok() && status.code() == StatusCode::not_found)
            return broken("driver.open of '{}', which it lists as not available, says '{}'",
                          info.id, status.to_string());
        }
        if (tried == 0) return Finding::skip("every device that the plugin lists is available");
        return work_round(DeviceWork(subject), 4);
      });
}

}  // namespace

void add_open_cases(CaseMaker& maker) {
  add_unknown_id_cases(maker);
  add_options_cases(maker);
  add_several_cases(maker);
}

}  // namespace stria::conformance
