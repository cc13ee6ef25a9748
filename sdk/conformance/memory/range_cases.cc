// SPDX-License-Identifier: Apache-2.0
#include "memory/range_cases.h"

#include "memory/bench.h"
#include "memory/mapped.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kBeyond =
    "A range that reaches beyond a buffer's end is an error, however large its numbers are.";
constexpr uint64_t kBytes = 4096;

struct Range {
  const char* name;
  uint64_t offset, bytes;
};
constexpr Range kRanges[] = {{"one_byte_more", 0, kBytes + 1},
                             {"one_byte_behind", kBytes, 1},
                             {"half_of_it_behind", kBytes - 8, 16},
                             {"twice_as_long", 0, 2 * kBytes},
                             {"far_behind", uint64_t{1} << 33, 16},
                             {"of_2_to_32_and_16_bytes", 0, (uint64_t{1} << 32) + 16},
                             {"offset_and_bytes_wrap", UINT64_MAX - 15, 32},
                             {"all_bytes_that_there_are", 16, UINT64_MAX - 15}};

// What is done to a range: its failure, whether the call or an event said so.
using Attempt = std::function<Status(const Bench&, const Buffer& buffer, const Buffer& other,
                                     const Range& range)>;

struct Work {
  const char* name;
  Attempt attempt;
};

std::vector<Work> works() {
  std::vector<Work> out = {
      {"copy_from",
       [](const Bench& bench, const Buffer& buffer, const Buffer& other, const Range& range) {
         return bench.finish(bench.copy(buffer, range.offset, other, 0, range.bytes));
       }},
      {"copy_to",
       [](const Bench& bench, const Buffer& buffer, const Buffer& other, const Range& range) {
         return bench.finish(bench.copy(other, 0, buffer, range.offset, range.bytes));
       }},
      {"fill",
       [](const Bench& bench, const Buffer& buffer, const Buffer&, const Range& range) {
         return bench.finish(bench.fill(buffer, range.offset, range.bytes, bytes_of(1, 7)));
       }},
      {"fill_of_16",
       [](const Bench& bench, const Buffer& buffer, const Buffer&, const Range& range) {
         // Whole patterns, so that nothing else is wrong.
         const uint64_t bytes =
             (range.bytes + std::min<uint64_t>(15, UINT64_MAX - range.bytes)) & ~uint64_t{15};
         return bench.finish(bench.fill(buffer, range.offset, bytes, bytes_of(16, 7)));
       }}};
  for (const MapMode mode : kMapModes)
    out.push_back({mode == MapMode::read      ? "map_read"
                   : mode == MapMode::current ? "map_current"
                                              : "map_discard",
                   [mode](const Bench& bench, const Buffer& buffer, const Buffer&,
                          const Range& range) -> Status {
                     STRIA_ASSIGN(Mapped mapped,
                                  Mapped::make(bench, mode, buffer, range.offset, range.bytes));
                     const Status ready = bench.finish(mapped.ready());
                     // Of a mapping that failed, the end may fail with the same error.
                     if (!ready.ok()) static_cast<void>(mapped.end());
                     return ready;
                   }});
  return out;
}

}  // namespace

void add_memory_range_cases(CaseMaker& maker) {
  for (const Work& work : works())
    for (const Range& range : kRanges)
      add_bench_case(maker, 'M', fmt::format("beyond.{}.{}", work.name, range.name), Level::robust,
                     kBeyond, [work, range](const Bench& bench) -> Status {
                       const Bytes contents = pattern(kBytes, 91);
                       STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
                       // As long as any range that is not absurd: this side is right.
                       STRIA_ASSIGN(const Buffer other, bench.buffer(pattern(2 * kBytes, 92)));
                       const Status status = work.attempt(bench, buffer, other, range);
                       if (status.code() == StatusCode::unimplemented) return status;
                       if (status.ok())
                         return broken("{} of {} bytes at {} of a buffer of {} succeeds", work.name,
                                       range.bytes, range.offset, kBytes);
                       return bench.holds(buffer, contents,
                                          "the buffer after work that was refused");
                     });
}

}  // namespace stria::conformance
