// SPDX-License-Identifier: Apache-2.0
#include "negotiation/service_cases.h"

#include "negotiation/answer.h"
#include "negotiation/at_page_end.h"
#include "negotiation/longer_struct.h"
#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kNeedsMore =
    "a plugin that needs more services than this refuses: STRIA_INCOMPATIBLE";
constexpr std::string_view kGetsOn =
    "New members are appended and existing ones never move; none is put where an older struct "
    "ended "
    "in padding, for that lies within the older `size`.";
constexpr std::string_view kLongerIsIgnored =
    "What a longer struct has beyond the reader's own is ignored.";
constexpr std::string_view kUnknownNext = "unknown ones are skipped; NULL ends it";
constexpr std::string_view kWithinSize =
    "A reader uses a member only if all of it lies within `size`; one beyond counts as 0, NULL or "
    "empty.";

// What a host gives to driver.create, in memory of the case's.
struct Given {
  TestHost host;
  std::string directory;
  stria_driver_options options{};

  explicit Given(const Subject& subject) : directory(subject.options().directory.string()) {
    options.size = sizeof options;
    options.directory = hal::to_c(directory);
    options.options = hal::to_c("{}");
    options.services = &host.services();
  }
};

// Makes a driver of these options and works with the subject's device of it.
Finding works_with(Subject& subject, Given& given, const stria_driver_options* options,
                   bool may_refuse) {
  if (!options) return make_error(StatusCode::out_of_memory, "no memory for this case");
  {
    stria_driver* raw = nullptr;
    const Status made =
        Subject::failure(Slot::driver_create, subject.tables().driver.create(options, &raw));
    if (!made.ok() && raw)
      return broken("driver.create fails ({}) and gives a driver", made.message());
    if (made.code() == StatusCode::incompatible && may_refuse) return {};
    if (!made.ok()) return made;
    if (!raw)
      return broken_rule(rule_of(Slot::driver_create),
                         "driver.create says that it succeeded and gives nothing");
    const Driver driver(raw, subject.tables().driver.shutdown);
    STRIA_RETURN_IF_ERROR(subject.list(driver.get()).status());
    STRIA_ASSIGN(const Device device, subject.open_device(driver.get(), subject.device_info().id));
    const DeviceWork work(subject.tables(), device.get());
    STRIA_RETURN_IF_ERROR(work_round(work, 1));
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    STRIA_RETURN_IF_ERROR(program_round(work, program, 2));
  }
  if (const std::string taken = given.host.taken(2000); !taken.empty())
    return broken_rule(Rule::leaves_nothing,
                       "after driver.shutdown the plugin still holds {} of the host's", taken);
  return {};
}

Case& add(CaseMaker& maker, std::string_view name, std::string_view sentence,
          std::function<Finding(Subject&, Given&)> run) {
  Case& c = maker.add('N', name, Level::right, sentence,
                      [run = std::move(run)](Subject& subject) -> Finding {
                        Given given(subject);
                        return run(subject, given);
                      });
  c.place = Place::own;
  c.limit = std::chrono::seconds(60);
  return c;
}

void add_options_cases(CaseMaker& maker) {
  for (const size_t more : {8, 256})
    add(maker, fmt::format("driver_options.longer_by_{}", more), kLongerIsIgnored,
        [more](Subject& subject, Given& given) {
          LongerStruct<stria_driver_options> longer(given.options, more);
          return works_with(subject, given, longer.get(), false);
        });
  for (const size_t length : {1, 3})
    add(maker, fmt::format("driver_options.chain_of_{}", length), kUnknownNext,
        [length](Subject& subject, Given& given) -> Finding {
          const UnknownChain chain(length);
          given.options.next = chain.first();
          const Finding finding = works_with(subject, given, &given.options, false);
          if (finding.ending() == Ending::pass && !chain.is_untouched())
            return broken("it writes into an extension struct of the host's");
          return finding;
        });
  add(maker, "driver_options.ends_with_options", kWithinSize, [](Subject& subject, Given& given) {
    // No services are the same as a table without any.
    const StructAtPageEnd<stria_driver_options> ended(given.options,
                                                      offsetof(stria_driver_options, services));
    return works_with(subject, given, ended.get(), true);
  });
  add(maker, "driver_options.texts_end_where_they_end",
      "text UTF-8 in {data, size} without a terminating zero", [](Subject& subject, Given& given) {
        const TextAtPageEnd directory(given.directory), options("{}");
        given.options.directory = hal::to_c(directory.view());
        given.options.options = hal::to_c(options.view());
        return works_with(subject, given, &given.options, false);
      });
  add(maker, "driver_options.gone_after_the_call",
      "Pointers given to a slot are valid during the call only, unless its comment says otherwise.",
      [](Subject& subject, Given& given) -> Finding {
        Driver driver;
        {
          const TextAtPageEnd directory(given.directory), options("{}");
          given.options.directory = hal::to_c(directory.view());
          given.options.options = hal::to_c(options.view());
          const StructAtPageEnd<stria_driver_options> at_end(given.options, sizeof given.options);
          stria_driver* raw = nullptr;
          STRIA_SLOT(subject, driver, create, at_end.get(), &raw);
          if (!raw)
            return broken_rule(rule_of(Slot::driver_create),
                               "driver.create says that it succeeded and gives nothing");
          driver = Driver(raw, subject.tables().driver.shutdown);
        }
        // Whoever looks at them now crashes.
        STRIA_RETURN_IF_ERROR(subject.list(driver.get()).status());
        STRIA_ASSIGN(const Device device,
                     subject.open_device(driver.get(), subject.device_info().id));
        const DeviceWork work(subject.tables(), device.get());
        STRIA_RETURN_IF_ERROR(work_round(work, 3));
        STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
        return program_round(work, program, 4);
      });
}

