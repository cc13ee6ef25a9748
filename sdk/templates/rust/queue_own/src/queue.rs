// SPDX-License-Identifier: Apache-2.0
//! Where work runs: on the device's queue. The driver's calls are in vendor_queue.rs.

use crate::error::Result;
use crate::host::Host;
#[path = "vendor_queue.rs"]
mod vendor_queue;
use vendor_queue::VendorQueue;

pub struct Queue {
    queue: VendorQueue,
}

impl Queue {
    pub fn new(_: &Host) -> Result<Queue> {
        Ok(Queue { queue: VendorQueue::new()? })
    }

    pub fn push(&self, job: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.queue.push(job)
    }
}
