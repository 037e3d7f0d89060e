//! How do the numbers stand in a table?

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::cases::Case;
use crate::clients::Client;
use crate::far_side::FarSide;
use crate::measure::{self, Cost};

/// One case by one way: the medians of both clients.
pub(crate) struct Row {
    title: String,
    medians: [Cost; 2],
}

/// Prints what was measured where, and the head of the table.
pub(crate) fn print_head(quick: bool, runs: usize) {
    println!("Measured on {}: {}.", output_of("date", &["-I"]), machine());
    println!(
        "Stock: {}. Ours: {}.",
        output_of("rsync", &["--version"]),
        output_of(env!("CARGO_BIN_EXE_repl"), &["--version"])
    );
    let kind = if quick { "a smoke run on small trees, of no other worth" } else { "full trees" };
    println!(
        "Medians of {runs} runs each, in turn; {kind}. Each cell: stock, then `repl`, then the ratio.\n"
    );
    println!(
        "| case | way | wall s | client CPU s | server CPU s | client peak MiB | server peak MiB | wire MB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

/// Returns the first line of what a program prints.
fn output_of(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().map(|output| output.stdout);
    let text = String::from_utf8(output.unwrap_or_default()).unwrap_or_default();
    let line = text.lines().next().unwrap_or("unknown");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models: Vec<_> = cpus.lines().filter_map(|line| line.strip_prefix("model name")).collect();
    let model = models.first().map_or("unknown", |text| text.trim_start_matches(['\t', ' ', ':']));
    format!("{} × {model}, Linux {}", models.len(), output_of("uname", &["-r"]))
}

impl Row {
    /// Runs both clients in turn.
    pub(crate) fn measure(case: &Case, far: &FarSide, folder: &Path, runs: usize) -> Self {
        let mut costs = [Vec::new(), Vec::new()];
        for number in 0..runs {
            for (client, costs) in Client::BOTH.into_iter().zip(&mut costs) {
                let run = format!("{}-{}-{number}", far.way.name(), client.name());
                let name = case.lay_before(folder, &run);
                let command = client.command(case, far, folder, &name);
                costs.push(measure::run(command, far, folder));
                case.empty_copy(folder, &name);
            }
        }
        let title = format!("{}: {} | {}", case.says, case.size(), far.way.name());
        Self { title, medians: costs.map(|costs| median(&costs)) }
    }

    pub(crate) fn print(&self) {
        let [stock, ours] = &self.medians;
        let seconds = |pick: fn(&Cost) -> Duration| {
            cell(pick(stock).as_secs_f64(), pick(ours).as_secs_f64(), 3)
        };
        let scaled = |pick: fn(&Cost) -> u64, unit: f64, digits| {
            cell(pick(stock) as f64 / unit, pick(ours) as f64 / unit, digits)
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            self.title,
            seconds(|cost| cost.wall),
            seconds(|cost| cost.client_cpu),
            seconds(|cost| cost.server_cpu),
            scaled(|cost| cost.client_peak, 1_048_576.0, 1),
            scaled(|cost| cost.server_peak, 1_048_576.0, 1),
            scaled(|cost| cost.wire_bytes, 1e6, 2),
        );
    }
}

fn cell(stock: f64, ours: f64, digits: usize) -> String {
    let ratio = if stock > 0.0 { format!("{:.2}", ours / stock) } else { "-".to_owned() };
    format!("{stock:.digits$}, {ours:.digits$}, **{ratio}**")
}

/// Returns the median of each number by itself.
fn median(costs: &[Cost]) -> Cost {
    Cost {
        wall: middle(costs, |cost| cost.wall),
        client_cpu: middle(costs, |cost| cost.client_cpu),
        server_cpu: middle(costs, |cost| cost.server_cpu),
        client_peak: middle(costs, |cost| cost.client_peak),
        server_peak: middle(costs, |cost| cost.server_peak),
        wire_bytes: middle(costs, |cost| cost.wire_bytes),
    }
}

fn middle<T: Ord + Copy>(costs: &[Cost], pick: fn(&Cost) -> T) -> T {
    let mut values: Vec<T> = costs.iter().map(pick).collect();
    values.sort_unstable();
    values[values.len() / 2]
}
