import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import { isSame } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { describeChainCertificate, isSelfSigned } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { isSignedBy } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

type Row = ResultOf<typeof ssl>["chain"][number];

/** A certificate as sent; null if it cannot be parsed. */
export type Sent = Certificate | null;

/** Comparison of the certificates sent with the path found. */
export interface ChainReport {
  readonly rows: Row[];
  /** Whether each certificate sent is followed by its issuer. */
  readonly ordered: boolean;
  /** Whether the certificates are out of order even without the extra ones. */
  readonly misplaced: boolean;
  /** Whether a self-signed authority was sent after the first certificate. */
  readonly containsRoot: boolean;
  /** Positions, in the order sent, of certificates that are of no use: repeats, and those outside the path. */
  readonly extra: readonly number[];
}

/** Maximum number of certificates in the result; servers send fewer than ten. */
export const MAX_ROWS = 30;

/**
 * Compares the certificates sent with the path found: the role of each certificate, and whether each one certifies the
 * one before it (RFC 8446 section 4.4.2). The anchor is added at the end if it was not sent.
 */
export function reportChain(sent: readonly Sent[], path: readonly Certificate[], now: Date): ChainReport {
  const shown = sent.slice(0, MAX_ROWS);
  const roles = shown.map((certificate, index) => roleOf(certificate, index, shown, path));
  const rows = shown.flatMap((certificate, index): Row[] => {
    const role = roles[index];
    if (certificate === null || role === undefined) return [];
    return [{ position: index, role, sent: true, ...describeChainCertificate(certificate, now) }];
  });
  const anchor = path.at(-1);
  if (anchor && !sent.some((certificate) => certificate !== null && isSame(certificate, anchor))) {
    rows.push({ position: null, role: "root", sent: false, ...describeChainCertificate(anchor, now) });
  }
  return {
    rows,
    ordered: isOrdered(shown),
    misplaced: !isOrdered(shown.filter((_certificate, index) => roles[index] !== "extra")),
    containsRoot: roles.includes("root"),
    extra: roles.flatMap((role, index) => (role === "extra" ? [index] : [])),
  };
}

function roleOf(certificate: Sent, index: number, sent: readonly Sent[], path: readonly Certificate[]): Row["role"] {
  if (index === 0) return "leaf";
  if (certificate === null) return "extra";
  const repeated = sent.slice(0, index).some((earlier) => earlier !== null && isSame(earlier, certificate));
  if (repeated) return "extra";
  const used = path.some((step) => isSame(step, certificate));
  // A certificate outside the path can be part of another path: a cross-signed certificate for clients with other
  // roots, or such a root.
  const issuesSome = sent.some((other) => other !== null && !isSame(other, certificate) && issues(certificate, other));
  if (!used && !issuesSome) return "extra";
  return isSelfSigned(certificate) ? "root" : "intermediate";
}

/** Reports whether each certificate certifies the one before it (RFC 8446 section 4.4.2). */
function isOrdered(list: readonly Sent[]): boolean {
  return list.every((certificate, index) => index === 0 || issues(certificate, list[index - 1]));
}

function issues(issuer: Sent, child: Sent | undefined): boolean {
  return issuer !== null && child !== null && child !== undefined && isSignedBy(child, issuer);
}
