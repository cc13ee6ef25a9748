// SPDX-License-Identifier: Apache-2.0
// Chosen elements of the outputs, computed backwards: the kernels that write an element are
// restricted to the points that write it, and what those points load is asked for in turn. Works on
// kernels of one level that read and write whole tensors of the program; any other program is
// interpreted whole.
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

#include "stria/interp/check.h"
#include "stria/interp/engine.h"
#include "stria/interp/program_run.h"
#include "stria/interp/value.h"
#include "stria/stripe/aggregation.h"

namespace stria::interp {
namespace {

using stripe::RefDir;
using Point = std::vector<int64_t>;  // value of each index of a kernel

// A tensor of the program: its shape and, for the caller's, its memory.
struct Tensor {
  std::string name;
  const TensorShape* shape = nullptr;
  std::optional<Buffer> memory;  // holds what stands in it before the program
  int64_t lowest = 0, end = 0;
  std::vector<int> writers;  // kernels, in order of execution
};

struct Kernel {
  const BlockPlan* plan = nullptr;
  std::vector<int> tensors;    // of each refinement
  std::vector<int64_t> bases;  // offset of each refinement's parent view
  std::vector<Point> steps;    // flat access of each refinement: coefficient of each index
};

// The points of a box whose form `constant + sum of step * value` is `target`, by branch and bound:
// an index takes only values from which the others can still make up the rest.
class PointSolver {
 public:
  PointSolver(const BlockPlan& plan, const Point& step) : plan_(plan), step_(step) {
    for (size_t i = 0; i < step.size(); ++i)
      if (step[i] != 0 && plan.idxs[i].range > 1) used_.push_back(i);
    std::sort(used_.begin(), used_.end(),
              [&](size_t a, size_t b) { return std::abs(step[a]) > std::abs(step[b]); });
    low_.assign(used_.size() + 1, 0);
    high_.assign(used_.size() + 1, 0);
    for (size_t k = used_.size(); k-- > 0;) {
      const int64_t reach = step[used_[k]] * (plan.idxs[used_[k]].range - 1);
      low_[k] = low_[k + 1] + std::min<int64_t>(reach, 0);
      high_[k] = high_[k + 1] + std::max<int64_t>(reach, 0);
    }
  }
  bool is_used(size_t index) const {
    return std::find(used_.begin(), used_.end(), index) != used_.end();
  }
  // Values of the used indices; the others are 0.
  std::vector<Point> solve(int64_t target) {
    found_.clear();
    Point point(step_.size(), 0);
    descend(0, target, point);
    return std::move(found_);
  }

 private:
  void descend(size_t k, int64_t rest, Point& point) {
    if (k == used_.size()) {
      if (rest == 0) found_.push_back(point);
      return;
    }
    const size_t i = used_[k];
    const int64_t by = step_[i];
    // rest - by * value must lie in low .. high of the indices that follow.
    int64_t least = rest - high_[k + 1], most = rest - low_[k + 1];
    if (by < 0) std::swap(least = -least, most = -most);
    const int64_t size = std::abs(by);
    const int64_t first = std::max<int64_t>(0, ceil_div(least, size));
    const int64_t last = std::min(plan_.idxs[i].range - 1, floor_div(most, size));
    for (int64_t value = first; value <= last; ++value) {
      point[i] = value;
      descend(k + 1, rest - by * value, point);
    }
    point[i] = 0;
  }

  const BlockPlan& plan_;
  const Point& step_;
  std::vector<size_t> used_;
  std::vector<int64_t> low_, high_;  // what the indices from k on reach together
  std::vector<Point> found_;
};

// f(point) for every point of the block's box that meets the constraints: the indices `open` take
// every value, the others those of one of `fixed`. In lexicographic order; ends when f gives false.
// Needs no memory but for `fixed`, which it sorts.
template <typename F>
class PointWalk {
 public:
  PointWalk(const BlockPlan& plan, std::vector<Point>& fixed, const std::vector<size_t>& open, F f)
      : plan_(plan), fixed_(fixed), open_(plan.idxs.size()), f_(std::move(f)) {
    for (size_t i : open) open_[i] = true;
    std::sort(fixed_.begin(), fixed_.end());
  }

  bool run() {
    Point point(open_.size(), 0);
    return descend(0, 0, fixed_.size(), point);
  }

