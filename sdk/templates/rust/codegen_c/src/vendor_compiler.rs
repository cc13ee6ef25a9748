// SPDX-License-Identifier: Apache-2.0
//! Every call for compiling and starting kernels. As it is, kernels are C, the system's `cc`
//! compiles them, and they run in this process. Replace the bodies by calls of your compiler and
//! your driver.

use std::ffi::{c_void, CStr, CString};
use std::io::Read;
use std::os::raw::{c_char, c_int};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use super::reader_abi::{stria_c_kernel, STRIA_C_FLAGS};
use crate::abi::*;
use crate::error::*;

#[link(name = "dl")]
extern "C" {
    fn dlopen(path: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(handle: *mut c_void) -> c_int;
    fn dlerror() -> *const c_char;
}
#[link(name = "m")]
extern "C" {
    fn fegetenv(environment: *mut FloatEnvironment) -> c_int;
    fn fesetenv(environment: *const FloatEnvironment) -> c_int;
}
const RTLD_NOW: c_int = 2;
const ECHILD: i32 = 10; // of errno.h: there is no such child

// As large as fenv_t is anywhere, and as the default environment is named.
#[repr(C, align(16))]
struct FloatEnvironment([u8; 64]);
const DEFAULT_ENVIRONMENT: *const FloatEnvironment = usize::MAX as *const FloatEnvironment;

const OPTIONS: [&str; 3] = ["-O2", "-fPIC", "-shared"];

// ---- compiling

fn compiler() -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let found = std::env::split_paths(&folders).map(|folder| folder.join("cc"));
    let mut usable = found.filter(|path| path.is_absolute() && path.is_file());
    let text = "there is no C compiler: no folder of PATH has cc";
    let advice = "install one (Debian: package gcc)";
    usable.next().ok_or_else(|| failure_with_suggestion(STRIA_UNAVAILABLE, text, advice))
}

/// The compiler's path and whatever else decides what it makes of a text: part of the key of what
/// is kept.
pub fn identity() -> Result<String> {
    let path = compiler()?;
    let file = std::fs::metadata(&path).map_err(|error| {
        failure(STRIA_UNAVAILABLE, format!("cannot look at {}: {error}", path.display()))
    })?;
    let time = file.modified().ok();
    let (path, bytes, options) = (path.display(), file.len(), OPTIONS.join(" "));
    Ok(format!("{path}, {bytes} bytes of {time:?}, {options} {STRIA_C_FLAGS}"))
}

// A folder of its own for a few files, which goes with it, unless it is kept.
struct WorkFolder(PathBuf);
impl WorkFolder {
    fn new() -> Result<WorkFolder> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("acme_{process}_{number}"));
            use std::os::unix::fs::DirBuilderExt;
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(WorkFolder(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(file_failure("make", &path, &error)),
            }
        }
    }
    // Stays, for people.
    fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}