struct Ends {
  const char* name;  // of the first service that is not there
  size_t bytes;
  bool may_refuse;
};

#define ENDS_BEFORE(service, may_refuse) \
  Ends { #service, offsetof(stria_host_services, service), may_refuse }

void add_services_cases(CaseMaker& maker) {
  for (const Ends& ends : {ENDS_BEFORE(copy_error, false), ENDS_BEFORE(lend, false)}) {
    const std::string_view sentence = ends.bytes == offsetof(stria_host_services, lend)
                                          ? "Since 0.3; a plugin gets on without it."
                                          : "Since 0.5; a plugin gets on without it.";
    add(maker, fmt::format("services.without_{}", ends.name), sentence,
        [ends](Subject& subject, Given& given) {
          const StructAtPageEnd<stria_host_services> services(given.host.services(), ends.bytes);
          given.options.services = services.get();
          return works_with(subject, given, &given.options, ends.may_refuse);
        });
    // The same as far as a plugin gets that does no work yet.
    add(maker, fmt::format("services.loads_without_{}", ends.name), sentence,
        [ends](Subject& subject, Given& given) -> Finding {
          const StructAtPageEnd<stria_host_services> services(given.host.services(), ends.bytes);
          given.options.services = services.get();
          stria_driver* raw = nullptr;
          STRIA_SLOT(subject, driver, create, &given.options, &raw);
          if (!raw)
            return broken_rule(rule_of(Slot::driver_create),
                               "driver.create says that it succeeded and gives nothing");
          const Driver driver(raw, subject.tables().driver.shutdown);
          return subject.list(driver.get()).status();
        })
        .level = Level::loads;
  }
  // Hosts of before 0.1, as it were. A plugin that needs none of these may work.
  for (const Ends& ends :
       {ENDS_BEFORE(make_error, true), ENDS_BEFORE(cache_get, true),
        ENDS_BEFORE(program_create, true), ENDS_BEFORE(post, true), ENDS_BEFORE(parallel_for, true),
        ENDS_BEFORE(concurrency, true), ENDS_BEFORE(allocate, true), ENDS_BEFORE(log, true)})
    add(maker, fmt::format("services.ends_before_{}", ends.name), kNeedsMore,
        [ends](Subject& subject, Given& given) {
          const StructAtPageEnd<stria_host_services> services(given.host.services(), ends.bytes);
          given.options.services = services.get();
          return works_with(subject, given, &given.options, ends.may_refuse);
        });
  for (const size_t more : {8, 1024})
    add(maker, fmt::format("services.longer_by_{}", more), kLongerIsIgnored,
        [more](Subject& subject, Given& given) {
          LongerStruct<stria_host_services> services(given.host.services(), more);
          given.options.services = services.get();
          return works_with(subject, given, &given.options, false);
        });
  add(maker, "services.chain", kUnknownNext, [](Subject& subject, Given& given) -> Finding {
    const UnknownChain chain(2);
    stria_host_services services = given.host.services();
    services.next = chain.first();
    given.options.services = &services;
    const Finding finding = works_with(subject, given, &given.options, false);
    if (finding.ending() == Ending::pass && !chain.is_untouched())
      return broken("it writes into an extension struct of the host's");
    return finding;
  });
  add(maker, "services.are_left_as_they_are", "valid until shutdown has returned",
      [](Subject& subject, Given& given) -> Finding {
        // In memory that can only be read: who writes crashes.
        const StructAtPageEnd<stria_host_services> services(given.host.services(),
                                                            sizeof(stria_host_services));
        if (!services.get())
          return make_error(StatusCode::out_of_memory, "no memory for this case");
        const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
        const auto first = reinterpret_cast<uintptr_t>(services.get()) / page * page;
        ::mprotect(reinterpret_cast<void*>(first), page, PROT_READ);
        given.options.services = services.get();
        return works_with(subject, given, &given.options, false);
      });
}

}  // namespace

void add_service_cases(CaseMaker& maker) {
  add_options_cases(maker);
  add_services_cases(maker);
}

}  // namespace stria::conformance
