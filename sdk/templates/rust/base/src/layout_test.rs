// SPDX-License-Identifier: Apache-2.0
//! abi.rs has the sizes, offsets and constants of the C header.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

fn include_folder() -> PathBuf {
    let prefix = std::env::var("STRIA_PREFIX").expect("STRIA_PREFIX: where stria is installed");
    Path::new(&prefix).join("include")
}

/// Held by tests that start processes, or change what becomes of those.
pub static PROCESSES: Mutex<()> = Mutex::new(());

// What a program in C prints.
pub fn output_of(name: &str, text: &str) -> String {
    let _held = PROCESSES.lock();
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

/// Compares constants with those of a header: numbers, and texts.
pub fn compare_constants(name: &str, header: &str, numbers: &[(&str, i64)], texts: &[(&str, &str)]) {
    let mut program = format!("#include <stdio.h>\n#include \"{header}\"\nint main(void) {{\n");
    let mut expected = String::new();
    for (name, value) in numbers {
        program += &format!("  printf(\"{name} %lld\\n\", (long long)({name}));\n");
        expected += &format!("{name} {value}\n");
    }
    for (name, value) in texts {
        program += &format!("  printf(\"{name} %s\\n\", {name});\n");
        expected += &format!("{name} {value}\n");
    }
    assert_eq!(output_of(name, &(program + "  return 0;\n}\n")), expected);
}

#[test]
fn constants_are_those_of_the_header() {
    compare_constants("acme_constants", "stria/plugin.h", crate::abi::CONSTANTS, &[]);
}
