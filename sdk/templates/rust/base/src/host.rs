// SPDX-License-Identifier: Apache-2.0
//! The host's services: threads, memory, log, cache and the interpreter.

use std::os::raw::c_void;
use std::sync::Arc;

use crate::abi::*;
use crate::error::*;

/// One per driver. Its services are valid until the driver's shutdown has returned.
#[derive(Clone, Copy)]
pub struct Host {
    services: stria_host_services,
}
// Services may be called from any thread.
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

const PRESENT: &str = "checked when the driver was made";

impl Host {
    /// # Safety
    /// `services` is the host's.
    pub unsafe fn new(services: *const stria_host_services) -> Result<Host> {
        let known = !services.is_null() && {
            let given = whole(services);
            given.make_error.is_some() // the last of those that every host has
        };
        if !known {
            return Err(failure(
                STRIA_INCOMPATIBLE,
                "the host offers fewer services than this plugin was built for",
            ));
        }
        Ok(Host { services: whole(services) })
    }

    #[allow(dead_code)]
    pub fn log(&self, level: stria_log_level, message: &str) {
        unsafe { (self.services.log.expect(PRESENT))(self.services.host, level, to_c(message)) }
    }

    /// Null without memory.
    #[allow(dead_code)]
    pub fn allocate(&self, bytes: u64, alignment: u64) -> *mut u8 {
        let allocate = self.services.allocate.expect(PRESENT);
        unsafe { allocate(self.services.host, bytes, alignment) as *mut u8 }
    }

    #[allow(dead_code)]
    pub fn free(&self, memory: *mut u8, bytes: u64, alignment: u64) {
        let free = self.services.free.expect(PRESENT);
        unsafe { free(self.services.host, memory as *mut c_void, bytes, alignment) }
    }

    /// Calls body(begin, end) on pieces that cover 0 to count - 1, on several threads.
    #[allow(dead_code)]
    pub fn parallel_for<F: Fn(u64, u64) + Sync>(&self, count: u64, body: &F) {
        unsafe extern "C" fn call<F: Fn(u64, u64)>(state: *mut c_void, begin: u64, end: u64) {
            (*(state as *const F))(begin, end);
        }
        let host = self.services.host;
        unsafe {
            // Eight pieces a core: enough that one core which is late does not hold up the others.
            let pieces = 8 * u64::from((self.services.concurrency.expect(PRESENT))(host));
            let state = body as *const F as *mut c_void;
            let parallel_for = self.services.parallel_for.expect(PRESENT);
            parallel_for(host, count, count / pieces + 1, Some(call::<F>), state);
        }
    }

    /// Runs `task` once on a worker thread. It must not panic.
    pub fn post(&self, task: Box<dyn FnOnce() + Send>) {
        unsafe extern "C" fn run(state: *mut c_void) {
            let task = Box::from_raw(state as *mut Box<dyn FnOnce() + Send>);
            task();
        }
        let state = Box::into_raw(Box::new(task)) as *mut c_void;
        unsafe { (self.services.post.expect(PRESENT))(self.services.host, Some(run), state) }
    }

    /// What was kept under `key`. A cache that fails is one without the entry.
    #[allow(dead_code)]
    pub fn cache_get(&self, key: &str) -> Option<Vec<u8>> {
        unsafe extern "C" fn take(state: *mut c_void, _: stria_string, text: stria_string) {
            // An empty text may have no address, and an entry without bytes is none.
            if text.size > 0 && !text.data.is_null() {
                let bytes = std::slice::from_raw_parts(text.data as *const u8, text.size as usize);
                *(state as *mut Option<Vec<u8>>) = Some(bytes.to_vec());
            }
        }
        let mut out: Option<Vec<u8>> = None;
        let state = &mut out as *mut Option<Vec<u8>> as *mut c_void;
        unsafe {
            let get = self.services.cache_get.expect(PRESENT);
            let _ = check(get(self.services.host, to_c(key), Some(take), state));
        }
        out
    }

    #[allow(dead_code)]
    pub fn cache_put(&self, key: &str, value: &[u8]) {
        let value = stria_string { data: value.as_ptr() as *const _, size: value.len() as u64 };
        unsafe {
            let put = self.services.cache_put.expect(PRESENT);
            let _ = check(put(self.services.host, to_c(key), value));
        }
    }
}

