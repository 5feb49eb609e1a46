//! Questions to the program that started a run: after each output of fields, whether to go on.
//!
//! The run prints a line, `ask: step 20, t = 0.1`, when the fields of this step are on the disk, and waits
//! for a line on standard input: `go`, or `stop`, which ends the run after the next step as a signal does. If
//! the other program has ended, the input ends too, and the run stops: nobody waits for ever.

use std::io::{BufRead, Write};

use dgsuite_timeint::TimePoint;

/// Asks, and returns whether to go on.
pub(super) fn goes_on(now: TimePoint, mut out: impl Write, mut answers: impl BufRead) -> bool {
    let asked = writeln!(out, "ask: step {}, t = {:?}", now.step, now.t).and_then(|()| out.flush());
    let mut answer = String::new();
    asked.is_ok() && matches!(answers.read_line(&mut answer), Ok(n) if n > 0) && answer.trim() != "stop"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_only_if_someone_says_so() {
        let now = TimePoint { t: 0.1, low: 0.0, step: 20 };
        let mut said = Vec::new();
        assert!(goes_on(now, &mut said, &b"go\n"[..]));
        assert_eq!(String::from_utf8(said).unwrap(), "ask: step 20, t = 0.1\n");
        assert!(!goes_on(now, Vec::new(), &b"stop\n"[..]));
        assert!(!goes_on(now, Vec::new(), &b""[..]), "the other program has ended");
        assert!(!goes_on(now, &mut [0u8; 4][..], &b"go\n"[..]), "nobody can read the question");
    }
}
