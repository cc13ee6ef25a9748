// SPDX-License-Identifier: Apache-2.0
// Beside libraries that applications and other plugins bring into the process: drivers, compilers.
#include <dlfcn.h>

#include "company/company_cases.h"
#include "company/together.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kGuest =
    "A plugin is a guest: it is loaded into the process of an application that it does not know, "
    "beside other plugins.";

// Makes the library's drivers come into the process, as listing devices does.
using Wake = void (*)(void* library);

void wake_opencl(void* library) {
  using GetPlatforms = int32_t (*)(uint32_t, void**, uint32_t*);
  if (const auto get = reinterpret_cast<GetPlatforms>(::dlsym(library, "clGetPlatformIDs"))) {
    uint32_t count = 0;
    (void)get(0, nullptr, &count);
  }
}

void wake_vulkan(void* library) {
  // An instance without anything: the loader opens every driver for it.
  struct CreateInfo {
    int32_t type = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
    const void* next = nullptr;
    uint32_t flags = 0;
    const void* application = nullptr;
    uint32_t layer_count = 0;
    const char* const* layers = nullptr;
    uint32_t extension_count = 0;
    const char* const* extensions = nullptr;
  } info;
  using CreateInstance = int32_t (*)(const CreateInfo*, const void*, void**);
  using DestroyInstance = void (*)(void*, const void*);
  const auto create = reinterpret_cast<CreateInstance>(::dlsym(library, "vkCreateInstance"));
  const auto destroy = reinterpret_cast<DestroyInstance>(::dlsym(library, "vkDestroyInstance"));
  void* instance = nullptr;
  if (create && destroy && create(&info, nullptr, &instance) == 0) destroy(instance, nullptr);
}

struct Company {
  const char* name;
  const char* file;
  Wake wake;
};
const Company kCompany[] = {{"opencl", "libOpenCL.so.1", wake_opencl},
                            {"vulkan", "libvulkan.so.1", wake_vulkan},
                            {"openmp", "libgomp.so.1", nullptr},
                            {"zlib", "libz.so.1", nullptr}};

Finding beside(Subject& subject, const Company& library, bool first, int mode) {
  const auto load = [&]() -> Result<void*> {
    void* object = ::dlopen(library.file, RTLD_NOW | mode);
    if (!object) return make_error(StatusCode::not_found, "{} is not here", library.file);
    if (library.wake) library.wake(object);
    return object;
  };
  if (first) {
    const auto object = load();
    if (!object.ok()) return Finding::skip(object.status().message());
  }
  STRIA_RETURN_IF_ERROR(subject_works(subject, 1));
  if (!first) {
    const auto object = load();
    if (!object.ok()) return Finding::skip(object.status().message());
    STRIA_RETURN_IF_ERROR(subject_works(subject, 2));
  }
  STRIA_RETURN_IF_ERROR(subject.end());
  STRIA_RETURN_IF_ERROR(subject_works(subject, 3));
  return subject.end();
}

}  // namespace

void add_library_company_cases(CaseMaker& maker) {
  for (const Company& library : kCompany)
    for (const bool first : {true, false})
      for (const int mode : {RTLD_LOCAL, RTLD_GLOBAL}) {
        Case& c = maker.add(
            'C',
            fmt::format("library.{}.{}{}", library.name, first ? "comes_first" : "comes_second",
                        mode == RTLD_GLOBAL ? "_for_all" : ""),
            Level::robust, kGuest, [&library, first, mode](Subject& subject) {
              return beside(subject, library, first, mode);
            });
        c.place = Place::bare;
        c.source = "guide/process.md";
        c.limit = std::chrono::seconds(120);
      }
}

}  // namespace stria::conformance
