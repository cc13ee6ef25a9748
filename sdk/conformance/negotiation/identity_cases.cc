// SPDX-License-Identifier: Apache-2.0
#include "negotiation/identity_cases.h"

#include <cstring>
#include <thread>

#include "negotiation/answer.h"
#include "stria/hal/boundary/info.h"
#include "suite/utf8.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kEqualToManifests = "equal to the manifest's";
constexpr std::string_view kSame =
    "What the plugin says of itself: the same each time and to every host, but for the chosen "
    "minors.";
constexpr std::string_view kBuildsFit = "STRIA_INCOMPATIBLE if the versions or builds do not fit.";

Case& add(CaseMaker& maker, std::string_view name, std::string_view sentence,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('N', name, Level::loads, sentence, std::move(run));
  c.place = Place::bare;
  return c;
}

// A text that is not in order, in words; "" if it is.
std::string fault_of_text(stria_string text, size_t most) {
  if (text.size == 0) return "";
  if (!text.data) return fmt::format("is a null pointer of {} bytes", text.size);
  if (text.size > most) return fmt::format("has {} bytes, the limit is {}", text.size, most);
  return fault_of_bytes({text.data, text.size});
}

// Asks as a host of another build. The answer does not depend on what the host says, unless it is a
// refusal, which `may_refuse` allows.
Finding asked_as_other_build(Subject& subject, const stria_host_info& host, bool may_refuse) {
  stria_plugin_info expected, info{};
  STRIA_RETURN_IF_ERROR(ask_as_product(subject, expected));
  info.size = sizeof info;
  STRIA_ASSIGN(const Answer answer, ask(subject, &host, &info));
  STRIA_RETURN_IF_ERROR(check_own_ranges(subject, info));
  if (answer.refusal == STRIA_INCOMPATIBLE && may_refuse) return {};
  if (answer.refusal != STRIA_OK)
    return broken_rule(Rule::refuses, "it answers {} ({}), not {}", code_text(answer.refusal),
                       answer.text, may_refuse ? "STRIA_INCOMPATIBLE or success" : "success");
  // Success is right too: then the host compares, and sees the difference.
  if (info.sanitizer != expected.sanitizer)
    return broken(
        "it says sanitizer {} to a host of sanitizer {}, and {} to the product's own: it "
        "says its host's, not its own",
        info.sanitizer, host.sanitizer, expected.sanitizer);
  if (info.page_size != expected.page_size)
    return broken(
        "it says pages of {} bytes to a host of {}, and {} to the product's own: it says "
        "its host's, not its own",
        info.page_size, host.page_size, expected.page_size);
  return {};
}

void add_build_cases(CaseMaker& maker) {
  struct Kind {
    const char* name;
    stria_sanitizer sanitizer;
  };
  for (const Kind& kind :
       {Kind{"none", STRIA_SANITIZER_NONE}, Kind{"address", STRIA_SANITIZER_ADDRESS},
        Kind{"thread", STRIA_SANITIZER_THREAD}, Kind{"of_tomorrow", 3}})
    add(maker, fmt::format("build.host_of_sanitizer_{}", kind.name), kSame,
        [kind](Subject& subject) -> Finding {
          HostSays host;
          const bool differs = host.info.sanitizer != kind.sanitizer;
          host.info.sanitizer = kind.sanitizer;
          return asked_as_other_build(subject, host.info, differs);
        });
  for (const uint64_t kib : {4, 16, 64})
    add(maker, fmt::format("build.host_of_{}_KiB_pages", kib), kSame,
        [kib](Subject& subject) -> Finding {
          HostSays host;
          stria_plugin_info own;
          STRIA_RETURN_IF_ERROR(ask_as_product(subject, own));
          host.info.page_size = kib << 10;
          return asked_as_other_build(subject, host.info,
                                      own.page_size != 0 && own.page_size != kib << 10);
        });
  add(maker, "build.pages_fit", kBuildsFit, [](Subject& subject) -> Finding {
    stria_plugin_info info;
    STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
    const HostSays host;
    if (info.page_size != 0 && info.page_size != host.info.page_size)
      return broken("it accepts a host with pages of {} bytes and says that it was built for {}",
                    host.info.page_size, info.page_size);
    return {};
  });
  add(maker, "build.sanitizer_is_one",
      "Sanitizers whose run-time must be the same on both sides of the boundary.",
      [](Subject& subject) -> Finding {
        stria_plugin_info info;
        STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
        const HostSays host;
        if (info.sanitizer < STRIA_SANITIZER_NONE || info.sanitizer > STRIA_SANITIZER_THREAD)
          return broken("it says sanitizer {}, which is none of 0 to 2", info.sanitizer);
        if (info.sanitizer != host.info.sanitizer)
          return broken_rule(Rule::refuses, "it accepts a host of sanitizer {} and has {}",
                             host.info.sanitizer, info.sanitizer);
        return {};
      });
  add(maker, "build.debug_is_a_boolean", "booleans uint8_t (0 or 1)",
      [](Subject& subject) -> Finding {
        stria_plugin_info info;
        STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
        if (info.debug > 1) return broken("`debug` is {}", int{info.debug});
        return {};
      });
  add(maker, "build.text_is_one", sentence_of(Rule::text), [](Subject& subject) -> Finding {
    stria_plugin_info info;
    STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
    const std::string fault = fault_of_text(info.build, 64 << 10);
    if (!fault.empty()) return broken("`build` {}", fault);
    return {};
  });
}

