import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isSame } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { findGreedyPath, type GreedyClient } from "#probe-agent/analysis/tls/certificate/greedy-path.ts";
import type { FindingDraft } from "#probe-agent/analysis/tls/ssl/finding-kinds.ts";
import type { Sent } from "#probe-agent/analysis/tls/ssl/chain.ts";

/** What these findings are drawn from. */
export interface PathFacts {
  readonly leaf: Certificate;
  readonly sent: readonly Sent[];
  /** The path found, leaf first. */
  readonly path: readonly Certificate[];
  readonly chainTrusted: boolean;
  /** Nothing is known about the issuer of the leaf. */
  readonly issuerUnknown: boolean;
  readonly roots: readonly Uint8Array[];
  readonly now: Date;
}

/** Certificates looked at; servers send fewer than ten. */
const MAX_SENT = 100;
/** The programs of each library, as administrators know them. */
const CLIENTS: Readonly<Record<GreedyClient, string>> = {
  openssl: "OpenSSL (curl, Python, PHP, Node.js)",
  gnutls: "GnuTLS (wget on Debian)",
};

/** Who refuses a chain that is good only by another path than the one sent first; what an unknown issuer may mean. */
export function pathFindings(facts: PathFacts): FindingDraft[] {
  if (facts.issuerUnknown) return [issuerUnknown()];
  // A path of one certificate is a leaf that is an anchor itself.
  return facts.chainTrusted && facts.path.length > 1 ? pathBuilding(facts) : [];
}

function issuerUnknown(): FindingDraft {
  const message =
    "The issuer's certificate was not sent, and the certificate does not say where to fetch it: an authority that is not " +
    "trusted and a missing intermediate look the same. If the authority is a public one, send its intermediate too.";
  return { id: "issuer-unknown", severity: "info", message };
}

function pathBuilding({ leaf, sent, path, roots, now }: PathFacts): FindingDraft[] {
  const others = sent.slice(1, MAX_SENT).flatMap((certificate) => certificate ?? []);
  const request = { leaf, sent: others, roots, now };
  const refusing = (Object.keys(CLIENTS) as GreedyClient[]).flatMap((client) => {
    const plain = findGreedyPath(client, request);
    return plain.trusted ? [] : [{ client, astray: positionOff(plain.issuers, path, sent) }];
  });
  if (refusing.length === 0) return [];
  const names = refusing.map(({ client }) => CLIENTS[client]).join(" and ");
  const places = [...new Set(refusing.flatMap(({ astray }) => astray ?? []))];
  const where =
    places.length === 0
      ? ""
      : ` They take the certificate sent at ${places.join(" or ")}: leave it out, or send it last.`;
  const message = `Clients that follow only one path refuse the chain, though it is trusted by another: ${names}.${where}`;
  return [{ id: "path-building", severity: "warning", message }];
}

/** Place in the order sent of the first issuer a client takes that is not on the good path; null where it was not sent. */
function positionOff(
  issuers: readonly Certificate[],
  path: readonly Certificate[],
  sent: readonly Sent[],
): number | null {
  const astray = issuers.find((issuer) => !path.some((step) => isSame(step, issuer)));
  const place = sent.findIndex((one) => one !== null && astray !== undefined && isSame(one, astray));
  return place === -1 ? null : place;
}
