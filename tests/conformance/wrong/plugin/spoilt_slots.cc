// SPDX-License-Identifier: Apache-2.0
// Any slot, done wrong in a way that any slot can be:
//
//   null        it is not there
//   empty       says that it succeeded and does nothing
//   error       fails
//   throw_int, throw_text, throw_raw   lets an exception out; a raw one is of no C++ type
//   throw_on_thread   the same on a thread of its own
//   hang        never returns
//   late        returns when all work of the plugin is done
//
// and all of process_misuse.h, before it does what it should. "query" is stria_plugin_query.
#include <unistd.h>
#include <unwind.h>

#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>

#include "process_misuse.h"
#include "wrong_object.h"

namespace stria::wrong {
namespace {

// One slot is spoilt in one way.
struct Spoiling {
  std::string kind;
  std::function<void()> misuse;  // of the process; empty: `kind` is none
};
Spoiling& spoiling() {
  static auto* const one = new Spoiling;
  return *one;
}

[[noreturn]] void raise_raw() {
  static _Unwind_Exception raw;
  std::memset(&raw, 0, sizeof raw);
  std::memcpy(&raw.exception_class, "BOARDRAW", sizeof raw.exception_class);
  raw.exception_cleanup = [](_Unwind_Reason_Code, _Unwind_Exception*) {};
  _Unwind_RaiseException(&raw);
  std::abort();  // nobody catches it
}

// What the slot returns instead of its work; nothing if it is to work.
std::optional<stria_error*> before() {
  const Spoiling& now = spoiling();
  if (now.misuse) {
    now.misuse();
    return std::nullopt;
  }
  if (now.kind == "empty") return nullptr;
  if (now.kind == "error")
    return sdk::to_error(sdk::Error(STRIA_INTERNAL, "the board does not answer").outcome());
  if (now.kind == "throw_int") throw 7;
  if (now.kind == "throw_text") throw std::runtime_error("thrown by a wrong plugin");
  if (now.kind == "throw_raw") raise_raw();
  if (now.kind == "throw_on_thread") std::thread([] { throw 7; }).join();
  if (now.kind == "hang")
    while (true) ::pause();
  return std::nullopt;
}

void after() {
  if (spoiling().kind != "late") return;
  if (const sdk::Host* host = last_host()) host->tracker()->wait_for_none(UINT64_MAX);
}

template <auto kRight>
struct Spoilt;
template <typename... Args, stria_error* (*kRight)(Args...)>
struct Spoilt<kRight> {
  static stria_error* call(Args... args) {
    if (const auto instead = before()) return *instead;
    stria_error* const error = kRight(args...);
    after();
    return error;
  }
};
template <typename... Args, void (*kRight)(Args...)>
struct Spoilt<kRight> {
  static void call(Args... args) {
    if (before()) return;
    kRight(args...);
    after();
  }
};

stria_error* spoilt_query(const stria_host_info* host, stria_plugin_info* plugin) {
  if (const auto instead = before()) return *instead;
  return right_query(host, plugin);
}

bool is_kind(std::string_view kind) {
  for (const std::string_view known : {"null", "empty", "error", "throw_int", "throw_text",
                                       "throw_raw", "throw_on_thread", "hang", "late"})
    if (kind == known) return true;
  return false;
}

}  // namespace

bool plant_in_slot(std::string_view kind, std::string_view slot, WrongObject& object) {
  spoiling().kind = kind;
  spoiling().misuse = process_misuse(kind);
  if (!is_kind(kind) && !spoiling().misuse) return false;
  if (slot == "query") {
    object.query = spoilt_query;
    return true;
  }
  hal::Tables& tables = object.tables;
#define SLOT(table, member)                                                                     \
  if (slot == #table "." #member) {                                                             \
    tables.table.member = kind == "null" ? nullptr : Spoilt<Right::table##_table.member>::call; \
    return true;                                                                                \
  }
#include "stria/hal/boundary/slots.def"
  return false;
}

}  // namespace stria::wrong
