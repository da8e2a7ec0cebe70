import { isBlockedPort } from "#shared/egress/ports.ts";

/** A WHOIS server to ask. */
export interface WhoisServer {
  /** Name in lower case, or a literal without brackets. */
  readonly host: string;
  readonly port: number;
}

/** What is asked about, as WHOIS has it. */
export type WhoisSubject =
  | { readonly kind: "domain"; readonly name: string }
  | { readonly kind: "ip"; readonly ip: string }
  | { readonly kind: "autnum"; readonly asn: number };

/** Knows the registry of every top-level domain, address block and AS number block. */
export const IANA: WhoisServer = { host: "whois.iana.org", port: 43 };

const WHOIS_PORT = 43;
/** RFC 2167. */
const RWHOIS_PORT = 4321;

/** The line that has the server tell of exactly this, without the extras registries send unasked. */
export function queryFor({ host }: WhoisServer, subject: WhoisSubject): string {
  if (subject.kind === "domain") {
    const format = DOMAIN_QUERIES.get(host);
    return format === undefined ? subject.name : format(subject.name);
  }
  // ARIN wants to be told what it is asked about; "+" is the full record. Elsewhere the bare resource is understood.
  const isArin = host === "whois.arin.net";
  if (subject.kind === "ip") return isArin ? `n + ${subject.ip}` : subject.ip;
  return isArin ? `a + ${subject.asn}` : `AS${subject.asn}`;
}

/** As the registries' own help texts have them. */
const DOMAIN_QUERIES: ReadonlyMap<string, (name: string) => string> = new Map([
  // Else every host and registrar whose name contains it is listed.
  ["whois.verisign-grs.com", (name) => `domain ${name}`],
  // Domain data in A-labels; without it only the status comes.
  ["whois.denic.de", (name) => `-T dn,ace ${name}`],
  // English field names.
  ["whois.jprs.jp", (name) => `${name}/e`],
  ["whois.nic.name", (name) => `domain = ${name}`],
]);

/** Reads "whois.example.net", "whois.example.net:4343", "whois://host", "rwhois://host:port/"; null for anything else. */
export function readReferral(text: string): WhoisServer | null {
  const [, scheme = "whois", host = "", given] =
    /^(?:(r?whois):\/\/)?(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::(\d{1,5}))?\/?$/i.exec(
      text.slice(0, 300).trim().replace(/\.$/, ""),
    ) ?? [];
  if (host === "" || (!host.startsWith("[") && !host.includes("."))) return null;
  const port = given === undefined ? (/^r/i.test(scheme) ? RWHOIS_PORT : WHOIS_PORT) : Number(given);
  // A referral must not make us speak to a mail server or the like.
  const usable = port === WHOIS_PORT || (port > 1023 && port <= 65_535 && !isBlockedPort(String(port)));
  return usable ? { host: host.toLowerCase().replace(/^\[|\]$/g, ""), port } : null;
}

/** How a server is named to people. */
export function serverText({ host, port }: WhoisServer): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === WHOIS_PORT ? name : `${name}:${port}`;
}
