import type { FailingLocation, Fault, MonitorTarget } from "#control-plane/outages/incidents/incident.ts";

type Stage = Fault["stage"];

/** Differences to a monitor of https://shop.example.com/cart with three locations. */
interface TargetOptions {
  readonly url?: string;
  readonly checkType?: string;
  readonly port?: number;
  readonly timeoutSeconds?: number;
  readonly locations?: readonly string[];
}

/** The same fault at locations that are separated by spaces. */
type FaultAt = readonly [locations: string, stage: Stage, reason: string, message: string];

/** A row of a table of causes. */
export type CauseCase = [
  what: string,
  faults: readonly FaultAt[],
  code: string,
  message: string,
  target?: TargetOptions,
];

const LOCATIONS = ["eu-west", "us-east", "ap-south"];

/** Every location of the monitor. */
export const ALL = LOCATIONS.join(" ");
/** A probe's message about a refused connection. */
export const REFUSED = "203.0.113.9:443: no service listens on the port, or a firewall rejects the connection";

/** Creates a monitor. */
export function targetWith(options: TargetOptions = {}): MonitorTarget {
  const { url = "https://shop.example.com/cart", checkType = "http", port = null } = options;
  const { timeoutSeconds = 15, locations = LOCATIONS } = options;
  return { url, checkType, settings: { timeout_seconds: timeoutSeconds, port, locations } };
}

/** Returns the failing locations of a row. */
export function failingOf(faults: readonly FaultAt[]): readonly FailingLocation[] {
  return faults.flatMap(([locations, stage, reason, message]) =>
    locations
      .split(" ")
      .map((location) => ({ location, fault: { stage, source: "target", reason, message } as const })),
  );
}
