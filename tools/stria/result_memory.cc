// SPDX-License-Identifier: Apache-2.0
#include "result_memory.h"

#include <unistd.h>

#include <algorithm>

#include "stria/runtime/inside.h"
#include "stria/type/tensor_shape.h"

namespace stria::command {
namespace {

bool writes(const tile::BoundPrng& step, tile::TensorId tensor) {
  return step.state_out == tensor || step.values == tensor;
}
template <typename Form>
bool writes(const Form& form, tile::TensorId tensor) {
  return form.out == tensor;
}

SourceSpan span_of(const tile::BoundProgram& bound, tile::TensorId output) {
  for (const tile::BoundStatement& statement : bound.statements)
    if (std::visit([&](const auto& form) { return writes(form, output); }, statement.form))
      return statement.span;
  return {};
}

}  // namespace

Outcome check_result_memory(const Program& program, const tile::BoundProgram& bound,
                            const Device& device) {
  const auto host_bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                          static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t device_bytes = device.info().memory_bytes;  // 0: not known
  const bool host_is_less = device_bytes == 0 || host_bytes < device_bytes;
  const uint64_t limit = host_is_less ? host_bytes : device_bytes;
  Diagnostics diagnostics(Inside::tile(program).source);
  for (tile::TensorId id : bound.outputs) {
    const tile::BoundTensor& tensor = bound.tensors[id];
    const auto bytes =
        static_cast<uint64_t>(memory_shape(tensor.outside_type(), tensor.sizes).span_bytes());
    if (bytes > limit)
      diagnostics.error(span_of(bound, id),
                        fmt::format("the result {} is {}, {} bytes; {} has {} bytes of memory",
                                    tensor.name, to_string(tensor.outside_type(), tensor.sizes),
                                    bytes, host_is_less ? "this machine" : device.name(), limit));
  }
  if (!diagnostics.has_errors()) return Outcome();
  return Outcome(ExitCode::program, diagnostics.status());
}

}  // namespace stria::command
