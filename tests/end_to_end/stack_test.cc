// SPDX-License-Identifier: Apache-2.0
// What the readers of all texts need of the stack of an application's thread: the deepest that
// their limits let through, and far more, on a thread with half of what core/runtime/README.md asks
// for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "stria/hwmodel/hardware_model.h"
#include "stria/lower/lower.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"

namespace stria {
namespace {

using ::testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStackBytes = size_t{4} << 20;  // frames are many times larger
#else
constexpr size_t kStackBytes = size_t{512} << 10;
#endif

std::string on_small_stack(const std::function<Status()>& work) {
  struct Call {
    const std::function<Status()>& work;
    Status status;
  } call{work, {}};
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  EXPECT_EQ(::pthread_create(
                &thread, &attributes,
                [](void* state) -> void* {
                  auto& what = *static_cast<Call*>(state);
                  what.status = what.work();
                  return nullptr;
                },
                &call),
            0);
  ::pthread_attr_destroy(&attributes);
  ::pthread_join(thread, nullptr);
  return call.status.message();
}

std::string many(int count, const std::string& piece) {
  std::string out;
  for (int i = 0; i < count; ++i) out += piece;
  return out;
}

// Every reader and writer of Tile.
Status read_tile(const std::string& value) {
  STRIA_ASSIGN(tile::Program program,
               tile::parse({"t.tile", "function (A) -> (R) { R = " + value + "; }"}));
  (void)tile::print(program);
  STRIA_ASSIGN(tile::BoundProgram bound,
               tile::bind_program(program, "", {{"A", {DataType::fp32, {2}}}}));
  STRIA_ASSIGN(stripe::Program lowered, lower(bound));
  return stripe::verify(lowered);
}

TEST(SmallStack, HoldsExpressionsOfTile) {
  for (const int depth : {240, 100'000})
    for (const std::string& value :
         {many(depth, "(") + "A" + many(depth, ")"), many(depth, "-") + "A", many(depth, "!") + "A",
          many(depth, "A < 0 ? A : ") + "A", many(depth, "A < 0 ? ") + "A" + many(depth, " : A"),
          many(depth, "exp(") + "A" + many(depth, ")"),
          many(depth / 2, "-(") + "A" + many(depth / 2, ")"),
          many(depth, "max(A, ") + "A" + many(depth, ")")}) {
      const std::string error = on_small_stack([&] { return read_tile(value); });
      EXPECT_EQ(error.empty(), depth < 250) << value.substr(0, 20) << error;
    }
  for (const int operations : {990, 100'000})
    for (const char* more : {" + A", " * A", " < A", " && A", " ^ A", " - -A"}) {
      const std::string error =
          on_small_stack([&] { return read_tile("A" + many(operations, more)); });
      if (operations > 1000) {
        EXPECT_FALSE(error.empty()) << more;
      }
    }
}

TEST(SmallStack, HoldsModelsAndTheirTemplates) {
  const auto read = [](const std::string& text) {
    return on_small_stack([&]() -> Status {
      STRIA_ASSIGN(HardwareModel model, load_hardware_model({"m.json", text}));
      (void)model.explain();
      return {};
    });
  };
  for (const int depth : {30, 100'000})
    for (const std::string& value :
         {many(depth, "(") + "1" + many(depth, ")"), many(depth, "not ") + "1",
          many(depth, "-") + "1", many(depth, "[") + "1" + many(depth, "]"),
          many(depth, "range(") + "1" + many(depth, ")")})
      (void)read("{\"clock_mhz\": {{ " + value + " }}}");
  for (const char* more : {" + 1", " | default(1)", " and 1", "~1", " if 1 else 1", " * 1"})
    for (const int count : {200, 100'000})
      (void)read("{\"clock_mhz\": {{ 1" + many(count, more) + " }}}");
  EXPECT_EQ(read(many(30, "{% if 1 %}") + "{}" + many(30, "{% endif %}")), "");
  EXPECT_EQ(read(many(30, "{% for x in range(1) %}") + "{}" + many(30, "{% endfor %}")), "");
  EXPECT_THAT(read(many(100'000, "{% if 1 %}") + "{}"), HasSubstr("nested deeper"));
  for (const int depth : {190, 100'000}) {
    const std::string lists = many(depth, "[") + many(depth, "]");
    const std::string objects = many(depth, "{\"a\":") + "1" + many(depth, "}");
    for (const std::string& value : {lists, objects})
      EXPECT_EQ(read("{\"$schema\": " + value + "}").empty(), depth < 200);
  }
}

TEST(SmallStack, HoldsBlocksOfStripe) {
  const auto read = [](int depth) {
    const std::string text = "stripe 1.0\n0: #program block [] () {\n" +
                             many(depth, "0: block [i:2] () {\n") + many(depth, "}\n") + "}\n";
    return on_small_stack([&]() -> Status {
      STRIA_ASSIGN(stripe::Program program, stripe::parse({"p.stripe", text}));
      (void)stripe::print(program);
      return stripe::verify(program);
    });
  };
  for (const int depth : {100, 120, 126})
    EXPECT_THAT(read(depth), testing::Not(HasSubstr("limit")));
  EXPECT_THAT(read(100'000), HasSubstr("nested deeper than the limit of 128"));
}

}  // namespace
}  // namespace stria
