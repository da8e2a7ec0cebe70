import { registrableDomain } from "#shared/internet/registrable-domain.ts";

/**
 * Domains under which one mail operator names both its receiving hosts and its Authentication-Results, as seen in
 * received mail: Proofpoint, Apple, Google, Fastmail, Microsoft, Yahoo, Proton, United Internet, Zoho, Yandex.
 */
const OPERATORS: readonly (readonly string[])[] = [
  ["pphosted.com", "ppops.net", "ppe-hosted.com"],
  ["icloud.com", "apple.com", "me.com", "mac.com"],
  ["google.com", "gmail.com", "googlemail.com"],
  ["messagingengine.com", "fastmail.com"],
  ["outlook.com", "office365.com", "exchangelabs.com", "hotmail.com", "microsoft.com"],
  ["yahoo.com", "yahoo.net", "yahoodns.net", "aol.com"],
  ["protonmail.ch", "proton.ch", "proton.me", "protonmail.com"],
  ["gmx.net", "gmx.de", "gmx.com", "web.de", "mail.com", "kundenserver.de", "perfora.net"],
  ["zoho.com", "zohomail.com", "zoho.eu", "zohomail.eu"],
  ["yandex.ru", "yandex.net", "yandex.com"],
];
const OPERATOR_OF = new Map(OPERATORS.flatMap((domains) => domains.map((domain) => [domain, domains[0] ?? domain])));
/** Names for internal networks (RFC 2606, 6762, 8375 and ICANN's .internal), which do not identify an organization. */
const PRIVATE_NAME = /(?:^|\.)(?:internal|local|lan|localdomain|localhost|intranet|corp|home|home\.arpa)$/i;

/** Returns the main domain of a host's operator, otherwise its registrable domain. Null for private names. */
export function organisationOf(host: string | null): string | null {
  if (host === null || PRIVATE_NAME.test(host.slice(0, 255))) return null;
  const domain = registrableDomain(host);
  return domain === null ? null : (OPERATOR_OF.get(domain) ?? domain);
}
