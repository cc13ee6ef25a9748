// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/block_work.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"

namespace stria::cost {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// The operation's name in hardware models, which give energies by name.
const char* kind_of(std::string_view function) {
  const Builtin* builtin = find_builtin(function);
  switch (builtin ? builtin->circuit : Circuit::other) {
    case Circuit::adder: return "add";
    case Circuit::multiplier: return "mul";
    case Circuit::other: return "other";
  }
  return "other";
}

class Counter {
 public:
  BlockWork run(const Block& block, const std::set<std::string>& fixed) {
    std::map<std::string, std::string> own;  // of the block: itself
    for (const Refinement& ref : block.refs) own[ref.into] = ref.into;
    enter(block, 1, own, &fixed);
    return std::move(work_);
  }

 private:
  struct Level {
    const Block* block;
    const std::set<std::string>* fixed;
  };

  static double range_of(const stripe::Index& index, const std::set<std::string>* fixed) {
    return fixed && fixed->count(index.name) ? 1 : static_cast<double>(index.range);
  }

  // `own`: the outermost block's name of each refinement; without one it is an allocation inside.
  void enter(const Block& block, double times, const std::map<std::string, std::string>& own,
             const std::set<std::string>* fixed) {
    for (const stripe::Index& index : block.idxs) times *= range_of(index, fixed);
    levels_.push_back({&block, fixed});
    bool has_leaf = false;
    for (const Statement& stmt : block.stmts) {
      const Block* inner = stmt.block();
      if (!inner) {
        has_leaf = true;
        continue;
      }
      std::map<std::string, std::string> names;
      for (const Refinement& ref : inner->refs) {
        auto outer = own.find(ref.from);
        if (ref.dir != RefDir::none && outer != own.end()) names[ref.into] = outer->second;
      }
      enter(*inner, times, names, nullptr);
    }
    if (has_leaf) count_leaf(block, times, own);
    levels_.pop_back();
  }

  void count_leaf(const Block& block, double times, const std::map<std::string, std::string>& own) {
    // For each scalar: which statement defines it, and how often it is used.
    std::map<std::string, const Statement*> defined;
    std::map<std::string, int> uses;
    for (const Statement& stmt : block.stmts) {
      if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) defined[load->into] = &stmt;
      if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) ++uses[store->from];
      if (const auto* call = std::get_if<stripe::Intrinsic>(&stmt.op)) {
        for (const std::string& name : call->outputs) defined[name] = &stmt;
        for (const std::string& name : call->inputs) ++uses[name];
      }
    }
    std::set<const Statement*> in_macs;
    double macs = 0, others = 0;
    const Statement* product = nullptr;
    const stripe::Store* sum = nullptr;
    int stores = 0;
    const auto touch = [&](const std::string& name, bool stores_to, double count) {
      auto outer = own.find(name);
      if (outer == own.end()) return;
      BlockWork::Accesses& accesses = work_.accesses[outer->second];
      (stores_to ? accesses.stores : accesses.loads) += count;
    };
    for (const Statement& stmt : block.stmts) {
      if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) touch(load->from, false, times);
      if (const auto* special = stmt.special()) {
        for (const std::string& name : special->inputs)
          touch(name, false, times * whole(block, name));
        for (const std::string& name : special->outputs) {
          touch(name, true, times * whole(block, name));
          work_.operations["move"] += times * whole(block, name);
          work_.others += times * whole(block, name);
        }
      }
      const auto* store = std::get_if<stripe::Store>(&stmt.op);
      if (!store) continue;
      ++stores;
      touch(store->into, true, times);
      const Refinement* ref = block.find_ref(store->into);
      if (!ref || !ref->agg) continue;
      touch(store->into, false, times);
      const auto by = defined.find(store->from);
      const auto* call =
          by == defined.end() ? nullptr : std::get_if<stripe::Intrinsic>(&by->second->op);
      if (ref->agg->op == stripe::AggOp::add && call && call->name == "mul" &&
          uses[store->from] == 1) {
        in_macs.insert(by->second);
        ++macs;
        product = by->second;
        sum = store;
        work_.operations[fmt::format("mac.{}", name_of(mac_type(block, *call, defined)))] += times;
      } else {
        ++others;
        const char* kind = kind_of(stripe::name_of(ref->agg->op));
        work_.operations[fmt::format("{}.{}", kind, name_of(ref->agg->type))] += times;
      }
    }
    for (const Statement& stmt : block.stmts) {
      const auto* call = std::get_if<stripe::Intrinsic>(&stmt.op);
      if (!call || in_macs.count(&stmt) || call->name == "ident") continue;
      ++others;
      work_.operations[fmt::format("{}.{}", kind_of(call->name), name_of(call->type))] += times;
    }
    if (macs == 0 && others == 0 && stores > 0) {
      others = stores;
      work_.operations["move"] += times * stores;
    }
    if (macs == 1 && others == 0 && stores == 1)
      if (std::optional<Product> found = product_of(block, *product, *sum, defined)) {
        work_.products.push_back(*found);
        work_.product_macs += times;
        return;
      }
    work_.macs += times * macs;
    work_.others += times * others;
  }

  static double whole(const Block& block, const std::string& name) {
    const Refinement* ref = block.find_ref(name);
    return ref ? static_cast<double>(ref->shape.element_count()) : 0;
  }

  // The type of the narrower operand that is loaded.
  static DataType mac_type(const Block& block, const stripe::Intrinsic& mul,
                           const std::map<std::string, const Statement*>& defined) {
    DataType type = mul.type;
    for (const std::string& input : mul.inputs)
      if (const Refinement* ref = loaded(block, input, defined))
        if (byte_size(ref->shape.type) < byte_size(type)) type = ref->shape.type;
    return type;
  }

  // The refinement that a scalar was loaded from, through conversions.
  static const Refinement* loaded(const Block& block, std::string name,
                                  const std::map<std::string, const Statement*>& defined) {
    for (;;) {
      auto by = defined.find(name);
      if (by == defined.end()) return nullptr;
      if (const auto* load = std::get_if<stripe::Load>(&by->second->op))
        return load->at.empty() ? block.find_ref(load->from) : nullptr;
      const auto* call = std::get_if<stripe::Intrinsic>(&by->second->op);
      if (!call || call->name != "ident") return nullptr;
      name = call->inputs[0];
    }
  }

  std::optional<Product> product_of(const Block& block, const Statement& mul,
                                    const stripe::Store& sum,
                                    const std::map<std::string, const Statement*>& defined) const {
    const auto& inputs = std::get<stripe::Intrinsic>(mul.op).inputs;
    std::string names[3] = {sum.into};
    for (int i = 0; i < 2; ++i) {
      const Refinement* ref = loaded(block, inputs[static_cast<size_t>(i)], defined);
      if (!ref) return std::nullopt;
      names[i + 1] = ref->into;
    }
    Product out;
    // An allocation inside is another one for each point around it.
    bool made[3] = {false, false, false};
    for (size_t l = levels_.size(); l > 0; --l) {
      const Level& level = levels_[l - 1];
      const Refinement* refs[3] = {nullptr, nullptr, nullptr};
      for (int i = 0; i < 3; ++i) {
        if (made[i]) continue;
        refs[i] = level.block->find_ref(names[i]);
        if (!refs[i]) return std::nullopt;
        made[i] = refs[i]->dir == RefDir::none;
      }
      for (const stripe::Index& index : level.block->idxs) {
        const double range = range_of(index, level.fixed);
        if (range <= 1) continue;
        bool moves[3] = {made[0], made[1], made[2]};
        for (int i = 0; i < 3; ++i)
          for (size_t d = 0; !moves[i] && d < refs[i]->access.size(); ++d)
            moves[i] = refs[i]->access[d].coefficient(index.name) != 0;
        (!moves[0] ? out.k : moves[1] == moves[2] ? out.batch : moves[1] ? out.m : out.n) *= range;
      }
      std::string* const operands[] = {&out.result, &out.first, &out.second};
      for (int i = 0; i < 3; ++i) {
        if (!refs[i] || made[i]) continue;
        if (l == 1) *operands[i] = refs[i]->into;
        names[i] = refs[i]->from;
      }
    }
    return out;
  }

  BlockWork work_;
  std::vector<Level> levels_;
};

}  // namespace

