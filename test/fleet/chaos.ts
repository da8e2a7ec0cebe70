import { below, type Dice } from "#test/fleet/random.ts";

/**
 * What happens to one agent. `cut`: its stream ends and it comes back; what it held is answered late, on the new
 * stream. `freeze`: silence for longer than the lease, then late results on the old stream and the new one.
 * `duplicate`: its next result is sent twice. `forge`: it speaks for a job of another agent. `decline`: it is busy for
 * the next job.
 */
export type Trouble = "cut" | "freeze" | "duplicate" | "forge" | "decline";

/** A fault at a moment of the run, of an agent or (`kill`) of a process with many agents. */
export interface Fault {
  readonly atMs: number;
  readonly what: Trouble | "kill";
  /** Number of the agent, or of the process. */
  readonly target: number;
}

/** How often each fault happens, per second and over the whole fleet. */
export type Rates = Readonly<Record<Fault["what"], number>>;

/**
 * Returns a run's faults in order. Each kind happens at random moments (a Poisson process) to a random agent or
 * process.
 */
export function planChaos(
  dice: Dice,
  seconds: number,
  rates: Rates,
  fleet: { readonly agents: number; readonly processes: number },
): Fault[] {
  const incidents: Fault[] = [];
  for (const [what, rate] of Object.entries(rates) as [Fault["what"], number][]) {
    const among = what === "kill" ? fleet.processes : fleet.agents;
    const next = () => (-Math.log(1 - dice()) / rate) * 1_000;
    for (let atMs = next(); atMs < seconds * 1_000; atMs += next()) {
      incidents.push({ atMs, what, target: below(dice, among) });
    }
  }
  return incidents.toSorted((one, other) => one.atMs - other.atMs);
}
