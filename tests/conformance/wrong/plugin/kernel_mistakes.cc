// SPDX-License-Identifier: Apache-2.0
// Kernels that compute something else than they should, or write where they should not.
#include <algorithm>
#include <bit>
#include <cstring>

#include "wrong_object.h"

namespace stria::wrong {
namespace {

// One output of a run.
struct Output {
  std::string_view type;  // "fp32"
  std::byte* data;
  uint64_t bytes;
  uint64_t room;  // behind its bytes, in the same buffer
  uint64_t width;
  uint64_t count() const { return bytes / width; }
  std::byte* element(uint64_t index) const { return data + index * width; }
};

uint64_t width_of(std::string_view type) {
  if (type == "bool" || type == "i8" || type == "u8") return 1;
  if (type == "i16" || type == "u16" || type == "fp16" || type == "bf16") return 2;
  return type == "i64" || type == "u64" || type == "fp64" ? 8 : 4;
}

template <typename Visit>
void each_argument(const KernelRun& run, bool outputs, Visit visit) {
  for (size_t i = 0; i < run.info.arguments.size(); ++i) {
    const sdk::ArgumentInfo& argument = run.info.arguments[i];
    if ((argument.direction != STRIA_IN) != outputs) continue;
    const auto type = run.types.find(argument.name);
    const std::string_view name = type == run.types.end() ? "" : std::string_view(type->second);
    const stria_memory& memory = run.arguments[i];
    visit(Output{name, static_cast<std::byte*>(memory.data), argument.bytes,
                 memory.size - std::min(memory.size, argument.bytes), width_of(name)});
  }
}

// Far from what it was, whatever its type, and however often that is done.
void spoil(const Output& out, uint64_t index) {
  if (index >= out.count()) return;
  std::byte& byte = out.element(index)[out.width - 1];
  byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) + 0x41);
}

// Elements of floats as their bits; `change` gives other ones.
template <typename Change>
void each_float(const Output& out, Change change) {
  struct Format {
    std::string_view type;
    int exponent, fraction;  // bits
  };
  for (const Format& format :
       {Format{"fp16", 5, 10}, {"bf16", 8, 7}, {"fp32", 8, 23}, {"fp64", 11, 52}}) {
    if (format.type != out.type) continue;
    const uint64_t sign = uint64_t{1} << (format.exponent + format.fraction);
    const uint64_t infinity = ((uint64_t{1} << format.exponent) - 1) << format.fraction;
    for (uint64_t i = 0; i < out.count(); ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, out.element(i), out.width);
      bits = change(bits, sign, infinity);
      std::memcpy(out.element(i), &bits, out.width);
    }
  }
}

// Elements of one integer type; `change` gives other ones.
template <typename T, typename Change>
void each_integer(const Output& out, std::string_view type, Change change) {
  if (out.type != type) return;
  for (uint64_t i = 0; i < out.count(); ++i) {
    T value;
    std::memcpy(&value, out.element(i), sizeof value);
    value = change(value);
    std::memcpy(out.element(i), &value, sizeof value);
  }
}

using Change = void (*)(const Output& out);
template <Change kChange>
void plant_output(WrongObject&) {
  hooks().after_run = [](const KernelRun& run) { each_argument(run, true, kChange); };
}
template <Change kChange>
void plant_input(WrongObject&) {
  hooks().after_run = [](const KernelRun& run) { each_argument(run, false, kChange); };
}

// "wrong_in" one type only: its first element.
template <char... kType>
void plant_wrong_in(WrongObject&) {
  static constexpr char kName[] = {kType...};
  hooks().after_run = [](const KernelRun& run) {
    each_argument(run, true, [](const Output& out) {
      if (out.type == std::string_view(kName, sizeof kName)) spoil(out, 0);
    });
  };
}

// ---- kernels that do not run

bool second_run_does_nothing(const KernelRun& run) { return run.runs == 1; }
bool prologue_runs_once(const KernelRun& run) {
  return run.info.part == STRIA_PROLOGUE && run.runs > 0;
}
bool later_runs_do_nothing(const KernelRun& run) { return run.runs >= 8; }

// ---- arguments

using Run = stria_error* (*)(stria_kernel*, const stria_argument* const*, uint64_t,
                             stria_event* const*, uint64_t, stria_event**);

