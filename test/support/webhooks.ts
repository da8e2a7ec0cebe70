import { expect } from "vitest";
import type { Config } from "#control-plane/core/config.ts";
import type { TestControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

const PATH = "/api/v4/webhooks";
const DAY_MS = 86_400_000;

/** Settings of deliveries for tests: these delays before the attempts, milliseconds. */
export function webhookSettings(schedule: readonly number[], legacyUntil = new Date(0)): Config["webhooks"] {
  return { schedule, legacyUntil, timeoutMs: 3_000, autoOff: { ms: 5 * DAY_MS, failures: 20 } };
}

/** A webhook as its creation answers it. */
export interface CreatedWebhook {
  readonly id: number;
  readonly signing_secret: string;
  readonly [field: string]: unknown;
}

/** A delivery as the log has it. */
export interface ShownDelivery {
  readonly id: number;
  readonly status: string;
  readonly attempts: number;
  readonly error_code: string | null;
  readonly http_status_code: number | null;
  readonly webhook_id: number;
  readonly event_id: string;
  readonly replay_of: number | null;
  readonly provider_ref: string | null;
  readonly attempt_log?: readonly {
    readonly attempt: number;
    readonly http_status_code: number | null;
    readonly error_code: string | null;
    readonly error_message: string | null;
    readonly response_body: string | null;
    readonly truncated: boolean;
    readonly started_at: string;
    readonly ended_at: string | null;
  }[];
}

/** Creates a webhook for the account of a key. */
export async function createWebhook(plane: TestControlPlane, key: string, fields: object): Promise<CreatedWebhook> {
  const { status, body, text } = await plane.call(PATH, { key, body: fields });
  expect(status, text).toBe(201);
  return body.data;
}

/** Creates a heartbeat and lets it fail, which is an outage at once. Returns its monitor's id. */
export async function failHeartbeat(plane: TestControlPlane, key: string, fields: object = {}): Promise<number> {
  const heartbeat = { check_type: "heartbeat", name: "Backup", heartbeat: { period_seconds: 3_600 }, ...fields };
  const { id, heartbeat_url: url } = await createMonitor(plane, key, heartbeat);
  await plane.call(`${new URL(url).pathname}/fail`);
  return id;
}

/** Lists the deliveries in the log of an account, newest first. */
export async function listDeliveries(
  plane: TestControlPlane,
  key: string,
  query = "",
): Promise<readonly ShownDelivery[]> {
  const { status, body, text } = await plane.call(`/api/v4/events${query}`, { key });
  expect(status, text).toBe(200);
  return body.data;
}

/** Reads one delivery with its attempts. */
export async function readDelivery(plane: TestControlPlane, key: string, id: number): Promise<ShownDelivery> {
  const { status, body, text } = await plane.call(`/api/v4/events?id=${id}`, { key });
  expect(status, text).toBe(200);
  return body.data;
}
