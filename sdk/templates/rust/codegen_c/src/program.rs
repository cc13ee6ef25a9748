// SPDX-License-Identifier: Apache-2.0
//! From device Stripe to kernels: C of every kernel that C can say; the host interprets the others.
//! The calls of the compiler and of the device are in vendor_compiler.rs.

use std::os::raw::c_void;
use std::sync::Mutex;

use crate::abi::*;
use crate::error::*;
use crate::executor::Argument;
use crate::host::{ArgumentInfo, Host, HostKernel, HostProgram, KernelInfo};

#[path = "reader.rs"]
pub mod reader;
#[path = "reader_abi.rs"]
pub mod reader_abi;
#[path = "vendor_compiler.rs"]
mod vendor_compiler;

use reader::{CSource, ReaderProgram};
use vendor_compiler::Code;

struct CompiledKernel {
    code: reader_abi::stria_c_kernel,
    points: u64, // that may run at once
}

/// A compiled program. Immutable.
pub struct Program {
    host: Host,
    kernels: Vec<KernelInfo>, // `interpreted` says why one has no code
    compiled: Vec<Option<CompiledKernel>>,
    text: String,
    _code: Option<Code>, // of the compiled kernels
    interpreted: Option<HostProgram>,
}

// Addresses that several threads give to kernels.
struct Addresses(Vec<*mut c_void>);
unsafe impl Sync for Addresses {}

impl Program {
    /// The whole program's device Stripe, as the pipeline in passes/npu.json makes it. Takes its
    /// time.
    pub fn build(host: &Host, stripe: &str, options: &str) -> Result<Program> {
        let peepholes = !options.replace(' ', "").contains("\"no_peepholes\":true");
        let read = ReaderProgram::new(stripe)?;
        let source = CSource::new()?;
        let mut kernels: Vec<KernelInfo> = Vec::new();
        let mut symbols: Vec<Option<(String, u64)>> = Vec::new(); // with the points
        for (index, mut info) in read.kernels().into_iter().enumerate() {
            match source.add(&read, index as u64, peepholes) {
                Ok(symbol) => symbols.push(Some(symbol)),
                Err(why) if why.code == STRIA_UNSUPPORTED || why.code == STRIA_OUT_OF_RANGE => {
                    // C cannot say it: `stria run --profile` shows why.
                    info.interpreted = why.message.clone();
                    let (name, why) = (&info.name, &why.message);
                    let line = format!("acme: kernel '{name}' is interpreted: {why}");
                    host.log(STRIA_LOG_WARNING, &line);
                    symbols.push(None);
                }
                Err(why) => return Err(why),
            }
            kernels.push(info);
        }
        let (mut text, mut code) = (String::new(), None);
        if symbols.iter().any(Option::is_some) {
            text = source.text()?;
            code = Some(Code::load(&Program::code_of(host, &text)?)?);
        }
        let mut compiled = Vec::new();
        for symbol in &symbols {
            compiled.push(match (symbol, &code) {
                (Some((name, points)), Some(code)) => {
                    Some(CompiledKernel { code: code.kernel(name)?, points: *points })
                }
                _ => None,
            });
        }
        let interpreted = if compiled.iter().any(Option::is_none) {
            Some(HostProgram::new(host, stripe)?)
        } else {
            None
        };
        Ok(Program { host: *host, kernels, compiled, text, _code: code, interpreted })
    }

    // The compiled text, from the host's cache where it has it.
    fn code_of(host: &Host, text: &str) -> Result<Vec<u8>> {
        let key = format!("acme, {}\n{text}", vendor_compiler::identity()?);
        if let Some(kept) = host.cache_get(&key) {
            return Ok(kept);
        }
        let code = vendor_compiler::compile(text)?;
        host.cache_put(&key, &code);
        Ok(code)
    }

    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// What was generated, for people: names and texts.
    pub fn source(&self) -> Vec<(&str, &str)> {
        vec![("kernels.c", &self.text)]
    }

    /// Runs a kernel that has code, to its end.
    pub fn launch(&self, index: usize, arguments: &[Argument]) -> Result<()> {
        let kernel = self.compiled[index].as_ref().ok_or_else(|| {
            failure(STRIA_INTERNAL, format!("kernel {index} has no code"))
        })?;
        let address_of = |argument: &Argument| {
            argument.buffer.memory().address().wrapping_add(argument.offset as usize) as *mut c_void
        };
        let addresses = Addresses(arguments.iter().map(address_of).collect());
        let addresses = &addresses;
        let failed: Mutex<Option<Failure>> = Mutex::new(None); // of the first piece that has failed
        self.host.parallel_for(kernel.points, &|first, end| {
            if let Err(why) = vendor_compiler::launch(kernel.code, &addresses.0, first, end) {
                failed.lock().unwrap().get_or_insert(why);
            }
        });
        match failed.into_inner().unwrap() {
            Some(why) => Err(why),
            None => Ok(()),
        }
    }

    /// A kernel for the host's interpreter.
    pub fn interpret(&self, index: usize) -> Result<HostKernel> {
        match &self.interpreted {
            Some(program) => program.prepare(index as u64),
            None => Err(failure(STRIA_INTERNAL, format!("kernel {index} is not interpreted"))),
        }
    }
}

// What the host wants to know of a kernel.
unsafe fn info_of(block: &reader_abi::stria_kernel_block) -> KernelInfo {
    let arguments = (0..block.argument_count as usize).map(|i| {
        let argument = &**block.arguments.add(i);
        ArgumentInfo {
            name: from_c(argument.name).into_owned(),
            direction: argument.direction,
            bytes: argument.bytes,
        }
    });
    KernelInfo {
        name: from_c(block.name).into_owned(),
        part: block.part,
        statement: block.statement,
        arguments: arguments.collect(),
        interpreted: String::new(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn structs_of_the_reader_are_those_of_the_header() {
        let program = super::reader_abi::layout_program_in_c("stria/reader.h");
        let header = crate::layout_test::output_of("acme_reader", &program);
        assert_eq!(header, super::reader_abi::layout_of_rust());
    }

    #[test]
    fn constants_of_the_reader_are_those_of_the_header() {
        use super::reader_abi::*;
        let numbers = [("STRIA_VALUE_INTEGER", i64::from(STRIA_VALUE_INTEGER))];
        let texts = [("STRIA_C_FLAGS", STRIA_C_FLAGS)];
        crate::layout_test::compare_constants("acme_flags", "stria/reader.h", &numbers, &texts);
    }
}