/// Device Stripe that the host has read, to be interpreted.
pub struct HostProgram {
    host: Host,
    program: *mut stria_host_program,
}
unsafe impl Send for HostProgram {}
unsafe impl Sync for HostProgram {}

impl HostProgram {
    pub fn new(host: &Host, stripe: &str) -> Result<HostProgram> {
        let mut program = std::ptr::null_mut();
        let create = host.services.program_create.expect(PRESENT);
        unsafe { check(create(host.services.host, to_c(stripe), &mut program))? };
        Ok(HostProgram { host: *host, program })
    }

    #[allow(dead_code)]
    pub fn kernels(&self) -> Result<Vec<KernelInfo>> {
        unsafe extern "C" fn add(state: *mut c_void, info: *const stria_kernel_info) {
            (*(state as *mut Vec<KernelInfo>)).push(KernelInfo::copy_of(info));
        }
        let mut out: Vec<KernelInfo> = Vec::new();
        let state = &mut out as *mut Vec<KernelInfo> as *mut c_void;
        let kernels = self.host.services.program_kernels.expect(PRESENT);
        unsafe { check(kernels(self.host.services.host, self.program, Some(add), state))? };
        Ok(out)
    }

    pub fn prepare(&self, index: u64) -> Result<HostKernel> {
        let mut kernel = std::ptr::null_mut();
        let create = self.host.services.kernel_create.expect(PRESENT);
        unsafe { check(create(self.host.services.host, self.program, index, &mut kernel))? };
        Ok(HostKernel { host: self.host, kernel })
    }
}

impl Drop for HostProgram {
    fn drop(&mut self) {
        let release = self.host.services.program_release.expect(PRESENT);
        unsafe { release(self.host.services.host, self.program) }
    }
}

/// A kernel that the host interprets.
pub struct HostKernel {
    host: Host,
    kernel: *mut stria_host_kernel,
}
unsafe impl Send for HostKernel {}
unsafe impl Sync for HostKernel {}

impl HostKernel {
    pub fn run(&self, arguments: &[stria_memory]) -> Result<()> {
        let run = self.host.services.kernel_run.expect(PRESENT);
        let count = arguments.len() as u64;
        unsafe { check(run(self.host.services.host, self.kernel, arguments.as_ptr(), count)) }
    }
}

impl Drop for HostKernel {
    fn drop(&mut self) {
        let release = self.host.services.kernel_release.expect(PRESENT);
        unsafe { release(self.host.services.host, self.kernel) }
    }
}

// ---- what the host wants to know of a kernel

#[derive(Clone)]
pub struct ArgumentInfo {
    pub name: String,
    pub direction: stria_direction,
    pub bytes: u64, // least bytes behind the argument's offset
}

#[derive(Clone)]
pub struct KernelInfo {
    pub name: String,
    pub part: stria_program_part,
    pub statement: u64,
    pub arguments: Arc<[ArgumentInfo]>, // out and inout first, then in
    pub interpreted: String,            // why the host interprets it; empty: it does not
}

impl KernelInfo {
    unsafe fn copy_of(info: *const stria_kernel_info) -> KernelInfo {
        let given = whole(info);
        let arguments = (0..given.argument_count as usize).map(|i| {
            let argument = whole(*given.arguments.add(i));
            ArgumentInfo {
                name: from_c(argument.name).into_owned(),
                direction: argument.direction,
                bytes: argument.bytes,
            }
        });
        KernelInfo {
            name: from_c(given.name).into_owned(),
            part: given.part,
            statement: given.statement,
            arguments: arguments.collect(),
            interpreted: from_c(given.interpreted).into_owned(),
        }
    }

    /// # Safety
    /// `sink` and `state` are the host's.
    pub unsafe fn send(&self, sink: stria_kernel_sink, state: *mut c_void) {
        let arguments: Vec<stria_argument_info> = self
            .arguments
            .iter()
            .map(|from| stria_argument_info {
                name: to_c(&from.name),
                direction: from.direction,
                bytes: from.bytes,
                ..empty()
            })
            .collect();
        let pointers: Vec<*const stria_argument_info> = arguments.iter().map(|a| a as *const _).collect();
        let info = stria_kernel_info {
            name: to_c(&self.name),
            part: self.part,
            statement: self.statement,
            arguments: pointers.as_ptr(),
            argument_count: pointers.len() as u64,
            interpreted: to_c(&self.interpreted),
            ..empty()
        };
        if let Some(sink) = sink {
            sink(state, &info);
        }
    }
}
