// SPDX-License-Identifier: Apache-2.0
#include "negotiation/struct_cases.h"

#include <cstring>

#include "negotiation/answer.h"
#include "negotiation/at_page_end.h"
#include "negotiation/longer_struct.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/boundary/sized.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kWithinSize =
    "A reader uses a member only if all of it lies within `size`; one beyond counts as 0, NULL or "
    "empty.";
constexpr std::string_view kLongerIsIgnored =
    "What a longer struct has beyond the reader's own is ignored.";
constexpr std::string_view kUnknownNext = "unknown ones are skipped; NULL ends it";
constexpr std::string_view kWritesNothingBeyond =
    "The plugin writes nothing beyond it, and sets it to sizeof its own struct where that is less: "
    "the host uses no member beyond what is left.";
constexpr std::string_view kNextIsTheHosts = "the host's, left as it is";
constexpr std::string_view kRefuses = "STRIA_INCOMPATIBLE if the versions or builds do not fit.";

Case& add(CaseMaker& maker, const std::string& name, std::string_view sentence,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('N', name, Level::loads, sentence, std::move(run));
  c.place = Place::bare;
  return c;
}

// The answer to a host that is as the product's but for how it says so: the same as to that.
Finding answers_as_ever(Subject& subject, const stria_host_info* host) {
  stria_plugin_info expected, info{};
  STRIA_RETURN_IF_ERROR(ask_as_product(subject, expected));
  info.size = sizeof info;
  STRIA_ASSIGN(const Answer answer, ask(subject, host, &info));
  // A plugin for pages of one size may want to know that they have it here.
  if (answer.refusal == STRIA_INCOMPATIBLE && expected.page_size != 0 &&
      STRIA_SIZED(*host, page_size, uint64_t{0}) == 0)
    return check_own_ranges(subject, info);
  if (answer.refusal != STRIA_OK)
    return broken("it refuses with {} ({})", code_text(answer.refusal), answer.text);
  STRIA_RETURN_IF_ERROR(check_own_ranges(subject, info));
  if (info.size != expected.size || info.abi_minor != expected.abi_minor ||
      info.stripe_minor != expected.stripe_minor || info.sanitizer != expected.sanitizer ||
      info.page_size != expected.page_size)
    return broken(
        "it says size {}, minors {} and {}, sanitizer {}, pages of {} bytes; to the product's own "
        "host {}, {} and {}, {}, {}",
        info.size, info.abi_minor, info.stripe_minor, info.sanitizer, info.page_size, expected.size,
        expected.abi_minor, expected.stripe_minor, expected.sanitizer, expected.page_size);
  if (hal::view_of(info.id) != hal::view_of(expected.id) ||
      hal::view_of(info.version) != hal::view_of(expected.version))
    return broken("it says that it is another plugin than to the product's own host");
  if (!info.driver || !info.device || !info.compiler || !info.library || !info.kernel ||
      !info.executor || !info.buffer || !info.event)
    return broken("it gives fewer tables than to the product's own host");
  return {};
}

struct Boundary {
  const char* name;  // of the last member that is there
  size_t bytes;
};

