// SPDX-License-Identifier: Apache-2.0
//! Passes of the plugin's own: steps {"plugin_pass": {"pass": NAME, "options": {…}}} of a pipeline.

use crate::abi::STRIA_NOT_FOUND;
use crate::error::*;

/// The new Stripe, named "stripe", and notes for people.
pub fn transform(_stripe: &str, pass: &str, _options: &str) -> Result<Vec<(&'static str, String)>> {
    Err(failure_with_suggestion(
        STRIA_NOT_FOUND,
        format!("there is no pass '{pass}': acme has none"),
        "`stria new-plugin` with --codegen c writes a pass to start from",
    ))
}
