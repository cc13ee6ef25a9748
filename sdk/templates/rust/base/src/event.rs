// SPDX-License-Identifier: Apache-2.0
//! Events and the work behind them: work starts when all that it waits for is done; a failure
//! travels to everything that depends on it, and carries its first cause. Nothing here knows the
//! device.

use std::collections::BTreeSet;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::abi::*;
use crate::driver::Shared;
use crate::error::*;

/// Counts work in flight, so that one can wait for its end.
#[derive(Default)]
pub struct WorkCount {
    begun: Mutex<Begun>,
    changed: Condvar,
}

/// How much has been begun, and the numbers of what is in flight.
#[derive(Default)]
struct Begun {
    count: u64,
    open: BTreeSet<u64>,
}

impl WorkCount {
    /// Waits for what was begun before the call. False if some of it is in flight after the limit.
    pub fn wait(&self, timeout_ns: u64) -> bool {
        let begun = self.begun.lock().unwrap();
        let count = begun.count;
        let over = |begun: &Begun| begun.open.iter().next().map_or(true, |first| *first >= count);
        wait_until(&self.changed, begun, timeout_ns, over)
    }
}

struct InFlight(Arc<WorkCount>, u64);
impl InFlight {
    fn new(count: &Arc<WorkCount>) -> InFlight {
        let mut begun = count.begun.lock().unwrap();
        let number = begun.count;
        begun.count += 1;
        begun.open.insert(number);
        InFlight(count.clone(), number)
    }
}
impl Drop for InFlight {
    fn drop(&mut self) {
        let mut begun = self.0.begun.lock().unwrap();
        // Whoever waits looks at the first only.
        if begun.open.iter().next() == Some(&self.1) {
            self.0.changed.notify_all();
        }
        begun.open.remove(&self.1);
    }
}

fn wait_until<T>(changed: &Condvar, guard: MutexGuard<T>, timeout_ns: u64, over: impl Fn(&T) -> bool) -> bool {
    // Beyond a year a limit is none; so no clock overflows.
    const YEAR_NS: u64 = 366 * 24 * 3600 * 1_000_000_000;
    if timeout_ns >= YEAR_NS {
        drop(changed.wait_while(guard, |value| !over(value)).unwrap());
        return true;
    }
    let limit = Duration::from_nanos(timeout_ns);
    !changed.wait_timeout_while(guard, limit, |value| !over(value)).unwrap().1.timed_out()
}

/// Where work runs when its waits are over and well.
pub enum Work {
    Nothing,
    OnQueue(Body),
    OnHost(Body), // a worker thread of the host
}
pub type Body = Box<dyn FnOnce() -> Result<()> + Send>;

#[derive(PartialEq, Clone, Copy)]
enum Kind {
    Host, // somebody signals it
    Work,
    End, // done when its event is, and well
}

type Call = unsafe extern "C" fn(state: *mut c_void, error: *const stria_error);
struct Callback(Call, *mut c_void);
unsafe impl Send for Callback {}

struct Inner {
    signalled: bool,
    waiting: usize, // waits that are not over, and one more until all have been looked at
    cause: Option<(usize, Failure)>, // the first wait in list order that failed
    failure: Option<Failure>,        // not changed once done
    times: Option<(Instant, Instant)>,
    work: Work,
    parts: Vec<Arc<Event>>, // of an event of all
    dependants: Vec<(Arc<Event>, usize)>,
    callbacks: Vec<Callback>,
    counted: Vec<InFlight>,
}

