// SPDX-License-Identifier: Apache-2.0
// The verifier's rules that need no sets and no ranges.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "stria/base/text.h"
#include "stria/stripe/agents.h"
#include "stria/stripe/allocation_lives.h"
#include "stria/stripe/scalar_types.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/text/lexer.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/findings.h"

namespace stria::stripe {
namespace {

enum class Part { entry, prologue, main };

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

std::vector<std::string> index_names(const Block& block) {
  std::vector<std::string> names;
  for (const Index& index : block.idxs) names.push_back(index.name);
  return names;
}

std::vector<std::string> ref_names(const Block& block) {
  std::vector<std::string> names;
  for (const Refinement& ref : block.refs) names.push_back(ref.into);
  return names;
}

// A block's refinements by name, and the first statement that writes each: found in one pass, for
// #main has hundreds of both.
class BlockNames {
 public:
  explicit BlockNames(const Block& block) : block_(block) {
    for (const Refinement& ref : block.refs) refs_.emplace(ref.into, &ref);
  }

  const Refinement* find(std::string_view name) const {
    auto at = refs_.find(name);
    return at == refs_.end() ? nullptr : at->second;
  }

  // Whether a statement before `position` writes the refinement.
  bool written_before(size_t position, std::string_view name) {
    if (!looked_) look();
    auto at = first_write_.find(name);
    // Roles run beside each other.
    return at != first_write_.end() && (at->second < position || block_.tags.has(tag::kRoles));
  }

 private:
  void look() {
    looked_ = true;
    for (size_t i = 0; i < block_.stmts.size(); ++i) {
      const Statement& stmt = block_.stmts[i];
      if (auto* s = std::get_if<Store>(&stmt.op)) first_write_.emplace(s->into, i);
      if (auto* s = stmt.special())
        for (const std::string& name : s->outputs) first_write_.emplace(name, i);
      if (const Block* inner = stmt.block())
        for (const Refinement& ref : inner->refs)
          if (is_written(ref)) first_write_.emplace(ref.from, i);
    }
  }

  const Block& block_;
  std::unordered_map<std::string_view, const Refinement*> refs_;
  std::unordered_map<std::string_view, size_t> first_write_;
  bool looked_ = false;
};

// Whether a block that views something as `ref` (inout) reads it before it has written it: decided
// by the first statement that touches it.
bool reads_first(const Block& block, const Refinement& ref) {
  if (block.tags.has(tag::kRoles)) return false;  // one role may write what another reads
  auto among = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), ref.into) != names.end();
  };
  for (const Statement& stmt : block.stmts) {
    if (auto* s = std::get_if<Load>(&stmt.op); s && s->from == ref.into) return true;
    if (auto* s = std::get_if<Store>(&stmt.op); s && s->into == ref.into)
      return ref.agg.has_value();
    if (auto* s = stmt.special()) {
      if (among(s->inputs)) return true;
      if (among(s->outputs)) return false;
    }
    const Block* inner = stmt.block();
    if (!inner) continue;
    bool touched = false;
    for (const Refinement& view : inner->refs) {
      if (view.from != ref.into) continue;
      touched = true;
      if (view.dir == RefDir::in || (view.dir == RefDir::inout && reads_first(*inner, view)))
        return true;
    }
    if (touched) return false;
  }
  return false;
}

bool is_one_element(const Refinement& ref) {
  return std::all_of(ref.shape.dims.begin(), ref.shape.dims.end(),
                     [](const Dim& dim) { return dim.size == 1; });
}

std::string agg_text(const std::optional<Aggregation>& agg) {
  return agg ? fmt::format("{}.{}", name_of(agg->op), name_of(agg->type)) : "none";
}

