// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/inline_producers.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "stria/base/refusal.h"
#include "stria/builtins/builtin.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/scalar_types.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool is_cheap(const std::string& name) {
  const Builtin* builtin = find_builtin(name);
  return builtin && builtin->cost == Cost::cheap;
}

double point_count(const Block& block) {
  double points = 1;
  for (const Index& index : block.idxs) points *= static_cast<double>(index.range);
  return points;
}

double bytes_of(const Refinement& tensor) {
  return static_cast<double>(tensor.shape.element_count()) *
         static_cast<double>(byte_size(tensor.shape.type));
}

bool is_one_element(const Refinement& ref) {
  return ref.shape.element_count() == 1 && !ref.tags.has(stripe::tag::kClamp) &&
         !ref.tags.has(stripe::tag::kZeroFill);
}

// Refuses all but a leaf of loads, stores and operations on elements that indices choose.
Refusal why_not_plain(const Block& kernel) {
  if (!is_leaf(kernel)) return "it holds blocks or a special";
  if (kernel.tags.has(stripe::tag::kVector) || kernel.tags.has(stripe::tag::kDeps))
    return "it is cut already";
  for (const Refinement& ref : kernel.refs)
    if (ref.dir == RefDir::none || !ref.location.empty()) return "it allocates or has its place";
  for (const Statement& stmt : kernel.stmts) {
    if (!stmt.deps.empty()) return "its statements are ordered by dependencies";
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    const auto* store = std::get_if<stripe::Store>(&stmt.op);
    if ((load && !load->at.empty()) || (store && !store->at.empty()))
      return "scalars choose elements";
  }
  return Refusal::none();
}

// If the statement loads what the block itself has stored before: the scalar that was stored. Else
// "".
std::string stored_scalar(const Block& block, size_t position) {
  const auto* load = std::get_if<stripe::Load>(&block.stmts[position].op);
  if (!load || !is_written(*block.find_ref(load->from))) return "";
  for (size_t i = position; i-- > 0;)
    if (const auto* store = std::get_if<stripe::Store>(&block.stmts[i].op);
        store && store->into == load->from)
      return store->from;
  return "";
}

// How a producer computes one of its tensors.
struct Recipe {
  std::string tensor;  // in the section
  std::string result;  // the scalar that is stored
  std::vector<size_t> statements;
  std::set<std::string> views;       // that the statements load through
  std::vector<std::string> indices;  // for each dimension the index that walks along it, or ""
};

class SectionInliner {
 public:
  SectionInliner(Block& section, const TensorNames& around, const InlineProducersOptions& options,
                 PassContext& context)
      : section_(section), names_(around.inside(section)), options_(options), context_(context) {
    for (size_t i = 0; i < section.refs.size(); ++i) refs_.emplace(section.refs[i].into, i);
    for (size_t i = 0; i < section.stmts.size(); ++i) {
      const Block* kernel = section.stmts[i].block();
      if (!kernel) {
        has_specials_ = true;
        continue;
      }
      for (const Refinement& ref : kernel->refs) {
        if (ref.dir == RefDir::none) continue;
        users_[ref.from].insert(i);
        if (is_written(ref)) writers_[names_.of(ref.from)].insert(i);
      }
    }
  }

  void run() {
    if (section_.tags.has(stripe::tag::kDeps)) return;
    for (const Statement& stmt : section_.stmts)
      if (!stmt.deps.empty()) return;
    std::vector<bool> stays(section_.stmts.size(), true);
    for (size_t p = 0; p < section_.stmts.size(); ++p) {
      const Block* producer = kernel_at(p);
      if (!producer || !makes_private_tensors(*producer)) continue;
      context_.matched();
      std::vector<Recipe> recipes;
      std::map<size_t, std::vector<const Recipe*>> readers;
      if (const Refusal refusal = look_at(p, stays, recipes, readers)) {
        context_.skipped(producer->name, refusal.reason());
        continue;
      }
      for (const auto& [position, of] : readers)
        for (const Recipe* recipe : of) insert(*producer, *recipe, position);
      for (const Recipe& recipe : recipes) gone_.insert(recipe.tensor);
      stays[p] = false;
      context_.count("producers_inlined");
      context_.changed();
    }
    erase_statements(section_, stays);
    std::erase_if(section_.refs, [&](const Refinement& ref) { return gone_.count(ref.into) > 0; });
  }

