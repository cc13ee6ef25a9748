// SPDX-License-Identifier: Apache-2.0
// The reader of device Stripe (stria/reader.h) in C++17: objects that release what they own, and
// lists for range-based loops. Link stria::reader. It builds without exceptions and without RTTI:
// functions that may fail return a ReaderError; with exceptions, check() throws it as sdk::Error.
//
//   stria::sdk::ReaderProgram program;
//   if (auto error = stria::sdk::read_program("device program", text, &program)) …error.message()
//   for (const stria_kernel_block& kernel : stria::sdk::kernels(*program)) …
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "stria/reader.h"
#include "stria/tree.h"
#if defined(__cpp_exceptions)
#include "stria/sdk/error.h"
#endif

namespace stria::sdk {

// ---- failures

// An error that is owned, or none.
class [[nodiscard]] ReaderError {
 public:
  ReaderError() = default;
  explicit ReaderError(stria_error* error) : error_(error) {}
  explicit operator bool() const { return error_ != nullptr; }
  stria_code code() const { return error_ ? error_->code : STRIA_OK; }
  std::string_view message() const { return error_ ? text(error_->message) : std::string_view(); }
  // "name:line:column" of the first mistake in a text, else empty.
  std::string_view place() const { return error_ ? text(error_->place) : std::string_view(); }
  // Its owner is now the caller.
  stria_error* detach() { return error_.release(); }

 private:
  struct Release {
    void operator()(stria_error* error) const { error->release(error); }
  };
  static std::string_view text(stria_string from) { return {from.data, from.size}; }
  std::unique_ptr<stria_error, Release> error_;
};

#if defined(__cpp_exceptions)
inline void check(ReaderError error) { check(error.detach()); }
#endif

// ---- lists of structs, and of texts

template <typename T>
class PointerList {
 public:
  class Iterator {
   public:
    explicit Iterator(const T* const* at) : at_(at) {}
    const T& operator*() const { return **at_; }
    const T* operator->() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const T* const* at_;
  };
  PointerList(const T* const* data, uint64_t size) : data_(data), size_(size) {}
  Iterator begin() const { return Iterator(data_); }
  Iterator end() const { return Iterator(data_ + size_); }
  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](uint64_t i) const { return *data_[i]; }

 private:
  const T* const* data_;
  uint64_t size_;
};

template <typename T>
class ValueList {
 public:
  ValueList(const T* data, uint64_t size) : data_(data), size_(size) {}
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](uint64_t i) const { return data_[i]; }

 private:
  const T* data_;
  uint64_t size_;
};

inline std::string_view text_of(stria_string from) {
  return from.data ? std::string_view(from.data, from.size) : std::string_view();
}
inline stria_string string_of(std::string_view from) { return {from.data(), from.size()}; }

inline PointerList<stria_index> indices(const stria_block& block) {
  return {block.indices, block.index_count};
}
inline PointerList<stria_affine> constraints(const stria_block& block) {
  return {block.constraints, block.constraint_count};
}
inline PointerList<stria_refinement> refinements(const stria_block& block) {
  return {block.refinements, block.refinement_count};
}
inline PointerList<stria_statement> statements(const stria_block& block) {
  return {block.statements, block.statement_count};
}
inline PointerList<stria_affine> access(const stria_refinement& refinement) {
  return {refinement.access, refinement.access_count};
}
inline PointerList<stria_dimension> dimensions(const stria_refinement& refinement) {
  return {refinement.dimensions, refinement.dimension_count};
}
inline ValueList<stria_string> inputs(const stria_statement& statement) {
  return {statement.inputs, statement.input_count};
}
inline ValueList<stria_string> outputs(const stria_statement& statement) {
  return {statement.outputs, statement.output_count};
}
inline ValueList<stria_string> chosen(const stria_statement& statement) {
  return {statement.chosen, statement.chosen_count};
}
inline PointerList<stria_tag> parameters(const stria_statement& statement) {
  return {statement.parameters, statement.parameter_count};
}
inline ValueList<uint64_t> dependencies(const stria_statement& statement) {
  return {statement.dependencies, statement.dependency_count};
}
inline ValueList<stria_term> terms(const stria_affine& form) {
  return {form.terms, form.term_count};
}
// Of a block, an index, a refinement or a statement.
template <typename T>
PointerList<stria_tag> tags(const T& of) {
  return {of.tags, of.tag_count};
}
// Of a block or a refinement.
template <typename T>
PointerList<stria_unit> location(const T& of) {
  return {of.location, of.location_count};
}
// Null if there is no such tag.
template <typename T>
const stria_tag* find_tag(const T& of, std::string_view name) {
  for (const stria_tag& tag : tags(of))
    if (text_of(tag.name) == name) return &tag;
  return nullptr;
}
// By its name in the block; null if there is none.
inline const stria_refinement* find_refinement(const stria_block& block, std::string_view into) {
  for (const stria_refinement& one : refinements(block))
    if (text_of(one.into) == into) return &one;
  return nullptr;
}

