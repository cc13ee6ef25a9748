// SPDX-License-Identifier: Apache-2.0
// A Tile program as written: functions, statements and expressions, with their places in the text.
// Plain values without pointers: the expressions of a function are in one array and refer to each
// other by position. The parser keeps every expression within kMaxExprDepth, so readers of it may
// recurse.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stria/base/diagnostic.h"

namespace stria::tile {

// A name and where it stands.
struct Name {
  std::string text;
  SourceSpan span;
};

// Position in Function::exprs; an argument's position is below that of the call.
using ExprId = int32_t;
inline constexpr ExprId kNoExpr = -1;
// Operations on the longest way from the root of an expression to a leaf, at most.
inline constexpr int kMaxExprDepth = 1000;

enum class ExprKind : uint8_t {
  integer,   // 12
  floating,  // 1.5e-3
  name,      // tensor, dimension or constant: begins with a capital letter
  index,     // index variable of a contraction: begins with a small letter
  call,      // f(a, b); operators are calls of add, cmp_lt, cond, …
};

struct Expr {
  ExprKind kind = ExprKind::integer;
  int64_t integer = 0;
  double floating = 0;
  std::string text;          // name, index or function called
  std::vector<ExprId> args;  // of a call
  SourceSpan span;           // the whole expression
  SourceSpan name_span;      // the name, or the operator's sign
};

enum class Aggregation : uint8_t { sum, product, max, min, assign };
enum class Combination : uint8_t {
  none,   // A[…]
  add,    // A[…] + B[…]
  mul,    // A[…] * B[…]
  equal,  // A[…] == B[…]
  cond,   // A[…] == B[…] ? C[…]: C where A equals B, else 0
};
// "+", "*", ">", "<", "=".
std::string_view sign_of(Aggregation aggregation);
// "", "+", "*", "==", "==".
std::string_view sign_of(Combination combination);

// T[i, 2 * j + 1]
struct Access {
  Name tensor;
  std::vector<ExprId> indices;  // one form per dimension
  SourceSpan span;
};

// 0 <= form < bound
struct Constraint {
  ExprId form = kNoExpr;
  ExprId bound = kNoExpr;
  SourceSpan span;
};

// O[i, j : M, N] = +(A[i, k] * B[k, j]), i - k < N no_defract default D
struct Contraction {
  Access out;
  std::vector<ExprId> sizes;  // one per dimension of out
  Aggregation aggregation = Aggregation::sum;
  Combination combination = Combination::none;
  std::vector<Access> operands;  // one, two, or three with `cond`
  std::vector<Constraint> constraints;
  bool no_defract = false;
  Name default_tensor;  // empty text: none
  SourceSpan aggregation_span;
};

// O = expression, or (S, T) = function(…)
struct Assignment {
  std::vector<Name> targets;
  bool tuple = false;  // written with parentheses
  ExprId value = kNoExpr;
};

// [[name(argument, …)]]
struct Attribute {
  Name name;
  std::vector<Name> arguments;
};

// Stands for an empty line in a list of comment lines.
inline constexpr std::string_view kEmptyLine = "\n";

struct Statement {
  std::variant<Contraction, Assignment> form;
  std::vector<Attribute> attributes;
  // Lines before it and within it, without "#" or "//"; kEmptyLine where they are apart.
  std::vector<std::string> comments;
  std::string end_comment;    // behind it on its last line; empty: none
  bool blank_before = false;  // an empty line stands before it and its comments
  SourceSpan span;            // without the semicolon
};

struct Parameter {
  Name name;
  bool has_dims = false;  // `A[…]`, also `A[]`
  std::vector<Name> dims;
};

struct Function {
  Name name;  // empty text: unnamed
  std::vector<Parameter> parameters;
  std::vector<Name> results;
  std::vector<Statement> statements;
  std::vector<Expr> exprs;
  std::vector<std::string> comments;      // before it
  std::vector<std::string> end_comments;  // before its closing brace
  SourceSpan span;                        // from `function` to `)` of the results
};

struct Program {
  SourceText source;
  std::vector<Function> functions;
  std::vector<std::string> end_comments;  // behind the last function
};

// What the statement gives a value.
std::span<const Name> assigned_names(const Statement& statement);
// Every index below `id`, with where it stands first, unless `out` has it already.
void collect_indices(const Function& function, ExprId id, std::map<std::string, SourceSpan>& out);

// Equal but for the places in the text (spans, source).
bool operator==(const Name& a, const Name& b);
bool operator==(const Expr& a, const Expr& b);
bool operator==(const Access& a, const Access& b);
bool operator==(const Constraint& a, const Constraint& b);
bool operator==(const Contraction& a, const Contraction& b);
bool operator==(const Assignment& a, const Assignment& b);
bool operator==(const Attribute& a, const Attribute& b);
bool operator==(const Statement& a, const Statement& b);
bool operator==(const Parameter& a, const Parameter& b);
bool operator==(const Function& a, const Function& b);
bool operator==(const Program& a, const Program& b);

}  // namespace stria::tile