 private:
  // The section's refinement, or null.
  const Refinement* find_tensor(const std::string& name) const {
    auto at = refs_.find(name);
    return at == refs_.end() ? nullptr : &section_.refs[at->second];
  }

  const Block* kernel_at(size_t position) const {
    const Block* kernel = section_.stmts[position].block();
    return kernel && kernel->tags.has_all(options_.reqs) ? kernel : nullptr;
  }

  // Does the kernel write tensors, and only temporaries of the section?
  bool makes_private_tensors(const Block& producer) const {
    bool writes = false;
    for (const Refinement& ref : producer.refs) {
      if (!is_written(ref)) continue;
      const Refinement* tensor = find_tensor(ref.from);
      if (!tensor || tensor->dir != RefDir::none || tensor->swizzle || tensor->is_const)
        return false;
      writes = true;
    }
    return writes;
  }

  // Finds how the kernel computes its tensors, and which kernels read them. Refuses a kernel that
  // must stay.
  Refusal look_at(size_t position, const std::vector<bool>& stays, std::vector<Recipe>& recipes,
                  std::map<size_t, std::vector<const Recipe*>>& readers) const {
    STRIA_RETURN_IF_REFUSED(find_recipes(*kernel_at(position), recipes));
    for (const Recipe& recipe : recipes)
      STRIA_RETURN_IF_REFUSED(find_readers(position, stays, recipe, readers));
    return readers.empty() ? "nobody reads it" : Refusal::none();
  }

  Refusal find_recipes(const Block& producer, std::vector<Recipe>& recipes) const {
    STRIA_RETURN_IF_REFUSED(why_not_plain(producer));
    if (!producer.constraints.empty()) return "it has constraints";
    STRIA_RETURN_IF_REFUSED(why_points_do_not_commute(producer, names_));
    for (const Index& index : producer.idxs)
      if (index.affine) return "an index runs from an affine form";
    const std::map<std::string, DataType> types = stripe::scalar_types(producer);
    for (const Refinement& ref : producer.refs) {
      if (!is_written(ref)) {
        if (!is_one_element(ref)) return "it reads beyond tensors";
        continue;
      }
      if (ref.dir != RefDir::out || ref.agg) return "it adds to what is there";
      Recipe recipe;
      recipe.tensor = ref.from;
      STRIA_RETURN_IF_REFUSED(cover(producer, ref, recipe));
      for (const Statement& stmt : producer.stmts)
        if (const auto* store = std::get_if<stripe::Store>(&stmt.op);
            store && store->into == ref.into) {
          if (!recipe.result.empty()) return "it stores twice";
          recipe.result = store->from;
        }
      auto type = types.find(recipe.result);
      if (type == types.end() || type->second != ref.shape.type)
        return "storing converts what it computes";
      STRIA_RETURN_IF_REFUSED(slice(producer, recipe));
      recipes.push_back(std::move(recipe));
    }
    return Refusal::none();
  }

  // Refuses a producer unless each point writes one element of the tensor, and all are written.
  Refusal cover(const Block& producer, const Refinement& ref, Recipe& recipe) const {
    const Refinement& tensor = *find_tensor(ref.from);
    std::set<std::string> taken;
    for (size_t d = 0; d < ref.access.size(); ++d) {
      std::string index;
      const int64_t size = tensor.shape.dims[d].size;
      if (ref.access[d] == Affine() && size == 1) {
        recipe.indices.push_back("");
        continue;
      }
      if (!ref.access[d].is_single_index(&index) || !taken.insert(index).second ||
          producer.find_index(index)->range != size)
        return "it does not write its tensors point by point";
      recipe.indices.push_back(index);
    }
    for (const Index& index : producer.idxs)
      if (index.range != 1 && !taken.count(index.name))
        return "it does not write its tensors point by point";
    return is_one_element(ref) ? Refusal::none() : "it writes more than elements";
  }

  // Is the tensor so much smaller than the other one that caches keep it? Sums of rows and weights
  // of columns are.
  bool is_small(const std::string& tensor, const std::string& beside) const {
    const Refinement* ref = find_tensor(tensor);
    return ref && 10 * bytes_of(*ref) <= bytes_of(*find_tensor(beside));
  }

