// SPDX-License-Identifier: Apache-2.0
//! From device Stripe to kernels. As it is, no code is generated: the host's interpreter runs all
//! kernels.

use crate::abi::STRIA_INTERNAL;
use crate::error::*;
use crate::executor::Argument;
use crate::host::{Host, HostKernel, HostProgram, KernelInfo};

/// A compiled program. Immutable.
pub struct Program {
    interpreted: HostProgram,
    kernels: Vec<KernelInfo>,
}

impl Program {
    /// The whole program's device Stripe, as the pipeline in passes/npu.json makes it. Takes its
    /// time.
    pub fn build(host: &Host, stripe: &str, _options: &str) -> Result<Program> {
        let interpreted = HostProgram::new(host, stripe)?;
        let mut kernels = interpreted.kernels()?;
        for kernel in &mut kernels {
            kernel.interpreted = "acme generates no code yet".to_string(); // for --profile
        }
        Ok(Program { interpreted, kernels })
    }

    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// What was generated, for people: names and texts.
    pub fn source(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    /// Runs a kernel that has code, to its end.
    pub fn launch(&self, index: usize, _: &[Argument]) -> Result<()> {
        Err(failure(STRIA_INTERNAL, format!("kernel {index} has no code")))
    }

    /// A kernel for the host's interpreter.
    pub fn interpret(&self, index: usize) -> Result<HostKernel> {
        self.interpreted.prepare(index as u64)
    }
}
