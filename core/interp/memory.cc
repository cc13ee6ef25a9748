// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/memory.h"

#include <algorithm>
#include <cmath>

#include "stria/builtins/builtin.h"

namespace stria::interp {
namespace {

void set_range(Buffer& buffer, const TensorShape& shape) {
  buffer.type = shape.type;
  buffer.shape = &shape;
  buffer.lowest = 0;
  int64_t highest = 0;
  for (const Dim& dim : shape.dims) {
    if (dim.size == 0) return;  // lowest == end == 0: no element
    int64_t reach = (dim.size - 1) * dim.stride;
    (reach < 0 ? buffer.lowest : highest) += reach;
  }
  buffer.end = highest + 1;
}

}  // namespace

void Buffer::poison() {
  if (++epoch != 0) return;
  std::fill_n(valid.get(), count(), 0);
  epoch = 1;
}

void Buffer::accept_content() {
  valid.reset();
  if (!bounded) return;
  for (int64_t i = 0; i < count(); ++i)
    bounded[i] = {load_scalar(type, data, lowest + i).to_double(), 0, false};
}

Buffer Buffer::allocate(const TensorShape& shape, bool with_bounds) {
  Buffer out;
  set_range(out, shape);
  const auto count = static_cast<size_t>(out.count());
  out.own = std::make_unique<char[]>(count * static_cast<size_t>(byte_size(shape.type)));
  out.data = out.own.get() - out.lowest * byte_size(shape.type);
  out.valid = std::make_unique<uint32_t[]>(count);
  if (with_bounds) out.bounded = std::make_unique<Bounded[]>(count);
  return out;
}

Buffer Buffer::wrap(void* data, const TensorShape& shape, bool poisoned, bool with_bounds) {
  Buffer out;
  set_range(out, shape);
  out.data = static_cast<char*>(data);
  out.of_caller = true;
  if (with_bounds) out.bounded = std::make_unique<Bounded[]>(static_cast<size_t>(out.count()));
  if (poisoned)
    out.valid = std::make_unique<uint32_t[]>(static_cast<size_t>(out.count()));
  else
    out.accept_content();
  return out;
}

void Aggregating::open(Buffer& target, const stripe::Aggregation& how, bool starts_from_identity,
                       bool with_bounds) {
  agg = how;
  from_identity = starts_from_identity;
  widened = how.type != target.type;
  buffer = &target;
  around = target.growing;
  target.growing = this;
  touched.clear();
  if (is_direct() && !with_bounds) return;
  const auto count = static_cast<size_t>(target.count());
  if (started.size() < count) started.resize(count, 0);
  if (++epoch == 0) {
    std::fill(started.begin(), started.end(), 0);
    epoch = 1;
  }
  const size_t bytes = count * static_cast<size_t>(byte_size(how.type));
  if (widened && running.size() < bytes) running.resize(bytes);
  if (with_bounds && sums.size() < count) sums.resize(count);
}

Scalar combine(const stripe::Aggregation& agg, const Scalar& a, const Scalar& b) {
  const Scalar operands[] = {a, b};
  return find_builtin(stripe::name_of(agg.op))->reference(agg.type, operands);
}

}  // namespace stria::interp