// ---- programs

struct ReaderRelease {
  void operator()(stria_reader_program* program) const { stria_reader_release(program); }
  void operator()(stria_reader_tree* tree) const { stria_reader_tree_release(tree); }
  void operator()(stria_c_source* source) const { stria_reader_c_release(source); }
};

// Empty until read_program has filled it.
class ReaderProgram {
 public:
  const stria_program_view& operator*() const { return *stria_reader_view(handle_.get()); }
  const stria_program_view* operator->() const { return stria_reader_view(handle_.get()); }
  const stria_reader_program* handle() const { return handle_.get(); }
  stria_reader_program* changing() { return handle_.get(); }
  void reset(stria_reader_program* program) { handle_.reset(program); }

 private:
  std::unique_ptr<stria_reader_program, ReaderRelease> handle_;
};
inline ReaderError read_program(std::string_view name, std::string_view text,
                                ReaderProgram* program) {
  stria_reader_program* read = nullptr;
  if (stria_error* error = stria_reader_read(string_of(name), string_of(text), &read))
    return ReaderError(error);
  program->reset(read);
  return {};
}
inline ReaderError verify(const ReaderProgram& program) {
  return ReaderError(stria_reader_verify(program.handle()));
}
inline PointerList<stria_kernel_block> kernels(const stria_program_view& program) {
  return {program.kernels, program.kernel_count};
}
inline PointerList<stria_kernel_argument> arguments(const stria_kernel_block& kernel) {
  return {kernel.arguments, kernel.argument_count};
}

// ---- changes, for passes of the plugin's own

// `#name`, `#name=number`, `#name="text"`.
inline ReaderError set_tag(ReaderProgram& program, const stria_block& block,
                           std::string_view name) {
  stria_tag tag{};
  tag.size = sizeof tag;
  tag.name = string_of(name);
  return ReaderError(stria_reader_set_tag(program.changing(), &block, &tag));
}
inline ReaderError set_tag(ReaderProgram& program, const stria_block& block, std::string_view name,
                           int64_t value) {
  stria_tag tag{};
  tag.size = sizeof tag;
  tag.name = string_of(name);
  tag.kind = STRIA_VALUE_INTEGER;
  tag.integer = value;
  return ReaderError(stria_reader_set_tag(program.changing(), &block, &tag));
}
inline ReaderError set_tag(ReaderProgram& program, const stria_block& block, std::string_view name,
                           std::string_view value) {
  stria_tag tag{};
  tag.size = sizeof tag;
  tag.name = string_of(name);
  tag.kind = STRIA_VALUE_TEXT;
  tag.text = string_of(value);
  return ReaderError(stria_reader_set_tag(program.changing(), &block, &tag));
}
inline ReaderError remove_tag(ReaderProgram& program, const stria_block& block,
                              std::string_view name) {
  return ReaderError(stria_reader_remove_tag(program.changing(), &block, string_of(name)));
}
inline ReaderError replace(ReaderProgram& program, const stria_block& block,
                           std::string_view text) {
  return ReaderError(stria_reader_replace(program.changing(), &block, string_of(text)));
}
inline void append_text(void* state, stria_string name, stria_string text);
inline ReaderError print(const ReaderProgram& program, const stria_block& block,
                         std::string* text) {
  return ReaderError(stria_reader_block_text(program.handle(), &block, append_text, text));
}
inline ReaderError print(const ReaderProgram& program, std::string* text) {
  return ReaderError(stria_reader_program_text(program.handle(), append_text, text));
}