 private:
  // The indices from k on, for fixed_[first] .. fixed_[last - 1], which agree in those before k.
  bool descend(size_t k, size_t first, size_t last, Point& point) {
    if (first == last) return true;
    if (k == open_.size()) return !meets(point) || f_(point);
    if (open_[k]) {
      for (point[k] = 0; point[k] < plan_.idxs[k].range; ++point[k])
        if (!descend(k + 1, first, last, point)) return false;
      return true;
    }
    while (first < last) {
      size_t end = first;
      point[k] = fixed_[first][k];
      while (end < last && fixed_[end][k] == point[k]) ++end;
      if (!descend(k + 1, first, end, point)) return false;
      first = end;
    }
    return true;
  }

  bool meets(const Point& at) const {
    for (int c = 0; c < plan_.constraint_count; ++c) {
      int64_t sum = plan_.constants[static_cast<size_t>(c)];
      for (size_t i = 0; i < at.size(); ++i) sum += plan_.coefficients_of(i)[c] * at[i];
      if (sum < 0) return false;
    }
    return true;
  }

  const BlockPlan& plan_;
  std::vector<Point>& fixed_;
  std::vector<bool> open_;
  F f_;
};

template <typename F>
bool for_each_point(const BlockPlan& plan, std::vector<Point>& fixed,
                    const std::vector<size_t>& open, F f) {
  return PointWalk<F>(plan, fixed, open, std::move(f)).run();
}

class Sampler {
 public:
  Sampler(const Plan& plan, FlushedTypes flushed) : plan_(plan), flushed_(flushed) {}

  // False: a program of another form.
  bool understands();
  Status bring(const ProgramTensors& all, const std::vector<TensorArg>& inputs);
  // The element of a program output after the last kernel.
  Result<BoundedValue> output(size_t slot, int64_t offset);
  const Events& events() const { return events_; }

