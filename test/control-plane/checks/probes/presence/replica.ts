import { pino } from "pino";
import { Registry } from "prom-client";
import type { Hello } from "#shared/protocol/probe.ts";
import { connect, connectListener } from "#control-plane/core/database/connect.ts";
import { guardDatabase } from "#control-plane/core/database/guarded.ts";
import { createNotifications } from "#control-plane/core/database/notifications.ts";
import { readHello, type AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import { createPresence, type PresenceService } from "#control-plane/checks/probes/presence/presence.ts";
import { systemClock } from "#test/support/clock.ts";
import { endClient } from "#test/support/end-client.ts";
import { helloOf } from "#test/support/scripted-agent.ts";
import { liveTimers } from "#test/support/timers.ts";

/** The presence of one replica, without its hub. */
export interface TestReplica extends PresenceService {
  /** Number of statements so far; a read counts as one. */
  statements(): number;
  /** Returns the sum of a metric's values. */
  metric(name: string): Promise<number>;
}

/** Starts the presence of one replica on a database. */
export async function startReplica(
  id: string,
  databaseUrl: string,
  options: { readonly address?: string; readonly deaf?: boolean } = {},
): Promise<TestReplica> {
  const registry = new Registry();
  const guarded = guardDatabase(
    () => connect(databaseUrl, { name: `presence ${id}`, connections: 1, statementTimeoutMs: 30_000 }),
    30_000,
  );
  const listener = connectListener(databaseUrl, `listener ${id}`);
  let statements = 0;
  const presence = createPresence({
    timers: liveTimers,
    database: {
      run(work) {
        statements += 1;
        return guarded.run(work);
      },
      close: () => guarded.close(),
    },
    // As behind a connection pooler in transaction mode: no notification ever arrives.
    notifications: options.deaf === true ? { listen: () => {} } : createNotifications(listener, liveTimers),
    clock: systemClock,
    log: pino({ level: "silent" }),
    registry,
    address: options.address ?? "",
  });
  await presence.start(id);
  return {
    ...presence,
    statements: () => statements,
    async metric(name) {
      const values = (await registry.getSingleMetric(name)?.get())?.values ?? [];
      return values.reduce((sum, { value }) => sum + value, 0);
    },
    async stop() {
      await presence.stop();
      await endClient(listener);
    },
  };
}

/** Returns an agent as the hub knows it. */
export function agentOf(id: string, region = "eu-west", over: Partial<Hello> = {}): AgentInfo {
  const read = readHello(helloOf(region, { agentId: id, ...over }));
  if (!read.ok) throw new Error(read.rejection.message);
  return read.agent;
}
