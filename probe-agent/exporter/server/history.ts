import type { Fields } from "#probe-agent/exporter/probe.ts";

/** One line of the log of a probe. */
export interface LogLine {
  readonly at: Date;
  readonly level: string;
  readonly message: string;
  readonly fields: Fields;
}

/** A probe that has ended. */
export interface PastProbe {
  readonly id: number;
  readonly module: string;
  readonly target: string;
  readonly success: boolean;
  readonly lines: readonly LogLine[];
  /** The metrics as they were answered. */
  readonly metrics: string;
  /** The module as written, without its secrets. */
  readonly options: unknown;
}

/** The most recent probes, and the most recent failures beyond them. */
interface History {
  add(probe: Omit<PastProbe, "id">): PastProbe;
  /** Newest first. */
  list(): readonly PastProbe[];
  find(id: number): PastProbe | null;
}

/** Creates an empty history that keeps `limit` probes and as many failures that have left it. */
export function createHistory(limit: number): History {
  const recent: PastProbe[] = [];
  const failures: PastProbe[] = [];
  let next = 0;
  return {
    add(probe) {
      const past = { id: next, ...probe };
      next += 1;
      recent.push(past);
      const leaving = recent.length > limit ? recent.shift() : undefined;
      if (leaving !== undefined && !leaving.success && limit > 0) {
        failures.push(leaving);
        if (failures.length > limit) failures.shift();
      }
      return past;
    },
    list: () => [...recent.toReversed(), ...failures.toReversed()],
    find: (id) => recent.find((past) => past.id === id) ?? failures.find((past) => past.id === id) ?? null,
  };
}
