import {
  sentCertificates,
  type CertificateFacts,
  type SentCertificate,
} from "#control-plane/watching/expiry/observed/certificate.ts";
import {
  remember,
  type Informed,
  type Memory,
  type NotedCertificate,
} from "#control-plane/watching/expiry/notices/memory.ts";
import { daysLeft, thresholdsOf, tightestReached } from "#control-plane/watching/expiry/notices/thresholds.ts";

/** The certificate before a change; only the fingerprint if the rest is not known any more. */
interface PreviousCertificate {
  readonly fingerprint: string;
  readonly facts: NotedCertificate | null;
}

/** What a monitor is to be informed of. */
export type CertificateNotice =
  | { readonly type: "ssl.chain_changed"; readonly previous: PreviousCertificate; readonly isRenewal: boolean }
  | ExpiryNotice
  /** The server speaks nothing newer than TLS 1.1. */
  | { readonly type: "monitor.advisory" };

/** One certificate of the chain ends or has ended. */
type ExpiryNotice = { readonly certificate: SentCertificate; readonly daysLeft: number } & (
  | { readonly type: "ssl.expiring"; readonly threshold: number }
  | { readonly type: "ssl.expired" }
);

/** Notices, and what to remember with them. */
interface CertificateDecision {
  readonly notices: readonly CertificateNotice[];
  readonly memory: Memory;
}

/** Time for which a certificate that is found again after another one has come back, in milliseconds. */
const KNOWN_MS = 7 * 86_400_000;

/**
 * Decides of what a monitor is to be informed about the certificate that was found last. `before` is the one that was
 * found before that; null if there is none. The first certificate that a monitor has is no change. If several thresholds
 * were reached since the last decision, only the tightest counts. Every certificate of the chain has thresholds of its
 * own: one that has ended long ago and is still sent must not hide the end of another one.
 *
 * A certificate other than the one before is a change, with one exception. Servers behind a balancer can have different
 * certificates, which are found in turn: that is no event each time. So:
 *
 * 1. One that was not found within KNOWN_MS is new: always a change.
 * 2. One that was has come back. That is a change if the one before was new: somebody took it back (A, B, A).
 * 3. If the one before had come back too, both are in use at the same time (A, B, A, B): no change.
 *
 * That the server speaks nothing newer than TLS 1.1 is noticed once, whatever its certificate, until it speaks a newer one.
 *
 * Each certificate is followed by a change back at most once, because it is new only once. So n certificates in turn,
 * in any order, make n - 1 changes of the first kind and at most n - 1 of the second, however long it goes on.
 */
export function decideCertificate(
  facts: CertificateFacts,
  before: CertificateFacts | null,
  memory: Memory,
  now: number,
): CertificateDecision {
  const [last] = memory;
  const known = memory.find(({ identity }) => identity === facts.fingerprint);
  const isOther = last !== undefined && last.identity !== facts.fingerprint;
  const hasReturned = isOther ? isRecent(known, now) : known?.returned === true;
  const notices: CertificateNotice[] = [];
  if (isOther && !(hasReturned && last.returned === true)) {
    const noted = last.certificate ?? (before?.fingerprint === last.identity ? before : null);
    const previous = { fingerprint: last.identity, facts: noted };
    notices.push({ type: "ssl.chain_changed", previous, isRenewal: isRenewal(noted, facts) });
  }
  const { issuer, names, notAfter } = facts;
  const own: Informed = {
    ...(known ?? unnoticed(facts.fingerprint, now)),
    foundAt: now,
    returned: hasReturned,
    certificate: { issuer, names, notAfter },
  };
  const [leaf, ...above] = sentCertificates(facts);
  let next = memory;
  for (const certificate of above) {
    const noticed = memory.find(({ identity }) => identity === certificate.fingerprint);
    const decided = decideExpiry(certificate, noticed ?? unnoticed(certificate.fingerprint, now), now);
    if (decided.notice !== null) notices.push(decided.notice);
    // One of which nothing was noticed takes no space.
    if (noticed !== undefined || decided.notice !== null) next = remember(next, { ...decided.entry, foundAt: now });
  }
  const decided = decideExpiry(leaf, own, now);
  if (decided.notice !== null) notices.push(decided.notice);
  if (facts.oldTlsSince !== undefined && last?.oldTls !== true) notices.push({ type: "monitor.advisory" });
  return { notices, memory: remember(next, noteAdvisory(decided.entry, facts)) };
}

function unnoticed(fingerprint: string, now: number): Informed {
  return { identity: fingerprint, foundAt: now, threshold: null, expired: false };
}

/** Decides about the end of one certificate, and returns what to remember of it. */
function decideExpiry(
  certificate: SentCertificate,
  entry: Informed,
  now: number,
): { readonly notice: ExpiryNotice | null; readonly entry: Informed } {
  const expiresAt = Date.parse(certificate.notAfter);
  const left = daysLeft(expiresAt, now);
  if (expiresAt <= now) {
    const notice = entry.expired ? null : ({ type: "ssl.expired", certificate, daysLeft: left } as const);
    return { notice, entry: { ...entry, expired: true } };
  }
  const threshold = tightestReached(thresholdsOf(expiresAt - Date.parse(certificate.notBefore)), expiresAt, now);
  if (threshold === null || (entry.threshold !== null && threshold >= entry.threshold)) return { notice: null, entry };
  return { notice: { type: "ssl.expiring", certificate, threshold, daysLeft: left }, entry: { ...entry, threshold } };
}

function noteAdvisory({ oldTls: _before, ...entry }: Informed, { oldTlsSince }: CertificateFacts): Informed {
  return oldTlsSince === undefined ? entry : { ...entry, oldTls: true };
}

function isRecent(known: Informed | undefined, now: number): boolean {
  return known !== undefined && now - known.foundAt < KNOWN_MS;
}

/** Reports whether a certificate looks like the renewal of another: same issuer and names, valid for longer. */
function isRenewal(before: NotedCertificate | null, after: CertificateFacts): boolean {
  if (before === null) return false;
  const isSame = before.issuer === after.issuer && before.names === after.names;
  return isSame && Date.parse(after.notAfter) > Date.parse(before.notAfter);
}
