// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/text/parser.h"

#include <charconv>

#include "stria/base/text.h"
#include "stria/stripe/agents.h"
#include "stria/stripe/scalar_types.h"
#include "stria/stripe/text/cursor.h"
#include "stria/stripe/text/lexer.h"

namespace stria::stripe {
namespace {

using TypeMap = std::map<std::string, DataType>;

std::optional<RefDir> parse_dir(std::string_view name) {
  for (RefDir dir : {RefDir::none, RefDir::in, RefDir::out, RefDir::inout})
    if (name_of(dir) == name) return dir;
  return std::nullopt;
}

// The wider of two operand types: a float beats the rest, then bits count; `a` wins a tie.
DataType wider(DataType a, DataType b) {
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  return bit_width(b) > bit_width(a) ? b : a;
}

class Parser {
 public:
  explicit Parser(const SourceText& source)
      : source_(source),
        diagnostics_(source),
        list_(read(source, diagnostics_)),
        cursor_(list_, diagnostics_) {}

  Result<Program> run() {
    if (diagnostics_.has_errors()) return diagnostics_.status();
    STRIA_RETURN_IF_ERROR(version());
    Block root;
    TypeMap types;
    const SourceSpan first = cursor_.peek().span;
    statement(root, types, 0);
    if (!diagnostics_.has_errors()) {
      if (!root.stmts[0].block() || !root.stmts[0].deps.empty())
        cursor_.fail_at(first, "expected a block, `0: block [] (…) { … }`: a program is one block");
      else if (!cursor_.at_end())
        cursor_.fail("expected nothing after the program's block");
    }
    STRIA_RETURN_IF_ERROR(diagnostics_.status());
    return Program{std::move(*root.stmts[0].block())};
  }

 private:
  static TokenList read(const SourceText& source, Diagnostics& diagnostics) {
    return check_is_text(source, diagnostics) ? tokenize(source, diagnostics) : TokenList{};
  }

  Status version() {
    if (!cursor_.peek().is_name("stripe")) return Status();
    cursor_.advance();
    const Token& token = cursor_.peek();
    int major = 0, minor = 0;
    const char* end = token.text.data() + token.text.size();
    auto first = std::from_chars(token.text.data(), end, major);
    bool good = token.kind == TokenKind::number && first.ec == std::errc() && first.ptr != end &&
                *first.ptr == '.';
    if (good) {
      auto second = std::from_chars(first.ptr + 1, end, minor);
      good = second.ec == std::errc() && second.ptr == end;
    }
    if (!good) {
      cursor_.fail(
          fmt::format("expected the version, as in 'stripe {}.{}'", kTextMajor, kTextMinor));
      return diagnostics_.status();
    }
    if (major != kTextMajor || minor > kTextMinorOfAgents) {
      cursor_.fail_at(token.span,
                      fmt::format("the text is Stripe {}.{}, this build reads Stripe {}.{}", major,
                                  minor, kTextMajor, kTextMinorOfAgents));
      return diagnostics_.status(StatusCode::incompatible);
    }
    cursor_.advance();
    return Status();
  }

  // --- statements -------------------------------------------------------------------------------

  void statements(Block& block, int depth) {
    TypeMap types;
    while (!cursor_.peek().is("}")) {
      if (cursor_.at_end()) {
        cursor_.fail(fmt::format("expected '}}' at the end of block '{}'", block.name));
        return;
      }
      size_t before = cursor_.position();
      if (!statement(block, types, depth)) {
        // What was read so far stands for the statement, so that the numbers of the next ones fit.
        skip_statement(before);
      }
    }
    cursor_.advance();
  }

