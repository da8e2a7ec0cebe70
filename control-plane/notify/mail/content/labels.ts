import { listFirst } from "#shared/text/list.ts";
import type { Notice } from "#control-plane/notify/mail/content/event-body.ts";

const MOST_NAMED = 3;

/** The label of a kind of notice, in subjects and lists, and the label that counts several of them. */
interface KindLabels {
  readonly label: string;
  readonly counted: string;
}

const LABELS: Readonly<Record<Exclude<Notice["kind"], "other">, KindLabels>> = {
  down: { label: "Down", counted: "down" },
  reminder: { label: "Still down", counted: "still down" },
  up: { label: "Recovered", counted: "recovered" },
  degraded: { label: "Degraded", counted: "degraded" },
  visual: { label: "Page changed", counted: "page changed" },
  not_degraded: { label: "No longer degraded", counted: "no longer degraded" },
};

/** Returns the labels of a notice; its event type if it is not about a monitor's state. */
export function labelsOf({ kind, type, text }: Pick<Notice, "kind" | "type" | "text">): KindLabels {
  return kind === "other" ? (text ?? { label: type, counted: type }) : LABELS[kind];
}

/** Names the first three of some, as in "a, b, c and 4 more". `more`: how many there are beyond the given ones. */
export function nameFirst(names: readonly string[], more = 0): string {
  return listFirst(names, MOST_NAMED, names.length + more);
}