// ---- affine forms

inline ReaderError evaluate(const stria_affine& form, ValueList<stria_term> point, int64_t* value) {
  return ReaderError(stria_reader_evaluate(&form, point.begin(), point.size(), value));
}
inline ReaderError interval(const stria_affine& form, ValueList<stria_range> box, int64_t* lowest,
                            int64_t* highest) {
  return ReaderError(stria_reader_interval(&form, box.begin(), box.size(), lowest, highest));
}

// ---- texts: what a sink is called with, appended to a std::string

inline void append_text(void* state, stria_string, stria_string text) {
  static_cast<std::string*>(state)->append(text_of(text));
}
inline ReaderError print(const stria_affine& form, std::string* text) {
  return ReaderError(stria_reader_affine_text(&form, append_text, text));
}

// ---- trees and C

class ReaderTree {
 public:
  const stria_tree_view& operator*() const { return *stria_reader_tree_view(handle_.get()); }
  const stria_tree_view* operator->() const { return stria_reader_tree_view(handle_.get()); }
  const stria_reader_tree* handle() const { return handle_.get(); }
  void reset(stria_reader_tree* tree) { handle_.reset(tree); }

 private:
  std::unique_ptr<stria_reader_tree, ReaderRelease> handle_;
};
inline ReaderError build_tree(const ReaderProgram& program, uint64_t kernel, ReaderTree* tree,
                              const stria_tree_options* options = nullptr) {
  stria_reader_tree* built = nullptr;
  if (stria_error* error = stria_reader_build(program.handle(), kernel, options, &built))
    return ReaderError(error);
  tree->reset(built);
  return {};
}
inline ReaderError print(const ReaderTree& tree, std::string* text) {
  return ReaderError(stria_reader_tree_text(tree.handle(), append_text, text));
}

// The tree as nodes (stria/tree.h), which belong to it.
inline ReaderError nodes_of(const ReaderTree& tree, const stria_tree_nodes** nodes) {
  return ReaderError(stria_reader_tree_nodes(tree.handle(), nodes));
}
// Of stria_tree_nodes, or of a FOR, an IF or an ELEMENT_LOOP.
template <typename T>
PointerList<stria_tree_statement> body(const T& of) {
  return {of.body, of.body_count};
}
inline PointerList<stria_tree_expression> operands(const stria_tree_expression& expression) {
  return {expression.operands, expression.operand_count};
}
inline PointerList<stria_tree_operand> operands(const stria_tree_statement& statement) {
  return {statement.operands, statement.operand_count};
}
inline PointerList<stria_tree_parameter> parameters(const stria_tree_nodes& nodes) {
  return {nodes.parameters, nodes.parameter_count};
}
inline PointerList<stria_tree_array> arrays(const stria_tree_nodes& nodes) {
  return {nodes.arrays, nodes.array_count};
}
inline PointerList<stria_tree_variable> variables(const stria_tree_nodes& nodes) {
  return {nodes.variables, nodes.variable_count};
}

// The plugin's functions that the tree calls.
inline ValueList<stria_string> micro_kernels(const stria_tree_view& tree) {
  return {tree.micro_kernels, tree.micro_kernel_count};
}

// Kernels as C11; see stria/reader.h.
class CSource {
 public:
  // Out of memory is the only failure.
  ReaderError create() {
    stria_c_source* source = nullptr;
    if (stria_error* error = stria_reader_c_create(&source)) return ReaderError(error);
    handle_.reset(source);
    return {};
  }
  ReaderError add(const ReaderTree& tree) {
    return ReaderError(stria_reader_c_add(handle_.get(), tree.handle()));
  }
  ReaderError print(std::string* text) const {
    return ReaderError(stria_reader_c_text(handle_.get(), append_text, text));
  }

 private:
  std::unique_ptr<stria_c_source, ReaderRelease> handle_;
};

}  // namespace stria::sdk
