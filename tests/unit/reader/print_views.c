// SPDX-License-Identifier: Apache-2.0
#include "print_views.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct printer {
  void (*out)(void* state, const char* text);
  void* state;
} printer;

static void print(printer* to, const char* format, ...) {
  char few[256];
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(few, sizeof few, format, values);
  va_end(values);
  if (length >= 0 && (size_t)length < sizeof few) {
    to->out(to->state, few);
    return;
  }
  char* many = malloc((size_t)length + 1);
  if (!many) abort();
  va_start(values, format);
  vsnprintf(many, (size_t)length + 1, format, values);
  va_end(values);
  to->out(to->state, many);
  free(many);
}

static void print_string(printer* to, stria_string text) {
  print(to, "%.*s", (int)text.size, text.data ? text.data : "");
}

static void print_quoted(printer* to, stria_string text) {
  print(to, "\"");
  for (uint64_t i = 0; i < text.size; ++i) {
    const unsigned char c = (unsigned char)text.data[i];
    if (c == '"' || c == '\\')
      print(to, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      print(to, "\\x%02x", c);
    else
      print(to, "%c", c);
  }
  print(to, "\"");
}

static void print_number(printer* to, double number) {
  if (isnan(number))
    print(to, "nan");
  else if (isinf(number))
    print(to, number < 0 ? "-inf" : "inf");
  else
    print(to, number == floor(number) && fabs(number) < 1e15 ? "%.1f" : "%.17g", number);
}

static void print_value(printer* to, const stria_tag* tag) {
  switch (tag->kind) {
    case STRIA_VALUE_BOOL: print(to, tag->integer ? "=true" : "=false"); break;
    case STRIA_VALUE_INTEGER: print(to, "=%" PRId64, tag->integer); break;
    case STRIA_VALUE_NUMBER:
      print(to, "=");
      print_number(to, tag->number);
      break;
    case STRIA_VALUE_TEXT:
      print(to, "=");
      print_quoted(to, tag->text);
      break;
    default: break;
  }
}

static void print_tags(printer* to, const stria_tag* const* tags, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    print(to, "#");
    print_string(to, tags[i]->name);
    print_value(to, tags[i]);
    print(to, " ");
  }
}

static void print_form(printer* to, const stria_affine* form) {
  print(to, "%" PRId64, form->constant);
  for (uint64_t i = 0; i < form->term_count; ++i) {
    const int64_t factor = form->terms[i].coefficient;
    print(to, " %c %" PRIu64 "*", factor < 0 ? '-' : '+',
          factor < 0 ? 0 - (uint64_t)factor : (uint64_t)factor);
    print_string(to, form->terms[i].name);
  }
}

static void print_forms(printer* to, const stria_affine* const* forms, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) print(to, ", ");
    print_form(to, forms[i]);
  }
}

static void print_owner(printer* to, const stria_owner* owner) {
  print_string(to, owner->name);
  print(to, " = ");
  if (owner->constant != 0 || owner->field_count == 0) print(to, "%" PRId64, owner->constant);
  for (uint64_t i = 0; i < owner->field_count; ++i) {
    const stria_bit_field* field = owner->fields[i];
    const int first = i == 0 && owner->constant == 0;
    print(to, "%s%" PRIu64 "*d%d[%d+:%d]",
          field->factor < 0 ? (first ? "-" : " - ") : (first ? "" : " + "),
          field->factor < 0 ? 0 - (uint64_t)field->factor : (uint64_t)field->factor,
          (int)field->dimension, (int)field->low_bit, (int)field->bits);
  }
}

static void print_location(printer* to, const stria_unit* const* units, uint64_t count) {
  if (count == 0) return;
  print(to, "<");
  for (uint64_t u = 0; u < count; ++u) {
    if (u > 0) print(to, "/");
    print_string(to, units[u]->name);
    if (units[u]->instance_count > 0) {
      print(to, "[");
      print_forms(to, units[u]->instances, units[u]->instance_count);
      print(to, "]");
    }
    if (units[u]->owner_count == 0) continue;
    print(to, "(");
    for (uint64_t i = 0; i < units[u]->owner_count; ++i) {
      if (i > 0) print(to, ", ");
      print_owner(to, units[u]->owners[i]);
    }
    print(to, ")");
  }
  print(to, ">");
}

