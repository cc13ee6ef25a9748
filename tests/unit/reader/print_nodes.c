// SPDX-License-Identifier: Apache-2.0
#include "print_nodes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct printer {
  const stria_tree_view* view;
  const stria_tree_nodes* nodes;
  const node_sink* to;
} printer;

static void put(const printer* p, const char* text) { p->to->text(p->to->state, text); }

// Short texts alone: numbers, signs.
__attribute__((format(printf, 2, 3))) static void putf(const printer* p, const char* format, ...) {
  char text[160];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) >= (int)sizeof text) abort();
  va_end(arguments);
  put(p, text);
}

static void put_string(const printer* p, stria_string text) {
  for (uint64_t i = 0; i < text.size; ++i) {
    const char one[2] = {text.data[i], 0};
    put(p, one);
  }
}

static void put_type(const printer* p, stria_data_type type, int32_t lanes) {
  put_string(p, stria_reader_type_name(type));
  if (lanes > 1) putf(p, "x%" PRId32, lanes);
}

static const stria_tree_array* array_of(const printer* p, int32_t memory) {
  const uint64_t number = (uint64_t)memory;
  return number < p->nodes->parameter_count ? NULL
                                            : p->nodes->arrays[number - p->nodes->parameter_count];
}

static void put_memory(const printer* p, int32_t memory) {
  const stria_tree_array* array = array_of(p, memory);
  put_string(p, array != NULL ? array->name : p->nodes->parameters[memory]->name);
}

static void put_variable(const printer* p, int32_t variable) {
  put_string(p, p->nodes->variables[variable]->name);
}

static void put_expression(const printer* p, const stria_tree_expression* e, int inside);

static void put_list(const printer* p, const stria_tree_expression* e) {
  for (uint64_t i = 0; i < e->operand_count; ++i) {
    if (i > 0) put(p, ", ");
    put_expression(p, e->operands[i], 0);
  }
}

static void put_constant(const printer* p, const stria_tree_expression* e) {
  if (e->lanes > 1) putf(p, "x%" PRId32 "(", e->lanes);
  if (e->type == STRIA_BOOL)
    put(p, e->integer != 0 ? "true" : "false");
  else if (e->type == STRIA_U64)
    putf(p, "%" PRIu64, (uint64_t)e->integer);
  else if (e->type < STRIA_FP16)
    putf(p, "%" PRId64, e->integer);
  else
    p->to->number(p->to->state, e->type, e->number);
  if (e->type != p->view->index_type && e->type != STRIA_BOOL) {
    put(p, " ");
    put_type(p, e->type, 1);
  }
  if (e->lanes > 1) put(p, ")");
}

static const char* sign_of(stria_tree_operation operation) {
  switch (operation) {
    case STRIA_TREE_ADD: return "+";
    case STRIA_TREE_SUB: return "-";
    case STRIA_TREE_MUL: return "*";
    case STRIA_TREE_DIV: return "/";
    case STRIA_TREE_REM: return "%";
    case STRIA_TREE_AND: return "&";
    case STRIA_TREE_OR: return "|";
    case STRIA_TREE_XOR: return "^";
    case STRIA_TREE_SHIFT_LEFT: return "<<";
    case STRIA_TREE_SHIFT_RIGHT: return ">>";
    case STRIA_TREE_EQ: return "==";
    case STRIA_TREE_NE: return "!=";
    case STRIA_TREE_LT: return "<";
    case STRIA_TREE_LE: return "<=";
    default: return NULL;
  }
}

static void put_operation(const printer* p, const stria_tree_expression* e, int inside) {
  ++p->to->counts->operations[e->operation];
  const char* sign = sign_of(e->operation);
  if (sign == NULL) {
    put_string(p, stria_reader_operation_name(e->operation));
    put(p, "(");
    put_list(p, e);
    put(p, ")");
    return;
  }
  if (inside) put(p, "(");
  put_expression(p, e->operands[0], 1);
  putf(p, " %s ", sign);
  put_expression(p, e->operands[1], 1);
  if (inside) put(p, ")");
}

static void put_expression(const printer* p, const stria_tree_expression* e, int inside) {
  if (e->size != sizeof *e || e->next != NULL || e->reserved != 0) put(p, "<struct>");
  ++p->to->counts->expressions[e->kind];
  if (e->lanes > 1) ++p->to->counts->vectors;
  switch (e->kind) {
    case STRIA_TREE_CONSTANT: put_constant(p, e); return;
    case STRIA_TREE_VARIABLE: put_variable(p, e->variable); return;
    case STRIA_TREE_OPERATION: put_operation(p, e, inside); return;
    case STRIA_TREE_IOTA:
      put(p, "iota(");
      put_type(p, e->type, e->lanes);
      break;
    case STRIA_TREE_CONVERT:
      put_type(p, e->type, 1);
      put(p, "(");
      put_list(p, e);
      break;
    case STRIA_TREE_REINTERPRET:
      put(p, "bits_");
      put_type(p, e->type, 1);
      put(p, "(");
      put_list(p, e);
      break;
    case STRIA_TREE_BROADCAST:
      putf(p, "x%" PRId32 "(", e->lanes);
      put_list(p, e);
      break;
    case STRIA_TREE_REDUCE:
      ++p->to->counts->operations[e->operation];
      put(p, "reduce_");
      put_string(p, stria_reader_operation_name(e->operation));
      put(p, "(");
      put_list(p, e);
      break;
    case STRIA_TREE_LANE:
      put(p, "lane(");
      put_list(p, e);
      putf(p, ", %" PRId64, e->integer);
      break;
    case STRIA_TREE_CALL:
      put_string(p, e->function);
      put(p, "(");
      put_list(p, e);
      break;
    default: putf(p, "<kind %d", e->kind); break;
  }
  put(p, ")");
}

