// SPDX-License-Identifier: Apache-2.0
// Any table, wrong in a way that any table can be:
//
//   size_0, size_24, size_61, size_more   what it says of its size: none, one slot, slots and a
//                                         bit, more than there is
//   next_nowhere   its chain of extensions goes to no address
//   next_ring      that chain has no end
//   no_code        its first slot is the address of data
//   missing        it is not there
//   grows          it says another size each time it is asked for
#include "wrong_object.h"

namespace stria::wrong {
namespace {

// Of the table that is wrong; the rest is right.
struct Found {
  uint64_t* size = nullptr;
  const void** next = nullptr;
  void* first_slot = nullptr;
};

template <typename Table>
Found parts_of(Table& table) {
  // Every table begins with size and next.
  return {&table.size, &table.next, &table.next + 1};
}

std::string& missing() {
  static auto* const name = new std::string;
  return *name;
}
uint64_t*& growing() {
  static uint64_t* size = nullptr;
  return size;
}

stria_error* query_without_a_table(const stria_host_info* host, stria_plugin_info* plugin) {
  stria_error* const error = right_query(host, plugin);
  if (plugin->size < sizeof *plugin) return error;
#define REMOVE(table) \
  if (missing() == #table) plugin->table = nullptr
  REMOVE(driver);
  REMOVE(device);
  REMOVE(compiler);
  REMOVE(library);
  REMOVE(kernel);
  REMOVE(executor);
  REMOVE(buffer);
  REMOVE(event);
#undef REMOVE
  return error;
}

stria_error* query_that_grows(const stria_host_info* host, stria_plugin_info* plugin) {
  *growing() -= sizeof(void*);
  return right_query(host, plugin);
}

}  // namespace

bool plant_in_table(std::string_view kind, std::string_view name, WrongObject& object) {
  Found table;
  hal::Tables& all = object.tables;
#define FIND(member) \
  if (name == #member) table = parts_of(all.member)
  FIND(driver);
  FIND(device);
  FIND(compiler);
  FIND(library);
  FIND(kernel);
  FIND(executor);
  FIND(buffer);
  FIND(event);
#undef FIND
  if (!table.size) return false;
  // A struct of an extension that is its own next.
  static struct {
    uint64_t size = 32;
    const void* next = nullptr;
    stria_string name{nullptr, 0};
  } ring;
  if (kind == "size_0") {
    *table.size = 0;
  } else if (kind == "size_24") {
    *table.size = 24;
  } else if (kind == "size_61") {
    *table.size = 61;
  } else if (kind == "size_more") {
    *table.size += 3 * sizeof(void*);
  } else if (kind == "next_nowhere") {
    *table.next = reinterpret_cast<const void*>(uintptr_t{3});
  } else if (kind == "next_ring") {
    ring.next = &ring;
    *table.next = &ring;
  } else if (kind == "no_code") {
    *static_cast<const void**>(table.first_slot) = &ring;
  } else if (kind == "missing") {
    missing() = name;
    object.query = query_without_a_table;
  } else if (kind == "grows") {
    growing() = table.size;
    object.query = query_that_grows;
  } else {
    return false;
  }
  return true;
}

}  // namespace stria::wrong
