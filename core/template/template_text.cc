// SPDX-License-Identifier: Apache-2.0
#include "stria/template/template_text.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/template/json_text.h"
#include "stria/template/template_expression.h"

namespace stria {
namespace {

using nlohmann::json;

constexpr size_t kMaxOutput = size_t{64} << 20;
constexpr int kMaxNesting = 40;
// Pieces of a template that are rendered, each as often as its loops run, and the rounds of loops:
// an empty loop body makes no output.
constexpr int64_t kMaxSteps = 1 << 18;

struct Node {
  enum class Kind { text, output, set, loop, branch };
  Kind kind = Kind::text;
  SourceSpan span;                // text: the bytes themselves
  std::string name;               // set, loop: the variable
  TemplateExpression expression;  // output, set, loop; branch: the condition
  bool always = false;            // branch: `else`
  std::vector<Node> body;         // loop, branch
  std::vector<Node> otherwise;    // branch: each elif, and then else, in order
};

class Reader {
 public:
  explicit Reader(const SourceText& source) : source_(source), text_(source.text) {}

  Result<std::vector<Node>> read() {
    std::vector<Node> nodes;
    STRIA_ASSIGN(Stop stop, sequence(nodes, 0));
    if (!stop.word.empty())
      return fail(stop.span, fmt::format("'{}' without an open block", stop.word));
    return nodes;
  }

 private:
  // What ended a sequence: the word of the tag ("endfor", "elif", …; "" = end of text).
  struct Stop {
    std::string word;
    SourceSpan span;
    size_t rest = 0;   // where the tag's expression begins
    size_t close = 0;  // and ends
  };

  Status fail(SourceSpan span, std::string message) const {
    return Status(StatusCode::invalid_argument,
                  render(source_, {Severity::error, span, std::move(message)}));
  }

  static bool blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

  void add_text(std::vector<Node>& nodes, size_t begin, size_t end) {
    if (trim_next_)
      while (begin < end && blank(text_[begin])) ++begin;
    trim_next_ = false;
    if (begin >= end) return;
    Node node;
    node.span = {begin, end};
    nodes.push_back(std::move(node));
  }

  static void trim_last(std::vector<Node>& nodes, std::string_view text) {
    if (nodes.empty() || nodes.back().kind != Node::Kind::text) return;
    SourceSpan& span = nodes.back().span;
    while (span.end > span.begin && blank(text[span.end - 1])) --span.end;
  }

  // The end of the tag that begins at `open`: the offset of `close` outside of string literals.
  size_t find_close(size_t from, std::string_view close) const {
    char quote = 0;
    for (size_t i = from; i < text_.size(); ++i) {
      if (quote) {
        if (text_[i] == '\\')
          ++i;
        else if (text_[i] == quote)
          quote = 0;
      } else if (text_.substr(i, 2) == close) {
        return i;
      } else if (text_[i] == '"' || text_[i] == '\'') {
        quote = text_[i];
      }
    }
    return std::string_view::npos;
  }

  Result<Stop> sequence(std::vector<Node>& nodes, int nesting) {
    if (nesting > kMaxNesting)
      return fail({at_, at_ + 1}, fmt::format("blocks nested deeper than {}", kMaxNesting));
    while (true) {
      size_t open = at_;
      while (true) {
        open = text_.find('{', open);
        if (open == std::string_view::npos || open + 1 >= text_.size()) {
          add_text(nodes, at_, text_.size());
          at_ = text_.size();
          return Stop{"", {at_, at_}, at_, at_};
        }
        char next = text_[open + 1];
        if (next == '{' || next == '%' || next == '#') break;
        ++open;
      }
      add_text(nodes, at_, open);
      char kind = text_[open + 1];
      const char* close_text = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
      size_t close = kind == '#' ? text_.find("#}", open + 2) : find_close(open + 2, close_text);
      if (close == std::string_view::npos)
        return fail({open, open + 2}, fmt::format("this is not closed with '{}'", close_text));
      size_t begin = open + 2, end = close;
      if (begin < end && text_[begin] == '-') {
        ++begin;
        trim_last(nodes, text_);
      }
      if (end > begin && text_[end - 1] == '-') {
        --end;
        trim_next_ = true;
      }
      at_ = close + 2;
      if (kind == '#') continue;
      if (kind == '{') {
        Node node;
        node.kind = Node::Kind::output;
        node.span = {open, at_};
        STRIA_ASSIGN(node.expression, parse_template_expression(source_, begin, end));
        nodes.push_back(std::move(node));
        continue;
      }
      STRIA_ASSIGN(Stop stop, statement(nodes, {open, at_}, begin, end, nesting));
      if (!stop.word.empty()) return stop;
    }
  }