// Whether a distance in elements that the view names is beyond what 64 bits add up: of a step of an
// index, of its begin, or from its first element to its last.
bool reaches_too_far(const Refinement& ref) {
  constexpr int64_t kFar = int64_t{1} << 62;
  int64_t begin = 0, span = 0;
  // Adds a * b to `sum`; false beyond the limit.
  const auto add = [](int64_t a, int64_t b, int64_t& sum) {
    int64_t product = 0;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum) &&
           sum < kFar && sum > -kFar;
  };
  const int64_t bytes = std::max<int64_t>(1, byte_size(ref.shape.type));
  for (size_t d = 0; d < ref.access.size(); ++d) {
    const Dim& dim = ref.shape.dims[d];
    if (!add(ref.access[d].constant(), dim.stride, begin)) return true;
    for (const auto& [name, coefficient] : ref.access[d].terms()) {
      const auto uses = [&index = name](const Affine& form) { return form.uses(index); };
      if (std::any_of(ref.access.begin(), ref.access.begin() + static_cast<ptrdiff_t>(d), uses))
        continue;
      int64_t step = 0;
      if (!add(coefficient, dim.stride, step)) return true;
      for (size_t other = d + 1; other < ref.access.size(); ++other)
        if (!add(ref.access[other].coefficient(name), ref.shape.dims[other].stride, step))
          return true;
    }
    if (dim.size > 1 && !add(dim.size - 1, dim.stride, span)) return true;
  }
  int64_t span_bytes = 0;
  return !add(span, bytes, span_bytes);
}

class StructureCheck {
 public:
  StructureCheck(const VerifyOptions& options, Findings& findings)
      : options_(options), findings_(findings) {}

  void block(const Place& place, Part part) {
    const Block& block = *place.block;
    if (place.depth >= kMaxDepth) {
      findings_.add(place, fmt::format("blocks are nested deeper than the limit of {}", kMaxDepth));
      return;
    }
    while (names_.size() > static_cast<size_t>(place.depth)) names_.pop_back();
    names_.emplace_back(block);
    texts(place);
    tags(
        place, block.tags, [] { return std::string("the block"); },
        !place.parent      ? TagPlaces::program
        : place.depth == 1 ? TagPlaces::section
                           : TagPlaces::block);
    indices(place);
    for (const Affine& form : block.constraints)
      names_of(form, block, "an index", [&](const std::string& m) {
        findings_.add(place, fmt::format("constraint `{} >= 0`: {}", form.to_string(), m));
      });
    location(block.location, block, 0, false,
             [&](const std::string& m) { findings_.add(place, m); });
    for (const Refinement& ref : block.refs) {
      if (names_.back().find(ref.into) != &ref)
        findings_.add(place, ref, fmt::format("'{}' is made twice in this block", ref.into));
      refinement(place, ref, part);
    }
    statements(place, part);
  }

 private:
  template <typename Report>
  void names_of(const Affine& form, const Block& block, std::string_view what, Report report) {
    for (const auto& [name, coefficient] : form.terms())
      if (!block.find_index(name))
        report(fmt::format("'{}' is not {} of block '{}'{}", name, what, block.name,
                           did_you_mean(name, index_names(block))));
  }

  void texts(const Place& place) {
    const Block& block = *place.block;
    if (has_control(block.name) || trim(block.name) != block.name)
      findings_.add(place, "the block's name holds a line break or begins or ends with a blank");
    for (const std::string& comment : block.comments)
      if (has_control(comment))
        findings_.add(place, fmt::format("the comment '{}' holds a line break", comment));
  }

  // Has another check a message of its own about the tag's value?
  static bool says_more(std::string_view tag) {
    return tag == tag::kPipeline || tag == tag::kStencil;
  }

  // `of()` is what has them, for messages; `where` is the one place that it is.
  template <typename Of>
  void tags(const Place& place, const Tags& tags, const Of& of, TagPlaces where) {
    if (tags.all().empty()) return;
    const std::string what = of();
    for (const Tag& tag : tags.all()) {
      if (!is_identifier(tag.name))
        findings_.add(place, fmt::format("{} has the tag '{}', which is no name", what, tag.name));
      const KnownTag* known = known_tag(tag.name);
      if (!known || !known->is_reserved()) continue;
      if (!includes(known->places, where))
        findings_.add(place, fmt::format("{} is tagged #{}, which stands on {}", what, tag.name,
                                         places_as_text(known->places)));
      else if (!has_kind(tag.value, known->value) && !says_more(tag.name))
        findings_.add(place, fmt::format("{} is tagged #{}, which takes {}", what, tag.name,
                                         name_of(known->value)));
    }
    if (const TagValue* depth = tags.find(tag::kPipeline)) {
      auto* number = std::get_if<int64_t>(depth);
      if (!number || *number < 1)
        findings_.add(place, "#pipeline needs a number of points of at least 1");
    }
  }

