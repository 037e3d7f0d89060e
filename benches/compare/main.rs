//! How does `repl` compare with stock rsync in each role, in the same run?
//!
//!     cargo bench --bench compare                    everything, some hours
//!     cargo bench --bench compare -- --quick         a smoke run on small trees
//!     cargo bench --bench compare -- --only delta    the cases whose name contains "delta"
//!     cargo bench --bench compare -- --runs 9 --dir /mnt/disk --way pipe
//!
//! The ways: `daemon` and `pipe` push to a stock receiver, `serve` is pushed to and `pull` pulls from a stock sender,
//! `both` has the same program at both ends of a pipe, `local` copies within the machine.
//!
//! It prints a Markdown table; `RESULTS.md` beside this folder keeps the last full one.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made must stop")]

mod cases;
mod clients;
mod far_side;
mod measure;
mod processes;
mod table;
mod trees;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::far_side::{FarSide, Way};
use crate::table::Row;

/// What the command line asks for.
struct Plan {
    quick: bool,
    runs: usize,
    dir: PathBuf,
    only: Option<String>,
    ways: Vec<Way>,
}

fn main() -> ExitCode {
    let plan = match Plan::parse(std::env::args().skip(1)) {
        Ok(plan) => plan,
        Err(message) => {
            eprintln!("compare: {message}");
            return ExitCode::from(1);
        }
    };
    let work = plan.dir.join(format!("compare-{}", std::process::id()));
    std::fs::create_dir_all(&work).unwrap();
    table::print_head(plan.quick, plan.runs);
    for case in cases::all(plan.quick) {
        if plan.only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
            continue;
        }
        let folder = work.join(case.name);
        std::fs::create_dir(&folder).unwrap();
        case.prepare(&folder);
        for way in &plan.ways {
            let far = FarSide::start(*way, &folder);
            Row::measure(&case, &far, &folder, plan.runs).print();
        }
    }
    // ext4 does not hand out a freed inode again for minutes and searches past all of them, so nothing
    // that was copied is deleted before the last number is taken.
    std::fs::remove_dir_all(&work).unwrap();
    ExitCode::SUCCESS
}

impl Plan {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let ways = Way::ALL.to_vec();
        let mut plan = Self { quick: false, runs: 5, dir: target, only: None, ways };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                // Cargo adds it to every benchmark.
                "--bench" => {}
                "--quick" => (plan.quick, plan.runs) = (true, 1),
                "--runs" => plan.runs = value()?.parse().map_err(|_| "--runs needs a number")?,
                "--dir" => plan.dir = PathBuf::from(value()?),
                "--only" => plan.only = Some(value()?),
                "--way" => plan.ways = vec![Way::parse(&value()?)?],
                other => return Err(format!("unknown argument {other}")),
            }
        }
        Ok(plan)
    }
}
