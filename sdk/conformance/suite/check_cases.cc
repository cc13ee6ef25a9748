// SPDX-License-Identifier: Apache-2.0
#include "suite/check_cases.h"

#include "suite/call_record.h"
#include "suite/subject.h"

namespace stria::conformance {
namespace {

// A busy machine takes a thread away now and then; a slot that waits is slow much more often.
constexpr uint64_t kSlowCalls = 3;
constexpr double kSlowShare = 0.05;

void add(CaseMaker& maker, std::string_view name, Level level, std::string_view sentence, Slot slot,
         Finding (*check)(Slot slot, const SlotRecord& record)) {
  Case& c = maker.add('V', fmt::format("{}.{}", name, name_of(slot)), level, sentence,
                      [slot, check](Subject& subject) -> Finding {
                        const SlotRecord& record =
                            subject.options().record->slots[static_cast<int>(slot)];
                        if (record.calls == 0) return Finding::skip("no case has called it");
                        return check(slot, record);
                      });
  c.place = Place::bare;
}

}  // namespace

void add_check_cases(CaseMaker& maker) {
  for (int i = 0; i < kSlots; ++i) {
    const Slot slot = static_cast<Slot>(i);
    add(maker, "errors_are_errors", Level::right, sentence_of(Rule::gives_error), slot,
        [](Slot, const SlotRecord& record) -> Finding {
          if (record.faults > 0)
            return make_error(StatusCode::failed_precondition, "{} of {} calls: {}",
                              record.faults.load(), record.calls.load(), record.fault.get());
          return {};
        });
    if (!must_not_block(slot)) continue;
    add(maker, "returns_at_once", Level::robust,
        "returns without waiting for device work, disk or other threads' long work", slot,
        [](Slot which, const SlotRecord& record) -> Finding {
          const uint64_t slow = record.slow, calls = record.calls;
          if (slow > kSlowCalls &&
              static_cast<double>(slow) > static_cast<double>(calls) * kSlowShare)
            return broken("{} took more than {} ms in {} of {} calls, {} ms at most",
                          name_of(which), patience_ms(kSlowMs), slow, calls,
                          record.longest_ns / 1'000'000);
          return {};
        });
  }
}

}  // namespace stria::conformance
