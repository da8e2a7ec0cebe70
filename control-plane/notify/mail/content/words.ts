import { listFirst } from "#shared/text/list.ts";
import type { Notice } from "#control-plane/notify/mail/content/event-body.ts";

const MOST_NAMED = 3;

/** Words for a kind of notice: in subjects and lists, and to count several of them. */
interface KindWords {
  readonly label: string;
  readonly counted: string;
}

const WORDS: Readonly<Record<Exclude<Notice["kind"], "other">, KindWords>> = {
  down: { label: "Down", counted: "down" },
  reminder: { label: "Still down", counted: "still down" },
  up: { label: "Recovered", counted: "recovered" },
  degraded: { label: "Degraded", counted: "degraded" },
  visual: { label: "Page changed", counted: "page changed" },
  not_degraded: { label: "No longer degraded", counted: "no longer degraded" },
};

/** Returns the words for a notice; its event type if it is about something else than a monitor's state. */
export function wordsOf({ kind, type, text }: Pick<Notice, "kind" | "type" | "text">): KindWords {
  return kind === "other" ? (text ?? { label: type, counted: type }) : WORDS[kind];
}

/** Names the first three of some, as in "a, b, c and 4 more". `more`: how many there are beyond the given ones. */
export function nameFirst(names: readonly string[], more = 0): string {
  return listFirst(names, MOST_NAMED, names.length + more);
}
