// SPDX-License-Identifier: Apache-2.0
// Requests beyond what any device has.
#include "faults/fault_cases.h"
#include "suite/device_work.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kNoMemory =
    "Memory of this buffer alone, with undefined contents, or STRIA_OUT_OF_MEMORY with the bytes "
    "asked for and the bytes free.";

Case& add(CaseMaker& maker, const std::string& name, std::function<Finding(Subject&)> run) {
  return maker.add('F', name, Level::robust, kNoMemory, std::move(run));
}

// A failure unless the device says that there is no memory for that, and names the number.
Status refuses(const DeviceWork& work, uint64_t bytes) {
  stria_buffer_params params{};
  params.size = sizeof params;
  params.bytes = bytes;
  stria_buffer* raw = nullptr;
  const Status status = Subject::failure(
      Slot::device_allocate, work.tables().device.allocate(work.device(), &params, &raw));
  if (status.ok()) {
    if (raw) work.tables().buffer.release(raw);
    return broken("device.allocate of {} bytes succeeds", bytes);
  }
  if (raw) return broken("device.allocate of {} bytes fails and gives a buffer", bytes);
  if (status.code() != StatusCode::out_of_memory)
    return broken("device.allocate of {} bytes says '{}', not STRIA_OUT_OF_MEMORY", bytes,
                  status.to_string());
  if (status.message().find(fmt::format("{}", bytes)) == std::string::npos)
    return broken(
        "device.allocate of {} bytes fails with '{}', which does not name the bytes asked "
        "for",
        bytes, status.message());
  return Status();
}

}  // namespace

void add_huge_cases(CaseMaker& maker) {
  // No device has so many addresses.
  for (const auto& [name, bytes] :
       {std::pair{"2_to_the_60", uint64_t{1} << 60}, std::pair{"2_to_the_62", uint64_t{1} << 62},
        std::pair{"2_to_the_63", uint64_t{1} << 63},
        std::pair{"2_to_the_63_less_1", (uint64_t{1} << 63) - 1},
        std::pair{"all_but_63", UINT64_MAX - 63}, std::pair{"all_but_1", UINT64_MAX - 1},
        std::pair{"all", UINT64_MAX}})
    add(maker, fmt::format("huge.buffer_of_{}", name),
        [bytes = bytes](Subject& subject) -> Finding {
          const DeviceWork work(subject);
          STRIA_RETURN_IF_ERROR(refuses(work, bytes));
          return work_round(work, 1);
        });
  add(maker, "huge.more_than_the_device_has", [](Subject& subject) -> Finding {
    const uint64_t has = subject.device_info().memory_bytes;
    if (has == 0) return Finding::skip("the device does not say how much memory it has");
    const DeviceWork work(subject);
    STRIA_RETURN_IF_ERROR(refuses(work, has + 1));
    if (has < UINT64_MAX / 4) STRIA_RETURN_IF_ERROR(refuses(work, has * 2));
    return work_round(work, 2);
  });
  add(maker, "huge.100_times", [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    for (int i = 0; i < 100; ++i)
      STRIA_RETURN_IF_ERROR(refuses(work, (uint64_t{1} << 60) + static_cast<uint64_t>(i)));
    // What was refused is not counted as taken.
    return work_round(work, 3);
  });
  add(maker, "huge.while_others_are_alive", [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    const Bytes contents = pattern(10'000, 4);
    STRIA_ASSIGN(const Buffer kept, work.buffer(contents));
    STRIA_RETURN_IF_ERROR(refuses(work, uint64_t{1} << 61));
    return work.holds(kept, contents, "a buffer that was there before");
  });
}

}  // namespace stria::conformance
