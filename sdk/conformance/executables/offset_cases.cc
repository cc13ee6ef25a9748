// SPDX-License-Identifier: Apache-2.0
// Arguments that begin somewhere in a buffer: at every multiple of the element size.
#include "executables/executable_case.h"
#include "executables/launch_cases.h"
#include "executables/sums.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kOffset =
    "An argument is the whole tensor that the refinement names in its part: element 0 of that "
    "tensor lies at the argument's offset.";

// Each offset in turn for one of the three tensors while the others begin with their buffers, and
// for all of them.
Finding at_offset(Subject& subject, DataType type, uint64_t elements) {
  if (const Status lacks = check_has(subject, type); !lacks.ok()) return finding_of(lacks);
  STRIA_ASSIGN(const Sums sums, Sums::make(subject, type));
  const SumTensors::Offsets all[] = {
      {elements, 0, 0}, {0, elements, 0}, {0, 0, elements}, {elements, elements + 2, elements + 4}};
  uint32_t seed = 0;
  for (const SumTensors::Offsets& offsets : all) {
    STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, ++seed, offsets));
    STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors));
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
    STRIA_RETURN_IF_ERROR(tensors.check(subject));
  }
  return {};
}

}  // namespace

void add_offset_cases(CaseMaker& maker) {
  for (const DataType type : {DataType::i8, DataType::i16, DataType::i32, DataType::i64})
    for (const uint64_t elements : {1u, 3u, 7u, 13u, 63u, 257u, 4097u})
      add_executable_case(
          maker, fmt::format("offset.{}_elements.{}", elements, stria::name_of(type)),
          elements == 3 || (elements == 63 && type == DataType::i8) ? Level::right : Level::robust,
          kOffset,
          [type, elements](Subject& subject) { return at_offset(subject, type, elements); });
}

}  // namespace stria::conformance
