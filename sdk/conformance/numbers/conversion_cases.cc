// SPDX-License-Identifier: Apache-2.0
#include "numbers/conversion_cases.h"

#include <cmath>
#include <cstring>

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

// ---- copies

bool is_nan(DataType type, const Bytes& bytes, int64_t at) {
  return std::isnan(load_scalar(type, bytes.data(), at).f);
}

// Every bit, signs of zeros included. Of a NaN, that it is one.
Finding copies_bits(Subject& subject, DataType type) {
  const auto count = static_cast<int64_t>(special_values(type).size()) * 5;
  TestProgram program;
  program.name = "copy";
  program.parameters = {"A[N]"};
  program.outputs = {"Copy", "Reversed"};
  program.body = "  Copy = ident(A);\n  Reversed[N - 1 - i : N] = =(A[i]);\n";
  program.inputs = {{"A", type, {count}, Values::special}};
  program.keep_results = true;
  const ProgramRun run = run_program(subject, program);
  if (!run.status.ok()) return finding_of(run.status);
  STRIA_ASSIGN(const std::vector<HostTensor> given, input_values(program));
  const auto size = static_cast<size_t>(byte_size(type));
  const Bytes wanted(given[0].data(), given[0].data() + given[0].byte_count());
  for (const OutputRun& output : run.outputs) {
    STRIA_RETURN_IF_ERROR(output.status);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t from = output.name == "Copy" ? i : count - 1 - i;
      if (is_nan(type, wanted, from) && is_nan(type, output.result, i)) continue;
      if (std::memcmp(output.result.data() + static_cast<size_t>(i) * size,
                      wanted.data() + static_cast<size_t>(from) * size, size) != 0)
        return broken("{}[{}] is {}, a copy of {}: other bits", output.name, i,
                      to_string(load_scalar(type, output.result.data(), i)),
                      to_string(load_scalar(type, wanted.data(), from)));
    }
  }
  return {};
}

}  // namespace

void add_conversion_cases(CaseMaker& maker) {
  for (const DataType type : {DataType::fp32, DataType::fp64, DataType::fp16, DataType::bf16}) {
    Case& c = maker.add('K', fmt::format("copy.bits.{}", stria::name_of(type)),
                        type == DataType::fp32 ? Level::right : Level::robust,
                        "Loads, stores and copies change nothing.",
                        [type](Subject& subject) { return copies_bits(subject, type); });
    c.source = "docs/semantics.md";
    c.limit = std::chrono::seconds(60);
  }
  using D = DataType;
  for (const DataType from : all_types())
    for (const Kind& kind : kKinds) {
      std::vector<DataType> first, second;
      const bool of_level_2 = std::string_view(kind.name) == "edges";
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