void add_name_cases(CaseMaker& maker) {
  for (const bool is_id : {true, false})
    add(maker, is_id ? "identity.id" : "identity.version", kEqualToManifests,
        [is_id](Subject& subject) -> Finding {
          stria_plugin_info info;
          STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
          STRIA_RETURN_IF_ERROR(subject.manifest().status());
          const stria_string said = is_id ? info.id : info.version;
          const std::string& manifest =
              is_id ? subject.manifest()->id : subject.manifest()->version;
          const std::string fault = fault_of_text(said, 256);
          if (!fault.empty())
            return broken_rule(Rule::text, "its {} {}", is_id ? "id" : "version", fault);
          if (hal::view_of(said) != manifest)
            return broken("the shared object says '{}', the manifest '{}'",
                          hal::one_line(hal::view_of(said)), manifest);
          return {};
        });
  add(maker, "identity.ranges_are_the_manifests", "the manifest must say the same",
      [](Subject& subject) -> Finding {
        stria_plugin_info info;
        STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
        return check_own_ranges(subject, info);
      });
  maker.out.back().source = "guide/manifest.md";
  add(maker, "identity.ranges_rise",
      "A range of versions with one major: major.minor_min to major.minor_max, both inclusive.",
      [](Subject& subject) -> Finding {
        stria_plugin_info info;
        STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
        for (const auto* range : {info.abi, info.stripe}) {
          const hal::VersionRange said = range_of(range);
          if (said.minor_min > said.minor_max)
            return broken("the minors {} to {} are no range", said.minor_min, said.minor_max);
        }
        return {};
      });
  add(maker, "identity.chosen_minors_are_its_own", "chosen: the highest common minor",
      [](Subject& subject) -> Finding {
        stria_plugin_info info;
        STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
        const HostSays host;
        const hal::VersionRange abi = range_of(info.abi), stripe = range_of(info.stripe);
        if (info.abi_minor != std::min(abi.minor_max, host.abi.minor_max) ||
            info.stripe_minor != std::min(stripe.minor_max, host.stripe.minor_max))
          return broken(
              "of ABI {} and Stripe text {} it chose the minors {} and {}; the host has "
              "{}.{} and {}.{} at most",
              hal::to_string(abi), hal::to_string(stripe), info.abi_minor, info.stripe_minor,
              host.abi.major, host.abi.minor_max, host.stripe.major, host.stripe.minor_max);
        return {};
      });
}

// ---- asked again

// What has to be the same each time; texts and ranges are compared by what they say.
Status check_same(const stria_plugin_info& first, const stria_plugin_info& again) {
  if (first.size != again.size || first.abi_minor != again.abi_minor ||
      first.stripe_minor != again.stripe_minor || first.sanitizer != again.sanitizer ||
      first.debug != again.debug || first.page_size != again.page_size)
    return broken("the second answer differs from the first in a number");
  if (range_of(first.abi) != range_of(again.abi) ||
      range_of(first.stripe) != range_of(again.stripe))
    return broken("the second answer has other versions than the first");
  if (hal::view_of(first.id) != hal::view_of(again.id) ||
      hal::view_of(first.version) != hal::view_of(again.version) ||
      hal::view_of(first.build) != hal::view_of(again.build))
    return broken("the second answer has other texts than the first");
  return Status();
}

void add_repeat_cases(CaseMaker& maker) {
  constexpr std::string_view kUntilUnloaded =
      "The tables, valid until the shared object is unloaded.";
  for (const int times : {2, 1000})
    add(maker, fmt::format("repeat.same_answer_{}_times", times), kSame,
        [times](Subject& subject) -> Finding {
          stria_plugin_info first, again;
          STRIA_RETURN_IF_ERROR(ask_as_product(subject, first));
          for (int i = 1; i < times; ++i) {
            STRIA_RETURN_IF_ERROR(ask_as_product(subject, again));
            STRIA_RETURN_IF_ERROR(check_same(first, again));
          }
          return {};
        });
  add(maker, "repeat.first_answer_stays", kUntilUnloaded, [](Subject& subject) -> Finding {
    stria_plugin_info first, again;
    STRIA_RETURN_IF_ERROR(ask_as_product(subject, first));
    const hal::TableSizes before = hal::sizes_of(first);
    const std::string id(hal::view_of(first.id)), version(hal::view_of(first.version));
    const hal::VersionRange abi = range_of(first.abi), stripe = range_of(first.stripe);
    for (int i = 0; i < 50; ++i) STRIA_RETURN_IF_ERROR(ask_as_product(subject, again));
    const hal::TableSizes after = hal::sizes_of(first);
    if (std::memcmp(&before, &after, sizeof before) != 0)
      return broken("the tables of the first answer change with later ones");
    if (hal::view_of(first.id) != id || hal::view_of(first.version) != version ||
        range_of(first.abi) != abi || range_of(first.stripe) != stripe)
      return broken("the texts or ranges of the first answer change with later ones");
    return {};
  });
  add(maker, "repeat.same_answer_on_another_thread",
      "@threads handle calls on one handle come one after another; different handles at once",
      [](Subject& subject) -> Finding {
        stria_plugin_info first, again{};
        STRIA_RETURN_IF_ERROR(ask_as_product(subject, first));
        Status there;
        std::thread other([&] { there = ask_as_product(subject, again); });
        other.join();
        STRIA_RETURN_IF_ERROR(there);
        // What a thread of the host's has got may be used by others when it has ended.
        return check_same(first, again);
      });
}

}  // namespace

void add_identity_cases(CaseMaker& maker) {
  add_name_cases(maker);
  add_build_cases(maker);
  add_repeat_cases(maker);
}

}  // namespace stria::conformance
