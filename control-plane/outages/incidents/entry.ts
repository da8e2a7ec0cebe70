import type { Status } from "#control-plane/outages/incidents/incident.ts";

/**
 * Kinds of entries that the service writes. `suppressed` and `released`: notices are held back, and sent after all.
 * `mailed`, `mail_delayed` and `mail_failed`: what became of a notice to one recipient. `paused`, `deleted` and `changed_target` end an outage without a recovery.
 */
export type ServiceKind =
  | "opened"
  | "confirmed"
  | "location_failed"
  | "location_recovered"
  | "cause_changed"
  | "recovered"
  | "resolved"
  | "flapping"
  | "reminder"
  | "suppressed"
  | "released"
  | "evidence"
  | "mailed"
  | "mail_delayed"
  | "mail_failed"
  | "paused"
  | "deleted"
  | "changed_target";

/** Kinds of entries that people cause. */
type PersonalKind = "acknowledged" | "unacknowledged" | "edited" | "note" | "update";

/** Something that happened during an incident, to be stored. */
export interface NewEntry {
  readonly at: Date;
  readonly kind: ServiceKind | PersonalKind;
  /** Who did it, e.g. "key deploy"; null: the service. */
  readonly by: string | null;
  /** A note or an update can have several lines; every other text is one line. */
  readonly text: string;
  /** Of an update: the status from then on; else null. */
  readonly status: Status | null;
  /** Whether status pages show it. Only updates are ever public. */
  readonly isPublic: boolean;
}

/** A stored entry. */
export interface Entry extends NewEntry {
  readonly id: number;
}

/** Creates an entry of the service. */
export function serviceEntry(kind: ServiceKind, at: Date, text: string): NewEntry {
  return { at, kind, by: null, text, status: null, isPublic: false };
}

/** Number of entries after which the service writes no more of the kinds that can repeat without end. */
export const MOST_REPEATED = 1_000;
/** Number of entries after which people cannot write further ones. */
export const MOST_ENTRIES = 1_500;

/** Kinds that repeat while an outage lasts. */
const REPEATED: ReadonlySet<string> = new Set<ServiceKind>([
  "location_failed",
  "location_recovered",
  "cause_changed",
  "flapping",
  "reminder",
  "suppressed",
  "released",
]);

/** Reports whether entries of this kind can repeat without end. */
export function isRepeated(kind: string): boolean {
  return REPEATED.has(kind);
}
