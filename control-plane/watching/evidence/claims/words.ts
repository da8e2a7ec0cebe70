import type { FailReason, Leader } from "#control-plane/watching/evidence/claims/plan.ts";

const WORDS: Readonly<Record<FailReason, string>> = {
  interrupted: "it was interrupted twice",
  too_many: "too many outages of this account were confirmed within a minute",
  target_busy: "evidence of other outages at this target was gathered within a minute",
  too_late: "it could not begin within 2 minutes, because too many outages were confirmed",
  internal_error: "of an internal error",
};

/** Maximum length of a host in a line, characters. */
const MOST_HOST = 100;

/**
 * Writes the line in the timeline of an outage without evidence. `similar`: another outage of the account with the same
 * word of cause, whose evidence can help; null: none is known.
 */
export function describeFailure(reason: FailReason, similar: Pick<Leader, "incidentId" | "host"> | null): string {
  const text = `No evidence was gathered, because ${WORDS[reason]}`;
  if (similar === null) return text;
  const host = similar.host === "" ? "" : ` (host ${similar.host.slice(0, MOST_HOST)})`;
  return `${text}; incident ${similar.incidentId}${host} has the same kind of cause`;
}
