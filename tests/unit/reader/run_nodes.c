// SPDX-License-Identifier: Apache-2.0
#include "run_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_numbers.h"

enum { MOST_LANES = 64 };

typedef struct value {
  cell lane[MOST_LANES];
} value;

typedef struct runner {
  const stria_tree_view* view;
  const stria_tree_nodes* nodes;
  void* const* arguments;
  void** arrays;
  value* variables;
  unsigned char* is_set;  // of variables
  run_counts* counts;
  jmp_buf failed;
} runner;

static char failure[256];

__attribute__((format(printf, 2, 3))) __attribute__((noreturn)) static void fail(runner* r,
                                                                                 const char* format,
                                                                                 ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure, sizeof failure, format, arguments);
  va_end(arguments);
  longjmp(r->failed, 1);
}

// ---- expressions

static void evaluate(runner* r, const stria_tree_expression* e, value* out);

static int64_t evaluate_index(runner* r, const stria_tree_expression* e) {
  value out;
  if (e->type != r->view->index_type || e->lanes != 1) fail(r, "no index: type %d", e->type);
  evaluate(r, e, &out);
  return out.lane[0].i;
}

static void operate(runner* r, const stria_tree_expression* e, const value* x, value* out) {
  const stria_tree_expression* first = e->operands[0];
  ++r->counts->operations[e->operation];
  for (uint64_t i = e->operation == STRIA_TREE_SELECT; i < e->operand_count; ++i)
    if (e->operands[i]->lanes != e->lanes) fail(r, "operand %d has other lanes", (int)i);
  for (int32_t l = 0; l < e->lanes; ++l) {
    cell operands[3] = {{0}, {0}, {0}};
    for (uint64_t i = 0; i < e->operand_count; ++i) operands[i] = x[i].lane[l];
    if (e->operation == STRIA_TREE_SELECT) {
      out->lane[l] = x[x[0].lane[first->lanes > 1 ? l : 0].i ? 1 : 2].lane[l];
      continue;
    }
    int wraps = 0;
    if (e->operation >= STRIA_TREE_DIV && e->operation <= STRIA_TREE_FLOOR_DIV &&
        !is_float_type(e->type) && operands[1].i == 0)
      fail(r, "a division by 0");
    out->lane[l] = operated(e->operation, first->type, operands, &wraps);
    if (e->exact && wraps > 0) fail(r, "an exact operation %d wraps", e->operation);
  }
}

static void reduce(runner* r, const stria_tree_expression* e, const value* x, value* out) {
  ++r->counts->operations[e->operation];
  out->lane[0] = x->lane[0];
  for (int32_t l = 1; l < e->operands[0]->lanes; ++l) {
    const cell both[3] = {out->lane[0], x->lane[l], {0}};
    int wraps = 0;
    out->lane[0] = operated(e->operation, e->type, both, &wraps);
  }
}

static void evaluate(runner* r, const stria_tree_expression* e, value* out) {
  if (e->lanes < 1 || e->lanes > MOST_LANES) fail(r, "an expression of %d lanes", e->lanes);
  value x[3];
  if (e->operand_count > 3) fail(r, "%d operands", (int)e->operand_count);
  for (uint64_t i = 0; i < e->operand_count; ++i) evaluate(r, e->operands[i], &x[i]);
  ++r->counts->expressions[e->kind];
  r->counts->vectors += e->lanes > 1;
  if (e->kind == STRIA_TREE_OPERATION) {
    operate(r, e, x, out);
    return;
  }
  if (e->kind == STRIA_TREE_REDUCE) {
    reduce(r, e, x, out);
    return;
  }
  if (e->kind == STRIA_TREE_VARIABLE) {
    const stria_tree_variable* variable = r->nodes->variables[e->variable];
    if (!r->is_set[e->variable])
      fail(r, "'%.*s' is not set", (int)variable->name.size, variable->name.data);
    if (variable->type != e->type || variable->lanes != e->lanes) fail(r, "a variable's type");
    *out = r->variables[e->variable];
    return;
  }
  for (int32_t l = 0; l < e->lanes; ++l) {
    cell* to = &out->lane[l];
    switch (e->kind) {
      case STRIA_TREE_CONSTANT:
        if (is_float_type(e->type))
          to->f = e->number;
        else
          to->i = e->integer;
        break;
      case STRIA_TREE_IOTA: to->i = l; break;
      case STRIA_TREE_CONVERT: *to = converted(e->operands[0]->type, x[0].lane[l], e->type); break;
      case STRIA_TREE_REINTERPRET: {
        uint64_t bits = 0;
        store_cell(e->operands[0]->type, &bits, 0, x[0].lane[l]);
        *to = load_cell(e->type, &bits, 0);
        break;
      }
      case STRIA_TREE_BROADCAST: *to = x[0].lane[0]; break;
      case STRIA_TREE_LANE: *to = x[0].lane[e->integer]; break;
      case STRIA_TREE_CALL: {
        const cell operands[2] = {x[0].lane[l], x[e->operand_count - 1].lane[l]};
        if (called(e->function, e->type, operands, to) == NULL)
          fail(r, "no function '%.*s'", (int)e->function.size, e->function.data);
        break;
      }
      default: fail(r, "an expression of kind %d", e->kind);
    }
  }
}

