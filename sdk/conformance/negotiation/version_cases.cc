// SPDX-License-Identifier: Apache-2.0
#include "negotiation/version_cases.h"

#include <array>

#include "negotiation/answer.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kHighest =
    "Majors must match exactly; each side states the minors it can speak, and the highest common "
    "one holds.";
constexpr std::string_view kRefuses = "STRIA_INCOMPATIBLE if the versions or builds do not fit.";
constexpr std::string_view kFilledIn =
    "Filled in always, also when the query fails, so that a refusal can print both sides.";

// What a host says that it speaks; nothing: what the product's own host says.
struct Speaks {
  std::optional<hal::VersionRange> abi, stripe;
};

constexpr uint32_t kMost = UINT32_MAX;
constexpr hal::VersionRange kOwnAbi{STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR, STRIA_ABI_MINOR};
constexpr hal::VersionRange kOwnStripe{STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR};

stria_version_range to_c(const hal::VersionRange& range) {
  return {sizeof(stria_version_range), nullptr, range.major, range.minor_min, range.minor_max};
}

// Asks as a host of these versions, and says whether the answer is the one that both sides' ranges
// allow.
Finding meet(Subject& subject, const Speaks& speaks) {
  STRIA_RETURN_IF_ERROR(subject.manifest().status());
  const hal::VersionRange abi = speaks.abi.value_or(kOwnAbi);
  const hal::VersionRange stripe = speaks.stripe.value_or(kOwnStripe);
  HostSays host;
  host.abi = to_c(abi);
  host.stripe = to_c(stripe);
  stria_plugin_info info{};
  info.size = sizeof info;
  STRIA_ASSIGN(const Answer answer, ask(subject, &host.info, &info));
  STRIA_RETURN_IF_ERROR(check_own_ranges(subject, info));
  const auto abi_minor = hal::negotiate("ABI", abi, subject.manifest()->abi);
  const auto stripe_minor = hal::negotiate("Stripe text", stripe, subject.manifest()->stripe);
  if (!abi_minor.ok() || !stripe_minor.ok()) {
    const Status& why = abi_minor.ok() ? stripe_minor.status() : abi_minor.status();
    if (answer.refusal == STRIA_OK)
      return broken("it accepts a host that it has no version in common with: {}", why.message());
    if (answer.refusal != STRIA_INCOMPATIBLE)
      return broken_rule(Rule::refuses, "it refuses with {}, not with STRIA_INCOMPATIBLE: {}",
                         code_text(answer.refusal), why.message());
    return {};
  }
  if (answer.refusal != STRIA_OK)
    return broken(
        "it refuses a host of ABI {} and Stripe text {} with {} ({}); it speaks {} and {}",
        hal::to_string(abi), hal::to_string(stripe), code_text(answer.refusal), answer.text,
        hal::to_string(subject.manifest()->abi), hal::to_string(subject.manifest()->stripe));
  if (info.abi_minor != *abi_minor)
    return broken("of a host of ABI {} and a plugin of {} it chose the minor {}, not {}",
                  hal::to_string(abi), hal::to_string(subject.manifest()->abi), info.abi_minor,
                  *abi_minor);
  if (info.stripe_minor != *stripe_minor)
    return broken("of a host of Stripe text {} and a plugin of {} it chose the minor {}, not {}",
                  hal::to_string(stripe), hal::to_string(subject.manifest()->stripe),
                  info.stripe_minor, *stripe_minor);
  return {};
}

std::string name_for(const char* what, const hal::VersionRange& range) {
  const auto number = [](uint32_t value) {
    return value == kMost ? std::string("most") : fmt::format("{}", value);
  };
  if (range.minor_min == range.minor_max)
    return fmt::format("{}.host_of_{}_{}", what, number(range.major), number(range.minor_min));
  return fmt::format("{}.host_of_{}_{}_to_{}", what, number(range.major), number(range.minor_min),
                     number(range.minor_max));
}

void add(CaseMaker& maker, std::string_view name, std::string_view sentence,
         std::function<Finding(Subject&)> run) {
  maker.add('N', name, Level::loads, sentence, std::move(run)).place = Place::bare;
}

void add_host(CaseMaker& maker, const std::string& name, std::string_view sentence,
              const Speaks& speaks) {
  add(maker, name, sentence, [speaks](Subject& subject) { return meet(subject, speaks); });
}

}  // namespace