static void put_place(const printer* p, const stria_tree_place* place) {
  put_memory(p, place->memory);
  put(p, "[");
  if (place->offset == NULL) {
    putf(p, "%" PRId64, place->constant);
  } else {
    put_expression(p, place->offset, 0);
    if (place->constant < 0)
      putf(p, " - %" PRIu64, 0 - (uint64_t)place->constant);
    else if (place->constant > 0)
      putf(p, " + %" PRId64, place->constant);
  }
  if (place->lanes > 1) putf(p, " x%" PRId32, place->lanes);
  if (place->lanes > 1 && place->stride != 1) putf(p, " by %" PRId64, place->stride);
  if (place->mask != NULL) {
    put(p, " if ");
    put_expression(p, place->mask, 0);
  }
  put(p, "]");
}

static void put_ahead(const printer* p, const stria_tree_statement* s) {
  if (s->prefetch != 0) putf(p, " prefetch %" PRId64, s->prefetch);
  put(p, "\n");
}

static void put_fragment(const printer* p, const stria_tree_statement* s, uint64_t number) {
  put_memory(p, s->fragments[number].memory);
  putf(p, "[%" PRId64 "]", s->fragments[number].number);
}

static void put_matrix(const printer* p, const stria_tree_matrix* matrix) {
  put_place(p, matrix->place);
  putf(p, " by %" PRId64 ", %" PRId64, matrix->row_stride, matrix->column_stride);
  if (matrix->rows != NULL) {
    put(p, " rows ");
    put_expression(p, matrix->rows, 0);
  }
  if (matrix->columns != NULL) {
    put(p, " columns ");
    put_expression(p, matrix->columns, 0);
  }
}

static void put_operands(const printer* p, const stria_tree_statement* s) {
  put_string(p, s->name);
  put(p, "(");
  for (uint64_t i = 0; i < s->operand_count; ++i) {
    const stria_tree_operand* operand = s->operands[i];
    putf(p, "%s%s ", i > 0 ? ", " : "", operand->written ? "inout" : "in");
    if (s->kind == STRIA_TREE_INSTRUCTION) {
      put_memory(p, operand->memory);
      put(p, "[");
      for (uint64_t k = 0; k < operand->slot_count; ++k)
        putf(p, "%s%" PRId64, k > 0 ? " " : "", operand->slots[k]);
    } else {
      put_place(p, operand->place);
      put(p, " [");
      for (uint64_t k = 0; k < operand->dim_count; ++k)
        putf(p, "%s%" PRId64 ":%" PRId64, k > 0 ? ", " : "", operand->sizes[k],
             operand->strides[k]);
    }
    put(p, "]");
  }
  put(p, ")\n");
}

static void put_indent(const printer* p, int depth) {
  for (int i = 0; i < depth; ++i) put(p, "  ");
}

static void put_body(const printer* p, const stria_tree_statement* const* body, uint64_t count,
                     int depth);

static void put_inner(const printer* p, const stria_tree_statement* s, int depth) {
  put(p, " {\n");
  put_body(p, s->body, s->body_count, depth + 1);
  put_indent(p, depth);
  put(p, "}");
  for (uint64_t i = 0; i < s->kept_count; ++i) {
    put(p, i > 0 ? ", " : " keeps ");
    put_variable(p, s->kept[i]);
  }
  put(p, "\n");
}

