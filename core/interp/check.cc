// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "stria/interp/bounded.h"
#include "stria/interp/engine.h"
#include "stria/interp/program_run.h"

namespace stria::interp {
namespace {

struct Difference {
  double error = 0;
  bool fails = false;
};

Difference difference(const Scalar& got, const Scalar& typed, double value, double bound) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (!is_float(typed.type)) {
    if (got.i == typed.i) return {};
    // In 64 bits: as doubles large neighbours would look alike.
    const bool less = is_signed_integer(got.type)
                          ? got.i < typed.i
                          : static_cast<uint64_t>(got.i) < static_cast<uint64_t>(typed.i);
    const auto low = static_cast<uint64_t>(less ? got.i : typed.i);
    return {static_cast<double>(static_cast<uint64_t>(less ? typed.i : got.i) - low), true};
  }
  if (std::isnan(value) || std::isnan(got.f)) {
    const bool same = std::isnan(value) && std::isnan(got.f);
    return same ? Difference{} : Difference{kInf, true};
  }
  if (std::isinf(value)) return got.f == value ? Difference{} : Difference{kInf, true};
  // Beyond the type's largest number a device may give infinity.
  if (std::isinf(got.f) && (got.f > 0) == (value > 0) &&
      std::fabs(value) + bound > largest(typed.type))
    return {};
  const double error = std::fabs(got.f - value);
  return {error, !(error <= bound)};
}

// The reference's elements, from what the interpreter made of it.
void fill(Reference& reference, const Buffer& buffer) {
  const auto count = static_cast<size_t>(buffer.shape->element_count());
  reference.typed.reserve(count);
  reference.value.reserve(count);
  reference.bound.reserve(count);
  reference.undecided.reserve(count);
  for_each_element(*buffer.shape, [&](int64_t, int64_t offset) {
    const Bounded& x = buffer.bounded[offset - buffer.lowest];
    reference.typed.push_back(load_scalar(buffer.type, buffer.data, offset));
    reference.value.push_back(x.value);
    reference.bound.push_back(x.bound);
    // What was never written is nobody's to check.
    reference.undecided.push_back(x.undecided || !buffer.is_valid(offset));
  });
}

}  // namespace

Result<std::vector<Reference>> interpret_with_bounds(const stripe::Program& program,
                                                     const std::vector<TensorArg>& inputs,
                                                     const InterpOptions& options) {
  STRIA_ASSIGN(ProgramTensors all, program_tensors(program));
  STRIA_RETURN_IF_ERROR(check_names(inputs, all));
  STRIA_ASSIGN(Plan plan, make_plan(program.entry));
  Engine<true> engine(plan, options);
  // Buffers with bounds take several times the memory of the tensor itself.
  const auto no_memory = [](const std::string& name, const TensorShape& shape) {
    return make_error(StatusCode::out_of_memory,
                      "tensor {}: no memory for its {} bytes with an error bound for each element",
                      name, shape.span_bytes());
  };
  for (const auto* group : {&all.inputs, &all.outputs})
    for (const auto& one : *group) {
      const TensorShape& shape = program.entry.refs[one.slot].shape;
      try {
        if (one.tensor.dir == stripe::RefDir::out) {
          Buffer buffer = Buffer::allocate(shape, true);
          buffer.of_caller = true;
          engine.bind(one.slot, std::move(buffer));
        } else {
          const bool in_place = one.tensor.dir == stripe::RefDir::in;
          STRIA_ASSIGN(Buffer buffer, bring_in(inputs, one.tensor, shape, in_place, true));
          engine.bind(one.slot, std::move(buffer));
        }
      } catch (const std::bad_alloc&) {
        return no_memory(one.tensor.name, shape);
      }
    }
  STRIA_RETURN_IF_ERROR(engine.run());
  std::vector<Reference> out;
  for (const auto& one : all.outputs) {
    const Buffer& buffer = engine.buffer_of(one.slot);
    if (options.need_all_outputs) STRIA_RETURN_IF_ERROR(check_written(one.tensor.name, buffer));
    Reference reference;
    reference.name = one.tensor.name;
    reference.shape = dense_shape(buffer.type, buffer.shape->sizes());
    try {
      fill(reference, buffer);
    } catch (const std::bad_alloc&) {
      return no_memory(one.tensor.name, *buffer.shape);
    }
    out.push_back(std::move(reference));
  }
  return out;
}
Result<CheckReport> compare(const TensorArg& result, const Reference& reference) {
  STRIA_RETURN_IF_ERROR(check_tensor(result, reference.shape));
  CheckReport report;
  double worst = -1;
  const auto look = [&](size_t at, int64_t position, int64_t offset) {
    ++report.compared;
    if (reference.undecided[at]) {
      ++report.skipped;
      return;
    }
    const Scalar got = load_scalar(result.shape.type, result.data, offset);
    const double value = reference.value[at], bound = reference.bound[at];
    const Difference found = difference(got, reference.typed[at], value, bound);
    report.failures += found.fails;
    report.max_abs_error = std::max(report.max_abs_error, found.error);
    if (value != 0 && std::isfinite(value))
      report.max_rel_error = std::max(report.max_rel_error, found.error / std::fabs(value));
    report.max_bound = std::max(report.max_bound, bound);
    const double ratio = found.error == 0 ? 0 : found.error / bound;
    if (ratio <= worst) return;
    worst = ratio;
    report.worst_element = position;
    report.worst_text.clear();
    if (found.error == 0) return;
    const bool whole = !is_float(got.type);
    const Scalar expected = whole ? reference.typed[at] : Scalar::of_float(DataType::fp64, value);
    report.worst_text = fmt::format("{}{}: got {}, expected {}", reference.name,
                                    coordinates_text(reference.shape, position), to_string(got),
                                    to_string(expected));
    if (!whole) report.worst_text += fmt::format(" within {:.3g}", bound);
  };
  if (reference.elements.empty()) {
    for_each_element(result.shape, [&](int64_t position, int64_t offset) {
      look(static_cast<size_t>(position), position, offset);
    });
  }
  for (size_t at = 0; at < reference.elements.size(); ++at)
    look(at, reference.elements[at], offset_of(result.shape, reference.elements[at]));
  return report;
}

}  // namespace stria::interp
