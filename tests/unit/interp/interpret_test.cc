// SPDX-License-Identifier: Apache-2.0
// The meaning of blocks, views, scalars and memory, and every way in which a program can go wrong.
#include <ctime>

#include "programs.h"

namespace stria::interp {
namespace {

using namespace testing;
using Values = std::vector<double>;

// One kernel over fp32 tensors A[n] and O[n].
std::string kernel(int n, const std::string& block) {
  return program_text(
      fmt::format("none new@0x0 A[0] fp32({0}:1)\nnone new@0x0 O[0] fp32({0}:1)\n", n),
      fmt::format("in A[0] fp32({0}:1)\nout O[0] fp32({0}:1)\n", n), block);
}
std::map<std::string, Data> vectors(int n) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {n});
  for (int i = 0; i < n; ++i) data["A"].set(i, i + 1);
  data["O"] = Data(DataType::fp32, {n});
  return data;
}
std::string message(const std::string& text, std::map<std::string, Data> data) {
  const stripe::Program program = parsed(text);
  auto again = data;
  const Status flat = run(program, data), general = run(program, again, {.flat_path = false});
  EXPECT_EQ(flat.to_string(), general.to_string());
  return flat.message();
}

TEST(Interpret, MatrixProductTiledEqualsFlat) {
  const std::string tensors =
      "none new@0x0 A[0, 0] fp32(13:17, 17:1)\nnone new@0x0 B[0, 0] fp32(17:11, 11:1)\n"
      "none new@0x0 O[0, 0] fp32(13:11, 11:1)\n";
  const std::string refs =
      "in A[0, 0] fp32(13:17, 17:1)\nin B[0, 0] fp32(17:11, 11:1)\nout O[0, 0] fp32(13:11, 11:1)\n";
  const std::string body =
      " 0: $a = load(A)\n 1: $b = load(B)\n 2: $p = mul.fp32($a, $b)\n 3: O = store($p)\n";
  const std::string flat = program_text(tensors, refs,
                                        "0: #kernel block [i:13, j:11, k:17] ( // flat\n  in A[i, "
                                        "k] fp32(1:17, 1:1)\n  in B[k, j] fp32(1:11, 1:1)\n"
                                        "  out O[i, j]:add.fp32 fp32(1:11, 1:1)\n) {\n" +
                                            body + "}\n");
  // Tiles of 4 by 4 by 5 overhang; constraints on passed-in indices keep the points inside.
  const std::string tiled = program_text(
      tensors, refs,
      "0: #kernel block [i:4, j:3, k:4] ( // tiled\n  in A[4*i, 5*k] fp32(4:17, 5:1)\n"
      "  in B[5*k, 4*j] fp32(5:11, 4:1)\n  out O[4*i, 4*j]:add.fp32 fp32(4:11, 4:1)\n) {\n"
      "  0: block [i:4, j:4, k:5, io:1 = 4*i, jo:1 = 4*j, ko:1 = 5*k] (\n"
      "    12 - i - io >= 0\n    10 - j - jo >= 0\n    16 - k - ko >= 0\n"
      "    in A[i, k] fp32(1:17, 1:1)\n    in B[k, j] fp32(1:11, 1:1)\n    out O[i, j]:add.fp32 "
      "fp32(1:11, 1:1)\n  ) {\n" +
          body + "  }\n}\n");
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {13, 17});
  data["B"] = Data(DataType::fp32, {17, 11});
  data["O"] = Data(DataType::fp32, {13, 11});
  for (int i = 0; i < 13 * 17; ++i)
    data["A"].set(i, i % 7 - 3);  // small whole numbers: sums are exact
  for (int i = 0; i < 17 * 11; ++i) data["B"].set(i, i % 5 - 2);
  auto other = data;
  Status status = run(parsed(flat), data);
  ASSERT_TRUE(status.ok()) << status.to_string();
  status = run(parsed(tiled), other);
  ASSERT_TRUE(status.ok()) << status.to_string();
  Values want(13 * 11, 0);
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 11; ++j)
      for (int k = 0; k < 17; ++k)
        want[static_cast<size_t>(i * 11 + j)] += ((i * 17 + k) % 7 - 3) * ((k * 11 + j) % 5 - 2);
  EXPECT_EQ(data["O"].values(), want);
  EXPECT_EQ(other["O"].values(), want);
}

