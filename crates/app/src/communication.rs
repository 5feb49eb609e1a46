//! What ranks send in steps or iterations, for `summary.json`.

use std::sync::Arc;

use serde_json::{Value, json};

use dgsuite_gpu::comm::{Amount, CommError, Communicator};

/// What the ranks have sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Communication {
    /// Messages and bytes of all ranks, and agreements that all of them took part in.
    pub amount: Amount,
}

/// What this rank has sent so far: nothing if there is only one.
pub fn so_far(comm: Option<&Arc<dyn Communicator>>) -> Amount {
    comm.and_then(|comm| comm.traffic()).map(|traffic| traffic.now()).unwrap_or_default()
}

impl Communication {
    /// What all ranks have sent since each of them had sent `before`. Collective.
    ///
    /// # Errors
    /// Those of the communication.
    pub fn since(before: Amount, comm: Option<&Arc<dyn Communicator>>) -> Result<Self, CommError> {
        let own = so_far(comm) - before;
        let mut all = [own.messages as i64, own.bytes as i64];
        if let Some(comm) = comm {
            comm.sum(&mut all)?;
        }
        let [messages, bytes] = all.map(|n| n as u64);
        Ok(Self { amount: Amount { messages, bytes, agreements: own.agreements } })
    }

    /// The totals, and those for each of `n` units.
    pub fn to_json(self, unit: &str, n: u64) -> Value {
        let Amount { messages, bytes, agreements } = self.amount;
        let mut value = json!({ "messages": messages, "bytes": bytes, "agreements": agreements });
        for (name, total) in [("messages", messages), ("bytes", bytes), ("agreements", agreements)] {
            value[format!("{name}_per_{unit}")] = json!(total as f64 / n.max(1) as f64);
        }
        value
    }
}

/// The paths of these values in a summary.
macro_rules! paths {
    ($unit:literal) => {
        [
            "communication.messages",
            "communication.bytes",
            "communication.agreements",
            concat!("communication.messages_per_", $unit),
            concat!("communication.bytes_per_", $unit),
            concat!("communication.agreements_per_", $unit),
        ]
    };
}

/// The paths in the summary of a run in time.
pub const PER_STEP: [&str; 6] = paths!("step");
/// The paths in the summary of an elliptic problem.
pub const PER_ITERATION: [&str; 6] = paths!("iteration");

#[cfg(test)]
mod tests {
    use dgsuite_gpu::comm::{Counted, Partner, on_each, threads};

    use super::*;

    #[test]
    fn messages_of_all_ranks_are_summed_and_agreements_are_not() {
        let all = on_each(threads(3), |comm| {
            let comm = Counted::new(Arc::new(comm));
            let other = |rank| Partner { rank, send: 8, receive: 8 };
            let others: Vec<_> = (0..3).filter(|&rank| rank != comm.rank()).map(other).collect();
            let mut exchange = comm.exchange(&others)?;
            let before = so_far(Some(&comm));
            for _ in 0..4 {
                exchange.start()?;
                exchange.finish()?;
            }
            comm.max(&mut [0.0])?;
            Communication::since(before, Some(&comm))
        });
        let amount = Amount { messages: 24, bytes: 192, agreements: 1 };
        assert_eq!(all, vec![Ok(Communication { amount }); 3]);
        let json = Communication { amount }.to_json("step", 4);
        assert_eq!(json["messages_per_step"], 6.0);
        let names: Vec<String> =
            json.as_object().unwrap().keys().map(|name| format!("communication.{name}")).collect();
        assert!(names.iter().all(|name| PER_STEP.contains(&name.as_str())) && names.len() == 6);
    }
}
