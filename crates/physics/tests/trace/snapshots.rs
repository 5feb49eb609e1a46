//! The printed code of fluxes, as files to read and review.
//!
//! `DGSUITE_UPDATE_SNAPSHOTS=1 cargo test` writes the files again.

use crate::sources::{AIR, Face, Flux, GAS, Outer, SYRUP, Split, Viscous, WALL, print};
use dgsuite_physics::trace::{Parameters, device_fn};
use dgsuite_physics::two_point::Ranocha;
use dgsuite_physics::{FarField, Hll, Hllc, Law, Roe, Rusanov};
use std::path::Path;

/// Compares a text with `tests/snapshots/<name>.txt`, or writes it there.
fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.txt"));
    if std::env::var_os("DGSUITE_UPDATE_SNAPSHOTS").is_some_and(|v| v == "1") {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("{}: {e}; DGSUITE_UPDATE_SNAPSHOTS=1 writes it", path.display()))
        .replace("\r\n", "\n");
    let differs = stored.lines().zip(text.lines()).position(|(a, b)| a != b);
    if let Some(line) = differs {
        let at = |t: &str| t.lines().nth(line).unwrap_or_default().to_owned();
        panic!("{name}, line {}:\n stored: {}\n now:    {}", line + 1, at(&stored), at(text));
    }
    assert_eq!(stored.lines().count(), text.lines().count(), "{name}: number of lines");
}

#[test]
fn printed_fluxes_are_the_reviewed_ones() {
    let mut p = Parameters::new();
    check("rusanov_2d", &print::<_, 2, 4>("rusanov_2d", Flux(Rusanov), &mut p));
    check("rusanov_3d", &print::<_, 3, 5>("rusanov_3d", Flux(Rusanov), &mut p));
    check("hll_2d", &print::<_, 2, 4>("hll_2d", Flux(Hll), &mut p));
    check("hllc_2d", &print::<_, 2, 4>("hllc_2d", Flux(Hllc), &mut p));
    check("hllc_3d", &print::<_, 3, 5>("hllc_3d", Flux(Hllc), &mut p));
    check("roe_2d", &print::<_, 2, 4>("roe_2d", Flux(Roe::PLAIN), &mut p));
    check("far_field_2d", &print::<_, 2, 4>("far_field_2d", Outer(FarField), &mut p));
    assert_eq!(p.definition(), "struct Parameters { real gamma; };\n");
}

#[test]
fn printed_laws_are_the_reviewed_ones() {
    let mut p = Parameters::new();
    let flux = device_fn("flux_2d", &[("u", 4)], &mut p, |a| GAS.flux(&a.array::<4>("u")).concat()).unwrap();
    check("flux_2d", &flux);
    let flux = device_fn("flux_3d", &[("u", 5)], &mut p, |a| GAS.flux(&a.array::<5>("u")).concat()).unwrap();
    check("flux_3d", &flux);
}

#[test]
fn printed_diffusive_fluxes_are_the_reviewed_ones() {
    let mut p = Parameters::new();
    check("viscous_2d", &print::<_, 2, 4>("viscous_2d", Viscous(AIR), &mut p));
    check("viscous_constant_3d", &print::<_, 3, 5>("viscous_constant_3d", Viscous(SYRUP), &mut p));
    check("wall_2d", &print::<_, 2, 4>("wall_2d", Face(WALL), &mut p));
    check("ranocha_2d", &print::<_, 2, 4>("ranocha_2d", Split(Ranocha), &mut p));
}
