import type { DnsRecord } from "#probe-agent/port/dns.ts";

/** A record in ServiceMode (RFC 9460 section 2.4.3). */
export interface ServiceBinding {
  readonly priority: number;
  /** Where to connect: the owner's name where the record says ".". */
  readonly target: string;
  /** Protocols, the scheme's default among them (section 7.1.2). */
  readonly alpn: readonly string[];
  /** Null: the scheme's. */
  readonly port: number | null;
  /** The record brings keys for Encrypted ClientHello (RFC 9848). */
  readonly ech: boolean;
  readonly ipv4hint: readonly string[];
  readonly ipv6hint: readonly string[];
  /** Names a parameter as mandatory that clients may not know or that is missing: those ignore the record (section 8). */
  readonly compatible: boolean;
}

/** What the HTTPS records of one name say. */
type HttpsAnswer =
  | { readonly mode: "none" }
  /** AliasMode: ask there; null: the service is said not to exist (section 2.5.1). */
  | { readonly mode: "alias"; readonly target: string | null }
  | { readonly mode: "service"; readonly records: readonly ServiceBinding[] };

/** The parameters of RFC 9460 section 14.3.2 and RFC 9848; mandatory ones beyond them make a record unusable here. */
const UNDERSTOOD = new Set(["alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint"]);
const DEFAULT_ALPN = "http/1.1";
const MAX_RECORDS = 20;
const MAX_ITEMS = 20;

/** The name to ask for the HTTPS records of an origin (sections 2.3 and 9.1): other ports than 443 stand in front of it. */
export function httpsQueryName(host: string, port: number): string {
  // A client of http: asks as if for https, at 443 where the port is 80 (section 9.5).
  return port === 443 || port === 80 ? host : `_${port}._https.${host}`;
}

/**
 * Reads an answer section. Records of the last name of a CNAME chain count; where one is in AliasMode, those in
 * ServiceMode are ignored (section 2.4.1).
 */
export function readHttpsAnswer(answers: readonly DnsRecord[]): HttpsAnswer {
  const records = answers.filter(({ type, typed }) => type === "HTTPS" && typeof typed["priority"] === "number");
  const alias = records.find(({ typed }) => typed["priority"] === 0);
  if (alias !== undefined) {
    const target = String(alias.typed["target"]);
    return { mode: "alias", target: target === "." || target === "" ? null : target };
  }
  if (records.length === 0) return { mode: "none" };
  const bindings = records.slice(0, MAX_RECORDS).map(readBinding);
  return { mode: "service", records: bindings.toSorted((one, other) => one.priority - other.priority) };
}

function readBinding({ name, typed }: DnsRecord): ServiceBinding {
  const params = (typed["params"] ?? {}) as Readonly<Record<string, unknown>>;
  const texts = (key: string): readonly string[] => {
    const value = Object.hasOwn(params, key) ? params[key] : [];
    return Array.isArray(value) ? value.slice(0, MAX_ITEMS).map(String) : [];
  };
  const target = String(typed["target"]);
  const alpn = texts("alpn");
  const port = params["port"];
  // Without alpn there is no no-default-alpn either (section 7.1.1).
  const isAlone = Object.hasOwn(params, "no-default-alpn") && alpn.length > 0;
  const mandatory = texts("mandatory");
  return {
    priority: Number(typed["priority"]),
    target: target === "." || target === "" ? name : target,
    alpn: isAlone || alpn.includes(DEFAULT_ALPN) ? alpn : [...alpn, DEFAULT_ALPN],
    port: typeof port === "number" ? port : null,
    ech: Object.hasOwn(params, "ech"),
    ipv4hint: texts("ipv4hint"),
    ipv6hint: texts("ipv6hint"),
    compatible: mandatory.every((key) => UNDERSTOOD.has(key) && Object.hasOwn(params, key)),
  };
}
