//! Files of the first format, written by version 0.1: one header, one array, one checksum.
//!
//! # Format
//! `DGSUITE1`, the length of the header (u64), the header (JSON: law, basis, order, mesh digest, counts,
//! version), 64-bit floating-point numbers (time, its rounding error, time of the state, tally of the
//! boundary fluxes and first integrals, coefficients, means over time), and the CRC-32 of everything before
//! it (u32). All numbers are little-endian.

use dgsuite_timeint::TimePoint;
use flate2::Crc;
use serde::Deserialize;

use super::error::{CheckpointProblem, Damage};
use super::{Checkpoint, Read};
use dgsuite_solve::flow::State;

/// The first bytes of a file of this format.
pub(super) const MAGIC: &[u8; 8] = b"DGSUITE1";

/// Count of numbers before the tally.
const TIMES: usize = 3;

#[derive(Deserialize)]
struct Header {
    version: String,
    law: String,
    basis: String,
    order: usize,
    run_step: u64,
    step: usize,
    mesh: String,
    tally: usize,
    coefficients: usize,
    #[serde(default)]
    averages: usize,
}

/// Reads the file after [`MAGIC`].
pub(super) fn read(rest: &[u8]) -> Result<Read, CheckpointProblem> {
    let unreadable = || Damage::Header("first".into());
    let (length, content) = rest.split_first_chunk::<8>().ok_or_else(unreadable)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| unreadable())?;
    let header = content.get(..length).ok_or_else(unreadable)?;
    let payload = &content[length..];
    let header: Header = serde_json::from_slice(header).map_err(|_| unreadable())?;
    let announced = header
        .coefficients
        .checked_add(header.tally)
        .and_then(|n| n.checked_add(header.averages))
        .and_then(|n| n.checked_add(TIMES))
        .and_then(|n| n.checked_mul(8))
        .and_then(|n| n.checked_add(4))
        .ok_or_else(unreadable)?;
    if payload.len() != announced {
        return Err(Damage::Length { found: payload.len() as u64, wanted: announced as u64 }.into());
    }
    let (before, sum) = rest.split_at(rest.len() - 4);
    let mut crc = Crc::new();
    crc.update(MAGIC);
    crc.update(before);
    if sum != crc.sum().to_le_bytes() {
        return Err(Damage::Checksum.into());
    }
    if !header.version.starts_with("0.1.") {
        let what = format!("it is of version {}", header.version);
        return Err(CheckpointProblem::Newer { what });
    }
    let mut numbers = payload[..announced - 4].as_chunks().0.iter().map(|eight| f64::from_le_bytes(*eight));
    let mut next = || numbers.next().unwrap_or(0.0);
    let now = TimePoint { t: next(), low: next(), step: header.run_step };
    let time = next();
    let tally = numbers.by_ref().take(header.tally).collect();
    let fields = numbers.take(header.coefficients).collect();
    // Means follow; their order depended on the machine.
    let averages = Vec::new();
    let (order, law, basis) = (header.order, header.law, header.basis);
    let state = State {
        time,
        step: header.step,
        order,
        law,
        parameters: Vec::new(),
        basis,
        tally,
        tally_rest: Vec::new(),
        fields,
        histories: None,
    };
    Ok(Read {
        checkpoint: Checkpoint { now, state, averages, sections: Vec::new() },
        mesh: header.mesh,
        left: None,
    })
}
