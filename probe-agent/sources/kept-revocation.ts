import { createHash } from "node:crypto";
import { waitAtMost } from "#shared/time/time-limit.ts";
import {
  isDecisive,
  reportRevocation,
  type RevocationFacts,
  type RevocationReport,
} from "#probe-agent/analysis/tls/ssl/revocation.ts";

/** A question to the authorities of a chain, which is asked only if no answer is kept. */
interface RevocationQuestion {
  /** The control plane's time. */
  readonly now: Date;
  /** Time to wait for an answer, in milliseconds. 0: only what is kept counts, and nothing is asked. */
  readonly waitMs: number;
  readonly ask: () => Promise<RevocationFacts>;
}

/**
 * Time for which an answer is kept at most, in milliseconds. Authorities revoke certificates long before the next update
 * that they announce.
 */
const KEPT_MS = 3_600_000;
/** The shortest time, in milliseconds: an authority may announce updates as often as it likes. */
const SHORTEST_MS = 300_000;
/** Pause after a question without an answer, in milliseconds. It doubles with each, up to the time above. */
const PAUSE_MS = 300_000;
/** Maximum number of chains whose status is kept. One takes about 1 KB. */
const MOST_KEPT = 20_000;
/** Maximum number of questions at the same time. A check that cannot ask counts on what is kept. */
const MOST_AT_ONCE = 50;

interface Kept {
  readonly report: RevocationReport;
  /** When it was asked, and when it is asked again, Unix milliseconds. */
  readonly askedAt: number;
  readonly nextAt: number;
  /** Number of questions without an answer since the last answer. */
  readonly failures: number;
}

/** The status of chains by their digest, the oldest first. */
const kept = new Map<string, Kept>();
const underWay = new Map<string, Promise<RevocationReport>>();

const NOTHING = { staple: null, responder: null, list: null, authorities: [] };
const NOT_KNOWN = reportRevocation({ ...NOTHING, notAsked: "no authority has answered yet" }, false);

/**
 * Returns whether the certificates of a path are revoked, as known for at most an hour, so that frequent checks do not
 * ask the authorities each time: one question for a path and all that wait for it. Until an answer arrives the last one
 * counts. A revoked certificate stays revoked until an authority says otherwise, because silence does not revive it.
 * `about`: DER of the path to a trusted root, leaf first, and of the stapled response if it counts too.
 */
export async function keptRevocation(
  about: readonly Uint8Array[],
  { now, waitMs, ask }: RevocationQuestion,
): Promise<RevocationReport> {
  const key = digest(about);
  const known = kept.get(key);
  const time = now.getTime();
  const last = known?.report ?? NOT_KNOWN;
  // A clock that was set back does not keep an answer for longer.
  if (waitMs <= 0 || (known !== undefined && time >= known.askedAt && time < known.nextAt)) return last;
  const running = underWay.get(key);
  if (running === undefined && underWay.size >= MOST_AT_ONCE) return last;
  return waitAtMost(waitMs, running ?? begin(key, ask, time), last);
}

/** Keeps an answer that was asked for otherwise. */
export function keepRevocation(about: readonly Uint8Array[], facts: RevocationFacts, now: Date): void {
  keep(digest(about), facts, now.getTime());
}

function begin(key: string, ask: RevocationQuestion["ask"], now: number): Promise<RevocationReport> {
  const asked = ask()
    // What cannot be asked is not known: it must not end the check.
    .catch((): RevocationFacts => ({ ...NOTHING, notAsked: null }))
    .then((facts) => keep(key, facts, now))
    .finally(() => underWay.delete(key));
  underWay.set(key, asked);
  return asked;
}

function keep(key: string, facts: RevocationFacts, now: number): RevocationReport {
  const report = reportRevocation(facts, false);
  if (facts.notAsked !== null) return report;
  const before = kept.get(key);
  const isAnswer = report.revoked || report.revocation.status !== "unknown";
  const failures = isAnswer ? 0 : (before?.failures ?? 0) + 1;
  const ms = isAnswer
    ? Math.max(SHORTEST_MS, Math.min(KEPT_MS, nextUpdateOf(facts) - now))
    : Math.min(KEPT_MS, PAUSE_MS * 2 ** (failures - 1));
  const counts = !isAnswer && before?.report.revoked === true ? before.report : report;
  kept.delete(key);
  kept.set(key, { report: counts, askedAt: now, nextAt: now + ms, failures });
  const [first] = kept.keys();
  if (kept.size > MOST_KEPT && first !== undefined) kept.delete(first);
  return counts;
}

/** Returns when the first of the valid answers is replaced by a newer one, Unix milliseconds; Infinity: none says. */
function nextUpdateOf({ staple, responder, list, authorities }: RevocationFacts): number {
  const answers = [staple, responder?.result ?? null, list?.result ?? null].concat(
    authorities.map((authority) => authority.list?.result ?? null),
  );
  const times = answers.map((answer) => (isDecisive(answer) ? answer?.nextUpdate?.getTime() : undefined) ?? Infinity);
  return Math.min(...times);
}

function digest(about: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const der of about) hash.update(der);
  return hash.digest("base64");
}
