// SPDX-License-Identifier: Apache-2.0
//! Where work runs: on the host's worker threads.

use crate::error::Result;
use crate::host::Host;

pub struct Queue {
    host: Host,
}

impl Queue {
    pub fn new(host: &Host) -> Result<Queue> {
        Ok(Queue { host: *host })
    }

    pub fn push(&self, job: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.host.post(job);
        Ok(())
    }
}
