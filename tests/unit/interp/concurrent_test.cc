// SPDX-License-Identifier: Apache-2.0
// Kernels in which several agents go on at once (S16 to S19): what they compute, and that each kind
// of fault is found under some interleaving, with both sides of it named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs.h"
#include "stria/base/text.h"
#include "stria/interp/explore.h"

namespace stria::interp::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// Rows of A come through a ring of two rows; C is twice A.
constexpr const char* kRing = R"(stripe 1.1
0: #program block [] (
    none new@0 A[0, 0] fp32(4:8, 8:1)
    none new@0 C[0, 0] fp32(4:8, 8:1)
) {
  0: #main block [] (
      in A[0, 0] fp32(4:8, 8:1)
      out C[0, 0] fp32(4:8, 8:1)
  ) {
    0: #kernel block [] ( // ring
        in A[0, 0] fp32(4:8, 8:1)
        out C[0, 0] fp32(4:8, 8:1)
        none new@0<SHARED> ring[0, 0] fp32(2:8, 8:1)
        #arrivals=1 none new@0<SHARED> full[0, 0] u64(2:1, 2:0)
        #arrivals=1 none new@0<SHARED> empty[0, 0] u64(2:1, 2:0)
    ) {
      0: #roles block [] (
          in A[0, 0] fp32(4:8, 8:1)
          out C[0, 0] fp32(4:8, 8:1)
          inout ring[0, 0] fp32(2:8, 8:1)
          inout full[0, 0] u64(2:1, 2:0)
          inout empty[0, 0] u64(2:1, 2:0)
      ) {
        0: block<PRODUCER> [q:2, s:2] (
            in A[2*q + s, 0] fp32(1:8, 8:1)
            out ring[s, 0] fp32(1:8, 8:1)
            out full[s, q] u64(1:1, 1:0)
            in empty[s, q - 1] u64(1:1, 1:0)
        ) {
          0: special wait(empty)
          1: #async block<DMA> [] (
              in A[0, 0] fp32(1:8, 8:1)
              out ring[0, 0] fp32(1:8, 8:1)
              out full[0, 0] u64(1:1, 1:0)
          ) {
            0: block [i:8] (
                in A[0, i] fp32(1:8, 1:1)
                out ring[0, i] fp32(1:8, 1:1)
            ) {
              0: $x = load(A)
              1: ring = store($x)
            }
          }
        }
        1: block<CONSUMER> [q:2, s:2] (
            in ring[s, 0] fp32(1:8, 8:1)
            out C[2*q + s, 0] fp32(1:8, 8:1)
            in full[s, q] u64(1:1, 1:0)
            out empty[s, q] u64(1:1, 1:0)
        ) {
          0: special wait(full)
          1: block [i:8] (
              in ring[0, i] fp32(1:8, 1:1)
              out C[0, i] fp32(1:8, 1:1)
          ) {
            0: $x = load(ring)
            1: $y = add.fp32($x, $x)
            2: C = store($y)
          }
          2: special arrive(; empty)
        }
      }
    }
  }
}
)";
// The text with the first `was` behind `after` replaced.
std::string edited(std::string text, const std::string& was, const std::string& is,
                   const std::string& after = "") {
  const size_t at = text.find(was, text.find(after));
  EXPECT_NE(at, std::string::npos) << was;
  return at == std::string::npos ? text : text.replace(at, was.size(), is);
}

// Why it is wrong, or "".
std::string fault(const std::string& text) {
  auto found = explore(parsed(text), 100);
  if (!found.ok()) return found.status().message();
  EXPECT_TRUE(found->concurrent);
  if (found->failing)
    std::printf("%lld runs, %s: %s\n", static_cast<long long>(found->runs),
                found->failing->text().c_str(), found->failure.message().c_str());
  return found->failing ? found->failure.message() : "";
}

TEST(Concurrent, ARingGivesTheSameUnderEveryInterleaving) {
  std::map<std::string, Data> data = {{"A", Data(DataType::fp32, {4, 8})},
                                      {"C", Data(DataType::fp32, {4, 8})}};
  data["A"].randomize(1);
  const Status ran = run(parsed(kRing), data);
  ASSERT_TRUE(ran.ok()) << ran.message();
  for (int64_t i = 0; i < 32; ++i)
    EXPECT_EQ(data["C"].at(i).to_double(), 2 * data["A"].at(i).to_double());
  EXPECT_EQ(fault(kRing), "");
}

