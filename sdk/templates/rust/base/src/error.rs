// SPDX-License-Identifier: Apache-2.0
//! Failures, and the body of every slot.

use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe, Location};
use std::sync::Arc;

use crate::abi::*;

/// What went wrong: one sentence that names the thing, the value and the limit.
#[derive(Debug)]
pub struct Error {
    pub code: stria_code,
    pub message: String,
    pub native_code: i64,
    pub native_message: String,
    pub place: String, // "file:line"
    pub suggestion: String,
    pub cause: Option<Failure>,
}

/// Of a failure that the host gives, so many causes behind one another are kept, as the host does.
const MOST_CAUSES: usize = 8;

/// Shared, because one failure travels to many dependants.
pub type Failure = Arc<Error>;
pub type Result<T> = std::result::Result<T, Failure>;

/// Its place is where this is called.
#[track_caller]
pub fn failure(code: stria_code, message: impl Into<String>) -> Failure {
    Arc::new(error_at(Location::caller(), code, message.into()))
}

/// With what to do about it.
#[track_caller]
#[allow(dead_code)]
pub fn failure_with_suggestion(code: stria_code, message: impl Into<String>, suggestion: &str) -> Failure {
    let error = error_at(Location::caller(), code, message.into());
    Arc::new(Error { suggestion: suggestion.to_string(), ..error })
}

/// With the driver's own number, and its text.
#[track_caller]
#[allow(dead_code)]
pub fn native_failure(code: stria_code, message: impl Into<String>, native_code: i64, native_message: &str) -> Failure {
    let error = error_at(Location::caller(), code, message.into());
    Arc::new(Error { native_code, native_message: native_message.to_string(), ..error })
}

fn error_at(place: &Location, code: stria_code, message: String) -> Error {
    // Without the folder, which is the builder's own.
    let file = place.file().rsplit('/').next().unwrap_or("");
    Error {
        code,
        message,
        native_code: 0,
        native_message: String::new(),
        place: format!("{file}:{}", place.line()),
        suggestion: String::new(),
        cause: None,
    }
}

/// Bytes that are all zero, or STRIA_OUT_OF_MEMORY: what the host asks for may be too much.
#[track_caller]
#[allow(dead_code)]
pub fn zeros<T: Clone + Default>(count: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    if out.try_reserve_exact(count).is_err() {
        let bytes = count.saturating_mul(std::mem::size_of::<T>());
        return Err(failure(STRIA_OUT_OF_MEMORY, format!("no host memory for {bytes} bytes")));
    }
    out.resize(count, T::default());
    Ok(out)
}

// ---- texts

pub fn to_c(text: &str) -> stria_string {
    stria_string { data: text.as_ptr() as *const c_char, size: text.len() as u64 }
}

/// # Safety
/// `text` is one of the host's, which is valid during a call.
pub unsafe fn from_c<'a>(text: stria_string) -> std::borrow::Cow<'a, str> {
    if text.data.is_null() {
        return "".into();
    }
    String::from_utf8_lossy(std::slice::from_raw_parts(text.data as *const u8, text.size as usize))
}

/// A struct of the host's as abi.rs knows it: what a shorter one does not have is zero.
/// # Safety
/// `from` points to a struct that begins with its size, and T may be all zero.
pub unsafe fn whole<T: Copy>(from: *const T) -> T {
    let mut out = std::mem::MaybeUninit::<T>::zeroed();
    let bytes = (*(from as *const u64) as usize).min(std::mem::size_of::<T>());
    std::ptr::copy_nonoverlapping(from as *const u8, out.as_mut_ptr() as *mut u8, bytes);
    out.assume_init()
}

/// An empty struct, with its size.
pub fn empty<T: Copy>() -> T {
    // Every struct of the boundary may be all zero, and begins with its size.
    unsafe {
        let mut out = std::mem::MaybeUninit::<T>::zeroed();
        *(out.as_mut_ptr() as *mut u64) = std::mem::size_of::<T>() as u64;
        out.assume_init()
    }
}

// ---- errors that cross the boundary

/// A failure as C sees it, with its causes. Nothing in it moves while it lives.
#[repr(C)]
pub struct SharedError {
    error: stria_error, // the first member: one is the address of the other
    failure: Failure,
    cause: Option<Box<SharedError>>,
}

unsafe extern "C" fn release(error: *mut stria_error) {
    drop(Box::from_raw(error as *mut SharedError));
}

impl SharedError {
    pub fn new(failure: Failure) -> Box<SharedError> {
        let cause = failure.cause.clone().map(SharedError::new);
        let error = stria_error {
            code: failure.code,
            native_code: failure.native_code,
            message: to_c(&failure.message),
            native_message: to_c(&failure.native_message),
            place: to_c(&failure.place),
            suggestion: to_c(&failure.suggestion),
            cause: cause.as_ref().map_or(std::ptr::null(), |cause| &cause.error as *const _),
            release: Some(release),
            ..empty()
        };
        Box::new(SharedError { error, failure, cause })
    }

    pub fn view(&self) -> *const stria_error {
        &self.error
    }
}

/// For the host, which releases it.
pub fn give(failure: Failure) -> *mut stria_error {
    Box::into_raw(SharedError::new(failure)) as *mut stria_error
}

/// A copy of an error of the host's, with its causes; None for null.
/// # Safety
/// `error` is null or valid.
pub unsafe fn copy_of(error: *const stria_error) -> Option<Failure> {
    copy_with_causes(error, MOST_CAUSES)
}

unsafe fn copy_with_causes(error: *const stria_error, most_causes: usize) -> Option<Failure> {
    if error.is_null() {
        return None;
    }
    let given = whole(error);
    let cause = match most_causes {
        0 => None,
        more => copy_with_causes(given.cause, more - 1),
    };
    Some(Arc::new(Error {
        code: given.code,
        message: from_c(given.message).into_owned(),
        native_code: given.native_code,
        native_message: from_c(given.native_message).into_owned(),
        place: from_c(given.place).into_owned(),
        suggestion: from_c(given.suggestion).into_owned(),
        cause,
    }))
}

/// What a call of the host's or of the reader's returned.
/// # Safety
/// `error` is null or the caller's to release.
pub unsafe fn check(error: *mut stria_error) -> Result<()> {
    match copy_of(error) {
        None => Ok(()),
        Some(failure) => {
            if let Some(release) = (*error).release {
                release(error);
            }
            Err(failure)
        }
    }
}

/// The outcome of `body`; a panic is a failure.
pub fn outcome_of(body: impl FnOnce() -> Result<()>) -> Result<()> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(outcome) => outcome,
        Err(panic) => {
            let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
                (Some(text), _) => (*text).to_string(),
                (_, Some(text)) => text.clone(),
                _ => "without a message".to_string(),
            };
            Err(failure(STRIA_INTERNAL, format!("the plugin has panicked: {text}")))
        }
    }
}

/// The body of a slot: nothing that panics gets across.
pub fn slot(body: impl FnOnce() -> Result<()>) -> *mut stria_error {
    match outcome_of(body) {
        Ok(()) => std::ptr::null_mut(),
        Err(failure) => give(failure),
    }
}
