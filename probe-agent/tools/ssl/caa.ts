import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import { accessLocations, completeCrlUrls } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { isWildcardMatch } from "#probe-agent/analysis/tls/certificate/hostname.ts";
import { readable } from "#probe-agent/analysis/tls/certificate/der.ts";
import { ATTRIBUTE, attributeOf, readName } from "#probe-agent/analysis/tls/certificate/names.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/** A CAA record (RFC 8659 section 4). */
export type CaaRow = NonNullable<ResultOf<typeof ssl>["caa"]>[number];

/** Known tags: RFC 8659, RFC 9495, and the other tags of IANA's CAA registry. */
const KNOWN_TAGS = new Set(["issue", "issuewild", "iodef", "issuemail", "issuevmc", "contactemail", "contactphone"]);

/**
 * The largest authorities: the organizations in their certificates, and the domains that they ask their customers to
 * use in CAA records. For an authority or a domain that is not listed, the result is unknown.
 */
const AUTHORITIES: readonly {
  readonly name: string;
  readonly organizations: readonly string[];
  readonly domains: readonly string[];
}[] = [
  { name: "Let's Encrypt", organizations: ["let's encrypt"], domains: ["letsencrypt.org"] },
  {
    name: "DigiCert",
    organizations: ["digicert inc", "digicert, inc.", "quovadis limited"],
    domains: ["digicert.com", "symantec.com", "thawte.com", "geotrust.com", "rapidssl.com", "quovadisglobal.com"],
  },
  {
    name: "Sectigo",
    organizations: ["sectigo limited", "comodo ca limited", "the usertrust network", "zerossl"],
    domains: ["sectigo.com", "usertrust.com", "trust-provider.com", "comodo.com", "comodoca.com"],
  },
  { name: "GlobalSign", organizations: ["globalsign nv-sa"], domains: ["globalsign.com"] },
  {
    name: "Google Trust Services",
    organizations: ["google trust services", "google trust services llc"],
    domains: ["pki.goog"],
  },
  {
    name: "Amazon",
    organizations: ["amazon"],
    domains: ["amazon.com", "amazontrust.com", "awstrust.com", "amazonaws.com"],
  },
  {
    name: "GoDaddy",
    organizations: ["godaddy.com, inc.", "starfield technologies, inc."],
    domains: ["godaddy.com", "starfieldtech.com"],
  },
  { name: "SSL.com", organizations: ["ssl corporation", "ssl corp"], domains: ["ssl.com"] },
  { name: "Buypass", organizations: ["buypass as-983163327"], domains: ["buypass.com", "buypass.no"] },
  { name: "Actalis", organizations: ["actalis s.p.a."], domains: ["actalis.it"] },
  { name: "Microsoft", organizations: ["microsoft corporation"], domains: ["microsoft.com"] },
];

/**
 * Returns the name that CAA records apply to: the host, or its parent if the certificate matches only by a wildcard.
 */
export function certifiedName(host: string, leaf: Certificate): { readonly name: string; readonly wildcard: boolean } {
  const wildcard = isWildcardMatch(leaf, host);
  return { name: wildcard ? host.slice(host.indexOf(".") + 1) : host, wildcard };
}

/** Returns a name and its parents up to the top-level domain, in the order of tree climbing (RFC 8659 section 3). */
export function nameAndParents(name: string): string[] {
  const labels = name.replace(/\.$/, "").split(".");
  return labels.map((_label, index) => labels.slice(index).join("."));
}

/**
 * Reports whether the records allow the certificate's authority to issue. Returns null if that is unknown, because a
 * record has an unknown critical tag or names an unknown authority.
 */
export function allowsIssuer(rows: readonly CaaRow[], leaf: Certificate, wildcard: boolean): boolean | null {
  if (rows.some(({ critical, tag }) => critical && !KNOWN_TAGS.has(tag))) return null;
  const withTag = (wanted: string): CaaRow[] => rows.filter(({ tag }) => tag === wanted);
  const wild = withTag("issuewild");
  // For a wildcard, issuewild overrides issue (RFC 8659 section 4.3).
  const relevant = wildcard && wild.length > 0 ? wild : withTag("issue");
  if (relevant.length === 0) return true;
  const domains = relevant.map(({ value }) => issuerDomain(value)).filter((domain) => domain !== "");
  if (domains.length === 0) return false;
  if (domains.some((domain) => isDomainOfIssuer(domain, leaf))) return true;
  const own = authorityOfOrganization(organizationOf(leaf.issuer));
  if (own === null) return null;
  const owners = new Set(domains.map(authorityOfDomain));
  if (owners.has(own)) return true;
  return owners.has(null) ? null : false;
}

/**
 * Returns the domain before the parameters (RFC 8659 section 4.2). An empty domain means that no authority is allowed
 * to issue.
 */
function issuerDomain(value: string): string {
  return (value.split(";")[0] ?? "").trim().toLowerCase().replace(/\.$/, "");
}

/** Reports whether a URL of the authority in the certificate (OCSP, issuer, CRL) is at the domain or below it. */
function isDomainOfIssuer(domain: string, leaf: Certificate): boolean {
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

/** Returns the authority of an organization, or null if it is unknown. */
function authorityOfOrganization(organization: string | null): string | null {
  const key = organization?.toLowerCase() ?? "";
  return AUTHORITIES.find(({ organizations }) => organizations.includes(key))?.name ?? null;
}

/** Returns the authority of a domain in a CAA record, or null if it is unknown. */
function authorityOfDomain(domain: string): string | null {
  return AUTHORITIES.find(({ domains }) => domains.includes(domain))?.name ?? null;
}