 private:
  bool add_section(const BlockPlan& section);
  bool add_kernel(const std::vector<int>& tensors, const std::vector<int64_t>& bases,
                  const BlockPlan& block);
  bool value(int tensor, int64_t offset, int before_kernel, BoundedValue& out);
  bool written(const Kernel& kernel, int position, int tensor, int64_t offset, BoundedValue& out);
  bool point(const Kernel& kernel, int position, const Point& at);
  const Plan& plan_;
  const FlushedTypes flushed_;
  std::vector<Tensor> tensors_;  // the entry's first, by slot
  std::vector<Kernel> kernels_;
  // (tensor, writer) -> element -> its value after that kernel.
  std::vector<std::vector<std::unordered_map<int64_t, BoundedValue>>> memo_;
  std::vector<std::vector<BoundedValue>> scalars_;  // of each kernel
  Events events_;
  Status status_;
};

bool is_plain(const BlockPlan& block) {
  if (!block.allocations.empty()) return false;
  std::set<int> stored;
  for (const StmtPlan& stmt : block.stmts) {
    if (stmt.op == Op::block || stmt.op >= Op::zero) return false;
    if (stmt.op == Op::store && !stored.insert(stmt.ref).second) return false;
    // Which points write an element is known only after all their coordinates are.
    if (stmt.op == Op::store && !stmt.chosen.empty()) return false;
  }
  for (const RefPlan& ref : block.refs)
    if (ref.out_of_range != OutOfRange::error) return false;
  return true;
}

bool Sampler::understands() {
  const BlockPlan& root = *plan_.root;
  if (!root.idxs.empty() || root.constraint_count > 0) return false;
  for (const RefPlan& ref : root.refs) {
    Tensor tensor;
    tensor.name = ref.name;
    tensor.shape = &ref.shape;
    tensors_.push_back(std::move(tensor));
  }
  for (const StmtPlan& stmt : root.stmts)
    if (stmt.op != Op::block || !add_section(*root.children[static_cast<size_t>(stmt.child)]))
      return false;
  if (kernels_.size() > 2000) return false;  // each may take a call on the stack
  memo_.resize(tensors_.size());
  for (size_t t = 0; t < tensors_.size(); ++t) {
    Tensor& tensor = tensors_[t];
    memo_[t].resize(tensor.writers.size());
    for (const Dim& dim : tensor.shape->dims) {
      const int64_t reach = (dim.size - 1) * dim.stride;
      (reach < 0 ? tensor.lowest : tensor.end) += reach;
    }
    tensor.end = tensor.shape->element_count() == 0 ? tensor.lowest : tensor.end + 1;
  }
  return true;
}

bool Sampler::add_section(const BlockPlan& section) {
  if (!section.idxs.empty() || section.constraint_count > 0) return false;
  std::vector<int> tensors;
  std::vector<int64_t> bases;
  for (const RefPlan& ref : section.refs) {
    if (ref.agg) return false;
    bases.push_back(section.constants[static_cast<size_t>(ref.offset_form)]);
    if (ref.parent >= 0) {
      tensors.push_back(ref.parent);
      continue;
    }
    tensors.push_back(static_cast<int>(tensors_.size()));
    Tensor tensor;
    tensor.name = ref.name;
    tensor.shape = &ref.shape;
    tensors_.push_back(std::move(tensor));
  }
  for (const StmtPlan& stmt : section.stmts)
    if (stmt.op != Op::block ||
        !add_kernel(tensors, bases, *section.children[static_cast<size_t>(stmt.child)]))
      return false;
  return true;
}

bool Sampler::add_kernel(const std::vector<int>& tensors, const std::vector<int64_t>& bases,
                         const BlockPlan& block) {
  if (!is_plain(block)) return false;
  Kernel kernel;
  kernel.plan = &block;
  for (const BlockPlan::Index& index : block.idxs)
    if (index.start_form >= 0) return false;
  for (const RefPlan& ref : block.refs) {
    const auto parent = static_cast<size_t>(ref.parent);
    kernel.tensors.push_back(tensors[parent]);
    kernel.bases.push_back(bases[parent]);
    Point step;
    for (size_t i = 0; i < block.idxs.size(); ++i)
      step.push_back(block.coefficients_of(i)[ref.offset_form]);
    kernel.steps.push_back(std::move(step));
  }
  const int position = static_cast<int>(kernels_.size());
  std::set<int> written;
  for (const StmtPlan& stmt : block.stmts)
    if (stmt.op == Op::store) {
      const int tensor = kernel.tensors[static_cast<size_t>(stmt.ref)];
      if (!written.insert(tensor).second) return false;
      tensors_[static_cast<size_t>(tensor)].writers.push_back(position);
    }
  // A kernel that loads what it stores must do so at the same element: its points then need no
  // order.
  for (const StmtPlan& load : block.stmts)
    if (load.op == Op::load && !load.chosen.empty() &&
        written.count(kernel.tensors[static_cast<size_t>(load.ref)]))
      return false;
  for (const StmtPlan& load : block.stmts)
    if (load.op == Op::load && written.count(kernel.tensors[static_cast<size_t>(load.ref)]))
      for (const StmtPlan& store : block.stmts) {
        const auto from = static_cast<size_t>(load.ref), to = static_cast<size_t>(store.ref);
        if (store.op != Op::store || kernel.tensors[from] != kernel.tensors[to]) continue;
        const auto constant = [&](size_t r) {
          return kernel.bases[r] + block.constants[static_cast<size_t>(block.refs[r].offset_form)];
        };
        if (&load > &store || block.refs[to].agg || constant(from) != constant(to) ||
            kernel.steps[from] != kernel.steps[to])
          return false;
        for (size_t i = 0; i < block.idxs.size(); ++i)
          if (kernel.steps[to][i] == 0 && block.idxs[i].range > 1) return false;
      }
  kernels_.push_back(std::move(kernel));
  scalars_.emplace_back(block.scalars.size());
  return true;
}

Status Sampler::bring(const ProgramTensors& all, const std::vector<TensorArg>& inputs) {
  for (const auto* group : {&all.inputs, &all.outputs})
    for (const auto& one : *group) {
      if (one.tensor.dir == RefDir::out) continue;
      Tensor& tensor = tensors_[one.slot];
      STRIA_ASSIGN(tensor.memory, bring_in(inputs, one.tensor, *tensor.shape, true, false));
    }
  return {};
}

Result<BoundedValue> Sampler::output(size_t slot, int64_t offset) {
  BoundedValue out;
  if (!value(static_cast<int>(slot), offset, static_cast<int>(kernels_.size()), out))
    return status_;
  return out;
}

// The element as kernel `before_kernel` finds it.
bool Sampler::value(int tensor_id, int64_t offset, int before_kernel, BoundedValue& out) {
  Tensor& tensor = tensors_[static_cast<size_t>(tensor_id)];
  auto next = std::lower_bound(tensor.writers.begin(), tensor.writers.end(), before_kernel);
  if (next == tensor.writers.begin()) {
    if (tensor.memory) {
      out = exactly<BoundedValue>(load_scalar(tensor.memory->type, tensor.memory->data, offset));
    } else {
      out = exactly<BoundedValue>(convert(Scalar::of_int(DataType::i32, 0), tensor.shape->type));
      out.poison = true;
    }
    return true;
  }
  const auto writer = static_cast<size_t>(next - tensor.writers.begin() - 1);
  auto& known = memo_[static_cast<size_t>(tensor_id)][writer];
  if (auto it = known.find(offset); it != known.end()) {
    out = it->second;
    return true;
  }
  const int position = tensor.writers[writer];
  if (!written(kernels_[static_cast<size_t>(position)], position, tensor_id, offset, out))
    return false;
  known.emplace(offset, out);
  return true;
}

// The element after kernel `position`, one of its writers.
bool Sampler::written(const Kernel& kernel, int position, int tensor, int64_t offset,
                      BoundedValue& out) {
  const BlockPlan& plan = *kernel.plan;
  const StmtPlan* store = nullptr;
  for (const StmtPlan& stmt : plan.stmts)
    if (stmt.op == Op::store && kernel.tensors[static_cast<size_t>(stmt.ref)] == tensor)
      store = &stmt;
  const auto slot = static_cast<size_t>(store->ref);
  const RefPlan& ref = plan.refs[slot];
  for (const BlockPlan::Index& index : plan.idxs)
    if (index.range == 0) return value(tensor, offset, position, out);
  PointSolver solver(plan, kernel.steps[slot]);
  const int64_t origin = kernel.bases[slot] + plan.constants[static_cast<size_t>(ref.offset_form)];
  std::vector<Point> fixed = solver.solve(offset - origin);
  std::vector<size_t> open;  // indices that the element does not determine
  for (size_t i = 0; i < plan.idxs.size(); ++i)
    if (!solver.is_used(i) && plan.idxs[i].range > 1) open.push_back(i);
  auto& scalars = scalars_[static_cast<size_t>(position)];
  const auto term = [&] {
    return converted(scalars[static_cast<size_t>(store->from[0])], store->operand_types[0],
                     flushed_, events_);
  };
  if (!ref.agg) {
    std::optional<Point> last;
    for_each_point(plan, fixed, open, [&](const Point& at) {
      last = at;
      return true;
    });
    if (!last) return value(tensor, offset, position, out);
    if (!point(kernel, position, *last)) return false;
    out = term();
    return true;
  }
  const stripe::Aggregation& agg = *ref.agg;
  const bool is_sum = agg.op == stripe::AggOp::add && is_float(agg.type);
  BoundedValue running = exactly<BoundedValue>(identity_of(agg));
  Aggregating::Sum sum;
  bool any = false;
  const auto begin = [&] {
    any = true;
    if (ref.dir == RefDir::out) return true;
    BoundedValue before;
    if (!value(tensor, offset, position, before)) return false;
    running = converted(before, agg.type, flushed_, events_);
    if (is_sum) add_term(sum, running.x);
    return true;
  };
  const bool done = for_each_point(plan, fixed, open, [&](const Point& at) {
    if (!any && !begin()) return false;
    if (!point(kernel, position, at)) return false;
    const BoundedValue one = term();
    const Scalar pair[] = {running.typed, one.typed};
    const Bounded both[] = {running.x, one.x};
    running.typed = store->builtin->reference(agg.type, pair);
    running.poison |= one.poison;
    if (is_sum)
      add_term(sum, one.x);
    else
      running.x = call_bounded(*store->builtin, agg.type, pair, both, running.typed, flushed_);
    return true;
  });
  if (!done) return false;
  if (!any) return value(tensor, offset, position, out);
  if (is_sum) running.x = total(sum, agg.type, flushed_);
  out = converted(running, ref.shape.type, flushed_, events_);
  return true;
}

// The loads and intrinsics of one point; leaves the scalars.
bool Sampler::point(const Kernel& kernel, int position, const Point& at) {
  const BlockPlan& plan = *kernel.plan;
  auto& scalars = scalars_[static_cast<size_t>(position)];
  const auto form = [&](int f) {
    int64_t sum = plan.constants[static_cast<size_t>(f)];
    for (size_t i = 0; i < at.size(); ++i) sum += plan.coefficients_of(i)[f] * at[i];
    return sum;
  };
  for (const StmtPlan& stmt : plan.stmts) {
    if (stmt.op == Op::store) continue;
    BoundedValue out;
    if (stmt.op == Op::load) {
      const auto slot = static_cast<size_t>(stmt.ref);
      int64_t offset = kernel.bases[slot] + form(plan.refs[slot].offset_form);
      offset += clamped_offset(stmt, scalars.data(), events_);
      const Tensor& tensor = tensors_[static_cast<size_t>(kernel.tensors[slot])];
      if (offset < tensor.lowest || offset >= tensor.end) {
        status_ = invalid_argument(
            "block {}: load outside the allocation: {} at offset {} of an allocation {}", plan.name,
            plan.refs[slot].name, offset, to_string(tensor.shape->type, tensor.shape->sizes()));
        return false;
      }
      if (!value(kernel.tensors[slot], offset, position, out)) return false;
      for (const Choice& choice : stmt.chosen)
        depend(out, scalars[static_cast<size_t>(choice.scalar)]);
    } else if (stmt.op == Op::load_index) {
      out =
          exactly<BoundedValue>(convert(Scalar::of_int(DataType::i64, form(stmt.form)), stmt.type));
    } else if (stmt.op == Op::constant) {
      out = exactly<BoundedValue>(stmt.constant);
    } else {
      out = call(stmt, scalars.data(), flushed_, events_);
    }
    scalars[static_cast<size_t>(stmt.into)] = out;
  }
  return true;
}

uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// `count` of the positions 0 .. elements-1, ascending, each once, first and last among them.
std::vector<int64_t> choose(int64_t elements, int64_t count, uint64_t seed) {
  std::vector<int64_t> out;
  if (count >= elements) {
    out.resize(static_cast<size_t>(elements));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  std::set<int64_t> chosen;
  if (count > 0) chosen.insert(0);
  if (count > 1) chosen.insert(elements - 1);
  // Floyd's method: every set of the rest is equally likely, one draw for each element.
  for (int64_t top = elements - count + 1; top <= elements - 2; ++top) {
    const auto draw = 1 + static_cast<int64_t>(next_random(seed) % static_cast<uint64_t>(top));
    if (!chosen.insert(draw).second) chosen.insert(top);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace

Result<std::vector<Reference>> interpret_sample(const stripe::Program& program,
                                                const std::vector<TensorArg>& inputs, int64_t count,
                                                uint64_t seed, const InterpOptions& options) {
  STRIA_ASSIGN(ProgramTensors all, program_tensors(program));
  STRIA_RETURN_IF_ERROR(check_names(inputs, all));
  if (count < 1) return invalid_argument("a sample of {} elements", count);
  STRIA_ASSIGN(Plan plan, make_plan(program.entry));
  Sampler sampler(plan, options.flushed);
  std::vector<Reference> whole;
  const bool backwards = sampler.understands();
  if (backwards) {
    STRIA_RETURN_IF_ERROR(sampler.bring(all, inputs));
  } else {
    STRIA_ASSIGN(whole, interpret_with_bounds(program, inputs, options));
  }
  std::vector<Reference> out;
  for (size_t o = 0; o < all.outputs.size(); ++o) {
    const auto& one = all.outputs[o];
    const TensorShape& shape = program.entry.refs[one.slot].shape;
    Reference reference;
    reference.name = one.tensor.name;
    reference.shape = dense_shape(shape.type, shape.sizes());
    reference.elements = choose(shape.element_count(), count, seed + o);
    for (const int64_t position : reference.elements) {
      const auto at = static_cast<size_t>(position);
      if (!backwards) {
        reference.typed.push_back(whole[o].typed[at]);
        reference.value.push_back(whole[o].value[at]);
        reference.bound.push_back(whole[o].bound[at]);
        reference.undecided.push_back(whole[o].undecided[at]);
        continue;
      }
      STRIA_ASSIGN(const BoundedValue value, sampler.output(one.slot, offset_of(shape, position)));
      if (value.poison && options.need_all_outputs)
        return invalid_argument("output {}{} is never written, or from values that never are",
                                reference.name, coordinates_text(shape, position));
      reference.typed.push_back(value.typed);
      reference.value.push_back(value.x.value);
      reference.bound.push_back(value.x.bound);
      reference.undecided.push_back(value.x.undecided || value.poison);
    }
    out.push_back(std::move(reference));
  }
  if (backwards && options.events) *options.events += sampler.events();
  return out;
}

}  // namespace stria::interp
