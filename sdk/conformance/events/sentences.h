// SPDX-License-Identifier: Apache-2.0
// What stria/plugin.h says of events, for cases that share a sentence.
#pragma once

#include <string_view>

namespace stria::conformance::says {

inline constexpr std::string_view kGiveAnEvent =
    "Asynchronous slots take such a list, return before those events are done, and give one event.";
inline constexpr std::string_view kStartsWhenAllDone = "The work starts when all of them are done.";
inline constexpr std::string_view kEventsAloneOrder =
    "work on different executors, and unrelated work on one, may overlap: events alone order it.";
inline constexpr std::string_view kNullList =
    "Lists of events to wait for may be NULL if their count is 0";
inline constexpr std::string_view kListDuringCall =
    "Pointers given to a slot are valid during the call only, unless its comment says otherwise.";
inline constexpr std::string_view kSameError =
    "If one failed, the work is not done and its event fails with the same error (that of the "
    "first "
    "failed one in list order), after all waits are over";
inline constexpr std::string_view kFirstCause =
    "a failure travels along the events to everything that depends on it, and carries its first "
    "cause.";
inline constexpr std::string_view kHandleInFlight =
    "A handle stays usable by work in flight after its release: releasing never waits and never "
    "cancels.";
inline constexpr std::string_view kHostEvent = "A host event: open until stria_event_table.signal.";
inline constexpr std::string_view kWait =
    "Returns NULL as soon as the event is done, failed or not (see status), and "
    "STRIA_DEADLINE_EXCEEDED if it is still open after timeout_ns (UINT64_MAX: no limit, 0: just "
    "look).";
inline constexpr std::string_view kQuery = "1 if done, failed or not.";
inline constexpr std::string_view kStatus =
    "NULL if done and well; its failure if it failed; STRIA_FAILED_PRECONDITION while it is open.";
inline constexpr std::string_view kDuration =
    "0 for work that was not done, for host events, and where it is not known";
inline constexpr std::string_view kDurationOpen = "STRIA_FAILED_PRECONDITION while it is open.";
inline constexpr std::string_view kOnDone =
    "Calls callback(state, error) once: at once if done, else from any thread when done.";
inline constexpr std::string_view kCallbackError =
    "The error is NULL or valid during the callback.";
inline constexpr std::string_view kCallbackCalls =
    "The callback returns soon and may call any slot that does not block.";
inline constexpr std::string_view kSignal =
    "Host events only: it is done, or failed with a copy of `error`.";
inline constexpr std::string_view kSecondSignal = "A second call is STRIA_FAILED_PRECONDITION.";
inline constexpr std::string_view kUnsignalled =
    "A host event that is released unsignalled fails with STRIA_CANCELLED.";
inline constexpr std::string_view kEnd =
    "An event that is done when this one is, and well whatever became of it: for work that comes "
    "after other work and does not share its fate, as it overwrites what that has used.";
inline constexpr std::string_view kFlush = "Hands everything submitted to the device";
inline constexpr std::string_view kNoFlush =
    "Without it work may wait a while for company; it begins all the same, whether anybody waits "
    "for it or not.";
inline constexpr std::string_view kDrain =
    "Waits until all work submitted before the call is done, failed or not; "
    "STRIA_DEADLINE_EXCEEDED "
    "after timeout_ns (UINT64_MAX: no limit).";

}  // namespace stria::conformance::says
