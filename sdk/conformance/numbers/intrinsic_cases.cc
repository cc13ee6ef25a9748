// SPDX-License-Identifier: Apache-2.0
#include "numbers/intrinsic_cases.h"

#include "numbers/elementwise.h"

namespace stria::conformance {
namespace {

struct Shape {
  const char* name;
  CallInputs inputs;
};

// No size is a multiple of a vector, but for the one element of a number.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"vector", {{37}, {37}, {37}}},
      {"broadcast", {{3, 5, 7}, {5, 1}, {7}}},
      {"number", {{}, {}, {}}},
      {"rank_4", {{2, 3, 4, 33}, {2, 3, 4, 33}, {2, 3, 4, 33}, Values::wide}},
  };
  return all;
}

// Kernels of one program.
constexpr size_t kRow = 12;

}  // namespace

void add_intrinsic_cases(CaseMaker& maker) {
  for (const Shape& shape : shapes())
    for (const DataType type : all_types()) {
      const Level level = shape.inputs.first.size() == 1 ? Level::right : Level::robust;
      size_t number = 0;
      for (const auto& row : rows_of(functions_of(type), {}, kRow)) {
        const std::string key =
            fmt::format("intrinsic.{}.{}.{}", shape.name, stria::name_of(type), number++);
        for (const Builtin* builtin : row)
          add_program_cases(
              maker, rule_of(result_of(*builtin, type)), level, key,
              {{fmt::format("intrinsic.{}.{}.{}", builtin->name, stria::name_of(type), shape.name),
                output_of(*builtin)}},
              [row, type, &shape] { return program_of_calls(row, type, shape.inputs); });
      }
    }
}

}  // namespace stria::conformance
