// SPDX-License-Identifier: Apache-2.0
#include "stria/base/environment_table.h"

#include <unistd.h>

#include <deque>
#include <mutex>
#include <string_view>
#include <utility>

namespace stria {
namespace {

// What was in place once, for the life of the process.
struct Kept {
  std::mutex mutex;
  std::deque<std::string> texts;          // guarded by mutex
  std::deque<std::vector<char*>> tables;  // guarded by mutex; each ends with nullptr
  char* text(std::string value) { return texts.emplace_back(std::move(value)).data(); }
  void place(std::vector<char*> table) {
    table.push_back(nullptr);
    __atomic_store_n(&environ, tables.emplace_back(std::move(table)).data(), __ATOMIC_RELEASE);
  }
};
Kept& kept() {
  static Kept& all = *new Kept;  // never destroyed: threads outlive static objects
  return all;
}

}  // namespace

void set_variable(const std::string& name, const std::optional<std::string>& value) {
  std::lock_guard lock(kept().mutex);
  const std::string start = name + "=";
  std::vector<char*> table;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with(start)) table.push_back(*variable);
  if (value) table.push_back(kept().text(start + *value));
  kept().place(std::move(table));
}

void replace_variables(std::vector<std::string> variables) {
  std::lock_guard lock(kept().mutex);
  std::vector<char*> table;
  for (std::string& variable : variables) table.push_back(kept().text(std::move(variable)));
  kept().place(std::move(table));
}

}  // namespace stria
