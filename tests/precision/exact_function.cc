// SPDX-License-Identifier: Apache-2.0
#include "exact_function.h"

#include <cmath>
#include <map>

namespace stria::precision {
namespace {

template <long double (*f)(long double)>
Exact library(const Exact* x) {
  return f(static_cast<long double>(x[0]));
}

// Newton's step doubles the digits of the root of the long double.
Exact root(const Exact* x) {
  const long double near = sqrtl(static_cast<long double>(x[0]));
  if (!(near > 0) || std::isinf(near)) return near;
  return (near + x[0] / near) / 2;
}

Exact larger(const Exact* x) { return is_nan(x[0]) || x[0] > x[1] ? x[0] : x[1]; }
Exact smaller(const Exact* x) { return is_nan(x[0]) || x[0] < x[1] ? x[0] : x[1]; }

Exact power(const Exact* x) {
  const auto base = static_cast<long double>(x[0]), exponent = static_cast<long double>(x[1]);
  if (!std::isinf(base) || std::isnan(exponent) || exponent == 0) return powl(base, exponent);
  // glibc's is wrong for -inf and exponents of -2^63 and beyond, which are even.
  const long double size = exponent > 0 ? std::fabs(base) : 0;
  return base < 0 && fmodl(std::fabs(exponent), 2) == 1 ? -size : size;
}

const std::map<std::string_view, ExactFunction>& table() {
  static const std::map<std::string_view, ExactFunction> functions = {
      {"add", [](const Exact* x) -> Exact { return x[0] + x[1]; }},
      {"sub", [](const Exact* x) -> Exact { return x[0] - x[1]; }},
      {"mul", [](const Exact* x) -> Exact { return x[0] * x[1]; }},
      {"div", [](const Exact* x) -> Exact { return x[0] / x[1]; }},
      {"mod",
       [](const Exact* x) -> Exact {
         return fmodl(static_cast<long double>(x[0]), static_cast<long double>(x[1]));
       }},
      {"neg", [](const Exact* x) -> Exact { return -x[0]; }},
      {"cmp_eq", [](const Exact* x) -> Exact { return x[0] == x[1]; }},
      {"cmp_ne", [](const Exact* x) -> Exact { return x[0] != x[1]; }},
      {"cmp_lt", [](const Exact* x) -> Exact { return x[0] < x[1]; }},
      {"cmp_gt", [](const Exact* x) -> Exact { return x[0] > x[1]; }},
      {"cmp_le", [](const Exact* x) -> Exact { return x[0] <= x[1]; }},
      {"cmp_ge", [](const Exact* x) -> Exact { return x[0] >= x[1]; }},
      {"logical_and", [](const Exact* x) -> Exact { return x[0] != 0 && x[1] != 0; }},
      {"logical_or", [](const Exact* x) -> Exact { return x[0] != 0 || x[1] != 0; }},
      {"logical_not", [](const Exact* x) -> Exact { return x[0] == 0; }},
      {"cond", [](const Exact* x) -> Exact { return x[0] != 0 ? x[1] : x[2]; }},
      {"ident", [](const Exact* x) -> Exact { return x[0]; }},
      {"max", larger},
      {"min", smaller},
      {"abs", [](const Exact* x) -> Exact { return x[0] < 0 ? -x[0] : x[0]; }},
      {"relu", [](const Exact* x) -> Exact { return x[0] < 0 ? 0 : x[0]; }},
      {"floor", library<floorl>},
      {"ceil", library<ceill>},
      {"round", library<rintl>},
      {"sqrt", root},
      {"recip", [](const Exact* x) -> Exact { return 1 / x[0]; }},
      {"exp", library<expl>},
      {"log", library<logl>},
      {"pow", power},
      {"sin", library<sinl>},
      {"cos", library<cosl>},
      {"tan", library<tanl>},
      {"asin", library<asinl>},
      {"acos", library<acosl>},
      {"atan", library<atanl>},
      {"sinh", library<sinhl>},
      {"cosh", library<coshl>},
      {"tanh", library<tanhl>},
      {"asinh", library<asinhl>},
      {"acosh", library<acoshl>},
      {"atanh", library<atanhl>},
      {"sigmoid",
       [](const Exact* x) -> Exact { return 1 / (1 + expl(-static_cast<long double>(x[0]))); }},
  };
  return functions;
}

}  // namespace

ExactFunction exact_function(std::string_view builtin) {
  auto at = table().find(builtin);
  return at == table().end() ? nullptr : at->second;
}

Exact exact_cast(DataType type, Exact x) {
  if (is_float(type)) return x;
  if (type == DataType::boolean) return x != 0;
  if (is_nan(x)) return 0;
  const Exact size = std::ldexp(1.0L, bit_width(type) - (is_signed_integer(type) ? 1 : 0));
  const Exact least = is_signed_integer(type) ? -size : Exact(0);
  if (x <= least) return least;
  if (x >= size - 1) return size - 1;
  return truncl(static_cast<long double>(x));
}

}  // namespace stria::precision
