// SPDX-License-Identifier: Apache-2.0
#include "negotiation/extension_cases.h"

#include <cstring>
#include <thread>

#include "negotiation/answer.h"
#include "negotiation/at_page_end.h"
#include "negotiation/code_map.h"
#include "stria/experimental.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/boundary/sized.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kSizedOrNull =
    "Optional tables by name (\"vendor.name\") and version; a sized table or NULL.";
constexpr std::string_view kAnswersNull =
    "The host asks for each by name and version through stria_plugin_info.get_extension, which "
    "answers NULL for what the plugin does not have.";
constexpr std::string_view kExperimental = "stria/experimental.h";

using GetExtension = const void* (*)(stria_string, uint32_t);

struct Known {
  std::string_view name;
  const char* shown;
  uint32_t version;
  size_t bytes;
};
constexpr Known kKnown[] = {
    {STRIA_SHARING, "sharing", STRIA_SHARING_VERSION, sizeof(stria_sharing_table)},
    {STRIA_PEERS, "peers", STRIA_PEERS_VERSION, sizeof(stria_peers_table)},
    {STRIA_FOREIGN_EVENTS, "foreign_events", STRIA_FOREIGN_EVENTS_VERSION,
     sizeof(stria_foreign_events_table)},
    {STRIA_ESTIMATE, "estimate", STRIA_ESTIMATE_VERSION, sizeof(stria_estimate_table)}};

Case& add(CaseMaker& maker, std::string_view name, std::string_view sentence,
          std::function<Finding(Subject&, GetExtension)> run) {
  Case& c = maker.add('N', name, Level::loads, sentence,
                      [run = std::move(run)](Subject& subject) -> Finding {
                        stria_plugin_info info;
                        STRIA_RETURN_IF_ERROR(ask_as_product(subject, info));
                        const GetExtension get = STRIA_SIZED(info, get_extension, nullptr);
                        if (!get) return Finding::skip("the plugin has no get_extension");
                        if (!CodeMap().has(reinterpret_cast<const void*>(get)))
                          return broken("get_extension is where there is no code");
                        return run(subject, get);
                      });
  c.place = Place::bare;
  return c;
}

struct Unknown {
  const char* shown;
  std::string name;
  uint32_t version;
};

const std::vector<Unknown>& unknown_ones() {
  static const std::vector<Unknown> all = {
      {"nobodys", "nobody.knows_this", 1},
      {"empty_name", "", 1},
      {"name_without_vendor", "sharing", 1},
      {"vendor_alone", "stria.", 1},
      {"beginning_of_a_name", "stria.sharin", STRIA_SHARING_VERSION},
      {"name_and_more", "stria.sharing_too", STRIA_SHARING_VERSION},
      {"name_in_capitals", "STRIA.SHARING", STRIA_SHARING_VERSION},
      {"name_with_a_zero_behind", std::string("stria.sharing\0", 14), STRIA_SHARING_VERSION},
      {"long_name", std::string(100'000, 'x'), 1},
      {"bytes_that_are_no_text", "stria.\xff\xfe", 1},
  };
  return all;
}

}  // namespace

void add_extension_cases(CaseMaker& maker) {
  for (const Unknown& unknown : unknown_ones())
    add(maker, fmt::format("extension.unknown.{}", unknown.shown), kAnswersNull,
        [&unknown](Subject&, GetExtension get) -> Finding {
          if (get(hal::to_c(unknown.name), unknown.version))
            return broken("it gives a table for the name '{}' of {} bytes, version {}",
                          hal::one_line(unknown.name), unknown.name.size(), unknown.version);
          return {};
        })
        .source = kExperimental;
  for (const Known& known : kKnown) {
    for (const uint32_t version : {0u, 4000u, UINT32_MAX})
      add(maker,
          fmt::format("extension.{}.version_{}", known.shown,
                      version == UINT32_MAX ? std::string("most") : fmt::format("{}", version)),
          kAnswersNull,
          [&known, version](Subject&, GetExtension get) -> Finding {
            if (get(hal::to_c(known.name), version))
              return broken("it gives a table for {} of version {}, which there is none of",
                            known.name, version);
            return {};
          })
          .source = kExperimental;
    add(maker, fmt::format("extension.{}.table", known.shown), kSizedOrNull,
        [&known](Subject&, GetExtension get) -> Finding {
          const void* table = get(hal::to_c(known.name), known.version);
          if (!table) return Finding::skip(fmt::format("the plugin has no {}", known.name));
          if (!hal::is_address(table, alignof(uint64_t)))
            return broken("its table {} is at the address {}", known.name, table);
          uint64_t words[2 + 8] = {};
          std::memcpy(words, table, sizeof words[0]);
          if (words[0] != known.bytes)
            return broken("its table {} says that it has {} bytes; version {} has {}", known.name,
                          words[0], known.version, known.bytes);
          std::memcpy(words, table, known.bytes);
          const CodeMap code;
          for (size_t slot = 0; slot < known.bytes / sizeof words[0] - 2; ++slot)
            if (!code.has(reinterpret_cast<const void*>(words[2 + slot])))
              return broken("slot {} of its table {} is {:#x}, where there is no code", slot,
                            known.name, words[2 + slot]);
          return {};
        });
    add(maker, fmt::format("extension.{}.same_when_asked_again", known.shown), kSizedOrNull,
        [&known](Subject&, GetExtension get) -> Finding {
          const void* first = get(hal::to_c(known.name), known.version);
          std::string bytes;
          if (first) bytes.assign(static_cast<const char*>(first), known.bytes);
          for (int time = 2; time <= 100; ++time) {
            const void* again = get(hal::to_c(known.name), known.version);
            if ((again == nullptr) != (first == nullptr))
              return broken("asked for {} the {}. time it gives {}, the first time {}", known.name,
                            time, again ? "a table" : "none", first ? "one" : "none");
            if (again && std::memcmp(again, bytes.data(), bytes.size()) != 0)
              return broken("asked for {} the {}. time it gives another table", known.name, time);
          }
          return {};
        });
  }
  add(maker, "extension.names_end_where_they_end",
      "text UTF-8 in {data, size} without a terminating zero",
      [](Subject&, GetExtension get) -> Finding {
        for (const Known& known : kKnown) {
          const TextAtPageEnd name(known.name);
          if ((get(hal::to_c(name.view()), known.version) == nullptr) !=
              (get(hal::to_c(known.name), known.version) == nullptr))
            return broken("whether it has {} depends on what lies behind the name", known.name);
        }
        return {};
      });
  add(maker, "extension.from_eight_threads",
      "@threads any may be called from any thread at any time, also at once on one handle",
      [](Subject&, GetExtension get) -> Finding {
        const void* expected[std::size(kKnown)];
        for (size_t i = 0; i < std::size(kKnown); ++i)
          expected[i] = get(hal::to_c(kKnown[i].name), kKnown[i].version);
        std::atomic<int> differences{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t)
          threads.emplace_back([&] {
            for (int round = 0; round < 500; ++round)
              for (size_t i = 0; i < std::size(kKnown); ++i) {
                const void* found = get(hal::to_c(kKnown[i].name), kKnown[i].version);
                if ((found == nullptr) != (expected[i] == nullptr)) ++differences;
              }
          });
        for (std::thread& thread : threads) thread.join();
        if (differences > 0)
          return broken("asked by eight threads at once it says {} times otherwise than alone",
                        differences.load());
        return {};
      });
}

}  // namespace stria::conformance
