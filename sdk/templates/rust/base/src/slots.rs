// SPDX-License-Identifier: Apache-2.0
//! The slots of every table: from C's handles and pointers to the types of this crate, and back.

use std::os::raw::c_void;
use std::sync::{Arc, Mutex};

use crate::abi::*;
use crate::buffer::{Budget, Buffer, MapMode};
use crate::driver::{devices, DeviceInfo, Shared};
use crate::error::*;
use crate::event::{Event, Work};
use crate::executor::{Argument, Executor, Launch};
use crate::host::Host;
use crate::kernel::Kernel;
use crate::passes;
use crate::program::Program;

// ---- what the handles are

struct Device {
    shared: Arc<Shared>,
    info: DeviceInfo,
    budget: Arc<Budget>,
}

struct Library {
    done: Mutex<Option<Arc<Event>>>,
    program: Mutex<Option<Arc<Program>>>, // set before `done` is
}

impl Library {
    fn program(&self) -> Result<Arc<Program>> {
        let done = self.done.lock().unwrap().clone();
        match done {
            Some(done) if done.done() => done.status()?,
            _ => return Err(failure(STRIA_FAILED_PRECONDITION, "the library is still being built")),
        }
        let program = self.program.lock().unwrap().clone();
        program.ok_or_else(|| failure(STRIA_INTERNAL, "the build made no program"))
    }
}

struct PreparedKernel {
    executor: Arc<Executor>,
    kernel: Arc<Kernel>,
}

// A handle is an Arc's pointer, and is one of its owners.
fn handle<T, H>(object: Arc<T>) -> *mut H {
    Arc::into_raw(object) as *mut H
}
unsafe fn get<T, H>(handle: *mut H) -> Arc<T> {
    Arc::increment_strong_count(handle as *const T);
    Arc::from_raw(handle as *const T)
}
unsafe extern "C" fn release<T, H>(handle: *mut H) {
    drop(Arc::from_raw(handle as *const T));
}

unsafe fn waits_of(events: *const *mut stria_event, count: u64) -> Vec<Arc<Event>> {
    (0..count as usize).map(|i| get::<Event, _>(*events.add(i))).collect()
}

// ---- driver

unsafe extern "C" fn create(options: *const stria_driver_options, driver: *mut *mut stria_driver) -> *mut stria_error {
    slot(|| {
        let host = Host::new(whole(options).services)?;
        *driver = handle(Shared::new(host));
        Ok(())
    })
}

fn send(info: &DeviceInfo, sink: stria_device_sink, state: *mut c_void) {
    let out = stria_device_info {
        id: to_c(info.id),
        name: to_c(info.name),
        kind: to_c(info.kind),
        vendor: to_c(info.vendor),
        available: u8::from(info.reason.is_none()),
        reason: to_c(info.reason.as_deref().unwrap_or("")),
        memory_bytes: info.memory_bytes,
        properties: to_c("{}"),
        ..empty()
    };
    if let Some(sink) = sink {
        unsafe { sink(state, &out) }
    }
}

unsafe extern "C" fn enumerate(_: *mut stria_driver, sink: stria_device_sink, state: *mut c_void) -> *mut stria_error {
    slot(|| {
        devices().iter().for_each(|info| send(info, sink, state));
        Ok(())
    })
}

unsafe extern "C" fn open(driver: *mut stria_driver, id: stria_string, _: stria_string, device: *mut *mut stria_device) -> *mut stria_error {
    slot(|| {
        let shared = get::<Shared, _>(driver);
        let id = from_c(id);
        let info = devices().into_iter().find(|info| info.id == id).ok_or_else(|| {
            failure(STRIA_NOT_FOUND, format!("no device with the id '{id}'"))
        })?;
        if let Some(reason) = &info.reason {
            let text = format!("device '{id}' is not available: {reason}");
            return Err(failure(STRIA_UNAVAILABLE, text));
        }
        shared.open()?;
        let budget = Budget::new(info.memory_bytes);
        *device = handle(Arc::new(Device { shared, info, budget }));
        Ok(())
    })
}

