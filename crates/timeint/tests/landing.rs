//! Step control: steps land on every event to the last bit, and no step is too long or needlessly short.
#![allow(clippy::unwrap_used)]

use dgsuite_timeint::{Controller, Finish, STRETCH, Schedule, Step, StepSize, multiples};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_event_is_landed_on_and_no_step_is_out_of_bounds(
        start in -10.0..10.0,
        length in 0.01..20.0,
        shares in prop::collection::vec(0.0f64..1.0, 0..12),
        limits in prop::collection::vec(0.01f64..1.0, 1..30),
        cfl in 0.1..2.0,
    ) {
        let end = start + length;
        let mut events: Vec<f64> = shares.iter().map(|s| start + s * length).collect();
        let schedule = Schedule { start, end: Some(end), steps: None, events: events.clone() };
        let mut run = Controller::new(&schedule, StepSize::Cfl(cfl)).unwrap();
        let mut steps: Vec<(Step, f64)> = Vec::new();
        while let Some(step) = run.plan(limits[steps.len() % limits.len()]).unwrap() {
            let wanted = cfl * limits[steps.len() % limits.len()];
            run.accept(&step);
            steps.push((step, wanted));
            prop_assert!(steps.len() < 10_000);
        }
        prop_assert_eq!(run.finish(), Some(Finish::End));
        prop_assert_eq!(run.now().t.to_bits(), end.to_bits());

        // Steps are contiguous, advance, and are no longer than wanted.
        let mut t = start;
        for (i, (step, wanted)) in steps.iter().enumerate() {
            prop_assert!(step.index == i as u64 && step.t == t && step.t_next > step.t);
            prop_assert!(step.dt > 0.0 && step.dt <= wanted * (1.0 + STRETCH));
            prop_assert!((step.t_next - step.t - step.dt).abs() <= 4e-15 * t.abs().max(1.0));
            t = step.t_next;
        }

        // Every event is the end of a step, to the last bit, or is one event with others that follow within a
        // hundredth of a step.
        events.retain(|&e| e > start + 1e-10 && e < end - 1e-10);
        for event in &events {
            let hit = steps.iter().any(|(s, _)| s.lands && s.t_next.to_bits() == event.to_bits());
            let twin = |e: &f64| e != event && (-1e-10..0.01 * cfl).contains(&(e - event));
            let twin = events.iter().chain([&end]).any(twin);
            prop_assert!(hit || twin, "missed {event}");
        }

        // A step is below half of the wanted one only if the interval itself was short from where it began,
        // or if the limit has just changed.
        let mut marks = events.clone();
        marks.push(end);
        for (step, wanted) in &steps {
            let next = marks.iter().copied().filter(|&m| m > step.t).fold(f64::INFINITY, f64::min);
            let left = next - step.t;
            if left > 2.0 * wanted {
                prop_assert!(step.dt == *wanted);
            } else {
                prop_assert!(step.dt >= 0.5 * left * (1.0 - 1e-9));
            }
        }
    }

    /// Fixed steps: as many as fit into the run, for any step that divides it.
    #[test]
    fn fixed_steps_are_counted_exactly(n in 1usize..5_000, end in 0.1..100.0, start in 0.0..5.0) {
        let dt = end / n as f64;
        let schedule = Schedule { start, end: Some(start + end), ..Schedule::default() };
        let mut run = Controller::new(&schedule, StepSize::Fixed(dt)).unwrap();
        let mut count = 0;
        while let Some(step) = run.plan(0.0).unwrap() {
            run.accept(&step);
            count += 1;
        }
        prop_assert_eq!(count, n);
    }

    #[test]
    fn multiples_are_sorted_inside_and_complete(period in 0.01..3.0, start in 0.0..10.0, length in 0.0..20.0) {
        let end = start + length;
        let times = multiples(period, start, end).unwrap();
        prop_assert!(times.windows(2).all(|w| w[1] > w[0] && (w[1] - w[0] - period).abs() < 1e-9));
        prop_assert!(times.iter().all(|&t| t > start && t <= end));
        let expected = (end / period).floor() - (start / period).floor();
        prop_assert!((times.len() as f64 - expected).abs() <= 1.0);
    }
}
