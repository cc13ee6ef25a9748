// SPDX-License-Identifier: Apache-2.0
//! Every call for memory of the device. As it is, "the device" is memory of this process that
//! nothing else touches. Replace the body of each function by your driver's call. They return when
//! the bytes are where they belong, and may be called from any thread. What goes wrong is
//! native_failure(code, message, number, text), with the driver's own number and text: code
//! STRIA_DEVICE_LOST where the device is gone, STRIA_OUT_OF_MEMORY where its memory is used up.

use std::alloc::{alloc, dealloc, Layout};
use std::sync::Arc;

use crate::abi::STRIA_OUT_OF_MEMORY;
use crate::driver::Shared;
use crate::error::*;

const ALIGNMENT: usize = 64; // what kernels expect

pub struct Memory {
    address: *mut u8,
    layout: Layout,
}
// Work on it is ordered by events.
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

impl Memory {
    pub fn allocate(_: &Arc<Shared>, bytes: u64) -> Result<Memory> {
        let none = || failure(STRIA_OUT_OF_MEMORY, "the device has none left");
        let layout = Layout::from_size_align((bytes as usize).max(1), ALIGNMENT).map_err(|_| none())?;
        let address = unsafe { alloc(layout) }; // of one byte at least
        if address.is_null() {
            return Err(none());
        }
        Ok(Memory { address, layout })
    }

    /// What a kernel is given for byte 0. The host does not look behind it.
    #[allow(dead_code)]
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// Where the host can work on the bytes; None: only on copies, by read and write.
    pub fn host_address(&self) -> Option<*mut u8> {
        None
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
        unsafe { dealloc(self.address, self.layout) }
    }
}
