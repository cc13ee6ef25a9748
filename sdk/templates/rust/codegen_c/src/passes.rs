// SPDX-License-Identifier: Apache-2.0
//! Passes of the plugin's own: steps {"plugin_pass": {"pass": NAME, "options": {…}}} of a pipeline.

use crate::abi::{STRIA_INVALID_ARGUMENT, STRIA_NOT_FOUND};
use crate::error::*;
use crate::program::reader::{Block, ReaderProgram};

const MOST_POINTS: i64 = 8;

/// The new Stripe, named "stripe", and notes for people.
pub fn transform(stripe: &str, pass: &str, options: &str) -> Result<Vec<(&'static str, String)>> {
    match pass {
        "short_loops" => short_loops(stripe, options),
        _ => Err(failure_with_suggestion(
            STRIA_NOT_FOUND,
            format!("there is no pass '{pass}'"),
            "acme has the pass short_loops",
        )),
    }
}

// A pass to start from: loops of a few points that hold no other loop get a mark, which a generator
// may take as a hint to write them out. No pipeline needs it: `--set OWN_PASS=1` adds it.
fn short_loops(stripe: &str, options: &str) -> Result<Vec<(&'static str, String)>> {
    if !matches!(options, "" | "{}") {
        let text = format!("the pass short_loops has no options, not {options}");
        return Err(failure(STRIA_INVALID_ARGUMENT, text));
    }
    let program = ReaderProgram::new(stripe)?;
    let mut count = 0;
    for block in program.blocks() {
        count += mark(&program, &block)?;
    }
    let note = format!("{count} short loops are marked");
    Ok(vec![("stripe", program.text()?), ("loops", note)])
}

// Marks the short loops in a block, or the block itself; returns how many.
fn mark(program: &ReaderProgram, block: &Block) -> Result<u64> {
    let mut count = 0;
    let inner = block.blocks();
    for block in &inner {
        count += mark(program, block)?;
    }
    let points = block.ranges().iter().fold(1i64, |points, range| points.saturating_mul(*range));
    // What runs in another way than as a loop stays as it is.
    let plain = !block.has_location() && !block.has_tag("parallel");
    if !inner.is_empty() || !plain || !(2..=MOST_POINTS).contains(&points) {
        return Ok(count);
    }
    program.set_tag(block, "acme_short", points)?;
    Ok(count + 1)
}
