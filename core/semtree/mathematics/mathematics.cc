// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/mathematics/mathematics.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "stria/semtree/mathematics/functions.h"

namespace stria::semtree {
namespace mathematics {
namespace {

using OfOne = Value (*)(const Value&);
using OfTwo = Value (*)(const Value&, const Value&);

struct Entry {
  const char* callee;
  OfOne of_one = nullptr;
  OfTwo of_two = nullptr;
};

constexpr Entry kFunctions[] = {
    {"exp", exp_of},          {"log", log_of},          {"sin", sin_of},   {"cos", cos_of},
    {"tan", tan_of},          {"asin", asin_of},        {"acos", acos_of}, {"atan", atan_of},
    {"sinh", sinh_of},        {"cosh", cosh_of},        {"tanh", tanh_of}, {"asinh", asinh_of},
    {"acosh", acosh_of},      {"atanh", atanh_of},      {"sqrt", sqrt_of}, {"pow", nullptr, pow_of},
    {"mod", nullptr, mod_of}, {"div", nullptr, div_of},
};

MathFunction make_function(const Entry& entry, DataType type) {
  FunctionBuilder b(fmt::format("{}_{}", entry.callee, name_of(type)), type, entry.of_one ? 1 : 2);
  return b.finish(entry.of_one ? entry.of_one(b.param(0)) : entry.of_two(b.param(0), b.param(1)));
}

using Table = std::map<std::pair<std::string_view, DataType>, MathFunction>;

Table make_all() {
  Table out;
  for (const Entry& entry : kFunctions)
    for (DataType type : {DataType::fp32, DataType::fp64})
      out.emplace(std::pair(std::string_view(entry.callee), type), make_function(entry, type));
  return out;
}

}  // namespace
}  // namespace mathematics

const MathFunction* math_function(std::string_view callee, DataType type) {
  static const mathematics::Table table = mathematics::make_all();
  const auto found = table.find({callee, type});
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace stria::semtree
