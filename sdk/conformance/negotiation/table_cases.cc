// SPDX-License-Identifier: Apache-2.0
#include "negotiation/table_cases.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "negotiation/answer.h"
#include "negotiation/code_map.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/sized.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kEveryStruct =
    "Every struct starts with `size`, sizeof the struct as its maker compiled it, and `next`, a "
    "chain of extension structs (each starting with size and next, then a name; unknown ones are "
    "skipped; NULL ends it).";
constexpr std::string_view kUntilUnloaded =
    "The tables, valid until the shared object is unloaded.";
constexpr std::string_view kIsCode = "A slot that is there is the address of a function.";

constexpr size_t kHeader = 2 * sizeof(uint64_t);  // size, next

struct SlotPlace {
  std::string_view table, slot;
  size_t offset;
};
constexpr SlotPlace kPlaces[] = {
#define SLOT(table, slot) {#table, #slot, offsetof(stria_##table##_table, slot)},
#include "stria/hal/boundary/slots.def"
};

// Slots without which a host does the same otherwise, or does without.
bool is_optional(const SlotPlace& place) {
  static const std::set<std::pair<std::string_view, std::string_view>> all = {
      {"compiler", "transform"},
      {"library", "source"},
      {"executor", "flush"},
      {"buffer", "map_read"},
      {"event", "end"}};
  return all.count({place.table, place.slot}) == 1;
}

struct Table {
  const char* name;
  const void* (*of)(const stria_plugin_info& info);
  size_t known;  // bytes of this header's
};
#define TABLE(table)                                       \
  Table {                                                  \
    #table,                                                \
        [](const stria_plugin_info& info) -> const void* { \
          return STRIA_SIZED(info, table, nullptr);        \
        },                                                 \
        sizeof(stria_##table##_table)                      \
  }
const Table kTables[] = {TABLE(driver), TABLE(device),   TABLE(compiler), TABLE(library),
                         TABLE(kernel), TABLE(executor), TABLE(buffer),   TABLE(event)};

uint64_t word_at(const void* table, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, static_cast<const char*>(table) + offset, sizeof word);
  return word;
}

// The table, if it lies anywhere and says that it has a size at all.
Result<const void*> table_of(Subject& subject, const Table& table, stria_plugin_info& info) {
  STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
  const void* found = table.of(info);
  if (!found) return broken_rule(Rule::slots, "it gives no stria_{}_table", table.name);
  if (!hal::is_address(found, alignof(uint64_t)))
    return broken("its stria_{}_table is at the address {}", table.name, found);
  return found;
}

// What of the table both sides know.
size_t common_bytes(const void* found, const Table& table) {
  return static_cast<size_t>(std::min<uint64_t>(word_at(found, 0), table.known));
}

// ---- the cases, one for each table

Finding size_is_plausible(Subject& subject, const Table& table) {
  stria_plugin_info info;
  STRIA_ASSIGN(const void* found, table_of(subject, table, info));
  const uint64_t size = word_at(found, 0);
  if (size < kHeader + sizeof(void*))
    return broken("its stria_{}_table says that it has {} bytes: no slot", table.name, size);
  if ((size - kHeader) % sizeof(void*) != 0)
    return broken("its stria_{}_table says that it has {} bytes, which ends within a slot",
                  table.name, size);
  // A plugin of this header, or of an older one, knows no more slots.
  STRIA_RETURN_IF_ERROR(subject.manifest().status());
  if (subject.manifest()->abi.minor_max <= STRIA_ABI_MINOR && size > table.known)
    return broken("its stria_{}_table says that it has {} bytes; that of ABI {}.{} has {}",
                  table.name, size, STRIA_ABI_MAJOR, STRIA_ABI_MINOR, table.known);
  return {};
}

Finding needed_slots_are_there(Subject& subject, const Table& table) {
  stria_plugin_info info;
  STRIA_ASSIGN(const void* found, table_of(subject, table, info));
  std::vector<std::string> missing;
  for (const SlotPlace& place : kPlaces) {
    if (place.table != table.name || is_optional(place)) continue;
    if (place.offset + sizeof(void*) > word_at(found, 0) || word_at(found, place.offset) == 0)
      missing.push_back(fmt::format("{}.{}", place.table, place.slot));
  }
  if (missing.empty()) return {};
  return broken("it lacks {}: nothing can be run without, and hosts have no other way",
                join(missing, ", "));
}

