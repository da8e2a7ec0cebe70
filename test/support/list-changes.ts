import { expect } from "vitest";
import type { TestControlPlane } from "#test/support/control-plane.ts";

/** A change as the log of changes shows it. */
export interface LoggedChange {
  readonly id: number;
  readonly at: string;
  readonly actor: { readonly kind: string; readonly id: number | null; readonly name: string | null };
  readonly address: string | null;
  readonly action: string;
  readonly subject: { readonly kind: string; readonly id: number | null; readonly name: string | null };
  readonly changed: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
}

/** Lists the newest 100 changes of an account, newest first. `query`: which of them. */
export async function listChanges(
  plane: Pick<TestControlPlane, "call">,
  key: string,
  query = "",
): Promise<readonly LoggedChange[]> {
  const { body, status, text } = await plane.call(`/api/v4/changes?per_page=100&${query}`, { key });
  expect(status, text).toBe(200);
  return body.data;
}
