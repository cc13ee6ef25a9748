// SPDX-License-Identifier: Apache-2.0
#include "emit/matrix_check.h"

#include <algorithm>
#include <cstdint>

#include "emit/requirements.h"
#include "stria/semtree/c/dialect.h"

namespace stria::vulkan {
namespace {

using semtree::Array;
using semtree::Function;
using semtree::MatrixPlace;
using semtree::Statement;
using Use = Array::Fragment::Use;

constexpr int64_t kWidestAlignment = 16;  // bytes

// The place of a matrix in memory, if the statement has one, and the matrix.
struct Moved {
  const MatrixPlace* place = nullptr;
  const semtree::FragmentRef* matrix = nullptr;
  bool is_load = false;
};
Moved moved_by(const Statement& statement) {
  if (auto* load = std::get_if<semtree::MatrixLoad>(&statement.op))
    return {&load->from, &load->to, true};
  if (auto* store = std::get_if<semtree::MatrixStore>(&statement.op))
    return {&store->to, &store->from, false};
  return {};
}

// The largest power of two up to 16 that the place's address is a multiple of, for all that is
// known: memory begins at a multiple of semtree::kMemoryAlignment.
int64_t alignment_of(const semtree::Place& place, int64_t element_bytes) {
  const auto divides = [&](int64_t bytes) {
    return place.constant * element_bytes % bytes == 0 &&
           (!place.offset || place.multiple * element_bytes % bytes == 0);
  };
  int64_t bytes = kWidestAlignment;
  while (!divides(bytes)) bytes /= 2;
  return bytes;
}

class MatrixCheck {
 public:
  MatrixCheck(const Function& function, const Features& features)
      : function_(function), features_(features) {}

  Status run() {
    for (const Array& array : function_.arrays)
      if (array.fragment) STRIA_RETURN_IF_ERROR(check(array.name, array.type, *array.fragment));
    Status status;
    semtree::walk(function_.body, [&](const Statement& statement) {
      if (status.ok()) status = check(statement);
    });
    return status;
  }

 private:
  static std::string_view name_of(Use use) {
    return use == Use::left ? "left" : use == Use::right ? "right" : "sum";
  }

  // Is there a product with such a matrix in it?
  Status check(const std::string& name, DataType type, const Array::Fragment& form) const {
    const bool known = std::any_of(
        features_.matrices.begin(), features_.matrices.end(), [&](const MatrixForm& product) {
          switch (form.use) {
            case Use::left:
              return product.left == type && product.m == form.rows && product.k == form.columns;
            case Use::right:
              return product.right == type && product.k == form.rows && product.n == form.columns;
            case Use::sum: break;
          }
          return product.sum == type && product.m == form.rows && product.n == form.columns;
        });
    if (!known)
      return unsupported(
          "matrix '{}' is {} x {} of {} ({}); '{}' lacks such matrices "
          "(VK_KHR_cooperative_matrix)",
          name, form.rows, form.columns, stria::name_of(type), name_of(form.use), features_.device);
    if (type == DataType::fp16 && !features_.fp16) return lacks(name, type, "shaderFloat16");
    if (bit_width(type) == 8 && !features_.int8) return lacks(name, type, "shaderInt8");
    if (bit_width(type) == 16 && !is_float(type) && !features_.int16)
      return lacks(name, type, "shaderInt16");
    return {};
  }

  Status lacks(const std::string& name, DataType type, const char* feature) const {
    return unsupported("matrix '{}' is of {}; '{}' lacks {}", name, stria::name_of(type),
                       features_.device, feature);
  }

  Status check(const Statement& statement) const {
    if (auto* product = std::get_if<semtree::MatrixMultiply>(&statement.op)) return check(*product);
    if (auto* loop = std::get_if<semtree::ElementLoop>(&statement.op)) return check(*loop);
    const Moved moved = moved_by(statement);
    return moved.place ? check(moved) : Status();
  }

  Status check(const semtree::MatrixMultiply& product) const {
    const Array &sum = array(product.sum), &left = array(product.a), &right = array(product.b);
    const MatrixForm form{sum.fragment->rows,
                          sum.fragment->columns,
                          left.fragment->columns,
                          left.type,
                          right.type,
                          sum.type};
    const auto& known = features_.matrices;
    if (std::find(known.begin(), known.end(), form) != known.end()) return {};
    return unsupported(
        "a product of matrices, {} x {} x {} of {} and {} in {}; '{}' lacks that form "
        "(VK_KHR_cooperative_matrix)",
        form.m, form.n, form.k, stria::name_of(form.left), stria::name_of(form.right),
        stria::name_of(form.sum), features_.device);
  }

