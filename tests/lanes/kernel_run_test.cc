// SPDX-License-Identifier: Apache-2.0
// The runner finds what it is there to find, in trees of a few statements, and lets pass what is
// right.
#include "kernel_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program_run.h"
#include "stria/semtree/tree/expr.h"
#include "stria/stripe/text/parser.h"

namespace stria::lanes {
namespace {

using namespace semtree;
using testing::HasSubstr;

constexpr DataType kIndex = DataType::i64, kFloat = DataType::fp32;
constexpr int kLanes = 4;

// Groups of four lanes with a tensor R to write and A to read, of 16 elements, a shared array
// `near` of 8 and one `own` of each lane, of 2.
class Kernel {
 public:
  enum { kR, kA, kNear, kOwn };
  explicit Kernel(int64_t groups = 1) {
    function.name = "k";
    function.params = {{"R", kFloat, false, true, 16, 0}, {"A", kFloat, true, false, 16, 1}};
    function.arrays = {{.name = "near", .type = kFloat, .count = 8, .shared = true},
                       {.name = "own", .type = kFloat, .count = 2}};
    function.group_lanes = kLanes;
    function.trip_count = groups;
    function.lane_var = var("lane", kIndex);
    function.grid = {{var("group", kIndex), groups}};
    for (int i = 0; i < 16; ++i) a.store(i, {Scalar::of_float(kFloat, i), false});
  }

  int var(const std::string& name, DataType type) {
    function.vars.push_back({name, {type, 1}});
    return static_cast<int>(function.vars.size()) - 1;
  }
  ExprRef use(int number) const {
    return variable(number, function.vars[static_cast<size_t>(number)].type);
  }
  ExprRef lane() const { return use(function.lane_var); }
  ExprRef group() const { return use(function.grid[0].var); }
  static Place at(int memory, ExprRef offset, int64_t constant = 0) {
    return {.memory = memory, .offset = std::move(offset), .constant = constant};
  }
  // The loaded value.
  ExprRef load(Body& body, const Place& place) {
    const int into =
        var(fmt::format("v{}", function.vars.size()), function.element_type(place.memory));
    body.push_back({Load{into, place}});
    return use(into);
  }

  std::string run(uint64_t seed = 1) {
    RunCounts counts;
    return run_kernel(function, {{&r, 0}, {&a, 0}}, seed, counts).message();
  }
  double result(int64_t element) const { return r.load(element).scalar.f; }

