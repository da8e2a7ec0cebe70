import { isBlockedPort } from "#shared/egress/ports.ts";

/** A WHOIS server. */
export interface WhoisServer {
  /** Name in lower case, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Subject of a WHOIS query. */
export type WhoisSubject =
  | { readonly kind: "domain"; readonly name: string }
  | { readonly kind: "ip"; readonly ip: string }
  | { readonly kind: "autnum"; readonly asn: number };

/** IANA's server, which knows the registry of every top-level domain, address block and AS number block. */
export const IANA: WhoisServer = { host: "whois.iana.org", port: 43 };

const WHOIS_PORT = 43;
/** Port of RWhois (RFC 2167). */
const RWHOIS_PORT = 4321;

/**
 * Returns the query line that makes the server report exactly this subject, without the extras that registries send
 * unasked.
 */
export function queryFor({ host }: WhoisServer, subject: WhoisSubject): string {
  if (subject.kind === "domain") {
    const format = DOMAIN_QUERIES.get(host);
    return format === undefined ? subject.name : format(subject.name);
  }
  // ARIN needs the kind of the resource in the query; "+" requests the full record. Other servers understand the bare
  // resource.
  const isArin = host === "whois.arin.net";
  if (subject.kind === "ip") return isArin ? `n + ${subject.ip}` : subject.ip;
  return isArin ? `a + ${subject.asn}` : `AS${subject.asn}`;
}

/** Query forms from the registries' own help texts. */
const DOMAIN_QUERIES: ReadonlyMap<string, (name: string) => string> = new Map([
  // Otherwise the server lists every host and registrar whose name contains it.
  ["whois.verisign-grs.com", (name) => `domain ${name}`],
  // Domain data in A-labels. Without this option, only the status is returned.
  ["whois.denic.de", (name) => `-T dn,ace ${name}`],
  // Requests English field names.
  ["whois.jprs.jp", (name) => `${name}/e`],
  ["whois.nic.name", (name) => `domain = ${name}`],
]);

/**
 * Parses "whois.example.net", "whois.example.net:4343", "whois://host", "rwhois://host:port/". Returns null for
 * anything else.
 */
export function readReferral(text: string): WhoisServer | null {
  const [, scheme = "whois", host = "", given] =
    /^(?:(r?whois):\/\/)?(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::(\d{1,5}))?\/?$/i.exec(
      text.slice(0, 300).trim().replace(/\.$/, ""),
    ) ?? [];
  if (host === "" || (!host.startsWith("[") && !host.includes("."))) return null;
  const port = given === undefined ? (/^r/i.test(scheme) ? RWHOIS_PORT : WHOIS_PORT) : Number(given);
  // A referral must not make the probe connect to a mail server or another service.
  const usable = port === WHOIS_PORT || (port > 1023 && port <= 65_535 && !isBlockedPort(String(port)));
  return usable ? { host: host.toLowerCase().replace(/^\[|\]$/g, ""), port } : null;
}

/** Formats a server for messages. */
export function serverText({ host, port }: WhoisServer): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === WHOIS_PORT ? name : `${name}:${port}`;
}