impl Drop for WorkFolder {
    fn drop(&mut self) {
        if self.0.as_os_str().is_empty() {
            return; // it is kept
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn file_failure(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot {what} {}: {error}", path.display());
    let (number, text) = (error.raw_os_error().unwrap_or(0), error.to_string());
    native_failure(STRIA_UNAVAILABLE, message, i64::from(number), &text)
}

// What a message has of what the compiler said: from the line of its first error on, for warnings
// may stand before it.
const SAID_CHARACTERS: usize = 6000;
fn first_errors(said: &str) -> String {
    let error = said.find("error: ").unwrap_or(0);
    let line = said[..error].rfind('\n').map_or(0, |end| end + 1);
    let mut out: String = said[line..].chars().take(SAID_CHARACTERS).collect();
    if said[line..].len() > out.len() {
        out.push_str("\n…");
    }
    out
}

/// From the text of kernels to code as bytes. If the compiler refuses the text, the folder with the
/// text and what the compiler said stays; the message says where, and begins with the first error.
pub fn compile(text: &str) -> Result<Vec<u8>> {
    let path = compiler()?;
    let folder = WorkFolder::new()?;
    let (source, object) = (folder.0.join("kernels.c"), folder.0.join("kernels.so"));
    std::fs::write(&source, text).map_err(|error| file_failure("write", &source, &error))?;
    let mut command = Command::new(&path);
    command.args(OPTIONS).args(STRIA_C_FLAGS.split(' ')).arg("-o").arg(&object).arg(&source);
    command.arg("-lm").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| file_failure("start", &path, &error))?;
    let mut said = Vec::new();
    if let Some(mut from) = child.stderr.take() {
        from.read_to_end(&mut said).map_err(|error| file_failure("read from", &path, &error))?;
    }
    let (well, status) = match child.wait() {
        Ok(status) => (status.success(), status.to_string()),
        // An application that ignores SIGCHLD, or waits for any child, leaves no status. A compiler
        // that fails leaves no output.
        Err(error) if error.raw_os_error() == Some(ECHILD) => {
            let made = std::fs::metadata(&object).map_or(false, |file| file.len() > 0);
            (made, "its status is not known".to_string())
        }
        Err(error) => return Err(file_failure("wait for", &path, &error)),
    };
    if !well {
        let _ = std::fs::write(folder.0.join("said"), &said);
        let text = format!(
            "{} did not compile the kernels ({status}); kernels.c, and all that it said, are kept \
             in {}\n{}",
            path.display(),
            folder.keep().display(),
            first_errors(&String::from_utf8_lossy(&said))
        );
        return Err(failure(STRIA_UNAVAILABLE, text));
    }
    std::fs::read(&object).map_err(|error| file_failure("read", &object, &error))
}

// ---- code in this process

/// Loaded code; the kernels in it live as long.
pub struct Code {
    handle: *mut c_void,
}
unsafe impl Send for Code {}
unsafe impl Sync for Code {}

impl Code {
    pub fn load(bytes: &[u8]) -> Result<Code> {
        // The loader wants a file, and takes one of a name that it has loaded for the same: so each
        // has a name of its own, for as long as it takes to load.
        let folder = WorkFolder::new()?;
        let path = folder.0.join("kernels.so");
        std::fs::write(&path, bytes).map_err(|error| file_failure("write", &path, &error))?;
        let name = CString::new(path.to_string_lossy().as_bytes()).expect("a path has no zero");
        let handle = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
        if handle.is_null() {
            let why = unsafe { CStr::from_ptr(dlerror()) }.to_string_lossy().into_owned();
            return Err(failure(STRIA_INTERNAL, format!("cannot load the kernels: {why}")));
        }
        Ok(Code { handle })
    }

    /// A kernel by its name in the text.
    pub fn kernel(&self, symbol: &str) -> Result<stria_c_kernel> {
        let name = CString::new(symbol).expect("a symbol has no zero");
        let found = unsafe { dlsym(self.handle, name.as_ptr()) };
        if found.is_null() {
            let text = format!("the compiled kernels lack '{symbol}'");
            return Err(failure(STRIA_INTERNAL, text));
        }
        // The text has a function of this type under this name.
        Ok(unsafe { std::mem::transmute::<*mut c_void, stria_c_kernel>(found) })
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        unsafe { dlclose(self.handle) };
    }
}

/// Runs the parallel points first to end - 1 of a kernel, on the calling thread, in the usual
/// floating-point environment (an application may have set another rounding), and returns when they
/// are done.
pub fn launch(kernel: stria_c_kernel, arguments: &[*mut c_void], first: u64, end: u64) -> Result<()> {
    let mut before = FloatEnvironment([0; 64]);
    unsafe {
        fegetenv(&mut before);
        fesetenv(DEFAULT_ENVIRONMENT);
        kernel(arguments.as_ptr(), first as i64, end as i64);
        fesetenv(&before);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" {
        fn signal(number: c_int, handler: usize) -> usize;
    }
    const SIGCHLD: c_int = 17;
    const SIG_IGN: usize = 1;

    fn try_to_compile() {
        // The warning comes first in the text, and behind the error in the message.
        let wrong = "#warning \"of no interest\"\nint broken(void) { return nothing; }\n";
        let why = compile(wrong).unwrap_err();
        assert_eq!(why.code, STRIA_UNAVAILABLE);
        assert!(why.message.contains("did not compile the kernels"), "{}", why.message);
        assert!(why.message.contains("nothing"), "{}", why.message);
        assert!(!why.message.contains("of no interest"), "{}", why.message);
        let kept = why.message.lines().next().unwrap().split(" are kept in ").nth(1).unwrap();
        assert_eq!(std::fs::read_to_string(Path::new(kept).join("kernels.c")).unwrap(), wrong);
        std::fs::remove_dir_all(kept).unwrap();
        let right = "#include <stdint.h>\n\
            void fill(void* const* arguments, int64_t first, int64_t end) {\n\
            for (int64_t i = first; i < end; ++i) ((int*)arguments[0])[i] = (int)i;\n}\n";
        let code = Code::load(&compile(right).unwrap()).unwrap();
        assert!(code.kernel("nobody").is_err());
        let mut values = [9i32; 4];
        let arguments = [values.as_mut_ptr() as *mut c_void];
        launch(code.kernel("fill").unwrap(), &arguments, 1, 3).unwrap();
        assert_eq!(values, [9, 1, 2, 9]);
    }

    // Also in an application that ignores SIGCHLD: then nobody gets the status of the compiler's
    // process.
    #[test]
    fn kernels_are_compiled_and_run() {
        let _held = crate::layout_test::PROCESSES.lock();
        try_to_compile();
        let before = unsafe { signal(SIGCHLD, SIG_IGN) };
        let outcome = std::panic::catch_unwind(try_to_compile);
        unsafe { signal(SIGCHLD, before) };
        outcome.unwrap();
    }
}
