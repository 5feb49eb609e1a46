//! Where the processes of a launcher meet without MPI, from environment variables.

use crate::comm::Launch;

/// Ports after that of the launcher, one of which rank 0 listens at.
const PORTS: u16 = 8;
/// The lowest port for steps of Slurm, and the number of steps that have ports of their own. The ports of
/// Linux's outgoing connections begin at 32768.
const SLURM_PORTS: (u64, u64) = (20_000, 1_500);

/// A place on the network, and the run that meets there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The machine of rank 0.
    pub(super) host: String,
    /// The first of [`PORTS`] ports.
    first: u16,
    /// Tells the processes of this run from others.
    pub(super) token: String,
}

impl Place {
    /// The place of a launch. The error is a reason.
    pub(super) fn of(launch: &Launch, get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let word = |name: &str| get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let number = |name: &str| word(name)?.parse::<u64>().ok();
        let master = word("MASTER_ADDR");
        let port = word("MASTER_PORT");
        let first = match port.as_deref().map(str::parse::<u16>) {
            Some(Ok(port)) if port > 0 && port < u16::MAX - PORTS => Some(port + 1),
            Some(_) => {
                let port = port.unwrap_or_default();
                return Err(format!(
                    "MASTER_PORT is '{port}', which is no port from 1 to {}",
                    u16::MAX - PORTS - 1
                ));
            }
            None => None,
        };
        let slurm = number("SLURM_JOB_ID").filter(|_| launch.launcher == "srun");
        let step = number("SLURM_STEP_ID").unwrap_or(0);
        let token = match slurm {
            Some(job) => format!("job {job}, step {step}"),
            None => {
                let run = word("TORCHELASTIC_RUN_ID").unwrap_or_default();
                let restarts = word("TORCHELASTIC_RESTART_COUNT").unwrap_or_else(|| "0".to_owned());
                format!("run '{run}', restart {restarts}")
            }
        };
        let of_step = |job: u64| {
            let (lowest, steps) = SLURM_PORTS;
            // Below 2¹⁶.
            (lowest + u64::from(PORTS) * ((job + 31 * step) % steps)) as u16
        };
        let host = master.or_else(|| slurm.and_then(|_| machine(&word)));
        match (host, first.or_else(|| slurm.map(of_step))) {
            (Some(host), Some(first)) => Ok(Self { host, first, token }),
            (None, _) if slurm.is_some() => {
                Err("let MASTER_ADDR name the machine of rank 0, for instance by \
                 `export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)`"
                    .to_owned())
            }
            _ => Err("let MASTER_ADDR name the machine of rank 0, and MASTER_PORT a port of it".to_owned()),
        }
    }

    /// The ports at which rank 0 may listen, in the order of trial. Port `MASTER_PORT` itself is not among
    /// them: the agents of `torchrun` talk there.
    pub(super) fn ports(&self) -> impl Iterator<Item = u16> + use<> {
        self.first..self.first + PORTS
    }

    /// The place in a sentence.
    pub(super) fn text(&self) -> String {
        format!("{}, ports {} to {}", self.host, self.first, self.first + PORTS - 1)
    }

    /// Whether only processes of the same machine come here.
    pub(super) fn is_local(&self) -> bool {
        self.host == "localhost" || self.host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

/// The machine of rank 0 in a step of Slurm whose list of nodes is one name; lists with brackets are Slurm's
/// to read.
fn machine(word: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let one = |names: &[&str]| names.iter().find_map(|name| word(name)).is_some_and(|count| count == "1");
    if one(&["SLURM_STEP_NUM_NODES", "SLURM_JOB_NUM_NODES", "SLURM_NNODES"]) {
        return Some("localhost".to_owned());
    }
    let list = word("SLURM_STEP_NODELIST").or_else(|| word("SLURM_JOB_NODELIST"))?;
    (!list.contains(['[', ','])).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(launcher: &'static str, variables: &str) -> Result<Place, String> {
        let launch = Launch { rank: 0, size: Some(2), local_rank: None, launcher };
        let pairs: Vec<_> = variables.split(' ').filter_map(|pair| pair.split_once('=')).collect();
        Place::of(&launch, |name| Some(pairs.iter().find(|(key, _)| *key == name)?.1.to_owned()))
    }

    #[test]
    fn the_processes_of_torchrun_meet_beside_its_agents() {
        let run = "MASTER_ADDR=node1 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=a TORCHELASTIC_RESTART_COUNT=2";
        let place = place("torchrun", run).expect("a place");
        assert_eq!((&*place.host, &*place.token), ("node1", "run 'a', restart 2"));
        assert!(place.ports().eq(29501..29509) && !place.is_local());
    }

    #[test]
    fn steps_of_slurm_have_ports_and_tokens_of_their_own() {
        let step = |more: &str| place("srun", &format!("SLURM_JOB_ID=1234567 {more}"));
        let one = step("SLURM_STEP_ID=0 SLURM_STEP_NUM_NODES=1 SLURM_STEP_NODELIST=node7").expect("a place");
        assert!(one.is_local() && one.token == "job 1234567, step 0");
        let other =
            step("SLURM_STEP_ID=1 SLURM_STEP_NUM_NODES=2 SLURM_STEP_NODELIST=node7").expect("a place");
        assert!(other.host == "node7" && !one.ports().any(|port| other.ports().any(|p| p == port)));
        let named =
            step("MASTER_ADDR=node3 MASTER_PORT=4000 SLURM_STEP_NODELIST=node[3-4]").expect("a place");
        assert!(named.host == "node3" && named.ports().eq(4001..4009));
        for id in [0, 1, u64::from(u32::MAX)] {
            let any = place("srun", &format!("SLURM_JOB_ID={id} SLURM_NNODES=1")).expect("a place");
            assert!(any.ports().all(|port| (20_000..32_768).contains(&port)), "{id}");
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        for (launcher, variables, part) in [
            ("torchrun", "", "let MASTER_ADDR name the machine of rank 0, and MASTER_PORT"),
            ("torchrun", "MASTER_ADDR=a", "MASTER_PORT a port of it"),
            ("torchrun", "MASTER_ADDR=a MASTER_PORT=0", "MASTER_PORT is '0'"),
            ("torchrun", "MASTER_ADDR=a MASTER_PORT=65530", "no port from 1 to 65526"),
            ("srun", "SLURM_JOB_ID=7 SLURM_STEP_NODELIST=node[1-2]", "scontrol show hostnames"),
            ("srun", "SLURM_JOB_ID=7 SLURM_STEP_NODELIST=a,b", "scontrol show hostnames"),
            ("mpiexec", "SLURM_JOB_ID=7 SLURM_NNODES=1", "MASTER_ADDR"),
        ] {
            let reason = place(launcher, variables).expect_err(variables);
            assert!(reason.contains(part), "{variables}: {reason}");
        }
    }
}