BlockWork work_of(const Block& block, const std::set<std::string>& fixed) {
  return Counter().run(block, fixed);
}

Footprint footprint_of(const Block& block, const Refinement& ref,
                       const std::set<std::string>& fixed) {
  struct Extent {
    int64_t stride;
    double size;
  };
  std::vector<Extent> extents;
  double elements = 1;
  for (size_t d = 0; d < ref.shape.dims.size(); ++d) {
    auto size = static_cast<double>(ref.shape.dims[d].size);
    for (const stripe::Index& index : block.idxs)
      if (index.range > 1 && !fixed.count(index.name))
        size += static_cast<double>(std::abs(ref.access[d].coefficient(index.name))) *
                static_cast<double>(index.range - 1);
    elements *= size;
    if (size > 1) extents.push_back({std::abs(ref.shape.dims[d].stride), size});
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.stride < b.stride; });
  double run = 1, runs = 1;
  for (const Extent& extent : extents) {
    if (runs > 1 || static_cast<double>(extent.stride) > run)
      runs *= extent.size;
    else
      run += static_cast<double>(extent.stride) * (extent.size - 1);
  }
  const auto bytes = static_cast<double>(byte_size(ref.shape.type));
  return {elements * bytes, std::min(run, elements) * bytes, runs};
}

namespace {

// `strides` null: those of the refinements.
int64_t inner_stride(const Block& block, const std::string& name,
                     const std::vector<int64_t>* strides) {
  const Refinement* ref = block.find_ref(name);
  if (!ref) return 0;
  for (const Statement& stmt : block.stmts)
    if (const Block* inner = stmt.block())
      for (const Refinement& view : inner->refs)
        if (view.dir != RefDir::none && view.from == name)
          if (const int64_t stride = inner_stride(*inner, view.into, strides)) return stride;
  for (size_t i = block.idxs.size(); i > 0; --i) {
    if (block.idxs[i - 1].range <= 1) continue;
    int64_t step = 0;
    for (size_t d = 0; d < ref->access.size(); ++d)
      step += ref->access[d].coefficient(block.idxs[i - 1].name) *
              (strides ? (*strides)[d] : ref->shape.dims[d].stride);
    if (step != 0) return std::abs(step) * byte_size(ref->shape.type);
  }
  return 0;
}

}  // namespace

int64_t inner_stride_bytes(const Block& block, const std::string& ref) {
  return inner_stride(block, ref, nullptr);
}

int64_t inner_stride_bytes(const Block& block, const std::string& ref,
                           const std::vector<int64_t>& strides) {
  return inner_stride(block, ref, &strides);
}

double bank_conflicts(int64_t stride_bytes, int64_t banks, int64_t bank_bytes) {
  if (banks <= 1 || bank_bytes <= 0) return 1;
  if (stride_bytes <= bank_bytes || stride_bytes % bank_bytes != 0) return 1;
  return static_cast<double>(std::gcd(stride_bytes / bank_bytes, banks));
}

}  // namespace stria::cost
