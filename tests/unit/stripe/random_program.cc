// SPDX-License-Identifier: Apache-2.0
#include "random_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace stria::stripe {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  Block block(int depth) {
    Block block;
    if (chance(2))
      block.name = pick({"kernel_0", "kernel_0+kernel_1", "O = Zero() // x", "42", "§ name"});
    for (size_t i = below(3); i > 0; --i)
      block.comments.push_back(
          pick({"", "  indented", "O1[x] = +(I[x]);", "{ ( [", "// twice", "tail  "}));
    block.location = location(false);
    block.tags = tags();
    for (size_t i = below(4); i > 0; --i) block.idxs.push_back(index());
    for (size_t i = below(3); i > 0; --i) block.constraints.push_back(affine());
    for (size_t i = below(4); i > 0; --i) block.refs.push_back(refinement());
    for (size_t i = 0, count = below(6); i < count; ++i) {
      Statement stmt = statement(depth);
      for (size_t d = 0; d < i; ++d)
        if (chance(4)) stmt.deps.push_back(static_cast<int64_t>(d));
      block.stmts.push_back(std::move(stmt));
    }
    return block;
  }

 private:
  uint64_t next() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return next() % n; }
  bool chance(size_t n) { return below(n) == 0; }
  std::string pick(std::initializer_list<const char*> list) {
    return *(list.begin() + below(list.size()));
  }

  std::string name() {
    return pick({"x",      "y",     "A",       "O1",    "kx",      "_t",   "in",
                 "out",    "none",  "inout",   "block", "special", "load", "store",
                 "new",    "const", "d0",      "inf",   "nan",     "true", "i8",
                 "stripe", "add",   "swizzle", "A'",    "e5",      "x1e5"});
  }
  int64_t number() {
    if (chance(12))
      return chance(2) ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
    if (chance(6)) return static_cast<int64_t>(next());
    return static_cast<int64_t>(below(20)) - 5;
  }
  DataType type() { return static_cast<DataType>(below(kDataTypeCount)); }

  double real() {
    switch (below(8)) {
      case 0: return -0.0;
      case 1: return std::numeric_limits<double>::infinity();
      case 2: return 0.1;
      case 3: return 5e-324;
      case 4: return 1e22;
      default: {
        double value;
        do {
          uint64_t bits = next();
          std::memcpy(&value, &bits, sizeof value);
        } while (std::isnan(value));
        return value;
      }
    }
  }

  TagValue value() {
    switch (below(5)) {
      case 0: return number();
      case 1: return real();
      case 2: return chance(2);
      case 3:
        return pick({"", "text", "a \"quote\" \\ and\n\t\x01\x7f", "§", "// no comment", "#tag"});
      default: return std::monostate();
    }
  }

  Tags tags() {
    Tags tags;
    for (size_t i = below(4); i > 0; --i) tags.set(name(), value());
    return tags;
  }

  Affine affine() {
    Affine form(number());
    for (size_t i = below(4); i > 0; --i) {
      std::string index = name();
      if (!form.uses(index)) form.add_term(index, number());
    }
    return form;
  }
  std::vector<Affine> affines(size_t count) {
    std::vector<Affine> forms;
    for (size_t i = 0; i < count; ++i) forms.push_back(affine());
    return forms;
  }

  Location location(bool owned) {
    Location location;
    if (chance(2)) return location;
    for (size_t i = 1 + below(3); i > 0; --i) {
      LocationUnit unit{name(), affines(below(3)), {}};
      for (size_t o = owned ? below(3) : 0; o > 0; --o) {
        BitFieldForm form{chance(2) ? 0 : number(), {}};
        for (size_t f = below(3); f > 0; --f)
          form.fields.push_back({static_cast<int>(below(4)), static_cast<int>(below(63)),
                                 static_cast<int>(1 + below(62)), number()});
        unit.owners.emplace_back(name(), form);
      }
      location.path.push_back(std::move(unit));
    }
    return location;
  }

  Index index() {
    Index index{name(), number(), std::nullopt, tags()};
    if (chance(2)) index.affine = affine();
    return index;
  }

  Refinement refinement() {
    Refinement ref;
    ref.dir = static_cast<RefDir>(below(4));
    ref.into = name();
    if (ref.dir != RefDir::none) ref.from = chance(2) ? ref.into : name();
    ref.access = affines(below(4));
    ref.shape.type = type();
    for (size_t i = below(4); i > 0; --i) ref.shape.dims.push_back({number(), number()});
    if (chance(3)) ref.agg = Aggregation{static_cast<AggOp>(below(4)), type()};
    ref.location = location(true);
    if (ref.dir == RefDir::none) ref.offset_bytes = std::max<int64_t>(0, number());
    if (chance(4))
      ref.swizzle = Swizzle{static_cast<int>(below(63)), static_cast<int>(below(63)),
                            static_cast<int>(below(63))};
    ref.is_const = chance(4);
    ref.tags = tags();
    return ref;
  }

  Scalar scalar() {
    DataType t = type();
    if (t == DataType::boolean) return Scalar::of_bool(chance(2));
    if (is_float(t))
      return Scalar::of_float(t, chance(10) ? std::numeric_limits<double>::quiet_NaN() : real());
    return Scalar::of_int(t, number());
  }

  std::vector<std::string> names(size_t count) {
    std::vector<std::string> list;
    for (size_t i = 0; i < count; ++i) list.push_back(name());
    return list;
  }

  ChosenCoordinates chosen() {
    ChosenCoordinates at;
    if (chance(2))
      for (size_t i = 1 + below(3); i > 0; --i) at.push_back(chance(3) ? "" : name());
    return at;
  }

  Statement statement(int depth) {
    if (depth < 4 && chance(3)) return block(depth + 1);
    Statement stmt;
    switch (below(6)) {
      case 0: stmt.op = Load{name(), name(), chosen()}; break;
      case 1: stmt.op = Store{name(), name(), chosen()}; break;
      case 2: stmt.op = LoadIndex{affine(), name(), type()}; break;
      case 3: stmt.op = Constant{name(), scalar()}; break;
      case 4:
        stmt.op = Intrinsic{pick({"mul", "cond", "in", "cmp_lt"}), type(),
                            names(chance(3) ? 0 : 1 + below(3)), names(below(4))};
        break;
      default: {
        Special special{name(), names(below(3)), names(below(3)), {}};
        for (size_t i = below(3); i > 0; --i) special.params[name()] = value();
        stmt.op = std::move(special);
      }
    }
    stmt.tags = tags();
    return stmt;
  }

  uint64_t state_;
};

}  // namespace

Program random_program(uint64_t seed) { return Program{Maker(seed).block(0)}; }

}  // namespace stria::stripe
