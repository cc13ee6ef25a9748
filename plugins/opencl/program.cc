// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "pocl_needs.h"
#include "stria/base/cache_folder.h"
#include "stria/base/text.h"
#include "stria/codegen/code_generator.h"

namespace stria::opencl {
namespace {

cl_int build(const Context& context, cl_program program, const std::string& options) {
  if (context.device().is_pocl)
    if (const Status status = check_pocl_can_build(); !status.ok())
      throw sdk::Error(static_cast<stria_code>(status.code()), status.message());
  const cl_device_id device = context.device().handle;
  return context.cl().clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
}

// What the driver says of a build; "" if nothing.
std::string log_of(const Context& context, cl_program program) {
  const OpenCl& cl = context.cl();
  const cl_device_id device = context.device().handle;
  size_t size = 0;
  if (cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
          CL_SUCCESS ||
      size <= 1)
    return "";
  std::string log(size, '\0');
  if (cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) !=
      CL_SUCCESS)
    return "";
  return log.substr(0, log.find('\0'));
}

// What can be loaded again; "" if the driver does not give it.
std::string binary_of(const Context& context, cl_program program) {
  const OpenCl& cl = context.cl();
  // One for each device of the driver's context, of which only ours was built.
  cl_uint count = 0;
  if (cl.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) !=
          CL_SUCCESS ||
      count == 0)
    return "";
  std::vector<cl_device_id> devices(count);
  std::vector<size_t> sizes(count);
  if (cl.clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof devices[0], devices.data(),
                          nullptr) != CL_SUCCESS ||
      cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof sizes[0], sizes.data(),
                          nullptr) != CL_SUCCESS)
    return "";
  const auto own = static_cast<size_t>(
      std::find(devices.begin(), devices.end(), context.device().handle) - devices.begin());
  if (own == count || sizes[own] == 0) return "";
  std::string out(sizes[own], '\0');
  // The driver writes no binary where the place for it is null.
  std::vector<unsigned char*> places(count, nullptr);
  places[own] = reinterpret_cast<unsigned char*>(out.data());
  if (cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof places[0], places.data(),
                          nullptr) != CL_SUCCESS)
    return "";
  return out;
}

// Null if the driver does not take the binary, which the source then replaces.
Program load(const Context& context, const std::string& binary, const std::string& options) {
  const cl_device_id device = context.device().handle;
  const size_t size = binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int status = CL_SUCCESS, code = CL_SUCCESS;
  Program program(context.cl().clCreateProgramWithBinary(context.handle(), 1, &device, &size,
                                                         &bytes, &status, &code),
                  {&context.cl()});
  if (code != CL_SUCCESS || status != CL_SUCCESS ||
      build(context, program.get(), options) != CL_SUCCESS)
    return nullptr;
  return program;
}

// For people: where a source lies that the driver refuses.
std::string place_of_refused(const std::string& source) {
  const std::filesystem::path folder = user_cache_folder();
  if (folder.empty()) return "the source is not kept, as there is no cache folder";
  const std::filesystem::path file =
      folder / "refused" / fmt::format("opencl_{:016x}.cl", stable_hash(source));
  (void)make_cache_folder(file.parent_path());
  const Status written = write_cache_file(file, source);
  return written.ok() ? "the source is " + file.string()
                      : "the source cannot be kept: " + written.message();
}

// Not yet built.
Program from_source(const Context& context, const std::string& source) {
  const char* text = source.c_str();
  const size_t size = source.size();
  cl_int code = CL_SUCCESS;
  const cl_program handle =
      context.cl().clCreateProgramWithSource(context.handle(), 1, &text, &size, &code);
  check(code, "clCreateProgramWithSource", context.name());
  return Program(handle, {&context.cl()});
}

// Device and driver with its version are in the name. Of this plugin's own build nothing but the
// source comes in.
std::string key_of(const char* what, const Context& context, const std::string& source,
                   const std::string& options) {
  return fmt::format("opencl, {}, {}\n{}\n{}", what, context.name(), options, source);
}

}  // namespace

Program build_program(const Context& context, const std::string& source,
                      const std::string& options) {
  const std::string key = key_of("binary 1", context, source, options);
  if (const std::optional<std::string> binary = code_generator::kept(context.host(), key))
    if (Program loaded = load(context, *binary, options)) return loaded;
  Program program = from_source(context, source);
  const cl_int code = build(context, program.get(), options);
  if (code != CL_SUCCESS) {
    sdk::Failure failure = failure_of(code, "clBuildProgram", context.name());
    if (std::string log = log_of(context, program.get()); !log.empty())
      failure.native_message = std::move(log);
    failure.message +=
        "; " + place_of_refused(source) + "; the driver says: " + failure.native_message;
    throw sdk::Error(std::move(failure));
  }
  if (const std::string binary = binary_of(context, program.get()); !binary.empty())
    code_generator::keep(context.host(), key, binary);
  return program;
}

bool builds(const Context& context, const std::string& source, const std::string& options) {
  const std::string key = key_of("builds 1", context, source, options);
  if (const std::optional<std::string> answer = code_generator::kept(context.host(), key))
    return *answer == "yes";
  const bool does = build(context, from_source(context, source).get(), options) == CL_SUCCESS;
  code_generator::keep(context.host(), key, does ? "yes" : "no");
  return does;
}

}  // namespace stria::opencl
