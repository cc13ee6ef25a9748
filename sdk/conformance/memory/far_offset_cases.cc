// SPDX-License-Identifier: Apache-2.0
#include "memory/far_offset_cases.h"

#include "memory/sentences.h"
#include "suite/device_work.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kSizes = "sizes and offsets uint64_t bytes";
constexpr uint64_t kFar = uint64_t{1} << 32;
constexpr uint64_t kBytes = 80;
// In each buffer: within 32 bits, and the same beyond them.
constexpr uint64_t kNear = 144;

// A buffer of more than 4 GiB, of which little is touched: two ranges of bytes that are known.
struct FarBuffer {
  Buffer buffer;
  Bytes near_bytes = pattern(kBytes, 21), far_bytes = pattern(kBytes, 22);

  static Result<FarBuffer> make(const DeviceWork& work) {
    FarBuffer out;
    STRIA_ASSIGN(out.buffer, work.allocate(kFar + 4096));
    STRIA_RETURN_IF_ERROR(work.write(out.buffer, kNear, out.near_bytes));
    STRIA_RETURN_IF_ERROR(work.write(out.buffer, kFar + kNear, out.far_bytes));
    return out;
  }
  Status check(const DeviceWork& work, std::string_view what) const {
    STRIA_RETURN_IF_ERROR(
        work.holds(buffer, near_bytes, fmt::format("below 2^32 after {}", what), kNear));
    return work.holds(buffer, far_bytes, fmt::format("beyond 2^32 after {}", what), kFar + kNear);
  }
};

using Try = Status (*)(const DeviceWork& work, const Executor& executor, FarBuffer& far);

Status maps(const DeviceWork& work, const Executor&, FarBuffer& far) {
  return far.check(work, "both were written by mappings");
}
Status fills(const DeviceWork& work, const Executor& executor, FarBuffer& far) {
  const std::byte mark{77};
  STRIA_ASSIGN(const Event filled,
               work.fill(executor, far.buffer, kFar + kNear, kBytes, {&mark, 1}));
  STRIA_RETURN_IF_ERROR(work.wait(filled));
  far.far_bytes.assign(kBytes, mark);
  return far.check(work, "a fill there");
}
Status copies_from(const DeviceWork& work, const Executor& executor, FarBuffer& far) {
  STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(kBytes)));
  STRIA_ASSIGN(const Event copied,
               work.copy(executor, far.buffer, kFar + kNear, target, 0, kBytes));
  STRIA_RETURN_IF_ERROR(work.wait(copied));
  STRIA_RETURN_IF_ERROR(work.holds(target, far.far_bytes, "what was copied from beyond 2^32"));
  return far.check(work, "a copy from there");
}
Status copies_to(const DeviceWork& work, const Executor& executor, FarBuffer& far) {
  const Bytes bytes = pattern(kBytes, 23);
  STRIA_ASSIGN(const Buffer source, work.buffer(bytes));
  STRIA_ASSIGN(const Event copied,
               work.copy(executor, source, 0, far.buffer, kFar + kNear, kBytes));
  STRIA_RETURN_IF_ERROR(work.wait(copied));
  far.far_bytes = bytes;
  return far.check(work, "a copy to there");
}

}  // namespace

void add_memory_far_offset_cases(CaseMaker& maker) {
  struct How {
    const char* name;
    Try run;
  };
  for (const How& how : {How{"map", maps}, How{"fill", fills}, How{"copy_from", copies_from},
                         How{"copy_to", copies_to}}) {
    Case& c = maker.add('M', fmt::format("offset.beyond_32_bits.{}", how.name), Level::robust,
                        kSizes, [run = how.run](Subject& subject) -> Finding {
                          const DeviceWork work(subject);
                          Result<FarBuffer> far = FarBuffer::make(work);
                          if (far.status().code() == StatusCode::out_of_memory)
                            return Finding::skip("there are no 4 GiB for a buffer");
                          STRIA_RETURN_IF_ERROR(far.status());
                          STRIA_ASSIGN(const Executor executor, work.executor());
                          return run(work, executor, *far);
                        });
    c.limit = std::chrono::seconds(60);
  }
}

}  // namespace stria::conformance