// ---- memory

typedef struct memory {
  void* data;
  stria_data_type type;
  int64_t count;
  const stria_tree_array* array;  // NULL: a parameter
} memory;

static memory memory_of(runner* r, int32_t number) {
  const uint64_t parameters = r->nodes->parameter_count;
  const uint64_t position = (uint64_t)number;
  memory out;
  if (position < parameters) {
    const stria_tree_parameter* parameter = r->nodes->parameters[position];
    out = (memory){r->arguments[position], parameter->type, parameter->span, NULL};
  } else {
    const stria_tree_array* array = r->nodes->arrays[position - parameters];
    out = (memory){r->arrays[position - parameters], array->type, array->count, array};
  }
  return out;
}

// The elements of a place; -1 where the mask leaves a lane out.
static void elements_of(runner* r, const stria_tree_place* place, const memory* in, int64_t* out) {
  value offset, mask;
  const int gathers = place->offset != NULL && place->offset->lanes > 1;
  if (place->offset != NULL) {
    if (place->offset->type != r->view->index_type)
      fail(r, "an offset of type %d", place->offset->type);
    evaluate(r, place->offset, &offset);
    if (!gathers && offset.lane[0].i % place->multiple != 0) fail(r, "an offset is no multiple");
  }
  if (place->mask != NULL) {
    if (place->lanes == 1 || place->mask->lanes != place->lanes) fail(r, "a mask of other lanes");
    evaluate(r, place->mask, &mask);
  }
  if (in->array != NULL && in->array->in_registers &&
      (place->offset != NULL || place->mask != NULL || place->lanes != in->array->slot_lanes ||
       place->constant % place->lanes != 0 || (place->lanes > 1 && place->stride != 1)))
    fail(r, "no whole slot of '%.*s'", (int)in->array->name.size, in->array->name.data);
  for (int32_t l = 0; l < place->lanes; ++l) {
    out[l] = place->constant + (gathers ? 0 : l * place->stride);
    if (place->offset != NULL) out[l] += offset.lane[gathers ? l : 0].i;
    if (place->mask != NULL && !mask.lane[l].i)
      out[l] = -1;
    else if (out[l] < 0 || out[l] >= in->count)
      fail(r, "element %lld of %lld", (long long)out[l], (long long)in->count);
  }
}

// ---- statements

static void run_body(runner* r, const stria_tree_statement* const* body, uint64_t count,
                     const stria_tree_statement* keeper);

static void assign(runner* r, int32_t variable, const value* to) {
  if (r->is_set[variable]) fail(r, "variable %d is set twice", variable);
  r->is_set[variable] = 1;
  r->variables[variable] = *to;
}

static void load(runner* r, const stria_tree_statement* s) {
  const memory from = memory_of(r, s->place->memory);
  int64_t elements[MOST_LANES];
  value out;
  elements_of(r, s->place, &from, elements);
  const stria_tree_variable* variable = r->nodes->variables[s->variable];
  if (variable->type != from.type || variable->lanes != s->place->lanes) fail(r, "a load's type");
  for (int32_t l = 0; l < s->place->lanes; ++l) {
    if (elements[l] >= 0)
      out.lane[l] = load_cell(from.type, from.data, elements[l]);
    else if (is_float_type(from.type))
      out.lane[l].f = 0;
    else
      out.lane[l].i = 0;
  }
  assign(r, s->variable, &out);
}

