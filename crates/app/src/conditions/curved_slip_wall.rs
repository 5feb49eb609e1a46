//! The condition `curved-slip-wall`: an inviscid wall along a curve of which the straight faces are chords.

use std::f64::consts::{FRAC_PI_4, PI};
use std::sync::Arc;

use super::numbers::{Building, COMPONENTS, Numbers};
use super::{Condition, ConditionKind, On, Resolved, faces};
use crate::file::keys::Absent::{Says, Value};
use crate::file::keys::Kind::{Formula, Number, Section as Keys};
use crate::file::keys::Range::Between;
use crate::file::keys::{EULER, SPACE_TIME, row};
use crate::file::problem::{InputError, Problem};
use crate::file::quantity::VectorQuantity;
use crate::file::section::Section;
use crate::file::source::Located;
use dgsuite_solve::curved_wall::EstimatedNormals;
use dgsuite_solve::flow::BoundaryKind;

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "curved-slip-wall",
    models: EULER,
    keys: &[
    row(
        "boundaries.<name>.normal",
        &[COMPONENTS, Keys],
        Says("estimated from circles through neighbouring points of the boundary, in two dimensions only"),
        "The normal of the curve or surface of which the straight faces are chords, of any length and sign: a \
         list, or a section with some components.",
    )
    .of(EULER)
    .with(&["curved-slip-wall"]),
    row(
        "boundaries.<name>.normal.{x,y,z}",
        &[Formula(SPACE_TIME)],
        Value("0"),
        "A component of the normal.",
    )
    .of(EULER)
    .with(&["curved-slip-wall"]),
    row(
        "boundaries.<name>.corner",
        &[Number(Between(0.0, PI))],
        Value("40*deg"),
        "The angle in radians above which the boundary has a corner at a point: no circle goes through points \
         on both sides of it. Not beside `normal`.",
    )
    .of(EULER)
    .with(&["curved-slip-wall"]),
    ],
    elsewhere: "; use slip-wall on curved elements",
    read: |section, _| Ok(Arc::new(CurvedSlipWall::read(section)?)),
};

/// The default of `corner`: 40 degrees.
const CORNER: f64 = 40.0 * (PI / 180.0);

/// The angle between a given normal and a face from which on the normal is that of something else.
const TOO_FAR: f64 = FRAC_PI_4;

#[derive(Debug)]
struct CurvedSlipWall {
    /// The curve's normal, of any length; estimated from the boundary's points if none is given.
    normal: Option<VectorQuantity>,
    /// The angle above which a point of the boundary is a corner, in radians.
    corner: f64,
}

impl CurvedSlipWall {
    fn read(section: &Section<'_>) -> Result<Self, InputError> {
        section.exclusive("normal", "corner")?;
        let corner = section.number("corner")?;
        if let Some(given) = &corner
            && !(0.0..=PI).contains(&given.value)
        {
            return Err(InputError::range(given, "an angle from 0 to pi"));
        }
        let normal = section.quantities("normal", ["x", "y", "z"])?;
        Ok(Self { normal, corner: corner.map_or(CORNER, |given| given.value) })
    }

    /// The condition with normals that are estimated from the points of the boundary.
    ///
    /// # Errors
    /// A mesh in three dimensions.
    fn estimated(&self, on: &On<'_>) -> Result<BoundaryKind, InputError> {
        let mesh = on.mesh;
        let number = mesh.seen().boundaries.iter().position(|tag| tag.name == on.name.value);
        match number.and_then(|number| mesh.boundary_curve(number as u32, self.corner)) {
            Some(curve) => {
                Ok(BoundaryKind::CurvedSlipWall { normals: Arc::new(EstimatedNormals::from(curve)) })
            }
            None => {
                let key = format!("{}.normal", on.name.key);
                let expected =
                    "a formula for each direction, because normals are estimated in two dimensions only";
                Err(InputError::at(&on.name.place, Problem::MissingKey { key, expected: expected.into() }))
            }
        }
    }

