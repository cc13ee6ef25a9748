// SPDX-License-Identifier: Apache-2.0
//! A kernel that is ready to be launched, by code of the plugin's own or by the host's interpreter.

use std::os::raw::c_void;
use std::sync::Arc;

use crate::abi::*;
use crate::error::*;
use crate::executor::Argument;
use crate::host::{HostKernel, KernelInfo};
use crate::program::Program;

pub struct Kernel {
    program: Arc<Program>,
    index: usize,
    interpreted: Option<HostKernel>,
}

impl Kernel {
    pub fn new(program: Arc<Program>, index: u64) -> Result<Kernel> {
        let count = program.kernels().len();
        if index >= count as u64 {
            let text = format!("kernel {index} of a library with {count}");
            return Err(failure(STRIA_INVALID_ARGUMENT, text));
        }
        let index = index as usize;
        let interpreted = if program.kernels()[index].interpreted.is_empty() {
            None
        } else {
            Some(program.interpret(index)?)
        };
        Ok(Kernel { program, index, interpreted })
    }

    pub fn info(&self) -> &KernelInfo {
        &self.program.kernels()[self.index]
    }

    /// Runs to its end, with arguments that have been checked. Called by the queue.
    pub fn launch(&self, arguments: &[Argument]) -> Result<()> {
        match &self.interpreted {
            Some(kernel) => self.interpret(kernel, arguments),
            None => self.program.launch(self.index, arguments),
        }
    }

    // The host's interpreter works on the host's memory: it gets copies of what the device has.
    fn interpret(&self, kernel: &HostKernel, arguments: &[Argument]) -> Result<()> {
        let infos = &self.info().arguments;
        let mut copies: Vec<Vec<u128>> = Vec::new(); // aligned as every element type asks for
        let mut memory: Vec<stria_memory> = Vec::new();
        for (argument, info) in arguments.iter().zip(infos.iter()) {
            let device = argument.buffer.memory();
            let data = match device.host_address() {
                Some(address) => unsafe { address.add(argument.offset as usize) },
                None => {
                    let mut copy = zeros::<u128>(info.bytes as usize / 16 + 1)?;
                    let data = copy.as_mut_ptr() as *mut u8;
                    // What is not written keeps its value, so results are read as well.
                    unsafe { device.read(argument.offset, data, info.bytes)? };
                    copies.push(copy);
                    data
                }
            };
            memory.push(stria_memory { data: data as *mut c_void, size: info.bytes });
        }
        kernel.run(&memory)?;
        if copies.is_empty() {
            return Ok(());
        }
        for ((argument, info), memory) in arguments.iter().zip(infos.iter()).zip(&memory) {
            if info.direction != STRIA_IN {
                let from = memory.data as *const u8;
                unsafe { argument.buffer.memory().write(argument.offset, from, info.bytes)? };
            }
        }
        Ok(())
    }
}
