import type { Sql } from "#control-plane/core/database/connect.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { createRunWatch, type RunWatch } from "#control-plane/checks/jobs/durable-run/watch.ts";
import { MEASUREMENT_CHANNEL } from "#control-plane/checks/measurements/store.ts";
import { readStates, type MeasurementState } from "#control-plane/checks/measurements/stream-store.ts";

/** Informs streams and attempts of this replica about changes that any replica makes to their measurements. */
export type Watch = RunWatch<MeasurementState>;

/** Opens the watch on measurements of one replica. */
export function createWatch(sql: Sql, notifications: Notifications): Watch {
  return createRunWatch({ channel: MEASUREMENT_CHANNEL, notifications, readStates: (ids) => readStates(sql, ids) });
}
