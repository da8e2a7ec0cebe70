import { pino } from "pino";
import { Registry } from "prom-client";
import type { Clock } from "#shared/time/clock.ts";
import { createHub, type Hub } from "#control-plane/checks/dispatch/hub.ts";
import type { JobAnswer, JobRequest } from "#control-plane/checks/dispatch/job.ts";
import type { Presence } from "#control-plane/checks/dispatch/presence.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";

/** A hub without a network, with its metrics and log. */
export interface LocalHub {
  readonly hub: Hub;
  readonly lines: readonly Record<string, unknown>[];
  /** Runs a job on one of the named agents, in this order of preference. */
  run(agentIds: readonly string[], over?: Partial<JobRequest>): Promise<JobAnswer>;
  /** Returns the values of a metric by its labels, joined by commas. */
  figures(name: string): Promise<Record<string, number>>;
}

/** Creates a hub. The caller must stop it. */
export function startLocalHub(options: { readonly clock?: Clock; readonly presence?: Presence } = {}): LocalHub {
  const registry = new Registry();
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: "info" },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const { clock = systemClock, presence } = options;
  const hub = createHub({
    clock,
    random: systemRandom,
    log,
    registry,
    ...(presence === undefined ? {} : { presence }),
  });
  return {
    hub,
    lines,
    run: (agentIds, over = {}) =>
      hub.run({
        tool: "check",
        accountId: null,
        params: "{}",
        deadlineMs: 240_000,
        pick: (excluded) => agentIds.find((id) => !excluded.has(id) && hub.roster.session(id) !== undefined) ?? null,
        ...over,
      }),
    async figures(name) {
      const metric = await registry.getSingleMetric(name)?.get();
      return Object.fromEntries(
        (metric?.values ?? []).map((value) => [Object.values(value.labels).join(","), value.value]),
      );
    },
  };
}
