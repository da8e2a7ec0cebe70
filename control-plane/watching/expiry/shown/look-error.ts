import type { KnownTarget } from "#control-plane/watching/expiry/shown/store.ts";
import { LAPSE_IN_DOUBT } from "#control-plane/watching/expiry/visits/judge.ts";

/** Why the last look at a certificate or a registration brought nothing, as reads show it. Times are ISO 8601 UTC. */
export interface LookError {
  /** A stable word. */
  readonly reason: string;
  readonly message: string;
  /** First of the looks in a row that brought nothing. */
  readonly failed_since: string;
  readonly next_look_at: string;
}

/** Describes why the last look at a target brought nothing; null: it did, or there was none yet. */
export function describeLookError(row: KnownTarget, now: Date): LookError | null {
  const { error, failedSince, doubtedAt, lookAt, pausedUntil } = row;
  const since = error === LAPSE_IN_DOUBT ? doubtedAt : failedSince;
  if (error === null || since === null) return null;
  const next = Math.max(lookAt.getTime(), pausedUntil?.getTime() ?? 0, now.getTime());
  return {
    reason: error,
    message: error === LAPSE_IN_DOUBT ? describeDoubt(row.target) : describeFailure(row, error),
    failed_since: since.toISOString(),
    next_look_at: new Date(next).toISOString(),
  };
}

function describeDoubt(domain: string): string {
  return (
    `The registry says that ${domain} has lapsed; before, it said the opposite. ` +
    "It is asked again an hour later, and only then it counts."
  );
}

function describeFailure({ kind, target, errorMessage, lookedAt }: KnownTarget, reason: string): string {
  const what =
    kind === "certificate"
      ? `The certificate of ${target} could not be read`
      : `The registry could not be asked about ${target}`;
  const shown = lookedAt === null ? "" : " The last answer still counts.";
  return `${what}: ${endSentence(errorMessage ?? reason)}${shown}`;
}

/** Ends a text that can be cut off, or without a full stop. */
function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
