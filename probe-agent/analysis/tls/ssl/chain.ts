import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import { isSame } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { describeChainCertificate, isSelfSigned } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { isSignedBy } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

type Row = ResultOf<typeof ssl>["chain"][number];

/** A certificate as sent: null where its octets are no certificate. */
export type Sent = Certificate | null;

/** What the server's list looks like beside the path that was found through it. */
export interface ChainReport {
  readonly rows: Row[];
  readonly ordered: boolean;
  /** Out of order even without the extra ones. */
  readonly misplaced: boolean;
  /** A self-signed authority behind the first place. */
  readonly containsRoot: boolean;
  /** Places in the order sent that are no use: repeats and certificates beside the path. */
  readonly extra: readonly number[];
}

/** Certificates shown; servers send fewer than ten. */
export const MAX_ROWS = 30;

/**
 * Sets the list as sent beside the path found: who plays which part, whether each certificate certifies the one before
 * it (RFC 8446 section 4.4.2), and the anchor at the end where it was not sent.
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
  // Not on the path we found, yet part of another one: a cross-sign for clients with other roots, or a root of theirs.
  const issuesSome = sent.some((other) => other !== null && !isSame(other, certificate) && issues(certificate, other));
  if (!used && !issuesSome) return "extra";
  return isSelfSigned(certificate) ? "root" : "intermediate";
}

/** RFC 8446 section 4.4.2: each certificate should certify the one before it. */
function isOrdered(list: readonly Sent[]): boolean {
  return list.every((certificate, index) => index === 0 || issues(certificate, list[index - 1]));
}

function issues(issuer: Sent, child: Sent | undefined): boolean {
  return issuer !== null && child !== null && child !== undefined && isSignedBy(child, issuer);
}
