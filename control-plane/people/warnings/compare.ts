import type { Cause } from "#control-plane/people/warnings/causes.ts";
import { PATIENCE_MS } from "#control-plane/people/warnings/codes.ts";

/** A cause as it is stored. */
export interface KnownCause extends Cause {
  /** When it was first found. */
  readonly since: Date;
  /** When it was reported to the operator; null: not yet. */
  readonly raisedAt: Date | null;
}

/** What has changed since the causes were last looked for. */
export interface Changes {
  /** Every present cause as it is to be stored. */
  readonly present: readonly KnownCause[];
  /** Those of them that are to be reported now. */
  readonly begun: readonly KnownCause[];
  /** Warnings whose cause has ended. */
  readonly ended: readonly KnownCause[];
  /** Causes that have ended, reported or not. */
  readonly gone: readonly KnownCause[];
}

/** Compares what is wrong now with what was known. A cause is reported once, when it has lasted for its patience. */
export function compareCauses(known: readonly KnownCause[], causes: readonly Cause[], now: Date): Changes {
  const before = new Map(known.map((cause) => [keyOf(cause), cause]));
  const present = causes.map((cause): KnownCause => {
    const { since = now, raisedAt = null } = before.get(keyOf(cause)) ?? {};
    const hasLasted = now.getTime() - since.getTime() >= PATIENCE_MS[cause.code];
    return { ...cause, since, raisedAt: raisedAt ?? (hasLasted ? now : null) };
  });
  const stillThere = new Set(present.map(keyOf));
  const gone = known.filter((cause) => !stillThere.has(keyOf(cause)));
  return {
    present,
    begun: present.filter((cause) => cause.raisedAt !== null && (before.get(keyOf(cause))?.raisedAt ?? null) === null),
    ended: gone.filter(({ raisedAt }) => raisedAt !== null),
    gone,
  };
}

function keyOf({ code, subject }: Pick<Cause, "code" | "subject">): string {
  return `${code} ${subject}`;
}
