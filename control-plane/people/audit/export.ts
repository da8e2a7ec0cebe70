import type { App } from "#control-plane/core/app.ts";
import type { Pagination } from "#control-plane/http/envelope.ts";
import { signEnvelope, type Envelope } from "#control-plane/people/audit/envelope.ts";
import { checkPayload, monitorPayload, tenantPayload } from "#control-plane/people/audit/payloads.ts";
import { INVENTORY, type AuditSources, type Slice } from "#control-plane/people/audit/ports.ts";
import type { AuditSecrets } from "#control-plane/people/audit/secrets.ts";

/** A page of an inventory. */
interface InventoryPage extends Slice {
  pagination(total: number): Pagination;
}

/** Signed exports. null: the account has nothing with this id. */
export interface AuditExports {
  monitor(accountId: number, id: number): Promise<Envelope | null>;
  check(accountId: number, shareId: string): Promise<Envelope | null>;
  /** Exports a page of the account's inventory. */
  tenant(accountId: number, page: InventoryPage): Promise<Envelope | null>;
}

const NO_ROWS: Slice = { limit: 0, offset: 0 };

/** Opens the exports of one replica. */
export function createAuditExports({
  sql,
  clock,
  secrets,
  sources,
}: Pick<App, "sql" | "clock"> & { readonly secrets: AuditSecrets; readonly sources: AuditSources }): AuditExports {
  /** Signs what is known now. The time is that of the end of reading: everything in the export had happened by then. */
  async function sign<F>(
    accountId: number,
    facts: F | null,
    payloadOf: (about: { readonly accountId: number; readonly generatedAt: Date }, known: F) => object,
  ): Promise<Envelope | null> {
    if (facts === null) return null;
    const secret = await secrets.current(sql, accountId);
    const generatedAt = clock.now();
    return signEnvelope(payloadOf({ accountId, generatedAt }, facts), secret, generatedAt);
  }

  async function readInventory(accountId: number, page: InventoryPage) {
    const account = await sources.account(accountId);
    if (account === null) return null;
    const { inventory } = sources;
    const totals = await Promise.all(INVENTORY.map(async (name) => (await inventory[name](accountId, NO_ROWS)).total));
    const slices = sliceLists(totals, page);
    const lists = await Promise.all(
      INVENTORY.map(async (name, index) => {
        const slice = slices[index] ?? NO_ROWS;
        return [name, slice.limit === 0 ? [] : (await inventory[name](accountId, slice)).rows] as const;
      }),
    );
    const rows = Object.fromEntries(lists) as Readonly<Record<(typeof INVENTORY)[number], readonly unknown[]>>;
    return { account, rows, pagination: page.pagination(totals.reduce((sum, total) => sum + total, 0)) };
  }

  return {
    monitor: async (accountId, id) => sign(accountId, await sources.monitor(accountId, id), monitorPayload),
    check: async (accountId, shareId) => sign(accountId, await sources.check(accountId, shareId), checkPayload),
    tenant: async (accountId, page) => sign(accountId, await readInventory(accountId, page), tenantPayload),
  };
}

/**
 * Returns the slices of lists that form a slice of their concatenation: the page of an inventory runs through all rows
 * of the first list, then of the second, and so on.
 */
export function sliceLists(totals: readonly number[], { limit, offset }: Slice): readonly Slice[] {
  let start = 0;
  return totals.map((total) => {
    const from = Math.max(offset, start);
    const to = Math.min(offset + limit, start + total);
    const slice = { limit: Math.max(0, to - from), offset: Math.max(0, from - start) };
    start += total;
    return slice;
  });
}
