// SPDX-License-Identifier: Apache-2.0
// Every bit pattern of every packed type (rules T14 and T15), and numbers around every place where
// rounding changes, on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../chosen_device.h"
#include "../lacked_types.h"
#include "../packed_numbers.h"
#include "../plugin_folder.h"
#include "stria/runtime/stria.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

class Packed : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    RuntimeOptions options;
    options.plugin_paths = {plugin_folder(STRIA_BINARY_DIR "/lib/stria/plugins")};
    options.only_plugin_paths = true;
    runtime_ = std::make_unique<Runtime>(options);
    auto device = runtime_->open(chosen_device(GetParam()));
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }

  // The bytes of the only output of R = expression of A. "" of what the device lacks.
  std::string run(const std::string& expression, TensorType in, std::string_view bytes,
                  const TensorType& out) {
    const std::string text = "function (A) -> (R) { R = " + expression + "; }";
    auto program = Program::from_tile({"packed.tile", text});
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    auto executable = device_.compile(*program, {{"A", in}});
    if (!executable.ok()) {
      EXPECT_TRUE(lacked_.refused(device_, executable.status())) << text << "\n"
                                                                 << executable.status().to_string();
      return "";
    }
    EXPECT_EQ(executable->outputs()[0].type, out.type) << text;
    EXPECT_EQ(executable->outputs()[0].sizes, out.sizes) << text;
    auto from = device_.create_tensor(executable->inputs()[0]);
    auto to = device_.create_tensor(executable->outputs()[0]);
    EXPECT_TRUE(from.ok() && to.ok());
    EXPECT_EQ(from->byte_count(), bytes.size());
    EXPECT_TRUE(from->write(bytes).ok());
    auto event = executable->run({*from}, {*to});
    EXPECT_TRUE(event.ok() && event->wait().ok()) << text;
    auto result = to->read();
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    lacked_.ran();
    return result.ok() ? std::string(result->bytes()) : "";
  }

  std::unique_ptr<Runtime> runtime_;
  Device device_;
  LackedTypes lacked_;
};

// The driver behind opencl takes a second to compile what runs in a millisecond.
std::vector<std::vector<int64_t>> sizes_for(const std::string& plugin) {
  if (plugin == "opencl") return {{256}, {3, 5}};
  return {{}, {0}, {7}, {256}, {4, 0}, {3, 5}, {5, 2, 4}};
}

TEST_P(Packed, EveryPatternIsRead) {
  for (const DataType type : kPackedTypes)
    for (const auto& sizes : sizes_for(GetParam())) {
      SCOPED_TRACE(to_string(type, sizes));
      const int64_t count = dense_shape(type, sizes).element_count();
      std::vector<int> patterns;
      for (int64_t n = 0; n < count; ++n)
        patterns.push_back(static_cast<int>(n * (sizes.size() > 1 ? 37 : 1)) &
                           ((1 << bit_width(type)) - 1));
      const DataType wide = is_float(type) ? DataType::fp32 : DataType::i32;
      const std::string bytes = run(is_float(type) ? "as_float(A, 32)" : "as_int(A, 32)",
                                    {type, sizes}, packed(type, patterns), {wide, sizes});
      ASSERT_EQ(bytes.size(), static_cast<size_t>(4 * count));
      for (size_t n = 0; n < patterns.size(); ++n) {
        const double wanted = meaning(type, patterns[n]);
        const Scalar got = load_scalar(wide, bytes.data(), static_cast<int64_t>(n));
        if (is_float(type))
          EXPECT_TRUE(same(static_cast<float>(got.f), static_cast<float>(wanted)))
              << "pattern " << patterns[n] << ": " << got.f << " for " << wanted;
        else
          EXPECT_EQ(got.i, static_cast<int64_t>(wanted)) << "pattern " << patterns[n];
      }
    }
}

TEST_P(Packed, EveryPatternIsWrittenAgain) {
  for (const DataType type : kPackedTypes)
    for (const auto& sizes : sizes_for(GetParam())) {
      SCOPED_TRACE(to_string(type, sizes));
      const int64_t count = dense_shape(type, sizes).element_count();
      std::vector<int> patterns;
      for (int64_t n = 0; n < count; ++n) {
        int bits = static_cast<int>(n * 37) & ((1 << bit_width(type)) - 1);
        // A NaN becomes the one without a sign.
        if (is_float(type) && std::isnan(meaning(type, bits))) bits = nearest(type, kNan);
        patterns.push_back(bits);
      }
      const std::string bytes = packed(type, patterns);
      EXPECT_EQ(run("A", {type, sizes}, bytes, {type, sizes}), bytes);
      EXPECT_EQ(run(cast_text(type, "A"), {type, sizes}, bytes, {type, sizes}), bytes);
    }
}

