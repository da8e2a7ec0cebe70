/**
 * The largest authorities: the organizations they certify as, and domains by which they are named in CAA records, as they
 * ask their customers to do. An authority or domain that is missing here makes an answer unknown.
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

/** The authority an organization is; null where it is not known here. */
export function authorityOfOrganization(organization: string | null): string | null {
  const key = organization?.toLowerCase() ?? "";
  return AUTHORITIES.find(({ organizations }) => organizations.includes(key))?.name ?? null;
}

/** The authority a domain names in a CAA record; null where it is not known here. */
export function authorityOfDomain(domain: string): string | null {
  return AUTHORITIES.find(({ domains }) => domains.includes(domain))?.name ?? null;
}
