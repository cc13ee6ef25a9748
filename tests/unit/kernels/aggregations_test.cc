// SPDX-License-Identifier: Apache-2.0
// All aggregations in all types that keep their running value themselves: element by element, by
// lanes of different elements, and over the lanes into one element, with and without masks.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel_runner.h"

namespace stria::kernels {
namespace {

constexpr int64_t kRows = 5, kColumns = 40;

const DataType kTypes[] = {DataType::boolean, DataType::i8,   DataType::i16, DataType::i32,
                           DataType::i64,     DataType::u8,   DataType::u16, DataType::u32,
                           DataType::u64,     DataType::fp32, DataType::fp64};

std::vector<Scalar> mild(DataType type, int64_t count) {
  std::vector<Scalar> out;
  for (int64_t i = 0; i < count; ++i) {
    const double x = 1 + 0.25 * std::sin(static_cast<double>(i * i));
    out.push_back(is_float(type) ? Scalar::of_float(type, x) : Scalar::of_int(type, i * 37 - 50));
  }
  return out;
}

std::string kernel(const char* op, const TestTensor& in, const TestTensor& out,
                   const std::string& loops, const std::string& in_access,
                   const std::string& out_access, const std::string& inner,
                   const std::string& inner_in, const std::string& inner_out) {
  const std::string agg = fmt::format(":{}.{} ", op, name_of(out.type));
  const auto combining = [&](const std::string& access) {
    std::string view = element_view(out, access);
    return view.replace(view.find("] ") + 1, 1, agg);
  };
  return fmt::format(
      "#kernel block [{}] (\nin {}\ninout {}) {{\n0: {} (\n{}in {}\ninout {}) {{\n0: $a = "
      "load({})\n1: {} = store($a)\n}}\n}}",
      loops, element_view(in, in_access), combining(out_access), inner.substr(0, inner.find('|')),
      inner.substr(inner.find('|') + 1), element_view(in, inner_in), combining(inner_out), in.name,
      out.name);
}

TEST(Aggregations, EveryOperationAndType) {
  int number = 0;
  for (const char* op : {"add", "mul", "max", "min"}) {
    std::vector<TestTensor> all;
    std::vector<std::string> kernels;
    Values given;
    for (DataType type : kTypes) {
      const TestTensor in{fmt::format("A_{}", name_of(type)), type, {kRows, kColumns}};
      all.push_back(in);
      given[in.name] = mild(type, kRows * kColumns);
      const auto add = [&](int64_t size, const std::string& loops, const std::string& in_access,
                           const std::string& out_access, const std::string& inner,
                           const std::string& inner_in, const std::string& inner_out) {
        if (number++ % kOneOf != 0) return;
        all.push_back({fmt::format("R{}", all.size()), type, {size}, "inout"});
        given[all.back().name] = mild(type, size);
        kernels.push_back(
            kernel(op, in, all.back(), loops, in_access, out_access, inner, inner_in, inner_out));
      };
      add(kRows, "x:5, k:10", "x, 4*k", "x", "block [i:4]|", "0, i", "0");
      add(kColumns, "x:5, k:10", "x, 4*k", "4*k", "#vector block [l:4]|", "0, l", "l");
      add(kRows, "x:5, k:5", "x, 8*k", "x", "#vector block [l:8]|", "0, l", "0");
      add(kRows, "x:5, k:3", "x, 13*k", "x",
          "#vector block [l:13, x:1 = x]|-3 + l + x >= 0\n11 - l >= 0\n", "0, l", "0");
      add(kColumns, "x:5, k:3", "x, 16*k", "16*k",
          "#vector block [l:16, k:1 = k]|39 - 16*k - l >= 0\n", "0, l", "l");
      add(2 * kColumns, "x:5, k:5", "x, 8*k", "16*k", "#vector block [l:8]|", "0, l", "2*l");
    }
    SCOPED_TRACE(op);
    EXPECT_EQ(difference(program_text(all, kernels), 0, 1e-5, given), "");
  }
}

TEST(Aggregations, NanAndInfinityComeThroughMaxAndMin) {
  for (const char* op : {"max", "min"}) {
    for (DataType type : {DataType::fp32, DataType::fp64}) {
      const TestTensor in{"A", type, {kRows, kColumns}}, out{"R", type, {kRows}, "inout"};
      const std::string text =
          kernel(op, in, out, "x:5, k:5", "x, 8*k", "x", "#vector block [l:8]|", "0, l", "0");
      for (uint64_t seed = 1; seed <= 4; ++seed)
        EXPECT_EQ(difference(program_text({in, out}, {text}), 0, 0, {}, seed), "")
            << op << " " << name_of(type);
    }
  }
}

TEST(Aggregations, AWiderRunningValueIsKeptInAnAllocation) {
  TestTensor in{"A", DataType::fp16, {kRows, kColumns}}, out{"R", DataType::fp16, {kRows}, "out"};
  const std::string text = fmt::format(
      "#kernel #parallel block [x:5] (\nin {}\nout {}\nnone new@0x0<REG> s[0] fp32(1:1)) {{\n0: $z "
      "= (fp32)0.0\n1: s = store($z)\n"
      "2: block [k:40] (\nin {}\ninout s[0]:add.fp32 fp32(1:1)) {{\n0: $a = load(A)\n1: s = "
      "store($a)\n}}\n3: $s = load(s)\n4: R = store($s)\n}}",
      element_view(in, "x, 0"), element_view(out, "x"), element_view(in, "0, k"));
  EXPECT_EQ(difference(program_text({in, out}, {text}), 1, 0,
                       {{"A", mild(DataType::fp16, kRows * kColumns)}}),
            "");
}

// Sums over the lanes of many registers at once, whose order must not mix them up.
TEST(Aggregations, ManySumsOverLanes) {
  int number = 0;
  for (int64_t lanes : {4, 8, 16}) {
    for (int64_t count : {3, 4, 7, 8, 16, 31}) {
      if (number++ % kOneOf != 0) continue;
      TestTensor in{"A", DataType::fp32, {count, 2 * lanes}},
          out{"R", DataType::fp32, {count}, "out"};
      const std::string acc = fmt::format("fp32(1:{}, 1:1)", lanes);
      const std::string text = fmt::format(
          "#kernel block [] (\nin {0}\nout {1}\nnone new@0x0<REG> s[0, 0] fp32({2}:{3}, {3}:1)) "
          "{{\n"
          "0: #unroll block [y:{2}] (\nout s[y, 0] {4}) {{\n0: #vector block [l:{3}] (\nout s[0, "
          "l] {4}) {{\n0: $z = (fp32)0.0\n1: s = store($z)\n}}\n}}\n"
          "1: block [k:2] (\nin {5}\ninout s[0, 0]:add.fp32 {4}) {{\n0: #unroll block [y:{2}] "
          "(\nin {6}\ninout s[y, 0]:add.fp32 {4}) {{\n"
          "0: #vector block [l:{3}] (\nin {7}\ninout s[0, l]:add.fp32 {4}) {{\n0: $a = load(A)\n1: "
          "s = store($a)\n}}\n}}\n}}\n"
          "2: #unroll block [y:{2}] (\nin s[y, 0] {4}\nout {8}) {{\n0: $z = (fp32)0.0\n1: R = "
          "store($z)\n"
          "2: #vector block [l:{3}] (\nin s[0, l] {4}\ninout R[0]:add.fp32 fp32(1:1)) {{\n0: $s = "
          "load(s)\n1: R = store($s)\n}}\n}}\n}}",
          element_view(in, "0, 0"), element_view(out, "0"), count, lanes, acc,
          element_view(in, fmt::format("0, {}*k", lanes)), element_view(in, "y, 0"),
          element_view(in, "0, l"), element_view(out, "y"));
      SCOPED_TRACE(fmt::format("{} sums of {} lanes", count, lanes));
      EXPECT_EQ(difference(program_text({in, out}, {text}), 0, 1e-5,
                           {{"A", mild(DataType::fp32, count * 2 * lanes)}}),
                "");
    }
  }
}

}  // namespace
}  // namespace stria::kernels