  void indices(const Place& place) {
    const Block& block = *place.block;
    int64_t own = 0;
    for (const Index& index : block.idxs) {
      if (!is_identifier(index.name))
        findings_.add(place, fmt::format("index '{}' is no name", index.name));
      if (block.find_index(index.name) != &index)
        findings_.add(place, fmt::format("index '{}' is made twice", index.name));
      if (index.range < 0)
        findings_.add(place,
                      fmt::format("index '{}' has the negative range {}", index.name, index.range));
      tags(
          place, index.tags, [&] { return fmt::format("index '{}'", index.name); },
          TagPlaces::index);
      bool passed = index.affine && index.range == 1;
      own += !passed;
      if (!index.affine) continue;
      if (!place.parent) {
        if (!index.affine->is_constant())
          findings_.add(
              place, fmt::format("index '{}' of the outermost block has no outer indices to name",
                                 index.name));
        continue;
      }
      names_of(*index.affine, *place.parent->block, "an index", [&](const std::string& m) {
        findings_.add(place, fmt::format("index `{}:{} = {}`: {}", index.name, index.range,
                                         index.affine->to_string(), m));
      });
    }
    if (block.tags.has(tag::kVector) && own != 1)
      findings_.add(
          place,
          fmt::format("a #vector block has one index beside those passed from outside, this has {}",
                      own));
  }

  template <typename Report>
  void location(const Location& location, const Block& block, size_t rank, bool of_ref,
                Report report) {
    for (const LocationUnit& unit : location.path) {
      if (!is_identifier(unit.name))
        report(fmt::format("the unit '{}' of its location is no name", unit.name));
      if (options_.units && !options_.units->count(unit.name)) {
        std::vector<std::string> known;
        for (const auto& [name, count] : *options_.units) known.push_back(name);
        const std::string near = did_you_mean(unit.name, known);
        report(fmt::format(
            "the hardware model has no unit '{}'{}", unit.name,
            near.empty() && !known.empty() ? " (it has " + join(known, ", ") + ")" : near));
      }
      for (const Affine& form : unit.units) names_of(form, block, "an index", report);
      if (!of_ref && !unit.owners.empty())
        report("only a refinement's location has owners, not a block's");
      if (!unit.owners.empty() && &unit != &location.path.back())
        report(fmt::format("the owners stand with the last unit of a location, not with '{}'",
                           unit.name));
      for (size_t i = 0; i < unit.owners.size(); ++i)
        for (size_t j = 0; j < i; ++j)
          if (unit.owners[i].first == unit.owners[j].first)
            report(fmt::format("the owner '{}' stands twice", unit.owners[i].first));
      for (const auto& [name, form] : unit.owners) {
        if (!is_identifier(name)) report(fmt::format("the owner '{}' is no name", name));
        for (const BitField& field : form.fields) {
          if (field.dim < 0 || static_cast<size_t>(field.dim) >= rank)
            report(
                fmt::format("d{} is not a dimension of a refinement of rank {}", field.dim, rank));
          if (field.bits < 1 || field.bits > 62 || field.low_bit < 0 || field.low_bit > 62)
            report(fmt::format("a bit field of {} bits from bit {}: bits 0 to 62 there are",
                               field.bits, field.low_bit));
        }
      }
    }
  }

  void refinement(const Place& place, const Refinement& ref, Part part) {
    const Block& block = *place.block;
    auto report = [&](const std::string& m) { findings_.add(place, ref, m); };
    if (!is_identifier(ref.into)) report(fmt::format("'{}' is no name", ref.into));
    tags(
        place, ref.tags, [&] { return fmt::format("refinement '{}'", ref.into); },
        TagPlaces::refinement);
    size_t rank = ref.shape.rank();
    if (ref.access.size() != rank)
      report(
          fmt::format("its access has {} forms, its shape {} dimensions", ref.access.size(), rank));
    for (const Affine& form : ref.access) names_of(form, block, "an index", report);
    for (const Dim& dim : ref.shape.dims)
      if (dim.size < 0) report(fmt::format("the size {} is negative", dim.size));
    if (ref.access.size() == rank && reaches_too_far(ref))
      report("its access or its sizes, times its strides, reach 2^62 elements or more");
    location(ref.location, block, rank, true, report);
    for (const char* tag : {tag::kClamp, tag::kZeroFill})
      if (ref.tags.has(tag) && ref.dir != RefDir::in)
        report(fmt::format("only what is read (in) may be #{}", tag));
    if (ref.tags.has(tag::kClamp) && ref.tags.has(tag::kZeroFill))
      report("it is #clamp and #zero_fill: what a load from outside gives is open");
    if (ref.dir == RefDir::none) {
      allocation(ref, placing_block(place, ref), report);
    } else if (ref.from.empty()) {
      report(fmt::format("direction {} needs a parent's refinement to view", name_of(ref.dir)));
    } else if (!place.parent) {
      report("the outermost block has no parent to view: only allocations (none) may stand here");
    } else {
      view(place, ref, part, report);
    }
  }

