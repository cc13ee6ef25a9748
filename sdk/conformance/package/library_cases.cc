// SPDX-License-Identifier: Apache-2.0
#include "package/library_cases.h"

#include <dlfcn.h>

#include <algorithm>

#include "package/run_path.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/files/shared_object.h"
#include "suite/subject.h"

namespace stria::conformance {
namespace {

constexpr const char* kSymbol = "stria_plugin_query";
constexpr std::string_view kOneSymbol =
    "A plugin is a shared object that exports one symbol, stria_plugin_query; everything else "
    "crosses in the tables declared here.";
constexpr std::string_view kCode =
    "Loading it makes no stack executable, and none of its code can be written to.";
constexpr std::string_view kProcessPage = "guide/process.md";

// Adds a case about the shared object, which is not loaded.
void add(CaseMaker& maker, std::string_view name, std::string_view sentence,
         std::function<Finding(const Subject&, const hal::SharedObject&)> run) {
  Case& c = maker.add(
      'P', name, Level::loads, sentence, [run = std::move(run)](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.manifest().status());
        STRIA_ASSIGN(const hal::SharedObject object, hal::read_shared_object(subject.library()));
        return run(subject, object);
      });
  c.place = Place::bare;
}

// The shared objects that are this product's own, or may be: none is linked into a plugin.
bool is_of_the_host(const std::string& library) { return library.rfind("libstria", 0) == 0; }

}  // namespace

void add_library_cases(CaseMaker& maker) {
  add(maker, "library.is_for_this_machine", kOneSymbol,
      [](const Subject& subject, const hal::SharedObject&) -> Finding {
        return hal::check_shared_object(subject.library(), kSymbol);
      });
  add(maker, "library.exports_the_symbol", kOneSymbol,
      [](const Subject&, const hal::SharedObject& object) -> Finding {
        if (!std::binary_search(object.exports.begin(), object.exports.end(), kSymbol))
          return broken("it exports no {}", kSymbol);
        return {};
      });
  add(maker, "library.exports_nothing_else", kOneSymbol,
      [](const Subject&, const hal::SharedObject& object) -> Finding {
        for (const std::string& name : object.exports)
          if (name != kSymbol)
            return broken("it exports {} symbols, among them '{}'", object.exports.size(),
                          hal::one_line(name));
        return {};
      });
  add(maker, "library.stack_is_no_code", kCode,
      [](const Subject&, const hal::SharedObject& object) -> Finding {
        if (object.executable_stack)
          return broken("loading it makes all stacks of the process executable");
        return {};
      });
  maker.out.back().source = kProcessPage;
  add(maker, "library.code_is_not_writable", kCode,
      [](const Subject&, const hal::SharedObject& object) -> Finding {
        if (object.writable_code) return broken("a segment of it may be written and executed");
        return {};
      });
  maker.out.back().source = kProcessPage;
  add(maker, "library.has_no_text_relocations", kCode,
      [](const Subject&, const hal::SharedObject& object) -> Finding {
        if (object.text_relocations)
          return broken("loading it writes into its code: compile all of it with -fPIC");
        return {};
      });
  maker.out.back().source = kProcessPage;
  add(maker, "library.run_paths_are_safe",
      "Each entry of its run path begins with `/` or `$ORIGIN`, and none lies in a folder that "
      "everybody may write to.",
      [](const Subject& subject, const hal::SharedObject& object) -> Finding {
        for (const std::string& entry : object.run_paths)
          if (const std::string fault =
                  run_path_fault(entry, subject.library(), subject.options().directory);
              !fault.empty())
            return broken("it looks for libraries in '{}': {}", hal::one_line(entry),
                          hal::one_line(fault));
        return {};
      });
  maker.out.back().source = "guide/manifest.md";
  add(maker, "library.needs_are_here",
      "shared objects that the plugin opens at run time, and the Debian package of each.",
      [](const Subject&, const hal::SharedObject& object) -> Finding {
        for (const std::string& name : object.needed)
          if (!object.run_paths.empty())
            continue;  // found beside it, which loading shows
          else if (!::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL))
            return broken("it is linked with {}, which is not here: {}", hal::one_line(name),
                          hal::one_line(::dlerror()));
        return {};
      });
  maker.out.back().source = "guide/manifest.md";
  add(maker, "library.does_not_link_the_host", kOneSymbol,
      [](const Subject&, const hal::SharedObject& object) -> Finding {
        for (const std::string& name : object.needed)
          if (is_of_the_host(name))
            return broken("it is linked with {}: what of the host it needs crosses in tables",
                          hal::one_line(name));
        return {};
      });
  add(maker, "library.can_be_unloaded_if_it_says_so",
      "Only if it leaves no thread, no `atexit` handler and no `thread_local` with a destructor "
      "behind",
      [](const Subject& subject, const hal::SharedObject& object) -> Finding {
        if (!subject.manifest()->unloadable)
          return Finding::skip("the manifest does not say that it is unloadable");
        if (!object.unique.empty())
          return broken(
              "it has {} symbols of one definition per process, such as '{}', and so is "
              "never unloaded: compile it with -fno-gnu-unique",
              object.unique.size(), hal::one_line(object.unique.front()));
        return {};
      });
  maker.out.back().source = "guide/manifest.md";
}

}  // namespace stria::conformance
