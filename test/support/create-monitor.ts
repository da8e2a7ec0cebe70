import { expect } from "vitest";
import type { TestControlPlane } from "#test/support/control-plane.ts";

/** A monitor as its creation answers it. */
export interface CreatedMonitor {
  readonly id: number;
  /** Only a heartbeat has one. */
  readonly heartbeat_url: string;
  readonly [field: string]: unknown;
}

/** Creates a monitor for the account of a key. */
export async function createMonitor(
  plane: Pick<TestControlPlane, "call">,
  key: string,
  fields: object,
): Promise<CreatedMonitor> {
  const { status, body, text } = await plane.call("/api/v4/monitors", { key, body: fields });
  expect(status, text).toBe(201);
  return body.data;
}
