// SPDX-License-Identifier: Apache-2.0
// What a walk with inlined calls meets, and under which names. Bind and the gradient are tested by
// what they make; here the walk writes each statement down.
#include "stria/tile/inline/inline_calls.h"

#include <gmock/gmock.h>

#include "programs.h"

namespace stria::tile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A name stands for a name of the result or a number, as text; "?": for nothing.
class Walk : public CallInliner<std::string> {
 public:
  explicit Walk(const Program& program, CallLimits limits = {})
      : CallInliner(program, 1, limits), entry_(program.functions.back()) {
    reserve_names(entry_);
    InlineScope<std::string> scope;
    scope.function = &entry_;
    for (const Parameter& parameter : entry_.parameters)
      scope.names[parameter.name.text] = parameter.name.text;
    walk(scope);
  }

  // "outer/inner: target = value" for each statement.
  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<std::string>& refusals() const { return refusals_; }
  // Of the statements.
  const std::vector<SourceSpan>& places() const { return places_; }

 private:
  void walk(InlineScope<std::string>& scope) {
    for (const Statement& statement : scope.function->statements) {
      const auto& assignment = std::get<Assignment>(statement.form);
      const std::vector<std::string> targets = target_names(scope, assignment);
      const Expr& value = scope.function->exprs[static_cast<size_t>(assignment.value)];
      std::vector<std::string> values = targets;
      if (const Function* callee = function_of(value)) {
        values = call(scope, *callee, value, targets);
      } else {
        const std::string text = text_of(scope, assignment.value, targets[0]);
        std::string chain;
        for (const ActiveCall& active : active_calls())
          chain += (chain.empty() ? "" : "/") + active.callee->name.text;
        lines_.push_back(
            fmt::format("{}{}{} = {}", chain, chain.empty() ? "" : ": ", targets[0], text));
        places_.push_back(place(statement.span));
      }
      values.resize(targets.size(), "?");
      for (size_t i = 0; i < targets.size(); ++i)
        scope.names[assignment.targets[i].text] = values[i];
    }
  }

  const Function* function_of(const Expr& e) const {
    return e.kind == ExprKind::call ? find_function(e.text) : nullptr;
  }

  std::string text_of(const InlineScope<std::string>& scope, ExprId id, const std::string& target) {
    const Expr& e = scope.function->exprs[static_cast<size_t>(id)];
    if (e.kind == ExprKind::integer) return fmt::format("{}", e.integer);
    if (e.kind == ExprKind::name) return scope.names.at(e.text);
    if (const Function* callee = function_of(e)) {
      const std::vector<std::string> values = call(scope, *callee, e, {numbered_name(target)});
      return values.empty() ? "?" : values[0];
    }
    std::vector<std::string> args;
    for (ExprId arg : e.args) args.push_back(text_of(scope, arg, target));
    return fmt::format("{}({})", e.text, join(args, ", "));
  }

  std::vector<std::string> call(const InlineScope<std::string>& scope, const Function& callee,
                                const Expr& e, const std::vector<std::string>& results) {
    if (Refusal refusal = admit(scope, callee)) {
      refusals_.push_back(refusal.reason());
      return {};
    }
    std::vector<Argument> arguments;
    for (ExprId arg : e.args) arguments.push_back({text_of(scope, arg, results[0]), e.span});
    return inline_call(callee, e.span, arguments, results, scope.attributes);
  }

  bool bind_argument(InlineScope<std::string>& callee, const Parameter& parameter,
                     std::string value, SourceSpan) override {
    callee.names[parameter.name.text] = value;
    return value != "?";
  }

  std::vector<std::string> walk_callee(InlineScope<std::string>& callee) override {
    walk(callee);
    std::vector<std::string> values;
    for (const Name& result : callee.function->results)
      values.push_back(callee.names.at(result.text));
    return values;
  }

  const Function& entry_;
  std::vector<std::string> lines_;
  std::vector<std::string> refusals_;
  std::vector<SourceSpan> places_;
};

Program program_of(const std::string& text) {
  Result<Program> program = parse({"test.tile", text});
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(program).value();
}

TEST(InlineCalls, NestedCallsAreWalkedInPlace) {
  const Program program = program_of(
      "function g(X) -> (Y) { S = X + 1; Y = S * 2; }\n"
      "function f(X) -> (Y) { T = g(X); Y = T - X; }\n"
      "function (A) -> (R) { B = A * A; R = f(B); }");
  const Walk walk(program);
  EXPECT_THAT(walk.lines(), ElementsAre("B = mul(A, A)", "f/g: R_T_S = add(B, 1)",
                                        "f/g: R_T = mul(R_T_S, 2)", "f: R = sub(R_T, B)"));
  ASSERT_EQ(walk.calls().size(), 2u);
  EXPECT_EQ(walk.calls()[0].callee->name.text, "f");
  EXPECT_EQ(walk.calls()[0].caller, -1);
  EXPECT_EQ(walk.calls()[1].callee->name.text, "g");
  EXPECT_EQ(walk.calls()[1].caller, 0);
  EXPECT_EQ(program.source.text.substr(walk.calls()[0].span.begin, 4), "f(B)");
  EXPECT_EQ(walk.current_call(), -1);
  EXPECT_THAT(walk.active_calls(), IsEmpty());
}

TEST(InlineCalls, CallsInExpressionsGetNumberedNames) {
  const Program program = program_of(
      "function f(X) -> (Y) { Y = X + 1; }\n"
      "function (A) -> (R') { R' = f(f(A)) * f(2); }");
  EXPECT_THAT(Walk(program).lines(), ElementsAre("f: R_1_1 = add(A, 1)", "f: R_1 = add(R_1_1, 1)",
                                                 "f: R_2 = add(2, 1)", "R' = mul(R_1, R_2)"));
}

