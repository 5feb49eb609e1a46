//! Colours of elements, so that products with the Jacobian give blocks of it.
//!
//! An element's rate depends on its own state and those of its neighbours across faces. A direction that is
//! not zero in some elements alone, of which no two are neighbours of one element, therefore shows their
//! columns apart.

/// The elements of colours.
pub(super) struct Coloured {
    /// Colours of elements that are no neighbours.
    pub(super) near: Vec<Vec<u32>>,
    /// Colours of elements that are neither neighbours nor neighbours of one element.
    pub(super) apart: Vec<Vec<u32>>,
}

impl Coloured {
    /// Colours of the elements of which these are the neighbours.
    pub(super) fn new(neighbours: &[Vec<u32>]) -> Self {
        let [near, apart] = [false, true].map(|apart| colours(neighbours, apart));
        Self { near, apart }
    }
}

/// The elements of each colour: no two of them are neighbours, nor, with `apart`, neighbours of one element.
/// Each element, in order, gets the first colour that is free.
fn colours(neighbours: &[Vec<u32>], apart: bool) -> Vec<Vec<u32>> {
    let mut of_element = vec![usize::MAX; neighbours.len()];
    let mut colours: Vec<Vec<u32>> = Vec::new();
    let mut taken: Vec<usize> = Vec::new();
    for e in 0..neighbours.len() {
        let mut take = |other: u32| {
            let colour = of_element[other as usize];
            if colour != usize::MAX {
                if taken.len() <= colour {
                    taken.resize(colour + 1, usize::MAX);
                }
                taken[colour] = e;
            }
        };
        for &near in &neighbours[e] {
            take(near);
            if apart {
                neighbours[near as usize].iter().for_each(|&far| take(far));
            }
        }
        let free = (0..).find(|&c| taken.get(c) != Some(&e)).unwrap_or(0);
        of_element[e] = free;
        if free == colours.len() {
            colours.push(Vec::new());
        }
        colours[free].push(e as u32);
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_a_colour_are_apart() {
        // A ring of 7 and a star.
        let mut near: Vec<Vec<u32>> = (0..7).map(|e| vec![(e + 1) % 7, (e + 6) % 7]).collect();
        near.push(vec![8, 9, 10]);
        near.extend((0..3).map(|_| vec![7]));
        for apart in [false, true] {
            let found = colours(&near, apart);
            assert_eq!(found.iter().map(Vec::len).sum::<usize>(), near.len());
            for colour in &found {
                for (i, &a) in colour.iter().enumerate() {
                    for &b in &colour[..i] {
                        let (a, b) = (&near[a as usize], b);
                        let far = a.iter().any(|&c| near[c as usize].contains(&b));
                        assert!(!(a.contains(&b) || apart && far), "{found:?}");
                    }
                }
            }
            assert!(found.len() <= if apart { 4 } else { 3 }, "{found:?}");
        }
    }
}