  // Finds the statements that compute the result; refuses too many operations.
  Refusal slice(const Block& producer, Recipe& recipe) const {
    std::set<std::string> needed = {recipe.result};
    for (size_t i = producer.stmts.size(); i-- > 0;) {
      const Statement& stmt = producer.stmts[i];
      const std::vector<std::string> outputs = scalar_outputs(stmt);
      if (std::none_of(outputs.begin(), outputs.end(),
                       [&](const std::string& name) { return needed.count(name) > 0; }))
        continue;
      for (const std::string& name : scalar_inputs(stmt)) needed.insert(name);
      if (const std::string stored = stored_scalar(producer, i); !stored.empty())
        needed.insert(stored);
      recipe.statements.insert(recipe.statements.begin(), i);
    }
    std::set<std::string> varying;  // scalars that are not the same for a whole row or column
    int64_t operations = 0;
    for (const size_t i : recipe.statements) {
      const Statement& stmt = producer.stmts[i];
      if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) {
        if (const std::string stored = stored_scalar(producer, i); !stored.empty()) {
          if (varying.count(stored)) varying.insert(load->into);
          continue;
        }
        recipe.views.insert(load->from);
        if (!is_small(producer.find_ref(load->from)->from, recipe.tensor))
          varying.insert(load->into);
      } else if (const auto* index = std::get_if<stripe::LoadIndex>(&stmt.op)) {
        varying.insert(index->into);
      } else if (const auto* op = std::get_if<stripe::Intrinsic>(&stmt.op)) {
        if (std::none_of(op->inputs.begin(), op->inputs.end(),
                         [&](const std::string& name) { return varying.count(name) > 0; }))
          continue;
        varying.insert(op->outputs.begin(), op->outputs.end());
        ++operations;
        if (!is_cheap(op->name)) return fmt::format("'{}' is not done twice", op->name);
      }
    }
    if (operations <= options_.max_operations) return Refusal::none();
    return fmt::format("it takes {} operations, {} are allowed", operations,
                       options_.max_operations);
  }

  // Finds the kernels that read the tensor; refuses what cannot be inlined into all of them.
  Refusal find_readers(size_t producer, const std::vector<bool>& stays, const Recipe& recipe,
                       std::map<size_t, std::vector<const Recipe*>>& readers) const {
    const Block& made_by = *section_.stmts[producer].block();
    const Refinement& tensor = *find_tensor(recipe.tensor);
    bool read = false;
    if (has_specials_) return "a special may use its tensor";
    for (const size_t i : users_.at(recipe.tensor)) {
      if (i == producer || !stays[i]) continue;
      const Block* kernel = section_.stmts[i].block();
      bool uses = false;
      for (const Refinement& ref : kernel->refs) {
        if (ref.dir == RefDir::none || ref.from != recipe.tensor) continue;
        if (is_written(ref) || i < producer) return "others write its tensor";
        if (!is_one_element(ref)) return "a reader sees more than elements";
        uses = true;
      }
      if (!uses) continue;
      if (!kernel_at(i)) return "what reads it is no such kernel";
      if (const Refusal refusal = why_not_plain(*kernel))
        return fmt::format("what reads it stays: {}", refusal.reason());
      if (point_count(*kernel) > static_cast<double>(tensor.shape.element_count()))
        return "elements are read more than once";
      if (loaded_instead(made_by, recipe, *kernel) > bytes_of(tensor))
        return "it reads more than it writes";
      STRIA_RETURN_IF_REFUSED(changed_between(producer, i, recipe));
      readers[i].push_back(&recipe);
      read = true;
    }
    return read ? Refusal::none() : "nobody reads one of its tensors";
  }

  // Bytes of the tensors that the reader would have to load and does not load yet. Small ones do
  // not count, since caches keep them.
  double loaded_instead(const Block& producer, const Recipe& recipe, const Block& reader) const {
    double bytes = 0;
    for (const std::string& name : recipe.views) {
      const Refinement& view = *producer.find_ref(name);
      const bool known = std::any_of(
          reader.refs.begin(), reader.refs.end(),
          [&](const Refinement& ref) { return ref.dir == RefDir::in && ref.from == view.from; });
      if (!known && !is_small(view.from, recipe.tensor)) bytes += bytes_of(*find_tensor(view.from));
    }
    return bytes;
  }

  Refusal changed_between(size_t producer, size_t reader, const Recipe& recipe) const {
    const Block& made_by = *section_.stmts[producer].block();
    for (const std::string& name : recipe.views) {
      auto writers = writers_.find(names_.of(made_by.find_ref(name)->from));
      if (writers == writers_.end()) continue;
      auto next = writers->second.upper_bound(producer);
      if (next != writers->second.end() && *next <= reader)
        return "what it reads is written before it is read";
    }
    return Refusal::none();
  }

  // Replaces the reader's loads of the tensor by the statements that compute it.
  void insert(const Block& producer, const Recipe& recipe, size_t position) {
    Block& reader = *section_.stmts[position].block();
    for (const std::string& name : recipe.views)
      users_[producer.find_ref(name)->from].insert(position);
    std::set<std::string> scalars;
    for (const Statement& stmt : reader.stmts)
      for (const std::string& name : scalar_outputs(stmt)) scalars.insert(name);
    std::set<std::string> loaded_through;
    for (const Refinement& ref : reader.refs)
      if (ref.dir == RefDir::in && ref.from == recipe.tensor) loaded_through.insert(ref.into);
    std::vector<Statement> all;
    std::map<std::string, std::string> results;  // loaded scalar -> computed scalar
    for (Statement& stmt : reader.stmts) {
      const auto* load = std::get_if<stripe::Load>(&stmt.op);
      if (!load || !loaded_through.count(load->from)) {
        rename_inputs(stmt, results);
        all.push_back(std::move(stmt));
        continue;
      }
      std::map<std::string, Affine> point;  // of the producer
      for (const Index& index : producer.idxs) point[index.name] = Affine();
      const Refinement view = *reader.find_ref(load->from);
      for (size_t d = 0; d < recipe.indices.size(); ++d)
        if (!recipe.indices[d].empty()) point[recipe.indices[d]] = view.access[d];
      std::map<std::string, std::string> names;
      for (const size_t i : recipe.statements) {
        if (const std::string stored = stored_scalar(producer, i); !stored.empty()) {
          names[scalar_outputs(producer.stmts[i])[0]] = names.at(stored);
          continue;
        }
        Statement copy = producer.stmts[i];
        rename_inputs(copy, names);
        if (auto* from = std::get_if<stripe::Load>(&copy.op)) {
          from->from = view_at(*producer.find_ref(from->from), point, reader);
          define(from->into, names, scalars);
        } else if (auto* index = std::get_if<stripe::LoadIndex>(&copy.op)) {
          index->from = index->from.substitute(point);
          define(index->into, names, scalars);
        } else if (auto* constant = std::get_if<stripe::Constant>(&copy.op)) {
          define(constant->into, names, scalars);
        } else if (auto* op = std::get_if<stripe::Intrinsic>(&copy.op)) {
          for (std::string& name : op->outputs) define(name, names, scalars);
        }
        all.push_back(std::move(copy));
      }
      results[load->into] = names.at(recipe.result);
    }
    reader.stmts = std::move(all);
    std::erase_if(reader.refs,
                  [&](const Refinement& ref) { return loaded_through.count(ref.into) > 0; });
  }

  static void define(std::string& name, std::map<std::string, std::string>& names,
                     std::set<std::string>& taken) {
    const std::string free = fresh_name(name, taken);
    names[name] = free;
    name = free;
  }

  // The reader's view of what the producer reads at the point. Adds one if there is none.
  static std::string view_at(const Refinement& view, const std::map<std::string, Affine>& point,
                             Block& reader) {
    Refinement own = view;
    for (Affine& form : own.access) form = form.substitute(point);
    for (const Refinement& ref : reader.refs)
      if (ref.dir == RefDir::in && ref.from == own.from && ref.access == own.access &&
          ref.shape == own.shape && ref.tags == own.tags)
        return ref.into;
    own.into = reader.fresh_name(own.into);
    reader.refs.push_back(own);
    return own.into;
  }

  Block& section_;
  const TensorNames names_;
  std::unordered_map<std::string, size_t> refs_;               // name -> position in the section
  std::unordered_map<std::string, std::set<size_t>> users_;    // refinement -> statements
  std::unordered_map<std::string, std::set<size_t>> writers_;  // allocation -> statements
  bool has_specials_ = false;
  std::unordered_set<std::string> gone_;  // refinements that nothing uses any more
  const InlineProducersOptions& options_;
  PassContext& context_;
};

}  // namespace

void describe(InlineProducersOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags of producers and of the kernels that read them");
  fields.add("max_operations", options.max_operations,
             "operations that a producer takes for one element of a tensor, at most", {0, 1000});
}

Status inline_producers(stripe::Program& program, const InlineProducersOptions& options,
                        PassContext& context) {
  const TensorNames around = TensorNames().inside(program.entry);
  for (Block* section : {program.prologue(), program.main()})
    if (section) SectionInliner(*section, around, options, context).run();
  return {};
}

}  // namespace stria::passes
