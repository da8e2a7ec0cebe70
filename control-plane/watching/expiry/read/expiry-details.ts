import type { Queryable } from "#control-plane/core/database/connect.ts";
import {
  describeOldTls,
  firstToEnd,
  type CertificateFacts,
} from "#control-plane/watching/expiry/observed/certificate.ts";
import {
  describeNoEnd,
  publishesEnd,
  type RegistrationFacts,
} from "#control-plane/watching/expiry/observed/registration.ts";
import { daysLeft } from "#control-plane/watching/expiry/notices/thresholds.ts";
import { readTargets, type KnownTarget } from "#control-plane/watching/expiry/read/store.ts";
import type { Advisory } from "#control-plane/outages/state/votes.ts";
import { LAPSE_IN_DOUBT } from "#control-plane/watching/expiry/sweep/judge.ts";

/** What is known about the certificate and the registration of a monitor, as reads show it. Times are ISO 8601 UTC. */
export interface ExpiryDetails {
  /** null if it has none, or it was not found yet. */
  readonly certificate: {
    readonly issuer: string;
    readonly subject: string;
    readonly fingerprint_sha256: string;
    readonly not_before: string;
    readonly not_after: string;
    readonly days_left: number;
    /** The certificate of the chain that is sent whose validity ends first; it may be the server's own one. */
    readonly first_to_end: {
      readonly role: "leaf" | "intermediate" | "root";
      readonly subject: string;
      readonly issuer: string;
      readonly fingerprint_sha256: string;
      readonly not_after: string;
      readonly days_left: number;
    };
    readonly trusted: boolean;
    readonly trust_error: string | null;
    readonly looked_at: string;
    readonly chain_changed_at: string | null;
  } | null;
  /** null if it is not watched, or the registry has not answered yet. */
  readonly domain: {
    readonly name: string;
    readonly registrar: string | null;
    readonly expires_at: string | null;
    readonly end_published: boolean;
    readonly days_left: number | null;
    readonly status: readonly string[];
    readonly looked_at: string;
  } | null;
  /** null: the last look succeeded, or there was none yet. */
  readonly certificate_error: LookError | null;
  /** What people should know about the server or the domain, from wherever it is checked; absent: nothing. */
  readonly advisory?: Advisory;
  readonly domain_error: LookError | null;
}

/** Reads what is known about the certificates and registrations of monitors, with one statement. */
export async function readExpiryDetails(
  sql: Queryable,
  monitorIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, ExpiryDetails>> {
  const shown = new Map<number, ExpiryDetails>();
  for (const row of await readTargets(sql, monitorIds)) {
    const known = shown.get(row.monitorId) ?? NOTHING;
    const error = describeLookError(row, now);
    const facts = row.facts === null || row.lookedAt === null ? null : { text: row.facts, lookedAt: row.lookedAt };
    if (facts === null && error === null) continue;
    if (row.kind === "certificate") {
      const certificate = facts && showCertificate(facts, row.changedAt, now);
      const old = facts && describeOldTls(JSON.parse(facts.text) as CertificateFacts);
      const advisory = old && { ...old, locations: [] };
      shown.set(row.monitorId, { ...known, certificate, certificate_error: error, ...(advisory && { advisory }) });
    } else {
      const domain = facts && showDomain(facts, row.target, now);
      const hasNoEnd = facts !== null && domain?.end_published === false;
      const noEnd = hasNoEnd
        ? { since: row.changedAt ?? facts.lookedAt, message: describeNoEnd(row.target), locations: [] }
        : null;
      shown.set(row.monitorId, { ...(noEnd && { advisory: noEnd }), ...known, domain, domain_error: error });
    }
  }
  return shown;
}

const NOTHING: ExpiryDetails = { certificate: null, domain: null, certificate_error: null, domain_error: null };

/** Facts that were found by a look, as JSON. */
interface Found {
  readonly text: string;
  readonly lookedAt: Date;
}

function showCertificate({ text, lookedAt }: Found, changedAt: Date | null, now: Date): ExpiryDetails["certificate"] {
  const facts = JSON.parse(text) as CertificateFacts;
  const first = firstToEnd(facts);
  const daysUntil = (end: string): number => daysLeft(Date.parse(end), now.getTime());
  return {
    issuer: facts.issuer,
    subject: facts.subject,
    fingerprint_sha256: facts.fingerprint,
    not_before: facts.notBefore,
    not_after: facts.notAfter,
    days_left: daysUntil(facts.notAfter),
    first_to_end: {
      role: first.role,
      subject: first.subject,
      issuer: first.issuer,
      fingerprint_sha256: first.fingerprint,
      not_after: first.notAfter,
      days_left: daysUntil(first.notAfter),
    },
    trusted: facts.trusted,
    trust_error: facts.trustError,
    looked_at: lookedAt.toISOString(),
    chain_changed_at: changedAt?.toISOString() ?? null,
  };
}

function showDomain({ text, lookedAt }: Found, name: string, now: Date): ExpiryDetails["domain"] {
  const facts = JSON.parse(text) as RegistrationFacts;
  const { registrar, expires, status } = facts;
  const days_left = expires === null ? null : daysLeft(Date.parse(expires), now.getTime());
  const end = { expires_at: expires, end_published: publishesEnd(facts), days_left };
  return { name, registrar, ...end, status, looked_at: lookedAt.toISOString() };
}

/** Why the last look at a certificate or a registration brought nothing, as reads show it. Times are ISO 8601 UTC. */
interface LookError {
  /** A stable word. */
  readonly reason: string;
  readonly message: string;
  /** First of the looks in a row that brought nothing. */
  readonly failed_since: string;
  readonly next_look_at: string;
}

/** Describes why the last look at a target brought nothing; null if it did, or there was none yet. */
function describeLookError(row: KnownTarget, now: Date): LookError | null {
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