TEST(Concurrent, AMissingWaitIsARace) {
  // The consumer does not wait for the row.
  const std::string unread = fault(edited(kRing, "0: special wait(full)", "0: special barrier()"));
  EXPECT_THAT(unread, AllOf(HasSubstr("race on ring["),
                            HasSubstr("store in block ring/0/0/1/0 by "
                                      "asynchronous ring/0/0/1 at q="),
                            HasSubstr("may happen in any order")));
  // The producer does not wait for the row to be free.
  EXPECT_THAT(fault(edited(kRing, "0: special wait(empty)", "0: special barrier()")),
              AnyOf(HasSubstr("race on ring["), HasSubstr("arrives at phase")));
}

// Rule S16.
TEST(Concurrent, AWrongPhaseIsFound) {
  // One too early: the row of the turn before may still be read.
  EXPECT_NE(fault(edited(kRing, "empty[s, q - 1]", "empty[s, q - 2]")), "");
  // One too late: nobody goes on.
  EXPECT_THAT(fault(edited(kRing, "in empty[s, q - 1]", "in empty[s, q]")),
              HasSubstr("nobody goes on any more"));
  EXPECT_NE(fault(edited(kRing, "in full[s, q]", "in full[s, q - 1]")), "");
  EXPECT_NE(fault(edited(kRing, "out empty[s, q]", "out empty[s, q - 1]")), "");
  EXPECT_NE(fault(edited(kRing, "in full[s, q]", "in full[1 - s, q]")), "");
}

TEST(Concurrent, ABarrierThatIsSkippedIsFound) {
  EXPECT_NE(fault(edited(kRing, "2: special arrive(; empty)", "2: special barrier()")), "");
  EXPECT_NE(fault(edited(kRing, "#arrivals=1", "#arrivals=2")), "");
  // The asynchronous block does not arrive.
  EXPECT_NE(fault(edited(kRing, "              out full[0, 0] u64(1:1, 1:0)\n", "")), "");
  // Given back before it was read.
  std::string early = edited(kRing, "0: special wait(full)", "0: special arrive(; empty)");
  early = edited(early, "2: special arrive(; empty)", "2: special wait(full)");
  EXPECT_NE(fault(early), "");
}

// Rule S17, rule S19: two asynchronous blocks add to one row. In order they do so one after the
// other; otherwise the second may store what the first has not stored yet.
constexpr const char* kTwice = R"(stripe 1.1
0: #program block [] (
    none new@0 A[0] fp32(8:1)
    none new@0 C[0] fp32(8:1)
) {
  0: #main block [] (
      in A[0] fp32(8:1)
      out C[0] fp32(8:1)
  ) {
    0: #kernel block [] ( // twice
        in A[0] fp32(8:1)
        out C[0] fp32(8:1)
        none new@0<SHARED> T[0] fp32(8:1)
        #arrivals=1 none new@0<SHARED> done[0] u64(3:0)
    ) {
      0: block [k:3] (
          in A[0] fp32(8:1)
          out C[0] fp32(8:1)
          inout T[0] fp32(8:1)
          out done[k] u64(1:0)
      ) {
        0: #async #in_order block<UNIT> [] (
            in A[0] fp32(8:1)
            out C[0] fp32(8:1)
            out done[0] u64(1:0)
        ) {
          0: block [i:8] (
              in A[i] fp32(1:1)
              out C[i] fp32(1:1)
          ) {
            0: $x = load(A)
            1: $y = add.fp32($x, $x)
            2: C = store($y)
          }
        }
      }
      1: block [] (
          in done[2] u64(1:0)
          inout C[0] fp32(8:1)
      ) {
        0: special wait(done)
        1: block [i:8] (
            inout C[i] fp32(1:1)
        ) {
          0: $x = load(C)
          1: $y = add.fp32($x, $x)
          2: C = store($y)
        }
      }
    }
  }
}
)";

TEST(Concurrent, BlocksInOrderFollowEachOther) {
  EXPECT_EQ(fault(kTwice), "");
  EXPECT_THAT(fault(edited(kTwice, "#async #in_order", "#async")),
              AllOf(HasSubstr("race on C["), HasSubstr("store in block twice/0/0/0 by asynchronous "
                                                       "twice/0/0 at k=")));
  // The last but one is not the last.
  EXPECT_THAT(fault(edited(kTwice, "in done[2]", "in done[1]")), HasSubstr("race on C["));
}

