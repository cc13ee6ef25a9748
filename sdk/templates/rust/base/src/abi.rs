// SPDX-License-Identifier: Apache-2.0
//! The structs and constants of stria/plugin.h in Rust. `cargo test` compares sizes, offsets and
//! values with those of the C header. plugin.h says what each means.
#![allow(non_camel_case_types, dead_code)]

use std::os::raw::{c_char, c_void};

// Defines the structs, and for the tests the layout of each as Rust has it and a program in C that
// prints what C has.
macro_rules! abi_structs {
    ($(pub struct $name:ident { $(pub $field:ident: $kind:ty,)* })*) => {
        $(
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name { $(pub $field: $kind,)* }
        )*
        #[cfg(test)]
        pub fn layout_of_rust() -> String {
            let mut out = String::new();
            $({
                let value = std::mem::MaybeUninit::<$name>::uninit();
                let base = value.as_ptr();
                out += &format!("{} {}\n", stringify!($name), std::mem::size_of::<$name>());
                $(
                    // No value is read: only addresses are made.
                    let member = unsafe { std::ptr::addr_of!((*base).$field) } as usize;
                    out += &format!("  {} {}\n", stringify!($field).trim_start_matches("r#"), member - base as usize);
                )*
            })*
            out
        }
        #[cfg(test)]
        pub fn layout_program_in_c(header: &str) -> String {
            let mut out = format!("#include <stddef.h>\n#include <stdio.h>\n#include \"{header}\"\n");
            out += "int main(void) {\n";
            $(
                let name = stringify!($name);
                out += &format!("  printf(\"{name} %zu\\n\", sizeof({name}));\n");
                $(
                    let field = stringify!($field).trim_start_matches("r#");
                    out += &format!("  printf(\"  {field} %zu\\n\", offsetof({name}, {field}));\n");
                )*
            )*
            out + "  return 0;\n}\n"
        }
    };
}
#[allow(unused_imports)] // a plugin that reads Stripe uses it
pub(crate) use abi_structs;

// Defines constants, and for the tests their names and values.
macro_rules! abi_constants {
    ($($name:ident: $kind:ty = $value:expr;)*) => {
        $(pub const $name: $kind = $value;)*
        #[cfg(test)]
        pub const CONSTANTS: &[(&str, i64)] = &[$((stringify!($name), $name as i64),)*];
    };
}

abi_constants! {
    STRIA_ABI_MAJOR: u32 = 0;
    STRIA_ABI_MINOR: u32 = 5;
    STRIA_ABI_OLDEST_MINOR: u32 = 1;
    STRIA_STRIPE_MAJOR: u32 = 1;
    STRIA_STRIPE_MINOR: u32 = 0;
    STRIA_OK: i32 = 0;
    STRIA_INVALID_ARGUMENT: i32 = 1;
    STRIA_NOT_FOUND: i32 = 2;
    STRIA_OUT_OF_RANGE: i32 = 3;
    STRIA_UNIMPLEMENTED: i32 = 4;
    STRIA_UNSUPPORTED: i32 = 5;
    STRIA_UNAVAILABLE: i32 = 6;
    STRIA_INCOMPATIBLE: i32 = 7;
    STRIA_OUT_OF_MEMORY: i32 = 8;
    STRIA_DEVICE_LOST: i32 = 9;
    STRIA_PERMISSION_DENIED: i32 = 10;
    STRIA_DEADLINE_EXCEEDED: i32 = 11;
    STRIA_CANCELLED: i32 = 12;
    STRIA_DATA_LOSS: i32 = 13;
    STRIA_FAILED_PRECONDITION: i32 = 14;
    STRIA_UNKNOWN: i32 = 15;
    STRIA_INTERNAL: i32 = 16;
    STRIA_IN: i32 = 1;
    STRIA_OUT: i32 = 2;
    STRIA_INOUT: i32 = 3;
    STRIA_PROLOGUE: i32 = 0;
    STRIA_MAIN: i32 = 1;
    STRIA_LOG_DEBUG: i32 = 0;
    STRIA_LOG_INFO: i32 = 1;
    STRIA_LOG_WARNING: i32 = 2;
    STRIA_LOG_ERROR: i32 = 3;
    STRIA_SANITIZER_NONE: i32 = 0;
    STRIA_SANITIZER_ADDRESS: i32 = 1;
    STRIA_SANITIZER_THREAD: i32 = 2;
    STRIA_WHOLE_PART: u64 = u64::MAX;
}

pub type stria_code = i32;
pub type stria_direction = i32;
pub type stria_program_part = i32;
pub type stria_log_level = i32;
pub type stria_sanitizer = i32;

