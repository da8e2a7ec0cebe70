import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";

/**
 * What accounts consist of, as far as its changes are logged. An invite is created when it is sent; a member is created by
 * joining, deleted by leaving, and changed with its role, password or time zone; a session is deleted by who ends it in the
 * profile.
 */
export const RESOURCES = [
  "account",
  "audit_secret",
  "incident",
  "invite",
  "key",
  "maintenance",
  "member",
  "monitor",
  "session",
  "status_page",
  "webhook",
] as const;

/** What can happen to it. */
export const ACTIONS = ["created", "changed", "deleted", "rotated", "accepted", "shown"] as const;

/** What is changed. */
interface Subject {
  readonly resource: (typeof RESOURCES)[number];
  /** null: an account has one of this kind at most, or all of them are meant. */
  readonly id: number | null;
  /** What it is called now; null if it has no name. */
  readonly name: string | null;
}

/** One change of one resource. A change that has changed no field is not logged. */
export type Change = Subject &
  (
    | { readonly action: "changed"; readonly changed: readonly ChangedField[] }
    | { readonly action: Exclude<(typeof ACTIONS)[number], "changed">; readonly changed?: readonly ChangedField[] }
  );

/** Who can change something. */
export const ACTORS = ["key", "member", "operator", "system"] as const;

/** Who changes something. */
export type Actor =
  | { readonly type: "key"; readonly id: number }
  /** `id` is the id of the user, `name` the email address, which stays in the log as it is now. */
  | { readonly type: "member"; readonly id: number; readonly name: string }
  | { readonly type: "operator" }
  /** The service itself, without a request. */
  | { readonly type: "system" };

/** What one request changes. */
export interface ChangeSet {
  readonly accountId: number;
  readonly actor: Actor;
  /** Address of the client; null: the service itself has none. */
  readonly address: string | null;
  readonly changes: readonly Change[];
}

/** Logs changes in the transaction that makes them. */
export type RecordChanges = (tx: Queryable, set: ChangeSet) => Promise<void>;
