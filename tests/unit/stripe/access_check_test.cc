// SPDX-License-Identifier: Apache-2.0
// The verifier's answers about executed stores against plain enumeration: random two-level nests
// with constraints, passed and shifted indices, over tensors of rank 1 and 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::stripe {
namespace {

using Point = std::map<std::string, int64_t>;

class Nest {
 public:
  explicit Nest(uint64_t seed) : random_(seed) {
    size_t rank = 1 + below(2);
    Refinement whole{.dir = RefDir::none, .into = "A", .access = std::vector<Affine>(rank)};
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < rank; ++i)
      sizes.push_back(1 + static_cast<int64_t>(below(rank == 1 ? 24 : 8)));
    whole.shape = dense_shape(DataType::i8, sizes);

    Block inner{.name = "inner"};
    inner.idxs.push_back(
        {"x", 1 + range(), Affine::of("x", number(2)) + Affine::of("y", number(2)), {}});
    inner.idxs.push_back({"k", 1 + range(), std::nullopt, {}});
    inner.idxs.push_back({"p", 1, Affine::of("y"), {}});
    inner.constraints = some_constraints({"x", "k", "p"});
    inner.refs.push_back(view(whole, {"x", "k", "p"}));
    inner.stmts.push_back(Statement(Constant{"z", Scalar::of_int(DataType::i8, 0)}));
    inner.stmts.push_back(Statement(Store{"z", "A"}));

    Block outer{.name = "outer", .tags = {"parallel"}};
    outer.idxs = {{"x", 1 + range(), std::nullopt, {}}, {"y", 1 + range(), std::nullopt, {}}};
    outer.constraints = some_constraints({"x", "y"});
    outer.refs.push_back(view(whole, {"x", "y"}));
    outer.stmts.push_back(std::move(inner));

    Block main{.name = "main", .tags = {"main"}};
    main.refs.push_back(whole);
    main.refs[0].dir = RefDir::out;
    main.refs[0].from = "A";
    main.stmts.push_back(std::move(outer));
    program_.entry.name = "net";
    program_.entry.tags = {"program"};
    program_.entry.refs.push_back(std::move(whole));
    program_.entry.stmts.push_back(std::move(main));
  }

  const Program& program() const { return program_; }

  void enumerate(bool& outside, bool& race) const {
    const Block& outer = *program_.main()->stmts[0].block();
    const Block& inner = *outer.stmts[0].block();
    std::map<std::vector<int64_t>, std::set<Point>> writers;
    outside = race = false;
    for_points(outer, {}, [&](const Point& p) {
      for_points(inner, p, [&](const Point& q) {
        std::vector<int64_t> at;
        for (size_t i = 0; i < inner.refs[0].access.size(); ++i) {
          at.push_back(outer.refs[0].access[i].evaluate(p) + inner.refs[0].access[i].evaluate(q));
          outside |= at[i] < 0 || at[i] >= program_.entry.refs[0].shape.dims[i].size;
        }
        auto& who = writers[at];
        who.insert(p);
        race |= who.size() > 1;
      });
    });
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  int64_t number(int64_t limit) {
    return static_cast<int64_t>(below(static_cast<size_t>(2 * limit + 1))) - limit;
  }
  int64_t range() { return static_cast<int64_t>(below(4)); }

  Affine form(std::initializer_list<const char*> names, int64_t limit) {
    Affine form(number(3));
    for (const char* name : names)
      if (below(3)) form.add_term(name, number(limit));
    return form;
  }
  std::vector<Affine> some_constraints(std::initializer_list<const char*> names) {
    std::vector<Affine> list;
    for (size_t i = below(3); i > 0; --i) list.push_back(form(names, 2) + 2);
    return list;
  }
  Refinement view(const Refinement& whole, std::initializer_list<const char*> names) {
    Refinement ref = whole;
    ref.dir = RefDir::out;
    ref.from = "A";
    for (Affine& access : ref.access) access = form(names, 4) + 1;
    for (Dim& dim : ref.shape.dims) dim.size = 1;
    return ref;
  }

  template <typename Visit>
  static void for_points(const Block& block, const Point& outer, Visit visit) {
    Point point;
    walk(block, outer, 0, point, visit);
  }
  template <typename Visit>
  static void walk(const Block& block, const Point& outer, size_t i, Point& point, Visit visit) {
    if (i == block.idxs.size()) {
      for (const Affine& constraint : block.constraints)
        if (constraint.evaluate(point) < 0) return;
      visit(point);
      return;
    }
    const Index& index = block.idxs[i];
    int64_t start = index.affine ? index.affine->evaluate(outer) : 0;
    for (int64_t n = 0; n < index.range; ++n) {
      point[index.name] = start + n;
      walk(block, outer, i + 1, point, visit);
    }
  }

  std::mt19937_64 random_;
  Program program_;
};

TEST(AccessCheck, AgreesWithEnumeration) {
  int legal = 0, outside_count = 0, race_count = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Nest nest(seed);
    bool outside = false, race = false;
    nest.enumerate(outside, race);
    VerifyReport report;
    Status status = verify(nest.program(), {}, &report);
    std::string context =
        fmt::format("seed {}\n{}\n{}", seed, print(nest.program()), status.message());
    ASSERT_TRUE(report.warnings.empty()) << context << report.warnings[0];
    ASSERT_EQ(status.ok(), !outside && !race) << context;
    ASSERT_EQ(status.message().find("outside of dimension") != std::string::npos, outside)
        << context;
    ASSERT_EQ(status.message().find("write one element") != std::string::npos, race) << context;
    legal += status.ok();
    outside_count += outside;
    race_count += race;
  }
  EXPECT_GT(legal, 100);
  EXPECT_GT(outside_count, 100);
  EXPECT_GT(race_count, 100);
}

}  // namespace
}  // namespace stria::stripe