  std::string take_word(size_t& at, size_t end) const {
    while (at < end && blank(text_[at])) ++at;
    size_t begin = at;
    while (at < end && (std::isalnum(static_cast<unsigned char>(text_[at])) || text_[at] == '_'))
      ++at;
    return std::string(text_.substr(begin, at - begin));
  }

  // One {% … %}. Gives a Stop with a word if it ends the enclosing sequence.
  Result<Stop> statement(std::vector<Node>& nodes, SourceSpan span, size_t begin, size_t end,
                         int nesting) {
    static const std::vector<std::string> kWords = {"set",  "for",  "endfor", "if",
                                                    "elif", "else", "endif"};
    std::string word = take_word(begin, end);
    if (word == "endfor" || word == "elif" || word == "else" || word == "endif")
      return Stop{word, span, begin, end};
    Node node;
    node.span = span;
    if (word == "set") {
      node.kind = Node::Kind::set;
      node.name = take_word(begin, end);
      while (begin < end && blank(text_[begin])) ++begin;
      if (node.name.empty() || begin >= end || text_[begin] != '=')
        return fail(span, "a set is written {% set name = expression %}");
      STRIA_ASSIGN(node.expression, parse_template_expression(source_, begin + 1, end));
    } else if (word == "for") {
      node.kind = Node::Kind::loop;
      node.name = take_word(begin, end);
      if (node.name.empty() || take_word(begin, end) != "in")
        return fail(span, "a loop is written {% for name in list %}");
      STRIA_ASSIGN(node.expression, parse_template_expression(source_, begin, end));
      STRIA_ASSIGN(Stop stop, sequence(node.body, nesting + 1));
      if (stop.word != "endfor")
        return stop.word.empty() ? fail(span, "this loop has no {% endfor %}")
                                 : fail(stop.span, fmt::format("'{}' inside a loop", stop.word));
    } else if (word == "if") {
      STRIA_ASSIGN(node, branch(span, begin, end, nesting));
    } else {
      return fail(span, fmt::format("unknown statement '{}'{}", word, did_you_mean(word, kWords)));
    }
    nodes.push_back(std::move(node));
    return Stop{};
  }

  Result<Node> branch(SourceSpan span, size_t begin, size_t end, int nesting) {
    Node node;
    node.kind = Node::Kind::branch;
    node.span = span;
    STRIA_ASSIGN(node.expression, parse_template_expression(source_, begin, end));
    STRIA_ASSIGN(Stop stop, sequence(node.body, nesting + 1));
    while (stop.word == "elif") {
      Node next;
      next.kind = Node::Kind::branch;
      next.span = stop.span;
      STRIA_ASSIGN(next.expression, parse_template_expression(source_, stop.rest, stop.close));
      STRIA_ASSIGN(stop, sequence(next.body, nesting + 1));
      node.otherwise.push_back(std::move(next));
    }
    if (stop.word == "else") {
      Node last;
      last.kind = Node::Kind::branch;
      last.always = true;
      last.span = stop.span;
      STRIA_ASSIGN(stop, sequence(last.body, nesting + 1));
      node.otherwise.push_back(std::move(last));
    }
    if (stop.word.empty()) return fail(span, "this 'if' has no {% endif %}");
    if (stop.word != "endif") return fail(stop.span, fmt::format("'{}' inside an 'if'", stop.word));
    return node;
  }

  const SourceText& source_;
  std::string_view text_;
  size_t at_ = 0;
  bool trim_next_ = false;
};

class Renderer {
 public:
  explicit Renderer(const SourceText& source) : source_(source) {}

  // What a sequence of nodes sets: names, and what each was computed from.
  struct Names {
    json values = json::object();
    TemplateScope::Reads reads;
  };

  Status render_nodes(const std::vector<Node>& nodes, const TemplateScope* outer, Names& names) {
    TemplateScope scope(outer, names.values, &names.reads);
    for (const Node& node : nodes) STRIA_RETURN_IF_ERROR(render_node(node, outer, scope, names));
    return {};
  }

  RenderedText out;

 private:
  Status emit(const SourceSpan& span, std::string_view text, bool verbatim,
              const TemplateReads& reads = {}) {
    if (out.text.size() + text.size() > kMaxOutput)
      return Status(
          StatusCode::out_of_range,
          render(source_, {Severity::error, span,
                           fmt::format("the rendered text is longer than {} bytes", kMaxOutput)}));
    if (!reads.empty() && out.reads.back() != reads) out.reads.push_back(reads);
    const size_t made_of = reads.empty() ? 0 : out.reads.size() - 1;
    out.origins.push_back({out.text.size(), span.begin, verbatim, static_cast<uint32_t>(made_of)});
    out.text += text;
    return {};
  }

