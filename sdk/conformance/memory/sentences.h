// SPDX-License-Identifier: Apache-2.0
// What stria/plugin.h says of memory, for cases that share a sentence.
#pragma once

#include <string_view>

namespace stria::conformance::says {

inline constexpr std::string_view kAllocate =
    "Memory of this buffer alone, with undefined contents, or STRIA_OUT_OF_MEMORY with the bytes "
    "asked for and the bytes free.";
inline constexpr std::string_view kZeroIsLegal = "0 is legal";
inline constexpr std::string_view kNoBytes =
    "Work of 0 bytes is legal, and waits as any other does.";
inline constexpr std::string_view kNothingWritten =
    "On failure no output parameter has been written.";
inline constexpr std::string_view kCopy =
    "Copies bytes between buffers of this device, or within one if the ranges do not overlap.";
inline constexpr std::string_view kFill =
    "Repeats `pattern` (1, 2, 4, 8 or 16 bytes, copied) over `bytes`, a multiple of its size.";
inline constexpr std::string_view kMayOverlap =
    "work on different executors, and unrelated work on one, may overlap: events alone order it.";
inline constexpr std::string_view kStartsAfterWaits = "The work starts when all of them are done.";
inline constexpr std::string_view kReleaseInFlight =
    "A handle stays usable by work in flight after its release: releasing never waits and never "
    "cancels.";
inline constexpr std::string_view kCallOnly =
    "Pointers given to a slot are valid during the call only, unless its comment says otherwise.";
inline constexpr std::string_view kUnmap = "When `done` is, the device sees what was written.";
inline constexpr std::string_view kHoldsRange =
    "A mapping holds its range from when its waits are over until the `done` of its unmap; ranges "
    "held at once must not overlap.";
inline constexpr std::string_view kMapAgain =
    "a range may be mapped again while an earlier mapping of it is still open, even one whose own "
    "waits are not over, if the waits of the later one end after the earlier unmap's `done`.";
inline constexpr std::string_view kFailedMapping =
    "Of a mapping that failed nothing is written to the buffer, and `done` may fail with the same "
    "error.";
inline constexpr std::string_view kReadersOverlap =
    "Ranges that are mapped so may overlap each other while they are held.";

}  // namespace stria::conformance::says