unsafe extern "C" fn shutdown(driver: *mut stria_driver) {
    let shared = Arc::from_raw(driver as *const Shared);
    let _ = outcome_of(|| {
        shared.shutdown();
        Ok(())
    });
}

// ---- device

unsafe extern "C" fn info(device: *mut stria_device, sink: stria_device_sink, state: *mut c_void) -> *mut stria_error {
    slot(|| {
        send(&get::<Device, _>(device).info, sink, state);
        Ok(())
    })
}

unsafe extern "C" fn create_compiler(device: *mut stria_device, compiler: *mut *mut stria_compiler) -> *mut stria_error {
    slot(|| {
        *compiler = handle(get::<Device, _>(device).shared.clone());
        Ok(())
    })
}

unsafe extern "C" fn create_executor(device: *mut stria_device, _: stria_string, executor: *mut *mut stria_executor) -> *mut stria_error {
    slot(|| {
        *executor = handle(Executor::new(&get::<Device, _>(device).shared));
        Ok(())
    })
}

// params.memory names a memory unit of hw/npu.json that tensors of the program lie in. There is
// one.
unsafe extern "C" fn allocate(device: *mut stria_device, params: *const stria_buffer_params, buffer: *mut *mut stria_buffer) -> *mut stria_error {
    slot(|| {
        let device = get::<Device, _>(device);
        let params = whole(params);
        let memory = from_c(params.memory);
        if !memory.is_empty() && memory != "DRAM" {
            return Err(failure(STRIA_NOT_FOUND, format!("there are no buffers in '{memory}': they lie in 'DRAM'")));
        }
        *buffer = handle(Buffer::new(&device.shared, &device.budget, params.bytes)?);
        Ok(())
    })
}

unsafe extern "C" fn create_event(device: *mut stria_device, event: *mut *mut stria_event) -> *mut stria_error {
    slot(|| {
        *event = handle(Event::of_host(&get::<Device, _>(device).shared));
        Ok(())
    })
}

// ---- compiler and library

// Builds run on the host's worker threads: the device's queue is for what the device does.
unsafe extern "C" fn build(compiler: *mut stria_compiler, params: *const stria_build_params, waits: *const *mut stria_event, wait_count: u64, library: *mut *mut stria_library, done: *mut *mut stria_event) -> *mut stria_error {
    slot(|| {
        let shared = get::<Shared, _>(compiler);
        let given = whole(params);
        let (stripe, options) = (from_c(given.stripe).into_owned(), from_c(given.options).into_owned());
        let made = Arc::new(Library { done: Mutex::new(None), program: Mutex::new(None) });
        let (target, host) = (made.clone(), shared.host);
        let work = Work::OnHost(Box::new(move || {
            let program = Program::build(&host, &stripe, &options)?;
            *target.program.lock().unwrap() = Some(Arc::new(program));
            Ok(())
        }));
        let event = Event::after(&shared, None, &waits_of(waits, wait_count), work);
        *made.done.lock().unwrap() = Some(event.clone());
        *library = handle(made);
        *done = handle(event);
        Ok(())
    })
}

unsafe extern "C" fn transform(_: *mut stria_compiler, stripe: stria_string, pass: stria_string, options: stria_string, sink: stria_text_sink, state: *mut c_void) -> *mut stria_error {
    slot(|| {
        for (name, text) in passes::transform(&from_c(stripe), &from_c(pass), &from_c(options))? {
            if let Some(sink) = sink {
                sink(state, to_c(name), to_c(&text));
            }
        }
        Ok(())
    })
}

unsafe extern "C" fn kernels(library: *mut stria_library, sink: stria_kernel_sink, state: *mut c_void) -> *mut stria_error {
    slot(|| {
        let program = get::<Library, _>(library).program()?;
        program.kernels().iter().for_each(|kernel| kernel.send(sink, state));
        Ok(())
    })
}

