import { readable } from "#probe-agent/analysis/tls/certificate/der.ts";
import { accessLocations, completeCrlUrls } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { evaluateOcsp, type StatusSubject } from "#probe-agent/analysis/tls/certificate/ocsp-evaluate.ts";
import { isExpired } from "#probe-agent/analysis/tls/certificate/validity.ts";
import type { ServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";
import { isDecisive, type AuthorityStatus, type RevocationFacts } from "#probe-agent/analysis/tls/ssl/revocation.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { lookUpInList, askResponder } from "#probe-agent/sources/revocation.ts";
import { createFetches, type Fetches } from "#probe-agent/sources/fetch-budget.ts";

/** Maximum number of fetches for one check, for all certificates together. */
const MAX_FETCHES = 3;
const OCSP_METHOD = "1.3.6.1.5.5.7.48.1";

/** The parts of a server's chain that decide who is asked. */
type AskedChain = Pick<ServerChain, "leaf" | "issuer" | "anchored"> & {
  readonly verification: Pick<ServerChain["verification"], "path">;
};

/**
 * Checks revocation by the stapled response, then the responder, then the list, until one says good or revoked. Then
 * checks the authorities above by their lists, while fetches are left. Asks nothing about a chain without a trusted
 * root, because its maker also chose the URLs.
 */
export async function checkRevocation(
  net: Net,
  chain: AskedChain,
  staple: Uint8Array | null,
  reserveMs: number,
): Promise<RevocationFacts> {
  const { leaf: certificate, issuer } = chain;
  const now = net.now();
  const nothing = { staple: null, responder: null, list: null, authorities: [] };
  if (issuer === null) return { ...nothing, notAsked: "its issuer's certificate is unavailable" };
  const subject = { certificate, issuer, now };
  const stapled = staple === null ? null : evaluateOcsp(staple, subject);
  const notAsked = reasonNotToAsk(chain, now);
  if (notAsked !== null) return { ...nothing, staple: stapled, notAsked };
  const fetches = createFetches(net, MAX_FETCHES, reserveMs);
  const asked = isDecisive(stapled) ? { responder: null, list: null } : await ask(fetches, subject);
  return { staple: stapled, ...asked, authorities: await checkAuthorities(fetches, chain, now), notAsked: null };
}

function reasonNotToAsk({ leaf, anchored }: AskedChain, now: Date): string | null {
  if (!anchored) return "its chain does not lead to a trusted root";
  // Authorities are allowed to remove an entry once the certificate has expired (RFC 5280 section 3.3).
  return isExpired(leaf, now) ? "it has expired, and authorities no longer publish its status" : null;
}

async function ask(fetches: Fetches, subject: StatusSubject): Promise<Pick<RevocationFacts, "responder" | "list">> {
  const responderUrl = firstOverHttp(() => accessLocations(subject.certificate, OCSP_METHOD));
  const responder = responderUrl === null ? null : await askResponder(fetches, responderUrl, subject);
  if (isDecisive(responder?.result ?? null)) return { responder, list: null };
  const listUrl = firstOverHttp(() => completeCrlUrls(subject.certificate));
  return { responder, list: listUrl === null ? null : await lookUpInList(fetches, listUrl, subject) };
}

/** Looks up the authorities between the server's certificate and the root in their issuers' lists. */
async function checkAuthorities(
  fetches: Fetches,
  { verification: { path } }: AskedChain,
  now: Date,
): Promise<readonly AuthorityStatus[]> {
  const rows: AuthorityStatus[] = [];
  for (const [index, certificate] of path.entries()) {
    const issuer = path[index + 1];
    if (index === 0 || issuer === undefined) continue;
    const url = firstOverHttp(() => completeCrlUrls(certificate));
    const list = url === null ? null : await lookUpInList(fetches, url, { certificate, issuer, now });
    rows.push({ certificate, list });
  }
  return rows;
}

/**
 * Returns the first http URL, or null if there is none. https is not used: the answers are signed, and the certificate
 * of the https server would also have to be checked (RFC 5280 section 8).
 */
function firstOverHttp(read: () => readonly string[]): string | null {
  return readable(read, []).find((url) => /^http:/i.test(url)) ?? null;
}