    /// Checks that the faces are straight and not refined where normals are estimated.
    ///
    /// # Errors
    /// Curved faces; normals estimated from points on straight lines.
    fn check_faces(&self, on: &On<'_>) -> Result<(), InputError> {
        let mesh = on.mesh.seen();
        let misplaced = |belongs: &str| {
            let key = format!("{}.type: curved-slip-wall", on.name.key);
            let (owner, belongs) = ("the mesh".to_owned(), belongs.to_owned());
            Err(InputError::at(&on.name.place, Problem::Misplaced { key, owner, belongs }))
        };
        for side in faces::sides_of(mesh, &on.name.value) {
            let (set, _) = mesh.locate(side.element as usize);
            if mesh.sets[set].order > 1 {
                return misplaced(
                    "straight-sided elements; use slip-wall on curved ones, or make them straight (mesh.map.order: 1)",
                );
            }
        }
        if on.split && self.normal.is_none() {
            return misplaced(
                "unrefined faces: mesh.refine puts points on straight lines, from which no curve can be estimated; \
                 refine in the mesh generator, or give `normal`",
            );
        }
        Ok(())
    }
}

impl Condition for CurvedSlipWall {
    fn resolve(&self, on: &On<'_>) -> Result<Resolved, InputError> {
        let kind = match &self.normal {
            None => {
                let kind = self.estimated(on)?;
                self.check_faces(on)?;
                kind
            }
            Some(normal) => {
                let mut numbers = Building::new(on);
                numbers.along("normal", normal)?;
                if numbers.vector_uses_state() {
                    let shown = normal.key.with("a formula of the state");
                    let expected = "formulas of x, y, z and t: the wall does not move";
                    return Err(InputError::range(&shown, expected));
                }
                let numbers = numbers.check()?;
                self.check_faces(on)?;
                near(&numbers, normal, on)?;
                BoundaryKind::CurvedSlipWall { normals: Arc::new(numbers.recorded()) }
            }
        };
        let name = &on.name.value;
        let of_refined = on.split.then(|| {
            format!(
                "boundaries.{name}: mesh.refine puts points on the straight faces of the file instead of the curve, \
                 so that errors of the wall's place remain"
            )
        });
        Ok(Resolved { warnings: of_refined.into_iter().collect(), ..kind.into() })
    }

    fn formulas(&self) -> Vec<&Located<String>> {
        self.normal.iter().flat_map(VectorQuantity::texts).collect()
    }

    fn passes_heat(&self) -> bool {
        false
    }

    fn estimates_curve(&self) -> Option<f64> {
        self.normal.is_none().then_some(self.corner)
    }
}

/// Checks that the given normals are those of the faces, nearly: at the midpoint of each face at time 0.
fn near(numbers: &Numbers, normal: &VectorQuantity, on: &On<'_>) -> Result<(), InputError> {
    let mesh = on.mesh.seen();
    let sides = faces::sides_of(mesh, &on.name.value);
    let points: Vec<[f64; 3]> = sides.iter().map(|&side| mesh.side_centroid(side)).collect();
    let mut largest = (0.0, [0.0; 3]);
    for ((a, &side), &point) in numbers.vectors(0.0, &points).iter().zip(&sides).zip(&points) {
        let n = faces::normal(side, mesh);
        let cosine: f64 = (0..mesh.dim).map(|d| n[d] * a[d]).sum();
        let angle = cosine.abs().min(1.0).acos();
        if angle > largest.0 {
            largest = (angle, point);
        }
    }
    let (angle, place) = largest;
    if angle <= TOO_FAR {
        return Ok(());
    }
    let at = place[..mesh.dim].iter().map(|c| format!("{c:.4}")).collect::<Vec<_>>().join(", ");
    let shown =
        normal.key.with(format!("{:.0} degrees off the normal of the face at ({at})", angle.to_degrees()));
    Err(InputError::range(&shown, "the normal of the wall, of any length and sign"))
}