TEST(Interpret, AllocationsVectorAndUnrollBlocks) {
  // Lane sums in a register array, then a horizontal sum.
  const std::string text = kernel(
      8,
      "0: #kernel #parallel block [o:8] ( // lanes\n  in A[0] fp32(8:1)\n  out O[o] fp32(1:1)\n"
      "  none new@0x0<REG> T[0] fp32(4:1)\n) {\n"
      "  0: #vector block [l:4] (\n    out T[l] fp32(1:1)\n  ) {\n   0: $z = (fp32)0.0\n   1: T = "
      "store($z)\n  }\n"
      "  1: #unroll block [u:2] (\n    in A[4*u] fp32(4:1)\n    inout T[0]:add.fp32 fp32(4:1)\n  ) "
      "{\n"
      "    0: #vector block [l:4] (\n      in A[l] fp32(1:1)\n      inout T[l]:add.fp32 "
      "fp32(1:1)\n    ) {\n"
      "     0: $a = load(A)\n     1: T = store($a)\n    }\n  }\n"
      "  2: block [] (\n    out O[0] fp32(1:1)\n  ) {\n   0: $z = (fp32)0.0\n   1: O = store($z)\n "
      " }\n"
      "  3: #vector block [l:4] (\n    in T[l] fp32(1:1)\n    inout O[0]:add.fp32 fp32(1:1)\n  ) "
      "{\n"
      "   0: $t = load(T)\n   1: O = store($t)\n  }\n}\n");
  auto data = vectors(8);
  const Status status = run(parsed(text), data);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(data["O"].values(), Values(8, 36));
}

TEST(Interpret, StatementsAndTypes) {
  const std::string text = program_text("none new@0x0 O[0] i32(5:1)\n", "out O[0] i32(5:1)\n",
                                        "0: #kernel block [i:5] ( // k\n  out O[i] i32(1:1)\n) {\n "
                                        "0: $i = load_index(-2 + i)\n 1: $h = (fp32)2.5\n"
                                        " 2: $m = mul.fp32($i, $h)\n 3: $t = cmp_lt.fp32($i, $h)\n "
                                        "4: $c = cond.fp32($t, $m, $h)\n 5: O = store($c)\n}\n");
  std::map<std::string, Data> data;
  data["O"] = Data(DataType::i32, {5});
  ASSERT_TRUE(run(parsed(text), data).ok());
  EXPECT_EQ(data["O"].values(), (Values{-5, -2, 0, 2, 5}));  // -2.5 and 2.5 truncate
}

// Rule M12: integers divided by zero at run time give 0 and are counted.
TEST(Interpret, EventsAreCounted) {
  const std::string text = program_text(
      "none new@0x0 A[0] fp32(6:1)\nnone new@0x0 O[0] i8(6:1)\n",
      "in A[0] fp32(6:1)\nout O[0] i8(6:1)\n",
      "0: #kernel block [i:6] ( // k\n  in A[i] fp32(1:1)\n  out O[i] i8(1:1)\n) {\n 0: $a = "
      "load(A)\n"
      " 1: $x = ident.i8($a)\n 2: $n = (i8)100\n 3: $q = div.i8($n, $x)\n 4: O = store($q)\n}\n");
  for (bool flat : {true, false}) {
    std::map<std::string, Data> data;
    data["A"] = Data(DataType::fp32, {6},
                     {0, 0.5, 200, -1e9, std::numeric_limits<double>::quiet_NaN(), -2});
    data["O"] = Data(DataType::i8, {6});
    Events events;
    ASSERT_TRUE(run(parsed(text), data, {.flat_path = flat, .events = &events}).ok());
    EXPECT_EQ(events.division_by_zero, 3);
    EXPECT_EQ(events.conversion_overflow, 3);
    EXPECT_EQ(data["O"].values(), (Values{0, 0, 0, 0, 0, -50}));
  }
}