  // Of matrices of one type alone the same lane has the same element.
  Status check(const semtree::ElementLoop& loop) const {
    const Array* first = nullptr;
    for (const Statement& statement : loop.body) {
      const semtree::Place* place = nullptr;
      if (auto* load = std::get_if<semtree::Load>(&statement.op)) place = &load->place;
      if (auto* store = std::get_if<semtree::Store>(&statement.op)) place = &store->place;
      if (!place || function_.is_param(place->memory)) continue;
      const Array& array = function_.array(place->memory);
      if (!array.fragment) continue;
      if (bit_width(array.type) < 32)
        return unsupported("elements of the matrix '{}' are {}; they are computed in 32 or 64 bits",
                           array.name, stria::name_of(array.type));
      if (!first) first = &array;
      if (array.type != first->type || *array.fragment != *first->fragment)
        return unsupported(
            "elements of the matrices '{}' ({}) and '{}' ({}) are computed together; which lane "
            "has them is the same only for matrices of one form and type",
            first->name, stria::name_of(first->type), array.name, stria::name_of(array.type));
    }
    return {};
  }

  Status check(const Moved& moved) const {
    const int memory = moved.place->place.memory;
    const std::string& name = function_.memory_name(memory);
    const Array& matrix = array(*moved.matrix);
    const DataType type = function_.element_type(memory);
    STRIA_RETURN_IF_ERROR(check(name, type, *matrix.fragment));
    if (type != matrix.type) {
      const DataType from = moved.is_load ? type : matrix.type;
      const DataType to = moved.is_load ? matrix.type : type;
      if (from == DataType::boolean || to == DataType::boolean || is_float(from) != is_float(to))
        return unsupported(
            "a matrix of {} in '{}' is converted from {}: only floats to floats and "
            "integers to integers are",
            stria::name_of(to), name, stria::name_of(from));
    }
    if (!function_.is_param(memory)) {
      if (!features_.shared_views)
        return unsupported(
            "a matrix lies in '{}', which lanes share; '{}' lacks "
            "workgroupMemoryExplicitLayout",
            name, features_.device);
      if (shared_element_bytes(type, features_) != byte_size(type))
        return unsupported(
            "a matrix lies in '{}', which lanes share; '{}' keeps elements of {} in "
            "words there (workgroupMemoryExplicitLayout{}BitAccess)",
            name, features_.device, stria::name_of(type), bit_width(type));
    }
    const MatrixLines lines = lines_of(*moved.place, *matrix.fragment, type);
    const int64_t bytes = byte_size(type), aligned = alignment_of(moved.place->place, bytes);
    if (lines.stride < 0 || lines.stride > INT32_MAX)
      return unsupported("a matrix in '{}' has steps of {} elements; 0 to {} are supported", name,
                         lines.stride, INT32_MAX);
    if (moved.place->rows || moved.place->columns)
      return unsupported("a matrix in '{}' is not there as a whole", name);
    if (!is_aligned(*moved.place, *matrix.fragment, type))
      return unsupported(
          "a matrix in '{}' begins at a multiple of {} bytes and its {} are {} bytes apart; Vulkan "
          "demands multiples of {}",
          name, aligned, lines.are_rows ? "rows" : "columns", lines.stride * bytes,
          lines.aligned_bytes);
    return {};
  }

  const Array& array(const semtree::FragmentRef& ref) const { return function_.array(ref.memory); }

  const Function& function_;
  const Features& features_;
};

}  // namespace

int64_t matrix_lanes(const Features& features, int64_t subgroup_lanes) {
  return features.matrices.empty() ? 0 : subgroup_lanes;
}

MatrixLines lines_of(const MatrixPlace& place, const Array::Fragment& form, DataType type) {
  MatrixLines out;
  out.are_rows = place.column_stride == 1;
  out.stride = out.are_rows ? place.row_stride : place.column_stride;
  const int64_t elements = out.are_rows ? form.columns : form.rows;
  out.aligned_bytes = std::min(kWidestAlignment, elements * byte_size(type));
  return out;
}

bool is_aligned(const MatrixPlace& place, const Array::Fragment& form, DataType type) {
  const MatrixLines lines = lines_of(place, form, type);
  const int64_t bytes = byte_size(type);
  return alignment_of(place.place, bytes) % lines.aligned_bytes == 0 &&
         lines.stride * bytes % lines.aligned_bytes == 0;
}

Status check_matrices(const Function& function, const Features& features) {
  return MatrixCheck(function, features).run();
}

}  // namespace stria::vulkan