void add_version_cases(CaseMaker& maker) {
  add_host(maker, "versions.products_own", kHighest, {});
  // Hosts of one minor: of each release up to now, and of some to come.
  for (uint32_t minor = 0; minor <= 9; ++minor) {
    const hal::VersionRange range{STRIA_ABI_MAJOR, minor, minor};
    add_host(maker, name_for("abi", range), kHighest, {range, {}});
  }
  for (const auto& [least, most] :
       std::array<std::pair<uint32_t, uint32_t>, 11>{{{0, 1},
                                                      {0, 3},
                                                      {1, 4},
                                                      {2, 7},
                                                      {4, 9},
                                                      {5, 1000},
                                                      {6, 9},
                                                      {0, kMost},
                                                      {1, kMost},
                                                      {100, kMost},
                                                      {kMost, kMost}}}) {
    const hal::VersionRange range{STRIA_ABI_MAJOR, least, most};
    add_host(maker, name_for("abi", range), kHighest, {range, {}});
  }
  for (const uint32_t major : {STRIA_ABI_MAJOR + 1u, STRIA_ABI_MAJOR + 2u, kMost}) {
    const hal::VersionRange range{major, 0, kMost};
    add_host(maker, name_for("abi", range), kRefuses, {range, {}});
  }
  // The same minors as today's under another major: only the major differs.
  add_host(maker, "abi.host_of_next_major_and_same_minors", kRefuses,
           {hal::VersionRange{STRIA_ABI_MAJOR + 1, STRIA_ABI_OLDEST_MINOR, STRIA_ABI_MINOR}, {}});

  for (const auto& [least, most] : std::array<std::pair<uint32_t, uint32_t>, 8>{
           {{1, 1}, {2, 2}, {0, 1}, {0, 9}, {1, 9}, {0, kMost}, {1, kMost}, {kMost, kMost}}}) {
    const hal::VersionRange range{STRIA_STRIPE_MAJOR, least, most};
    add_host(maker, name_for("stripe", range), kHighest, {{}, range});
  }
  for (const uint32_t major : {STRIA_STRIPE_MAJOR - 1u, STRIA_STRIPE_MAJOR + 1u, kMost}) {
    const hal::VersionRange range{major, 0, kMost};
    add_host(maker, name_for("stripe", range), kRefuses, {{}, range});
  }
  add_host(maker, "versions.both_wrong", kFilledIn,
           {hal::VersionRange{STRIA_ABI_MAJOR + 1, 0, kMost},
            hal::VersionRange{STRIA_STRIPE_MAJOR + 1, 0, kMost}});
  add_host(maker, "versions.both_wide", kHighest,
           {hal::VersionRange{STRIA_ABI_MAJOR, 0, kMost},
            hal::VersionRange{STRIA_STRIPE_MAJOR, 0, kMost}});

  // A refusal leaves nothing behind: the next host may be the right one.
  add(maker, "versions.right_host_after_wrong_ones", kHighest, [](Subject& subject) -> Finding {
    for (const uint32_t major : {STRIA_ABI_MAJOR + 1u, STRIA_ABI_MAJOR + 7u}) {
      HostSays wrong;
      wrong.abi.major = major;
      stria_plugin_info info{};
      info.size = sizeof info;
      STRIA_ASSIGN(const Answer answer, ask(subject, &wrong.info, &info));
      if (answer.refusal == STRIA_OK) return broken("it accepts a host of ABI {}.x", major);
    }
    return meet(subject, {});
  });
  add(maker, "versions.wrong_host_after_right_one", kRefuses, [](Subject& subject) -> Finding {
    const Finding first = meet(subject, {});
    if (first.ending() != Ending::pass) return first;
    return meet(subject, {hal::VersionRange{STRIA_ABI_MAJOR + 1, 0, kMost}, {}});
  });
  add(maker, "versions.refusal_has_a_message",
      "one sentence that names the thing, the value and the limit",
      [](Subject& subject) -> Finding {
        HostSays wrong;
        wrong.abi = to_c({STRIA_ABI_MAJOR, 4321, 4321});
        stria_plugin_info info{};
        info.size = sizeof info;
        STRIA_ASSIGN(const Answer answer, ask(subject, &wrong.info, &info));
        if (answer.refusal == STRIA_OK) return broken("it accepts a host of ABI 0.4321");
        if (answer.text.find("4321") == std::string::npos)
          return broken(
              "asked by a host of ABI 0.4321 alone it refuses with '{}', which does not "
              "name 4321",
              answer.text);
        return {};
      });
}

}  // namespace stria::conformance