// Rule S5: what an allocation holds before it is written is poison.
TEST(Interpret, PoisonIsAnErrorOnlyWhereItReachesTheCaller) {
  const auto text = [](const std::string& first, const std::string& use) {
    return kernel(8,
                  "0: #kernel block [o:8] ( // k\n  in A[o] fp32(1:1)\n  out O[o] fp32(1:1)\n"
                  "  none new@0x0 T[0] fp32(4:1)\n) {\n"
                  "  0: block [i:" +
                      first +
                      "] (\n    in A[0] fp32(1:1)\n    out T[i] fp32(1:1)\n  ) {\n"
                      "   0: $a = load(A)\n   1: T = store($a)\n  }\n"
                      "  1: block [] (\n    in T[3] fp32(1:1)\n    in A[0] fp32(1:1)\n    out O[0] "
                      "fp32(1:1)\n  ) {\n"
                      "   0: $t = load(T)\n   1: $a = load(A)\n" +
                      use + "  }\n}\n");
  };
  const std::string plain = "   2: O = store($t)\n";
  EXPECT_EQ(message(text("4", plain), vectors(8)), "");
  EXPECT_EQ(message(text("3", plain), vectors(8)),
            "block k/1: a value that was never written reaches a tensor of the caller: O[0] of an "
            "allocation fp32[8]");
  const std::string masked =
      "   2: $c = cmp_lt.fp32($a, $a)\n   3: $s = cond.fp32($c, $t, $a)\n   4: O = store($s)\n";
  EXPECT_EQ(message(text("3", masked), vectors(8)), "");
  const std::string added = "   2: $s = add.fp32($a, $t)\n   3: O = store($s)\n";
  EXPECT_NE(message(text("0", added), vectors(8)), "");
  // Fresh at every point: what the point before wrote is gone.
  const std::string once = kernel(
      8,
      "0: #kernel block [o:8] ( // k\n  out O[o] fp32(1:1)\n  none new@0x0 T[0] fp32(1:1)\n) {\n"
      "  0: block [o:1 = o] (\n    -o >= 0\n    out T[0] fp32(1:1)\n  ) {\n   0: $a = (fp32)1.0\n  "
      " 1: T = store($a)\n  }\n"
      "  1: block [] (\n    in T[0] fp32(1:1)\n    out O[0] fp32(1:1)\n  ) {\n   0: $t = load(T)\n "
      "  1: O = store($t)\n  }\n}\n");
  EXPECT_EQ(message(once, vectors(8)),
            "block k/1: a value that was never written reaches a tensor of the caller: O[1] of an "
            "allocation fp32[8]");
}

TEST(Interpret, PoisonMovesThroughRowsAndAggregations) {
  // T has a hole at 5; the sum of a row that holds it is poison, the other is not.
  const auto text = [](int from) {
    return kernel(
        8,
        fmt::format(
            "0: #kernel block [] ( // k\n  in A[0] fp32(8:1)\n  out O[0] fp32(8:1)\n  none new@0x0 "
            "T[0] fp32(8:1)\n"
            "  none new@0x0 S[] fp32()\n) {{\n"
            "  0: block [i:8] (\n    -1 + 2*i >= 0\n    8 - 2*i >= 0\n    in A[i] fp32(1:1)\n    "
            "out T[i] fp32(1:1)\n  ) {{\n"
            "   0: $a = load(A)\n   1: T = store($a)\n  }}\n"
            "  1: block [i:4] (\n    in T[{} + i] fp32(1:1)\n    out S[]:add.fp32 fp32()\n  ) {{\n"
            "   0: $t = load(T)\n   1: S = store($t)\n  }}\n"
            "  2: block [i:8] (\n    in S[] fp32()\n    out O[i] fp32(1:1)\n  ) {{\n   0: $s = "
            "load(S)\n   1: O = store($s)\n  }}\n}}\n",
            from));
  };
  EXPECT_EQ(message(text(1), vectors(8)), "");
  EXPECT_EQ(message(text(2), vectors(8)),
            "block k/2: a value that was never written reaches a tensor of the caller: O[0] of an "
            "allocation fp32[8] "
            "at i=0");
}

TEST(Interpret, PoisonStaysInASumThatGoesOn) {
  // S sums the rows h of T; row 0 of T has a hole at 0.
  const std::string text =
      kernel(8,
             "0: #kernel block [] ( // k\n  in A[0] fp32(8:1)\n  out O[0] fp32(8:1)\n"
             "  none new@0x0 T[0, 0] fp32(2:8, 8:1)\n  none new@0x0 S[0] fp32(8:1)\n) {\n"
             "  0: block [i:8, h:2] (\n    -1 + 3*h + i >= 0\n    in A[i] fp32(1:1)\n"
             "    out T[h, i] fp32(1:8, 1:1)\n  ) {\n   0: $a = load(A)\n   1: T = store($a)\n  }\n"
             "  1: block [h:2, i:8] (\n    in T[h, i] fp32(1:8, 1:1)\n    out S[i]:add.fp32 "
             "fp32(1:1)\n  ) {\n"
             "   0: $t = load(T)\n   1: S = store($t)\n  }\n"
             "  2: block [i:8] (\n    in S[i] fp32(1:1)\n    out O[i] fp32(1:1)\n  ) {\n"
             "   0: $s = load(S)\n   1: O = store($s)\n  }\n}\n");
  EXPECT_EQ(message(text, vectors(8)),
            "block k/2: a value that was never written reaches a tensor of the caller: O[0] of an "
            "allocation fp32[8] at i=0");
}

