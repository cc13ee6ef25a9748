// SPDX-License-Identifier: Apache-2.0
// The functions of stria/reader.h.
#include "stria/reader.h"

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "stria/base/shown_text.h"
#include "stria/reader/affine_value.h"
#include "stria/reader/changes.h"
#include "stria/reader/errors.h"
#include "stria/reader/host_c.h"
#include "stria/reader/tree_nodes.h"
#include "stria/reader/views.h"
#include "stria/semtree/build/build.h"
#include "stria/semtree/c/c_printer.h"
#include "stria/semtree/c/source_names.h"
#include "stria/semtree/peephole/peepholes.h"
#include "stria/semtree/tree/print.h"
#include "stria/stripe/agents.h"
#include "stria/stripe/text/lexer.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/tree.h"

using namespace stria;

static_assert(STRIA_READER_STRIPE_MAJOR == stripe::kTextMajor &&
              STRIA_READER_STRIPE_MINOR == stripe::kTextMinorOfAgents);
static_assert(STRIA_FP64 + 1 == kDataTypeCount);
static_assert(STRIA_U2 + 1 == kAllDataTypeCount);

struct stria_reader_program {
  stripe::Program program;
  semtree::ProgramKernels kernels;
  reader::Views views;
  const stria_program_view* view = nullptr;
  reader::Changes changes;
};

struct stria_reader_tree {
  semtree::Function function;
  std::string symbol;
  std::vector<stria_string> notes;
  std::set<std::string> micro_kernels;
  std::vector<stria_string> micro_kernel_names;
  stria_tree_view view{};
  // Made when they are asked for: who wants C alone has no use for them.
  mutable std::mutex mutex;
  mutable std::unique_ptr<reader::TreeNodes> nodes;
};

struct stria_c_source {
  semtree::CPrinter printer{reader::host_c()};
  std::string kernels;
  std::set<std::string> symbols;
  std::set<std::string> micro_kernels;
};

