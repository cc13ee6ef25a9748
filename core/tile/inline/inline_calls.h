// SPDX-License-Identifier: Apache-2.0
// Inlines calls of functions: of those of the program, and of the library. Bind and the gradient
// walk the statements of an entry. At a call they walk those of the callee, before they go on.
//
//   function f(X) -> (Y) {
//     S = X + 1;
//     Y = S * 2;
//   }
//   function (A) -> (R) {       R_S = A + 1;
//     R = f(A);                 R = R_S * 2;
//   }
//
// What a name stands for is the walker's own: a tensor with its sizes in bind, an expression in the
// gradient. All else about calls is decided here: which functions are inlined, how far calls go,
// what the tensors of a callee are called, and to which place in the program a message belongs.
//
// Calls are inlined during the walk, not before it. A statement that has a mistake ends the calls
// that need it, and how many temporary tensors come before a call depends on types and sizes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/refusal.h"
#include "stria/builtins/special.h"
#include "stria/tile/syntax/ast.h"

namespace stria::tile {

// Calls of calls can multiply without end.
struct CallLimits {
  size_t depth = 100;      // calls inside calls
  size_t calls = 500'000;  // together: functions of numbers make calls without statements
};
// Of a program with its calls inlined.
inline constexpr size_t kMaxInlinedStatements = 200'000;

// The message about a function that calls itself, also through others.
std::string recursion_text(std::string_view function);
// "X'" -> "X". A quote may only end a name, so it goes before a suffix comes.
std::string without_quote(std::string name);
// Whether the function makes a tensor by a statement of its own, not by nodes of an expression.
bool makes_statement(const Special& special);

// A function that is being walked: the entry, or the callee of an inlined call.
struct CallScope {
  const Function* function = nullptr;
  // Results of a callee: local name -> name of what the caller assigns.
  std::unordered_map<std::string, std::string> result_names;
  std::string prefix;                 // begins the names of its other tensors; empty in the entry
  std::vector<Attribute> attributes;  // of the calling statements
};
template <typename Value>
struct InlineScope : CallScope {
  std::unordered_map<std::string, Value> names;  // local name -> what it stands for
};

// A call of a function of the program that was inlined.
struct InlinedCall {
  const Function* callee = nullptr;
  SourceSpan span;
  int caller = -1;  // the call within which it stands: position in InlinedCalls::calls; -1: none
};

// A call whose callee is being walked.
struct ActiveCall {
  const Function* callee = nullptr;
  SourceSpan span;
  int call = -1;          // the innermost call of a function of the program, in calls()
  size_t in_program = 0;  // what active_in_program() says within it
};

// The names and the calls of a walk.
class InlinedCalls {
 public:
  // Numbers behind names begin with `first_number`. The program is borrowed.
  InlinedCalls(const Program& program, int first_number, CallLimits limits = {});

  // nullptr if the program has none of that name, or it is the name of a builtin function.
  const Function* program_function(std::string_view name) const;
  // What a call of that name inlines: a function of the program or of the library, or nullptr.
  const Function* find_function(std::string_view name) const;

  // ---- names of the result ----
  // False if it is taken.
  bool reserve_name(const std::string& name) { return taken_.insert(name).second; }
  // The entry's own names stay as they are: its inputs, its results and what it assigns.
  void reserve_names(const Function& entry);
  // A name that nothing else has: `wanted`, or with a number behind it.
  std::string fresh_name(const std::string& wanted);
  std::string numbered_name(const std::string& base);
  // Of what the scope calls `local` and assigns.
  std::string tensor_name(const CallScope& scope, const std::string& local);
  std::vector<std::string> target_names(const CallScope& scope, const Assignment& assignment);

  // ---- calls ----
  // Counts a call, and refuses it if it is recursive or over a limit.
  Refusal admit(const CallScope& caller, const Function& callee);
  // Every call of a function of the program so far; a caller stands before what it calls.
  const std::vector<InlinedCall>& calls() const { return calls_; }
  // The call that is being walked, in calls(); -1: none.
  int current_call() const { return active_.empty() ? -1 : active_.back().call; }
  // Outermost first.
  const std::vector<ActiveCall>& active_calls() const { return active_; }
  // How many of them come before the first call of a library function. From that one on the text
  // is that of the library.
  size_t active_in_program() const { return active_.empty() ? 0 : active_.back().in_program; }
  // `span` as a place of the program: within a library function it is that of the call.
  SourceSpan place(SourceSpan span) const;

 protected:
  void open(CallScope& scope, const Function& callee, SourceSpan span,
            const std::vector<std::string>& results, std::vector<Attribute> attributes);
  void close() { active_.pop_back(); }

 private:
  std::unordered_map<std::string_view, const Function*> functions_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_number_;
  int first_number_;
  CallLimits limits_;
  size_t admitted_ = 0;
  std::vector<InlinedCall> calls_;
  std::vector<ActiveCall> active_;
};

// Walks the callee of a call. `Value`: what a name stands for.
template <typename Value>
class CallInliner : public InlinedCalls {
 public:
  using InlinedCalls::InlinedCalls;
  virtual ~CallInliner() = default;

 protected:
  struct Argument {
    Value value;
    SourceSpan span;
  };

  // Gives a parameter of the callee its value, and the names of its dimensions theirs. False if
  // the callee makes no sense with it; it is not walked then.
  virtual bool bind_argument(InlineScope<Value>& callee, const Parameter& parameter, Value value,
                             SourceSpan where) = 0;
  // Walks the statements. The values of the function's results, in order; empty if one has none.
  virtual std::vector<Value> walk_callee(InlineScope<Value>& callee) = 0;

  // Inlines a call that was admitted and has as many arguments and results as the callee. The
  // results are called `results`. Gives their values, or none.
  std::vector<Value> inline_call(const Function& callee, SourceSpan span,
                                 const std::vector<Argument>& arguments,
                                 const std::vector<std::string>& results,
                                 std::vector<Attribute> attributes) {
    InlineScope<Value> scope;
    open(scope, callee, span, results, std::move(attributes));
    bool bound = true;
    for (size_t i = 0; i < arguments.size(); ++i)
      bound &= bind_argument(scope, callee.parameters[i], arguments[i].value, arguments[i].span);
    std::vector<Value> values;
    if (bound) values = walk_callee(scope);
    close();
    return values;
  }
};

}  // namespace stria::tile
