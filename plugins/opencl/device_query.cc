// SPDX-License-Identifier: Apache-2.0
#include "device_query.h"

#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "pocl_needs.h"
#include "stria/base/json_object.h"
#include "stria/base/refusal.h"

namespace stria::opencl {
namespace {

// With fewer work items than the preferred multiple, lanes are idle. More than this gain nothing
// here.
constexpr size_t kGroupPointsOfGpu = 256;

class Query {
 public:
  Query(const OpenCl& cl, cl_device_id device) : cl_(cl), device_(device) {}

  template <typename T>
  T number(cl_device_info what) const {
    T value{};
    // A driver that does not know a question leaves the value at 0: not known.
    if (cl_.clGetDeviceInfo(device_, what, sizeof value, &value, nullptr) != CL_SUCCESS) return T{};
    return value;
  }
  std::string text(cl_device_info what) const {
    size_t size = 0;
    if (cl_.clGetDeviceInfo(device_, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
    std::string out(size, '\0');
    if (cl_.clGetDeviceInfo(device_, what, size, out.data(), nullptr) != CL_SUCCESS) return "";
    return out.substr(0, out.find('\0'));
  }

 private:
  const OpenCl& cl_;
  cl_device_id device_;
};

std::string platform_text(const OpenCl& cl, cl_platform_id platform, cl_platform_info what) {
  size_t size = 0;
  if (cl.clGetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string out(size, '\0');
  if (cl.clGetPlatformInfo(platform, what, size, out.data(), nullptr) != CL_SUCCESS) return "";
  return out.substr(0, out.find('\0'));
}

// The keys of hw/*.json's model that a driver knows; what it says 0 to keeps the model's default.
std::string properties_of(const Query& query, bool is_cpu) {
  nlohmann::json out = nlohmann::json::object();
  const auto set = [](nlohmann::json& at, uint64_t value) {
    if (value > 0) at = value;
  };
  auto& memories = object_at(out, "mem_units");
  set(out["clock_mhz"], query.number<cl_uint>(CL_DEVICE_MAX_CLOCK_FREQUENCY));
  set(object_at(memories, "DRAM")["size_KiB"],
      query.number<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE) / 1024);
  set(object_at(memories, "DRAM")["line_bytes"],
      query.number<cl_uint>(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE));
  set(object_at(memories, "CACHE")["size_KiB"],
      query.number<cl_ulong>(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE) / 1024);
  if (!is_cpu)
    set(object_at(memories, "LOCAL")["size_KiB"],
        query.number<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE) / 1024);
  auto& unit = object_at(object_at(out, "exec_units"), "CU");
  set(unit["count"], query.number<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS));
  if (is_cpu) {
    const uint64_t lanes = query.number<cl_uint>(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    set(unit["vector_bytes"], 4 * lanes);
    // With vectors of 64 bytes came twice as many registers, on every processor that has them.
    set(unit["vector_registers"], lanes >= 16 ? 32 : 16);
  }
  if (query.number<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG) == 0)
    object_at(out, "lacks_types")["fp64"] = "cl_khr_fp64";
  for (nlohmann::json* group : {&memories, &out["exec_units"]})
    for (auto& item : *group)
      for (auto at = item.begin(); at != item.end();)
        at = at->is_null() ? item.erase(at) : std::next(at);
  for (nlohmann::json* group : {&out, &memories})
    for (auto at = group->begin(); at != group->end();)
      at = at->is_null() || (at->is_object() && at->empty()) ? group->erase(at) : std::next(at);
  return out.dump();
}

// The loader leaves out what it cannot load, and does not say so.
std::string why_no_driver_loads() {
  rlimit memory{};
  if (::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY)
    return "drivers may not fit into the limit of " + std::to_string(memory.rlim_cur >> 20) +
           " MiB of address space (ulimit -v)";
  return "install that of the device (pocl-opencl-icd runs on the CPU)";
}

constexpr const char* kPocl = "Portable Computing Language";

// An extension of the driver for devices with compute capabilities.
bool has_compute_capability(const Query& query) {
  return query.text(CL_DEVICE_EXTENSIONS).find("cl_nv_device_attribute_query") != std::string::npos;
}

// From compute capability 8.0 on.
bool has_matrix_instructions(const Query& query) {
  constexpr cl_device_info kMajorComputeCapability = 0x4000;
  return has_compute_capability(query) && query.number<cl_uint>(kMajorComputeCapability) >= 8;
}

Refusal why_unavailable(const Query& query) {
  if (!query.number<cl_bool>(CL_DEVICE_AVAILABLE))
    return "its driver says that it is not available";
  if (!query.number<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE)) return "its driver has no compiler";
  if (!query.number<cl_bool>(CL_DEVICE_ENDIAN_LITTLE)) return "it is big-endian";
  if (query.number<cl_uint>(CL_DEVICE_ADDRESS_BITS) != 64)
    return "its addresses do not have 64 bits";
  return Refusal::none();
}

FoundDevice describe(const OpenCl& cl, cl_platform_id platform, cl_device_id handle) {
  const Query query(cl, handle);
  const auto type = query.number<cl_device_type>(CL_DEVICE_TYPE);
  const bool is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  FoundDevice out;
  out.handle = handle;
  out.platform = platform;
  out.info.name = query.text(CL_DEVICE_NAME) + " (" +
                  platform_text(cl, platform, CL_PLATFORM_NAME) + ", driver " +
                  query.text(CL_DRIVER_VERSION) + ")";
  out.info.kind = is_cpu ? "cpu" : (type & CL_DEVICE_TYPE_GPU) != 0 ? "gpu" : "accelerator";
  out.info.vendor = query.text(CL_DEVICE_VENDOR);
  const Refusal refusal = why_unavailable(query);
  out.info.available = !refusal;
  if (refusal) out.info.reason = refusal.reason();
  out.info.memory_bytes = query.number<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE);
  out.info.properties = properties_of(query, is_cpu);
  const auto single = query.number<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG);
  out.features.fma = (single & CL_FP_FMA) != 0;
  out.features.mma = has_matrix_instructions(query);
  out.features.fp64 = query.number<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  // Drivers of GPUs have it without saying so. PoCL says so, and complains on the process's own
  // stderr of what it does not build.
  out.may_have_half =
      !is_cpu || query.text(CL_DEVICE_EXTENSIONS).find("cl_khr_fp16") != std::string::npos;
  out.correct_division = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  // As the CUDA runtime's documentation says of a kernel that fails: the context is of no use after
  // it.
  out.failure_ends_all = has_compute_capability(query);
  out.out_of_order = (query.number<cl_command_queue_properties>(CL_DEVICE_QUEUE_PROPERTIES) &
                      CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  out.largest_allocation_bytes = query.number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  out.local_bytes = static_cast<int64_t>(query.number<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE));
  const size_t largest = std::max<size_t>(1, query.number<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE));
  out.largest_group = static_cast<int64_t>(largest);
  if (!is_cpu) {
    out.group_points = static_cast<int64_t>(std::min(largest, kGroupPointsOfGpu));
  }
  return out;
}

}  // namespace

