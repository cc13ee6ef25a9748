// SPDX-License-Identifier: Apache-2.0
//! Launches, copies and fills: each starts on the queue when the events that it waits for are over.

use std::sync::Arc;

use crate::abi::*;
use crate::buffer::Buffer;
use crate::driver::Shared;
use crate::error::*;
use crate::event::{Event, Work, WorkCount};
use crate::host::KernelInfo;
use crate::kernel::Kernel;

/// A piece of a buffer, from `offset` on.
#[derive(Clone)]
pub struct Argument {
    pub buffer: Arc<Buffer>,
    pub offset: u64,
}

/// A kernel with its arguments, and positions of earlier launches of its batch that it waits for.
pub struct Launch {
    pub kernel: Arc<Kernel>,
    pub arguments: Vec<Argument>,
    pub after: Vec<u32>,
}

pub struct Executor {
    shared: Arc<Shared>,
    in_flight: Arc<WorkCount>,
}

impl Executor {
    pub fn new(shared: &Arc<Shared>) -> Arc<Executor> {
        let in_flight = Arc::new(WorkCount::default());
        Arc::new(Executor { shared: shared.clone(), in_flight })
    }

    fn start(&self, waits: &[Arc<Event>], work: Work) -> Arc<Event> {
        Event::after(&self.shared, Some(&self.in_flight), waits, work)
    }

    /// Whether arguments are right for a kernel.
    pub fn check(info: &KernelInfo, arguments: &[Argument]) -> Result<()> {
        let name = &info.name;
        if arguments.len() != info.arguments.len() {
            let (takes, given) = (info.arguments.len(), arguments.len());
            let text = format!("kernel '{name}' takes {takes} arguments, not {given}");
            return Err(failure(STRIA_INVALID_ARGUMENT, text));
        }
        for (argument, info) in arguments.iter().zip(info.arguments.iter()) {
            if !argument.buffer.has(argument.offset, info.bytes) {
                let what = format!("argument '{}' of kernel '{name}'", info.name);
                argument.buffer.check(argument.offset, info.bytes, &what)?;
            }
        }
        Ok(())
    }

    pub fn launch(&self, kernel: Arc<Kernel>, arguments: Vec<Argument>, waits: &[Arc<Event>]) -> Arc<Event> {
        self.start(waits, Work::OnQueue(Box::new(move || kernel.launch(&arguments))))
    }

    /// A batch that has been checked: one event for each launch, and one for all.
    pub fn submit(&self, batch: Vec<Launch>, waits: &[Arc<Event>]) -> (Vec<Arc<Event>>, Arc<Event>) {
        let mut events: Vec<Arc<Event>> = Vec::with_capacity(batch.len());
        for launch in batch {
            // What waits for an earlier launch waits for the batch's events through it.
            let own: Vec<_> = launch.after.iter().map(|a| events[*a as usize].clone()).collect();
            let behind = if own.is_empty() { waits } else { &own };
            events.push(self.launch(launch.kernel, launch.arguments, behind));
        }
        let all = if events.is_empty() {
            self.start(waits, Work::Nothing)
        } else {
            Event::of_all(&self.shared, &self.in_flight, events.clone())
        };
        (events, all)
    }

    pub fn copy(&self, from: Argument, to: Argument, bytes: u64, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        from.buffer.check(from.offset, bytes, "the source of a copy")?;
        to.buffer.check(to.offset, bytes, "the target of a copy")?;
        let meet = from.offset < to.offset + bytes && to.offset < from.offset + bytes;
        if Arc::ptr_eq(&from.buffer, &to.buffer) && meet {
            return Err(failure(STRIA_INVALID_ARGUMENT, "source and target of a copy overlap"));
        }
        let work = move || unsafe {
            from.buffer.memory().copy(from.offset, to.buffer.memory(), to.offset, bytes)
        };
        Ok(self.start(waits, Work::OnQueue(Box::new(work))))
    }

    /// Whether a pattern of `size` bytes can fill `bytes`.
    pub fn check_pattern(bytes: u64, size: u64) -> Result<()> {
        if size.is_power_of_two() && size <= 16 && bytes % size == 0 {
            return Ok(());
        }
        let rule = "a pattern has 1, 2, 4, 8 or 16 bytes, and a fill a multiple of them";
        let text = format!("a fill of {bytes} bytes with a pattern of {size}: {rule}");
        Err(failure(STRIA_INVALID_ARGUMENT, text))
    }

    /// With a pattern that has been checked.
    pub fn fill(&self, to: Argument, bytes: u64, pattern: Vec<u8>, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        to.buffer.check(to.offset, bytes, "the target of a fill")?;
        let work = move || unsafe { to.buffer.memory().fill(to.offset, bytes, &pattern) };
        Ok(self.start(waits, Work::OnQueue(Box::new(work))))
    }

    pub fn drain(&self, timeout_ns: u64) -> Result<()> {
        if self.in_flight.wait(timeout_ns) {
            return Ok(());
        }
        let text = format!("work is still going on after {timeout_ns} ns");
        Err(failure(STRIA_DEADLINE_EXCEEDED, text))
    }
}
