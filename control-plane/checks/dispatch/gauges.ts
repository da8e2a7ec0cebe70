import { Gauge, type Registry } from "prom-client";
import { loadOf, type Session } from "#control-plane/checks/dispatch/session.ts";

/** Registers the gauges that are computed from the sessions at each scrape. */
export function registerDispatchGauges(registry: Registry, sessions: () => Iterable<Session>): void {
  /** Registers a sum over the sessions; 0 is shown too, to distinguish an idle region from a missing one. */
  const sum = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: (session: Session) => readonly (readonly [Record<L, string>, number])[],
  ): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers: [],
        collect() {
          this.reset();
          for (const session of sessions()) {
            for (const [labels, value] of read(session)) this.inc(labels, value);
          }
        },
      }),
    );
  };
  /** Registers the highest value of each region. */
  const highest = (name: string, help: string, read: (session: Session) => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ["region"],
        registers: [],
        collect() {
          this.reset();
          const worst = new Map<string, number>();
          for (const session of sessions()) {
            const { region } = session.agent.place;
            worst.set(region, Math.max(worst.get(region) ?? 0, read(session)));
          }
          for (const [region, value] of worst) this.set({ region }, value);
        },
      }),
    );
  };

  sum("vantage_agents", "Attached probe agents", ["region", "state"], (session) => [
    [{ region: session.agent.place.region, state: stateOf(session) }, 1],
  ]);
  sum(
    "vantage_agent_credits",
    "Jobs that the agents accept at the same time from this replica",
    ["region", "state"],
    (session) => {
      const { region } = session.agent.place;
      return [
        [{ region, state: "granted" }, session.credits],
        [{ region, state: "used" }, session.running.size],
      ];
    },
  );
  sum("vantage_jobs_in_flight", "Jobs held by agents or waiting for a credit", ["region", "state"], (session) => {
    const { region } = session.agent.place;
    return [
      [{ region, state: "running" }, session.running.size],
      [{ region, state: "waiting" }, session.waiting.size],
    ];
  });
  highest("vantage_agent_load_ratio", "Share of an agent's job slots in use, highest of the region", loadOf);
  highest(
    "vantage_agent_loop_lag_seconds",
    "Latest reported maximum delay of an agent's event loop, highest of the region",
    (session) => session.loopLagMs / 1_000,
  );
}

function stateOf({ draining, enrolled }: Session): string {
  if (!enrolled.enabled) return "disabled";
  return draining ? "draining" : "online";
}
