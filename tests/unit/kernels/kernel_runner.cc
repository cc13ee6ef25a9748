// SPDX-License-Identifier: Apache-2.0
#include "kernel_runner.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "stria/interp/interpret.h"
#include "stria/stripe/text/parser.h"

namespace stria::kernels {
namespace {

uint64_t next(uint64_t& state) {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

TestBuffers make_buffers(const stripe::Program& program, const Values& given, uint64_t seed) {
  TestBuffers out;
  std::vector<stripe::Refinement> tensors = program.entry.refs;
  for (const stripe::Refinement& ref : program.main()->refs)
    if (ref.dir == stripe::RefDir::none) tensors.push_back(ref);
  for (const stripe::Refinement& ref : tensors) {
    TestBuffer& buffer = out[ref.into];
    buffer.shape = ref.shape;
    const int64_t count = ref.shape.span_elements();
    buffer.words.assign(static_cast<size_t>(count) + 8, 0);
    auto values = given.find(ref.into);
    for (int64_t i = 0; i < count; ++i)
      store_scalar(ref.shape.type, buffer.data(), i,
                   values == given.end() ? sample(ref.shape.type, seed)
                                         : values->second[static_cast<size_t>(i)]);
  }
  return out;
}

Values contents(const stripe::Program& program, TestBuffers& buffers) {
  Values out;
  for (auto& [name, buffer] : buffers)
    for (int64_t i = 0; program.entry.find_ref(name) && i < buffer.shape.span_elements(); ++i)
      out[name].push_back(load_scalar(buffer.shape.type, buffer.data(), i));
  return out;
}

double ulp(DataType type, double value) {
  if (!std::isfinite(value)) return 0;
  const int digits = type == DataType::fp64   ? 52
                     : type == DataType::fp32 ? 23
                     : type == DataType::fp16 ? 10
                                              : 7;
  const int lowest = type == DataType::fp64 ? -1022 : type == DataType::fp16 ? -14 : -126;
  int exponent = value == 0 ? lowest : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, lowest) - digits);
}

}  // namespace