// It arrives at what it views as an output, and at nothing that it only views.
TEST(Concurrent, AnAsynchronousBlockArrivesAtItsOutputs) {
  const std::string viewed = edited(kRing, "              out full[0, 0] u64(1:1, 1:0)\n",
                                    "              out full[0, 0] u64(1:1, 1:0)\n"
                                    "              in empty[0, 0] u64(1:1, 1:0)\n");
  EXPECT_EQ(fault(viewed), "");
}

// Rule S19, rule M10: two roles add to one sum. How it is rounded depends on the order.
constexpr const char* kSum = R"(stripe 1.1
0: #program block [] (
    none new@0 A[0] fp32(2:1)
    none new@0 C[0] fp32(1:1)
) {
  0: #main block [] (
      in A[0] fp32(2:1)
      inout C[0] fp32(1:1)
  ) {
    0: #kernel block [] ( // sum
        in A[0] fp32(2:1)
        inout C[0]:add.fp32 fp32(1:1)
    ) {
      0: #roles block [] (
          in A[0] fp32(2:1)
          inout C[0]:add.fp32 fp32(1:1)
      ) {
        0: block<UNIT[w]> [w:2, k:50] (
            in A[w] fp32(1:1)
            inout C[0]:add.fp32 fp32(1:1)
        ) {
          0: $a = load(A)
          1: $b = exp.fp32($a)
          2: C = store($b)
        }
      }
    }
  }
}
)";

TEST(Concurrent, TheRoundingOfSumsIsFree) {
  EXPECT_EQ(fault(kSum), "");
  // One role stores, and does not add: that is a race.
  EXPECT_THAT(fault(edited(edited(edited(kSum, "inout C[0]:add.fp32", "inout C[0]"),
                                  "inout C[0]:add.fp32", "inout C[0]"),
                           "inout C[0]:add.fp32", "out C[0]")),
              HasSubstr("race on C["));
}

// Rule S18: each value of an index in the location is a role of its own.
TEST(Concurrent, RolesOfOneStatementRunBesideEachOther) {
  const std::string two = edited(
      edited(
          edited(edited(kRing, "1: block<CONSUMER> [q:2, s:2] (",
                        "1: block<CONSUMER[w]> [w:2, q:2, s:2] ("),
                 "in ring[s, 0] fp32(1:8, 8:1)\n            out C[2*q + s, 0] fp32(1:8, 8:1)",
                 "in ring[s, 4*w] fp32(1:8, 4:1)\n            out C[2*q + s, 4*w] fp32(1:8, 4:1)"),
          "1: block [i:8] (\n              in ring", "1: block [i:4] (\n              in ring"),
      "#arrivals=1 none new@0<SHARED> empty", "#arrivals=2 none new@0<SHARED> empty");
  EXPECT_EQ(fault(two), "");
  // One of the two would be enough for the producer.
  EXPECT_NE(fault(edited(two, "#arrivals=2", "#arrivals=1")), "");
  // Both store to the same elements.
  EXPECT_THAT(fault(edited(two, "out C[2*q + s, 4*w]", "out C[2*q + s, 0]")),
              AllOf(HasSubstr("race on C["), HasSubstr("role CONSUMER w=0"),
                    HasSubstr("role CONSUMER w=1")));
}

// The same run again, and a shorter one that fails alike.
TEST(Concurrent, InterleavingsAreNumbers) {
  EXPECT_EQ(interleaving_of(17, 1000), interleaving_of(17, 1000));
  EXPECT_NE(interleaving_of(17, 1000), interleaving_of(18, 1000));
  EXPECT_EQ(interleaving_of(0, 1000), Interleaving());
  const std::string wrong = edited(kTwice, "#async #in_order", "#async");
  auto found = explore(parsed(wrong), 100);
  ASSERT_TRUE(found.ok() && found->failing);
  EXPECT_TRUE(found->failing->switches.empty());
  auto alone = explore(parsed(edited(kTwice, "#async #in_order block<UNIT>", "block")), 100);
  ASSERT_TRUE(alone.ok());
}

}  // namespace
}  // namespace stria::interp::testing