pub struct Event {
    shared: Arc<Shared>,
    kind: Kind,
    done: AtomicBool,
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Event {
    fn make(shared: &Arc<Shared>, kind: Kind, work: Work) -> Event {
        let inner = Inner {
            signalled: false,
            waiting: 1,
            cause: None,
            failure: None,
            times: None,
            work,
            parts: Vec::new(),
            dependants: Vec::new(),
            callbacks: Vec::new(),
            counted: Vec::new(),
        };
        Event {
            shared: shared.clone(),
            kind,
            done: AtomicBool::new(false),
            inner: Mutex::new(inner),
            changed: Condvar::new(),
        }
    }

    /// A host event.
    pub fn of_host(shared: &Arc<Shared>) -> Arc<Event> {
        Arc::new(Event::make(shared, Kind::Host, Work::Nothing))
    }

    /// Done when `work` is, which starts when `waits` are over; `count` counts it until then.
    pub fn after(shared: &Arc<Shared>, count: Option<&Arc<WorkCount>>, waits: &[Arc<Event>], work: Work) -> Arc<Event> {
        let event = Arc::new(Event::make(shared, Kind::Work, work));
        event.start(count, waits);
        event
    }

    /// Done when all parts are, with the first failure in their order, and with the times of all.
    pub fn of_all(shared: &Arc<Shared>, count: &Arc<WorkCount>, parts: Vec<Arc<Event>>) -> Arc<Event> {
        let mut made = Event::make(shared, Kind::Work, Work::Nothing);
        made.inner.get_mut().unwrap().parts = parts.clone();
        let event = Arc::new(made);
        event.start(Some(count), &parts);
        event
    }

    /// Done, and well, when this one is, whatever became of it.
    pub fn end(self: &Arc<Event>) -> Arc<Event> {
        let event = Arc::new(Event::make(&self.shared, Kind::End, Work::Nothing));
        event.start(None, std::slice::from_ref(self));
        event
    }

    pub fn done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// The outcome; an error while it is open.
    pub fn status(&self) -> Result<()> {
        if !self.done() {
            return Err(failure(STRIA_FAILED_PRECONDITION, "the event is still open"));
        }
        match &self.inner.lock().unwrap().failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    pub fn duration_ns(&self) -> Result<u64> {
        if !self.done() {
            return Err(failure(STRIA_FAILED_PRECONDITION, "the event is still open"));
        }
        let inner = self.inner.lock().unwrap();
        Ok(match (&inner.failure, inner.times) {
            (None, Some((begin, end))) => (end - begin).as_nanos() as u64,
            _ => 0,
        })
    }

    pub fn wait(&self, timeout_ns: u64) -> Result<()> {
        let over = self.done() || {
            let inner = self.inner.lock().unwrap();
            wait_until(&self.changed, inner, timeout_ns, |_| self.done())
        };
        if over {
            return Ok(());
        }
        Err(failure(
            STRIA_DEADLINE_EXCEEDED,
            format!("the event is still open after {timeout_ns} ns"),
        ))
    }

    /// # Safety
    /// `call` and `state` are the host's.
    pub unsafe fn on_done(&self, call: Call, state: *mut c_void) {
        let mut inner = self.inner.lock().unwrap();
        if !self.done() {
            inner.callbacks.push(Callback(call, state));
            return;
        }
        let failure = inner.failure.clone();
        drop(inner);
        Event::tell(&Callback(call, state), &failure);
    }

    pub fn signal(self: &Arc<Event>, outcome: Option<Failure>) -> Result<()> {
        if self.kind != Kind::Host {
            return Err(failure(STRIA_FAILED_PRECONDITION, "only a host event can be signalled"));
        }
        if std::mem::replace(&mut self.inner.lock().unwrap().signalled, true) {
            return Err(failure(STRIA_FAILED_PRECONDITION, "the event was signalled before"));
        }
        self.finish(outcome);
        Ok(())
    }

    // ---- starting

    fn start(self: &Arc<Event>, count: Option<&Arc<WorkCount>>, waits: &[Arc<Event>]) {
        {
            let mut inner = self.inner.lock().unwrap();
            inner.waiting = waits.len() + 1;
            inner.counted.push(InFlight::new(&self.shared.in_flight));
            inner.counted.extend(count.map(InFlight::new));
        }
        let mut over = 1;
        for (position, wait) in waits.iter().enumerate() {
            let mut other = wait.inner.lock().unwrap();
            if !wait.done() {
                other.dependants.push((self.clone(), position));
                continue;
            }
            let failure = other.failure.clone();
            drop(other);
            self.note(position, failure);
            over += 1;
        }
        if self.waits_over(over) && !self.hand_on() {
            self.finish(self.cause());
        }
    }

    fn note(&self, position: usize, failure: Option<Failure>) {
        if let Some(failure) = failure {
            let mut inner = self.inner.lock().unwrap();
            if inner.cause.as_ref().map_or(true, |(first, _)| position < *first) {
                inner.cause = Some((position, failure));
            }
        }
    }

    fn waits_over(&self, count: usize) -> bool {
        let mut inner = self.inner.lock().unwrap();
        inner.waiting -= count;
        inner.waiting == 0
    }

    fn cause(&self) -> Option<Failure> {
        if self.kind == Kind::End {
            return None;
        }
        self.inner.lock().unwrap().cause.as_ref().map(|(_, failure)| failure.clone())
    }

    // Gives the work to whoever runs it; false if there is none to do.
    fn hand_on(self: &Arc<Event>) -> bool {
        let work = {
            let mut inner = self.inner.lock().unwrap();
            if inner.cause.is_some() {
                return false;
            }
            std::mem::replace(&mut inner.work, Work::Nothing)
        };
        let event = self.clone();
        match work {
            Work::Nothing => return false,
            Work::OnHost(body) => self.shared.host.post(Box::new(move || event.run(body))),
            Work::OnQueue(body) => {
                if let Err(refusal) = self.shared.push(Box::new(move || event.run(body))) {
                    self.finish(Some(refusal));
                }
            }
        }
        true
    }

    fn run(self: Arc<Event>, body: Body) {
        let begin = Instant::now();
        let outcome = outcome_of(body);
        self.inner.lock().unwrap().times = Some((begin, Instant::now()));
        self.finish(outcome.err());
    }

    // ---- ending. A list and no recursion: chains of dependants may be long.

    fn finish(self: &Arc<Event>, outcome: Option<Failure>) {
        let mut over = Vec::new();
        let mut counted = self.mark_done(outcome, &mut over);
        while let Some(event) = over.pop() {
            if !event.hand_on() {
                counted.extend(event.mark_done(event.cause(), &mut over));
            }
        }
        // The counts end when nothing of the driver is touched any more.
    }

    fn mark_done(&self, outcome: Option<Failure>, over: &mut Vec<Arc<Event>>) -> Vec<InFlight> {
        let (work, parts, dependants, callbacks, counted);
        {
            let mut inner = self.inner.lock().unwrap();
            // What the work holds goes before the event is done.
            work = std::mem::replace(&mut inner.work, Work::Nothing);
            parts = std::mem::take(&mut inner.parts);
        }
        drop(work);
        let times = times_of(&parts);
        {
            let mut inner = self.inner.lock().unwrap();
            inner.times = inner.times.or(times);
            inner.failure = outcome.clone();
            dependants = std::mem::take(&mut inner.dependants);
            callbacks = std::mem::take(&mut inner.callbacks);
            counted = std::mem::take(&mut inner.counted);
            self.done.store(true, Ordering::Release);
            self.changed.notify_all();
        }
        for callback in &callbacks {
            Event::tell(callback, &outcome);
        }
        for (event, position) in dependants {
            event.note(position, outcome.clone());
            if event.waits_over(1) {
                over.push(event);
            }
        }
        counted
    }

    fn tell(callback: &Callback, outcome: &Option<Failure>) {
        let error = outcome.clone().map(SharedError::new);
        let pointer = error.as_ref().map_or(std::ptr::null(), |error| error.view());
        unsafe { (callback.0)(callback.1, pointer) }
    }
}

// From the first start to the last end; none if that of one part is not known.
fn times_of(parts: &[Arc<Event>]) -> Option<(Instant, Instant)> {
    let mut all: Option<(Instant, Instant)> = None;
    for part in parts {
        let (begin, end) = part.inner.lock().unwrap().times?;
        all = Some(all.map_or((begin, end), |(first, last)| (first.min(begin), last.max(end))));
    }
    all
}

impl Drop for Event {
    // A host event that nobody can signal any more.
    fn drop(&mut self) {
        if self.kind != Kind::Host || self.done() {
            return;
        }
        let why = failure(STRIA_CANCELLED, "an event was dropped before it was signalled");
        let mut over = Vec::new();
        let mut counted = self.mark_done(Some(why), &mut over);
        while let Some(event) = over.pop() {
            if !event.hand_on() {
                counted.extend(event.mark_done(event.cause(), &mut over));
            }
        }
    }
}
