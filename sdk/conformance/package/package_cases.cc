// SPDX-License-Identifier: Apache-2.0
#include "package/package_cases.h"

#include "package/library_cases.h"
#include "package/load_cases.h"
#include "stria/base/text.h"
#include "stria/hal/files/inside_file.h"
#include "stria/hal/files/trust.h"
#include "suite/expected.h"
#include "suite/subject.h"

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGuide = "guide/manifest.md";
// Far beyond any package without weights or a toolchain in it. Each file is looked at whenever the
// plugin is loaded.
constexpr uint64_t kMaxPackageBytes = uint64_t{4} << 30;
constexpr uint64_t kMaxPackageFiles = 10'000;

// Adds a case that loads nothing.
void add(CaseMaker& maker, std::string_view name, std::string_view sentence,
         std::function<Finding(Subject&)> run) {
  Case& c = maker.add('P', name, Level::loads, sentence, std::move(run));
  c.place = Place::bare;
  c.source = kGuide;
}

// The same for a manifest that can be read.
void add_of_manifest(CaseMaker& maker, std::string_view name, std::string_view sentence,
                     std::function<Finding(Subject&, const hal::Manifest&)> run) {
  add(maker, name, sentence, [run = std::move(run)](Subject& subject) -> Finding {
    if (!subject.manifest().ok()) return subject.manifest().status();
    return run(subject, *subject.manifest());
  });
}

// Every file and folder in the plugin's directory; the first that `check` fails for.
Finding each_file(const Subject& subject, const std::function<Status(const fs::path&)>& check) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(subject.options().directory, error), end;
       !error && it != end; it.increment(error))
    STRIA_RETURN_IF_ERROR(check(it->path()));
  if (error) return broken("cannot read the plugin's directory: {}", error.message());
  return {};
}

void add_manifest_cases(CaseMaker& maker) {
  add(maker, "manifest.reads", sentence_of(Rule::manifest),
      [](Subject& subject) -> Finding { return subject.manifest().status(); });
  add_of_manifest(maker, "manifest.abi_is_spoken",
                  "Majors must match exactly; each side states the minors it can speak, and the "
                  "highest common one holds.",
                  [](Subject&, const hal::Manifest& manifest) -> Finding {
                    const hal::VersionRange host{STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR,
                                                 STRIA_ABI_MINOR};
                    return hal::negotiate("ABI", host, manifest.abi).status();
                  });
  maker.out.back().source = "stria/plugin.h";
  add_of_manifest(maker, "manifest.stripe_is_spoken", "the minors of Stripe text that it reads",
                  [](Subject&, const hal::Manifest& manifest) -> Finding {
                    const hal::VersionRange host{STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR,
                                                 STRIA_STRIPE_MINOR};
                    return hal::negotiate("Stripe text", host, manifest.stripe).status();
                  });
  add_of_manifest(maker, "manifest.ranges_are_ranges", "`{\"major\": M, \"minor\": [least, most]}`",
                  [](Subject&, const hal::Manifest& manifest) -> Finding {
                    for (const hal::VersionRange& range : {manifest.abi, manifest.stripe})
                      if (range.minor_min > range.minor_max)
                        return broken("the least minor is {}, the most {}", range.minor_min,
                                      range.minor_max);
                    return {};
                  });
  add_of_manifest(maker, "manifest.has_a_kind",
                  "a hardware model and a pipeline for each kind that `enumerate` names",
                  [](Subject&, const hal::Manifest& manifest) -> Finding {
                    if (manifest.devices.empty()) return broken("'devices' names no kind");
                    return {};
                  });
  add_of_manifest(maker, "manifest.requires_are_names",
                  "shared objects that the plugin opens at run time, and the Debian package of "
                  "each.",
                  [](Subject&, const hal::Manifest& manifest) -> Finding {
                    for (const hal::Requirement& need : manifest.required)
                      if (need.library.find(".so") == std::string::npos)
                        return broken("'{}' is no name of a shared object", need.library);
                    return {};
                  });
  add_of_manifest(maker, "manifest.hashes_are_right",
                  "those files are compared before anything is loaded",
                  [](Subject& subject, const hal::Manifest& manifest) -> Finding {
                    return hal::check_hashes(subject.options().directory, manifest);
                  });
  add(maker, "manifest.expected_failures",
      "Each line has a pattern, a day as YYYY-MM-DD and a reason.",
      [](Subject& subject) -> Finding {
        return read_expected(subject.options().directory).status();
      });
  maker.out.back().source = "guide/conformance.md";
}