TEST(Interpret, AccessOutsideAnAllocationIsAnError) {
  const auto copy = [](const char* from, const char* to) {
    return kernel(
        8, fmt::format(
               "0: #kernel block [i:8] ( // k\n  in A[{}] fp32(1:1)\n  out O[{}] fp32(1:1)\n) {{\n"
               " 0: $a = load(A)\n 1: O = store($a)\n}}\n",
               from, to));
  };
  EXPECT_EQ(message(copy("i", "7 - i"), vectors(8)), "");
  EXPECT_EQ(message(copy("1 + i", "i"), vectors(8)),
            "block k: load outside the allocation: A[8] of an allocation fp32[8] at i=7");
  EXPECT_EQ(message(copy("-1 + i", "i"), vectors(8)),
            "block k: load outside the allocation: A[-1] of an allocation fp32[8] at i=0");
  EXPECT_EQ(message(copy("i", "3*i"), vectors(8)),
            "block k: store outside the allocation: O[9] of an allocation fp32[8] at i=3");
}

TEST(Interpret, ClampedReads) {
  const auto text = [](const char* tag, const char* use) {
    return kernel(8, fmt::format("0: #kernel block [i:8] ( // k\n  #{} in A[-2 + i] fp32(1:1)\n  "
                                 "out O[i] fp32(1:1)\n) {{\n"
                                 " 0: $a = load(A)\n 1: $i = load_index(-2 + i)\n 2: $z = (i32)0\n"
                                 " 3: $in = cmp_ge.i32($i, $z)\n 4: $v = cond.fp32($in, $a, $z)\n "
                                 "5: O = store(${})\n}}\n",
                                 tag, use));
  };
  auto data = vectors(8);
  Events events;
  ASSERT_TRUE(run(parsed(text("clamp", "v")), data, {.events = &events}).ok());
  EXPECT_EQ(data["O"].values(), (Values{0, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(events.clamped_reads, 2);
  ASSERT_TRUE(run(parsed(text("zero_fill", "a")), data).ok());
  EXPECT_EQ(data["O"].values(), (Values{0, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_NE(message(text("clamp", "a"), vectors(8)), "");
}

TEST(Interpret, TensorsMustFit) {
  const std::string text =
      kernel(4,
             "0: #kernel block [i:3] ( // k\n  in A[i] fp32(1:1)\n  out O[i] fp32(1:1)\n) {\n"
             " 0: $a = load(A)\n 1: O = store($a)\n}\n");
  EXPECT_EQ(message(text, vectors(4)), "output O[3] is never written");
  auto data = vectors(4);
  EXPECT_TRUE(run(parsed(text), data, {.need_all_outputs = false}).ok());
  EXPECT_EQ(message(text, vectors(5)), "tensor A is fp32[5], the program has fp32[4]");
  data = vectors(4);
  data.erase("A");
  EXPECT_EQ(message(text, data), "no tensor is given for A");
  data = vectors(4);
  data["AA"] = data["A"];
  EXPECT_EQ(run(parsed(text), data).message(), "'AA' is no input or output of the program");
}

TEST(Interpret, CallersLayoutMayDiffer) {
  const std::string text =
      program_text("none new@0x0 A[0, 0] i32(2:3, 3:1)\nnone new@0x0 O[0, 0] i32(2:3, 3:1)\n",
                   "in A[0, 0] i32(2:3, 3:1)\nout O[0, 0] i32(2:3, 3:1)\n",
                   "0: #kernel block [i:2, j:3] ( // k\n  in A[i, j] i32(1:3, 1:1)\n  out O[i, j] "
                   "i32(1:3, 1:1)\n) {\n"
                   " 0: $a = load(A)\n 1: O = store($a)\n}\n");
  std::vector<int32_t> a = {1, 4, 2, 5, 3, 6},
                       o(12, 0);  // column-major in, every second element out
  TensorShape columns{DataType::i32, {{2, 1}, {3, 2}}}, spread{DataType::i32, {{2, 6}, {3, 2}}};
  const Status status =
      interpret(parsed(text), {{"A", a.data(), columns}, {"O", o.data(), spread}});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(o, (std::vector<int32_t>{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}));
}

TEST(Interpret, EmptyAndRankZero) {
  const std::string empty =
      program_text("none new@0x0 A[0, 0] fp32(0:4, 4:1)\nnone new@0x0 O[0, 0] fp32(0:4, 4:1)\n",
                   "in A[0, 0] fp32(0:4, 4:1)\nout O[0, 0] fp32(0:4, 4:1)\n",
                   "0: #kernel block [i:0, j:4] ( // k\n  in A[i, j] fp32(1:4, 1:1)\n  out O[i, j] "
                   "fp32(1:4, 1:1)\n) {\n"
                   " 0: $a = load(A)\n 1: O = store($a)\n}\n");
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {0, 4});
  data["O"] = Data(DataType::fp32, {0, 4});
  EXPECT_TRUE(run(parsed(empty), data).ok());
  const std::string scalar = program_text("none new@0x0 O[] i64()\n", "out O[] i64()\n",
                                          "0: #kernel block [] ( // k\n  out O[] i64()\n) {\n 0: "
                                          "$a = (i64)-9223372036854775808\n 1: O = store($a)\n}\n");
  data.clear();
  data["O"] = Data(DataType::i64, {});
  ASSERT_TRUE(run(parsed(scalar), data).ok());
  EXPECT_EQ(data["O"].at(0).i, std::numeric_limits<int64_t>::min());
}

TEST(Interpret, ProgramsWithoutMeaningAreRefused) {
  const auto wrong = [](const std::string& refs, const std::string& stmts) {
    return message(kernel(8, "0: #kernel block [i:8] ( // k\n" + refs + ") {\n" + stmts + "}\n"),
                   vectors(8));
  };
  const std::string in = "  in A[i] fp32(1:1)\n", out = "  out O[i] fp32(1:1)\n";
  EXPECT_EQ(wrong(in + out, " 0: $a = load(B)\n"), "block k: no refinement 'B'");
  EXPECT_EQ(wrong(in + out, " 0: O = store($a)\n"), "block k: no scalar 'a'");
  EXPECT_EQ(wrong(in + out, " 0: $a = load(A)\n 1: A = store($a)\n"),
            "block k: store into A, which is only read");
  EXPECT_EQ(wrong(in + out, " 0: $a = load(A)\n 1: $b = sqr.fp32($a)\n"),
            "block k: no intrinsic 'sqr', did you mean 'sqrt'?");
  EXPECT_EQ(wrong(in + out, " 0: $a = load(A)\n 1: $b = exp.i32($a)\n"),
            "block k: exp.i32: the builtin does not exist for that type");
  EXPECT_EQ(wrong("  in A[j] fp32(1:1)\n", ""), "j: block k: no index 'j'");
  EXPECT_EQ(wrong("  in A[i] i32(1:1)\n", ""), "block k: refinement A is i32, but A is fp32");
  EXPECT_EQ(wrong("  out A[i] fp32(1:1)\n", ""),
            "block k: refinement A writes, but A around it is only read");
  stripe::Program none;
  EXPECT_EQ(interpret(none, {}).message(), "the program has no statement tagged #main");
}

TEST(Interpret, HugeFormsAndAllocationsAreRefused) {
  const auto wrong = [](const std::string& index, const std::string& access) {
    return message(kernel(8, "0: #kernel block [" + index + "] ( // k\n  in A[" + access +
                                 "] fp32(1:1)\n) {\n}\n"),
                   vectors(8));
  };
  EXPECT_EQ(wrong("i:8", "9000000000000000000*i"),
            "block k: 9000000000000000000*i grows beyond 1e+15");
  EXPECT_EQ(wrong("i:9000000000000000000", "0"), "block k: index 'i' grows beyond 1e+15");
  EXPECT_EQ(message(kernel(8,
                           "0: #kernel block [] ( // k\n  none new@0x0 T[0] "
                           "i8(4000000000000000000:2)\n) {\n}\n"),
                    vectors(8)),
            "block k: refinement T spans more than 1e+15 elements");
}

TEST(Interpret, GeneralPathThroughput) {
  const std::string text = kernel(
      1000,
      "0: #kernel block [o:1000] ( // k\n  in A[o] fp32(1:1)\n  out O[o]:add.fp32 fp32(1:1)\n) {\n"
      "  0: block [r:1000] (\n    in A[0] fp32(1:1)\n    out O[0]:add.fp32 fp32(1:1)\n  ) {\n"
      "   0: $a = load(A)\n   1: $b = mul.fp32($a, $a)\n   2: $c = add.fp32($a, $b)\n   3: O = "
      "store($c)\n  }\n}\n");
  auto data = vectors(1000);
  const stripe::Program program = parsed(text);
  const std::clock_t start = std::clock();
  ASSERT_TRUE(run(program, data, {.flat_path = false}).ok());
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  printf("general path: %.0f million statements per second\n", 4 / seconds);
}

}  // namespace
}  // namespace stria::interp