// A copy of launches whose arguments have other offsets. The host launches by submit.
template <uint64_t (*kOffset)(uint64_t asked)>
stria_error* submit(stria_executor* executor, const stria_launch* const* launches,
                    uint64_t launch_count, stria_event* const* waits, uint64_t wait_count,
                    stria_event** each, stria_event** done) {
  std::vector<std::vector<stria_argument>> arguments(launch_count);
  std::vector<std::vector<const stria_argument*>> pointers(launch_count);
  std::vector<stria_launch> changed(launch_count);
  std::vector<const stria_launch*> list(launch_count);
  for (uint64_t n = 0; n < launch_count; ++n) {
    changed[n] = sdk::whole(launches[n]);
    changed[n].size = sizeof(stria_launch);
    for (uint64_t a = 0; a < changed[n].argument_count; ++a) {
      arguments[n].push_back(sdk::whole(changed[n].arguments[a]));
      arguments[n].back().size = sizeof(stria_argument);
      arguments[n].back().offset = kOffset(arguments[n].back().offset);
    }
    for (const stria_argument& argument : arguments[n]) pointers[n].push_back(&argument);
    changed[n].arguments = pointers[n].data();
    list[n] = &changed[n];
  }
  return Right::submit(executor, list.data(), launch_count, waits, wait_count, each, done);
}
template <uint64_t (*kOffset)(uint64_t asked)>
stria_error* run(stria_kernel* kernel, const stria_argument* const* arguments,
                 uint64_t argument_count, stria_event* const* waits, uint64_t wait_count,
                 stria_event** done) {
  std::vector<stria_argument> changed;
  std::vector<const stria_argument*> pointers;
  for (uint64_t a = 0; a < argument_count; ++a) {
    changed.push_back(sdk::whole(arguments[a]));
    changed.back().size = sizeof(stria_argument);
    changed.back().offset = kOffset(changed.back().offset);
  }
  for (const stria_argument& argument : changed) pointers.push_back(&argument);
  return Right::run(kernel, pointers.data(), argument_count, waits, wait_count, done);
}
template <uint64_t (*kOffset)(uint64_t asked)>
void plant_offset(WrongObject& object) {
  object.tables.executor.submit = submit<kOffset>;
  object.tables.kernel.run = run<kOffset>;
}

