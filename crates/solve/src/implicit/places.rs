//! The places of the entries of vectors in canonical order within states of a discretisation.

use dgsuite_ops::{Discretization, PackScalar};

/// Where the fields of a vector stand in states whose law has `n_parts` times as many fields: state and
/// direction of the tangent equation, or the state itself.
pub(super) struct Places {
    /// The place of each entry.
    pub(super) places: Vec<u32>,
    /// The place and the entry of each copy, in elements that fill up blocks.
    pub(super) copies: Vec<(u32, u32)>,
}

/// Numbers beyond this one are stored in two parts, so that single precision is enough.
const BASE: usize = 1 << 12;

impl Places {
    /// The places of part `part` of `n_parts`, for vectors of which the entries of element `e` are
    /// `offsets[e]..offsets[e + 1]`. `None` if the discretisation has no such states.
    pub(super) fn new<T: PackScalar>(
        d: &Discretization<T>,
        offsets: &[usize],
        (n_parts, part): (usize, usize),
    ) -> Option<Self> {
        let n = *offsets.last()?;
        let numbered = |number: &dyn Fn(usize) -> usize| -> Option<Vec<usize>> {
            let numbers: Vec<f64> = (0..n_parts * n).map(|i| number(i) as f64).collect();
            let mut placed = vec![T::ZERO; d.len()];
            d.from_canonical(&numbers, &mut placed)?;
            Some(placed.into_iter().map(|x| x.to_f64() as usize).collect())
        };
        let (low, high) = (numbered(&|i| i % BASE)?, numbered(&|i| i / BASE)?);
        // Elements that fill up blocks have copies of entries.
        let mut real = vec![T::ZERO; d.len()];
        d.from_canonical_once(&vec![1.0; n_parts * n], &mut real)?;
        let (mut places, mut copies) = (vec![0; n], Vec::new());
        for (at, (low, high)) in low.into_iter().zip(high).enumerate() {
            let number = high * BASE + low;
            // The element whose entries, `n_parts` times as many in the state, contain it.
            let element = offsets.partition_point(|&first| n_parts * first <= number) - 1;
            let (first, size) = (offsets[element], offsets[element + 1] - offsets[element]);
            let within = (number - n_parts * first).checked_sub(part * size);
            let Some(i) = within.filter(|&i| i < size) else { continue };
            if real[at].to_f64() > 0.0 {
                places[first + i] = at as u32;
            } else {
                copies.push((at as u32, (first + i) as u32));
            }
        }
        Some(Self { places, copies })
    }

    /// All places with their entries, `[place, entry]` one after the other.
    pub(super) fn pairs(&self) -> Vec<u32> {
        let own = self.places.iter().zip(0..).map(|(&place, entry)| (place, entry));
        own.chain(self.copies.iter().copied()).flat_map(|(place, entry)| [place, entry]).collect()
    }
}

/// The first entry of each element, then the number of all, for vectors of `fields` unknowns.
pub(super) fn offsets<T: PackScalar>(d: &Discretization<T>, fields: usize) -> Vec<usize> {
    let mesh = d.mesh();
    let mut offsets = vec![0];
    for element in 0..mesh.n_elements() {
        let n = fields * d.basis_size_in(d.representation(), d.order(), mesh.shape(element));
        offsets.push(offsets[element] + n);
    }
    offsets
}
