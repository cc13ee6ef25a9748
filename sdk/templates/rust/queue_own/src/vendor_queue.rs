// SPDX-License-Identifier: Apache-2.0
//! Every call for the device's queue. As it is, the queue is a thread that does one job after the
//! other. A job does its whole work: it calls the vendor_ functions for memory and code, which
//! return when the device has done what they ask for, and it ends its event. So it is called on a
//! thread that may wait, never in a callback of the driver. With a driver of your own, keep the
//! thread, and let the vendor_ functions wait for the driver there; or give the jobs to threads
//! that the driver has. A failure of the driver is native_failure(code, message, number, text).

use std::sync::mpsc::{channel, Sender};
use std::thread::{Builder, JoinHandle};

use crate::abi::STRIA_UNAVAILABLE;
use crate::error::{failure, native_failure, Result};

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
            let (number, text) = (error.raw_os_error().unwrap_or(0), error.to_string());
            let message = format!("no thread for a queue: {text}");
            native_failure(STRIA_UNAVAILABLE, message, i64::from(number), &text)
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
