import { join, resolve } from "node:path";
import { stateDirOf } from "#shared/agent-state.ts";
import { listenerUrl } from "#shared/settings/address.ts";
import { readAdminToken } from "#shared/client/up/admin-token.ts";
import { makeJoinToken } from "#shared/client/up/join-token.ts";
import { startChild, type Child } from "#shared/client/up/child.ts";
import { agentEnvironment, controlPlaneEnvironment } from "#shared/client/up/environment.ts";
import { boundLogs } from "#shared/client/up/log-file.ts";
import type { Ground, Undo } from "#shared/client/up/options.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { waitFor } from "#shared/client/up/ready.ts";
import { sayWelcome } from "#shared/client/up/welcome.ts";

/** An agent drains for up to 30 s; the control plane finishes its requests. Milliseconds. */
const GRACE_MS = 35_000;

/** Readiness waits at most 30 s for an agent; a longer wait indicates a fault. Milliseconds. */
const LATE_AFTER_MS = 40_000;

/** Starts control plane and agent, waits until the service is ready, and prints how to use it. */
export async function startProcesses(ground: Ground, undo: Undo): Promise<{ ok: true } | Problem> {
  const { environment, entries, settings, dataDirectory, processes, database, say, stop } = ground;
  const own = listenerUrl(settings.httpAddr, settings.tlsCert !== null);
  const logs = { controlPlane: join(dataDirectory, "control-plane.log"), agent: join(dataDirectory, "agent.log") };
  const common = { processes, say, graceMs: GRACE_MS };

  const controlPlane = startChild({
    ...common,
    name: "control plane",
    entry: entries.controlPlane,
    environment: () => Promise.resolve(controlPlaneEnvironment(environment, dataDirectory, database.url)),
    logFile: logs.controlPlane,
  });
  undo.push(() => controlPlane.stop());
  const alive = await unlessFailed([controlPlane], stop, (signal) => waitFor(`${own}/healthz`, signal));
  if (!alive.ok || stop.aborted) return alive;

  // Start the agent only after the control plane listens: a failed first attempt would wait for its back-off.
  const agent = startChild({
    ...common,
    name: "agent",
    entry: entries.agent,
    environment: async () => ({
      ...agentEnvironment(environment, dataDirectory, settings),
      ...(await joinToken(ground, own)),
    }),
    logFile: logs.agent,
  });
  undo.push(() => agent.stop());
  const late = setTimeout(() => say(`Not ready yet: see ${Object.values(logs).join(" and ")}`), LATE_AFTER_MS);
  const ready = await unlessFailed([controlPlane, agent], stop, (signal) => waitFor(`${own}/readyz`, signal));
  clearTimeout(late);
  if (!ready.ok || stop.aborted) return ready;
  controlPlane.keep();
  agent.keep();
  const unbound = boundLogs(Object.values(logs));
  undo.push(() => Promise.resolve(unbound()));
  await sayWelcome(ground, own, logs, ready.value?.degraded ?? []);
  return { ok: true };
}

/** Creates the local agent's join token; only the agent's process gets it. */
async function joinToken(ground: Ground, base: string): Promise<Record<string, string>> {
  const { settings, agentSettings, dataDirectory, directory } = ground;
  const { region, stateDir, joinToken: given, joinTokenFile } = agentSettings;
  const adminToken = readAdminToken(settings, dataDirectory);
  if (given !== null || joinTokenFile !== null || adminToken === null) return {};
  const folder = resolve(directory, stateDirOf({ stateDir, region, dataDir: dataDirectory }));
  const token = await makeJoinToken({ base, adminToken, region, stateDir: folder }).catch(() => null);
  return token === null ? {} : { VANTAGE_JOIN_TOKEN: token };
}

/** Waits for `wait`, or for the first child that fails to start. */
async function unlessFailed<T>(
  children: readonly Child[],
  stop: AbortSignal,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<{ ok: true; value: T } | Problem> {
  const given = new AbortController();
  const waiting = wait(AbortSignal.any([stop, given.signal])).then((value) => ({ ok: true as const, value }));
  const failures = children.map((child) => child.failed.then(problem));
  const first = await Promise.race([waiting, ...failures]);
  given.abort();
  return first;
}
