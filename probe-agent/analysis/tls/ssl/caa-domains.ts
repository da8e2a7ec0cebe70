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

/** Returns the authority of an organization, or null if it is unknown. */
export function authorityOfOrganization(organization: string | null): string | null {
  const key = organization?.toLowerCase() ?? "";
  return AUTHORITIES.find(({ organizations }) => organizations.includes(key))?.name ?? null;
}

/** Returns the authority of a domain in a CAA record, or null if it is unknown. */
export function authorityOfDomain(domain: string): string | null {
  return AUTHORITIES.find(({ domains }) => domains.includes(domain))?.name ?? null;
}
