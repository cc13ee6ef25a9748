// SPDX-License-Identifier: Apache-2.0
//! The reader of device Stripe (stria/reader.h): objects that release what they own.

use std::os::raw::c_void;

use super::reader_abi::*;
use crate::abi::*;
use crate::error::*;
use crate::host::KernelInfo;

pub struct ReaderProgram(*mut stria_reader_program);

impl ReaderProgram {
    pub fn new(stripe: &str) -> Result<ReaderProgram> {
        let mut program = std::ptr::null_mut();
        unsafe { check(stria_reader_read(to_c("device program"), to_c(stripe), &mut program))? };
        Ok(ReaderProgram(program))
    }

    pub fn kernels(&self) -> Vec<KernelInfo> {
        unsafe {
            let view = &*stria_reader_view(self.0);
            let blocks = (0..view.kernel_count as usize).map(|i| &**view.kernels.add(i));
            blocks.map(|block| super::info_of(block)).collect()
        }
    }
}

/// A block of a program, which outlives it.
pub struct Block<'a>(&'a stria_block);

impl Block<'_> {
    /// Those that are statements of this one.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        let statement = |i| unsafe { (**self.0.statements.add(i)).block.as_ref() };
        (0..self.0.statement_count as usize).filter_map(statement).map(Block).collect()
    }
    /// How many points each index has.
    pub fn ranges(&self) -> Vec<i64> {
        let range = |i| unsafe { (**self.0.indices.add(i)).range };
        (0..self.0.index_count as usize).map(range).collect()
    }
    pub fn has_location(&self) -> bool {
        self.0.location_count > 0
    }
    pub fn has_tag(&self, name: &str) -> bool {
        let is = |i| unsafe { from_c((**self.0.tags.add(i)).name) == name };
        (0..self.0.tag_count as usize).any(is)
    }
}

/// For passes of the plugin's own. Changes show in the text alone.
impl ReaderProgram {
    /// The blocks of the kernels.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        unsafe {
            let view = &*stria_reader_view(self.0);
            let block = |i| Block(&*(**view.kernels.add(i)).block);
            (0..view.kernel_count as usize).map(block).collect()
        }
    }

    pub fn set_tag(&self, block: &Block, name: &str, value: i64) -> Result<()> {
        let kind = STRIA_VALUE_INTEGER;
        let tag = stria_tag { name: to_c(name), kind, integer: value, ..empty() };
        unsafe { check(stria_reader_set_tag(self.0, block.0, &tag)) }
    }

    pub fn text(&self) -> Result<String> {
        let mut out = String::new();
        let state = &mut out as *mut String as *mut c_void;
        unsafe { check(stria_reader_program_text(self.0, Some(append), state))? };
        Ok(out)
    }
}

unsafe extern "C" fn append(state: *mut c_void, _: stria_string, text: stria_string) {
    *(state as *mut String) += &from_c(text);
}

impl Drop for ReaderProgram {
    fn drop(&mut self) {
        unsafe { stria_reader_release(self.0) }
    }
}

struct Tree(*mut stria_reader_tree);
impl Drop for Tree {
    fn drop(&mut self) {
        unsafe { stria_reader_tree_release(self.0) }
    }
}

/// Any number of kernels as C.
pub struct CSource(*mut stria_c_source);

impl CSource {
    pub fn new() -> Result<CSource> {
        let mut source = std::ptr::null_mut();
        unsafe { check(stria_reader_c_create(&mut source))? };
        Ok(CSource(source))
    }

    /// Adds a kernel: its symbol in the text, and how many points of it may run at once.
    pub fn add(&self, program: &ReaderProgram, kernel: u64, peepholes: bool) -> Result<(String, u64)> {
        let options = stria_tree_options { no_peepholes: u8::from(!peepholes), ..empty() };
        let mut tree = Tree(std::ptr::null_mut());
        unsafe {
            check(stria_reader_build(program.0, kernel, &options, &mut tree.0))?;
            check(stria_reader_c_add(self.0, tree.0))?;
            let view = &*stria_reader_tree_view(tree.0);
            Ok((from_c(view.symbol).into_owned(), view.trip_count))
        }
    }

    pub fn text(&self) -> Result<String> {
        let mut out = String::new();
        let state = &mut out as *mut String as *mut c_void;
        unsafe { check(stria_reader_c_text(self.0, Some(append), state))? };
        Ok(out)
    }
}

impl Drop for CSource {
    fn drop(&mut self) {
        unsafe { stria_reader_c_release(self.0) }
    }
}