static const char* const kAggregations[] = {"assign", "add", "mul", "max", "min"};
static const char* const kDirections[] = {"none", "in", "out", "inout"};

static void print_refinement(printer* to, const stria_refinement* ref) {
  print_tags(to, ref->tags, ref->tag_count);
  print(to, "%s", kDirections[ref->direction]);
  if (ref->is_constant) print(to, " const");
  if (ref->direction == STRIA_ALLOCATION)
    print(to, " new@0x%08" PRIx64, (uint64_t)ref->offset_bytes);
  print_location(to, ref->location, ref->location_count);
  print(to, " ");
  print_string(to, ref->into);
  if (ref->from.size > 0) {
    print(to, " = ");
    print_string(to, ref->from);
  }
  print(to, "[");
  print_forms(to, ref->access, ref->access_count);
  print(to, "]");
  if (ref->aggregation != STRIA_ASSIGN) {
    print(to, ":%s.", kAggregations[ref->aggregation]);
    print_string(to, stria_reader_type_name(ref->aggregation_type));
  }
  print(to, " ");
  print_string(to, stria_reader_type_name(ref->type));
  print(to, "(");
  for (uint64_t i = 0; i < ref->dimension_count; ++i)
    print(to, "%s%" PRId64 ":%" PRId64, i > 0 ? ", " : "", ref->dimensions[i]->elements,
          ref->dimensions[i]->stride);
  print(to, ")");
  if (ref->swizzle_bits > 0)
    print(to, " swizzle(%d, %d, %d)", (int)ref->swizzle_bits, (int)ref->swizzle_base,
          (int)ref->swizzle_shift);
  print(to, "\n");
}

static void print_names(printer* to, const char* mark, const stria_string* names, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    print(to, "%s%s", i > 0 ? ", " : "", mark);
    print_string(to, names[i]);
  }
}

static void print_chosen(printer* to, const stria_statement* s) {
  if (s->chosen_count == 0) return;
  print(to, "[");
  for (uint64_t i = 0; i < s->chosen_count; ++i) {
    print(to, "%s%s", i > 0 ? ", " : "", s->chosen[i].size > 0 ? "$" : "0");
    print_string(to, s->chosen[i]);
  }
  print(to, "]");
}

static void print_block(printer* to, const stria_block* block);

static void print_results(printer* to, const stria_statement* s) {
  if (s->output_count != 1) print(to, "(");
  print_names(to, "$", s->outputs, s->output_count);
  print(to, s->output_count != 1 ? ") = " : " = ");
}

static void print_constant(printer* to, const stria_statement* s) {
  print_results(to, s);
  print(to, "(");
  print_string(to, stria_reader_type_name(s->type));
  print(to, ")");
  if (s->type == STRIA_BOOL)
    print(to, s->integer ? "true" : "false");
  else if (s->type >= STRIA_FP16)
    print_number(to, s->number);
  else if (s->type == STRIA_U64)
    print(to, "%" PRIu64, (uint64_t)s->integer);
  else
    print(to, "%" PRId64, s->integer);
}

static void print_special(printer* to, const stria_statement* s) {
  print(to, "special ");
  print_string(to, s->name);
  print(to, "(");
  print_names(to, "", s->inputs, s->input_count);
  if (s->output_count > 0) print(to, "; ");
  print_names(to, "", s->outputs, s->output_count);
  print(to, ")");
  if (s->parameter_count == 0) return;
  print(to, "{");
  for (uint64_t i = 0; i < s->parameter_count; ++i) {
    if (i > 0) print(to, ", ");
    print_string(to, s->parameters[i]->name);
    print_value(to, s->parameters[i]);
  }
  print(to, "}");
}

