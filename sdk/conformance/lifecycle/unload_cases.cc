// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/process_cases.h"
#include "suite/memory_in_use.h"
#include "suite/other_plugin.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kUnloadable =
    "may the object be unloaded after a shutdown? Only if it leaves no thread, no `atexit` handler "
    "and no `thread_local` with a destructor behind";

// What is done between loading and unloading.
enum class Use { none, driver, work };

Finding loads_and_unloads(Subject& subject, int times, Use use) {
  STRIA_RETURN_IF_ERROR(subject.manifest().status());
  if (!subject.manifest()->unloadable)
    return Finding::skip("the manifest does not say that it is unloadable");
  uint64_t memory = 0;
  for (int i = 0; i < times; ++i) {
    // Not the subject's own, which would stay loaded.
    OtherPlugin plugin(subject.options().directory, subject.options().device_id);
    STRIA_RETURN_IF_ERROR(plugin.load());
    if (use == Use::driver) STRIA_RETURN_IF_ERROR(plugin.begin());
    if (use == Use::work) STRIA_RETURN_IF_ERROR(plugin.work(static_cast<uint32_t>(i)));
    STRIA_RETURN_IF_ERROR(plugin.unload());
    if (i == times / 2) memory = written_bytes();
  }
  // Twice the noise of a process that runs threads.
  if (times >= 100 && written_bytes() > memory + (uint64_t{8} << 20))
    return Finding::leak(fmt::format("{} loads and unloads take {} KiB of memory",
                                     times - times / 2, (written_bytes() - memory) >> 10));
  return {};
}

}  // namespace

void add_unload_cases(CaseMaker& maker) {
  struct How {
    const char* name;
    int times;
    Use use;
  };
  for (const How& how : {How{"unload.without_use", 1, Use::none},
                         How{"unload.without_use_100_times", 100, Use::none},
                         How{"unload.after_a_driver", 1, Use::driver},
                         How{"unload.after_a_driver_100_times", 100, Use::driver},
                         How{"unload.after_work", 1, Use::work},
                         How{"unload.after_work_100_times", 100, Use::work}}) {
    Case& c = maker.add('E', how.name, Level::robust, kUnloadable, [how](Subject& subject) {
      return loads_and_unloads(subject, how.times, how.use);
    });
    c.place = Place::bare;
    c.source = "guide/manifest.md";
    c.limit = std::chrono::seconds(180);
  }
}

}  // namespace stria::conformance
