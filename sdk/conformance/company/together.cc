// SPDX-License-Identifier: Apache-2.0
#include "company/together.h"

#include "suite/case.h"
#include "threads/at_once.h"

namespace stria::conformance {

Status subject_works(Subject& subject, uint32_t seed) {
  STRIA_RETURN_IF_ERROR(subject.open());
  const DeviceWork work(subject);
  STRIA_RETURN_IF_ERROR(work_round(work, seed));
  const auto program = SmallProgram::of(subject);
  if (program.status().code() == StatusCode::unsupported) return Status();
  STRIA_RETURN_IF_ERROR(program.status());
  return program_round(work, *program, seed);
}

namespace {

Status of_other(const Status& status) {
  return status.with_context("the other plugin, which is well alone");
}

Status other_comes_first(Subject& subject, OtherPlugin& other) {
  STRIA_RETURN_IF_ERROR(of_other(other.work(1)));
  STRIA_RETURN_IF_ERROR(subject_works(subject, 2));
  STRIA_RETURN_IF_ERROR(of_other(other.work(3)));
  STRIA_RETURN_IF_ERROR(subject.end());
  STRIA_RETURN_IF_ERROR(of_other(other.work(4)));
  return of_other(other.end());
}

Status other_comes_second(Subject& subject, OtherPlugin& other) {
  STRIA_RETURN_IF_ERROR(subject_works(subject, 1));
  STRIA_RETURN_IF_ERROR(of_other(other.work(2)));
  STRIA_RETURN_IF_ERROR(subject_works(subject, 3));
  STRIA_RETURN_IF_ERROR(of_other(other.end()));
  STRIA_RETURN_IF_ERROR(subject_works(subject, 4));
  return subject.end();
}

// Nothing of either has begun when the other is loaded.
Status loaded_together(Subject& subject, OtherPlugin& other) {
  STRIA_RETURN_IF_ERROR(of_other(other.load()));
  STRIA_RETURN_IF_ERROR(subject.ask());
  STRIA_RETURN_IF_ERROR(of_other(other.begin()));
  STRIA_RETURN_IF_ERROR(subject.begin());
  STRIA_RETURN_IF_ERROR(subject.open());
  STRIA_RETURN_IF_ERROR(of_other(other.open()));
  STRIA_RETURN_IF_ERROR(subject_works(subject, 1));
  STRIA_RETURN_IF_ERROR(of_other(other.work(2)));
  STRIA_RETURN_IF_ERROR(of_other(other.end()));
  return subject.end();
}

Status other_was_there(Subject& subject, OtherPlugin& other) {
  STRIA_RETURN_IF_ERROR(of_other(other.work(1)));
  STRIA_RETURN_IF_ERROR(of_other(other.end()));
  STRIA_RETURN_IF_ERROR(subject_works(subject, 2));
  return subject.end();
}

Status it_was_there(Subject& subject, OtherPlugin& other) {
  STRIA_RETURN_IF_ERROR(subject_works(subject, 1));
  STRIA_RETURN_IF_ERROR(subject.end());
  STRIA_RETURN_IF_ERROR(of_other(other.work(2)));
  STRIA_RETURN_IF_ERROR(subject_works(subject, 3));
  STRIA_RETURN_IF_ERROR(subject.end());
  return of_other(other.end());
}

Status at_once_on_two_threads(Subject& subject, OtherPlugin& other) {
  STRIA_RETURN_IF_ERROR(subject.open());
  STRIA_RETURN_IF_ERROR(of_other(other.open()));
  STRIA_RETURN_IF_ERROR(at_once(2, [&](int thread) -> Status {
    for (uint32_t round = 0; round < 3; ++round)
      STRIA_RETURN_IF_ERROR(thread == 0 ? subject_works(subject, round)
                                        : of_other(other.work(round)));
    return Status();
  }));
  STRIA_RETURN_IF_ERROR(of_other(other.end()));
  return subject.end();
}

}  // namespace

const std::vector<Order>& all_orders() {
  static const std::vector<Order> orders = {
      {"comes_first", other_comes_first},      {"comes_second", other_comes_second},
      {"is_loaded_together", loaded_together}, {"was_there", other_was_there},
      {"comes_between", it_was_there},         {"works_at_once", at_once_on_two_threads}};
  return orders;
}

}  // namespace stria::conformance
