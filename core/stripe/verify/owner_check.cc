// SPDX-License-Identifier: Apache-2.0
// Distributed refinements (S12): the map from coordinates to owners and slots tells all elements
// apart, and inside lane blocks every executed access is by the owner. Owners are forms over bits,
// which integer sets do not speak of: the values that matter are enumerated, and only a point that
// looks wrong is asked for in the set of executed points.
#include "stria/stripe/verify/owner_forms.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/verify/access_rules.h"

namespace stria::stripe {
namespace {

// Values tried for one question, and executed-point questions asked for it.
constexpr int64_t kMaxPoints = int64_t{1} << 20;
constexpr int kMaxQuestions = 64;

std::string upper(std::string name) {
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
}

// The innermost location around that names the unit; null if there is none.
const LocationUnit* unit_around(const Level& leaf, const std::string& unit, const Level** where) {
  for (const Level* at = &leaf; at; at = at->around.get()) {
    const auto& path = at->block->location.path;
    for (auto step = path.rbegin(); step != path.rend(); ++step)
      if (step->name == unit) {
        *where = at;
        return &*step;
      }
  }
  return nullptr;
}

bool in_stencil(const Access& access) {
  for (const Level* at = access.level.get(); at && at->depth > access.view.depth;
       at = at->around.get())
    if (at->block->tags.has(tag::kStencil)) return true;
  return false;
}

int bits_that_matter(const BitFieldForm& form, size_t dim) {
  int bits = 0;
  for (const BitField& field : form.fields)
    if (static_cast<size_t>(field.dim) == dim) bits = std::max(bits, field.low_bit + field.bits);
  return bits;
}

}  // namespace

const LocationUnit* owners_of(const Refinement& allocation) {
  if (allocation.location.empty() || allocation.location.path.back().owners.empty()) return nullptr;
  return &allocation.location.path.back();
}

bool is_distributed(const Refinement& allocation) { return owners_of(allocation) != nullptr; }

int64_t value_of(const BitFieldForm& form, const std::vector<int64_t>& coordinates) {
  uint64_t sum = static_cast<uint64_t>(form.constant);
  for (const BitField& field : form.fields) {
    const auto coordinate = static_cast<uint64_t>(coordinates[static_cast<size_t>(field.dim)]);
    const uint64_t bits = (coordinate >> field.low_bit) & ((uint64_t{1} << field.bits) - 1);
    sum += static_cast<uint64_t>(field.factor) * bits;
  }
  return static_cast<int64_t>(sum);
}

int64_t BitPoints::Form::at(const std::vector<int64_t>& values) const {
  int64_t sum = constant;
  for (const auto& [variable, coefficient] : terms) sum += coefficient * values[variable];
  return sum;
}

size_t BitPoints::variable(const std::string& name, int64_t range) {
  for (size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) return i;
  names_.push_back(name);
  ranges_.push_back(range);
  return names_.size() - 1;
}

BitPoints::Form BitPoints::form(const Affine& affine, int bits) {
  const auto low = [&](int64_t n) { return bits >= 62 ? n : n & ((int64_t{1} << bits) - 1); };
  Form out;
  out.constant = low(affine.constant());
  for (const auto& [name, coefficient] : affine.terms()) {
    if (low(coefficient) == 0) continue;
    for (const Level* at = access_.level.get(); at; at = at->around.get())
      for (const auto& [known, range] : at->variables)
        if (known == name)
          out.terms.emplace_back(variable(name, range.upper + 1), low(coefficient));
  }
  return out;
}

std::vector<BitPoints::Form> BitPoints::coordinates(const BitFieldForm& owner,
                                                    const std::vector<Affine>& start, bool whole) {
  std::vector<Form> out;
  for (size_t i = 0; i < start.size(); ++i) {
    const int bits = bits_that_matter(owner, i);
    out.push_back(bits == 0 ? Form() : form(start[i], bits));
    if (whole && bits > 0 && access_.extent[i] > 1)
      out.back().terms.emplace_back(variable(fmt::format("element {}@", i), access_.extent[i]), 1);
  }
  return out;
}

Result<std::optional<std::vector<int64_t>>> BitPoints::first(
    const std::function<bool(const std::vector<int64_t>&)>& wrong) const {
  int64_t count = 1;
  for (int64_t range : ranges_)
    if (__builtin_mul_overflow(count, range, &count) || count > kMaxPoints)
      return Status(StatusCode::unknown,
                    fmt::format("there are more than {} points to try", kMaxPoints));
  bool constrained = false;
  for (const Level* at = access_.level.get(); at; at = at->around.get())
    constrained |= !at->constraints.empty();
  int questions = 0;
  std::vector<int64_t> values(ranges_.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    if (n > 0)
      for (size_t i = values.size(); i-- > 0;) {
        if (++values[i] < ranges_[i]) break;
        values[i] = 0;
      }
    if (!wrong(values)) continue;
    if (!constrained) return std::optional(values);
    if (++questions > kMaxQuestions)
      return Status(StatusCode::unknown, "too many points look wrong under the constraints");
    IntegerSet point = access_.level->set();
    for (size_t i = 0; i < values.size(); ++i)
      if (std::count(point.dims().begin(), point.dims().end(), names_[i]))
        point.add_eq(Affine::of(names_[i]) - values[i]);
    STRIA_ASSIGN(bool never, point.is_empty());
    if (!never) return std::optional(values);
  }
  return std::optional<std::vector<int64_t>>();
}

std::string BitPoints::describe(const std::vector<int64_t>& values) const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < values.size(); ++i)
    parts.push_back(fmt::format("{} = {}", plain_name(names_[i]), values[i]));
  return parts.empty() ? "always" : "at " + join(parts, ", ");
}

