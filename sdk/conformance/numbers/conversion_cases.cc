// SPDX-License-Identifier: Apache-2.0
#include "numbers/conversion_cases.h"

#include "numbers/form.h"

namespace stria::conformance {
namespace {

std::string_view sentence_for(DataType from, DataType to) {
  if (to == DataType::boolean) return "Anything to bool is \"not 0\" (NaN is true).";
  if (is_float(from) && is_float(to)) return "Float to float rounds once.";
  if (is_float(from)) return "Float to integer truncates and saturates. NaN gives 0.";
  if (is_float(to)) return "Integer to float rounds once to the nearest, ties to even.";
  return "Integer to integer wraps.";
}

// The call that converts to the type.
std::string call_of(DataType to) {
  if (to == DataType::boolean) return "as_bool(A)";
  if (to == DataType::bf16) return "as_bfloat(A, 16)";
  return fmt::format("{}(A, {})",
                     is_float(to)            ? "as_float"
                     : is_signed_integer(to) ? "as_int"
                                             : "as_uint",
                     bit_width(to));
}

std::string output_of(DataType to) { return fmt::format("R_{}", stria::name_of(to)); }

struct Kind {
  const char* name;
  // Of inputs: floats, then the others.
  const char* of_floats;
  const char* of_others;
};
// Integers of all bits are beyond what floats hold exactly; floats of many sizes are beyond what
// integers hold.
constexpr Kind kKinds[] = {{"edges", "3,29 special", "3,29 edge"},
                           {"any", "5,41 wide", "5,41 wide"}};

void add(CaseMaker& maker, DataType from, const Kind& kind, const std::vector<DataType>& targets,
         Level level, size_t number) {
  Form form;
  form.inputs = fmt::format("A {}", is_float(from) ? kind.of_floats : kind.of_others);
  form.head = "A -> ";
  for (const DataType to : targets) {
    form.head += (form.head.back() == ' ' ? "" : ", ") + output_of(to);
    form.body += fmt::format("  {} = {};\n", output_of(to), call_of(to));
  }
  const std::string key = fmt::format("convert.{}.{}.{}", stria::name_of(from), kind.name, number);
  for (const DataType to : targets)
    add_program_cases(
        maker, {sentence_for(from, to)}, level, key,
        {{fmt::format("convert.{}_to_{}.{}", stria::name_of(from), stria::name_of(to), kind.name),
          output_of(to)}},
        [form, from] { return program_of(form, from); });
}

}  // namespace

void add_conversion_cases(CaseMaker& maker) {
  using D = DataType;
  for (const DataType from : all_types())
    for (const Kind& kind : kKinds) {
      std::vector<DataType> first, second;
      const bool of_level_2 =
          std::string_view(kind.name) == "edges" && (from == D::fp32 || from == D::i32);
      for (const DataType to : all_types()) {
        const bool is_first = to == D::i8 || to == D::i32 || to == D::u8 || to == D::fp32 ||
                              to == D::fp16 || to == D::boolean;
        (is_first ? first : second).push_back(to);
      }
      add(maker, from, kind, first, of_level_2 ? Level::right : Level::robust, 0);
      add(maker, from, kind, second, Level::robust, 1);
    }
}

}  // namespace stria::conformance
