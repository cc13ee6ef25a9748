// SPDX-License-Identifier: Apache-2.0
//! As much of stria/reader.h as the generator of C needs. `cargo test` compares it with the header.
#![allow(non_camel_case_types)]

use std::os::raw::c_void;

use crate::abi::*;

pub type stria_data_type = i32;
pub type stria_statement_kind = i32;
pub type stria_value_kind = i32;
pub type stria_tag_class = i32;
pub const STRIA_VALUE_INTEGER: i32 = 2;
#[repr(C)]
pub struct stria_reader_program {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_reader_tree {
    _private: [u8; 0],
}
#[repr(C)]
pub struct stria_c_source {
    _private: [u8; 0],
}
/// Runs the parallel points first to end - 1 of a kernel.
pub type stria_c_kernel = unsafe extern "C" fn(arguments: *const *mut c_void, first: i64, end: i64);
/// What the C is compiled with.
pub const STRIA_C_FLAGS: &str = "-std=c11 -fno-math-errno -fno-trapping-math";

extern "C" {
    pub fn stria_reader_read(name: stria_string, text: stria_string, program: *mut *mut stria_reader_program) -> *mut stria_error;
    pub fn stria_reader_view(program: *const stria_reader_program) -> *const stria_program_view;
    pub fn stria_reader_release(program: *mut stria_reader_program);
    pub fn stria_reader_set_tag(program: *mut stria_reader_program, block: *const stria_block, tag: *const stria_tag) -> *mut stria_error;
    pub fn stria_reader_program_text(program: *const stria_reader_program, sink: stria_text_sink, state: *mut c_void) -> *mut stria_error;
    pub fn stria_reader_build(program: *const stria_reader_program, kernel: u64, options: *const stria_tree_options, tree: *mut *mut stria_reader_tree) -> *mut stria_error;
    pub fn stria_reader_tree_view(tree: *const stria_reader_tree) -> *const stria_tree_view;
    pub fn stria_reader_tree_release(tree: *mut stria_reader_tree);
    pub fn stria_reader_c_create(source: *mut *mut stria_c_source) -> *mut stria_error;
    pub fn stria_reader_c_add(source: *mut stria_c_source, tree: *const stria_reader_tree) -> *mut stria_error;
    pub fn stria_reader_c_text(source: *const stria_c_source, sink: stria_text_sink, state: *mut c_void) -> *mut stria_error;
    pub fn stria_reader_c_release(source: *mut stria_c_source);
}

abi_structs! {
    pub struct stria_tag {
        pub size: u64,
        pub next: *const c_void,
        pub name: stria_string,
        pub kind: stria_value_kind,
        pub meaning_class: stria_tag_class,
        pub integer: i64,
        pub number: f64,
        pub text: stria_string,
        pub meaning: stria_string,
    }
    pub struct stria_index {
        pub size: u64,
        pub next: *const c_void,
        pub name: stria_string,
        pub range: i64,
        pub from: *const c_void,
        pub tags: *const *const stria_tag,
        pub tag_count: u64,
    }
    pub struct stria_statement {
        pub size: u64,
        pub next: *const c_void,
        pub kind: stria_statement_kind,
        pub r#type: stria_data_type,
        pub name: stria_string,
        pub inputs: *const stria_string,
        pub input_count: u64,
        pub outputs: *const stria_string,
        pub output_count: u64,
        pub chosen: *const stria_string,
        pub chosen_count: u64,
        pub affine: *const c_void,
        pub integer: i64,
        pub number: f64,
        pub parameters: *const *const stria_tag,
        pub parameter_count: u64,
        pub block: *const stria_block,
        pub dependencies: *const u64,
        pub dependency_count: u64,
        pub tags: *const *const stria_tag,
        pub tag_count: u64,
    }
    pub struct stria_block {
        pub size: u64,
        pub next: *const c_void,
        pub name: stria_string,
        pub location: *const *const c_void,
        pub location_count: u64,
        pub tags: *const *const stria_tag,
        pub tag_count: u64,
        pub indices: *const *const stria_index,
        pub index_count: u64,
        pub constraints: *const *const c_void,
        pub constraint_count: u64,
        pub refinements: *const *const c_void,
        pub refinement_count: u64,
        pub statements: *const *const stria_statement,
        pub statement_count: u64,
        pub comments: *const stria_string,
        pub comment_count: u64,
    }
    pub struct stria_kernel_argument {
        pub size: u64,
        pub next: *const c_void,
        pub name: stria_string,
        pub direction: stria_direction,
        pub r#type: stria_data_type,
        pub bytes: u64,
        pub tensor: *const c_void,
    }
    pub struct stria_kernel_block {
        pub size: u64,
        pub next: *const c_void,
        pub name: stria_string,
        pub part: stria_program_part,
        pub reserved: i32,
        pub statement: u64,
        pub block: *const stria_block,
        pub arguments: *const *const stria_kernel_argument,
        pub argument_count: u64,
    }
    pub struct stria_program_view {
        pub size: u64,
        pub next: *const c_void,
        pub entry: *const c_void,
        pub prologue: *const c_void,
        pub main: *const c_void,
        pub kernels: *const *const stria_kernel_block,
        pub kernel_count: u64,
    }
    pub struct stria_tree_options {
        pub size: u64,
        pub next: *const c_void,
        pub stack_limit_bytes: u64,
        pub register_unit: stria_string,
        pub narrow_indices: u8,
        pub no_peepholes: u8,
        pub largest_grid_x: u64,
        pub largest_grid_y: u64,
        pub largest_grid_z: u64,
        pub subgroup_lanes: u64,
        pub subgroup_unit: stria_string,
        pub shared_vector_bytes: u64,
        pub most_lanes: i32,
        pub only_powers_of_two: u8,
        pub loads_across_slots: u8,
        pub no_micro_kernels: u8,
        pub reserved: u8,
    }
    pub struct stria_tree_view {
        pub size: u64,
        pub next: *const c_void,
        pub symbol: stria_string,
        pub kernel: u64,
        pub index_type: stria_data_type,
        pub reserved: i32,
        pub trip_count: u64,
        pub group_lanes: u64,
        pub grid: [u64; 3],
        pub notes: *const stria_string,
        pub note_count: u64,
        pub micro_kernels: *const stria_string,
        pub micro_kernel_count: u64,
    }
}