TEST_P(Packed, FloatsAreRoundedOnceToTheNearest) {
  for (const DataType type : kPackedTypes) {
    if (!is_float(type)) continue;
    SCOPED_TRACE(name_of(type));
    const std::vector<float> numbers = hard_numbers(type);
    const std::vector<int64_t> sizes = {static_cast<int64_t>(numbers.size())};
    const std::string_view given = {reinterpret_cast<const char*>(numbers.data()),
                                    numbers.size() * sizeof(float)};
    const std::string bytes =
        run(cast_text(type, "A"), {DataType::fp32, sizes}, given, {type, sizes});
    ASSERT_EQ(bytes.size(), static_cast<size_t>(bytes_of(type, sizes[0])));
    for (size_t n = 0; n < numbers.size(); ++n)
      EXPECT_EQ(bits_at(bytes, type, n), nearest(type, numbers[n])) << numbers[n];
    // The bits behind the last element are zero.
    if (const int64_t shared = 8 / bit_width(type); sizes[0] % shared != 0) {
      EXPECT_EQ(bits_at(bytes, type, numbers.size()), 0);
    }
    // What is not packed has the same numbers.
    const std::string held = run("as_float(" + cast_text(type, "A") + ", 32)",
                                 {DataType::fp32, sizes}, given, {DataType::fp32, sizes});
    ASSERT_EQ(held.size(), given.size());
    for (size_t n = 0; n < numbers.size(); ++n) {
      const auto got =
          static_cast<float>(load_scalar(DataType::fp32, held.data(), static_cast<int64_t>(n)).f);
      EXPECT_TRUE(same(got, static_cast<float>(meaning(type, nearest(type, numbers[n])))))
          << numbers[n] << " gives " << got;
    }
    // From fp64 there is one rounding, too: a hair above a middle is above it.
    std::vector<double> wide;
    for (const float x : numbers)
      if (std::isfinite(x) && x != 0 && std::fabs(x) < 1e30F) wide.push_back(x * (1 + 0x1p-50));
    const std::vector<int64_t> count = {static_cast<int64_t>(wide.size())};
    const std::string from_wide = run(
        cast_text(type, "A"), {DataType::fp64, count},
        {reinterpret_cast<const char*>(wide.data()), wide.size() * sizeof(double)}, {type, count});
    for (size_t n = 0; n < wide.size() && !from_wide.empty(); ++n)
      EXPECT_EQ(bits_at(from_wide, type, n), nearest(type, wide[n])) << wide[n];
  }
}

TEST_P(Packed, IntegersWrapAndFloatsSaturate) {
  for (const DataType type : kPackedTypes) {
    if (is_float(type)) continue;
    SCOPED_TRACE(name_of(type));
    std::vector<int32_t> integers;
    for (int32_t n = -70; n < 71; ++n) integers.push_back(n);
    integers.insert(integers.end(), {INT32_MIN, INT32_MAX, 1 << 20});
    const std::vector<int64_t> sizes = {static_cast<int64_t>(integers.size())};
    const std::string bytes =
        run(cast_text(type, "A"), {DataType::i32, sizes},
            {reinterpret_cast<const char*>(integers.data()), integers.size() * 4}, {type, sizes});
    for (size_t n = 0; n < integers.size() && !bytes.empty(); ++n)
      EXPECT_EQ(bits_at(bytes, type, n), integers[n] & ((1 << bit_width(type)) - 1)) << integers[n];
    const std::vector<float> floats = {
        0.0F,  0.9F,  -0.9F, 1.5F, 3.7F,  7.9F,   8.1F,
        -2.9F, -7.9F, -9.0F, 1e9F, -1e9F, 16.25F, std::numeric_limits<float>::quiet_NaN()};
    const std::vector<int64_t> count = {static_cast<int64_t>(floats.size())};
    const std::string saturated =
        run(cast_text(type, "A"), {DataType::fp32, count},
            {reinterpret_cast<const char*>(floats.data()), floats.size() * 4}, {type, count});
    const int bits = bit_width(type) - (is_signed_integer(type) ? 1 : 0);
    const double most = (1 << bits) - 1, least = is_signed_integer(type) ? -most - 1 : 0;
    for (size_t n = 0; n < floats.size() && !saturated.empty(); ++n) {
      const double wanted =
          std::isnan(floats[n]) ? 0 : std::clamp<double>(std::trunc(floats[n]), least, most);
      EXPECT_EQ(meaning(type, bits_at(saturated, type, n)), wanted) << floats[n];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Plugins, Packed, testing::ValuesIn(tested_plugins({STRIA_PLUGINS})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stria
