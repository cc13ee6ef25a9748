// SPDX-License-Identifier: Apache-2.0
//! Memory of the device: the host gets copies of it, never an address in it.

#[path = "vendor_memory.rs"]
mod vendor_memory;
pub use vendor_memory::Memory;