TEST(InlineCalls, NamesOfTwoFunctionsDoNotMeet) {
  const Program program = program_of(
      "function f(X) -> (Y) { S = X + 1; Y = S; }\n"
      "function g(X) -> (Y) { S = X + 2; Y = f(S); }\n"
      "function (A) -> (R) { S = A + 3; R_S = S; R = g(R_S); }");
  // R_S is the entry's own, so the locals of g and f get numbers.
  EXPECT_THAT(Walk(program).lines(),
              ElementsAre("S = add(A, 3)", "R_S = S", "g: R_S_1 = add(R_S, 2)",
                          "g/f: R_S_2 = add(R_S_1, 1)", "g/f: R = R_S_2"));
}

TEST(InlineCalls, SeveralResultsGetTheNamesOfTheCaller) {
  const Program program = program_of(
      "function f(X, Z) -> (P, Q) { Q = X - Z; P = Q + Z; }\n"
      "function (A, B) -> (R) { (S, T) = f(B, A); R = S * T; }");
  EXPECT_THAT(Walk(program).lines(),
              ElementsAre("f: T = sub(B, A)", "f: S = add(T, A)", "R = mul(S, T)"));
}

TEST(InlineCalls, RecursionIsRefused) {
  const Program itself = program_of("function f(X) -> (Y) { Y = f(X); }");
  EXPECT_THAT(Walk(itself).refusals(),
              ElementsAre("'f' calls itself: functions cannot be recursive"));
  const Program through = program_of(
      "function f(X) -> (Y) { Y = g(X); }\nfunction g(X) -> (Y) { Y = f(X); }\n"
      "function (A) -> (R) { R = f(A); }");
  EXPECT_THAT(Walk(through).refusals(),
              ElementsAre("'f' calls itself: functions cannot be recursive"));
  // Twice, but not within each other.
  const Program twice =
      program_of("function f(X) -> (Y) { Y = X; }\nfunction (A) -> (R) { B = f(A); R = f(B); }");
  EXPECT_THAT(Walk(twice).refusals(), IsEmpty());
}

TEST(InlineCalls, LimitsAreThoseGiven) {
  const Program deep = program_of(
      "function h(X) -> (Y) { Y = X; }\nfunction g(X) -> (Y) { Y = h(X); }\n"
      "function f(X) -> (Y) { Y = g(X); }\nfunction (A) -> (R) { R = f(A); }");
  EXPECT_THAT(Walk(deep, {.depth = 3}).refusals(), IsEmpty());
  EXPECT_THAT(Walk(deep, {.depth = 2}).refusals(),
              ElementsAre("calls are nested more than 2 deep"));
  EXPECT_THAT(Walk(deep, {.calls = 3}).refusals(), IsEmpty());
  EXPECT_THAT(Walk(deep, {.calls = 2}).refusals(),
              ElementsAre("the program makes more than 2 calls once they are inlined"));
}

TEST(InlineCalls, ACalleeThatCannotBeBoundIsNotWalked) {
  const Program program = program_of(
      "function h(X) -> (Y) { Y = X; }\nfunction g(X) -> (Y) { Y = h(X); }\n"
      "function f(X) -> (Y) { Y = X + 1; }\n"
      "function (A) -> (R, S) { R = f(g(A)); S = A; }");
  // The call of h is over the limit, so f has no argument.
  const Walk walk(program, {.depth = 1});
  EXPECT_THAT(walk.lines(), ElementsAre("S = A"));
  EXPECT_THAT(walk.refusals(), ElementsAre("calls are nested more than 1 deep"));
  EXPECT_THAT(walk.active_calls(), IsEmpty());
}

TEST(InlineCalls, PlacesWithinTheLibraryAreThoseOfTheCall) {
  const Program program =
      program_of("function f(X) -> (Y) { Y = mad(X, X, 2); }\nfunction (A) -> (R) { R = f(A); }");
  const Walk walk(program);
  EXPECT_THAT(walk.lines(), ElementsAre("f/mad: R = add(mul(A, A), 2)"));
  ASSERT_EQ(walk.places().size(), 1u);
  EXPECT_EQ(program.source.text.substr(walk.places()[0].begin, 9), "mad(X, X,");
  // Only the call of f stands in the list: mad is no function of the program.
  ASSERT_EQ(walk.calls().size(), 1u);
  EXPECT_EQ(walk.calls()[0].callee->name.text, "f");
}

TEST(InlineCalls, AFunctionDoesNotHideABuiltinOne) {
  const Program program = program_of(
      "function exp(X) -> (Y) { Y = X; }\nfunction mad(X, Y, Z) -> (R) { R = X; }\n"
      "function (A) -> (R) { B = exp(A); R = mad(B, B, B); }");
  const Walk walk(program);
  EXPECT_THAT(walk.lines(), ElementsAre("B = exp(A)", "mad: R = add(mul(B, B), B)"));
  EXPECT_EQ(walk.program_function("exp"), nullptr);
}

TEST(InlineCalls, EveryAssignedNameIsReservedForTheEntry) {
  const Program program = program_of(
      "function (A[N]) -> (R) { R[i : N] = +(A[i]); S = R; (T, U) = f(S); }\n"
      "function f(X) -> (Y, Z) { Y = X; Z = X; }");
  InlinedCalls names(program, 0);
  names.reserve_names(program.functions[0]);
  for (const char* name : {"A", "R", "S", "T", "U"})
    EXPECT_EQ(names.fresh_name(name), name + std::string("_0"));
  EXPECT_EQ(names.fresh_name("V'"), "V'");
  EXPECT_EQ(names.fresh_name("V'"), "V_0");
  EXPECT_EQ(names.numbered_name("V"), "V_1");
}

}  // namespace
}  // namespace stria::tile