void add_file_cases(CaseMaker& maker) {
  add(maker, "files.trust",
      "The folder and its files may be writable for their owner alone, who must be the user or "
      "root.",
      [](Subject& subject) -> Finding { return hal::check_trust(subject.options().directory); });
  add(maker, "files.are_regular",
      "All files must be regular files inside the folder, links followed.",
      [](Subject& subject) -> Finding {
        return each_file(subject, [](const fs::path& path) -> Status {
          std::error_code error;
          const fs::file_status status = fs::status(path, error);
          if (error || (!fs::is_regular_file(status) && !fs::is_directory(status)))
            return broken("'{}' is neither a file nor a folder", path.string());
          return Status();
        });
      });
  add(maker, "files.links_stay_inside",
      "All files must be regular files inside the folder, links followed.",
      [](Subject& subject) -> Finding {
        std::error_code error;
        const fs::path home = fs::canonical(subject.options().directory, error);
        return each_file(subject, [&](const fs::path& path) -> Status {
          if (!fs::is_symlink(path)) return Status();
          const std::string target = fs::weakly_canonical(path, error).string();
          if (target.rfind(home.string() + "/", 0) == 0) return Status();
          return broken("'{}' is a link to '{}', which is outside of the folder", path.string(),
                        target);
        });
      });
  add(maker, "files.size",
      "The folder holds at most 10,000 files and folders, and all files together at most 4 GiB.",
      [](Subject& subject) -> Finding {
        uint64_t bytes = 0, files = 0;
        Finding finding = each_file(subject, [&](const fs::path& path) -> Status {
          std::error_code error;
          ++files;
          if (!fs::is_regular_file(path, error)) return Status();
          const uint64_t size = fs::file_size(path, error);
          if (!error) bytes += size;
          return Status();
        });
        if (files > kMaxPackageFiles)
          return broken("it has {} files and folders, more than {}", files, kMaxPackageFiles);
        if (bytes > kMaxPackageBytes)
          return broken("its files have {} bytes, more than {}", bytes, kMaxPackageBytes);
        return finding;
      });
  add(maker, "files.names", "No name of a file or folder in it has a control character.",
      [](Subject& subject) -> Finding {
        return each_file(subject, [](const fs::path& path) -> Status {
          const std::string name = path.filename().string();
          for (const char c : name)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
              return broken("the name of a file has a control character: {}",
                            hal::one_line(path.string()));
          return Status();
        });
      });
}

// One case for each kind and each of its two files.
void add_kind_cases(CaseMaker& maker) {
  const auto manifest = hal::read_manifest(maker.directory);
  if (!manifest.ok()) return;
  for (const hal::DeviceKind& kind : manifest->devices)
    for (const bool is_model : {true, false})
      add_of_manifest(
          maker, fmt::format("files.{}.{}", is_model ? "model" : "pipeline", kind.name),
          "a hardware model and a pipeline for each kind that `enumerate` names",
          [name = kind.name, is_model](Subject& subject, const hal::Manifest& read) -> Finding {
            const hal::DeviceKind* found = read.find_kind(name);
            if (!found) return broken("the kind '{}' is gone", name);
            const fs::path& file = is_model ? found->hw : found->pipeline;
            STRIA_ASSIGN(const std::string text,
                         hal::read_inside(subject.options().directory, file, 64 << 20,
                                          is_model ? "the hardware model" : "the pipeline"));
            if (trim(text).empty()) return broken("'{}' is empty", file.string());
            return {};
          });
}

}  // namespace

void add_package_cases(CaseMaker& maker) {
  add_manifest_cases(maker);
  add_file_cases(maker);
  add_kind_cases(maker);
  add_library_cases(maker);
  add_load_cases(maker);
}

}  // namespace stria::conformance
