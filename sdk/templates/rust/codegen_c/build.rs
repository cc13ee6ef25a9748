// SPDX-License-Identifier: Apache-2.0
//! Links the reader of the installed stria: its archive, isl, and the C++ library.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=STRIA_PREFIX");
    println!("cargo:rerun-if-changed=build.rs");
    let prefix = std::env::var("STRIA_PREFIX")
        .expect("STRIA_PREFIX: where stria is installed (make_plugin.sh sets it)");
    let targets = Path::new(&prefix).join("lib/cmake/stria/striaConfig.cmake");
    let text = std::fs::read_to_string(&targets)
        .unwrap_or_else(|error| panic!("{}: {error}", targets.display()));
    // The package says which isl its reader needs: "-l:libisl.so.23".
    let isl = text
        .split(|c: char| ";\" \n()".contains(c))
        .find(|word| word.starts_with("-l:libisl"))
        .unwrap_or_else(|| panic!("{} names no libisl", targets.display()));
    // Another stria in the same place is linked anew.
    println!("cargo:rerun-if-changed={}", targets.display());
    println!("cargo:rerun-if-changed={prefix}/lib/libstria_reader.a");
    println!("cargo:rustc-link-search=native={prefix}/lib");
    println!("cargo:rustc-link-lib=static=stria_reader");
    for library in [isl, "-lstdc++", "-lm"] {
        println!("cargo:rustc-link-arg={library}");
    }
}
