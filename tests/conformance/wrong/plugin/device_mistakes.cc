// SPDX-License-Identifier: Apache-2.0
// Devices that say something wrong of themselves, lists that change, devices that open under any
// name.
#include <unistd.h>

#include <atomic>

#include "wrong_object.h"

namespace stria::wrong {
namespace {

// Passes each device on after a change.
using Edit = void (*)(stria_device_info& info);
struct Sent {
  stria_device_sink sink;
  void* state;
  Edit edit;
};
void send(void* raw, const stria_device_info* info) {
  const auto& to = *static_cast<const Sent*>(raw);
  stria_device_info changed = *info;
  to.edit(changed);
  to.sink(to.state, &changed);
}
template <Edit kEdit>
stria_error* enumerate(stria_driver* driver, stria_device_sink sink, void* state) {
  Sent sent{sink, state, kEdit};
  return Right::enumerate(driver, send, &sent);
}
template <Edit kEdit>
stria_error* info(stria_device* device, stria_device_sink sink, void* state) {
  Sent sent{sink, state, kEdit};
  return Right::info(device, send, &sent);
}
template <Edit kEdit>
void plant_list(WrongObject& object) {
  object.tables.driver.enumerate = enumerate<kEdit>;
}
template <Edit kEdit>
void plant_open(WrongObject& object) {
  object.tables.device.info = info<kEdit>;
}
template <Edit kEdit>
void plant_both(WrongObject& object) {
  plant_list<kEdit>(object);
  plant_open<kEdit>(object);
}

bool is_first(const stria_device_info& info) { return sdk::view_of(info.id) == "slot-1"; }

// A number that rises.
uint64_t count() {
  static std::atomic<uint64_t> calls{0};
  return calls++;
}

void with_changing_id(stria_device_info& info) {
  static thread_local std::string id;
  id = std::string(sdk::view_of(info.id)) + "-" + std::to_string(count());
  info.id = sdk::to_c(id);
}
// Of this process: stable as long as that lives.
void with_id_of_process(stria_device_info& info) {
  static const std::string id = "slot-" + std::to_string(::getpid());
  if (is_first(info)) info.id = sdk::to_c(id);
}
void with_changing_name(stria_device_info& info) {
  static thread_local std::string name;
  name = "a board, asked " + std::to_string(count()) + " times";
  info.name = sdk::to_c(name);
}

stria_error* list_one_more_each_time(stria_driver* driver, stria_device_sink sink, void* state) {
  static std::atomic<int> times{0};
  for (int i = times++; i >= 0; --i)
    if (stria_error* error = Right::enumerate(driver, sink, state)) return error;
  return nullptr;
}
stria_error* list_nothing(stria_driver*, stria_device_sink, void*) { return nullptr; }
stria_error* list_null(stria_driver*, stria_device_sink sink, void* state) {
  sink(state, nullptr);
  return nullptr;
}
stria_error* list_with_other_state(stria_driver* driver, stria_device_sink sink, void*) {
  static char own[4096];
  return Right::enumerate(driver, sink, own);
}
stria_error* list_in_turn(stria_driver* driver, stria_device_sink sink, void* state) {
  struct Both {
    std::vector<stria_device_info> all;
  } both;
  stria_error* const error = Right::enumerate(
      driver,
      [](void* raw, const stria_device_info* info) {
        // The texts live as long as the call: only their number matters here.
        static_cast<Both*>(raw)->all.push_back(*info);
      },
      &both);
  if (error) return error;
  static const std::string kNames[] = {"slot-1", "slot-2"};
  const bool swapped = count() % 2 == 1;
  for (size_t i = 0; i < both.all.size() && i < 2; ++i) {
    stria_device_info& info = both.all[swapped ? 1 - i : i];
    info.id = sdk::to_c(kNames[swapped ? 1 - i : i]);
    info.name = sdk::to_c("a board");
    info.kind = sdk::to_c(kKind);
    info.vendor = info.reason = sdk::to_c("stria");
    info.properties = sdk::to_c("{}");
    sink(state, &info);
  }
  return nullptr;
}
stria_error* list_slowly(stria_driver* driver, stria_device_sink sink, void* state) {
  ::usleep(80'000);
  return Right::enumerate(driver, sink, state);
}
stria_error* create_slowly(const stria_driver_options* options, stria_driver** driver) {
  ::usleep(80'000);
  return Right::create(options, driver);
}

stria_error* open_any(stria_driver* driver, stria_string, stria_string options,
                      stria_device** device) {
  return Right::open(driver, sdk::to_c("slot-1"), options, device);
}
stria_error* open_by_beginning(stria_driver* driver, stria_string id, stria_string options,
                               stria_device** device) {
  const std::string_view asked = sdk::view_of(id);
  return Right::open(driver, asked.substr(0, 6) == "slot-1" ? sdk::to_c("slot-1") : id, options,
                     device);
}
// Up to a zero, as C texts end.
stria_error* open_by_c_text(stria_driver* driver, stria_string id, stria_string options,
                            stria_device** device) {
  const std::string_view asked = sdk::view_of(id);
  return Right::open(driver, sdk::to_c(asked.substr(0, asked.find('\0'))), options, device);
}
stria_error* open_with_another_code(stria_driver* driver, stria_string id, stria_string options,
                                    stria_device** device) {
  stria_error* const error = Right::open(driver, id, options, device);
  if (error) error->code = STRIA_INVALID_ARGUMENT;
  return error;
}
stria_error* open_once(stria_driver* driver, stria_string id, stria_string options,
                       stria_device** device) {
  static std::atomic<bool> opened{false};
  if (opened.exchange(true))
    return sdk::to_error(sdk::Error(STRIA_UNAVAILABLE, "the board is in use").outcome());
  return Right::open(driver, id, options, device);
}
stria_error* info_twice(stria_device* device, stria_device_sink sink, void* state) {
  if (stria_error* error = Right::info(device, sink, state)) return error;
  return Right::info(device, sink, state);
}

#define REPLACED(name, table, member, with) \
  {name, [](WrongObject& o) { o.tables.table.member = with; }}

constexpr Mistake kAll[] = {
    {"device.without_id", plant_both<[](stria_device_info& i) { i.id = {nullptr, 0}; }>},
    {"device.without_name", plant_both<[](stria_device_info& i) { i.name = {nullptr, 0}; }>},
    {"device.name_of_two_lines",
     plant_both<[](stria_device_info& i) { i.name = sdk::to_c("a board\nof two lines"); }>},
    {"device.of_an_unknown_kind",
     plant_both<[](stria_device_info& i) { i.kind = sdk::to_c("starship"); }>},
    {"device.vendor_is_no_text",
     plant_both<[](stria_device_info& i) { i.vendor = sdk::to_c("st\xff\xferia"); }>},
    {"device.vendor_without_data",
     plant_both<[](stria_device_info& i) { i.vendor = {nullptr, 7}; }>},
    {"device.available_is_two",
     plant_list<[](stria_device_info& i) { i.available = i.available ? 2 : 0; }>},
    {"device.unavailable_without_reason",
     plant_list<[](stria_device_info& i) { i.reason = {nullptr, 0}; }>},
    {"device.memory_in_gibibytes",
     plant_both<[](stria_device_info& i) { i.memory_bytes /= uint64_t{1} << 30; }>},
    {"device.memory_of_minus_one",
     plant_both<[](stria_device_info& i) { i.memory_bytes = UINT64_MAX; }>},
    {"device.properties_are_a_list",
     plant_both<[](stria_device_info& i) { i.properties = sdk::to_c("[1, 2]"); }>},
    {"device.properties_are_cut",
     plant_both<[](stria_device_info& i) { i.properties = sdk::to_c("{\"clock_mhz\": "); }>},
    {"device.struct_of_no_size", plant_both<[](stria_device_info& i) { i.size = 0; }>},
    {"device.struct_too_long", plant_both<[](stria_device_info& i) { i.size = sizeof i + 64; }>},
    {"device.ids_are_equal", plant_list<[](stria_device_info& i) { i.id = sdk::to_c("slot-1"); }>},
    {"device.none_is_available", plant_list<[](stria_device_info& i) {
       i.available = 0;
       i.reason = sdk::to_c("no board is in the slot");
     }>},
    {"device.id_changes", plant_list<with_changing_id>},
    {"device.id_is_of_the_process", plant_list<with_id_of_process>},
    {"device.name_changes", plant_list<with_changing_name>},
    {"device.open_name_changes", plant_open<with_changing_name>},
    {"device.open_memory_changes",
     plant_open<[](stria_device_info& i) { i.memory_bytes -= 4096 * count(); }>},
    {"device.open_has_another_id",
     plant_open<[](stria_device_info& i) { i.id = sdk::to_c("slot-7"); }>},
    {"device.open_is_not_available", plant_open<[](stria_device_info& i) { i.available = 0; }>},
    REPLACED("list.one_more_each_time", driver, enumerate, list_one_more_each_time),
    REPLACED("list.of_none", driver, enumerate, list_nothing),
    REPLACED("list.of_null", driver, enumerate, list_null),
    REPLACED("list.with_another_state", driver, enumerate, list_with_other_state),
    REPLACED("list.order_changes", driver, enumerate, list_in_turn),
    REPLACED("list.takes_80_ms", driver, enumerate, list_slowly),
    REPLACED("driver.takes_80_ms", driver, create, create_slowly),
    REPLACED("open.of_any_id", driver, open, open_any),
    REPLACED("open.by_the_beginning", driver, open, open_by_beginning),
    REPLACED("open.up_to_a_zero", driver, open, open_by_c_text),
    REPLACED("open.says_another_code", driver, open, open_with_another_code),
    REPLACED("open.once_in_a_process", driver, open, open_once),
    REPLACED("info.twice", device, info, info_twice),
};
#undef REPLACED

}  // namespace

std::span<const Mistake> device_mistakes() { return kAll; }

}  // namespace stria::wrong
