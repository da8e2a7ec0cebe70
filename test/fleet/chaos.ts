import { below, type Dice } from "#test/fleet/random.ts";

/**
 * What happens to one agent. `cut`: its stream ends and it comes back; what it held is answered late, on the new stream.
 * `freeze`: silence for longer than the lease, then late results on the old stream and the new one. `duplicate`: its next
 * result is sent twice. `forge`: it speaks for a job of another agent. `decline`: it is busy for the next job.
 */
export type Trouble = "cut" | "freeze" | "duplicate" | "forge" | "decline";

/** Something to happen at a moment of the run: to an agent, or (`kill`) to a process of many. */
export interface Incident {
  readonly atMs: number;
  readonly what: Trouble | "kill";
  /** Number of the agent, or of the process. */
  readonly whom: number;
}

/** How often each thing happens, per second and over the whole fleet. */
export type Rates = Readonly<Record<Incident["what"], number>>;

/** A run's incidents in order; each kind comes at random moments (a Poisson process) and to anyone. */
export function planChaos(
  dice: Dice,
  seconds: number,
  rates: Rates,
  fleet: { readonly agents: number; readonly processes: number },
): Incident[] {
  const incidents: Incident[] = [];
  for (const [what, rate] of Object.entries(rates) as [Incident["what"], number][]) {
    const among = what === "kill" ? fleet.processes : fleet.agents;
    const next = () => (-Math.log(1 - dice()) / rate) * 1_000;
    for (let atMs = next(); atMs < seconds * 1_000; atMs += next()) {
      incidents.push({ atMs, what, whom: below(dice, among) });
    }
  }
  return incidents.toSorted((one, other) => one.atMs - other.atMs);
}
