// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <set>

#include "lifecycle/enumerate_cases.h"
#include "stria/hal/boundary/sized.h"
#include "suite/subject.h"
#include "suite/utf8.h"

namespace stria::conformance {
namespace {

// One device as it crossed the boundary, copied with nothing mended.
struct RawInfo {
  uint64_t size = 0;
  bool has_chain = false;
  std::string id, name, kind, vendor, reason, properties;
  int available = 0;
  uint64_t memory_bytes = 0;
};

struct RawList {
  std::vector<RawInfo> devices;
  std::string fault;  // the first text that is none
};

// Far beyond any text of a device.
constexpr uint64_t kMaxText = uint64_t{16} << 20;

std::string copied(stria_string text, const char* what, RawList& list) {
  if (text.size == 0) return "";
  std::string fault;
  if (!text.data)
    fault = fmt::format("is a null pointer of {} bytes", text.size);
  else if (!hal::is_address(text.data))
    fault = "is at an address where no text can be";
  else if (text.size > kMaxText)
    fault = fmt::format("has {} bytes", text.size);
  if (fault.empty()) return {text.data, text.size};
  if (list.fault.empty())
    list.fault = fmt::format("`{}` of device {} {}", what, list.devices.size(), fault);
  return "";
}

void take(void* state, const stria_device_info* info) {
  RawList& list = *static_cast<RawList*>(state);
  if (!hal::is_address(info, alignof(stria_device_info))) {
    list.fault = "the sink was given no device";
    return;
  }
  constexpr stria_string kNone{nullptr, 0};
  RawInfo out;
  out.size = info->size;
  out.id = copied(STRIA_SIZED(*info, id, kNone), "id", list);
  out.name = copied(STRIA_SIZED(*info, name, kNone), "name", list);
  out.kind = copied(STRIA_SIZED(*info, kind, kNone), "kind", list);
  out.vendor = copied(STRIA_SIZED(*info, vendor, kNone), "vendor", list);
  out.available = STRIA_SIZED(*info, available, uint8_t{0});
  out.reason = copied(STRIA_SIZED(*info, reason, kNone), "reason", list);
  out.memory_bytes = STRIA_SIZED(*info, memory_bytes, uint64_t{0});
  out.properties = copied(STRIA_SIZED(*info, properties, kNone), "properties", list);
  list.devices.push_back(std::move(out));
}

// The devices of driver.enumerate and, if one can be opened, of device.info.
Result<std::vector<RawInfo>> all_infos(Subject& subject, bool of_open_device) {
  RawList list;
  if (of_open_device) {
    STRIA_RETURN_IF_ERROR(subject.open());
    STRIA_SLOT(subject, device, info, subject.device(), take, &list);
  } else {
    STRIA_RETURN_IF_ERROR(subject.begin());
    STRIA_SLOT(subject, driver, enumerate, subject.driver(), take, &list);
  }
  if (!list.fault.empty()) return broken("{}", list.fault);
  return std::move(list.devices);
}

using Check = Status (*)(const Subject& subject, const RawInfo& device);

struct InfoCase {
  const char* name;
  std::string_view sentence;
  Check check;
};

Status check_text(const char* what, const std::string& text, size_t most) {
  if (text.size() > most)
    return broken("`{}` has {} bytes, the limit is {}", what, text.size(), most);
  if (!is_utf8(text)) return broken("`{}` is no UTF-8", what);
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return broken("`{}` has the control character {:#x}", what, static_cast<unsigned char>(c));
  return Status();
}

const InfoCase kCases[] = {
    {"has_an_id",
     "stable between runs and unique in the plugin, for example \"0\" or \"pci-03:00.0\"",
     [](const Subject&, const RawInfo& device) -> Status {
       if (device.id.empty()) return broken("a device has no id");
       return check_text("id", device.id, 256);
     }},
    {"has_a_name", "for people, on one line: \"Acme 300 rev B, 16 cores\"",
     [](const Subject&, const RawInfo& device) -> Status {
       if (device.name.empty()) return broken("the device {} has no name", device.id);
       return check_text("name", device.name, 1024);
     }},
    {"is_of_a_kind_of_the_manifest",
     "one of the manifest's device kinds: picks hardware model and pipeline;",
     [](const Subject& subject, const RawInfo& device) -> Status {
       STRIA_RETURN_IF_ERROR(subject.manifest().status());
       if (!subject.manifest()->find_kind(device.kind))
         return broken("the device {} is of the kind '{}', which the manifest does not have",
                       device.id, device.kind);
       return Status();
     }},
    {"vendor_is_text", "text UTF-8 in {data, size} without a terminating zero",
     [](const Subject&, const RawInfo& device) {
       return check_text("vendor", device.vendor, 1024);
     }},
    {"available_is_a_boolean", "booleans uint8_t (0 or 1)",
     [](const Subject&, const RawInfo& device) -> Status {
       if (device.available > 1)
         return broken("`available` of the device {} is {}", device.id, device.available);
       return Status();
     }},
    {"has_a_reason_if_not_available", "why not, if not available",
     [](const Subject&, const RawInfo& device) -> Status {
       if (device.available == 0 && device.reason.empty())
         return broken("the device {} is not available, without a reason", device.id);
       if (const char* fault = fault_of_bytes(device.reason); *fault)
         return broken("`reason` {}", fault);
       return Status();
     }},
    {"memory_is_plausible", "of the memory that `allocate` uses; 0 if not known",
     [](const Subject&, const RawInfo& device) -> Status {
       // More than any address has bits for: kibibytes, or -1.
       if (device.memory_bytes >= uint64_t{1} << 57)
         return broken("the device {} says that it has {} bytes of memory", device.id,
                       device.memory_bytes);
       if (device.memory_bytes != 0 && device.memory_bytes < 1024)
         return broken("the device {} says that it has {} bytes of memory: are these KiB or MiB?",
                       device.id, device.memory_bytes);
       return Status();
     }},
    {"properties_are_an_object",
     "What the device says of itself as an overlay over the kind's hardware model: a JSON object "
     "with that schema's keys (\"{}\" if it adds nothing).",
     [](const Subject&, const RawInfo& device) -> Status {
       const auto json = nlohmann::json::parse(device.properties, nullptr, false);
       if (!json.is_object())
         return broken("`properties` of the device {} are no JSON object: '{}'", device.id,
                       hal::one_line(device.properties));
       return Status();
     }},
    {"struct_is_whole",
     "Every struct starts with `size`, sizeof the struct as its maker compiled it",
     [](const Subject& subject, const RawInfo& device) -> Status {
       STRIA_RETURN_IF_ERROR(subject.manifest().status());
       constexpr uint64_t kOfFirst = offsetof(stria_device_info, properties) + sizeof(stria_string);
       if (device.size < kOfFirst || device.size % alignof(stria_device_info) != 0)
         return broken(
             "the stria_device_info of {} says that it has {} bytes; the first one had {}",
             device.id, device.size, kOfFirst);
       if (subject.manifest()->abi.minor_max <= STRIA_ABI_MINOR &&
           device.size > sizeof(stria_device_info))
         return broken("the stria_device_info of {} says that it has {} bytes; today's has {}",
                       device.id, device.size, sizeof(stria_device_info));
       return Status();
     }},
};

}  // namespace

void add_device_info_cases(CaseMaker& maker) {
  for (const bool open : {false, true})
    for (const InfoCase& info : kCases) {
      Case& c =
          maker.add('E', fmt::format("{}.{}", open ? "open_device" : "device", info.name),
                    open ? Level::right : Level::loads, info.sentence,
                    [open, &info](Subject& subject) -> Finding {
                      STRIA_ASSIGN(const std::vector<RawInfo> devices, all_infos(subject, open));
                      if (devices.empty()) return Finding::skip("the plugin lists no device");
                      for (const RawInfo& device : devices)
                        STRIA_RETURN_IF_ERROR(info.check(subject, device));
                      return {};
                    });
      c.place = Place::bare;
    }
  maker
      .add('E', "device.ids_are_unique", Level::loads,
           "stable between runs and unique in the plugin, for example \"0\" or \"pci-03:00.0\"",
           [](Subject& subject) -> Finding {
             STRIA_ASSIGN(const std::vector<RawInfo> devices, all_infos(subject, false));
             std::set<std::string> ids;
             for (const RawInfo& device : devices)
               if (!ids.insert(device.id).second)
                 return broken("two devices have the id '{}'", device.id);
             return {};
           })
      .place = Place::bare;
  maker
      .add(
          'E', "device.one_is_available", Level::loads,
          "The plugin lists one device at least that is available: without one there is nothing to "
          "judge.",
          [](Subject& subject) -> Finding {
            STRIA_ASSIGN(const std::vector<RawInfo> devices, all_infos(subject, false));
            for (const RawInfo& device : devices)
              if (device.available == 1) return {};
            // Nothing else of the suite would have tried anything.
            return broken("none of {} devices is available: there is nothing to judge",
                          devices.size());
          })
      .place = Place::bare;
  maker.out.back().source = "guide/conformance.md";
  maker
      .add('E', "open_device.is_the_one_that_was_asked_for", Level::right,
           "Opens the device with that id.",
           [](Subject& subject) -> Finding {
             STRIA_ASSIGN(const std::vector<RawInfo> devices, all_infos(subject, true));
             if (devices.size() != 1)
               return broken_rule(Rule::sink_once, "device.info calls the sink {} times, not once",
                                  devices.size());
             const hal::DeviceInfo& asked = subject.device_info();
             if (devices[0].id != asked.id)
               return broken("opened by the id '{}' the device says that it is '{}'", asked.id,
                             devices[0].id);
             if (devices[0].kind != asked.kind)
               return broken("listed as of the kind '{}' the open device is of '{}'", asked.kind,
                             devices[0].kind);
             if (devices[0].available != 1)
               return broken_rule(Rule::available, "the open device says that it is not available");
             return {};
           })
      .place = Place::bare;
  maker
      .add('E', "open_device.same_info_1000_times", Level::right,
           "While the device is open the info stays the same.",
           [](Subject& subject) -> Finding {
             STRIA_ASSIGN(const std::vector<RawInfo> first, all_infos(subject, true));
             for (int i = 1; i < 1000; ++i) {
               STRIA_ASSIGN(const std::vector<RawInfo> again, all_infos(subject, true));
               if (again.size() != 1)
                 return broken_rule(Rule::sink_once,
                                    "device.info calls the sink {} times, not once", again.size());
               if (first.empty() || again[0].id != first[0].id || again[0].name != first[0].name ||
                   again[0].properties != first[0].properties ||
                   again[0].memory_bytes != first[0].memory_bytes)
                 return broken(
                     "asked for the {}. time the open device says something else of "
                     "itself",
                     i + 1);
             }
             return {};
           })
      .place = Place::bare;
}

}  // namespace stria::conformance