static void store(runner* r, const stria_tree_statement* s) {
  const memory to = memory_of(r, s->place->memory);
  int64_t elements[MOST_LANES];
  value from;
  if (s->value->type != to.type || s->value->lanes != s->place->lanes) fail(r, "a store's type");
  if (to.array == NULL && !r->nodes->parameters[s->place->memory]->writable)
    fail(r, "parameter %d is only read", s->place->memory);
  evaluate(r, s->value, &from);
  elements_of(r, s->place, &to, elements);
  for (int32_t l = 0; l < s->place->lanes; ++l)
    if (elements[l] >= 0) store_cell(to.type, to.data, elements[l], from.lane[l]);
}

static void run_loop(runner* r, const stria_tree_statement* s) {
  const int64_t upper = evaluate_index(r, s->upper);
  value number;
  for (int64_t i = evaluate_index(r, s->lower); i < upper; ++i) {
    number.lane[0].i = i;
    assign(r, s->variable, &number);
    run_body(r, s->body, s->body_count, NULL);
    r->is_set[s->variable] = 0;
  }
}

static void run_statement(runner* r, const stria_tree_statement* s) {
  value out;
  ++r->counts->statements[s->kind];
  switch (s->kind) {
    case STRIA_TREE_LET:
      evaluate(r, s->value, &out);
      assign(r, s->variable, &out);
      break;
    case STRIA_TREE_LOAD: load(r, s); break;
    case STRIA_TREE_STORE: store(r, s); break;
    case STRIA_TREE_FOR: run_loop(r, s); break;
    case STRIA_TREE_IF:
      evaluate(r, s->value, &out);
      if (out.lane[0].i) run_body(r, s->body, s->body_count, s);
      break;
    case STRIA_TREE_PREFETCH: break;
    default: fail(r, "a statement of kind %d", s->kind);
  }
}

static int keeps(const stria_tree_statement* keeper, int32_t variable) {
  for (uint64_t i = 0; keeper != NULL && i < keeper->kept_count; ++i)
    if (keeper->kept[i] == variable) return 1;
  return 0;
}

// What the body, or a condition in it, has set is not seen behind it, unless `keeper` keeps it.
static void run_body(runner* r, const stria_tree_statement* const* body, uint64_t count,
                     const stria_tree_statement* keeper) {
  for (uint64_t i = 0; i < count; ++i) run_statement(r, body[i]);
  for (uint64_t i = 0; i < count; ++i) {
    const stria_tree_statement* s = body[i];
    if ((s->kind == STRIA_TREE_LET || s->kind == STRIA_TREE_LOAD) && !keeps(keeper, s->variable))
      r->is_set[s->variable] = 0;
    for (uint64_t k = 0; k < s->kept_count; ++k)
      if (!keeps(keeper, s->kept[k])) r->is_set[s->kept[k]] = 0;
  }
}

static void* whole(uint64_t count, uint64_t bytes) {
  void* out = calloc(count + 1, bytes);
  if (out == NULL) abort();
  return out;
}

const char* run_nodes(const stria_tree_view* view, const stria_tree_nodes* nodes,
                      void* const* arguments, run_counts* counts) {
  if (view->group_lanes > 1) return "a kernel of groups";
  runner r;
  r.view = view;
  r.nodes = nodes;
  r.arguments = arguments;
  r.counts = counts;
  r.arrays = whole(nodes->array_count, sizeof *r.arrays);
  for (uint64_t i = 0; i < nodes->array_count; ++i)
    r.arrays[i] = whole((uint64_t)nodes->arrays[i]->count, 8);
  r.variables = whole(nodes->variable_count, sizeof *r.variables);
  r.is_set = whole(nodes->variable_count, 1);
  failure[0] = 0;
  if (setjmp(r.failed) == 0) {
    for (uint64_t point = 0; point < view->trip_count; ++point) {
      value number;
      memset(r.is_set, 0, nodes->variable_count);
      number.lane[0].i = (int64_t)point;
      assign(&r, nodes->parallel_variable, &number);
      number.lane[0].i = 0;
      if (nodes->lane_variable >= 0) assign(&r, nodes->lane_variable, &number);
      run_body(&r, nodes->body, nodes->body_count, NULL);
    }
  }
  for (uint64_t i = 0; i < nodes->array_count; ++i) free(r.arrays[i]);
  free(r.arrays);
  free(r.variables);
  free(r.is_set);
  return failure[0] != 0 ? failure : NULL;
}
