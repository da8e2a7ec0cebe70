import { expect } from "vitest";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { notePageChanged } from "#control-plane/core/page-changes.ts";
import { askWire } from "#test/support/raw-http.ts";

/** Makes the domain of a page one whose record was found, and tells the replicas. */
export async function markVerified(sql: Sql, domain: string): Promise<void> {
  await transact(sql, async (tx) => {
    const [page] = await tx<{ accountId: number }[]>`
      update status_pages set domain_state = 'verified', domain_due_at = null where domain = ${domain}
      returning account_id as "accountId"`;
    await notePageChanged(tx, page?.accountId ?? 0);
  });
}

/** Does the same and waits until a replica serves the page there. */
export async function serveAt(
  plane: { readonly app: { readonly sql: Sql }; readonly url: string },
  domain: string,
): Promise<void> {
  await markVerified(plane.app.sql, domain);
  const status = async () => (await askWire(`${plane.url}/badge.svg`, { host: domain })).status;
  await expect.poll(status).toBe(200);
}
