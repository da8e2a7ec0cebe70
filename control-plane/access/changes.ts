import type { Queryable } from "#control-plane/database/connect.ts";

/** What accounts consist of, as far as its changes are logged. */
export const RESOURCES = [
  "account",
  "audit_secret",
  "incident",
  "key",
  "maintenance",
  "monitor",
  "status_page",
  "webhook",
] as const;

/** What can happen to it. */
export const ACTIONS = ["created", "changed", "deleted", "rotated", "accepted", "shown"] as const;

/** One change of one resource. */
export interface Change {
  readonly resource: (typeof RESOURCES)[number];
  /** null: an account has one of this kind at most. */
  readonly id: number | null;
  readonly action: (typeof ACTIONS)[number];
}

/** Who changes something. */
export type Actor = { readonly type: "key"; readonly id: number } | { readonly type: "operator" };

/** What one request changes. */
export interface ChangeSet {
  readonly accountId: number;
  readonly actor: Actor;
  /** Address of the client. */
  readonly address: string;
  /** Names of the fields that the request contained; their values can be secret. */
  readonly fields: readonly string[];
  readonly changes: readonly Change[];
}

/** Logs changes in the transaction that makes them. */
export type RecordChanges = (tx: Queryable, set: ChangeSet) => Promise<void>;
