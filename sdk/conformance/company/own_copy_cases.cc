// SPDX-License-Identifier: Apache-2.0
// Beside a second copy of itself, as two applications' libraries in one process may bring one each.
#include "company/company_cases.h"
#include "company/together.h"

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNotInGlobals =
    "A process may create several, of several hosts: a plugin keeps what it knows in its driver, "
    "not in globals.";

// The plugin's folder once more, at another place: another shared object for the loader.
Result<fs::path> copy_of(Subject& subject) {
  STRIA_ASSIGN(const fs::path scratch, subject.scratch());
  const fs::path copy = scratch / subject.options().directory.filename();
  std::error_code error;
  fs::copy(subject.options().directory, copy, fs::copy_options::recursive, error);
  if (error)
    return make_error(StatusCode::unavailable, "the plugin's folder cannot be copied to '{}': {}",
                      copy.string(), error.message());
  return copy;
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
    add(maker, fmt::format("own_copy.{}", order.name), [&order](Subject& subject) -> Finding {
      STRIA_ASSIGN(const fs::path copy, copy_of(subject));
      OtherPlugin other(copy, subject.options().device_id);
      return order.run(subject, other);
    });
  add(maker, "own_copy.three_of_them", [](Subject& subject) -> Finding {
    STRIA_ASSIGN(const fs::path first, copy_of(subject));
    STRIA_ASSIGN(const fs::path second, copy_of(subject));
    OtherPlugin a(first, subject.options().device_id), b(second, subject.options().device_id);
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
