// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/set_solver.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <initializer_list>
#include <memory>

#include "stria/poly/solver_budget.h"

namespace stria {
namespace {

struct Free {
  void operator()(isl_set* p) const { isl_set_free(p); }
  void operator()(isl_basic_set* p) const { isl_basic_set_free(p); }
  void operator()(isl_basic_set_list* p) const { isl_basic_set_list_free(p); }
  void operator()(isl_aff* p) const { isl_aff_free(p); }
  void operator()(isl_mat* p) const { isl_mat_free(p); }
  void operator()(isl_val* p) const { isl_val_free(p); }
  void operator()(isl_ctx* p) const { isl_ctx_free(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

// False if the value is no integer within int64.
bool to_int64(isl_val* value, int64_t* out) {
  if (!value || isl_val_is_int(value) != isl_bool_true) return false;
  Owned<isl_val> low(isl_val_int_from_si(isl_val_get_ctx(value), INT64_MIN));
  Owned<isl_val> high(isl_val_int_from_si(isl_val_get_ctx(value), INT64_MAX));
  if (isl_val_lt(value, low.get()) != isl_bool_false ||
      isl_val_gt(value, high.get()) != isl_bool_false)
    return false;
  *out = isl_val_get_num_si(value);
  return true;
}

// With fewer parts. isl 0.25 joins some parts with floors to more than their points: the multiples
// of 4 in 0 .. 4 and 0 .. 1 become 0, 1, 4 and 5. What it joins wrongly stays as it is.
isl_set* coalesced(isl_set* set) {
  if (isl_set_involves_locals(set) != isl_bool_true) return isl_set_coalesce(set);
  Owned<isl_set> before(isl_set_copy(set));
  Owned<isl_set> after(isl_set_coalesce(set));
  return isl_set_is_equal(before.get(), after.get()) == isl_bool_true ? after.release()
                                                                      : before.release();
}

}  // namespace

// One question: a solver context and the translation of sets into it and back.
//
// What the library counts are its operations: pivots, each of which goes over a whole matrix, and
// allocations. So an operation counts as many steps as the largest matrix has words once pivots
// have let its numbers grow, and some for itself. In a search for integer points the work between
// two operations grows with the number of columns; where the answer is a set, with the parts and
// existentials that come up on the way.
class SetSolver::Context {
 public:
  enum class Way { search, set };  // for integer points; by making other sets

  // The sets that are asked about, and how the answer is found.
  explicit Context(std::initializer_list<const IntegerSet*> sets, Way way)
      : context_(isl_ctx_alloc()), budget_(SolverBudget::current()) {
    STRIA_CHECK(context_, "no memory for a solver context");
    isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE);
    for (const IntegerSet* set : sets)
      for (const IntegerSet::Part& part : set->parts_)
        steps_ = std::max(steps_, steps_with(part, way));
    int64_t steps = kQuestionSteps;
    if (budget_ != nullptr) steps = std::min(steps, budget_->limit() - budget_->used());
    limit_ = static_cast<unsigned long>(std::max<int64_t>(steps / steps_, 1));
    isl_ctx_set_max_operations(get(), limit_);
  }
  ~Context() {
    if (budget_ == nullptr) return;
    budget_->charge(static_cast<int64_t>(operations()) * steps_);
    ++budget_->questions_;
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  isl_ctx* get() const { return context_.get(); }

  // Why the last call gave nothing.
  Status failure() const {
    if (isl_ctx_last_error(get()) == isl_error_quota) {
      if (limit_ == static_cast<unsigned long>(std::max<int64_t>(kQuestionSteps / steps_, 1)))
        return make_error(StatusCode::unknown,
                          "a question about an integer set needs more than {} solver steps "
                          "({} operations)",
                          kQuestionSteps, limit_);
      budget_->exhausted_ = true;
      return make_error(StatusCode::unknown,
                        "questions about integer sets need more than {} solver steps together",
                        budget_->limit());
    }
    const char* message = isl_ctx_last_error_msg(get());
    return internal_error("the integer set solver failed: {}",
                          message ? message : "no reason given");
  }

  Owned<isl_set> build(const IntegerSet& set) const {
    isl_space* space = isl_space_set_alloc(get(), 0, static_cast<unsigned>(set.rank()));
    Owned<isl_set> out(isl_set_empty(isl_space_copy(space)));
    for (const IntegerSet::Part& part : set.parts_) {
      unsigned columns = static_cast<unsigned>(set.rank() + part.existentials + 1);
      isl_basic_set* basic = isl_basic_set_from_constraint_matrices(
          isl_space_copy(space), matrix(part.equalities, columns),
          matrix(part.inequalities, columns), isl_dim_set, isl_dim_div, isl_dim_cst, isl_dim_param);
      out.reset(isl_set_union(out.release(), isl_set_from_basic_set(basic)));
    }
    isl_space_free(space);
    return out;
  }

  // With `functional`, rows that tie each existential to its floor are added (they may be absent
  // where the solver keeps the definition apart).
  Result<IntegerSet> read(isl_set* set, const std::vector<std::string>& dims,
                          bool functional) const {
    if (!set) return failure();
    IntegerSet out = IntegerSet::empty(dims);
    Owned<isl_basic_set_list> list(isl_set_get_basic_set_list(set));
    isl_size count = isl_basic_set_list_n_basic_set(list.get());
    if (count < 0) return failure();
    for (int i = 0; i < count; ++i) {
      Owned<isl_basic_set> basic(isl_basic_set_list_get_basic_set(list.get(), i));
      isl_size existentials = isl_basic_set_dim(basic.get(), isl_dim_div);
      if (existentials < 0) return failure();
      IntegerSet::Part part;
      part.existentials = static_cast<size_t>(existentials);
      STRIA_RETURN_IF_ERROR(
          read_rows(isl_basic_set_equalities_matrix(basic.get(), isl_dim_set, isl_dim_div,
                                                    isl_dim_cst, isl_dim_param),
                    &part.equalities));
      STRIA_RETURN_IF_ERROR(
          read_rows(isl_basic_set_inequalities_matrix(basic.get(), isl_dim_set, isl_dim_div,
                                                      isl_dim_cst, isl_dim_param),
                    &part.inequalities));
      if (functional)
        for (int div = 0; div < existentials; ++div)
          STRIA_RETURN_IF_ERROR(add_floor(basic.get(), div, dims.size(), &part));
      out.parts_.push_back(std::move(part));
    }
    return out;
  }

  Owned<isl_aff> form(const IntegerSet& set, const Affine& affine) const {
    isl_space* space = isl_space_set_alloc(get(), 0, static_cast<unsigned>(set.rank()));
    isl_aff* out = isl_aff_zero_on_domain(isl_local_space_from_space(space));
    for (size_t d = 0; d < set.rank(); ++d)
      if (int64_t coefficient = affine.coefficient(set.dims_[d]))
        out = isl_aff_set_coefficient_val(out, isl_dim_in, static_cast<int>(d),
                                          isl_val_int_from_si(get(), coefficient));
    return Owned<isl_aff>(
        isl_aff_set_constant_val(out, isl_val_int_from_si(get(), affine.constant())));
  }

 private:
  // As many bits as a number of the row may have after a pivot in each column.
  static int64_t words_in(const std::vector<IntegerSet::Row>& rows) {
    int64_t sum = 0;
    for (const IntegerSet::Row& row : rows) {
      const auto columns = static_cast<int64_t>(row.size());
      for (int64_t number : row)
        sum +=
            1 + std::bit_width(static_cast<uint64_t>(number < 0 ? ~number : number)) * columns / 64;
    }
    return sum;
  }
  static int64_t steps_with(const IntegerSet::Part& part, Way way) {
    constexpr int64_t kLeast = 256;
    const int64_t words = 2 * words_in(part.equalities) + words_in(part.inequalities);
    if (way == Way::set) return 3 * (kLeast + words);
    const auto& rows = part.inequalities.empty() ? part.equalities : part.inequalities;
    const int64_t columns = rows.empty() ? 0 : static_cast<int64_t>(rows[0].size());
    return kLeast + words * std::max<int64_t>(columns, 5) / 5;
  }

  // A number was wanted and did not come: out of the range of int64, or the call failed.
  Status no_number() const {
    if (isl_ctx_last_error(get()) != isl_error_none) return failure();
    return make_error(StatusCode::out_of_range,
                      "a number of an integer set does not fit in 64 bits");
  }

  // How many there have been, give or take the few made here. The library does not tell; but an
  // allocation is one, and fails from the limit on.
  unsigned long operations() const {
    auto fewer_than = [&](unsigned long limit) {
      isl_ctx_set_max_operations(get(), limit);
      void* memory = isl_malloc_or_die(get(), 1);
      std::free(memory);
      return memory != nullptr;
    };
    unsigned long low = 0, high = std::min(limit_, 64ul);
    while (high < limit_ && !fewer_than(high)) {
      low = high;
      high = std::min(limit_, 4 * high);
    }
    while (low + 1 < high) {
      const unsigned long middle = low + (high - low) / 2;
      (fewer_than(middle) ? high : low) = middle;
    }
    return high;
  }

  isl_mat* matrix(const std::vector<IntegerSet::Row>& rows, unsigned columns) const {
    isl_mat* out = isl_mat_alloc(get(), static_cast<unsigned>(rows.size()), columns);
    for (size_t r = 0; r < rows.size(); ++r)
      for (size_t c = 0; c < columns; ++c)
        out = isl_mat_set_element_val(out, static_cast<int>(r), static_cast<int>(c),
                                      isl_val_int_from_si(get(), rows[r][c]));
    return out;
  }

  Status read_rows(isl_mat* owned, std::vector<IntegerSet::Row>* rows) const {
    Owned<isl_mat> mat(owned);
    isl_size height = isl_mat_rows(mat.get());
    isl_size width = isl_mat_cols(mat.get());
    if (height < 0 || width < 0) return failure();
    for (int r = 0; r < height; ++r) {
      IntegerSet::Row row(static_cast<size_t>(width));
      for (int c = 0; c < width; ++c) {
        Owned<isl_val> value(isl_mat_get_element_val(mat.get(), r, c));
        if (!to_int64(value.get(), &row[static_cast<size_t>(c)])) return no_number();
      }
      rows->push_back(std::move(row));
    }
    return {};
  }

  // e = floor(f / m): f - m e >= 0 and m - 1 - f + m e >= 0.
  Status add_floor(isl_basic_set* basic, int div, size_t rank, IntegerSet::Part* part) const {
    Owned<isl_aff> floor(isl_basic_set_get_div(basic, div));
    if (!floor) return failure();
    Owned<isl_val> denominator(isl_aff_get_denominator_val(floor.get()));
    auto scaled = [&](isl_val* value, int64_t* out) {
      Owned<isl_val> product(isl_val_mul(value, isl_val_copy(denominator.get())));
      return to_int64(product.get(), out);
    };
    IntegerSet::Row row(rank + part->existentials + 1);
    int64_t modulus = 0;
    bool fits = to_int64(denominator.get(), &modulus) &&
                scaled(isl_aff_get_constant_val(floor.get()), &row.back());
    for (size_t d = 0; d < rank; ++d)
      fits =
          fits && scaled(isl_aff_get_coefficient_val(floor.get(), isl_dim_in, static_cast<int>(d)),
                         &row[d]);
    for (int e = 0; e < div; ++e)
      fits = fits && scaled(isl_aff_get_coefficient_val(floor.get(), isl_dim_div, e),
                            &row[rank + static_cast<size_t>(e)]);
    row[rank + static_cast<size_t>(div)] = -modulus;
    IntegerSet::Row upper = row;
    for (int64_t& number : upper) fits = fits && !__builtin_sub_overflow(0, number, &number);
    fits = fits && !__builtin_add_overflow(upper.back(), modulus - 1, &upper.back());
    if (!fits) return no_number();
    part->inequalities.push_back(std::move(row));
    part->inequalities.push_back(std::move(upper));
    return {};
  }

  Owned<isl_ctx> context_;
  SolverBudget* budget_;  // may be null
  int64_t steps_ = 1;     // of one operation
  unsigned long limit_ = 1;
};

Result<bool> SetSolver::is_empty(const IntegerSet& set) {
  Context context({&set}, Context::Way::search);
  Owned<isl_set> built = context.build(set);
  isl_bool answer = isl_set_is_empty(built.get());
  if (answer == isl_bool_error) return context.failure();
  return answer == isl_bool_true;
}

Result<Bounds> SetSolver::bounds(const IntegerSet& set, const Affine& affine) {
  Context context({&set}, Context::Way::search);
  Owned<isl_set> built = context.build(set);
  Owned<isl_aff> form = context.form(set, affine);
  Bounds out;
  for (bool upper : {false, true}) {
    Owned<isl_val> value(upper ? isl_set_max_val(built.get(), form.get())
                               : isl_set_min_val(built.get(), form.get()));
    if (!value || isl_val_is_nan(value.get()) != isl_bool_false) return context.failure();
    if (isl_val_is_infty(value.get()) == isl_bool_true ||
        isl_val_is_neginfty(value.get()) == isl_bool_true)
      continue;
    int64_t number = 0;
    if (!to_int64(value.get(), &number))
      return isl_ctx_last_error(context.get()) != isl_error_none
                 ? context.failure()
                 : make_error(StatusCode::out_of_range, "a bound of {} does not fit in 64 bits",
                              affine.to_string());
    (upper ? out.upper : out.lower) = number;
  }
  return out;
}

Result<bool> SetSolver::is_subset(const IntegerSet& a, const IntegerSet& b) {
  Context context({&a, &b}, Context::Way::search);
  Owned<isl_set> left = context.build(a), right = context.build(b);
  isl_bool answer = isl_set_is_subset(left.get(), right.get());
  if (answer == isl_bool_error) return context.failure();
  return answer == isl_bool_true;
}

Result<IntegerSet> SetSolver::subtract(const IntegerSet& a, const IntegerSet& b) {
  Context context({&a, &b}, Context::Way::set);
  Owned<isl_set> left = context.build(a), right = context.build(b);
  Owned<isl_set> rest(coalesced(isl_set_subtract(left.release(), right.release())));
  return context.read(rest.get(), a.dims(), false);
}

Result<IntegerSet> SetSolver::simplify(const IntegerSet& set) {
  Context context({&set}, Context::Way::set);
  Owned<isl_set> built(coalesced(context.build(set).release()));
  return context.read(built.get(), set.dims(), false);
}

Result<IntegerSet> SetSolver::disjoint(const IntegerSet& set) {
  Context context({&set}, Context::Way::set);
  isl_set* built = coalesced(isl_set_compute_divs(context.build(set).release()));
  built = isl_set_detect_equalities(isl_set_make_disjoint(built));
  Owned<isl_set> cut(isl_set_compute_divs(built));
  return context.read(cut.get(), set.dims(), true);
}

}  // namespace stria