namespace {

std::string string_of(stria_string text) {
  return text.data ? std::string(text.data, text.size) : std::string();
}

// A member of a struct that may be shorter than ours.
#define STRIA_GIVEN(from, member, otherwise)                                                    \
  ((from).size >= offsetof(std::remove_cvref_t<decltype(from)>, member) + sizeof((from).member) \
       ? (from).member                                                                          \
       : (otherwise))

constexpr uint64_t kMostLanes = 1024;
constexpr uint64_t kMostVectorBytes = 64;

Status set_own(const stria_tree_options& given, semtree::BuildOptions& out) {
  const uint64_t grid[] = {STRIA_GIVEN(given, largest_grid_x, 0),
                           STRIA_GIVEN(given, largest_grid_y, 0),
                           STRIA_GIVEN(given, largest_grid_z, 0)};
  for (size_t d = 0; d < 3; ++d)
    if (grid[d] > 0)
      out.largest_grid[d] = static_cast<int64_t>(std::min<uint64_t>(grid[d], INT64_MAX));
  const uint64_t subgroup = STRIA_GIVEN(given, subgroup_lanes, 0);
  if (subgroup > kMostLanes)
    return invalid_argument("subgroup_lanes is {}; {} at most", subgroup, kMostLanes);
  out.subgroup_lanes = static_cast<int64_t>(subgroup);
  const std::string unit = string_of(STRIA_GIVEN(given, subgroup_unit, stria_string{}));
  if (!unit.empty()) out.subgroup_unit = unit;
  const uint64_t bytes = STRIA_GIVEN(given, shared_vector_bytes, 0);
  if (bytes > kMostVectorBytes)
    return invalid_argument("shared_vector_bytes is {}; {} at most", bytes, kMostVectorBytes);
  out.shared_vector_bytes = static_cast<int64_t>(bytes);
  const int32_t lanes = STRIA_GIVEN(given, most_lanes, 0);
  if (lanes < 0 || static_cast<uint64_t>(lanes) > kMostLanes)
    return invalid_argument("most_lanes is {}; 0 to {}", lanes, kMostLanes);
  if (lanes > 0) out.max_lanes = lanes;
  out.only_powers_of_two_lanes = STRIA_GIVEN(given, only_powers_of_two, 0) != 0;
  out.loads_across_slots = STRIA_GIVEN(given, loads_across_slots, 0) != 0;
  if (STRIA_GIVEN(given, no_micro_kernels, 0) != 0) out.micro_kernels = false;
  return {};
}

Result<semtree::BuildOptions> build_options(const stria_tree_options* given) {
  semtree::BuildOptions out = reader::host_c_options();
  if (!given) return out;
  const uint64_t stack = STRIA_GIVEN(*given, stack_limit_bytes, 0);
  if (stack > 0) out.stack_limit_bytes = static_cast<int64_t>(std::min<uint64_t>(stack, INT64_MAX));
  const std::string unit = string_of(STRIA_GIVEN(*given, register_unit, stria_string{}));
  if (!unit.empty()) out.register_unit = unit;
  out.narrow_indices = STRIA_GIVEN(*given, narrow_indices, 0) != 0;
  if (STRIA_GIVEN(*given, no_peepholes, 0) != 0) out.peepholes = semtree::Peepholes::none();
  STRIA_RETURN_IF_ERROR(set_own(*given, out));
  return out;
}

void fill(stria_reader_tree& tree, uint64_t kernel) {
  const semtree::Function& function = tree.function;
  stria_tree_view& view = tree.view;
  view.size = sizeof view;
  view.symbol = reader::text_of(tree.symbol);
  view.kernel = kernel;
  view.index_type = static_cast<stria_data_type>(function.index_type);
  view.trip_count = static_cast<uint64_t>(function.trip_count);
  view.group_lanes = static_cast<uint64_t>(function.group_lanes);
  for (size_t d = 0; d < 3; ++d)
    view.grid[d] = d < function.grid.size() ? static_cast<uint64_t>(function.grid[d].size) : 1;
  if (function.grid.empty()) view.grid[0] = view.trip_count;
  for (const std::string& note : function.notes) tree.notes.push_back(reader::text_of(note));
  view.notes = tree.notes.data();
  view.note_count = tree.notes.size();
  semtree::walk(function.body, [&](const semtree::Statement& statement) {
    if (const auto* call = std::get_if<semtree::MicroKernel>(&statement.op))
      tree.micro_kernels.insert(call->symbol);
  });
  for (const std::string& symbol : tree.micro_kernels)
    tree.micro_kernel_names.push_back(reader::text_of(symbol));
  view.micro_kernels = tree.micro_kernel_names.data();
  view.micro_kernel_count = tree.micro_kernel_names.size();
}

}  // namespace

