//! Faces from elements: pairs of sides, periodic pairs and boundary sides.

use crate::{
    Across, BoundaryTag, Face, Mesh, MeshError, PeriodicFace, PeriodicLink, RegionTag, Side, UNNAMED,
    mesh::ElementSet,
    sides::{Corners, NONE, SideNumbers, SideTable, crowded, face_corners},
};

/// A mesh without its faces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) dim: usize,
    pub(crate) points: Vec<[f64; 3]>,
    pub(crate) sets: Vec<ElementSet>,
    pub(crate) boundaries: Vec<BoundaryTag>,
    pub(crate) region_names: Vec<RegionTag>,
    pub(crate) links: Vec<PeriodicLink>,
}

/// A side on a boundary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) side: Side,
    pub(crate) boundary: u32,
}

/// Two sides that a periodic link joins to one face: `first` lies on the link's first boundary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Join {
    pub(crate) first: Side,
    pub(crate) second: Side,
    pub(crate) orientation: u8,
    pub(crate) link: u32,
}

/// The sides of a draft, paired.
pub(crate) struct Paired {
    pub(crate) numbers: SideNumbers,
    pub(crate) table: SideTable,
    /// For each side its partner, or [`NONE`].
    pub(crate) partner: Vec<u32>,
}

impl Paired {
    /// Frees the table, which [`Draft::connect`] does not need.
    pub(crate) fn forget_table(&mut self) {
        self.table = SideTable::default();
    }
}

impl Draft {
    /// Number the sets, drop empty ones, and check that 32-bit indices suffice.
    pub(crate) fn settle(&mut self) -> Result<(), MeshError> {
        self.sets.retain(|s| !s.is_empty());
        self.sets.sort_by_key(|s| (s.shape, s.order));
        let mut first = 0;
        for set in &mut self.sets {
            set.first = first;
            first += set.len();
        }
        let max = NONE as usize - 1;
        for (what, count) in [("elements", first), ("nodes", self.points.len())] {
            if count > max {
                return Err(MeshError::TooLarge { what, count, max });
            }
        }
        if first == 0 { Err(MeshError::NoElements) } else { Ok(()) }
    }

    pub(crate) fn pair(&self) -> Result<Paired, MeshError> {
        let numbers = SideNumbers::new(&self.sets)?;
        let table = SideTable::new(self.points.len(), &self.sets, &numbers);
        let partner = table.pairs(&self.points, &self.sets, &numbers)?;
        Ok(Paired { numbers, table, partner })
    }

    /// The mesh: inner faces from `paired`, periodic ones from `joins`, the rest on boundaries.
    ///
    /// Sides without a mark go to the boundary [`UNNAMED`]. Marks on inner faces are ignored.
    pub(crate) fn connect(
        mut self,
        paired: &Paired,
        marks: &[Mark],
        joins: &[Join],
    ) -> Result<Mesh, MeshError> {
        const JOINED: u32 = 1 << 31;
        let Paired { numbers, partner, .. } = paired;
        let mut fate = vec![NONE; numbers.len];
        for m in marks {
            fate[numbers.number(m.side) as usize] = m.boundary;
        }
        for (j, join) in joins.iter().enumerate() {
            for side in [join.first, join.second] {
                fate[numbers.number(side) as usize] = JOINED | j as u32;
            }
        }
        let corners = face_corners(&self.sets);
        let of_side = |number: u32| {
            let side = numbers.side(number);
            let e = side.element as usize;
            let s = self.sets.iter().position(|s| e < s.first + s.len()).unwrap_or(0);
            let nodes = self.sets[s].element(e - self.sets[s].first);
            Corners::new(corners[s][side.face as usize].iter().map(|&l| nodes[l]))
        };
        let mut unnamed = NONE;
        let mut faces = Vec::with_capacity(numbers.len.div_ceil(2));
        let mut periodic_faces = Vec::new();
        let mut number = 0_u32;
        for (s, set) in self.sets.iter().enumerate() {
            for i in 0..set.len() {
                let nodes = set.element(i);
                for (f, face) in corners[s].iter().enumerate() {
                    let minus = Side { element: (set.first + i) as u32, face: f as u8 };
                    let (other, fated) = (partner[number as usize], fate[number as usize]);
                    if other != NONE {
                        if number < other {
                            let mine = Corners::new(face.iter().map(|&l| nodes[l]));
                            let plus = numbers.side(other);
                            let Some(orientation) = mine.orientation(&of_side(other)) else {
                                return Err(crowded(&self.points, &self.sets, &[minus, plus]));
                            };
                            faces.push(Face { minus, across: Across::Interior { plus, orientation } });
                        }
                    } else if fated == NONE {
                        if unnamed == NONE {
                            let known = self.boundaries.iter().position(|b| b.name == UNNAMED);
                            unnamed = known.unwrap_or(self.boundaries.len()) as u32;
                            if known.is_none() {
                                self.boundaries.push(BoundaryTag { name: UNNAMED.to_owned(), tag: 0 });
                            }
                        }
                        faces.push(Face { minus, across: Across::Boundary(unnamed) });
                    } else if fated & JOINED != 0 {
                        let join = joins[(fated & !JOINED) as usize];
                        let (lower, plus) = (join.first.min(join.second), join.first.max(join.second));
                        if lower == minus {
                            let orientation = join.orientation;
                            faces.push(Face { minus, across: Across::Periodic { plus, orientation } });
                            let reversed = join.first != minus;
                            periodic_faces.push(PeriodicFace { minus, link: join.link, reversed });
                        }
                    } else {
                        faces.push(Face { minus, across: Across::Boundary(fated) });
                    }
                    number += 1;
                }
            }
        }
        Ok(Mesh {
            dim: self.dim,
            points: self.points,
            sets: self.sets,
            faces,
            boundaries: self.boundaries,
            region_names: self.region_names,
            links: self.links,
            periodic_faces,
        })
    }
}
