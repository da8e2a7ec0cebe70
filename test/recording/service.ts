import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import type { Clock } from "#shared/time/clock.ts";
import { createManualClock, systemClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { noteAllRoutes, type FoundRoute } from "#test/support/dashboard-routes.ts";

/** The time of every recording, a Wednesday. */
const START = new Date("2026-03-04T10:00:00Z");
const MOST = 1_000_000_000;
/** Nothing listens there: pages about mail exist, and none is sent. */
const NO_SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;

/** A clock that only the recording moves. */
export interface RecordingClock extends Clock {
  advance(ms: number): void;
  /** Shows the host's time meanwhile: TLS compares the dates of certificates with that. */
  showToday<T>(meanwhile: () => Promise<T>): Promise<T>;
}

/** A control plane with a database of its own, whose time only the recording moves. */
export interface RecordedService {
  readonly plane: TestControlPlane;
  readonly clock: RecordingClock;
  /** Every route that it has registered, in that order. */
  readonly routes: readonly FoundRoute[];
  stop(): Promise<void>;
}

/** Starts a control plane over a new database. */
export async function startRecordedService(): Promise<RecordedService> {
  const folder = mkdtempSync(join(tmpdir(), "vantage-recording-"));
  // Under root the database runs as nobody, which must be able to enter.
  chmodSync(folder, 0o711);
  const started = await startCluster({
    root: join(folder, "postgres"),
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
    initdb: ["--no-sync"],
  });
  if (!started.ok) throw new Error(started.line);
  const { cluster } = started;
  await cluster.createDatabase("vantage");
  const databaseUrl = cluster.url("vantage");
  await migrate(databaseUrl);
  const routes = noteAllRoutes();
  const clock = createClock();
  const plane = await startControlPlane({
    databaseUrl,
    overrides: { clock },
    config: {
      mail: { server: NO_SERVER, from: "Vantage <alerts@example.com>" },
      signUp: "open",
      // Each request comes from an address of its own, so that none meets the limits of an address.
      trustedProxies: ["127.0.0.0/8"],
      targetBudget: MOST,
      openPerMinute: MOST,
      openPerDay: MOST,
      v1V2Sunset: new Date("2027-01-01T00:00:00Z"),
    },
  });
  return {
    plane,
    clock,
    routes,
    async stop() {
      await plane.stop();
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function createClock(): RecordingClock {
  const manual = createManualClock(START);
  let isToday = false;
  return {
    ...manual,
    now: () => (isToday ? systemClock.now() : manual.now()),
    async showToday(meanwhile) {
      isToday = true;
      try {
        return await meanwhile();
      } finally {
        isToday = false;
      }
    },
  };
}