Scalar sample(DataType type, uint64_t& state) {
  const uint64_t bits = next(state);
  const uint64_t choice = bits % 8;
  const int64_t number = static_cast<int64_t>(next(state));
  if (type == DataType::boolean) return Scalar::of_bool(bits & 16);
  if (is_integer(type)) {
    const int64_t edges[] = {0,
                             1,
                             -1,
                             2,
                             3,
                             7,
                             std::numeric_limits<int64_t>::min(),
                             std::numeric_limits<int64_t>::max(),
                             -8,
                             31,
                             33,
                             int64_t{1} << (bit_width(type) - 1)};
    if (choice < 4) return Scalar::of_int(type, edges[(bits >> 8) % std::size(edges)]);
    if (choice < 6) return Scalar::of_int(type, number % 100);
    return Scalar::of_int(type, number);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const double edges[] = {0.0,
                          -0.0,
                          1,
                          -1,
                          0.5,
                          2.5,
                          -3.5,
                          infinity,
                          -infinity,
                          std::nan(""),
                          1e-40,
                          6e-8,
                          65504,
                          65520,
                          1e9,
                          -2147483648.0,
                          1.8446744073709552e19,
                          3e38,
                          -1e-3,
                          300};
  if (choice < 2) return Scalar::of_float(type, edges[(bits >> 8) % std::size(edges)]);
  const double uniform = static_cast<double>(number) / 9.3e18;  // -1 .. 1
  if (choice < 5) return Scalar::of_float(type, 4 * uniform);
  if (choice < 7) return Scalar::of_float(type, 100 * uniform);
  return Scalar::of_float(type, uniform * std::ldexp(1.0, static_cast<int>(bits >> 58) - 32));
}

std::string element_view(const TestTensor& tensor, const std::string& access) {
  std::string dims;
  int64_t stride = 1;
  for (size_t i = tensor.sizes.size(); i-- > 0; stride *= tensor.sizes[i])
    dims = fmt::format("1:{}{}{}", stride, dims.empty() ? "" : ", ", dims);
  return fmt::format("{}[{}] {}({})", tensor.name, access, name_of(tensor.type), dims);
}

std::string program_text(const std::vector<TestTensor>& tensors,
                         const std::vector<std::string>& kernels) {
  std::string allocations, views;
  for (const TestTensor& tensor : tensors) {
    std::string zeros, dims;
    int64_t stride = 1;
    for (size_t i = tensor.sizes.size(); i-- > 0; stride *= tensor.sizes[i]) {
      dims = fmt::format("{}:{}{}{}", tensor.sizes[i], stride, dims.empty() ? "" : ", ", dims);
      zeros += zeros.empty() ? "0" : ", 0";
    }
    const std::string view =
        fmt::format("{}[{}] {}({})\n", tensor.name, zeros, name_of(tensor.type), dims);
    allocations += "none new@0x0 " + view;
    views += fmt::format("{} {}", tensor.dir, view);
  }
  std::string text = "stripe 1.0\n0: #program block [] (\n" + allocations +
                     ") {\n0: #main block [] (\n" + views + ") {\n";
  for (size_t i = 0; i < kernels.size(); ++i) text += fmt::format("{}: {}\n", i, kernels[i]);
  return text + "}\n}\n";
}

TestBuffer& buffer_behind(const stripe::Program& program, const std::string& name,
                          TestBuffers& buffers) {
  const stripe::Refinement* ref = program.main()->find_ref(name);
  return buffers.at(ref->from.empty() ? ref->into : ref->from);
}

namespace {

Result<Values> values_compiled(const std::string& text, const Values& given, uint64_t seed) {
  STRIA_ASSIGN(stripe::Program program, stripe::parse({"test", text}));
  TestBuffers buffers = make_buffers(program, given, seed);
  STRIA_RETURN_IF_ERROR(run_compiled(program, text, buffers));
  return contents(program, buffers);
}

}  // namespace

Result<Values> run_interpreted(const std::string& text, const Values& given, uint64_t seed) {
  STRIA_ASSIGN(stripe::Program program, stripe::parse({"test", text}));
  TestBuffers buffers = make_buffers(program, given, seed);
  std::vector<interp::TensorArg> tensors;
  for (const stripe::Refinement& ref : program.main()->refs) {
    if (ref.dir == stripe::RefDir::none) continue;
    TestBuffer& buffer = buffers.at(ref.from);
    tensors.push_back({ref.from, buffer.data(), buffer.shape});
  }
  interp::InterpOptions options;
  options.need_all_outputs = false;
  STRIA_RETURN_IF_ERROR(interp::interpret(program, tensors, options));
  return contents(program, buffers);
}

std::string difference(const std::string& text, double ulps, double relative, const Values& given,
                       uint64_t seed) {
  Result<Values> got = values_compiled(text, given, seed);
  if (!got) return "compiled: " + got.status().to_string() + "\n" + text;
  Result<Values> want = run_interpreted(text, given, seed);
  if (!want) return "interpreted: " + want.status().to_string() + "\n" + text;
  for (const auto& [name, expected] : *want) {
    const std::vector<Scalar>& values = got->at(name);
    for (size_t i = 0; i < expected.size(); ++i) {
      const Scalar& a = values[i];
      const Scalar& b = expected[i];
      bool same = a.i == b.i;
      if (is_float(a.type)) {
        same = (std::isnan(a.f) && std::isnan(b.f)) || a.f == b.f ||
               std::fabs(a.f - b.f) <= ulps * ulp(a.type, b.f) + relative * std::fabs(b.f);
      }
      if (!same) {
        std::string inputs;
        for (const auto& [other, all] : *want)
          if (other != name && i < all.size())
            inputs += fmt::format(", {} {}", other, to_string(all[i]));
        return fmt::format("{}[{}]: got {}, expected {}{}", name, i, to_string(a), to_string(b),
                           inputs);
      }
    }
  }
  return "";
}

}  // namespace stria::kernels
