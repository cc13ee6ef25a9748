// SPDX-License-Identifier: Apache-2.0
#include "wrong_object.h"

#include "process_misuse.h"

namespace stria::wrong {

WrongObject& object() {
  static auto* const one = new WrongObject{
      {Right::driver_table, Right::device_table, Right::compiler_table, Right::library_table,
       Right::kernel_table, Right::executor_table, Right::buffer_table, Right::event_table},
      right_query,
      RightDriver::extension};
  return *one;
}

stria_error* right_query(const stria_host_info* host, stria_plugin_info* plugin) {
  const stria_plugin_info before = sdk::whole(plugin);
  stria_error* const error = sdk::query<RightDriver>(host, plugin, kId, kVersion);
  const auto put = [&](size_t end, auto stria_plugin_info::* member, auto value) {
    if (end <= before.size) plugin->*member = value;
  };
  const hal::Tables& tables = object().tables;
#define PUT(member, value)                                                     \
  put(offsetof(stria_plugin_info, member) + sizeof(stria_plugin_info::member), \
      &stria_plugin_info::member, value)
  PUT(driver, &tables.driver);
  PUT(device, &tables.device);
  PUT(compiler, &tables.compiler);
  PUT(library, &tables.library);
  PUT(kernel, &tables.kernel);
  PUT(executor, &tables.executor);
  PUT(buffer, &tables.buffer);
  PUT(event, &tables.event);
  PUT(get_extension, object().get_extension);
#undef PUT
  return error;
}

namespace {

template <typename Visit>
void each_single(Visit visit) {
  for (const auto& mistakes :
       {memory_mistakes(), map_mistakes(), kernel_mistakes(), misread_mistakes(), order_mistakes(),
        failure_mistakes(), event_mistakes(), device_mistakes(), kernel_list_mistakes(),
        error_mistakes(), time_mistakes(), answer_mistakes()})
    for (const Mistake& mistake : mistakes) visit(mistake);
}

}  // namespace

std::vector<std::string_view> single_mistakes() {
  std::vector<std::string_view> out;
  each_single([&](const Mistake& mistake) { out.push_back(mistake.name); });
  return out;
}

bool is_known(std::string_view name) {
  const size_t dot = std::min(name.find('.'), name.size());
  for (const std::string_view stage : {".load", ".unload", ".process_exit"})
    if (name.substr(dot) == stage) return static_cast<bool>(process_misuse(name.substr(0, dot)));
  WrongObject copy = object();
  return plant(name, copy);
}

bool plant(std::string_view name, WrongObject& object) {
  if (name == "none") return true;
  bool found = false;
  each_single([&](const Mistake& mistake) {
    if (mistake.name != name) return;
    mistake.plant(object);
    found = true;
  });
  if (found) return true;
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view kind = name.substr(0, dot), where = name.substr(dot + 1);
  return plant_in_table(kind, where, object) || plant_in_slot(kind, where, object);
}

}  // namespace stria::wrong