  // Appends one statement to `parent`, even if it fails half-way.
  bool statement(Block& parent, TypeMap& types, int depth) {
    parent.stmts.emplace_back();
    Statement& stmt = parent.stmts.back();
    SourceSpan span = cursor_.peek().span;
    int64_t number = 0;
    if (!cursor_.read_integer(number, "the statement's number")) return false;
    int64_t expected = static_cast<int64_t>(parent.stmts.size()) - 1;
    if (number != expected)
      return cursor_.fail_at(
          span, fmt::format("this statement is number {} of its block, not {}", expected, number));
    if (cursor_.accept("[") && !deps(stmt)) return false;
    if (!cursor_.expect(":", "after the statement's number")) return false;
    if (!cursor_.read_tags(stmt.tags)) return false;
    const Token& token = cursor_.peek();
    const Token& next = cursor_.peek(1);
    bool good = false;
    // A refinement may be called `block`; its chosen coordinates are scalars and zeros. A word that
    // is not `block` but goes on like one is a slip of the pen.
    const TokenKind inside = cursor_.peek(2).kind;
    const bool like_block =
        token.is_name("block") || cursor_.peek(2).is("]") || cursor_.peek(3).is(":");
    const bool chosen =
        next.is("[") && (!like_block || inside == TokenKind::scalar || inside == TokenKind::number);
    if (token.is_name("block") && (next.is("[") || next.is("<")) && !chosen) {
      Block block;
      block.tags = std::move(stmt.tags);
      stmt.tags = Tags();
      good = this->block(block, depth);
      stmt.op = Box<Block>(std::move(block));
    } else if (token.is_name("special") && next.kind == TokenKind::name) {
      good = special(stmt);
    } else if (token.kind == TokenKind::scalar || token.is("(")) {
      good = assignment(stmt, parent, types);
    } else if (token.kind == TokenKind::name && (next.is("=") || chosen)) {
      good = store(stmt);
    } else {
      std::string hint;
      if (token.kind == TokenKind::name) hint = did_you_mean(token.text, {"block", "special"});
      return cursor_.fail("expected a statement: $x = …, NAME = store($x), special … or block […]" +
                          hint);
    }
    while (good && cursor_.accept(";")) {
    }
    return good;
  }

  bool deps(Statement& stmt) {
    while (!cursor_.accept("]")) {
      int64_t dep = 0;
      if (!cursor_.read_integer(dep, "the number of a statement to wait for")) return false;
      stmt.deps.push_back(dep);
      cursor_.accept(",");
    }
    return true;
  }

  bool store(Statement& stmt) {
    Store op;
    if (!cursor_.read_name(op.into, "a refinement") || !chosen_coordinates(op.at)) return false;
    if (!cursor_.expect("=", "after the refinement")) return false;
    if (!cursor_.peek().is_name("store"))
      return cursor_.fail(fmt::format("expected store($x), a scalar on the left is written ${}{}",
                                      op.into, did_you_mean(cursor_.peek().text, {"store"})));
    cursor_.advance();
    if (!cursor_.expect("(", "after 'store'") ||
        !cursor_.read_scalar(op.from, "the scalar to store"))
      return false;
    stmt.op = std::move(op);
    return cursor_.expect(")", "after the scalar to store");
  }

  // [$i, 0] behind a refinement's name, or nothing.
  bool chosen_coordinates(ChosenCoordinates& at) {
    if (!cursor_.accept("[")) return true;
    do {
      const Token& token = cursor_.peek();
      if (token.kind == TokenKind::number && token.text == "0") {
        at.emplace_back();
        cursor_.advance();
      } else if (token.kind != TokenKind::scalar) {
        return cursor_.fail("expected a chosen coordinate: a scalar such as $x, or 0");
      } else if (!cursor_.read_scalar(at.emplace_back(), "a coordinate")) {
        return false;
      }
      cursor_.accept(",");
    } while (!cursor_.accept("]"));
    return true;
  }

  bool assignment(Statement& stmt, const Block& parent, TypeMap& types) {
    std::vector<std::string> outputs;
    if (cursor_.accept("(")) {
      while (!cursor_.accept(")")) {
        if (!cursor_.read_scalar(outputs.emplace_back(), "a result")) return false;
        cursor_.accept(",");
      }
    } else {
      if (!cursor_.read_scalar(outputs.emplace_back(), "a result")) return false;
    }
    if (!cursor_.expect("=", "after the result")) return false;
    const Token& token = cursor_.peek();
    const Token& next = cursor_.peek(1);
    bool one = outputs.size() == 1;
    if (token.is("(") && one) {
      Constant op;
      DataType type;
      cursor_.advance();
      if (!cursor_.read_type(type) || !cursor_.expect(")", "after the constant's type"))
        return false;
      if (!cursor_.read_literal(type, op.value)) return false;
      op.into = outputs[0];
      types[op.into] = type;
      stmt.op = std::move(op);
      return true;
    }
    if (token.is_name("load") && next.is("(") && one) {
      Load op;
      cursor_.advance();
      cursor_.advance();
      if (!cursor_.read_name(op.from, "the refinement to load from") || !chosen_coordinates(op.at))
        return false;
      op.into = outputs[0];
      if (const Refinement* ref = parent.find_ref(op.from)) types[op.into] = ref->shape.type;
      stmt.op = std::move(op);
      return cursor_.expect(")", "after the refinement to load from");
    }
    if (token.is_name("load_index") && one) {
      LoadIndex op;
      cursor_.advance();
      if (cursor_.accept(".") && !cursor_.read_type(op.type)) return false;
      if (!cursor_.expect("(", "after 'load_index'") || !cursor_.read_affine(op.from)) return false;
      op.into = outputs[0];
      types[op.into] = op.type;
      stmt.op = std::move(op);
      return cursor_.expect(")", "after the form");
    }
    return intrinsic(stmt, std::move(outputs), types);
  }