unsafe extern "C" fn source(library: *mut stria_library, sink: stria_text_sink, state: *mut c_void) -> *mut stria_error {
    slot(|| {
        let program = get::<Library, _>(library).program()?;
        for (name, text) in program.source() {
            if let Some(sink) = sink {
                sink(state, to_c(name), to_c(text));
            }
        }
        Ok(())
    })
}

// ---- executor and kernel

unsafe extern "C" fn prepare(executor: *mut stria_executor, library: *mut stria_library, index: u64, kernel: *mut *mut stria_kernel) -> *mut stria_error {
    slot(|| {
        let program = get::<Library, _>(library).program()?;
        let executor = get::<Executor, _>(executor);
        let made = Arc::new(Kernel::new(program, index)?);
        *kernel = handle(Arc::new(PreparedKernel { executor, kernel: made }));
        Ok(())
    })
}

unsafe fn arguments_of(kernel: &Kernel, given: *const *const stria_argument, count: u64) -> Result<Vec<Argument>> {
    let mut out = Vec::new();
    for i in 0..count as usize {
        let argument = whole(*given.add(i));
        if argument.buffer.is_null() {
            let info = kernel.info();
            let name = info.arguments.get(i).map_or_else(|| i.to_string(), |info| info.name.clone());
            let text = format!("argument '{name}' of kernel '{}' has no buffer", info.name);
            return Err(failure(STRIA_INVALID_ARGUMENT, text));
        }
        out.push(Argument { buffer: get(argument.buffer), offset: argument.offset });
    }
    Executor::check(kernel.info(), &out)?;
    Ok(out)
}

unsafe extern "C" fn submit(executor: *mut stria_executor, launches: *const *const stria_launch, launch_count: u64, waits: *const *mut stria_event, wait_count: u64, each: *mut *mut stria_event, done: *mut *mut stria_event) -> *mut stria_error {
    slot(|| {
        let executor = get::<Executor, _>(executor);
        // All is checked before anything starts.
        let mut batch = Vec::new();
        for n in 0..launch_count as usize {
            let launch = whole(*launches.add(n));
            let kernel = get::<PreparedKernel, _>(launch.kernel);
            if !Arc::ptr_eq(&kernel.executor, &executor) {
                let text = format!("the kernel of launch {n} was prepared by another executor");
                return Err(failure(STRIA_INVALID_ARGUMENT, text));
            }
            let after: Vec<u32> = (0..launch.after_count as usize).map(|a| *launch.after.add(a)).collect();
            if let Some(later) = after.iter().find(|a| **a as usize >= n) {
                let text = format!("launch {n} waits for launch {later}");
                return Err(failure(STRIA_INVALID_ARGUMENT, text));
            }
            let arguments = arguments_of(&kernel.kernel, launch.arguments, launch.argument_count)?;
            batch.push(Launch { kernel: kernel.kernel.clone(), arguments, after });
        }
        let (events, all) = executor.submit(batch, &waits_of(waits, wait_count));
        if !each.is_null() {
            for (n, event) in events.into_iter().enumerate() {
                *each.add(n) = handle(event);
            }
        }
        *done = handle(all);
        Ok(())
    })
}

unsafe extern "C" fn copy(executor: *mut stria_executor, source: *mut stria_buffer, source_offset: u64, target: *mut stria_buffer, target_offset: u64, bytes: u64, waits: *const *mut stria_event, wait_count: u64, done: *mut *mut stria_event) -> *mut stria_error {
    slot(|| {
        let from = Argument { buffer: get(source), offset: source_offset };
        let to = Argument { buffer: get(target), offset: target_offset };
        let waits = waits_of(waits, wait_count);
        *done = handle(get::<Executor, _>(executor).copy(from, to, bytes, &waits)?);
        Ok(())
    })
}

