// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/join_pieces.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "stria/base/refusal.h"
#include "stria/pass/machine_option.h"
#include "stria/rewrite/fresh_names.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/joined_name.h"
#include "stria/rewrite/outer_part.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

using Intervals = std::vector<Interval>;

bool lie_apart(const Intervals& a, const Intervals& b) {
  for (size_t d = 0; d < a.size(); ++d)
    if (a[d].upper < b[d].lower || b[d].upper < a[d].lower) return true;
  return false;
}

int64_t statements_in(const Block& block) {
  int64_t count = 0;
  for (const Statement& stmt : block.stmts)
    count += stmt.block() ? statements_in(*stmt.block()) : 1;
  return count;
}

// A kernel of the section that is a piece of a tensor.
struct Piece {
  Statement stmt;
  std::string written;  // the tensor, by its name in the section
  Intervals box;        // the part of it that the piece writes
  // For each dimension the index that walks along it, and along none before it; or "".
  std::vector<std::string> walked;
  std::set<std::string> tensors;  // allocations that it reads
  int64_t views = 0, statements = 0;
  double work = 0;

  const Block& block() const { return *stmt.block(); }
  int64_t range(size_t d) const {
    return walked[d].empty() ? 1 : block().find_index(walked[d])->range;
  }
};

// Makes one block of the pieces of a tensor.
class Join {
 public:
  Join(std::vector<Piece> pieces, const JoinPiecesOptions& options)
      : pieces_(std::move(pieces)), options_(options) {}

  Block run() {
    for (const Piece& piece : pieces_) {
      for (const Refinement& ref : piece.block().refs) names_.take(ref.into);
      joined_.name =
          joined_.name.empty() ? piece.block().name : joined_name(joined_.name, piece.block().name);
      joined_.comments = joined_comments(std::move(joined_.comments), piece.block().comments);
    }
    joined_.tags.set(stripe::tag::kKernel);
    joined_.tags.set_all(options_.set_tags);
    choose_indices();
    for (Piece& piece : pieces_) add(piece);
    std::stable_partition(joined_.refs.begin(), joined_.refs.end(),
                          [](const Refinement& ref) { return !is_written(ref); });
    return std::move(joined_);
  }

 private:
  void choose_indices() {
    double work = 0;
    for (const Piece& piece : pieces_) work += piece.work;
    parts_ =
        options_.parts > 0 && work < static_cast<double>(options_.min_work) ? 1 : options_.parts;
    const size_t rank = pieces_[0].box.size();
    if (parts_ == 0) {
      for (size_t d = 0; d < rank; ++d) {
        int64_t range = 1;
        std::string name = fmt::format("p{}", d);
        for (const Piece& piece : pieces_) range = std::max(range, piece.range(d));
        add_index(std::move(name), range);
      }
    } else if (parts_ > 1) {
      int64_t range = 1;
      for (const Piece& piece : pieces_) range = std::max(range, parts_of(piece, first_dim(piece)));
      add_index("part", range);
    }
  }

  void add_index(std::string name, int64_t range) {
    Index index;
    index.name = names_.fresh(name);
    index.range = range;
    if (range > 1) joined_.idxs.push_back(index);
    indices_.push_back(std::move(index));
  }

  static size_t first_dim(const Piece& piece) {
    for (const Index& index : piece.block().idxs)
      for (size_t d = 0; d < piece.walked.size(); ++d)
        if (piece.walked[d] == index.name && index.range > 1) return d;
    return 0;
  }

  int64_t tile_of(const Piece& piece, size_t d) const {
    return parts_ == 0 ? 1 : ceil_div(piece.range(d), parts_);
  }
  int64_t parts_of(const Piece& piece, size_t d) const {
    return ceil_div(piece.range(d), tile_of(piece, d));
  }

  // The dimensions of the written tensor that belong to the joined block's indices.
  std::vector<size_t> cut_dims(const Piece& piece) const {
    if (indices_.empty()) return {};
    if (parts_ > 1) return {first_dim(piece)};
    std::vector<size_t> dims;
    for (size_t d = 0; d < piece.box.size(); ++d) dims.push_back(d);
    return dims;
  }

