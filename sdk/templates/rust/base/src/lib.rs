// SPDX-License-Identifier: Apache-2.0
//! The plugin: one symbol, versions and tables. The device's calls are in vendor_*.rs, and what is
//! missing there in memory.rs, queue.rs and program.rs.

mod abi;
mod buffer;
mod driver;
mod error;
mod event;
mod executor;
mod host;
mod kernel;
mod memory;
mod passes;
mod program;
mod queue;
mod slots;
#[cfg(test)]
mod layout_test;

use abi::*;
use error::*;

struct Versions {
    abi: stria_version_range,
    stripe: stria_version_range,
}
unsafe impl Sync for Versions {} // nothing in it changes

const fn range(major: u32, minor_min: u32, minor_max: u32) -> stria_version_range {
    let size = std::mem::size_of::<stria_version_range>() as u64;
    stria_version_range { size, next: std::ptr::null(), major, minor_min, minor_max }
}
static VERSIONS: Versions = Versions {
    abi: range(STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR, STRIA_ABI_MINOR),
    stripe: range(STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR),
};

// The highest common minor; a refusal names both ranges.
unsafe fn agree(what: &str, host: *const stria_version_range, own: &stria_version_range) -> Result<u32> {
    let text = |range: &stria_version_range| {
        format!("{0}.{1} to {0}.{2}", range.major, range.minor_min, range.minor_max)
    };
    if host.is_null() {
        return Err(failure(STRIA_INCOMPATIBLE, "the host does not say which versions it speaks"));
    }
    let host = whole(host);
    if host.major == own.major && host.minor_min <= own.minor_max && own.minor_min <= host.minor_max {
        return Ok(host.minor_max.min(own.minor_max));
    }
    let (host, own) = (text(&host), text(own));
    let message = format!("{what} versions do not meet: the host has {host}, the plugin {own}");
    Err(failure(STRIA_INCOMPATIBLE, message))
}

/// # Safety
/// Called by the host, by the rules of stria/plugin.h.
#[no_mangle]
pub unsafe extern "C" fn stria_plugin_query(host: *const stria_host_info, plugin: *mut stria_plugin_info) -> *mut stria_error {
    let tables = &slots::TABLES;
    let mut out = stria_plugin_info {
        next: (*plugin).next,
        abi: &VERSIONS.abi,
        stripe: &VERSIONS.stripe,
        debug: u8::from(cfg!(debug_assertions)),
        id: to_c("acme"), // that of plugin.json, and so is the version
        version: to_c("0.1.0"),
        build: to_c("rustc"),
        driver: &tables.driver,
        device: &tables.device,
        compiler: &tables.compiler,
        library: &tables.library,
        kernel: &tables.kernel,
        executor: &tables.executor,
        buffer: &tables.buffer,
        event: &tables.event,
        ..empty()
    };
    out.size = out.size.min((*plugin).size);
    let outcome = slot(|| {
        let given = whole(host);
        out.abi_minor = agree("ABI", given.abi, &VERSIONS.abi)?;
        out.stripe_minor = agree("Stripe text", given.stripe, &VERSIONS.stripe)?;
        Ok(())
    });
    let from = &out as *const stria_plugin_info as *const u8;
    std::ptr::copy_nonoverlapping(from, plugin as *mut u8, out.size as usize);
    outcome
}