constexpr Mistake kAll[] = {
    {"kernel.first_element", plant_output<[](const Output& out) { spoil(out, 0); }>},
    {"kernel.last_element", plant_output<[](const Output& out) { spoil(out, out.count() - 1); }>},
    {"kernel.last_of_many", plant_output<[](const Output& out) {
       if (60'000 < out.count()) spoil(out, out.count() - 1);
     }>},
    {"kernel.tail_behind_sixteens", plant_output<[](const Output& out) {
       const uint64_t whole = out.count() / 16 * 16 * out.width;
       std::memset(out.data + whole, 0, out.bytes - whole);
     }>},
    {"kernel.sixteen_bits_of_index", plant_output<[](const Output& out) {
       for (uint64_t i = 65'536; i < out.count(); ++i)
         std::memcpy(out.element(i), out.element(i - 65'536), out.width);
     }>},
    {"kernel.writes_one_byte_behind", plant_output<[](const Output& out) {
       if (out.room != 0) out.data[out.bytes] ^= std::byte{0xff};
     }>},
    {"kernel.writes_a_line_behind", plant_output<[](const Output& out) {
       std::memset(out.data + out.bytes, 0, std::min<uint64_t>(out.room, 64));
     }>},
    {"kernel.overwrites_an_input", plant_input<[](const Output& in) { spoil(in, 0); }>},
    {"kernel.overwrites_the_last_of_an_input",
     plant_input<[](const Output& in) { spoil(in, in.count() - 1); }>},

    {"kernel.nan_is_zero", plant_output<[](const Output& out) {
       each_float(out, [](uint64_t bits, uint64_t sign, uint64_t infinity) {
         return (bits & ~sign) > infinity ? 0 : bits;
       });
     }>},
    {"kernel.nan_is_infinity", plant_output<[](const Output& out) {
       each_float(out, [](uint64_t bits, uint64_t sign, uint64_t infinity) {
         return (bits & ~sign) > infinity ? infinity : bits;
       });
     }>},
    {"kernel.infinity_is_the_largest", plant_output<[](const Output& out) {
       each_float(out, [](uint64_t bits, uint64_t sign, uint64_t infinity) {
         return (bits & ~sign) == infinity ? bits - 1 : bits;
       });
     }>},
    {"kernel.minus_zero_is_zero", plant_output<[](const Output& out) {
       each_float(out,
                  [](uint64_t bits, uint64_t sign, uint64_t) { return bits == sign ? 0 : bits; });
     }>},
    {"kernel.subnormals_vanish", plant_output<[](const Output& out) {
       each_float(out, [](uint64_t bits, uint64_t sign, uint64_t infinity) {
         const uint64_t least = infinity & -infinity;  // one in the exponent
         return (bits & ~sign) < least ? bits & sign : bits;
       });
     }>},
    {"kernel.least_i8_is_largest", plant_output<[](const Output& out) {
       each_integer<int8_t>(out, "i8", [](int8_t x) { return x == INT8_MIN ? INT8_MAX : x; });
     }>},
    {"kernel.i8_of_seven_bits", plant_output<[](const Output& out) {
       each_integer<int8_t>(out, "i8", [](int8_t x) { return std::clamp<int8_t>(x, -64, 63); });
     }>},
    {"kernel.u8_above_127_is_127", plant_output<[](const Output& out) {
       each_integer<uint8_t>(out, "u8", [](uint8_t x) { return std::min<uint8_t>(x, 127); });
     }>},
    {"kernel.least_i16_is_largest", plant_output<[](const Output& out) {
       each_integer<int16_t>(out, "i16", [](int16_t x) { return x == INT16_MIN ? INT16_MAX : x; });
     }>},
    {"kernel.i32_through_fp32", plant_output<[](const Output& out) {
       each_integer<int32_t>(out, "i32", [](int32_t x) {
         const auto rounded = static_cast<int64_t>(static_cast<float>(x));
         return static_cast<int32_t>(std::min<int64_t>(rounded, INT32_MAX));
       });
     }>},
    {"kernel.i64_through_fp64", plant_output<[](const Output& out) {
       each_integer<int64_t>(out, "i64", [](int64_t x) {
         const double rounded = static_cast<double>(x);
         return rounded >= 0x1p63 ? INT64_MAX : static_cast<int64_t>(rounded);
       });
     }>},
    {"kernel.u64_has_a_sign", plant_output<[](const Output& out) {
       each_integer<uint64_t>(out, "u64", [](uint64_t x) { return x >> 63 ? 0 : x; });
     }>},
    {"kernel.bool_is_two", plant_output<[](const Output& out) {
       each_integer<uint8_t>(out, "bool", [](uint8_t x) -> uint8_t { return x ? 2 : 0; });
     }>},

    {"kernel.wrong_in_bool", plant_wrong_in<'b', 'o', 'o', 'l'>},
    {"kernel.wrong_in_i8", plant_wrong_in<'i', '8'>},
    {"kernel.wrong_in_i16", plant_wrong_in<'i', '1', '6'>},
    {"kernel.wrong_in_i32", plant_wrong_in<'i', '3', '2'>},
    {"kernel.wrong_in_i64", plant_wrong_in<'i', '6', '4'>},
    {"kernel.wrong_in_u8", plant_wrong_in<'u', '8'>},
    {"kernel.wrong_in_u16", plant_wrong_in<'u', '1', '6'>},
    {"kernel.wrong_in_u32", plant_wrong_in<'u', '3', '2'>},
    {"kernel.wrong_in_u64", plant_wrong_in<'u', '6', '4'>},
    {"kernel.wrong_in_fp16", plant_wrong_in<'f', 'p', '1', '6'>},
    {"kernel.wrong_in_bf16", plant_wrong_in<'b', 'f', '1', '6'>},
    {"kernel.wrong_in_fp32", plant_wrong_in<'f', 'p', '3', '2'>},
    {"kernel.wrong_in_fp64", plant_wrong_in<'f', 'p', '6', '4'>},

    {"kernel.second_run_does_nothing",
     [](WrongObject&) { hooks().instead_of_run = second_run_does_nothing; }},
    {"kernel.later_runs_do_nothing",
     [](WrongObject&) { hooks().instead_of_run = later_runs_do_nothing; }},
    {"kernel.prologue_runs_once",
     [](WrongObject&) { hooks().instead_of_run = prologue_runs_once; }},

    {"kernel.ignores_offsets", plant_offset<[](uint64_t) { return uint64_t{0}; }>},
    {"kernel.offsets_of_sixteens",
     plant_offset<[](uint64_t asked) { return asked & ~uint64_t{15}; }>},
    {"kernel.offsets_in_fifteen_bits", plant_offset<[](uint64_t asked) { return asked & 0x7fff; }>},
};

}  // namespace

std::span<const Mistake> kernel_mistakes() { return kAll; }

}  // namespace stria::wrong
