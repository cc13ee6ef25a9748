// SPDX-License-Identifier: Apache-2.0
//! The plugin through its table, as a host sees it: test/plugin_test.c, compiled by `cc`.

use std::path::{Path, PathBuf};
use std::process::Command;

// The plugin as cargo has built it for this test, in the same folder: what `cargo build` has left in
// the folder above may be older.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().join("libstria_acme.so")
}

#[test]
fn plugin_keeps_the_rules_of_its_table() {
    let prefix = std::env::var("STRIA_PREFIX").expect("STRIA_PREFIX: where stria is installed");
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugin_test");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-I"])
        .arg(Path::new(&prefix).join("include"))
        .arg(project.join("test/plugin_test.c"))
        .arg(project.join("test/small_host.c"))
        .arg("-o")
        .arg(&program)
        .args(["-ldl", "-lpthread"])
        .status()
        .expect("cc");
    assert!(compiled.success());
    assert!(Command::new(&program).arg(library()).status().unwrap().success());
}
