// SPDX-License-Identifier: Apache-2.0
// Faults of the loader in faulty_vulkan.cc, one at a time: its variable `stria_vulkan_fault`. How
// many submissions a driver has got: `stria_vulkan_submits`, and semaphores they wait for:
// `stria_vulkan_waits`; command buffers recorded: `stria_vulkan_recordings`; barriers in them:
// `stria_vulkan_barriers`, dispatches: `stria_vulkan_dispatches`, and the groups of all:
// `stria_vulkan_groups`; pipelines built: `stria_vulkan_pipelines`; pieces of memory that are
// allocated: `stria_vulkan_memories`; those freed: `stria_vulkan_freed`, and since the device was
// lost: `stria_vulkan_freed_after_loss`.
#pragma once

#include <atomic>

enum VulkanFault : int {
  kNoFault,
  kNoDriver,         // the loader finds no driver
  kNoDevice,         // no driver has a device
  kNoDeviceMade,     // a device cannot be made
  kOldDriver,        // devices of Vulkan 1.1
  kNoComputeQueue,   // queues draw and copy, and compute nothing
  kTransferQueue,    // there is a family of queues that only copy; it is the first one in truth
  kTwins,            // each device twice
  kReports,          // devices say what has cost them, where they are opened now
  kMatrices,         // devices multiply matrices: their kernels run, and do nothing
  kMatricesRefused,  // they say so, and refuse the kernels
  kNoMemory,         // memory cannot be allocated
  kSmallBuffers,     // a buffer has kSmallBytes at most
  kSmallPieces,      // an allocation has kSmallBytes at most
  kRejects,          // the driver refuses to build
  kHangs,            // submissions never end
  kLost,             // submissions end with the loss of the device
  kLostInSilence,    // the device is lost, and only who submits is told
  kNowhere,          // kernels get kNoAddress for their first tensor: a real device is really lost
};
constexpr unsigned kSmallBytes = 1 << 20;
constexpr unsigned long long kNoAddress = 0x6ffff0000000;