  bool intrinsic(Statement& stmt, std::vector<std::string> outputs, TypeMap& types) {
    Intrinsic op;
    const SourceSpan span = cursor_.peek().span;
    if (!cursor_.read_name(op.name, "load(NAME), load_index.TYPE(…), (TYPE)number or an intrinsic"))
      return false;
    bool typed = cursor_.accept(".");
    if (typed && !cursor_.read_type(op.type)) return false;
    if (!cursor_.expect("(", "after the intrinsic's name")) return false;
    while (!cursor_.accept(")")) {
      if (cursor_.peek().kind != TokenKind::scalar)
        return cursor_.fail(fmt::format("expected an operand of '{}' such as $x{}", op.name,
                                        did_you_mean(op.name, {"load", "load_index"})));
      op.inputs.emplace_back(cursor_.peek().text);
      cursor_.advance();
      cursor_.accept(",");
    }
    if (!typed && !widest_type(op, types, span)) return false;
    for (const std::string& name : outputs) types[name] = intrinsic_result_type(op.name, op.type);
    op.outputs = std::move(outputs);
    stmt.op = std::move(op);
    return true;
  }

  bool widest_type(Intrinsic& op, const TypeMap& types, SourceSpan span) {
    std::optional<DataType> widest;
    for (const std::string& name : op.inputs) {
      auto at = types.find(name);
      if (at == types.end()) {
        widest.reset();
        break;
      }
      widest = widest ? wider(*widest, at->second) : at->second;
    }
    if (!widest)
      return cursor_.fail_at(
          span,
          fmt::format("the operands of '{0}' do not tell its type: write {0}.TYPE(…)", op.name));
    op.type = *widest;
    return true;
  }

  bool special(Statement& stmt) {
    Special op;
    cursor_.advance();
    if (!cursor_.read_name(op.name, "the special's name") ||
        !cursor_.expect("(", "after the special's name"))
      return false;
    bool outputs = false;
    while (!cursor_.accept(")")) {
      if (!outputs && cursor_.accept(";")) {
        outputs = true;
        continue;
      }
      std::string name;
      if (!cursor_.read_name(name, "a refinement")) return false;
      (outputs ? op.outputs : op.inputs).push_back(std::move(name));
      cursor_.accept(",");
    }
    if (cursor_.accept("{")) {
      while (!cursor_.accept("}")) {
        SourceSpan span = cursor_.peek().span;
        std::string name;
        TagValue value;
        if (!cursor_.read_name(name, "a parameter")) return false;
        if (cursor_.accept("=") && !cursor_.read_value(value)) return false;
        if (!op.params.emplace(name, std::move(value)).second)
          return cursor_.fail_at(span, fmt::format("the parameter '{}' stands here twice", name));
        cursor_.accept(",");
      }
    }
    stmt.op = std::move(op);
    return true;
  }

  // --- blocks -----------------------------------------------------------------------------------

