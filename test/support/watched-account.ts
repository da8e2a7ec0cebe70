import type { Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { insertEntries } from "#control-plane/watching/checking/schedule/store.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { insertStates } from "#control-plane/outages/state/store.ts";
import { insertMonitors, reserveIds } from "#control-plane/monitors/store.ts";
import type { TestControlPlane } from "#test/support/control-plane.ts";

/** An account with monitors whose checks are due. */
export interface WatchedAccount {
  readonly accountId: number;
  readonly key: string;
  /** Ids of its monitors, ascending. */
  readonly ids: readonly number[];
}

const LOCATIONS = ["eu-west", "us-east", "ap-south"];

/** Creates an account with monitors at three locations, for a control plane that needs no agents. */
export async function createWatchedAccount(
  plane: Pick<TestControlPlane, "operate">,
  sql: Sql,
  monitors: number,
  settings: Partial<MonitorSettings> = {},
): Promise<WatchedAccount> {
  const { body } = await plane.operate("POST", "/api/admin/keys", { plan: "captain" });
  const { account_id: accountId, key } = body.data as { account_id: number; key: string };
  const ids = await transact(sql, async (tx) => {
    const made = await reserveIds(tx, monitors);
    const monitor = { accountId, url: "https://shop.example.com/", checkType: "http", intervalMinutes: 1 } as const;
    const rest = { isActive: true, pausedReason: null, tags: ["shop"], dependsOn: null, secrets: null };
    const options = { ...DEFAULT_SETTINGS, locations: LOCATIONS, ...settings };
    const now = new Date();
    // Rows are stored in another order than that of their ids.
    await insertMonitors(
      tx,
      made.toReversed().map((id) => ({ ...monitor, ...rest, settings: options, id, name: `m${id}` })),
      now,
    );
    await insertStates(tx, made);
    const entries = made.flatMap((id) => LOCATIONS.map((location) => ({ monitorId: id, location, accountId })));
    const times = { intervalSeconds: 60, phaseMs: 0, timeoutSeconds: 15, plannedAt: now };
    await insertEntries(
      tx,
      entries.map((entry) => ({ ...entry, ...times })),
    );
    return made;
  });
  return { accountId, key, ids };
}
