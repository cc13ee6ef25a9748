// SPDX-License-Identifier: Apache-2.0
//! The plugin at work: which devices there are, and what they share.

use std::sync::{Arc, RwLock};

use crate::error::*;
use crate::event::WorkCount;
use crate::host::Host;
use crate::queue::Queue;

/// A device as the host lists it. A device that may be missing has a reason.
pub struct DeviceInfo {
    pub id: &'static str,
    pub name: &'static str,
    pub kind: &'static str, // of plugin.json: which hardware model and pipeline it has
    pub vendor: &'static str,
    pub reason: Option<String>,
    pub memory_bytes: u64,
}

pub fn devices() -> Vec<DeviceInfo> {
    vec![DeviceInfo {
        id: "0",
        name: "Acme 0",
        kind: "npu",
        vendor: "Acme",
        reason: None,
        memory_bytes: 1 << 30,
    }]
}

/// What everything of a driver shares.
pub struct Shared {
    pub host: Host,
    pub in_flight: Arc<WorkCount>, // all work of the driver
    queue: RwLock<Option<Queue>>,  // made when a device is opened first
}

impl Shared {
    pub fn new(host: Host) -> Arc<Shared> {
        let in_flight = Arc::new(WorkCount::default());
        Arc::new(Shared { host, in_flight, queue: RwLock::new(None) })
    }

    pub fn open(self: &Arc<Shared>) -> Result<()> {
        // A job may be run while it is pushed, and push others: nobody writes when there are jobs.
        if self.queue.read().unwrap().is_some() {
            return Ok(());
        }
        let mut queue = self.queue.write().unwrap();
        if queue.is_none() {
            *queue = Some(Queue::new(&self.host)?);
        }
        Ok(())
    }

    /// Runs `job` on the queue, after all that was pushed before, or refuses.
    pub fn push(&self, job: Box<dyn FnOnce() + Send>) -> Result<()> {
        match &*self.queue.read().unwrap() {
            Some(queue) => queue.push(job),
            None => Err(failure(crate::abi::STRIA_INTERNAL, "no device has been opened")),
        }
    }

    /// After all work.
    pub fn shutdown(&self) {
        self.in_flight.wait(u64::MAX);
        let queue = self.queue.write().unwrap().take();
        drop(queue);
    }
}