  bool block(Block& block, int depth) {
    if (depth >= kMaxDepth) {
      cursor_.fail_at(cursor_.peek().span,
                      fmt::format("blocks are nested deeper than the limit of {}", kMaxDepth));
      cursor_.stop();
      return false;
    }
    cursor_.advance();
    if (!cursor_.read_location(block.location) ||
        !cursor_.expect("[", "before the block's indices"))
      return false;
    while (!cursor_.accept("]")) {
      if (!index(block)) return false;
      cursor_.accept(",");
    }
    if (!cursor_.expect("(", "before the block's refinements")) return false;
    comments(block);
    while (!cursor_.accept(")")) {
      if (cursor_.at_end() || cursor_.peek().is("{") || cursor_.peek().is("}"))
        return cursor_.expect(")", "after the block's refinements");
      size_t before = cursor_.position();
      if (!head_item(block)) skip_head_item(before);
      while (cursor_.accept(",") || cursor_.accept(";")) {
      }
    }
    if (!cursor_.expect("{", "before the block's statements")) return false;
    statements(block, depth + 1);
    return true;
  }

  // The comment on the line of the '(' is the name; whole-line comments before the first constraint
  // or refinement are the block's comments.
  void comments(Block& block) {
    size_t next = cursor_.position();
    auto& all = list_.comments;
    while (comment_ < all.size() && all[comment_].next < next) ++comment_;
    bool first = true;
    for (; comment_ < all.size() && all[comment_].next == next; ++comment_) {
      if (all[comment_].own_line) {
        block.comments.emplace_back(all[comment_].text);
      } else if (first) {
        block.name = trim(all[comment_].text);
      }
      first = false;
    }
  }

  bool index(Block& block) {
    Index index;
    if (!cursor_.read_tags(index.tags) || !cursor_.read_name(index.name, "an index as in x:16"))
      return false;
    bool ranged = cursor_.accept(":");
    if (ranged &&
        !cursor_.read_integer(index.range, fmt::format("the range of index '{}'", index.name)))
      return false;
    if (!ranged && !cursor_.peek().is("="))
      return cursor_.fail(fmt::format("expected ':' and the range of index '{}'", index.name));
    if (cursor_.accept("=")) {
      index.affine.emplace();
      if (!cursor_.read_affine(*index.affine)) return false;
    }
    block.idxs.push_back(std::move(index));
    return true;
  }

  bool head_item(Block& block) {
    const Token& token = cursor_.peek();
    const Token& next = cursor_.peek(1);
    if (token.kind == TokenKind::tag) return refinement(block);
    bool two_names =
        token.kind == TokenKind::name && (next.kind == TokenKind::name || next.is("<"));
    if (two_names) return refinement(block);
    if (token.kind != TokenKind::name && token.kind != TokenKind::number && !token.is("-") &&
        !token.is("+"))
      return cursor_.fail("expected a constraint (… >= 0) or a refinement (none, in, out, inout)");
    Affine form;
    if (!cursor_.read_affine(form) || !cursor_.expect(">=", "after a constraint's form"))
      return false;
    const Token& zero = cursor_.peek();
    if (zero.kind != TokenKind::number || zero.text != "0")
      return cursor_.fail("a constraint reads `form >= 0`: expected 0");
    cursor_.advance();
    block.constraints.push_back(std::move(form));
    return true;
  }

  bool refinement(Block& block) {
    Refinement ref;
    if (!cursor_.read_tags(ref.tags)) return false;
    const Token& token = cursor_.peek();
    auto dir = token.kind == TokenKind::name ? parse_dir(token.text) : std::nullopt;
    if (!dir)
      return cursor_.fail("expected none, in, out or inout" +
                          did_you_mean(token.text, {"none", "in", "out", "inout"}));
    ref.dir = *dir;
    cursor_.advance();
    const Token& after = cursor_.peek(1);
    if (cursor_.peek().is_name("const") && (after.kind == TokenKind::name || after.is("<"))) {
      ref.is_const = true;
      cursor_.advance();
    }
    if (cursor_.peek().is_name("new") && cursor_.peek(1).is("@")) {
      if (ref.dir != RefDir::none)
        return cursor_.fail(
            fmt::format("an allocation's direction is none, not {}", name_of(ref.dir)));
      cursor_.advance();
      cursor_.advance();
      if (!cursor_.read_integer(ref.offset_bytes, "the allocation's offset", true)) return false;
    } else if (ref.dir == RefDir::none) {
      return cursor_.fail(
          "expected new@0x00000000: a refinement with direction none is an allocation");
    }
    if (!cursor_.read_location(ref.location) ||
        !cursor_.read_name(ref.into, "the refinement's name"))
      return false;
    if (ref.dir != RefDir::none) ref.from = ref.into;
    if (cursor_.accept("=") && !cursor_.read_name(ref.from, "the parent's name for it"))
      return false;
    if (!cursor_.read_affines(ref.access, fmt::format("the access of '{}'", ref.into)))
      return false;
    bool aggregated = cursor_.accept(":");
    bool typed = false;
    if (aggregated && !aggregation(ref, typed)) return false;
    if (!cursor_.read_type(ref.shape.type)) return false;
    if (aggregated && !typed) ref.agg->type = accumulation_type(ref.shape.type);
    if (!shape(ref) || !swizzle(ref)) return false;
    block.refs.push_back(std::move(ref));
    return true;
  }

