// SPDX-License-Identifier: Apache-2.0
#include "stria/reader/views.h"

#include <variant>

#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"

namespace stria::reader {
namespace {

stria_data_type type_of(DataType type) { return static_cast<stria_data_type>(type); }

int32_t direction_of(stripe::RefDir dir) {
  switch (dir) {
    case stripe::RefDir::none: return STRIA_ALLOCATION;
    case stripe::RefDir::in: return STRIA_IN;
    case stripe::RefDir::out: return STRIA_OUT;
    case stripe::RefDir::inout: return STRIA_INOUT;
  }
  return STRIA_ALLOCATION;
}

stria_aggregation aggregation_of(stripe::AggOp op) {
  switch (op) {
    case stripe::AggOp::add: return STRIA_ADD;
    case stripe::AggOp::mul: return STRIA_MUL;
    case stripe::AggOp::max: return STRIA_MAX;
    case stripe::AggOp::min: return STRIA_MIN;
  }
  return STRIA_ASSIGN;
}

stria_tag_class class_of(stripe::TagClass from) {
  switch (from) {
    case stripe::TagClass::semantics: return STRIA_TAG_SEMANTICS;
    case stripe::TagClass::hint: return STRIA_TAG_HINT;
    case stripe::TagClass::passes: return STRIA_TAG_PASSES;
    case stripe::TagClass::mark: return STRIA_TAG_MARK;
  }
  return STRIA_TAG_UNKNOWN;
}

}  // namespace

// ---- numbers and names

const stria_string* Views::text(const std::string& from) { return arena_.copy(text_of(from)); }

Views::List<const stria_string> Views::texts(const std::vector<std::string>& from) {
  return arena_.list<const stria_string>(from,
                                         [](const std::string& text) { return text_of(text); });
}

const stria_affine* Views::form(const Affine& from) {
  auto* out = arena_.make<stria_affine>();
  out->constant = from.constant();
  const auto terms = arena_.list<const stria_term>(from.terms(), [](const Affine::Term& term) {
    return stria_term{text_of(term.first), term.second};
  });
  out->terms = terms.data;
  out->term_count = terms.count;
  return out;
}

Views::List<const stria_affine*> Views::forms(const std::vector<Affine>& from) {
  return arena_.list<const stria_affine*>(from, [&](const Affine& one) { return form(one); });
}

const stria_tag* Views::tag(const std::string& name, const stripe::TagValue& value, bool is_known) {
  auto* out = arena_.make<stria_tag>();
  out->name = text_of(name);
  if (const auto* truth = std::get_if<bool>(&value)) {
    out->kind = STRIA_VALUE_BOOL;
    out->integer = *truth ? 1 : 0;
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    out->kind = STRIA_VALUE_INTEGER;
    out->integer = *integer;
  } else if (const auto* number = std::get_if<double>(&value)) {
    out->kind = STRIA_VALUE_NUMBER;
    out->number = *number;
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    out->kind = STRIA_VALUE_TEXT;
    out->text = text_of(*text);
  }
  if (const stripe::KnownTag* known = is_known ? stripe::known_tag(name) : nullptr) {
    out->meaning_class = class_of(known->meaning_class);
    out->meaning = text_of(known->meaning);
  }
  return out;
}

Views::List<const stria_tag*> Views::tags(const stripe::Tags& from) {
  return arena_.list<const stria_tag*>(
      from.all(), [&](const stripe::Tag& one) { return tag(one.name, one.value, true); });
}

const stria_owner* Views::owner(const std::string& name, const stripe::BitFieldForm& from) {
  auto* out = arena_.make<stria_owner>();
  out->name = text_of(name);
  out->constant = from.constant;
  const auto fields =
      arena_.list<const stria_bit_field*>(from.fields, [&](const stripe::BitField& one) {
        auto* field = arena_.make<stria_bit_field>();
        field->dimension = one.dim;
        field->low_bit = one.low_bit;
        field->bits = one.bits;
        field->factor = one.factor;
        return field;
      });
  out->fields = fields.data;
  out->field_count = fields.count;
  return out;
}

const stria_unit* Views::unit(const stripe::LocationUnit& from) {
  auto* out = arena_.make<stria_unit>();
  out->name = text_of(from.name);
  const auto instances = forms(from.units);
  out->instances = instances.data;
  out->instance_count = instances.count;
  const auto owners = arena_.list<const stria_owner*>(
      from.owners, [&](const auto& one) { return owner(one.first, one.second); });
  out->owners = owners.data;
  out->owner_count = owners.count;
  return out;
}

Views::List<const stria_unit*> Views::units(const stripe::Location& from) {
  return arena_.list<const stria_unit*>(from.path,
                                        [&](const stripe::LocationUnit& one) { return unit(one); });
}

// ---- blocks

const stria_index* Views::index(const stripe::Index& from) {
  auto* out = arena_.make<stria_index>();
  out->name = text_of(from.name);
  out->range = from.range;
  out->from = from.affine ? form(*from.affine) : nullptr;
  const auto marks = tags(from.tags);
  out->tags = marks.data;
  out->tag_count = marks.count;
  return out;
}

const stria_refinement* Views::refinement(const stripe::Refinement& from) {
  auto* out = arena_.make<stria_refinement>();
  out->direction = direction_of(from.dir);
  out->type = type_of(from.shape.type);
  out->from = text_of(from.from);
  out->into = text_of(from.into);
  const auto access = forms(from.access);
  out->access = access.data;
  out->access_count = access.count;
  out->flat_access = form(made_.emplace_back(from.flat_access()));
  const auto dimensions = arena_.list<const stria_dimension*>(from.shape.dims, [&](const Dim& one) {
    auto* dimension = arena_.make<stria_dimension>();
    dimension->elements = one.size;
    dimension->stride = one.stride;
    return dimension;
  });
  out->dimensions = dimensions.data;
  out->dimension_count = dimensions.count;
  out->span_bytes = from.shape.span_bytes();
  out->aggregation = from.agg ? aggregation_of(from.agg->op) : STRIA_ASSIGN;
  out->aggregation_type = type_of(from.agg ? from.agg->type : from.shape.type);
  const auto location = units(from.location);
  out->location = location.data;
  out->location_count = location.count;
  out->offset_bytes = from.offset_bytes;
  if (from.swizzle) {
    out->swizzle_bits = from.swizzle->bits;
    out->swizzle_base = from.swizzle->base;
    out->swizzle_shift = from.swizzle->shift;
  }
  out->is_constant = from.is_const ? 1 : 0;
  const auto marks = tags(from.tags);
  out->tags = marks.data;
  out->tag_count = marks.count;
  return out;
}

template <typename From>
void Views::set_access(const From& from, const std::string& input, const std::string& output,
                       stria_statement& to) {
  to.inputs = text(input);
  to.outputs = text(output);
  to.input_count = to.output_count = 1;
  const auto chosen = texts(from.at);
  to.chosen = chosen.data;
  to.chosen_count = chosen.count;
}

void Views::set_operation(const stripe::Load& from, stria_statement& to) {
  to.kind = STRIA_LOAD;
  set_access(from, from.from, from.into, to);
}

void Views::set_operation(const stripe::Store& from, stria_statement& to) {
  to.kind = STRIA_STORE;
  set_access(from, from.from, from.into, to);
}

void Views::set_operation(const stripe::LoadIndex& from, stria_statement& to) {
  to.kind = STRIA_LOAD_INDEX;
  to.type = type_of(from.type);
  to.affine = form(from.from);
  to.outputs = text(from.into);
  to.output_count = 1;
}

void Views::set_operation(const stripe::Constant& from, stria_statement& to) {
  to.kind = STRIA_CONSTANT;
  to.type = type_of(from.value.type);
  if (is_float(from.value.type))
    to.number = from.value.f;
  else
    to.integer = from.value.i;
  to.outputs = text(from.into);
  to.output_count = 1;
}

void Views::set_operation(const stripe::Intrinsic& from, stria_statement& to) {
  to.kind = STRIA_INTRINSIC;
  to.type = type_of(from.type);
  to.name = text_of(from.name);
  const auto inputs = texts(from.inputs), outputs = texts(from.outputs);
  to.inputs = inputs.data;
  to.input_count = inputs.count;
  to.outputs = outputs.data;
  to.output_count = outputs.count;
}

void Views::set_operation(const stripe::Box<stripe::Special>& from, stria_statement& to) {
  to.kind = STRIA_SPECIAL;
  to.name = text_of(from->name);
  const auto inputs = texts(from->inputs), outputs = texts(from->outputs);
  to.inputs = inputs.data;
  to.input_count = inputs.count;
  to.outputs = outputs.data;
  to.output_count = outputs.count;
  const auto parameters = arena_.list<const stria_tag*>(
      from->params, [&](const auto& one) { return tag(one.first, one.second, false); });
  to.parameters = parameters.data;
  to.parameter_count = parameters.count;
}

void Views::set_operation(const stripe::Box<stripe::Block>& from, stria_statement& to) {
  to.kind = STRIA_BLOCK;
  to.block = block(*from);
}

const stria_statement* Views::statement(const stripe::Statement& from) {
  auto* out = arena_.make<stria_statement>();
  std::visit([&](const auto& operation) { set_operation(operation, *out); }, from.op);
  const auto dependencies = arena_.list<const uint64_t>(
      from.deps, [](int64_t position) { return static_cast<uint64_t>(position); });
  out->dependencies = dependencies.data;
  out->dependency_count = dependencies.count;
  const auto marks = tags(from.tags);
  out->tags = marks.data;
  out->tag_count = marks.count;
  return out;
}

const stria_block* Views::block(const stripe::Block& from) {
  auto* out = arena_.make<stria_block>();
  out->name = text_of(from.name);
  const auto location = units(from.location);
  out->location = location.data;
  out->location_count = location.count;
  const auto marks = tags(from.tags);
  out->tags = marks.data;
  out->tag_count = marks.count;
  const auto indices = arena_.list<const stria_index*>(
      from.idxs, [&](const stripe::Index& one) { return index(one); });
  out->indices = indices.data;
  out->index_count = indices.count;
  const auto constraints = forms(from.constraints);
  out->constraints = constraints.data;
  out->constraint_count = constraints.count;
  const auto refinements = arena_.list<const stria_refinement*>(
      from.refs, [&](const stripe::Refinement& one) { return refinement(one); });
  out->refinements = refinements.data;
  out->refinement_count = refinements.count;
  const auto statements = arena_.list<const stria_statement*>(
      from.stmts, [&](const stripe::Statement& one) { return statement(one); });
  out->statements = statements.data;
  out->statement_count = statements.count;
  const auto comments = texts(from.comments);
  out->comments = comments.data;
  out->comment_count = comments.count;
  return out;
}

// ---- the program

const stria_kernel_block* Views::kernel(const semtree::KernelBlock& from,
                                        const stripe::Program& program,
                                        const stria_program_view& view) {
  auto* out = arena_.make<stria_kernel_block>();
  out->name = text_of(from.block->name);
  out->part = from.in_prologue ? STRIA_PROLOGUE : STRIA_MAIN;
  out->statement = static_cast<uint64_t>(from.statement);
  const stria_block& part = from.in_prologue ? *view.prologue : *view.main;
  // A special has a block that was made for it.
  const auto position = static_cast<size_t>(from.statement);
  const stria_block* seen = part.statements[position]->block;
  out->block = seen != nullptr ? seen : block(*from.block);
  const stripe::Block& around = from.in_prologue ? *program.prologue() : *program.main();
  const auto arguments = arena_.list<const stria_kernel_argument*>(
      stripe::kernel_arguments(*from.block), [&](const stripe::Refinement* ref) {
        auto* argument = arena_.make<stria_kernel_argument>();
        argument->name = text_of(ref->from);
        argument->direction = direction_of(ref->dir);
        argument->type = type_of(ref->shape.type);
        const auto number = static_cast<size_t>(around.find_ref(ref->from) - around.refs.data());
        argument->tensor = part.refinements[number];
        argument->bytes = static_cast<uint64_t>(argument->tensor->span_bytes);
        return argument;
      });
  out->arguments = arguments.data;
  out->argument_count = arguments.count;
  return out;
}

const stria_program_view* Views::of(const stripe::Program& program,
                                    const semtree::ProgramKernels& kernels) {
  auto* out = arena_.make<stria_program_view>();
  out->entry = block(program.entry);
  for (uint64_t i = 0; i < out->entry->statement_count; ++i) {
    const stripe::Block* part = program.entry.stmts[i].block();
    if (part != nullptr && part == program.prologue())
      out->prologue = out->entry->statements[i]->block;
    if (part != nullptr && part == program.main()) out->main = out->entry->statements[i]->block;
  }
  const auto list_of_kernels = arena_.list<const stria_kernel_block*>(
      kernels.kernels, [&](const semtree::KernelBlock& one) { return kernel(one, program, *out); });
  out->kernels = list_of_kernels.data;
  out->kernel_count = list_of_kernels.count;
  return out;
}

}  // namespace stria::reader