// What only one side knows.
#[repr(C)]
pub struct stria_driver {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_device {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_compiler {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_library {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_kernel {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_executor {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_buffer {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_event {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_host {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_host_program {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_host_kernel {
    _private: [u8; 0],
}

pub type stria_text_sink = Option<unsafe extern "C" fn(state: *mut c_void, name: stria_string, text: stria_string)>;
pub type stria_device_sink = Option<unsafe extern "C" fn(state: *mut c_void, info: *const stria_device_info)>;
pub type stria_kernel_sink = Option<unsafe extern "C" fn(state: *mut c_void, info: *const stria_kernel_info)>;

abi_structs! {
    pub struct stria_string {
        pub data: *const c_char,
        pub size: u64,
    }
    pub struct stria_memory {
        pub data: *mut c_void,
        pub size: u64,
    }
    pub struct stria_error {
        pub size: u64,
        pub next: *const c_void,
        pub code: stria_code,
        pub native_code: i64,
        pub message: stria_string,
        pub native_message: stria_string,
        pub place: stria_string,
        pub suggestion: stria_string,
        pub cause: *const stria_error,
        pub release: Option<unsafe extern "C" fn(error: *mut stria_error)>,
    }
    pub struct stria_device_info {
        pub size: u64,
        pub next: *const c_void,
        pub id: stria_string,
        pub name: stria_string,
        pub kind: stria_string,
        pub vendor: stria_string,
        pub available: u8,
        pub reason: stria_string,
        pub memory_bytes: u64,
        pub properties: stria_string,
    }
    pub struct stria_argument_info {
        pub size: u64,
        pub next: *const c_void,
        pub name: stria_string,
        pub direction: stria_direction,
        pub bytes: u64,
        pub may_overlap: *const u32,
        pub may_overlap_count: u64,
    }
    pub struct stria_kernel_info {
        pub size: u64,
        pub next: *const c_void,
        pub name: stria_string,
        pub part: stria_program_part,
        pub statement: u64,
        pub arguments: *const *const stria_argument_info,
        pub argument_count: u64,
        pub interpreted: stria_string,
    }
    pub struct stria_argument {
        pub size: u64,
        pub next: *const c_void,
        pub buffer: *mut stria_buffer,
        pub offset: u64,
    }
    pub struct stria_launch {
        pub size: u64,
        pub next: *const c_void,
        pub kernel: *mut stria_kernel,
        pub arguments: *const *const stria_argument,
        pub argument_count: u64,
        pub after: *const u32,
        pub after_count: u64,
    }
    pub struct stria_host_services {
        pub size: u64,
        pub next: *const c_void,
        pub host: *mut stria_host,
        pub log: Option<unsafe extern "C" fn(host: *mut stria_host, level: stria_log_level, message: stria_string)>,
        pub allocate: Option<unsafe extern "C" fn(host: *mut stria_host, bytes: u64, alignment: u64) -> *mut c_void>,
        pub free: Option<unsafe extern "C" fn(host: *mut stria_host, memory: *mut c_void, bytes: u64, alignment: u64)>,
        pub concurrency: Option<unsafe extern "C" fn(host: *mut stria_host) -> u32>,
        pub parallel_for: Option<unsafe extern "C" fn(host: *mut stria_host, count: u64, grain: u64, body: Option<unsafe extern "C" fn(state: *mut c_void, begin: u64, end: u64)>, state: *mut c_void)>,
        pub post: Option<unsafe extern "C" fn(host: *mut stria_host, task: Option<unsafe extern "C" fn(state: *mut c_void)>, state: *mut c_void)>,
        pub program_create: Option<unsafe extern "C" fn(host: *mut stria_host, stripe: stria_string, program: *mut *mut stria_host_program) -> *mut stria_error>,
        pub program_kernels: Option<unsafe extern "C" fn(host: *mut stria_host, program: *mut stria_host_program, sink: stria_kernel_sink, state: *mut c_void) -> *mut stria_error>,
        pub kernel_create: Option<unsafe extern "C" fn(host: *mut stria_host, program: *mut stria_host_program, index: u64, kernel: *mut *mut stria_host_kernel) -> *mut stria_error>,
        pub kernel_run: Option<unsafe extern "C" fn(host: *mut stria_host, kernel: *mut stria_host_kernel, arguments: *const stria_memory, argument_count: u64) -> *mut stria_error>,
        pub kernel_release: Option<unsafe extern "C" fn(host: *mut stria_host, kernel: *mut stria_host_kernel)>,
        pub program_release: Option<unsafe extern "C" fn(host: *mut stria_host, program: *mut stria_host_program)>,
        pub cache_get: Option<unsafe extern "C" fn(host: *mut stria_host, key: stria_string, sink: stria_text_sink, state: *mut c_void) -> *mut stria_error>,
        pub cache_put: Option<unsafe extern "C" fn(host: *mut stria_host, key: stria_string, value: stria_string) -> *mut stria_error>,
        pub make_error: Option<unsafe extern "C" fn(host: *mut stria_host, code: stria_code, native_code: i64, message: stria_string, native_message: stria_string) -> *mut stria_error>,
        pub lend: Option<unsafe extern "C" fn(host: *mut stria_host, done: Option<unsafe extern "C" fn(state: *mut c_void) -> u8>, state: *mut c_void) -> u8>,
        pub copy_error: Option<unsafe extern "C" fn(host: *mut stria_host, error: *const stria_error) -> *mut stria_error>,
    }
    pub struct stria_driver_options {
        pub size: u64,
        pub next: *const c_void,
        pub directory: stria_string,
        pub options: stria_string,
        pub services: *const stria_host_services,
    }
    pub struct stria_driver_table {
        pub size: u64,
        pub next: *const c_void,
        pub create: Option<unsafe extern "C" fn(options: *const stria_driver_options, driver: *mut *mut stria_driver) -> *mut stria_error>,
        pub enumerate: Option<unsafe extern "C" fn(driver: *mut stria_driver, sink: stria_device_sink, state: *mut c_void) -> *mut stria_error>,
        pub open: Option<unsafe extern "C" fn(driver: *mut stria_driver, id: stria_string, options: stria_string, device: *mut *mut stria_device) -> *mut stria_error>,
        pub shutdown: Option<unsafe extern "C" fn(driver: *mut stria_driver)>,
    }
    pub struct stria_buffer_params {
        pub size: u64,
        pub next: *const c_void,
        pub bytes: u64,
        pub memory: stria_string,
    }
    pub struct stria_device_table {
        pub size: u64,
        pub next: *const c_void,
        pub info: Option<unsafe extern "C" fn(device: *mut stria_device, sink: stria_device_sink, state: *mut c_void) -> *mut stria_error>,
        pub create_compiler: Option<unsafe extern "C" fn(device: *mut stria_device, compiler: *mut *mut stria_compiler) -> *mut stria_error>,
        pub create_executor: Option<unsafe extern "C" fn(device: *mut stria_device, options: stria_string, executor: *mut *mut stria_executor) -> *mut stria_error>,
        pub allocate: Option<unsafe extern "C" fn(device: *mut stria_device, params: *const stria_buffer_params, buffer: *mut *mut stria_buffer) -> *mut stria_error>,
        pub create_event: Option<unsafe extern "C" fn(device: *mut stria_device, event: *mut *mut stria_event) -> *mut stria_error>,
        pub release: Option<unsafe extern "C" fn(device: *mut stria_device)>,
    }
    pub struct stria_build_params {
        pub size: u64,
        pub next: *const c_void,
        pub stripe: stria_string,
        pub options: stria_string,
    }
    pub struct stria_compiler_table {
        pub size: u64,
        pub next: *const c_void,
        pub build: Option<unsafe extern "C" fn(compiler: *mut stria_compiler, params: *const stria_build_params, waits: *const *mut stria_event, wait_count: u64, library: *mut *mut stria_library, done: *mut *mut stria_event) -> *mut stria_error>,
        pub transform: Option<unsafe extern "C" fn(compiler: *mut stria_compiler, stripe: stria_string, pass: stria_string, options: stria_string, sink: stria_text_sink, state: *mut c_void) -> *mut stria_error>,
        pub release: Option<unsafe extern "C" fn(compiler: *mut stria_compiler)>,
    }
    pub struct stria_library_table {
        pub size: u64,
        pub next: *const c_void,
        pub kernels: Option<unsafe extern "C" fn(library: *mut stria_library, sink: stria_kernel_sink, state: *mut c_void) -> *mut stria_error>,
        pub source: Option<unsafe extern "C" fn(library: *mut stria_library, sink: stria_text_sink, state: *mut c_void) -> *mut stria_error>,
        pub release: Option<unsafe extern "C" fn(library: *mut stria_library)>,
    }
    pub struct stria_executor_table {
        pub size: u64,
        pub next: *const c_void,
        pub prepare: Option<unsafe extern "C" fn(executor: *mut stria_executor, library: *mut stria_library, index: u64, kernel: *mut *mut stria_kernel) -> *mut stria_error>,
        pub submit: Option<unsafe extern "C" fn(executor: *mut stria_executor, launches: *const *const stria_launch, launch_count: u64, waits: *const *mut stria_event, wait_count: u64, each: *mut *mut stria_event, done: *mut *mut stria_event) -> *mut stria_error>,
        pub copy: Option<unsafe extern "C" fn(executor: *mut stria_executor, source: *mut stria_buffer, source_offset: u64, target: *mut stria_buffer, target_offset: u64, bytes: u64, waits: *const *mut stria_event, wait_count: u64, done: *mut *mut stria_event) -> *mut stria_error>,
        pub fill: Option<unsafe extern "C" fn(executor: *mut stria_executor, target: *mut stria_buffer, offset: u64, bytes: u64, pattern: *const c_void, pattern_size: u64, waits: *const *mut stria_event, wait_count: u64, done: *mut *mut stria_event) -> *mut stria_error>,
        pub flush: Option<unsafe extern "C" fn(executor: *mut stria_executor) -> *mut stria_error>,
        pub drain: Option<unsafe extern "C" fn(executor: *mut stria_executor, timeout_ns: u64) -> *mut stria_error>,
        pub release: Option<unsafe extern "C" fn(executor: *mut stria_executor)>,
    }
    pub struct stria_kernel_table {
        pub size: u64,
        pub next: *const c_void,
        pub run: Option<unsafe extern "C" fn(kernel: *mut stria_kernel, arguments: *const *const stria_argument, argument_count: u64, waits: *const *mut stria_event, wait_count: u64, done: *mut *mut stria_event) -> *mut stria_error>,
        pub release: Option<unsafe extern "C" fn(kernel: *mut stria_kernel)>,
    }
    pub struct stria_buffer_table {
        pub size: u64,
        pub next: *const c_void,
        pub map_current: Option<unsafe extern "C" fn(buffer: *mut stria_buffer, offset: u64, bytes: u64, waits: *const *mut stria_event, wait_count: u64, memory: *mut *mut c_void, done: *mut *mut stria_event) -> *mut stria_error>,
        pub map_discard: Option<unsafe extern "C" fn(buffer: *mut stria_buffer, offset: u64, bytes: u64, waits: *const *mut stria_event, wait_count: u64, memory: *mut *mut c_void, done: *mut *mut stria_event) -> *mut stria_error>,
        pub unmap: Option<unsafe extern "C" fn(buffer: *mut stria_buffer, memory: *mut c_void, done: *mut *mut stria_event) -> *mut stria_error>,
        pub release: Option<unsafe extern "C" fn(buffer: *mut stria_buffer)>,
        pub map_read: Option<unsafe extern "C" fn(buffer: *mut stria_buffer, offset: u64, bytes: u64, waits: *const *mut stria_event, wait_count: u64, memory: *mut *mut c_void, done: *mut *mut stria_event) -> *mut stria_error>,
    }
    pub struct stria_event_table {
        pub size: u64,
        pub next: *const c_void,
        pub wait: Option<unsafe extern "C" fn(event: *mut stria_event, timeout_ns: u64) -> *mut stria_error>,
        pub query: Option<unsafe extern "C" fn(event: *mut stria_event, done: *mut u8) -> *mut stria_error>,
        pub status: Option<unsafe extern "C" fn(event: *mut stria_event) -> *mut stria_error>,
        pub duration_ns: Option<unsafe extern "C" fn(event: *mut stria_event, nanoseconds: *mut u64) -> *mut stria_error>,
        pub on_done: Option<unsafe extern "C" fn(event: *mut stria_event, callback: Option<unsafe extern "C" fn(state: *mut c_void, error: *const stria_error)>, state: *mut c_void) -> *mut stria_error>,
        pub signal: Option<unsafe extern "C" fn(event: *mut stria_event, error: *const stria_error) -> *mut stria_error>,
        pub release: Option<unsafe extern "C" fn(event: *mut stria_event)>,
        pub end: Option<unsafe extern "C" fn(event: *mut stria_event, end: *mut *mut stria_event) -> *mut stria_error>,
    }
    pub struct stria_version_range {
        pub size: u64,
        pub next: *const c_void,
        pub major: u32,
        pub minor_min: u32,
        pub minor_max: u32,
    }
    pub struct stria_host_info {
        pub size: u64,
        pub next: *const c_void,
        pub abi: *const stria_version_range,
        pub stripe: *const stria_version_range,
        pub sanitizer: stria_sanitizer,
        pub debug: u8,
        pub page_size: u64,
        pub build: stria_string,
    }
    pub struct stria_plugin_info {
        pub size: u64,
        pub next: *const c_void,
        pub abi: *const stria_version_range,
        pub stripe: *const stria_version_range,
        pub abi_minor: u32,
        pub stripe_minor: u32,
        pub sanitizer: stria_sanitizer,
        pub debug: u8,
        pub page_size: u64,
        pub id: stria_string,
        pub version: stria_string,
        pub build: stria_string,
        pub driver: *const stria_driver_table,
        pub device: *const stria_device_table,
        pub compiler: *const stria_compiler_table,
        pub library: *const stria_library_table,
        pub kernel: *const stria_kernel_table,
        pub executor: *const stria_executor_table,
        pub buffer: *const stria_buffer_table,
        pub event: *const stria_event_table,
        pub get_extension: Option<unsafe extern "C" fn(name: stria_string, version: u32) -> *const c_void>,
    }
}
