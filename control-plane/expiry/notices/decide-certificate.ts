import type { CertificateFacts } from "#control-plane/expiry/facts/certificate.ts";
import { remember, type Informed, type Memory, type NotedCertificate } from "#control-plane/expiry/notices/memory.ts";
import { daysLeft, thresholdsOf, tightestReached } from "#control-plane/expiry/notices/thresholds.ts";

/** The certificate before a change; only the fingerprint if the rest is not known any more. */
interface PreviousCertificate {
  readonly fingerprint: string;
  readonly facts: NotedCertificate | null;
}

/** What a monitor is to be informed of. */
export type CertificateNotice =
  | { readonly type: "ssl.chain_changed"; readonly previous: PreviousCertificate; readonly isRenewal: boolean }
  | { readonly type: "ssl.expiring"; readonly threshold: number; readonly daysLeft: number }
  | { readonly type: "ssl.expired"; readonly daysLeft: number };

/** Notices, and what to remember with them. */
interface CertificateDecision {
  readonly notices: readonly CertificateNotice[];
  readonly memory: Memory;
}

/** Time for which a certificate that is found again after another one has come back, in milliseconds. */
const KNOWN_MS = 7 * 86_400_000;

/**
 * Decides of what a monitor is to be informed about the certificate that was found last. `before` is the one that was
 * found before that; null: there is none. The first certificate that a monitor has is no change. If several thresholds
 * were reached since the last decision, only the tightest counts.
 *
 * A certificate other than the one before is a change, with one exception. Servers behind a balancer can have different
 * certificates, which are found in turn: that is no event each time. So:
 *
 * 1. One that was not found within KNOWN_MS is new: always a change.
 * 2. One that was has come back. That is a change if the one before was new: somebody took it back (A, B, A).
 * 3. If the one before had come back too, both are in use at the same time (A, B, A, B): no change.
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
  let entry: Informed = {
    identity: facts.fingerprint,
    threshold: null,
    expired: false,
    ...known,
    foundAt: now,
    returned: hasReturned,
    certificate: { issuer, names, notAfter },
  };
  const expiresAt = Date.parse(notAfter);
  const left = daysLeft(expiresAt, now);
  if (expiresAt <= now) {
    if (!entry.expired) notices.push({ type: "ssl.expired", daysLeft: left });
    entry = { ...entry, expired: true };
  } else {
    const threshold = tightestReached(thresholdsOf(expiresAt - Date.parse(facts.notBefore)), expiresAt, now);
    if (threshold !== null && (entry.threshold === null || threshold < entry.threshold)) {
      notices.push({ type: "ssl.expiring", threshold, daysLeft: left });
      entry = { ...entry, threshold };
    }
  }
  return { notices, memory: remember(memory, entry) };
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