FoundDevice no_device(const std::string& reason) {
  FoundDevice out;
  out.info.id = "none";
  out.info.name = "OpenCL";
  out.info.kind = "gpu";
  out.info.available = false;
  out.info.reason = reason;
  return out;
}

std::vector<FoundDevice> find_devices(const OpenCl& cl, const std::string& sysfs) {
  cl_uint count = 0;
  const cl_int code = cl.clGetPlatformIDs(0, nullptr, &count);
  if (code != CL_SUCCESS || count == 0)
    return {no_device("the OpenCL loader knows no driver (" + name_of_code(code) + "); " +
                      why_no_driver_loads())};
  std::vector<cl_platform_id> platforms(count);
  if (const cl_int again = cl.clGetPlatformIDs(count, platforms.data(), nullptr);
      again != CL_SUCCESS)
    return {no_device("the OpenCL loader does not say its drivers: clGetPlatformIDs: " +
                      name_of_code(again))};
  std::vector<FoundDevice> out;
  for (size_t p = 0; p < platforms.size(); ++p) {
    const std::string platform = platform_text(cl, platforms[p], CL_PLATFORM_NAME);
    const auto without_devices = [&](const std::string& reason) {
      out.push_back(no_device(reason));
      out.back().info.id = std::to_string(p) + ".none";
      out.back().info.name = platform;
    };
    const bool is_pocl = platform == kPocl;
    std::optional<PoclStart> start;
    if (is_pocl) {
      start.emplace(sysfs, platform_text(cl, platforms[p], CL_PLATFORM_VERSION));
      if (!start->status().ok()) {
        without_devices(start->status().message());
        continue;
      }
    }
    cl_int asked = cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    // A platform without devices is not an error: its hardware may be absent. PoCL's never is.
    if (asked == CL_DEVICE_NOT_FOUND || (asked == CL_SUCCESS && count == 0)) {
      if (is_pocl) without_devices(why_pocl_has_no_device());
      continue;
    }
    std::vector<cl_device_id> devices(asked == CL_SUCCESS ? count : 0);
    if (asked == CL_SUCCESS)
      asked = cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    if (asked != CL_SUCCESS) {
      without_devices("its driver does not say its devices: clGetDeviceIDs: " +
                      name_of_code(asked));
      continue;
    }
    for (size_t d = 0; d < devices.size(); ++d) {
      out.push_back(describe(cl, platforms[p], devices[d]));
      out.back().info.id = std::to_string(p) + "." + std::to_string(d);
      out.back().is_pocl = is_pocl;
    }
  }
  if (out.empty())
    out.push_back(
        no_device("no OpenCL driver has a device; is the hardware there, may this user open it?"));
  return out;
}

}  // namespace stria::opencl
