import type { PlanName } from "#control-plane/core/plans.ts";
import type { Answer } from "#test/support/control-plane.ts";
import type { MonitorService } from "#test/support/monitor-service.ts";

/** A row of a document, or of a list. */
export type Row = Readonly<Record<string, unknown>>;

/** A document of an export. */
export interface Document {
  readonly version: number;
  readonly monitors: readonly Row[];
  readonly status_pages: readonly Row[];
  readonly maintenance: readonly Row[];
}

/** Accounts, and their documents by key. */
export interface AccountDocuments {
  createOwner(plan?: PlanName): Promise<{ readonly id: number; readonly key: string }>;
  /** Imports a document. */
  send(key: string, document: object, query?: string): Promise<Answer>;
  /** Exports the account; `query` follows the action. */
  read(key: string, query?: string): Promise<Answer>;
  exportOf(key: string): Promise<Document>;
  /** Lists the newest monitors. */
  listOf(key: string): Promise<readonly Row[]>;
  erase(id: number): Promise<Answer>;
}

const URL = "/api/v4/monitors";

/** Opens the documents of the accounts of a service. */
export function openAccountDocuments(service: MonitorService): AccountDocuments {
  const read = (key: string, query = "") => service.call(`${URL}?action=export${query}`, { key });
  return {
    async createOwner(plan = "captain") {
      const { body } = await service.operate("POST", "/api/admin/keys", { plan });
      const made = body.data as { account_id: number; key: string };
      return { id: made.account_id, key: made.key };
    },
    send: (key, document, query = "") => service.call(`${URL}?action=import${query}`, { key, body: document }),
    read,
    exportOf: async (key) => (await read(key)).body.data,
    listOf: async (key) => (await service.call(`${URL}?per_page=100`, { key })).body.data,
    erase: (id) => service.operate("DELETE", `/api/admin/accounts?id=${id}`),
  };
}
