// SPDX-License-Identifier: Apache-2.0
//! Memory of the device: the host's, which both can address.

use std::sync::Arc;

use crate::abi::STRIA_OUT_OF_MEMORY;
use crate::driver::Shared;
use crate::error::*;

const ALIGNMENT: u64 = 64; // a cache line, and the widest vector

pub struct Memory {
    shared: Arc<Shared>,
    address: *mut u8,
    bytes: u64,
}
// Work on it is ordered by events.
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

impl Memory {
    pub fn allocate(shared: &Arc<Shared>, bytes: u64) -> Result<Memory> {
        let address = shared.host.allocate(bytes, ALIGNMENT);
        if address.is_null() {
            return Err(failure(STRIA_OUT_OF_MEMORY, "the host has none left"));
        }
        Ok(Memory { shared: shared.clone(), address, bytes })
    }

    /// What a kernel is given for byte 0.
    #[allow(dead_code)]
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// Where the host can work on the bytes; None: only on copies, by read and write.
    pub fn host_address(&self) -> Option<*mut u8> {
        Some(self.address)
    }

    /// # Safety
    /// The ranges lie in the memories, and the host's is as long.
    pub unsafe fn read(&self, offset: u64, to: *mut u8, bytes: u64) -> Result<()> {
        std::ptr::copy_nonoverlapping(self.address.add(offset as usize), to, bytes as usize);
        Ok(())
    }

    /// # Safety
    /// As read.
    pub unsafe fn write(&self, offset: u64, from: *const u8, bytes: u64) -> Result<()> {
        std::ptr::copy_nonoverlapping(from, self.address.add(offset as usize), bytes as usize);
        Ok(())
    }

    /// # Safety
    /// The ranges lie in the memories, and do not overlap.
    pub unsafe fn copy(&self, offset: u64, to: &Memory, to_offset: u64, bytes: u64) -> Result<()> {
        to.write(to_offset, self.address.add(offset as usize), bytes)
    }

    /// # Safety
    /// The range lies in the memory, and is a multiple of the pattern.
    pub unsafe fn fill(&self, offset: u64, bytes: u64, pattern: &[u8]) -> Result<()> {
        for at in (0..bytes).step_by(pattern.len()) {
            self.write(offset + at, pattern.as_ptr(), pattern.len() as u64)?;
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.shared.host.free(self.address, self.bytes, ALIGNMENT);
    }
}
