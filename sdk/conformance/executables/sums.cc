// SPDX-License-Identifier: Apache-2.0
#include "executables/sums.h"

#include <algorithm>
#include <map>
#include <utility>

#include "stria/type/scalar.h"
#include "suite/case.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kGuard = 64;
constexpr const char* kNames[] = {"A", "B", "R"};

int64_t element(uint32_t seed, int number, int64_t at) {
  const auto x = static_cast<uint64_t>(at + 1) * (number == 0 ? 37 : 11) +
                 uint64_t{seed} * 101 * static_cast<uint64_t>(number + 1);
  return static_cast<int64_t>(x % 61) - 30;
}

}  // namespace

Bytes sum_operand(DataType type, int64_t count, uint32_t seed, int number) {
  Bytes out(static_cast<size_t>(bytes_of(type, count)));
  for (int64_t i = 0; i < count; ++i)
    store_scalar(type, out.data(), i, Scalar::of_int(DataType::i64, element(seed, number, i)));
  return out;
}

Bytes sum_result(DataType type, int64_t count, uint32_t seed) {
  Bytes out(static_cast<size_t>(bytes_of(type, count)));
  for (int64_t i = 0; i < count; ++i)
    store_scalar(type, out.data(), i,
                 Scalar::of_int(DataType::i64, element(seed, 0, i) + element(seed, 1, i)));
  return out;
}

Result<SumTensors> SumTensors::make(const Subject& subject, DataType type, int64_t count,
                                    uint32_t seed, const Offsets& offsets) {
  SumTensors out;
  out.type_ = type;
  out.count_ = count;
  const auto size = static_cast<uint64_t>(byte_size(type));
  for (size_t n = 0; n < 3; ++n) {
    out.offsets_[n] = offsets[n] * size;
    const uint64_t bytes = out.offsets_[n] + static_cast<uint64_t>(count) * size + kGuard;
    out.contents_[n] = pattern(bytes, static_cast<uint32_t>(n + 7));
    STRIA_ASSIGN(out.buffers_[n], subject.allocate(bytes));
  }
  STRIA_RETURN_IF_ERROR(out.write_inputs(subject, seed));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).write(out.buffers_[2], 0, out.contents_[2]));
  return out;
}

Status SumTensors::write_inputs(const Subject& subject, uint32_t seed) {
  seed_ = seed;
  for (size_t n = 0; n < 2; ++n) {
    const Bytes values = sum_operand(type_, count_, seed, static_cast<int>(n));
    std::copy(values.begin(), values.end(),
              contents_[n].begin() + static_cast<std::ptrdiff_t>(offsets_[n]));
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).write(buffers_[n], 0, contents_[n]));
  }
  return Status();
}

Spots SumTensors::spots() const {
  Spots out;
  for (size_t n = 0; n < 3; ++n) out[kNames[n]] = {buffers_[n].get(), offsets_[n]};
  return out;
}

void SumTensors::release_inputs() {
  buffers_[0].reset();
  buffers_[1].reset();
}

Status SumTensors::check_bytes(const Subject& subject, size_t number, const Bytes& expected) const {
  if (!buffers_[number]) return Status();
  STRIA_ASSIGN(const Bytes got, DeviceWork(subject).read(buffers_[number], 0, expected.size()));
  const std::string text = difference(got, expected);
  if (text.empty()) return Status();
  return broken("after R = A + B of {} {} the buffer of {}, which lies at byte {}, is wrong: {}",
                count_, stria::name_of(type_), kNames[number], offsets_[number], text);
}

Status SumTensors::check(const Subject& subject) const {
  Bytes wanted = contents_[2];
  const Bytes result = sum_result(type_, count_, seed_);
  std::copy(result.begin(), result.end(),
            wanted.begin() + static_cast<std::ptrdiff_t>(offsets_[2]));
  STRIA_RETURN_IF_ERROR(check_bytes(subject, 2, wanted));
  for (const size_t n : {0u, 1u}) STRIA_RETURN_IF_ERROR(check_bytes(subject, n, contents_[n]));
  return Status();
}

Status SumTensors::check_untouched(const Subject& subject) const {
  for (const size_t n : {0u, 1u, 2u}) STRIA_RETURN_IF_ERROR(check_bytes(subject, n, contents_[n]));
  return Status();
}

Result<Compilation> sum_program(const Subject& subject, DataType type, int64_t count) {
  static auto* kept = new std::map<std::pair<DataType, int64_t>, Compilation>;
  const auto key = std::pair(type, count);
  if (const auto it = kept->find(key); it != kept->end()) return it->second;
  TestProgram program;
  program.name = "sum";
  program.parameters = {"A[N]", "B[N]"};
  program.outputs = {"R"};
  program.body = "  R = A + B;\n";
  program.inputs = {{"A", type, {count}}, {"B", type, {count}}};
  STRIA_ASSIGN(Compilation compilation, compile_for_device(subject, program));
  return kept->emplace(key, std::move(compilation)).first->second;
}

Result<Sums> Sums::make(const Subject& subject, DataType type, int64_t count) {
  Sums out;
  out.type = type;
  out.count = count;
  STRIA_ASSIGN(const Compilation program, sum_program(subject, type, count));
  STRIA_ASSIGN(out.built, build(subject, program));
  return out;
}

Result<Event> run_sum(const Subject& subject, const Sums& sums, const SumTensors& tensors,
                      std::span<stria_event* const> waits) {
  Launches launches;
  STRIA_RETURN_IF_ERROR(launches.add(subject, sums.built, tensors.spots()));
  return run_each(subject, launches, waits);
}

}  // namespace stria::conformance
