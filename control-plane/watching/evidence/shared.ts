import type { Evidence } from "#control-plane/watching/evidence/evidence.ts";

/** An outage as far as others can share its evidence. */
export interface Examined {
  readonly incidentId: number;
  /** Host of its target; empty for a heartbeat. */
  readonly host: string;
  readonly confirmedAt: Date;
}

/** Why a mail has no changes: those that were found are of the other monitor's checks. */
const NOT_COMPARED =
  "Nothing was compared with earlier checks of this monitor, because the evidence was gathered for another one with the " +
  "same target and cause";

/** Names the outage whose evidence another one shares, and how they belong together. */
function nameGathered(own: Examined, gathered: Examined): string {
  return `incident ${gathered.incidentId}, confirmed ${describeDelay(own, gathered)} with the same target and cause`;
}

function describeDelay(own: Examined, gathered: Examined): string {
  const seconds = Math.round((own.confirmedAt.getTime() - gathered.confirmedAt.getTime()) / 1_000);
  if (seconds === 0) return "at the same time";
  return seconds > 0 ? `${seconds} s earlier` : `${-seconds} s later`;
}

/** Writes the line in the timeline of an outage that shares the evidence of another. */
export function describeSharing(own: Examined, gathered: Examined): string {
  return `The evidence is that of ${nameGathered(own, gathered)}`;
}

/** The three lines of evidence: cause, changes, places. */
type Lines = readonly string[];

/**
 * Adapts the lines of evidence for an outage that shares it: they have its own cause, and say whose evidence it is. What
 * has changed since the last good checks of the other monitor says nothing about those of this one, and is left out.
 */
export function adaptLines(
  own: Examined & { readonly cause: string },
  gathered: Examined,
  [cause = "", changed = "", where = ""]: Lines,
): Lines {
  if (own.incidentId === gathered.incidentId) return [cause, changed, where];
  return [own.cause, NOT_COMPARED, `Evidence of ${nameGathered(own, gathered)}. ${where}`];
}

/** Adapts stored evidence in the same way. */
export function adaptEvidence(
  own: Examined & { readonly cause: string },
  gathered: Examined,
  stored: Evidence,
): Evidence {
  const changed = own.incidentId === gathered.incidentId ? stored.changed : [];
  return { ...stored, changed, summary: adaptLines(own, gathered, stored.summary) };
}
