import type { Registry } from "prom-client";
import { waitAtMost } from "#shared/time/time-limit.ts";
import type { App } from "#control-plane/core/app.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { guardDatabase } from "#control-plane/core/database/guarded.ts";
import { createLiveness } from "#control-plane/watching/heartbeats/liveness.ts";
import { createHeartbeatMetrics } from "#control-plane/watching/heartbeats/metrics.ts";
import { createPingRecorder, type PingRecorder } from "#control-plane/watching/heartbeats/pings/recorder.ts";
import { startSweeper } from "#control-plane/watching/heartbeats/sweeper.ts";
import type { ApplyDeps } from "#control-plane/watching/checking/watch/apply-changes.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";

/** Time limit of a statement that pings wait for, in milliseconds. */
const TIMEOUT_MS = 5_000;
/** Time for waiting pings to be recorded when the replica stops, in milliseconds. */
const CLOSE_MS = 5_000;

/** Opens the recorder of pings and starts the sweeps of late heartbeats. */
export function openPings(
  deps: Pick<App, "sql" | "clock" | "log" | "timers"> & {
    readonly databaseUrl: string;
    readonly registry: Registry;
    readonly encryption: Encryption;
    readonly changes: ApplyDeps;
  },
  teardown: Teardown,
): PingRecorder {
  const { databaseUrl, timers, registry } = deps;
  // With other plans, reading a heartbeat takes longer than finding that there is none, as long as the tables are small or
  // have just grown.
  const options = { connections: 1, statementTimeoutMs: TIMEOUT_MS, fixedPlans: true, timers };
  const open = () => connect(databaseUrl, { name: "vantage heartbeats", ...options });
  const database = guardDatabase(open, TIMEOUT_MS);
  teardown.push(() => database.close());
  const metrics = createHeartbeatMetrics(registry, () => pings.waiting());
  const pings = createPingRecorder({ ...deps, database, metrics });
  teardown.push(() => waitAtMost(CLOSE_MS, pings.close(), undefined));
  const sweeper = startSweeper({ ...deps, metrics, pings, liveness: createLiveness(deps) });
  teardown.push(() => sweeper.stop());
  return pings;
}
