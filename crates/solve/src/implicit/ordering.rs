//! The order in which incomplete factors eliminate the elements.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A weight of an element, in the order of all numbers, those that are not finite included.
#[derive(Clone, Copy, Debug)]
struct Weight(f64);

impl PartialEq for Weight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Weight {}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Weight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The elements in the order of the least discarded fill: each is the one whose elimination would make the
/// smallest entries, `(Σ (c_ik c_kj)²)^½`, between remaining neighbours `i` and `j` that are not neighbours
/// of each other. In boundary layers this follows the lines of strong coupling, elsewhere mostly the flow.
///
/// `couplings[i]` lists the neighbours `k` of element `i`, ascending, with `c_ik = ‖D_i⁻¹ A_ik‖` and
/// `c_ki`. Of equal elements the first comes first.
///
/// # Source
/// Persson & Peraire, SIAM J. Sci. Comput. 30 (2008) 2709–2733, section 4.2.
pub(super) fn least_discarded_fill(couplings: &[Vec<(u32, [f64; 2])>]) -> Vec<u32> {
    let n = couplings.len();
    let mut left = vec![true; n];
    let adjacent = |i: u32, j: u32| couplings[i as usize].binary_search_by_key(&j, |(k, _)| *k).is_ok();
    let weight = |k: usize, left: &[bool]| -> Weight {
        let mut sum = 0.0;
        let near = || couplings[k].iter().filter(|(other, _)| left[*other as usize]);
        for (i, [_, to_k]) in near() {
            for (j, [from_k, _]) in near() {
                if i != j && !adjacent(*i, *j) {
                    sum += (to_k * from_k) * (to_k * from_k);
                }
            }
        }
        Weight(sum.sqrt())
    };
    let mut weights: Vec<Weight> = (0..n).map(|k| weight(k, &left)).collect();
    let mut heap: BinaryHeap<Reverse<(Weight, usize)>> =
        weights.iter().enumerate().map(|(k, &w)| Reverse((w, k))).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse((of, k))) = heap.pop() {
        // Older entries are not the present weights.
        if !left[k] || of != weights[k] {
            continue;
        }
        left[k] = false;
        order.push(k as u32);
        for (other, _) in &couplings[k] {
            let other = *other as usize;
            if left[other] {
                weights[other] = weight(other, &left);
                heap.push(Reverse((weights[other], other)));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_strong_coupling_are_eliminated_from_end_to_end() {
        // A grid whose coupling is a hundred times stronger along columns.
        let (nx, ny) = (5_u32, 7_u32);
        let mut couplings = Vec::new();
        for e in 0..nx * ny {
            let (x, y) = (e % nx, e / nx);
            let mut near = Vec::new();
            let mut add = |x: u32, y: u32, c: f64| near.push((y * nx + x, [c; 2]));
            if y > 0 {
                add(x, y - 1, 1.0);
            }
            if x > 0 {
                add(x - 1, y, 0.01);
            }
            if x + 1 < nx {
                add(x + 1, y, 0.01);
            }
            if y + 1 < ny {
                add(x, y + 1, 1.0);
            }
            couplings.push(near);
        }
        let order = least_discarded_fill(&couplings);
        let mut seen = order.clone();
        seen.sort_unstable();
        assert_eq!(seen, (0..nx * ny).collect::<Vec<_>>());
        // An element comes after at least one of its strong neighbours, unless it begins a column.
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &e)| place[e as usize] = k);
        let mut begun = 0;
        for e in 0..nx * ny {
            let above = e.checked_sub(nx).is_some_and(|other| place[other as usize] < place[e as usize]);
            let below = place.get((e + nx) as usize).is_some_and(|&other| other < place[e as usize]);
            begun += u32::from(!above && !below);
        }
        assert!(begun <= 2 * nx, "{begun} {order:?}");
    }

    #[test]
    fn couplings_that_are_not_numbers_leave_an_order() {
        let near = |e: u32| [e.checked_sub(1), Some(e + 1).filter(|&e| e < 6)];
        let nan = |e: u32| near(e).into_iter().flatten().map(|e| (e, [f64::NAN; 2])).collect::<Vec<_>>();
        let mut order = least_discarded_fill(&(0..6).map(nan).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn elements_without_neighbours_keep_their_order() {
        assert_eq!(least_discarded_fill(&vec![Vec::new(); 4]), [0, 1, 2, 3]);
    }
}