unsafe extern "C" fn fill(executor: *mut stria_executor, target: *mut stria_buffer, offset: u64, bytes: u64, pattern: *const c_void, pattern_size: u64, waits: *const *mut stria_event, wait_count: u64, done: *mut *mut stria_event) -> *mut stria_error {
    slot(|| {
        Executor::check_pattern(bytes, pattern_size)?;
        let to = Argument { buffer: get(target), offset };
        let pattern = std::slice::from_raw_parts(pattern as *const u8, pattern_size as usize).to_vec();
        let waits = waits_of(waits, wait_count);
        *done = handle(get::<Executor, _>(executor).fill(to, bytes, pattern, &waits)?);
        Ok(())
    })
}

unsafe extern "C" fn flush(_: *mut stria_executor) -> *mut stria_error {
    std::ptr::null_mut() // nothing waits for company
}

unsafe extern "C" fn drain(executor: *mut stria_executor, timeout_ns: u64) -> *mut stria_error {
    slot(|| get::<Executor, _>(executor).drain(timeout_ns))
}

unsafe extern "C" fn run(kernel: *mut stria_kernel, arguments: *const *const stria_argument, argument_count: u64, waits: *const *mut stria_event, wait_count: u64, done: *mut *mut stria_event) -> *mut stria_error {
    slot(|| {
        let prepared = get::<PreparedKernel, _>(kernel);
        let arguments = arguments_of(&prepared.kernel, arguments, argument_count)?;
        let waits = waits_of(waits, wait_count);
        *done = handle(prepared.executor.launch(prepared.kernel.clone(), arguments, &waits));
        Ok(())
    })
}

// ---- buffer

unsafe fn map(buffer: *mut stria_buffer, offset: u64, bytes: u64, mode: MapMode, waits: Vec<Arc<Event>>, memory: *mut *mut c_void, done: *mut *mut stria_event) -> *mut stria_error {
    slot(|| {
        let (address, ready) = get::<Buffer, _>(buffer).map(offset, bytes, mode, &waits)?;
        *memory = address as *mut c_void;
        *done = handle(ready);
        Ok(())
    })
}

unsafe extern "C" fn map_current(buffer: *mut stria_buffer, offset: u64, bytes: u64, waits: *const *mut stria_event, wait_count: u64, memory: *mut *mut c_void, done: *mut *mut stria_event) -> *mut stria_error {
    map(buffer, offset, bytes, MapMode::Change, waits_of(waits, wait_count), memory, done)
}

unsafe extern "C" fn map_discard(buffer: *mut stria_buffer, offset: u64, bytes: u64, waits: *const *mut stria_event, wait_count: u64, memory: *mut *mut c_void, done: *mut *mut stria_event) -> *mut stria_error {
    map(buffer, offset, bytes, MapMode::Discard, waits_of(waits, wait_count), memory, done)
}

unsafe extern "C" fn map_read(buffer: *mut stria_buffer, offset: u64, bytes: u64, waits: *const *mut stria_event, wait_count: u64, memory: *mut *mut c_void, done: *mut *mut stria_event) -> *mut stria_error {
    map(buffer, offset, bytes, MapMode::Read, waits_of(waits, wait_count), memory, done)
}

unsafe extern "C" fn unmap(buffer: *mut stria_buffer, memory: *mut c_void, done: *mut *mut stria_event) -> *mut stria_error {
    slot(|| {
        *done = handle(get::<Buffer, _>(buffer).unmap(memory as *mut u8)?);
        Ok(())
    })
}

// ---- event

unsafe extern "C" fn wait(event: *mut stria_event, timeout_ns: u64) -> *mut stria_error {
    slot(|| get::<Event, _>(event).wait(timeout_ns))
}

unsafe extern "C" fn query(event: *mut stria_event, done: *mut u8) -> *mut stria_error {
    *done = u8::from(get::<Event, _>(event).done());
    std::ptr::null_mut()
}

