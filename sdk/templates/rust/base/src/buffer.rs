// SPDX-License-Identifier: Apache-2.0
//! Buffers: memory of the device that is mapped for the host.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::abi::*;
use crate::driver::Shared;
use crate::error::*;
use crate::event::{Event, Work};
use crate::memory::Memory;

/// How much of a device's memory is taken.
pub struct Budget {
    total: u64,
    used: AtomicU64,
}

impl Budget {
    pub fn new(total: u64) -> Arc<Budget> {
        Arc::new(Budget { total, used: AtomicU64::new(0) })
    }

    fn take(self: &Arc<Budget>, bytes: u64) -> Result<Taken> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed);
        let taken = Taken { budget: self.clone(), bytes };
        // `used` may have been pushed over the total by a take that is about to be undone.
        if used <= self.total && bytes <= self.total - used {
            return Ok(taken);
        }
        Err(self.none_for(bytes, used, "the device's memory is used up"))
    }

    fn none_for(&self, bytes: u64, used: u64, why: &str) -> Failure {
        let (free, total) = (self.total.saturating_sub(used), self.total);
        let text = format!("no memory for {bytes} bytes, {free} of {total} are free: {why}");
        failure(STRIA_OUT_OF_MEMORY, text)
    }
}

struct Taken {
    budget: Arc<Budget>,
    bytes: u64,
}
impl Drop for Taken {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// What the host wants of mapped memory: to change it, to write all of it, or to look at it.
#[derive(PartialEq, Clone, Copy)]
pub enum MapMode {
    Change,
    Discard,
    Read,
}

// A range while it is mapped: the host's copy of it, unless it works on the buffer itself.
struct Mapping {
    mode: MapMode,
    offset: u64,
    bytes: u64,
    copy: Mutex<Vec<u8>>, // never empty: its address names the mapping
}

pub struct Buffer {
    shared: Arc<Shared>,
    size: u64,
    memory: Memory,
    mappings: Mutex<HashMap<usize, (Arc<Mapping>, Arc<Event>)>>, // by address
    _taken: Taken,
}

impl Buffer {
    pub fn new(shared: &Arc<Shared>, budget: &Arc<Budget>, size: u64) -> Result<Arc<Buffer>> {
        let taken = budget.take(size)?;
        let used = budget.used.load(Ordering::Relaxed).saturating_sub(size);
        // Of memory that is used up the host wants to know how much is free.
        let memory = Memory::allocate(shared, size).map_err(|why| match why.code {
            STRIA_OUT_OF_MEMORY => budget.none_for(size, used, &why.message),
            _ => why,
        })?;
        let mappings = Mutex::new(HashMap::new());
        Ok(Arc::new(Buffer { shared: shared.clone(), size, memory, mappings, _taken: taken }))
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Whether the buffer has these bytes.
    pub fn has(&self, offset: u64, bytes: u64) -> bool {
        offset <= self.size && bytes <= self.size - offset
    }

    pub fn check(&self, offset: u64, bytes: u64, what: &str) -> Result<()> {
        if self.has(offset, bytes) {
            return Ok(());
        }
        let size = self.size;
        let text = format!("{what}: {bytes} bytes at offset {offset} of a buffer of {size} bytes");
        Err(failure(STRIA_INVALID_ARGUMENT, text))
    }

    pub fn map(self: &Arc<Buffer>, offset: u64, bytes: u64, mode: MapMode, waits: &[Arc<Event>]) -> Result<(*mut u8, Arc<Event>)> {
        self.check(offset, bytes, "a mapping")?;
        if let Some(address) = self.memory.host_address() {
            let done = Event::after(&self.shared, None, waits, Work::Nothing);
            return Ok((unsafe { address.add(offset as usize) }, done));
        }
        let mut copy = zeros::<u8>((bytes as usize).max(1))?;
        let address = copy.as_mut_ptr();
        let mapping = Arc::new(Mapping { mode, offset, bytes, copy: Mutex::new(copy) });
        let work = if mode == MapMode::Discard {
            Work::Nothing
        } else {
            let (buffer, mapping) = (self.clone(), mapping.clone());
            Work::OnQueue(Box::new(move || unsafe {
                let to = mapping.copy.lock().unwrap().as_mut_ptr();
                buffer.memory.read(mapping.offset, to, mapping.bytes)
            }))
        };
        let done = Event::after(&self.shared, None, waits, work);
        let mut mappings = self.mappings.lock().unwrap();
        mappings.insert(address as usize, (mapping, done.clone()));
        Ok((address, done))
    }

    pub fn unmap(self: &Arc<Buffer>, address: *mut u8) -> Result<Arc<Event>> {
        if self.memory.host_address().is_some() {
            return Ok(Event::after(&self.shared, None, &[], Work::Nothing));
        }
        let ended = self.mappings.lock().unwrap().remove(&(address as usize));
        let (mapping, ready) = ended.ok_or_else(|| {
            failure(STRIA_INVALID_ARGUMENT, "there is no mapping at this address")
        })?;
        // Of a mapping that failed nothing is written: what waits for it fails with it.
        let buffer = self.clone();
        let work = if mapping.mode == MapMode::Read {
            Work::Nothing
        } else {
            Work::OnQueue(Box::new(move || unsafe {
                let from = mapping.copy.lock().unwrap().as_ptr();
                buffer.memory.write(mapping.offset, from, mapping.bytes)
            }))
        };
        Ok(Event::after(&self.shared, None, &[ready], work))
    }
}
