//! When and where a run was: the date by ISO 8601, the host and its processor.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// Returns the present time, such as `2026-05-17T09:30:00Z`.
#[must_use]
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    iso(since.as_secs())
}

/// Returns the names of the host and of its processor; one that the system does not tell is empty.
#[must_use]
pub(crate) fn names() -> Value {
    json!({ "host": host(), "cpu": cpu(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()) })
}

/// The name of the host.
#[must_use]
pub(crate) fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// The name of the processor in Linux's description of all cores.
fn cpu(text: &str) -> String {
    let name = |line: &str| {
        let (key, name) = line.split_once(':')?;
        (key.trim() == "model name").then(|| name.trim().to_owned())
    };
    text.lines().find_map(name).unwrap_or_default()
}

/// The date of a number of seconds since 1970, by the civil calendar in eras of 400 years from March on, so
/// that the day of a leap year is the last one of a year.
fn iso(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let date = day - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(iso(seconds), date);
        }
    }

    #[test]
    fn the_processor_is_the_first_one_named() {
        assert_eq!(cpu("processor\t: 0\nmodel name\t: A 1.5 GHz: B\nmodel name\t: C\n"), "A 1.5 GHz: B");
        assert_eq!(cpu("Features : fp"), "");
    }
}