  template <typename Report>
  void allocation(const Refinement& ref, const Block* placed_by, Report report) {
    if (!ref.from.empty())
      report(fmt::format("an allocation (none) views nothing, not '{}'", ref.from));
    if (ref.agg)
      report("an allocation has no aggregation; give it to the refinements that write it");
    for (const Affine& form : ref.access)
      if (!(form == Affine()))
        report(fmt::format("an allocation's access is 0, not {}", form.to_string()));
    if (ref.offset_bytes < 0) report(fmt::format("the offset {} is negative", ref.offset_bytes));
    if (ref.offset_bytes != 0 && !placed_by)
      report(fmt::format("the offset is {} bytes, but no block around is tagged #placed for it",
                         ref.offset_bytes));
    if (ref.swizzle) {
      const Swizzle& s = *ref.swizzle;
      if (s.bits < 0 || s.base < 0 || s.shift < 0 || s.bits + s.base > 62 || s.bits + s.shift > 62)
        return report(
            fmt::format("swizzle({}, {}, {}) reaches beyond bit 62", s.bits, s.base, s.shift));
      // Bits changed by themselves would be 0 always; changed by others they can be told back.
      if (s.bits > 0 && s.base == s.shift)
        return report(
            fmt::format("swizzle({}, {}, {}) changes bits by themselves, so that elements "
                        "would share storage",
                        s.bits, s.base, s.shift));
    }
    // Elements must not share storage: from the smallest stride up, each dimension steps over all
    // that the smaller ones span.
    std::vector<Dim> dims;
    for (const Dim& dim : ref.shape.dims) {
      if (dim.size <= 0) return;
      const bool counts_phases = holds_phases(ref) && &dim == &ref.shape.dims.back();
      if (dim.size > 1 && !counts_phases) dims.push_back(dim);
    }
    std::sort(dims.begin(), dims.end(),
              [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
    int64_t span = 1;
    for (const Dim& dim : dims) {
      if (dim.stride < span) {
        report(fmt::format(
            "the stride {} makes elements share storage: the dimensions below it span {} elements",
            dim.stride, span));
        return;
      }
      int64_t step = 0;
      if (__builtin_mul_overflow(dim.size - 1, dim.stride, &step) ||
          __builtin_add_overflow(span, step, &span)) {
        report("the allocation spans 2^63 elements or more");
        return;
      }
    }
    int64_t bytes = 0;
    if (__builtin_mul_overflow(span, byte_size(ref.shape.type), &bytes))
      report("the allocation spans 2^63 bytes or more");
    if (ref.swizzle && ref.swizzle->bits > 0) {
      const int64_t unit = int64_t{1}
                           << (std::max(ref.swizzle->base, ref.swizzle->shift) + ref.swizzle->bits);
      if (span % unit != 0)
        report(
            fmt::format("swizzle({}, {}, {}) permutes runs of {} elements; the allocation spans "
                        "{}, no multiple of that",
                        ref.swizzle->bits, ref.swizzle->base, ref.swizzle->shift, unit, span));
    }
  }

  template <typename Report>
  void view(const Place& place, const Refinement& ref, Part part, Report report) {
    const Block& outer = *place.parent->block;
    const Refinement* parent = names(*place.parent).find(ref.from);
    if (!parent) {
      report(fmt::format("block '{}' around it has no refinement '{}'{}", outer.name, ref.from,
                         did_you_mean(ref.from, ref_names(outer))));
      return;
    }
    if (ref.offset_bytes != 0) report("only an allocation has an offset");
    if (ref.swizzle) report("only an allocation has a swizzle");
    if (ref.shape.type != parent->shape.type)
      report(fmt::format("its type is {}, that of '{}' around it {}", name_of(ref.shape.type),
                         ref.from, name_of(parent->shape.type)));
    if (ref.shape.rank() != parent->shape.rank()) {
      report(fmt::format("its rank is {}, that of '{}' around it {}", ref.shape.rank(), ref.from,
                         parent->shape.rank()));
    } else {
      for (size_t i = 0; i < ref.shape.rank(); ++i)
        if (ref.shape.dims[i].stride != parent->shape.dims[i].stride)
          report(fmt::format("the stride of dimension {} is {}, that of '{}' around it {}", i,
                             ref.shape.dims[i].stride, ref.from, parent->shape.dims[i].stride));
    }
    direction(place, ref, *parent, report);
    bool writes = is_written(ref);
    if (!writes && ref.agg) report("only what is written (out, inout) has an aggregation");
    if (writes && parent->agg && ref.agg != parent->agg)
      report(fmt::format("its aggregation is {}, that of '{}' around it {}", agg_text(ref.agg),
                         ref.from, agg_text(parent->agg)));
    if (ref.is_const && !parent->is_const)
      report(fmt::format("it is const, but '{}' around it is not", ref.from));
    if (writes && parent->is_const && part == Part::main)
      report(fmt::format("'{}' is const and cannot be written in #main", ref.from));
    if (writes && part == Part::prologue && place.depth == 1 && !parent->is_const)
      report(fmt::format("what the prologue writes is const, and '{}' is not", ref.from));
    if (ref.dir != RefDir::out && part == Part::prologue && place.depth == 1 && !parent->is_const)
      report(fmt::format("the prologue reads constants only, and '{}' is not const", ref.from));
  }

  template <typename Report>
  void direction(const Place& place, const Refinement& ref, const Refinement& parent,
                 Report report) {
    bool writes = is_written(ref);
    if (writes && parent.dir == RefDir::in)
      report(
          fmt::format("direction {}: '{}' around it is an input (in)", name_of(ref.dir), ref.from));
    if (ref.dir == RefDir::out) return;
    // Inside a running aggregation the outermost refinement says what it starts from.
    if (ref.agg && parent.agg) return;
    if (ref.dir == RefDir::inout && !reads_first(*place.block, ref)) return;
    reading(*place.parent, place.position, parent, report);
  }

  // A read at statement `position` of what holds nothing yet is an error: an output or an
  // allocation must have been written by an earlier statement. The caller fills the entry's
  // allocations.
  template <typename Report>
  void reading(const Place& place, size_t position, const Refinement& ref, Report report) {
    bool starts_empty = ref.dir == RefDir::out || (ref.dir == RefDir::none && place.parent);
    if (holds_phases(ref)) return;  // no phase is complete at first
    if (starts_empty && !names(place).written_before(position, ref.into))
      report(fmt::format("it reads '{}' ({}), which no earlier statement of block '{}' writes",
                         ref.into, ref.dir == RefDir::out ? "out" : "an allocation",
                         place.block->name));
  }

  void statements(const Place& place, Part part) {
    const Block& block = *place.block;
    std::set<std::string> scalars;
    const std::map<std::string, DataType> types = scalar_types(block);
    for (size_t i = 0; i < block.stmts.size() && !findings_.full(); ++i) {
      const Statement& stmt = block.stmts[i];
      auto report = [&](const std::string& m) { findings_.add(place, i, m); };
      tags(place, stmt.tags, [&] { return fmt::format("statement {}", i); }, TagPlaces::nowhere);
      dependencies(stmt, i, report);
      if (const Block* inner = stmt.block()) {
        if (!stmt.tags.empty()) report("tags of a block statement belong to the block");
        Part inner_part = part == Part::entry && inner->tags.has(tag::kPrologue) ? Part::prologue
                          : part == Part::entry                                  ? Part::main
                                                                                 : part;
        this->block({&place, inner, i, place.depth + 1, {}}, inner_part);
        continue;
      }
      if (part == Part::entry)
        report("the #program block holds the blocks #prologue and #main only");
      simple(place, part, stmt, i, scalars, types, report);
    }
  }

  template <typename Report>
  void dependencies(const Statement& stmt, size_t position, Report report) {
    std::set<int64_t> seen;
    for (int64_t dep : stmt.deps) {
      if (dep < 0 || dep >= static_cast<int64_t>(position))
        report(
            fmt::format("it depends on statement {}; only earlier ones, 0 to {}, can be waited for",
                        dep, static_cast<int64_t>(position) - 1));
      if (!seen.insert(dep).second) report(fmt::format("it depends on statement {} twice", dep));
    }
  }

  template <typename Report>
  void simple(const Place& place, Part part, const Statement& stmt, size_t position,
              std::set<std::string>& scalars, const std::map<std::string, DataType>& types,
              Report report) {
    const Block& block = *place.block;
    auto use = [&](const std::string& name) {
      if (!scalars.count(name))
        report(fmt::format("${} has no value here{}", name,
                           did_you_mean(name, {scalars.begin(), scalars.end()})));
    };
    auto define = [&](const std::string& name) {
      if (!is_identifier(name)) report(fmt::format("'{}' is no name", name));
      if (!scalars.insert(name).second) report(fmt::format("${} is assigned twice", name));
    };
    auto find = [&](const std::string& name) {
      const Refinement* ref = block.find_ref(name);
      if (!ref)
        report(fmt::format("block '{}' has no refinement '{}'{}", block.name, name,
                           did_you_mean(name, ref_names(block))));
      return ref;
    };
    auto one_element = [&](const Refinement& ref, const ChosenCoordinates& at,
                           std::string_view what) {
      if (!at.empty()) return chosen(ref, at, types, use, report);
      if (!is_one_element(ref))
        report(fmt::format("the view '{}' holds more than the one element to {}", ref.into, what));
    };
    auto read = [&](const std::string& name, const ChosenCoordinates* at) {
      const Refinement* ref = find(name);
      if (!ref) return;
      if (at) one_element(*ref, *at, "load");
      if (at && !at->empty() && ref->shape.element_count() == 0)
        report(fmt::format("the view '{}' has no element to clamp a chosen coordinate to", name));
      if (at && !at->empty() && reads_beyond(place, *ref))
        report(
            fmt::format("'{}' is #clamp or #zero_fill; no scalar chooses its coordinates", name));
      reading(place, position, *ref, report);
    };
    auto write = [&](const std::string& name, const ChosenCoordinates* at) {
      const Refinement* ref = find(name);
      if (!ref) return;
      if (at) one_element(*ref, *at, "store");
      if (at && !at->empty() && starts_from_identity(place, *ref))
        report(
            fmt::format("the aggregation of '{}' starts at its identity (out); where a scalar "
                        "chooses the element it "
                        "continues (inout)",
                        name));
      if (ref->dir == RefDir::in)
        report(fmt::format("'{}' is an input (in) and cannot be written", name));
      if (ref->is_const && part == Part::main)
        report(fmt::format("'{}' is const and cannot be written in #main", name));
    };
    if (auto* s = std::get_if<Load>(&stmt.op)) {
      read(s->from, &s->at);
      define(s->into);
    } else if (auto* s = std::get_if<Store>(&stmt.op)) {
      use(s->from);
      write(s->into, &s->at);
    } else if (auto* s = std::get_if<LoadIndex>(&stmt.op)) {
      names_of(s->from, block, "an index", report);
      if (!is_integer(s->type))
        report(fmt::format("an index is an integer, not {}", name_of(s->type)));
      define(s->into);
    } else if (auto* s = std::get_if<Constant>(&stmt.op)) {
      define(s->into);
    } else if (auto* s = std::get_if<Intrinsic>(&stmt.op)) {
      for (const std::string& name : s->inputs) use(name);
      intrinsic(*s, report);
      for (const std::string& name : s->outputs) define(name);
    } else if (auto* s = stmt.special()) {
      if (!is_identifier(s->name)) report(fmt::format("'{}' is no name", s->name));
      for (const auto& [name, value] : s->params)
        if (!is_identifier(name)) report(fmt::format("the parameter '{}' is no name", name));
      for (const std::string& name : s->inputs) read(name, nullptr);
      for (const std::string& name : s->outputs) write(name, nullptr);
    }
  }

  // Whether the refinement, or one that it views, may be read out of range.
  static bool reads_beyond(const Place& place, const Refinement& ref) {
    const Refinement* view = &ref;
    for (const Place* at = place.parent; view; at = at->parent) {
      if (view->tags.has(tag::kClamp) || view->tags.has(tag::kZeroFill)) return true;
      if (!at || view->dir == RefDir::none) return false;
      view = at->block->find_ref(view->from);
    }
    return false;
  }

  // Whether the outermost refinement of the chain with the aggregation is `out`.
  static bool starts_from_identity(const Place& place, const Refinement& ref) {
    if (!ref.agg) return false;
    const Refinement* outermost = &ref;
    for (const Place* at = place.parent; at; at = at->parent) {
      const Refinement* outer = at->block->find_ref(outermost->from);
      if (!outer || !outer->agg) break;
      outermost = outer;
    }
    return outermost->dir == RefDir::out;
  }

  // Coordinates that scalars choose: one for each dimension of the view that has more than one
  // element.
  template <typename Use, typename Report>
  static void chosen(const Refinement& ref, const ChosenCoordinates& at,
                     const std::map<std::string, DataType>& types, Use use, Report report) {
    if (at.size() != ref.shape.rank())
      return report(fmt::format("'{}' has {} dimensions, but {} coordinates are given", ref.into,
                                ref.shape.rank(), at.size()));
    bool any = false;
    for (size_t d = 0; d < at.size(); ++d) {
      if (at[d].empty()) {
        if (ref.shape.dims[d].size != 1)
          report(fmt::format(
              "dimension {} of the view '{}' has {} elements, and no scalar chooses one", d,
              ref.into, ref.shape.dims[d].size));
        continue;
      }
      any = true;
      use(at[d]);
      auto type = types.find(at[d]);
      if (type != types.end() && !is_integer(type->second))
        report(fmt::format("${} is {}; a coordinate is an integer", at[d], name_of(type->second)));
    }
    if (!any) report(fmt::format("no scalar chooses a coordinate of '{}'", ref.into));
  }

  template <typename Report>
  void intrinsic(const Intrinsic& op, Report report) {
    if (!is_identifier(op.name) || op.name == "load" || op.name == "load_index")
      report(fmt::format("'{}' is no name of an intrinsic", op.name));
    if (op.outputs.empty()) report("an intrinsic has a result");
    if (!options_.intrinsics) return;
    auto known = options_.intrinsics->find(op.name);
    if (known == options_.intrinsics->end()) {
      std::vector<std::string> names;
      for (const auto& [name, signature] : *options_.intrinsics) names.push_back(name);
      report(fmt::format("there is no intrinsic '{}'{}", op.name, did_you_mean(op.name, names)));
      return;
    }
    if (op.inputs.size() != static_cast<size_t>(known->second.operands))
      report(fmt::format("'{}' takes {} operands, not {}", op.name, known->second.operands,
                         op.inputs.size()));
    if (op.outputs.size() != 1)
      report(fmt::format("'{}' has 1 result, not {}", op.name, op.outputs.size()));
  }

  // Of the block of a place on the way down to the present one.
  BlockNames& names(const Place& place) { return names_[static_cast<size_t>(place.depth)]; }

  const VerifyOptions& options_;
  Findings& findings_;
  std::deque<BlockNames> names_;  // of the block at each depth
};

// #program with #main as its last block, #prologue before it, both without indices.
void check_program(const Program& program, const Place& place, Findings& findings) {
  const Block& entry = program.entry;
  if (!entry.tags.has(tag::kProgram)) findings.add(place, "the outermost block is tagged #program");
  if (!entry.idxs.empty()) findings.add(place, "the #program block has no indices");
  int mains = 0, prologues = 0;
  for (size_t i = 0; i < entry.stmts.size(); ++i) {
    const Block* block = entry.stmts[i].block();
    if (!block) continue;
    bool is_main = block->tags.has(tag::kMain), is_prologue = block->tags.has(tag::kPrologue);
    mains += is_main;
    prologues += is_prologue;
    if (is_main == is_prologue)
      findings.add(place, i, "a block of the program is tagged either #main or #prologue");
    if (is_prologue && mains > 0) findings.add(place, i, "the prologue comes before #main");
    if (!block->idxs.empty()) findings.add(place, i, "#main and #prologue have no indices");
  }
  if (mains != 1)
    findings.add(place, fmt::format("a program has one block tagged #main, this has {}", mains));
  if (prologues > 1)
    findings.add(place, fmt::format("a program has at most one block tagged #prologue, this has {}",
                                    prologues));
}

}  // namespace

void check_structure(const Program& program, const VerifyOptions& options, Findings& findings) {
  Place place;
  place.block = &program.entry;
  check_program(program, place, findings);
  StructureCheck(options, findings).block(place, Part::entry);
}

}  // namespace stria::stripe