  Status step(const Node& node) {
    if (++steps_ <= kMaxSteps) return {};
    return Status(
        StatusCode::out_of_range,
        render(source_, {Severity::error, node.span,
                         fmt::format("the template takes more than {} steps", kMaxSteps)}));
  }

  Status render_node(const Node& node, const TemplateScope* outer, const TemplateScope& scope,
                     Names& names) {
    STRIA_RETURN_IF_ERROR(step(node));
    switch (node.kind) {
      case Node::Kind::text:
        return emit(
            node.span,
            std::string_view(source_.text).substr(node.span.begin, node.span.end - node.span.begin),
            true);
      case Node::Kind::output: {
        TemplateReads reads;
        STRIA_ASSIGN(auto value, evaluate(node, scope, reads));
        return emit(node.span, template_print(*value), false, reads);
      }
      case Node::Kind::set: {
        TemplateReads reads;
        STRIA_ASSIGN(auto value, evaluate(node, scope, reads));
        names.values[node.name] =
            json(*value);  // a copy first: the value may be a part of the name's old one
        names.reads[node.name] = std::move(reads);
        return {};
      }
      case Node::Kind::loop: return loop(node, scope);
      case Node::Kind::branch: {
        STRIA_ASSIGN(bool taken, is_taken(node, scope));
        const Node* of = &node;
        for (size_t i = 0; !taken && i < node.otherwise.size(); ++i) {
          of = &node.otherwise[i];
          STRIA_RETURN_IF_ERROR(step(*of));
          STRIA_ASSIGN(taken, is_taken(*of, scope));
        }
        if (!taken) return {};
        for (const Node& child : of->body)
          STRIA_RETURN_IF_ERROR(render_node(child, outer, scope, names));
        return {};
      }
    }
    return {};
  }

  Result<bool> is_taken(const Node& branch, const TemplateScope& scope) {
    if (branch.always) return true;
    TemplateReads reads;
    STRIA_ASSIGN(auto condition, evaluate(branch, scope, reads));
    return template_truth(*condition);
  }

  Status loop(const Node& node, const TemplateScope& scope) {
    TemplateScope::Reads reads;
    STRIA_ASSIGN(std::shared_ptr<const json> value, evaluate(node, scope, reads[node.name]));
    if (value->is_object()) {
      json keys = json::array();
      for (auto it = value->begin(); it != value->end(); ++it) keys.push_back(it.key());
      value = std::make_shared<const json>(std::move(keys));
    }
    const json& list = *value;
    if (!list.is_array())
      return Status(
          StatusCode::invalid_argument,
          render(source_, {Severity::error, node.expression.span,
                           fmt::format("a loop needs a list, this is {}", list.type_name())}));
    // Changed in place: a round with objects of its own takes microseconds for them.
    json own = json::object();
    json& variable = own[node.name];
    json named_loop;
    json& about = node.name == "loop" ? named_loop : own["loop"];
    about = {{"index", 0},    {"index0", 0},   {"revindex", 0},        {"revindex0", 0},
             {"first", true}, {"last", false}, {"length", list.size()}};
    json &index = about["index"], &index0 = about["index0"];
    json &back = about["revindex"], &back0 = about["revindex0"];
    json &first = about["first"], &last = about["last"];
    const TemplateScope around(&scope, own, &reads);
    for (size_t i = 0; i < list.size(); ++i) {
      STRIA_RETURN_IF_ERROR(step(node));
      variable = list[i];
      index = i + 1;
      index0 = i;
      back = list.size() - i;
      back0 = list.size() - i - 1;
      first = i == 0;
      last = i + 1 == list.size();
      Names names;
      STRIA_RETURN_IF_ERROR(render_nodes(node.body, &around, names));
    }
    return {};
  }

  Result<std::shared_ptr<const json>> evaluate(const Node& node, const TemplateScope& scope,
                                               TemplateReads& reads) {
    return evaluate_template_expression(source_, node.expression, scope, work_, reads);
  }

