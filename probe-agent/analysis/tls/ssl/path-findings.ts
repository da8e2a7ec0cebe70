import { listAll } from "#shared/text/list.ts";
import { finding } from "#probe-agent/analysis/text/findings.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isSame } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { findGreedyPath, type GreedyClient } from "#probe-agent/analysis/tls/certificate/greedy-path.ts";
import type { SslDraft } from "#probe-agent/analysis/tls/ssl/advice.ts";
import type { Sent } from "#probe-agent/analysis/tls/ssl/chain.ts";

/** Input of pathFindings. */
export interface PathFacts {
  readonly leaf: Certificate;
  readonly sent: readonly Sent[];
  /** The path found, leaf first. */
  readonly path: readonly Certificate[];
  readonly chainTrusted: boolean;
  /** Whether the issuer of the leaf is unknown. */
  readonly issuerUnknown: boolean;
  readonly roots: readonly Uint8Array[];
  readonly now: Date;
}

/** Maximum number of certificates used; servers send fewer than ten. */
const MAX_SENT = 100;
/** Each library with programs that use it, as administrators know them. */
const CLIENTS: Readonly<Record<GreedyClient, string>> = {
  openssl: "OpenSSL (curl, Python, PHP, Node.js)",
  gnutls: "GnuTLS (wget on Debian)",
};

/** Reports clients that refuse a trusted chain because they try only one path, and explains an unknown issuer. */
export function pathFindings(facts: PathFacts): SslDraft[] {
  if (facts.issuerUnknown) return [issuerUnknown()];
  // In a path of one certificate, the leaf is itself an anchor.
  return facts.chainTrusted && facts.path.length > 1 ? pathBuilding(facts) : [];
}

function issuerUnknown(): SslDraft {
  const message =
    "The server did not send the issuer's certificate, and the certificate does not say where to fetch it. Either " +
    "the authority is not trusted, or its intermediate certificate is missing. If the authority is public, send its " +
    "intermediate certificate too.";
  return finding("issuer-unknown", null, message);
}

function pathBuilding({ leaf, sent, path, roots, now }: PathFacts): SslDraft[] {
  const others = sent.slice(1, MAX_SENT).flatMap((certificate) => certificate ?? []);
  const request = { leaf, sent: others, roots, now };
  const refusing = (Object.keys(CLIENTS) as GreedyClient[]).flatMap((client) => {
    const greedy = findGreedyPath(client, request);
    return greedy.trusted ? [] : [{ client, position: divergingPosition(greedy.issuers, path, sent) }];
  });
  if (refusing.length === 0) return [];
  const names = listAll(refusing.map(({ client }) => CLIENTS[client]));
  const positions = [...new Set(refusing.flatMap(({ position }) => position ?? []))];
  const where =
    positions.length === 0
      ? ""
      : ` They select the certificate sent at position ${positions.join(" or ")}: remove it, or send it last.`;
  const message = `Clients that try only one path refuse the chain, though another path is trusted: ${names}.${where}`;
  return [finding("path-building", null, message)];
}

/**
 * Returns the position, in the order sent, of the first issuer that a client selects outside the trusted path. Returns
 * null if that issuer was not sent.
 */
function divergingPosition(
  issuers: readonly Certificate[],
  path: readonly Certificate[],
  sent: readonly Sent[],
): number | null {
  const diverging = issuers.find((issuer) => !path.some((step) => isSame(step, issuer)));
  const position = sent.findIndex((one) => one !== null && diverging !== undefined && isSame(one, diverging));
  return position === -1 ? null : position;
}