  void add(Piece& piece) {
    Block outer = std::move(*piece.stmt.block());
    const std::vector<size_t> dims = cut_dims(piece);
    std::map<std::string, int64_t> tile;
    for (const size_t d : dims)
      if (!piece.walked[d].empty()) {
        const Index& index = *outer.find_index(piece.walked[d]);
        tile[index.name] = ceil_div(index.range, parts_ == 0 ? index.range : parts_);
      }
    std::vector<int64_t> parts;  // along each of `dims`
    for (const size_t d : dims) {
      const Index* index = outer.find_index(piece.walked[d]);
      parts.push_back(index ? ceil_div(index->range, tile.at(index->name)) : 1);
    }
    split_block(outer, tile);
    std::map<std::string, Affine> to_joined;
    for (size_t i = 0; i < dims.size(); ++i)
      if (parts[i] > 1) to_joined[piece.walked[dims[i]]] = Affine::of(indices_[i].name);
    keep_inside(outer);
    rename_indices(outer, to_joined);
    Block& inner = *outer.stmts[0].block();
    for (size_t i = 0; i < dims.size(); ++i) {
      if (parts[i] == indices_[i].range) continue;
      const std::string& name = indices_[i].name;
      // A point beyond the piece's last part does nothing. The view moves with the index all the
      // same, so that different points visibly write different elements.
      inner.constraints.push_back(Affine(parts[i] - 1) - Affine::of(bring_in(inner, name)));
      if (parts[i] > 1) continue;
      for (Refinement& ref : outer.refs)
        if (is_written(ref)) ref.access[dims[i]] += Affine::of(name) * width(piece, dims[i]);
    }
    take_refs(outer);
    joined_.stmts.push_back(std::move(outer.stmts[0]));
  }

  static int64_t width(const Piece& piece, size_t d) {
    return piece.box[d].upper - piece.box[d].lower + 1;
  }

  // Adds the outer block's views to the joined block. Equal views become one.
  void take_refs(Block& outer) {
    std::map<std::string, std::string> renamed;
    for (Refinement& ref : outer.refs) {
      const std::string old = ref.into;
      for (const Refinement& known : joined_.refs) {
        ref.into = known.into;
        if (ref.dir == RefDir::in && known == ref) {
          renamed[old] = known.into;
          break;
        }
      }
      if (renamed.count(old)) continue;
      ref.into = joined_.find_ref(old) ? names_.fresh(old) : old;
      renamed[old] = ref.into;
      joined_.refs.push_back(std::move(ref));
    }
    for (Refinement& ref : outer.stmts[0].block()->refs)
      if (ref.dir != RefDir::none) ref.from = renamed.at(ref.from);
  }

  std::vector<Piece> pieces_;
  const JoinPiecesOptions& options_;
  int64_t parts_ = 1;
  std::vector<Index> indices_;  // of the joined block, also those of one value
  FreshNames names_;
  Block joined_;
};

class SectionJoiner {
 public:
  SectionJoiner(Block& section, const TensorNames& around, const JoinPiecesOptions& options,
                PassContext& context)
      : section_(section), names_(around.inside(section)), options_(options), context_(context) {}

  void run() {
    for (const Statement& stmt : section_.stmts)
      if (section_.tags.has(stripe::tag::kDeps) || !stmt.deps.empty())
        return context_.skipped(section_.name, "its statements are ordered by dependencies");
    std::vector<Statement> all = std::move(section_.stmts);
    section_.stmts.clear();
    for (Statement& stmt : all) {
      if (!is_selected(stmt)) {
        if (!pieces_.empty() && meets(stmt)) close();
        section_.stmts.push_back(std::move(stmt));
        continue;
      }
      context_.matched();
      Piece piece;
      if (const Refusal refusal = look_at(*stmt.block(), piece)) {
        context_.skipped(stmt.block()->name, refusal.reason());
        if (!pieces_.empty() && meets(stmt)) close();
        section_.stmts.push_back(std::move(stmt));
        continue;
      }
      piece.stmt = std::move(stmt);
      if (const Refusal refusal = why_apart(piece)) {
        context_.skipped(piece.block().name, refusal.reason());
        close();
      }
      add(std::move(piece));
    }
    close();
  }

 private:
  bool is_selected(const Statement& stmt) const {
    return stmt.block() && stmt.block()->tags.has_all(options_.reqs);
  }

  // Fills in `piece`, or refuses a block that is no piece.
  Refusal look_at(const Block& block, Piece& piece) const {
    for (const char* tag : {stripe::tag::kParallel, stripe::tag::kVector, stripe::tag::kUnroll,
                            stripe::tag::kPipeline, stripe::tag::kStencil, stripe::tag::kDeps})
      if (block.tags.has(tag)) return fmt::format("it is #{}", tag);
    if (!block.location.empty()) return "it has a unit of its own";
    for (const Index& index : block.idxs)
      if (index.affine) return "an index runs from an affine form";
    const Refinement* out = nullptr;
    for (const Refinement& ref : block.refs) {
      if (ref.dir == RefDir::none) continue;
      ++piece.views;
      if (!is_written(ref)) {
        piece.tensors.insert(names_.of(ref.from));
        continue;
      }
      if (out || ref.dir != RefDir::out || ref.agg) return "it does more than write one tensor";
      out = &ref;
    }
    if (!out) return "it writes nothing";
    if (piece.tensors.count(names_.of(out->from))) return "it reads what it writes";
    if (stores_where_chosen(block)) return "a scalar chooses where it stores";
    if (const Refusal refusal = why_points_do_not_commute(block, names_))
      return "points do not commute: " + refusal.reason();
    piece.written = out->from;
    piece.box = stripe::reach(block, *out, index_ranges(block));
    piece.statements = statements_in(block);
    piece.work = work_of(block);
    for (const Affine& form : out->access) {
      std::string index = walks(block, form);
      // On a diagonal only one dimension is cut: two would run each of its points many times.
      if (std::find(piece.walked.begin(), piece.walked.end(), index) != piece.walked.end())
        index.clear();
      piece.walked.push_back(std::move(index));
    }
    return Refusal::none();
  }

