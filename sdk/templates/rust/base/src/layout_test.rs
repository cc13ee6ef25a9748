// SPDX-License-Identifier: Apache-2.0
//! abi.rs has the sizes and offsets of the C header.

use std::path::{Path, PathBuf};
use std::process::Command;

fn include_folder() -> PathBuf {
    let prefix = std::env::var("STRIA_PREFIX").expect("STRIA_PREFIX: where stria is installed");
    Path::new(&prefix).join("include")
}

// What a program in C prints.
pub fn output_of(name: &str, text: &str) -> String {
    let folder = std::env::temp_dir().join(format!("{name}_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, program) = (folder.join("layout.c"), folder.join("layout"));
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("cc");
    compiler.arg("-std=c11").arg("-I").arg(include_folder()).arg(&source).arg("-o").arg(&program);
    assert!(compiler.status().expect("cc").success());
    let output = Command::new(&program).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn structs_are_those_of_the_header() {
    let header = crate::abi::layout_program_in_c("stria/plugin.h");
    assert_eq!(output_of("acme_abi", &header), crate::abi::layout_of_rust());
}

#[test]
fn versions_are_those_of_the_header() {
    let text = std::fs::read_to_string(include_folder().join("stria/plugin.h")).unwrap();
    let line = format!("#define STRIA_ABI_MINOR {}\n", crate::abi::STRIA_ABI_MINOR);
    assert!(text.contains(&line), "abi.rs is not of this stria: {line}");
}