  bool aggregation(Refinement& ref, bool& typed) {
    ref.agg.emplace();
    const Token& token = cursor_.peek();
    auto op = token.kind == TokenKind::name ? parse_agg_op(token.text) : std::nullopt;
    if (!op)
      return cursor_.fail("expected an aggregation: add, mul, max or min" +
                          did_you_mean(token.text, {"add", "mul", "max", "min"}));
    ref.agg->op = *op;
    cursor_.advance();
    typed = cursor_.accept(".");
    return !typed || cursor_.read_type(ref.agg->type);
  }

  bool shape(Refinement& ref) {
    if (!cursor_.expect("(", "before the sizes and strides")) return false;
    while (!cursor_.accept(")")) {
      Dim dim;
      if (!cursor_.read_integer(dim.size, "a size")) return false;
      if (!cursor_.expect(":", "between size and stride") ||
          !cursor_.read_integer(dim.stride, "a stride"))
        return false;
      ref.shape.dims.push_back(dim);
      cursor_.accept(",");
    }
    return true;
  }

  bool swizzle(Refinement& ref) {
    if (!cursor_.peek().is_name("swizzle") || !cursor_.peek(1).is("(")) return true;
    cursor_.advance();
    cursor_.advance();
    int64_t number[3] = {};
    for (int64_t& n : number) {
      SourceSpan span = cursor_.peek().span;
      if (!cursor_.read_integer(n, "a number of swizzle(bits, base, shift)")) return false;
      if (n < 0 || n > 62)
        return cursor_.fail_at(span, fmt::format("{} is not a number of bits from 0 to 62", n));
      cursor_.accept(",");
    }
    ref.swizzle = Swizzle{static_cast<int>(number[0]), static_cast<int>(number[1]),
                          static_cast<int>(number[2])};
    return cursor_.expect(")", "after swizzle(bits, base, shift");
  }

  // --- going on after a mistake -----------------------------------------------------------------

  // To the next statement of this block, or its '}'.
  void skip_statement(size_t begin) {
    if (cursor_.position() == begin && !cursor_.peek().is("}")) cursor_.advance();
    for (int open = 0; !cursor_.at_end(); cursor_.advance()) {
      const Token& token = cursor_.peek();
      if (token.is("{")) ++open;
      if (token.is("}") && --open < 0) return;
      bool numbered =
          token.kind == TokenKind::number && (cursor_.peek(1).is(":") || cursor_.peek(1).is("["));
      if (open == 0 && token.first_on_line && numbered) return;
    }
  }

  // To the next line of the head, or its end.
  void skip_head_item(size_t begin) {
    if (cursor_.position() == begin) cursor_.advance();
    for (; !cursor_.at_end(); cursor_.advance()) {
      const Token& token = cursor_.peek();
      if (token.first_on_line || token.is("{") || token.is("}")) return;
      if (token.is(")") && cursor_.peek(1).is("{")) return;
    }
  }

  const SourceText& source_;
  Diagnostics diagnostics_;
  TokenList list_;
  Cursor cursor_;
  size_t comment_ = 0;  // the first comment not yet passed
};

}  // namespace

Result<Program> parse(const SourceText& source) { return Parser(source).run(); }

Result<BitFieldForm> parse_bit_form(const SourceText& source) {
  Diagnostics diagnostics(source);
  if (!check_is_text(source, diagnostics)) return diagnostics.status();
  const TokenList list = tokenize(source, diagnostics);
  Cursor cursor(list, diagnostics);
  BitFieldForm form;
  if (cursor.read_bit_form(form) && !cursor.at_end())
    cursor.fail("expected '+' and another bit field, or the end");
  STRIA_RETURN_IF_ERROR(diagnostics.status());
  return form;
}

}  // namespace stria::stripe
