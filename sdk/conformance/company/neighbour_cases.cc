// SPDX-License-Identifier: Apache-2.0
#include "company/company_cases.h"
#include "company/neighbours.h"
#include "company/together.h"
#include "lifecycle/forked_run.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kGuest =
    "A plugin is a guest: it is loaded into the process of an application that it does not know, "
    "beside other plugins.";

// Whether the other plugin is well without this one. One that is not is no company to judge by.
Status is_well_alone(const std::filesystem::path& directory) {
  return status_forked(
      [&]() -> Status {
        OtherPlugin other(directory);
        STRIA_RETURN_IF_ERROR(other.work(1));
        return other.end();
      },
      false, 60'000);
}

}  // namespace

void add_neighbour_cases(CaseMaker& maker) {
  for (const Neighbour& neighbour : neighbours_of(maker.directory))
    for (const Order& order : all_orders()) {
      Case& c =
          maker.add('C', fmt::format("neighbour.{}.{}", neighbour.name, order.name), Level::robust,
                    kGuest, [directory = neighbour.directory, &order](Subject& subject) -> Finding {
                      if (const Status alone = is_well_alone(directory); !alone.ok())
                        return Finding::skip(fmt::format("'{}' is not well alone: {}",
                                                         directory.string(), alone.message()));
                      OtherPlugin other(directory);
                      return order.run(subject, other);
                    });
      c.place = Place::bare;
      c.source = "guide/process.md";
      c.limit = std::chrono::seconds(180);
    }
}

}  // namespace stria::conformance