bool holds_fragments(const LocationUnit& unit) {
  return std::any_of(unit.owners.begin(), unit.owners.end(),
                     [](const auto& owner) { return owner.first == "fragment"; });
}

void check_owner_map(const Place& place, const Refinement& allocation, Verdicts& verdicts) {
  // Many elements have the number of one matrix, and the device alone knows where in it they are.
  if (holds_fragments(*owners_of(allocation))) return;
  const auto& owners = owners_of(allocation)->owners;
  const size_t rank = allocation.shape.rank();
  int64_t count = 1;
  for (const Dim& dim : allocation.shape.dims)
    if (__builtin_mul_overflow(count, dim.size, &count) || count > kMaxPoints)
      return verdicts.undecided(
          place, allocation, "it gives each element a slot of its own",
          Status(StatusCode::unknown, fmt::format("it has more than {} elements", kMaxPoints)));
  // What owns each element, one after the other in a row.
  std::vector<int64_t> owned;
  owned.reserve(static_cast<size_t>(count) * owners.size());
  auto coordinates_of = [&](int64_t element) {
    std::vector<int64_t> at(rank, 0);
    for (size_t i = rank; i-- > 0; element /= allocation.shape.dims[i].size)
      at[i] = element % allocation.shape.dims[i].size;
    return at;
  };
  for (int64_t n = 0; n < count; ++n) {
    const std::vector<int64_t> at = coordinates_of(n);
    for (const auto& [name, form] : owners) owned.push_back(value_of(form, at));
  }
  std::vector<int64_t> order;
  for (int64_t n = 0; n < count; ++n) order.push_back(n);
  const auto width = static_cast<int64_t>(owners.size());
  auto row = [&](int64_t n) { return owned.begin() + n * width; };
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int sign = [&] {
      for (int64_t i = 0; i < width; ++i)
        if (row(a)[i] != row(b)[i]) return row(a)[i] < row(b)[i] ? -1 : 1;
      return 0;
    }();
    return sign != 0 ? sign < 0 : a < b;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const int64_t a = order[i - 1], b = order[i];
    if (!std::equal(row(a), row(a) + width, row(b))) continue;
    std::vector<std::string> where;
    for (size_t o = 0; o < owners.size(); ++o)
      where.push_back(fmt::format("{} {}", owners[o].first, row(a)[static_cast<int64_t>(o)]));
    verdicts.findings.add(place, allocation,
                          fmt::format("the elements [{}] and [{}] have one place, {}",
                                      fmt::join(coordinates_of(a), ", "),
                                      fmt::join(coordinates_of(b), ", "), join(where, ", ")));
    return;
  }
}

void check_owner(const Place& place, const Access& access, Verdicts& verdicts) {
  const Refinement& allocation = *access.view.allocation;
  if (holds_fragments(*owners_of(allocation)) && !in_stencil(access))
    return verdicts.findings.add(
        place, *access.ref,
        fmt::format("lanes hold '{}' as matrices; only a #stencil block touches them",
                    allocation.into));
  for (const auto& [owner, form] : owners_of(allocation)->owners) {
    if (owner == "slot" || owner == "fragment") continue;
    const std::string unit = upper(owner);
    const Level* where = nullptr;
    const LocationUnit* step = unit_around(*access.level, unit, &where);
    if (!step) {
      if (in_stencil(access)) continue;
      verdicts.findings.add(
          place, *access.ref,
          fmt::format("a {} each holds its elements of '{}', and no location around names a {}: "
                      "above them only a #stencil block touches the elements of any",
                      owner, allocation.into, unit));
      continue;
    }
    const std::string what = fmt::format("each {} touches its own elements only", owner);
    std::optional<Affine> number;
    if (step->units.size() == 1) number = compose(step->units[0], where->forms);
    if (step->units.size() != 1) {
      verdicts.findings.add(place, *access.ref,
                            fmt::format("its {} is one number, {} around it has {}", owner, unit,
                                        step->units.size()));
      continue;
    }
    if (!number || !access.view.start) {
      verdicts.undecided(place, *access.ref, what, too_large());
      continue;
    }
    BitPoints points(access);
    const std::vector<BitPoints::Form> coordinates =
        points.coordinates(form, *access.view.start, true);
    const BitPoints::Form lane = points.form(*number, 62);
    std::vector<int64_t> at(coordinates.size());
    auto owner_at = [&](const std::vector<int64_t>& values) {
      for (size_t i = 0; i < at.size(); ++i) at[i] = coordinates[i].at(values);
      return value_of(form, at);
    };
    auto wrong = points.first(
        [&](const std::vector<int64_t>& values) { return owner_at(values) != lane.at(values); });
    if (!wrong.ok()) {
      verdicts.undecided(place, *access.ref, what, wrong.status());
    } else if (*wrong) {
      verdicts.findings.add(place, *access.ref,
                            fmt::format("{} {} {} touches an element of '{}' that {} {} holds",
                                        points.describe(**wrong), owner, lane.at(**wrong),
                                        allocation.into, owner, owner_at(**wrong)));
    }
  }
}

}  // namespace stria::stripe
