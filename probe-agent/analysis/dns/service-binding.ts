import type { DnsRecord } from "#probe-agent/port/dns.ts";

/** An HTTPS record in ServiceMode (RFC 9460 section 2.4.3). */
export interface ServiceBinding {
  readonly priority: number;
  /** Host to connect to. This is the owner name if the record says ".". */
  readonly target: string;
  /** Protocols, including the scheme's default protocol (section 7.1.2). */
  readonly alpn: readonly string[];
  /** Null means the scheme's port. */
  readonly port: number | null;
  /** Whether the record contains keys for Encrypted ClientHello (RFC 9848). */
  readonly ech: boolean;
  readonly ipv4hint: readonly string[];
  readonly ipv6hint: readonly string[];
  /**
   * False if the record names as mandatory a parameter that is missing or that clients may not know. Clients ignore
   * such a record (section 8).
   */
  readonly compatible: boolean;
}

/** The HTTPS records of one name. */
type HttpsAnswer =
  | { readonly mode: "none" }
  /** AliasMode: query `target` instead. Null means that the service does not exist (section 2.5.1). */
  | { readonly mode: "alias"; readonly target: string | null }
  | { readonly mode: "service"; readonly records: readonly ServiceBinding[] };

/** Parameters of RFC 9460 section 14.3.2 and RFC 9848. A record with any other mandatory parameter is unusable here. */
const UNDERSTOOD = new Set(["alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint"]);
const DEFAULT_ALPN = "http/1.1";
const MAX_RECORDS = 20;
const MAX_ITEMS = 20;

/**
 * Returns the name to query for the HTTPS records of an origin (sections 2.3 and 9.1). A port other than 80 or 443
 * becomes a prefix of the name.
 */
export function httpsQueryName(host: string, port: number): string {
  // A client of http: sends the same query as for https, and uses port 443 if the port is 80 (section 9.5).
  return port === 443 || port === 80 ? host : `_${port}._https.${host}`;
}

/**
 * Reads the HTTPS records of an answer section. After a CNAME chain they belong to its last name. If one of them is in
 * AliasMode, those in ServiceMode are ignored (section 2.4.1).
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
  // The parameter no-default-alpn counts only together with alpn (section 7.1.1).
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