Finding slots_are_code(Subject& subject, const Table& table) {
  stria_plugin_info info;
  STRIA_ASSIGN(const void* found, table_of(subject, table, info));
  const CodeMap code;
  for (const SlotPlace& place : kPlaces) {
    if (place.table != table.name || place.offset + sizeof(void*) > common_bytes(found, table))
      continue;
    const auto* slot = reinterpret_cast<const void*>(word_at(found, place.offset));
    if (slot && !code.has(slot))
      return broken("{}.{} is {}, where there is no code", place.table, place.slot, slot);
  }
  return {};
}

Finding next_is_a_chain(Subject& subject, const Table& table) {
  stria_plugin_info info;
  STRIA_ASSIGN(const void* found, table_of(subject, table, info));
  constexpr int kMost = 1000;
  const auto* next = reinterpret_cast<const void*>(word_at(found, sizeof(uint64_t)));
  for (int links = 0; next; ++links) {
    if (links == kMost) return broken("the chain behind its stria_{}_table has no end", table.name);
    if (!hal::is_address(next, alignof(uint64_t)))
      return broken("the chain behind its stria_{}_table goes to the address {}", table.name, next);
    const uint64_t size = word_at(next, 0);
    if (size < kHeader + sizeof(stria_string))
      return broken("a struct in the chain behind its stria_{}_table says that it has {} bytes",
                    table.name, size);
    next = reinterpret_cast<const void*>(word_at(next, sizeof(uint64_t)));
  }
  return {};
}

// The bytes of the table that both sides know, as they are now.
Result<std::string> contents(Subject& subject, const Table& table) {
  stria_plugin_info info;
  STRIA_ASSIGN(const void* found, table_of(subject, table, info));
  return std::string(static_cast<const char*>(found), common_bytes(found, table));
}

Finding same_when_asked_again(Subject& subject, const Table& table) {
  stria_plugin_info info;
  STRIA_ASSIGN(const void* found, table_of(subject, table, info));
  const std::string first(static_cast<const char*>(found), common_bytes(found, table));
  for (int time = 2; time <= 4; ++time) {
    STRIA_ASSIGN(const std::string again, contents(subject, table));
    if (again != first)
      return broken("asked for the {}. time it gives another stria_{}_table", time, table.name);
    if (std::memcmp(found, first.data(), first.size()) != 0)
      return broken("asked for the {}. time it changes the stria_{}_table that it gave before",
                    time, table.name);
  }
  return {};
}

using Check = Finding (*)(Subject&, const Table&);

void add(CaseMaker& maker, const char* what, std::string_view sentence, Check check) {
  for (const Table& table : kTables)
    maker
        .add('N', fmt::format("tables.{}.{}", table.name, what), Level::loads, sentence,
             [check, &table](Subject& subject) { return check(subject, table); })
        .place = Place::bare;
}

}  // namespace

void add_table_cases(CaseMaker& maker) {
  add(maker, "size", kEveryStruct, size_is_plausible);
  add(maker, "next", kEveryStruct, next_is_a_chain);
  add(maker, "slots", sentence_of(Rule::slots), needed_slots_are_there);
  add(maker, "slots_are_code", kIsCode, slots_are_code);
  add(maker, "same_when_asked_again", kUntilUnloaded, same_when_asked_again);

  maker
      .add('N', "tables.same_after_a_driver", Level::loads, kUntilUnloaded,
           [](Subject& subject) -> Finding {
             stria_plugin_info info;
             STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
             std::vector<std::string> before;
             for (const Table& table : kTables) {
               STRIA_ASSIGN(std::string bytes, contents(subject, table));
               before.push_back(std::move(bytes));
             }
             for (int drivers = 0; drivers < 2; ++drivers) {
               TestHost host;
               STRIA_RETURN_IF_ERROR(subject.ask());
               STRIA_ASSIGN(Driver driver, subject.make_driver(host));
               STRIA_RETURN_IF_ERROR(subject.list(driver.get()).status());
             }
             size_t at = 0;
             for (const Table& table : kTables) {
               const void* found = table.of(info);
               if (std::memcmp(found, before[at].data(), before[at].size()) != 0)
                 return broken("after a driver's shutdown the stria_{}_table is another",
                               table.name);
               ++at;
             }
             return {};
           })
      .place = Place::bare;
}

}  // namespace stria::conformance
