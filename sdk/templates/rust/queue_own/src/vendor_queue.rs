// SPDX-License-Identifier: Apache-2.0
//! Every call for the device's queue. As it is, the queue is a thread that does one job after the
//! other. With a driver of your own: give the work to its queue, and call the job when the driver
//! says that the work has ended, or keep the thread and wait there for the driver.

use std::sync::mpsc::{channel, Sender};
use std::thread::{Builder, JoinHandle};

use crate::abi::STRIA_UNAVAILABLE;
use crate::error::{failure, Result};

type Job = Box<dyn FnOnce() + Send>;

pub struct VendorQueue {
    jobs: Option<std::sync::Mutex<Sender<Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl VendorQueue {
    pub fn new() -> Result<VendorQueue> {
        let (jobs, received) = channel::<Job>();
        let work = move || {
            for job in received {
                job();
            }
        };
        let thread = Builder::new().spawn(work).map_err(|error| {
            failure(STRIA_UNAVAILABLE, format!("no thread for a queue: {error}"))
        })?;
        Ok(VendorQueue { jobs: Some(std::sync::Mutex::new(jobs)), thread: Some(thread) })
    }

    /// Runs `job` once, after all that was pushed before.
    pub fn push(&self, job: Job) -> Result<()> {
        let sent = self.jobs.as_ref().map(|jobs| jobs.lock().unwrap().send(job));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(failure(STRIA_UNAVAILABLE, "the queue has ended")),
        }
    }
}

impl Drop for VendorQueue {
    // Ends when all that was pushed has been done.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
