// SPDX-License-Identifier: Apache-2.0
// A Vulkan driver that ends its process as soon as the loader asks it for anything.
#include <cstdint>
#include <cstdlib>

#pragma GCC visibility push(default)
extern "C" {
int32_t vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t*) { std::abort(); }
void (*vk_icdGetInstanceProcAddr(void*, const char*))() { std::abort(); }
}
#pragma GCC visibility pop