  const SourceText& source_;
  TemplateWork work_;
  int64_t steps_ = 0;
};

void collect_expressions(const std::vector<Node>& nodes, std::vector<TemplateExpression>& to) {
  for (const Node& node : nodes) {
    if (node.kind != Node::Kind::text && !node.always) to.push_back(node.expression);
    collect_expressions(node.body, to);
    collect_expressions(node.otherwise, to);
  }
}

void collect_reads(const TemplateExpression& expression, const std::set<std::string>& own,
                   std::set<std::string>& reads) {
  if (expression.kind == TemplateExpression::Kind::name && !own.count(expression.text))
    reads.insert(expression.text);
  for (const TemplateExpression& child : expression.children) collect_reads(child, own, reads);
}

// `own`: the names set so far. What a branch or a loop sets may not be set after it.
void collect_reads(const std::vector<Node>& nodes, std::set<std::string> own,
                   std::set<std::string>& reads) {
  for (const Node& node : nodes) {
    if (node.kind == Node::Kind::text) continue;
    collect_reads(node.expression, own, reads);
    if (node.kind == Node::Kind::set) own.insert(node.name);
    if (node.body.empty() && node.otherwise.empty()) continue;
    std::set<std::string> inside = own;
    if (node.kind == Node::Kind::loop) inside.insert({node.name, "loop"});
    collect_reads(node.body, inside, reads);
    collect_reads(node.otherwise, own, reads);
  }
}

}  // namespace

json settings_as_json(const TemplateSettings& settings) {
  json values = json::object();
  for (const auto& [name, text] : settings) {
    // JSON would let blanks stand around a number.
    json value = trim(text) == text ? json::parse(text, nullptr, false) : json(text);
    values[name] = value.is_discarded() ? json(text) : value;
  }
  return values;
}

Status add_setting(std::string_view assignment, TemplateSettings& settings) {
  size_t equals = assignment.find('=');
  std::string name(assignment.substr(0, equals));
  bool good = equals != std::string_view::npos && starts_with_letter(name);
  for (char c : name) good = good && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  if (!good)
    return invalid_argument("a setting is written NAME=VALUE, this is '{}'",
                            shown_name(assignment));
  std::string value(assignment.substr(equals + 1));
  if (!fits_json(value))
    return invalid_argument("the value of setting '{}' is not UTF-8", shown_name(name));
  settings[name] = std::move(value);
  return {};
}

void TemplateReads::add(const std::string& path) {
  if (paths.size() < kMaxPaths && std::find(paths.begin(), paths.end(), path) == paths.end())
    paths.push_back(path);
}

void TemplateReads::add(const TemplateReads& more) {
  for (const std::string& path : more.paths) add(path);
  defaulted = defaulted || more.defaulted;
}

size_t RenderedText::piece_at(size_t offset) const {
  auto next =
      std::upper_bound(origins.begin(), origins.end(), offset,
                       [](size_t value, const Origin& origin) { return value < origin.rendered; });
  return next == origins.begin() ? 0 : static_cast<size_t>(next - origins.begin()) - 1;
}

size_t RenderedText::source_offset(size_t offset) const {
  if (origins.empty()) return 0;
  const Origin& origin = origins[piece_at(offset)];
  return origin.source + (origin.verbatim ? offset - origin.rendered : 0);
}

TemplateReads RenderedText::reads_of(size_t begin, size_t end) const {
  TemplateReads out;
  if (origins.empty()) return out;
  if (begin == end)
    for (size_t piece = piece_at(begin); piece > 0 && origins[piece - 1].rendered == begin; --piece)
      out.add(reads[origins[piece - 1].reads]);
  for (size_t piece = piece_at(begin);
       begin < end && piece < origins.size() && origins[piece].rendered < end; ++piece)
    out.add(reads[origins[piece].reads]);
  return out;
}

Result<std::vector<TemplateExpression>> template_expressions(const SourceText& source) {
  STRIA_ASSIGN(const std::vector<Node> nodes, Reader(source).read());
  std::vector<TemplateExpression> out;
  collect_expressions(nodes, out);
  return out;
}

Result<std::set<std::string>> template_parameters(const SourceText& source) {
  STRIA_ASSIGN(std::vector<Node> nodes, Reader(source).read());
  std::set<std::string> reads;
  collect_reads(nodes, {}, reads);
  return reads;
}

Result<std::set<std::string>> settable_parameters(const SourceText& source) {
  STRIA_ASSIGN(std::set<std::string> out, template_parameters(source));
  for (const char* given : {"hw", "device", "machine", "tune"}) out.erase(given);
  return out;
}

Status check_settings(const TemplateSettings& settings, const std::set<std::string>& parameters,
                      std::string_view place) {
  for (const auto& [name, value] : settings)
    if (!parameters.count(name))
      return not_found("no parameter '{}' in {}{}", name, place,
                       did_you_mean(name, {parameters.begin(), parameters.end()}));
  return Status();
}

Result<RenderedText> render_template(const SourceText& source, const json& values) {
  STRIA_CHECK(values.is_object(), "template values must be an object");
  STRIA_ASSIGN(std::vector<Node> nodes, Reader(source).read());
  Renderer renderer(source);
  Renderer::Names names;
  TemplateScope globals(nullptr, values, nullptr);
  STRIA_RETURN_IF_ERROR(renderer.render_nodes(nodes, &globals, names));
  return std::move(renderer.out);
}

}  // namespace stria
