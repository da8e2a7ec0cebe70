import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import { accessLocations, completeCrlUrls } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { isWildcardMatch } from "#probe-agent/analysis/tls/certificate/hostname.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { ATTRIBUTE, attributeOf, readName } from "#probe-agent/analysis/tls/certificate/names.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { authorityOfDomain, authorityOfOrganization } from "#probe-agent/analysis/tls/ssl/caa-domains.ts";

/** A CAA record (RFC 8659 section 4). */
export type CaaRow = NonNullable<ResultOf<typeof ssl>["caa"]>[number];

/** Tags whose meaning for a server's certificate is known: RFC 8659, RFC 9495, and those of the CAs' own registry (IANA). */
const KNOWN_TAGS = new Set(["issue", "issuewild", "iodef", "issuemail", "issuevmc", "contactemail", "contactphone"]);

/** The name a certificate for the host was issued by: the host, or the name below which its wildcard stands. */
export function certifiedName(host: string, leaf: Certificate): { readonly name: string; readonly wildcard: boolean } {
  const wildcard = isWildcardMatch(leaf, host);
  return { name: wildcard ? host.slice(host.indexOf(".") + 1) : host, wildcard };
}

/** The name and all above it up to the top-level domain, the order of tree climbing (RFC 8659 section 3). */
export function nameAndParents(name: string): string[] {
  const labels = name.replace(/\.$/, "").split(".");
  return labels.map((_label, index) => labels.slice(index).join("."));
}

/**
 * Whether the records let the certificate's authority issue; null where it cannot be told: a domain may belong to an
 * authority not known here.
 */
export function allowsIssuer(rows: readonly CaaRow[], leaf: Certificate, wildcard: boolean): boolean | null {
  if (rows.some(({ critical, tag }) => critical && !KNOWN_TAGS.has(tag))) return null;
  const withTag = (wanted: string): CaaRow[] => rows.filter(({ tag }) => tag === wanted);
  const wild = withTag("issuewild");
  // RFC 8659 section 4.3: issuewild wins over issue where the name is a wildcard.
  const relevant = wildcard && wild.length > 0 ? wild : withTag("issue");
  if (relevant.length === 0) return true;
  const domains = relevant.map(({ value }) => issuerDomain(value)).filter((domain) => domain !== "");
  if (domains.length === 0) return false;
  if (domains.some((domain) => isOf(domain, leaf))) return true;
  const own = authorityOfOrganization(organizationOf(leaf.issuer));
  if (own === null) return null;
  const owners = new Set(domains.map(authorityOfDomain));
  if (owners.has(own)) return true;
  return owners.has(null) ? null : false;
}

/** RFC 8659 section 4.2: the domain before the parameters; empty for none, which lets nobody issue. */
function issuerDomain(value: string): string {
  return (value.split(";")[0] ?? "").trim().toLowerCase().replace(/\.$/, "");
}

/** The authority's own servers, as the certificate names them, are below the domain. */
function isOf(domain: string, leaf: Certificate): boolean {
  if (!domain.includes(".")) return false;
  return urlsOf(leaf).some((url) => {
    const host = URL.parse(url)?.hostname ?? "";
    return host === domain || host.endsWith(`.${domain}`);
  });
}

function urlsOf(leaf: Certificate): string[] {
  const methods = ["1.3.6.1.5.5.7.48.1", "1.3.6.1.5.5.7.48.2"];
  return readable(() => [...methods.flatMap((method) => accessLocations(leaf, method)), ...completeCrlUrls(leaf)], []);
}

function organizationOf(name: Uint8Array): string | null {
  return readable(() => attributeOf(readName(name), ATTRIBUTE.organization), null);
}

function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedDer) return otherwise;
    throw error;
  }
}