static void put_statement(const printer* p, const stria_tree_statement* s, int depth) {
  if (s->size != sizeof *s || s->next != NULL) put(p, "<struct>");
  ++p->to->counts->statements[s->kind];
  put_indent(p, depth);
  switch (s->kind) {
    case STRIA_TREE_LET:
      put_variable(p, s->variable);
      put(p, " = ");
      put_expression(p, s->value, 0);
      put(p, "\n");
      break;
    case STRIA_TREE_LOAD:
      put_variable(p, s->variable);
      put(p, " = ");
      put_place(p, s->place);
      put_ahead(p, s);
      break;
    case STRIA_TREE_STORE:
      put_place(p, s->place);
      put(p, s->stream ? " = stream " : " = ");
      put_expression(p, s->value, 0);
      put_ahead(p, s);
      break;
    case STRIA_TREE_FOR:
      put(p, "for ");
      put_variable(p, s->variable);
      put(p, " in ");
      put_expression(p, s->lower, 0);
      put(p, " .. ");
      put_expression(p, s->upper, 0);
      if (s->unroll) put(p, " unroll");
      put_inner(p, s, depth);
      break;
    case STRIA_TREE_IF:
      put(p, "if ");
      put_expression(p, s->value, 0);
      put_inner(p, s, depth);
      break;
    case STRIA_TREE_ELEMENT_LOOP:
      put(p, "for elements");
      put_inner(p, s, depth);
      break;
    case STRIA_TREE_BARRIER: put(p, s->parameters ? "barrier of parameters\n" : "barrier\n"); break;
    case STRIA_TREE_SUBGROUP_BARRIER: put(p, "barrier of the subgroup\n"); break;
    case STRIA_TREE_MICRO_KERNEL: put(p, "micro-kernel "); /* fallthrough */
    case STRIA_TREE_INSTRUCTION: put_operands(p, s); break;
    case STRIA_TREE_PREFETCH:
      put(p, "prefetch ");
      put_place(p, s->place);
      put(p, s->writes ? " to write\n" : "\n");
      break;
    case STRIA_TREE_MATRIX_FILL:
      put_fragment(p, s, 0);
      put(p, " = fill(");
      if (s->value->type < STRIA_FP16)
        putf(p, "%" PRId64, s->value->integer);
      else
        p->to->number(p->to->state, s->value->type, s->value->number);
      put(p, ")\n");
      break;
    case STRIA_TREE_MATRIX_LOAD:
      put_fragment(p, s, 0);
      put(p, " = matrix ");
      put_matrix(p, s->matrix);
      put(p, "\n");
      break;
    case STRIA_TREE_MATRIX_STORE:
      put(p, "matrix ");
      put_matrix(p, s->matrix);
      put(p, " = ");
      put_fragment(p, s, 0);
      put(p, "\n");
      break;
    case STRIA_TREE_MATRIX_MULTIPLY:
      put_fragment(p, s, 0);
      put(p, " += ");
      put_fragment(p, s, 1);
      put(p, " * ");
      put_fragment(p, s, 2);
      put(p, "\n");
      break;
    default: putf(p, "<kind %d>\n", s->kind); break;
  }
}

static void put_body(const printer* p, const stria_tree_statement* const* body, uint64_t count,
                     int depth) {
  for (uint64_t i = 0; i < count; ++i) put_statement(p, body[i], depth);
}

static void put_array(const printer* p, const stria_tree_array* array) {
  static const char* const uses[] = {NULL, "left", "right", "sum"};
  const int32_t lanes = array->in_registers ? array->slot_lanes : 1;
  putf(p, "  %s ",
       array->in_registers                             ? "registers"
       : array->overlaid                               ? "shared, over the others"
       : array->shared                                 ? "shared"
       : array->fragment_use != STRIA_TREE_NO_FRAGMENT ? "fragments"
                                                       : "stack");
  put_string(p, array->name);
  put(p, ": ");
  put_type(p, array->type, lanes);
  putf(p, "[%" PRId64 "]", (array->count + lanes - 1) / lanes);
  if (array->fragment_use != STRIA_TREE_NO_FRAGMENT)
    putf(p, " of %" PRId64 " x %" PRId64 ", %s", array->fragment_rows, array->fragment_columns,
         uses[array->fragment_use]);
  put(p, "\n");
}

void print_nodes(const stria_tree_view* view, const stria_tree_nodes* nodes, const node_sink* to) {
  const printer p = {view, nodes, to};
  put(&p, "kernel ");
  if (nodes->name.size == 0) put(&p, "_");
  put_string(&p, nodes->name);
  put(&p, " (");
  for (uint64_t i = 0; i < nodes->parameter_count; ++i) {
    const stria_tree_parameter* one = nodes->parameters[i];
    putf(&p, "%s%s ", i > 0 ? ", " : "", one->writable ? one->readable ? "inout" : "out" : "in");
    put_string(&p, one->name);
    put(&p, ": ");
    put_type(&p, one->type, 1);
    putf(&p, "[%" PRId64 "]", one->span);
  }
  put(&p, ") parallel ");
  if (nodes->grid_count == 0) {
    put_variable(&p, nodes->parallel_variable);
    putf(&p, " in 0 .. %" PRIu64 ", ", view->trip_count);
  }
  for (int32_t d = 0; d < nodes->grid_count; ++d) {
    put_variable(&p, nodes->grid_variables[d]);
    putf(&p, " in 0 .. %" PRIu64 ", ", view->grid[d]);
  }
  put(&p, "index ");
  put_type(&p, view->index_type, 1);
  put(&p, " {\n");
  for (uint64_t i = 0; i < view->note_count; ++i) {
    put(&p, "  // ");
    put_string(&p, view->notes[i]);
    put(&p, "\n");
  }
  if (view->group_lanes > 1) {
    put(&p, "  lanes ");
    put_variable(&p, nodes->lane_variable);
    putf(&p, " in 0 .. %" PRIu64 "\n", view->group_lanes);
  }
  for (uint64_t i = 0; i < nodes->array_count; ++i) put_array(&p, nodes->arrays[i]);
  put_body(&p, nodes->body, nodes->body_count, 1);
  put(&p, "}\n");
}
