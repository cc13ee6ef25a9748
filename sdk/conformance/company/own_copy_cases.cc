// SPDX-License-Identifier: Apache-2.0
// Beside a second copy of itself, as two applications' libraries in one process may bring one each.
#include "company/company_cases.h"
#include "company/plugin_copy.h"
#include "company/together.h"

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNotInGlobals =
    "A process may create several, of several hosts: a plugin keeps what it knows in its driver, "
    "not in globals.";

// Folders of the plugin once more, at other places: other shared objects for the loader. Without
// room for them there is nothing to say of the plugin.
Finding with_copies(Subject& subject, int count,
                    const std::function<Status(const std::vector<fs::path>& copies)>& run) {
  std::vector<fs::path> copies;
  for (int i = 0; i < count; ++i) {
    const auto copy = copy_of_plugin(subject);
    if (!copy.ok()) return Finding::skip(copy.status().message());
    copies.push_back(*copy);
  }
  return run(copies);
}

Case& add(CaseMaker& maker, const std::string& name, std::function<Finding(Subject&)> run) {
  Case& c = maker.add('C', name, Level::robust, kNotInGlobals, std::move(run));
  c.place = Place::bare;
  c.limit = std::chrono::seconds(120);
  return c;
}

}  // namespace

void add_own_copy_cases(CaseMaker& maker) {
  for (const Order& order : all_orders())
    add(maker, fmt::format("own_copy.{}", order.name), [&order](Subject& subject) {
      return with_copies(subject, 1, [&](const std::vector<fs::path>& copies) {
        OtherPlugin other(copies[0], subject.options().device_id);
        return order.run(subject, other);
      });
    });
  add(maker, "own_copy.three_of_them", [](Subject& subject) {
    return with_copies(subject, 2, [&](const std::vector<fs::path>& copies) -> Status {
      OtherPlugin a(copies[0], subject.options().device_id);
      OtherPlugin b(copies[1], subject.options().device_id);
      for (uint32_t round = 0; round < 2; ++round) {
        STRIA_RETURN_IF_ERROR(a.work(round));
        STRIA_RETURN_IF_ERROR(subject_works(subject, round));
        STRIA_RETURN_IF_ERROR(b.work(round));
      }
      STRIA_RETURN_IF_ERROR(a.end());
      STRIA_RETURN_IF_ERROR(subject_works(subject, 3));
      STRIA_RETURN_IF_ERROR(b.end());
      return subject.end();
    });
  });
  // The loader gives the same object to whoever asks again.
  add(maker, "own_copy.same_object_again", [](Subject& subject) -> Finding {
    STRIA_RETURN_IF_ERROR(subject_works(subject, 1));
    OtherPlugin again(subject.options().directory, subject.options().device_id);
    STRIA_RETURN_IF_ERROR(again.work(2));
    STRIA_RETURN_IF_ERROR(subject_works(subject, 3));
    STRIA_RETURN_IF_ERROR(again.end());
    STRIA_RETURN_IF_ERROR(subject_works(subject, 4));
    return subject.end();
  });
}

}  // namespace stria::conformance
