// SPDX-License-Identifier: Apache-2.0
#include "suite/checked_tables.h"

#include <cxxabi.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <tuple>

#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/sized.h"
#include "suite/patience.h"
#include "suite/rules.h"

namespace stria::conformance {
namespace {

// A size beyond is none: a message may repeat a text that it was given, which may be long.
constexpr uint64_t kMostMessageBytes = uint64_t{1} << 28;

hal::Tables g_plugin;
CallRecord* g_record = nullptr;

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

// One call, from its begin to its return.
class Call {
 public:
  explicit Call(Slot slot) : slot_(slot), begin_(now_ns()) {
    for (OpenCall& open : g_record->open) {
      int32_t none = 0;
      if (!open.slot.compare_exchange_strong(none, static_cast<int32_t>(slot) + 1)) continue;
      open.since_ns = begin_;
      open.until_ns = UINT64_MAX;
      open_ = &open;
      break;
    }
  }
  ~Call() {
    const uint64_t took = now_ns() - begin_;
    SlotRecord& record = g_record->slots[static_cast<int>(slot_)];
    ++record.calls;
    if (must_not_block(slot_) && took / 1'000'000 >= static_cast<uint64_t>(patience_ms(kSlowMs)))
      ++record.slow;
    uint64_t longest = record.longest_ns;
    while (took > longest && !record.longest_ns.compare_exchange_weak(longest, took)) {
    }
    if (open_) open_->slot = 0;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void gives_up_after(uint64_t timeout_ns) const {
    if (open_ && timeout_ns < UINT64_MAX - begin_) open_->until_ns = begin_ + timeout_ns;
  }
  void threw(const std::string& what) const {
    add_fault(Rule::no_exception,
              fmt::format("{} lets an exception out ({})", name_of(slot_), what));
  }
  stria_error* take(stria_error* error) const {
    if (!error) return nullptr;
    ++g_record->slots[static_cast<int>(slot_)].failures;
    if (const auto fault = fault_of(*error))
      add_fault(fault->rule, fmt::format("{} returns an error {}", name_of(slot_), fault->text));
    return error;
  }

 private:
  // The rule goes first: a text that is too long loses its end.
  void add_fault(Rule rule, const std::string& text) const {
    g_record->add_fault(slot_, mark_of(rule) + text);
  }

  const Slot slot_;
  const uint64_t begin_;
  OpenCall* open_ = nullptr;
};

void note_refusal(const stria_error* error, const stria_buffer_params* params) {
  if (!error || !params || fault_of(*error) || error->code != STRIA_OUT_OF_MEMORY) return;
  const uint64_t bytes = STRIA_SIZED(*params, bytes, uint64_t{0});
  uint64_t most = g_record->refused_bytes;
  while (bytes > most && !g_record->refused_bytes.compare_exchange_weak(most, bytes)) {
  }
}

// Stands in for what a slot that threw has not returned.
stria_error* thrown(Slot slot) {
  return hal::to_error(internal_error("{} lets an exception out", name_of(slot)));
}

template <Slot kSlot, auto kTable, auto kMember>
struct Checked;

template <typename Table, typename... Args, Slot kSlot, Table hal::Tables::* kTable,
          stria_error* (*Table::*kMember)(Args...)>
struct Checked<kSlot, kTable, kMember> {
  static stria_error* call(Args... args) {
    const Call call(kSlot);
    if constexpr (kSlot == Slot::event_wait)
      call.gives_up_after(std::get<1>(std::forward_as_tuple(args...)));
    try {
      stria_error* const error = call.take((g_plugin.*kTable.*kMember)(args...));
      if constexpr (kSlot == Slot::device_allocate)
        note_refusal(error, std::get<1>(std::forward_as_tuple(args...)));
      return error;
    } catch (abi::__forced_unwind&) {
      throw;
    } catch (const std::exception& e) {
      call.threw(e.what());
    } catch (...) {
      call.threw("of its own type");
    }
    return thrown(kSlot);
  }
};

template <typename Table, typename... Args, Slot kSlot, Table hal::Tables::* kTable,
          void (*Table::*kMember)(Args...)>
struct Checked<kSlot, kTable, kMember> {
  static void call(Args... args) {
    const Call call(kSlot);
    try {
      (g_plugin.*kTable.*kMember)(args...);
    } catch (abi::__forced_unwind&) {
      throw;
    } catch (const std::exception& e) {
      call.threw(e.what());
    } catch (...) {
      call.threw("of its own type");
    }
  }
};

}  // namespace

std::optional<ErrorFault> fault_of(const stria_error& error) {
  const auto fault = [](Rule rule, std::string text) { return ErrorFault{std::move(text), rule}; };
  if (!hal::is_address(&error, alignof(stria_error)))
    return fault(Rule::gives_error, "at no address");
  if (error.size < offsetof(stria_error, release) + sizeof error.release)
    return fault(Rule::struct_size,
                 fmt::format("whose size is {}, not {}", error.size, sizeof error));
  if (error.code <= STRIA_OK || error.code > STRIA_INTERNAL)
    return fault(Rule::error_code, fmt::format("whose code is {}, not one of 1 to {}", error.code,
                                               int{STRIA_INTERNAL}));
  if (!error.release) return fault(Rule::error_release, "that has no release");
  if (error.message.size == 0) return fault(Rule::error_message, "without a message");
  if (!hal::is_address(error.message.data)) return fault(Rule::text, "whose message has no data");
  if (error.message.size > kMostMessageBytes)
    return fault(Rule::error_message,
                 fmt::format("whose message has {} bytes", error.message.size));
  return std::nullopt;
}

hal::Tables checked(const hal::Tables& plugin, CallRecord& record) {
  g_plugin = plugin;
  g_record = &record;
  hal::Tables out = plugin;
#define SLOT(table, slot) \
  out.table.slot =        \
      Checked<Slot::table##_##slot, &hal::Tables::table, &stria_##table##_table::slot>::call;
#include "stria/hal/boundary/slots.def"
  return out;
}

}  // namespace stria::conformance