  Function function;
  Memory r{kFloat, 16}, a{kFloat, 16};
};

ExprRef number(int64_t value) { return integer(kIndex, value); }
ExprRef one() { return constant(Scalar::of_float(kFloat, 1)); }

TEST(AccessRecord, FindsWhoeverElseWasThere) {
  AccessRecord record;
  const auto add = [&](uint64_t phase, int64_t number, bool writes) {
    return record.add(phase, {number, nullptr}, writes).number;
  };
  EXPECT_EQ(add(1, 7, false), -1);
  EXPECT_EQ(add(1, 7, true), -1);
  EXPECT_EQ(add(1, 7, false), -1);
  EXPECT_EQ(add(1, 8, false), 7);
  EXPECT_EQ(add(2, 8, false), -1);
  EXPECT_EQ(add(2, 9, false), -1);
  EXPECT_EQ(add(2, 8, true), 9);
  EXPECT_EQ(add(2, 9, true), 8);
  EXPECT_EQ(add(3, 9, true), -1);
  EXPECT_EQ(add(3, 8, true), 9);
}

// R[lane] = A[3 - lane], handed on through `near`.
Kernel turned(bool with_barrier) {
  Kernel k;
  Body& body = k.function.body;
  const ExprRef value = k.load(body, Kernel::at(Kernel::kA, k.lane()));
  body.push_back({Store{Kernel::at(Kernel::kNear, k.lane()), value}});
  if (with_barrier) body.push_back({Barrier{}});
  const ExprRef other =
      k.load(body, Kernel::at(Kernel::kNear, binary(Op::sub, number(3), k.lane())));
  body.push_back({Store{Kernel::at(Kernel::kR, k.lane()), other}});
  return k;
}

TEST(KernelRun, ABarrierPartsWhatLanesHandOn) {
  for (uint64_t seed : {1, 2, 3}) {
    Kernel right = turned(true);
    EXPECT_EQ(right.run(seed), "");
    for (int i = 0; i < kLanes; ++i) EXPECT_EQ(right.result(i), 3 - i);
    const std::string wrong = turned(false).run(seed);
    EXPECT_THAT(wrong, HasSubstr("kernel 'k': lanes "));
    EXPECT_THAT(wrong, HasSubstr("of group 0 touch element "));
    EXPECT_THAT(wrong, HasSubstr("of 'near' with no barrier between"));
    EXPECT_THAT(wrong, HasSubstr("`near[lane] = v2`"));
    EXPECT_THAT(wrong, HasSubstr("`v3 = near[3 - lane]`"));
  }
}

// Whoever read it, the lane that writes is one of several.
TEST(KernelRun, AReaderThatWritesMeetsTheOtherReaders) {
  Kernel k;
  Body& body = k.function.body;
  body.push_back({If{binary(Op::eq, k.lane(), number(0)),
                     {{Store{Kernel::at(Kernel::kNear, nullptr), one()}}},
                     {}}});
  body.push_back({Barrier{}});
  const ExprRef value = k.load(body, Kernel::at(Kernel::kNear, nullptr));
  EXPECT_EQ(k.run(), "");
  body.push_back({If{binary(Op::eq, k.lane(), number(2)),
                     {{Store{Kernel::at(Kernel::kNear, nullptr), value}}},
                     {}}});
  for (uint64_t seed : {1, 2, 3}) EXPECT_THAT(k.run(seed), HasSubstr("touch element 0 of 'near'"));
}

// A pass of a loop without a barrier at its end runs into the next one.
TEST(KernelRun, PassesOfALoop) {
  const auto with = [](bool barrier) {
    Kernel k;
    const int i = k.var("i", kIndex);
    Body round;
    round.push_back({Store{Kernel::at(Kernel::kNear, k.lane()), one()}});
    round.push_back({Barrier{}});
    const ExprRef value =
        k.load(round, Kernel::at(Kernel::kNear, binary(Op::sub, number(3), k.lane())));
    const ExprRef place = binary(Op::add, k.lane(), binary(Op::mul, k.use(i), number(kLanes)));
    round.push_back({Store{Kernel::at(Kernel::kR, place), value}});
    if (barrier) round.push_back({Barrier{}});
    k.function.body.push_back({For{i, number(0), number(2), round}});
    return k.run();
  };
  EXPECT_EQ(with(true), "");
  EXPECT_THAT(with(false), HasSubstr("of 'near' with no barrier between"));
}

TEST(KernelRun, TensorsAreSharedToo) {
  Kernel lanes;
  lanes.function.body.push_back({Store{Kernel::at(Kernel::kR, nullptr, 5), one()}});
  EXPECT_THAT(lanes.run(), HasSubstr("touch element 5 of 'R' with no barrier between"));
  // A barrier does not part groups.
  Kernel groups(2);
  groups.function.body.push_back({If{binary(Op::eq, groups.group(), number(0)),
                                     {{Store{Kernel::at(Kernel::kR, groups.lane()), one()}}},
                                     {}}});
  groups.function.body.push_back({Barrier{}});
  EXPECT_EQ(groups.run(), "");
  groups.function.body.push_back({If{binary(Op::eq, groups.group(), number(1)),
                                     {{Store{Kernel::at(Kernel::kR, groups.lane(), 3), one()}}},
                                     {}}});
  for (uint64_t seed : {1, 2, 3}) {
    const std::string wrong = groups.run(seed);
    EXPECT_THAT(wrong, HasSubstr("kernel 'k': groups "));
    EXPECT_THAT(wrong, HasSubstr("touch element 3 of 'R'"));
  }
  // Each launch starts anew.
  Kernel again = turned(true);
  EXPECT_EQ(again.run(1) + again.run(2), "");
}

// Only a barrier of parameters orders tensors, and only those that are said to be handed on
// through.
TEST(KernelRun, BarriersOfParameters) {
  const auto handed_on = [](Barrier barrier, bool shared) {
    Kernel k;
    k.function.params[Kernel::kR].shared = shared;
    k.function.params[Kernel::kR].readable = true;
    Body& body = k.function.body;
    body.push_back({Store{Kernel::at(Kernel::kR, k.lane()), one()}});
    body.push_back({barrier});
    const Place other = Kernel::at(Kernel::kR, binary(Op::sub, number(3), k.lane()));
    body.push_back({Store{other, k.load(body, other)}});
    return k.run();
  };
  EXPECT_EQ(handed_on({true}, true), "");
  EXPECT_THAT(handed_on({false}, true), HasSubstr("of 'R' with no barrier between that orders it"));
  EXPECT_THAT(handed_on({true}, false), HasSubstr("of 'R' with no barrier between that orders it"));
}

// Work that is done twice changes no value if it is a copy or a maximum.
TEST(KernelRun, WhatIsStoredTwice) {
  for (const bool reads : {false, true}) {
    Kernel k;
    k.function.params[Kernel::kR].readable = true;
    const int i = k.var("i", kIndex);
    Body round;
    const Place place = Kernel::at(Kernel::kR, k.lane());
    round.push_back({Store{place, reads ? k.load(round, place) : one()}});
    for (int n = 0; n < 16; ++n) k.r.store(n, {Scalar::of_float(kFloat, n), false});
    Kernel once = k;
    k.function.body.push_back({For{i, number(0), number(2), round}});
    if (reads)
      EXPECT_EQ(k.run(), "");
    else
      EXPECT_THAT(k.run(), HasSubstr("of 'R' is stored twice, and nothing read it in between"));
    // Each launch for itself.
    once.function.body = round;
    EXPECT_EQ(once.run(), "");
    EXPECT_EQ(once.run(), "");
  }
}

TEST(KernelRun, ABarrierThatNotAllLanesMeet) {
  Kernel branch;
  branch.function.body.push_back({If{binary(Op::lt, branch.lane(), number(2)), {{Barrier{}}}, {}}});
  EXPECT_THAT(
      branch.run(),
      HasSubstr(
          "lanes 0 and 2 of group 0 do not meet at the barriers in `if lane < 2 {`: 1 and 0"));
  Kernel loop;
  loop.function.body.push_back({For{loop.var("i", kIndex), number(0), loop.lane(), {{Barrier{}}}}});
  EXPECT_THAT(loop.run(), HasSubstr("do not meet at the barriers in `for i in 0 .. lane {`"));
}

TEST(KernelRun, AccessesStayInside) {
  const auto stored = [](Place place) {
    Kernel k;
    k.function.body.push_back(
        {If{binary(Op::eq, k.lane(), number(3)), {{Store{std::move(place), one()}}}, {}}});
    return k.run();
  };
  const ExprRef lane = Kernel().lane();
  EXPECT_EQ(stored(Kernel::at(Kernel::kR, lane, 12)), "");
  EXPECT_THAT(
      stored(Kernel::at(Kernel::kR, lane, 13)),
      HasSubstr("lane 3 of group 0, `R[lane + 13] = 1.0 fp32`: element 16 of 'R', which has 16"));
  EXPECT_THAT(stored(Kernel::at(Kernel::kR, nullptr, -1)), HasSubstr("element -1 of 'R'"));
  EXPECT_THAT(stored(Kernel::at(Kernel::kNear, nullptr, 8)),
              HasSubstr("element 8 of 'near', which has 8"));
  // Not that of the next lane.
  EXPECT_THAT(stored(Kernel::at(Kernel::kOwn, nullptr, 2)),
              HasSubstr("element 2 of 'own', which has 2"));
  EXPECT_THAT(stored(Kernel::at(Kernel::kA, nullptr)),
              HasSubstr("writes to 'A', which is only read"));
  // Lanes of a vector that the mask leaves out go nowhere.
  Place masked = Kernel::at(Kernel::kR, nullptr, 14);
  masked.lanes = 4;
  Kernel k;
  k.function.group_lanes = 1;
  k.function.body = {{Store{masked, broadcast(one(), 4)}}};
  EXPECT_THAT(k.run(), HasSubstr("element 16 of 'R'"));
  masked.mask = binary(Op::lt, iota(kIndex, 4), integer(kIndex, 2, 4));
  k.function.body = {{Store{masked, broadcast(one(), 4)}}};
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result(15), 1);
}

TEST(KernelRun, WhatWasNeverWritten) {
  Kernel k;
  Body& body = k.function.body;
  const ExprRef value = k.load(body, Kernel::at(Kernel::kOwn, nullptr));
  body.push_back({Store{Kernel::at(Kernel::kR, k.lane()), binary(Op::add, value, one())}});
  EXPECT_EQ(k.run(), "");
  EXPECT_TRUE(k.r.load(0).poison);
  body.push_back({Store{Kernel::at(Kernel::kR, k.lane(), kLanes),
                        select(binary(Op::lt, k.lane(), number(9)), one(), value)}});
  EXPECT_EQ(k.run(), "");
  EXPECT_FALSE(k.r.load(kLanes).poison);
  Kernel place = k, condition = k;
  place.function.body.push_back({Store{Kernel::at(Kernel::kR, convert_to(kIndex, value)), one()}});
  EXPECT_THAT(place.run(), HasSubstr("the place in 'R' hangs on what was never written"));
  condition.function.body.push_back({If{binary(Op::lt, value, one()), {}, {}}});
  EXPECT_THAT(condition.run(), HasSubstr("'v2 < 1.0 fp32' hangs on what was never written"));
  // Each group's shared array is new.
  Kernel groups(2);
  groups.function.body.push_back({If{binary(Op::eq, groups.group(), groups.lane()),
                                     {{Store{Kernel::at(Kernel::kNear, groups.group()), one()}}},
                                     {}}});
  groups.function.body.push_back({Barrier{}});
  const ExprRef other = groups.load(
      groups.function.body, Kernel::at(Kernel::kNear, binary(Op::sub, number(1), groups.group())));
  groups.function.body.push_back({If{binary(Op::lt, other, one()), {}, {}}});
  EXPECT_THAT(groups.run(), HasSubstr("hangs on what was never written"));
}

TEST(KernelRun, PromisesOfTheTree) {
  const auto stored = [](ExprRef value) {
    Kernel k;
    const int into = k.var("x", value->type.scalar);
    k.function.body.push_back({Let{into, std::move(value)}});
    return k.run();
  };
  const ExprRef lane = Kernel().lane();
  EXPECT_THAT(stored(binary(Op::div, number(1), lane)), HasSubstr("`x = 1 / lane`: 'div' by 0"));
  EXPECT_THAT(stored(binary(Op::rem, number(INT64_MIN), number(-1))),
              HasSubstr("'rem' of -9223372036854775808 by -1"));
  EXPECT_THAT(stored(binary(Op::shift_left, lane, binary(Op::add, lane, number(61)))),
              HasSubstr("'shift_left' of i64 by 64"));
  const ExprRef half = constant(Scalar::of_float(DataType::fp16, 1));
  EXPECT_THAT(stored(binary(Op::add, half, half)),
              HasSubstr("'add' of fp16, which is only loaded, stored and converted"));
  Kernel k;
  Place place = Kernel::at(Kernel::kR, k.lane());
  place.multiple = 2;
  k.function.body = {{Store{place, one()}}};
  EXPECT_THAT(k.run(), HasSubstr("in 'R' is no multiple of 2"));
  k.function.body = {{Store{Kernel::at(Kernel::kR, k.lane()), k.lane()}}};
  EXPECT_THAT(k.run(), HasSubstr("stores i64"));
  k.function.body = {{Instruction{"mma.m16n8k16", {}}}};
  EXPECT_THAT(k.run(), HasSubstr("'mma.m16n8k16' is an operation of hardware"));
  RunCounts counts;
  EXPECT_THAT(run_kernel(k.function, {{&k.r, 0}, {&k.r, 0}}, 1, counts).message(),
              HasSubstr("'R' and 'A' overlap"));
  EXPECT_THAT(run_kernel(k.function, {{&k.r, 1}, {&k.a, 0}}, 1, counts).message(),
              HasSubstr("'R' has 16 elements of fp32 from element 1 on of 16"));
}

TEST(ProgramRun, AnOutputThatIsNotWritten) {
  const auto run = [](int64_t written) {
    const std::string text = fmt::format(
        "stripe 1.0\n0: #program block [] (\nnone new@0x0 R[0] fp32(8:1)\n) {{\n0: #main block [] "
        "(\n"
        "out R[0] fp32(8:1)\n) {{\n0: #kernel #parallel block [i:{}] (\nout R[i] fp32(1:1)\n) {{\n"
        "0: $x = (fp32)2.0\n1: R = store($x)\n}}\n}}\n}}\n",
        written);
    std::vector<float> r(8);
    RunCounts counts;
    const Status status = run_program(stripe::parse({"test", text}).value(), {},
                                      {{"R", r.data(), dense_shape(kFloat, {8})}}, 1, counts);
    return status.ok() ? fmt::format("{}", r[7]) : status.message();
  };
  EXPECT_EQ(run(8), "2");
  EXPECT_THAT(run(7), HasSubstr("element 7 of the output 'R' was never written"));
}

}  // namespace
}  // namespace stria::lanes