static void print_statement(printer* to, const stria_statement* s, uint64_t number) {
  print(to, "%" PRIu64, number);
  for (uint64_t i = 0; i < s->dependency_count; ++i)
    print(to, "%s%" PRIu64, i > 0 ? ", " : "[", s->dependencies[i]);
  print(to, s->dependency_count > 0 ? "]: " : ": ");
  print_tags(to, s->tags, s->tag_count);
  switch (s->kind) {
    case STRIA_LOAD:
      print_results(to, s);
      print(to, "load(");
      print_string(to, s->inputs[0]);
      print_chosen(to, s);
      print(to, ")");
      break;
    case STRIA_STORE:
      print_string(to, s->outputs[0]);
      print_chosen(to, s);
      print(to, " = store($");
      print_string(to, s->inputs[0]);
      print(to, ")");
      break;
    case STRIA_LOAD_INDEX:
      print_results(to, s);
      print(to, "load_index.");
      print_string(to, stria_reader_type_name(s->type));
      print(to, "(");
      print_form(to, s->affine);
      print(to, ")");
      break;
    case STRIA_CONSTANT: print_constant(to, s); break;
    case STRIA_INTRINSIC:
      print_results(to, s);
      print_string(to, s->name);
      print(to, ".");
      print_string(to, stria_reader_type_name(s->type));
      print(to, "(");
      print_names(to, "$", s->inputs, s->input_count);
      print(to, ")");
      break;
    case STRIA_SPECIAL: print_special(to, s); break;
    case STRIA_BLOCK: print_block(to, s->block); break;
    default: print(to, "? a statement of kind %d", (int)s->kind);
  }
  print(to, "\n");
}

static void print_block(printer* to, const stria_block* block) {
  print_tags(to, block->tags, block->tag_count);
  print(to, "block");
  print_location(to, block->location, block->location_count);
  print(to, " [");
  for (uint64_t i = 0; i < block->index_count; ++i) {
    const stria_index* index = block->indices[i];
    if (i > 0) print(to, ", ");
    print_tags(to, index->tags, index->tag_count);
    print_string(to, index->name);
    print(to, ":%" PRId64, index->range);
    if (!index->from) continue;
    print(to, " = ");
    print_form(to, index->from);
  }
  print(to, "] (");
  if (block->name.size > 0) {
    print(to, " // ");
    print_string(to, block->name);
  }
  print(to, "\n");
  for (uint64_t i = 0; i < block->comment_count; ++i) {
    print(to, block->comments[i].size > 0 ? "// " : "//");
    print_string(to, block->comments[i]);
    print(to, "\n");
  }
  for (uint64_t i = 0; i < block->constraint_count; ++i) {
    print_form(to, block->constraints[i]);
    print(to, " >= 0\n");
  }
  for (uint64_t i = 0; i < block->refinement_count; ++i)
    print_refinement(to, block->refinements[i]);
  print(to, ") {\n");
  for (uint64_t i = 0; i < block->statement_count; ++i)
    print_statement(to, block->statements[i], i);
  print(to, "}");
}

void print_views(const stria_program_view* program, void (*out)(void* state, const char* text),
                 void* state) {
  printer to = {out, state};
  print(&to, "stripe %d.%d\n0: ", STRIA_READER_STRIPE_MAJOR, STRIA_READER_STRIPE_MINOR);
  print_block(&to, program->entry);
  print(&to, "\n");
}

static int same(stria_string a, stria_string b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

const char* check_views(const stria_program_view* program) {
  if (program->size != sizeof *program) return "the program's size is another one";
  if (!program->main) return "there is no main";
  uint64_t in_parts = program->main->statement_count;
  if (program->prologue) in_parts += program->prologue->statement_count;
  if (program->kernel_count != in_parts) return "statements of the parts are not the kernels";
  for (uint64_t k = 0; k < program->kernel_count; ++k) {
    const stria_kernel_block* kernel = program->kernels[k];
    const stria_block* part = kernel->part == STRIA_PROLOGUE ? program->prologue : program->main;
    if (kernel->size != sizeof *kernel) return "a kernel's size is another one";
    const stria_statement* statement = part->statements[kernel->statement];
    if (statement->kind == STRIA_BLOCK && kernel->block != statement->block)
      return "a kernel's block is not its statement's";
    int inputs = 0;
    for (uint64_t a = 0; a < kernel->argument_count; ++a) {
      const stria_kernel_argument* argument = kernel->arguments[a];
      if (!same(argument->name, argument->tensor->into)) return "an argument has another tensor";
      if (argument->bytes != (uint64_t)argument->tensor->span_bytes) return "an argument's bytes";
      if (argument->type != argument->tensor->type) return "an argument's type";
      if (inputs && argument->direction != STRIA_IN) return "an output stands behind an input";
      inputs = inputs || argument->direction == STRIA_IN;
    }
  }
  return NULL;
}
