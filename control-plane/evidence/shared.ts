import type { Evidence } from "#control-plane/evidence/evidence.ts";
import { plainLine } from "#control-plane/incidents/cause/plain-line.ts";

/** An outage as far as others can share its evidence. */
export interface Examined {
  readonly incidentId: number;
  /** Host of its target; empty for a heartbeat. */
  readonly host: string;
  readonly causeCode: string;
  readonly confirmedAt: Date;
}

/** Maximum length of a host in a text, characters. */
const MOST_HOST = 100;
/** Why a mail has no changes. */
const NOT_COMPARED = "Nothing was compared with earlier checks, because nothing was gathered for this target";

/** Reports whether the evidence of one outage says nothing about the target of another. */
function isOtherTarget(own: Pick<Examined, "host">, gathered: Pick<Examined, "host">): boolean {
  return own.host !== gathered.host;
}

/** Names the outage whose evidence another one shares, and how they belong together. */
export function nameGathered(own: Examined, gathered: Examined): string {
  const host = isOtherTarget(own, gathered) ? ` (host ${plainLine(gathered.host, MOST_HOST)})` : "";
  const cause = own.causeCode === gathered.causeCode ? "with the same cause" : "at the same host with another cause";
  return `incident ${gathered.incidentId}${host}, confirmed ${describeDelay(own, gathered)} ${cause}`;
}

function describeDelay(own: Examined, gathered: Examined): string {
  const seconds = Math.round((own.confirmedAt.getTime() - gathered.confirmedAt.getTime()) / 1_000);
  if (seconds === 0) return "at the same time";
  return seconds > 0 ? `${seconds} s earlier` : `${-seconds} s later`;
}

/** Writes the line in the timeline of an outage that shares the evidence of another. */
export function describeSharing(own: Examined, gathered: Examined): string {
  const rest = isOtherTarget(own, gathered) ? "; nothing is gathered for this target" : "";
  return `The evidence is that of ${nameGathered(own, gathered)}${rest}`;
}

/** The three lines of evidence: cause, changes, places. */
type Lines = readonly string[];

/**
 * Adapts the lines of evidence for an outage that shares it: they have its own cause, and say whose evidence it is. What
 * has changed at another target would mislead, and is left out.
 */
export function adaptLines(
  own: Examined & { readonly cause: string },
  gathered: Examined,
  [cause = "", changed = "", where = ""]: Lines,
): Lines {
  if (own.incidentId === gathered.incidentId) return [cause, changed, where];
  const isOther = isOtherTarget(own, gathered);
  const rest = isOther ? "; nothing was gathered for this target" : "";
  return [own.cause, isOther ? NOT_COMPARED : changed, `Evidence of ${nameGathered(own, gathered)}${rest}. ${where}`];
}

/** Adapts stored evidence in the same way. */
export function adaptEvidence(
  own: Examined & { readonly cause: string },
  gathered: Examined,
  stored: Evidence,
): Evidence {
  const changed = isOtherTarget(own, gathered) ? [] : stored.changed;
  return { ...stored, changed, summary: adaptLines(own, gathered, stored.summary) };
}