unsafe extern "C" fn status(event: *mut stria_event) -> *mut stria_error {
    slot(|| get::<Event, _>(event).status())
}

unsafe extern "C" fn duration_ns(event: *mut stria_event, nanoseconds: *mut u64) -> *mut stria_error {
    slot(|| {
        *nanoseconds = get::<Event, _>(event).duration_ns()?;
        Ok(())
    })
}

unsafe extern "C" fn on_done(event: *mut stria_event, callback: Option<unsafe extern "C" fn(*mut c_void, *const stria_error)>, state: *mut c_void) -> *mut stria_error {
    slot(|| {
        if let Some(callback) = callback {
            get::<Event, _>(event).on_done(callback, state);
        }
        Ok(())
    })
}

unsafe extern "C" fn signal(event: *mut stria_event, error: *const stria_error) -> *mut stria_error {
    slot(|| get::<Event, _>(event).signal(copy_of(error)))
}

unsafe extern "C" fn end(event: *mut stria_event, behind: *mut *mut stria_event) -> *mut stria_error {
    slot(|| {
        *behind = handle(get::<Event, _>(event).end());
        Ok(())
    })
}

// ---- the tables

pub struct Tables {
    pub driver: stria_driver_table,
    pub device: stria_device_table,
    pub compiler: stria_compiler_table,
    pub library: stria_library_table,
    pub executor: stria_executor_table,
    pub kernel: stria_kernel_table,
    pub buffer: stria_buffer_table,
    pub event: stria_event_table,
}
// Nothing in them changes.
unsafe impl Sync for Tables {}

const fn size_of<T>() -> u64 {
    std::mem::size_of::<T>() as u64
}
const NEXT: *const c_void = std::ptr::null();

pub static TABLES: Tables = Tables {
    driver: stria_driver_table {
        size: size_of::<stria_driver_table>(),
        next: NEXT,
        create: Some(create),
        enumerate: Some(enumerate),
        open: Some(open),
        shutdown: Some(shutdown),
    },
    device: stria_device_table {
        size: size_of::<stria_device_table>(),
        next: NEXT,
        info: Some(info),
        create_compiler: Some(create_compiler),
        create_executor: Some(create_executor),
        allocate: Some(allocate),
        create_event: Some(create_event),
        release: Some(release::<Device, stria_device>),
    },
    compiler: stria_compiler_table {
        size: size_of::<stria_compiler_table>(),
        next: NEXT,
        build: Some(build),
        transform: Some(transform),
        release: Some(release::<Shared, stria_compiler>),
    },
    library: stria_library_table {
        size: size_of::<stria_library_table>(),
        next: NEXT,
        kernels: Some(kernels),
        source: Some(source),
        release: Some(release::<Library, stria_library>),
    },
    executor: stria_executor_table {
        size: size_of::<stria_executor_table>(),
        next: NEXT,
        prepare: Some(prepare),
        submit: Some(submit),
        copy: Some(copy),
        fill: Some(fill),
        flush: Some(flush),
        drain: Some(drain),
        release: Some(release::<Executor, stria_executor>),
    },
    kernel: stria_kernel_table {
        size: size_of::<stria_kernel_table>(),
        next: NEXT,
        run: Some(run),
        release: Some(release::<PreparedKernel, stria_kernel>),
    },
    buffer: stria_buffer_table {
        size: size_of::<stria_buffer_table>(),
        next: NEXT,
        map_current: Some(map_current),
        map_discard: Some(map_discard),
        unmap: Some(unmap),
        release: Some(release::<Buffer, stria_buffer>),
        map_read: Some(map_read),
    },
    event: stria_event_table {
        size: size_of::<stria_event_table>(),
        next: NEXT,
        wait: Some(wait),
        query: Some(query),
        status: Some(status),
        duration_ns: Some(duration_ns),
        on_done: Some(on_done),
        signal: Some(signal),
        release: Some(release::<Event, stria_event>),
        end: Some(end),
    },
};