#define ENDS_WITH(type, member) \
  Boundary { #member, offsetof(type, member) + sizeof(type::member) }

// ---- stria_host_info

void add_host_info_cases(CaseMaker& maker) {
  // Members are 8 bytes apart, but for `sanitizer` and `debug`: a struct that ends with those has
  // padding up to the next multiple of 8.
  for (const Boundary& last : {ENDS_WITH(stria_host_info, page_size),
                               Boundary{"debug", offsetof(stria_host_info, page_size)},
                               Boundary{"stripe", offsetof(stria_host_info, sanitizer)}})
    add(maker, fmt::format("host_info.ends_with_{}", last.name), kWithinSize,
        [last](Subject& subject) -> Finding {
          HostSays host;
          // Nothing said is the same as none.
          if (host.info.sanitizer != STRIA_SANITIZER_NONE &&
              last.bytes < offsetof(stria_host_info, page_size))
            return Finding::skip("this host has a sanitizer, which a short struct does not say");
          const StructAtPageEnd<stria_host_info> given(host.info, last.bytes);
          return answers_as_ever(subject, given.get());
        });
  for (const bool has_abi : {false, true})
    add(maker, has_abi ? "host_info.ends_with_abi" : "host_info.ends_with_next", kWithinSize,
        [has_abi](Subject& subject) -> Finding {
          const HostSays host;
          const StructAtPageEnd<stria_host_info> given(
              host.info,
              has_abi ? offsetof(stria_host_info, stripe) : offsetof(stria_host_info, abi));
          stria_plugin_info info{};
          info.size = sizeof info;
          STRIA_ASSIGN(const Answer answer, ask(subject, given.get(), &info));
          if (answer.refusal != STRIA_INCOMPATIBLE)
            return broken(
                "a host that says no {} has no versions in common; it answers {}, not "
                "STRIA_INCOMPATIBLE",
                has_abi ? "stripe" : "abi", code_text(answer.refusal));
          return check_own_ranges(subject, info);
        });
  for (const bool lacks_abi : {false, true})
    add(maker, lacks_abi ? "host_info.abi_is_null" : "host_info.stripe_is_null", kRefuses,
        [lacks_abi](Subject& subject) -> Finding {
          HostSays host;
          (lacks_abi ? host.info.abi : host.info.stripe) = nullptr;
          stria_plugin_info info{};
          info.size = sizeof info;
          STRIA_ASSIGN(const Answer answer, ask(subject, &host.info, &info));
          if (answer.refusal != STRIA_INCOMPATIBLE)
            return broken(
                "a host that says no {} has no versions in common; it answers {}, not "
                "STRIA_INCOMPATIBLE",
                lacks_abi ? "abi" : "stripe", code_text(answer.refusal));
          return check_own_ranges(subject, info);
        });
  for (const size_t more : {8, 64, 4096})
    add(maker, fmt::format("host_info.longer_by_{}", more), kLongerIsIgnored,
        [more](Subject& subject) -> Finding {
          const HostSays host;
          LongerStruct<stria_host_info> given(host.info, more);
          return answers_as_ever(subject, given.get());
        });
  add(maker, "host_info.longer_ranges", kLongerIsIgnored, [](Subject& subject) -> Finding {
    HostSays host;
    LongerStruct<stria_version_range> abi(host.abi, 32), stripe(host.stripe, 32);
    host.info.abi = abi.get();
    host.info.stripe = stripe.get();
    return answers_as_ever(subject, &host.info);
  });
  for (const size_t length : {1, 3})
    add(maker, fmt::format("host_info.chain_of_{}", length), kUnknownNext,
        [length](Subject& subject) -> Finding {
          HostSays host;
          const UnknownChain chain(length);
          host.info.next = chain.first();
          const Finding finding = answers_as_ever(subject, &host.info);
          if (finding.ending() == Ending::pass && !chain.is_untouched())
            return broken("it writes into an extension struct of the host's");
          return finding;
        });
  add(maker, "host_info.chains_at_ranges", kUnknownNext, [](Subject& subject) -> Finding {
    HostSays host;
    const UnknownChain abi(2), stripe(2);
    host.abi.next = abi.first();
    host.stripe.next = stripe.first();
    return answers_as_ever(subject, &host.info);
  });
  add(maker, "host_info.texts_end_where_they_end",
      "text UTF-8 in {data, size} without a terminating zero", [](Subject& subject) -> Finding {
        HostSays host;
        const TextAtPageEnd build("stria conform, a build of today");
        host.info.build = hal::to_c(build.view());
        return answers_as_ever(subject, &host.info);
      });
  for (const bool is_long : {false, true})
    add(maker, is_long ? "host_info.long_build" : "host_info.empty_build",
        is_long ? "the host's version and compiler, for messages only"
                : "An empty text may have data NULL.",
        [is_long](Subject& subject) -> Finding {
          HostSays host;
          const std::string text(size_t{1} << 20, 'b');
          host.info.build = is_long ? hal::to_c(text) : stria_string{nullptr, 0};
          return answers_as_ever(subject, &host.info);
        });
  for (const uint8_t debug : {0, 1})
    add(maker, debug ? "host_info.debug" : "host_info.no_debug",
        "built without optimisation; for messages only", [debug](Subject& subject) -> Finding {
          HostSays host;
          host.info.debug = debug;
          return answers_as_ever(subject, &host.info);
        });
  add(maker, "host_info.is_left_as_it_is", "What a const one points to is not written.",
      [](Subject& subject) -> Finding {
        HostSays host;
        const stria_host_info before = host.info;
        const stria_version_range abi = host.abi, stripe = host.stripe;
        stria_plugin_info info{};
        info.size = sizeof info;
        STRIA_ASSIGN(const Answer answer, ask(subject, &host.info, &info));
        if (answer.refusal != STRIA_OK) return broken("it refuses: {}", answer.text);
        if (std::memcmp(&before, &host.info, sizeof before) != 0 ||
            std::memcmp(&abi, &host.abi, sizeof abi) != 0 ||
            std::memcmp(&stripe, &host.stripe, sizeof stripe) != 0)
          return broken("it writes into what the host says of itself");
        if (info.abi == &host.abi || info.stripe == &host.stripe)
          return broken_rule(
              Rule::call_only,
              "what it says of itself points to what the host said, which is gone after "
              "the call");
        return {};
      });
}

// ---- stria_plugin_info

constexpr unsigned char kFilling = 0xa5;

// A struct of `bytes` as the host makes it, with bytes behind it that nobody may write.
class ShortInfo {
 public:
  explicit ShortInfo(size_t bytes) : bytes_(bytes) {
    std::memset(words_, kFilling, sizeof words_);
    std::memset(words_, 0, bytes);
    get()->size = bytes;
  }
  stria_plugin_info* get() { return reinterpret_cast<stria_plugin_info*>(words_); }
  Status check() const {
    const auto* all = reinterpret_cast<const unsigned char*>(words_);
    for (size_t i = bytes_; i < sizeof words_; ++i)
      if (all[i] != kFilling)
        return broken("the host's struct has {} bytes; the plugin wrote into byte {}", bytes_, i);
    const uint64_t size = words_[0];
    if (size > bytes_)
      return broken("the host's struct has {} bytes; the plugin says that it has {}", bytes_, size);
    return Status();
  }

 private:
  size_t bytes_;
  uint64_t words_[sizeof(stria_plugin_info) / 8 + 32];
};

void add_plugin_info_cases(CaseMaker& maker) {
  const Boundary all[] = {
      ENDS_WITH(stria_plugin_info, abi),          ENDS_WITH(stria_plugin_info, stripe),
      ENDS_WITH(stria_plugin_info, stripe_minor), {"debug", offsetof(stria_plugin_info, page_size)},
      ENDS_WITH(stria_plugin_info, page_size),    ENDS_WITH(stria_plugin_info, id),
      ENDS_WITH(stria_plugin_info, version),      ENDS_WITH(stria_plugin_info, build),
      ENDS_WITH(stria_plugin_info, driver),       ENDS_WITH(stria_plugin_info, device),
      ENDS_WITH(stria_plugin_info, compiler),     ENDS_WITH(stria_plugin_info, library),
      ENDS_WITH(stria_plugin_info, kernel),       ENDS_WITH(stria_plugin_info, executor),
      ENDS_WITH(stria_plugin_info, buffer),       ENDS_WITH(stria_plugin_info, event)};
  for (const Boundary& last : all)
    add(maker, fmt::format("plugin_info.ends_with_{}", last.name), kWritesNothingBeyond,
        [last](Subject& subject) -> Finding {
          stria_plugin_info expected;
          STRIA_RETURN_IF_ERROR(ask_as_product(subject, expected));
          ShortInfo given(last.bytes);
          const HostSays host;
          STRIA_ASSIGN(const Answer answer, ask(subject, &host.info, given.get()));
          STRIA_RETURN_IF_ERROR(given.check());
          if (answer.refusal != STRIA_OK)
            return broken("it refuses with {} ({})", code_text(answer.refusal), answer.text);
          // Compilers may assume that an object of the type is as long as the type.
          stria_plugin_info got{};
          std::memcpy(static_cast<void*>(&got), given.get(), last.bytes);
          if (got.size != std::min<uint64_t>(last.bytes, expected.size))
            return broken("it sets the size to {}; of the host's {} bytes its own struct has {}",
                          got.size, last.bytes, expected.size);
          if (range_of(got.abi) != range_of(expected.abi))
            return broken("it does not say which ABI versions it speaks");
          if (STRIA_SIZED(got, stripe, nullptr) &&
              range_of(got.stripe) != range_of(expected.stripe))
            return broken("it says other Stripe versions than in a whole struct");
          if (STRIA_SIZED(got, stripe_minor, expected.stripe_minor) != expected.stripe_minor ||
              STRIA_SIZED(got, abi_minor, expected.abi_minor) != expected.abi_minor)
            return broken("it chose the minors {} and {}, in a whole struct {} and {}",
                          got.abi_minor, got.stripe_minor, expected.abi_minor,
                          expected.stripe_minor);
          if (hal::view_of(STRIA_SIZED(got, id, expected.id)) != hal::view_of(expected.id))
            return broken("it says another id than in a whole struct");
          if (STRIA_SIZED(got, event, expected.event) == nullptr ||
              STRIA_SIZED(got, driver, expected.driver) == nullptr)
            return broken("it leaves out a table that the host's struct has room for");
          return {};
        });
  add(maker, "plugin_info.short_when_refused", kWritesNothingBeyond,
      [](Subject& subject) -> Finding {
        ShortInfo given(offsetof(stria_plugin_info, abi_minor));
        HostSays host;
        host.abi.major = STRIA_ABI_MAJOR + 1;
        STRIA_ASSIGN(const Answer answer, ask(subject, &host.info, given.get()));
        STRIA_RETURN_IF_ERROR(given.check());
        if (answer.refusal != STRIA_INCOMPATIBLE)
          return broken("it answers {}, not STRIA_INCOMPATIBLE", code_text(answer.refusal));
        stria_plugin_info got{};
        std::memcpy(static_cast<void*>(&got), given.get(), offsetof(stria_plugin_info, abi_minor));
        return check_own_ranges(subject, got);
      });
  for (const size_t more : {8, 64, 4096})
    add(maker, fmt::format("plugin_info.longer_by_{}", more), kWritesNothingBeyond,
        [more](Subject& subject) -> Finding {
          stria_plugin_info empty{};
          LongerStruct<stria_plugin_info> given(empty, more, 0);
          const HostSays host;
          STRIA_ASSIGN(const Answer answer, ask(subject, &host.info, given.get()));
          if (answer.refusal != STRIA_OK)
            return broken("it refuses with {} ({})", code_text(answer.refusal), answer.text);
          const uint64_t size = given.get()->size;
          if (size > sizeof empty + more)
            return broken("the host's struct has {} bytes; the plugin says that it has {}",
                          sizeof empty + more, size);
          // A plugin of this header, or of an older one, knows no more than this.
          STRIA_RETURN_IF_ERROR(subject.manifest().status());
          if (subject.manifest()->abi.minor_max <= STRIA_ABI_MINOR && size > sizeof empty)
            return broken("it leaves the size at {}, though its own struct has {} at most", size,
                          sizeof empty);
          if (!given.is_untouched_behind(size < sizeof empty ? sizeof empty : size))
            return broken("it writes behind the {} bytes that it says it has filled in", size);
          return check_own_ranges(subject, *given.get());
        });
  for (const size_t length : {1, 3})
    add(maker, fmt::format("plugin_info.chain_of_{}", length), kNextIsTheHosts,
        [length](Subject& subject) -> Finding {
          const UnknownChain chain(length);
          stria_plugin_info info{};
          info.size = sizeof info;
          info.next = chain.first();
          const HostSays host;
          STRIA_ASSIGN(const Answer answer, ask(subject, &host.info, &info));
          if (answer.refusal != STRIA_OK)
            return broken("it refuses with {} ({})", code_text(answer.refusal), answer.text);
          if (info.next != chain.first()) return broken("it changes `next`, which is the host's");
          if (!chain.is_untouched())
            return broken("it writes into an extension struct that it does not know");
          return check_own_ranges(subject, info);
        });
  add(maker, "plugin_info.next_stays_null", kNextIsTheHosts, [](Subject& subject) -> Finding {
    stria_plugin_info info;
    STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
    if (info.next) return broken("it sets `next`, which is the host's");
    return {};
  });
  add(maker, "plugin_info.next_stays_when_refused", kNextIsTheHosts,
      [](Subject& subject) -> Finding {
        const UnknownChain chain(1);
        stria_plugin_info info{};
        info.size = sizeof info;
        info.next = chain.first();
        HostSays host;
        host.abi.major = STRIA_ABI_MAJOR + 1;
        STRIA_ASSIGN(const Answer answer, ask(subject, &host.info, &info));
        if (answer.refusal == STRIA_OK) return broken("it accepts a host of another major");
        if (info.next != chain.first() || !chain.is_untouched())
          return broken("it changes `next`, which is the host's");
        return check_own_ranges(subject, info);
      });
}

}  // namespace

void add_struct_cases(CaseMaker& maker) {
  add_host_info_cases(maker);
  add_plugin_info_cases(maker);
}

}  // namespace stria::conformance