  // The index of the largest positive coefficient in the form.
  static std::string walks(const Block& block, const Affine& form) {
    std::string name;
    for (const auto& [term, step] : form.terms())
      if (step > 0 && block.find_index(term)->range > 1 &&
          (name.empty() || step > form.coefficient(name)))
        name = term;
    return name;
  }

  // Refuses a piece that cannot be joined with those collected so far.
  Refusal why_apart(const Piece& piece) const {
    if (pieces_.empty()) return Refusal::none();
    if (piece.written != pieces_[0].written) return "the one before it writes another tensor";
    int64_t views = piece.views, statements = piece.statements;
    double points = volume(piece), largest = points;
    for (const Piece& open : pieces_) {
      if (!lie_apart(open.box, piece.box)) return "it writes what one before it writes";
      views += open.views;
      statements += open.statements;
      points += volume(open);
      largest = std::max(largest, volume(open));
    }
    if (views > options_.max_refs) return "it would be a view too many";
    if (statements > options_.max_statements) return "it would be a statement too many";
    // Each point of the joined kernel tests, for each piece, whether the piece has that point.
    if (options_.parts == 0 && largest * static_cast<double>(pieces_.size() + 1) > 2 * points)
      return "the sizes of the pieces differ too much";
    return Refusal::none();
  }

  static double volume(const Piece& piece) {
    double points = 1;
    for (const Interval& part : piece.box)
      points *= static_cast<double>(part.upper) - static_cast<double>(part.lower) + 1;
    return points;
  }

  void add(Piece piece) {
    if (pieces_.empty()) first_ = section_.stmts.size();
    read_.insert(piece.tensors.begin(), piece.tensors.end());
    pieces_.push_back(std::move(piece));
  }

  // Does the statement depend on the collected pieces, so that it cannot move before them?
  bool meets(const Statement& stmt) const {
    const Block* block = stmt.block();
    if (!block) return true;
    const std::string& written = names_.of(pieces_[0].written);
    return std::any_of(block->refs.begin(), block->refs.end(), [&](const Refinement& ref) {
      if (ref.dir == RefDir::none) return false;
      const std::string& tensor = names_.of(ref.from);
      return tensor == written || (is_written(ref) && read_.count(tensor) > 0);
    });
  }

  void close() {
    read_.clear();
    std::vector<Piece> pieces = std::move(pieces_);
    pieces_.clear();
    if (pieces.size() < 2) {
      // A single piece goes back to where it was.
      for (Piece& piece : pieces)
        section_.stmts.insert(section_.stmts.begin() + static_cast<std::ptrdiff_t>(first_),
                              std::move(piece.stmt));
      return;
    }
    context_.count("pieces_joined", static_cast<int64_t>(pieces.size()));
    context_.count("kernels_made");
    context_.changed();
    section_.stmts.emplace_back(Join(std::move(pieces), options_).run());
  }

  Block& section_;
  const TensorNames names_;
  const JoinPiecesOptions& options_;
  PassContext& context_;
  std::vector<Piece> pieces_;   // collected so far, for one joined kernel
  std::set<std::string> read_;  // allocations that they read
  size_t first_ = 0;            // the position of the first of them
};

}  // namespace

void describe(JoinPiecesOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags of the pieces");
  fields.set_tags("set_tags", options.set_tags, "tags of the joined kernel");
  fields.add(
      "parts", options.parts,
      "into which each piece is cut along the first of its indices: the joined kernel has so many "
      "points; 0 = each piece is cut into its points",
      {0, 1 << 20});
  fields.add("min_work", options.min_work,
             "statements that run; the pieces of a joined kernel with fewer are not cut; -1 = the "
             "calibration of the model says",
             {-1});
  fields.add("max_refs", options.max_refs, "views of tensors that the joined kernel has, at most",
             {1});
  fields.add("max_statements", options.max_statements, "statements of the joined kernel, at most",
             {1});
}

Status join_pieces(stripe::Program& program, const JoinPiecesOptions& given, PassContext& context) {
  JoinPiecesOptions options = given;
  options.min_work = or_machines(given.min_work, context.model().core_facts().worth_statements, -1);
  const TensorNames around = TensorNames().inside(program.entry);
  for (Block* section : {program.prologue(), program.main()})
    if (section) SectionJoiner(*section, around, options, context).run();
  return {};
}

}  // namespace stria::passes