extern "C" {

stria_error* stria_reader_read(stria_string name, stria_string text,
                               stria_reader_program** program) {
  return reader::guarded([&]() -> stria_error* {
    const SourceText source{string_of(name), string_of(text)};
    Result<stripe::Program> parsed = stripe::parse(source);
    if (!parsed) return reader::error_at(parsed.status(), source.name);
    auto out = std::make_unique<stria_reader_program>();
    out->program = *std::move(parsed);
    Result<semtree::ProgramKernels> kernels = semtree::kernels_of(out->program);
    if (!kernels) return reader::error_of(kernels.status().with_context(source.name));
    out->kernels = *std::move(kernels);
    out->view = out->views.of(out->program, out->kernels);
    *program = out.release();
    return nullptr;
  });
}

const stria_program_view* stria_reader_view(const stria_reader_program* program) {
  return program->view;
}

void stria_reader_release(stria_reader_program* program) { delete program; }

stria_error* stria_reader_verify(const stria_reader_program* program) {
  return reader::guarded([&]() -> stria_error* {
    const Status status = stripe::verify(program->program);
    return status.ok() ? nullptr : reader::error_of(status);
  });
}

stria_error* stria_reader_set_tag(stria_reader_program* program, const stria_block* block,
                                  const stria_tag* tag) {
  return reader::guarded([&]() -> stria_error* {
    stripe::TagValue value;
    if (tag->kind == STRIA_VALUE_INTEGER) value = tag->integer;
    if (tag->kind == STRIA_VALUE_TEXT) value = string_of(tag->text);
    const std::string name = string_of(tag->name);
    if (!stripe::is_identifier(name))
      return reader::error_of(
          invalid_argument("'{}' is no name of a tag: letters, digits and '_'", shown_name(name)));
    if (tag->kind != STRIA_VALUE_NONE && tag->kind != STRIA_VALUE_INTEGER &&
        tag->kind != STRIA_VALUE_TEXT)
      return reader::error_of(invalid_argument(
          "the tag '{}' has a value of kind {}: none (0), an integer (2) and a text (4) there are",
          name, tag->kind));
    return reader::failure(
        program->changes.change(program->program, *program->view, block, [&](stripe::Block& at) {
          at.tags.set(name, value);
          return Status();
        }));
  });
}

stria_error* stria_reader_remove_tag(stria_reader_program* program, const stria_block* block,
                                     stria_string name) {
  return reader::guarded([&]() -> stria_error* {
    return reader::failure(
        program->changes.change(program->program, *program->view, block, [&](stripe::Block& at) {
          at.tags.remove(string_of(name));
          return Status();
        }));
  });
}

stria_error* stria_reader_replace(stria_reader_program* program, const stria_block* block,
                                  stria_string text) {
  return reader::guarded([&]() -> stria_error* {
    const SourceText source{"block", string_of(text)};
    const Status status = program->changes.replace(program->program, *program->view, block, source);
    return status.ok() ? nullptr : reader::error_at(status, source.name);
  });
}

stria_error* stria_reader_block_text(const stria_reader_program* program, const stria_block* block,
                                     stria_text_sink sink, void* state) {
  return reader::guarded([&]() -> stria_error* {
    const Result<std::string> text =
        program->changes.text_of(program->program, *program->view, block);
    if (!text) return reader::error_of(text.status());
    sink(state, reader::text_of("stripe"), reader::text_of(*text));
    return nullptr;
  });
}

stria_error* stria_reader_program_text(const stria_reader_program* program, stria_text_sink sink,
                                       void* state) {
  return reader::guarded([&]() -> stria_error* {
    const std::string text = program->changes.text(program->program);
    sink(state, reader::text_of("stripe"), reader::text_of(text));
    return nullptr;
  });
}

const stria_version_range* stria_reader_stripe_versions(void) {
  static const stria_version_range versions = {sizeof(stria_version_range), nullptr,
                                               STRIA_READER_STRIPE_MAJOR, 0,
                                               STRIA_READER_STRIPE_MINOR};
  return &versions;
}

stria_string stria_reader_type_name(stria_data_type type) {
  if (type < 0 || type >= kAllDataTypeCount) return {nullptr, 0};
  return reader::text_of(name_of(static_cast<DataType>(type)));
}

uint64_t stria_reader_type_bytes(stria_data_type type) {
  if (type < 0 || type >= kAllDataTypeCount) return 0;
  if (type == STRIA_BOOL) return 1;  // a truth value is one bit, its element a byte
  return static_cast<uint64_t>(bit_width(static_cast<DataType>(type))) / 8;
}

stria_error* stria_reader_evaluate(const stria_affine* form, const stria_term* point,
                                   uint64_t count, int64_t* value) {
  return reader::guarded([&]() -> stria_error* {
    const Result<int64_t> result = reader::evaluate(*form, {point, count});
    if (!result) return reader::error_of(result.status());
    *value = *result;
    return nullptr;
  });
}

stria_error* stria_reader_interval(const stria_affine* form, const stria_range* box, uint64_t count,
                                   int64_t* lowest, int64_t* highest) {
  return reader::guarded([&]() -> stria_error* {
    const Result<Interval> result = reader::interval(*form, {box, count});
    if (!result) return reader::error_of(result.status());
    *lowest = result->lower;
    *highest = result->upper;
    return nullptr;
  });
}

stria_error* stria_reader_affine_text(const stria_affine* form, stria_text_sink sink, void* state) {
  return reader::guarded([&]() -> stria_error* {
    const std::string text = reader::affine_of(*form).to_string();
    sink(state, {nullptr, 0}, reader::text_of(text));
    return nullptr;
  });
}

stria_error* stria_reader_build(const stria_reader_program* program, uint64_t kernel,
                                const stria_tree_options* options, stria_reader_tree** tree) {
  return reader::guarded([&]() -> stria_error* {
    const auto& kernels = program->kernels.kernels;
    if (kernel >= kernels.size())
      return reader::error_of(
          invalid_argument("kernel {} of a program with {} kernels", kernel, kernels.size()));
    const semtree::KernelBlock& from = kernels[kernel];
    const Result<semtree::BuildOptions> wanted = build_options(options);
    if (!wanted) return reader::error_of(wanted.status());
    Result<semtree::Function> function = semtree::build(*from.block, *from.parent, *wanted);
    if (!function)
      return reader::error_of(
          function.status().with_context(fmt::format("kernel '{}'", from.block->name)));
    auto out = std::make_unique<stria_reader_tree>();
    out->function = *std::move(function);
    out->symbol = semtree::kernel_symbol(kernel, from.block->name);
    fill(*out, kernel);
    *tree = out.release();
    return nullptr;
  });
}

const stria_tree_view* stria_reader_tree_view(const stria_reader_tree* tree) { return &tree->view; }

stria_error* stria_reader_tree_text(const stria_reader_tree* tree, stria_text_sink sink,
                                    void* state) {
  return reader::guarded([&]() -> stria_error* {
    const std::string text = semtree::print(tree->function);
    sink(state, tree->view.symbol, reader::text_of(text));
    return nullptr;
  });
}

stria_error* stria_reader_tree_nodes(const stria_reader_tree* tree,
                                     const stria_tree_nodes** nodes) {
  return reader::guarded([&]() -> stria_error* {
    const std::lock_guard lock(tree->mutex);
    if (!tree->nodes) tree->nodes = std::make_unique<reader::TreeNodes>(tree->function);
    *nodes = tree->nodes->nodes();
    return nullptr;
  });
}

stria_string stria_reader_operation_name(stria_tree_operation operation) {
  const std::optional<semtree::Op> op = reader::operation_of(operation);
  return op ? reader::text_of(semtree::name_of(*op)) : stria_string{nullptr, 0};
}

void stria_reader_tree_release(stria_reader_tree* tree) { delete tree; }

stria_error* stria_reader_c_create(stria_c_source** source) {
  return reader::guarded([&]() -> stria_error* {
    *source = std::make_unique<stria_c_source>().release();
    return nullptr;
  });
}

stria_error* stria_reader_c_add(stria_c_source* source, const stria_reader_tree* tree) {
  return reader::guarded([&]() -> stria_error* {
    if (source->symbols.count(tree->symbol) > 0)
      return reader::error_of(
          invalid_argument("the source has a kernel '{}' already", tree->symbol));
    Result<std::string> text = source->printer.add(tree->function, tree->symbol, 1);
    if (!text)
      return reader::error_of(
          text.status().with_context(fmt::format("kernel '{}'", tree->function.name)));
    source->kernels += *text + reader::entry_point(tree->symbol, tree->function.params.size());
    source->symbols.insert(tree->symbol);
    source->micro_kernels.insert(tree->micro_kernels.begin(), tree->micro_kernels.end());
    return nullptr;
  });
}

stria_error* stria_reader_c_text(const stria_c_source* source, stria_text_sink sink, void* state) {
  return reader::guarded([&]() -> stria_error* {
    const std::string text = source->printer.common() +
                             reader::micro_kernel_variables(source->micro_kernels) +
                             source->kernels;
    sink(state, reader::text_of("kernels.c"), reader::text_of(text));
    return nullptr;
  });
}

void stria_reader_c_release(stria_c_source* source) { delete source; }

}  // extern "C"
