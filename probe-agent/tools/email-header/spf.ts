import { isMailDomain, type DomainSpec, isName, truncateName } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import {
  parseClient,
  parseSender,
  dottedAddress,
  type Client,
  type Sender,
} from "#probe-agent/tools/email-header/spf-identity.ts";
import {
  spendLookup,
  SpfStop,
  type SpfResolver,
  askRecords,
  LIMITS,
  type Spent,
} from "#probe-agent/analysis/mail/spf/lookup.ts";
import { isSpfRecord, parseSpf, type SpfRecord, type Mechanism } from "#probe-agent/analysis/mail/spf/parse.ts";
import { parseMacros, expandMacros, type MacroPart } from "#probe-agent/analysis/mail/spf/macro.ts";
import { isIn, readIp, type IpBlock, type IpNumber } from "#probe-agent/analysis/network/ip-numbers.ts";
import {
  isWithin,
  validatedName,
  validateNames,
  type ValidatedNames,
} from "#probe-agent/tools/email-header/spf-validated-names.ts";

/** Results of check_host() (RFC 7208 section 2.6). */
type SpfResult = "none" | "neutral" | "pass" | "fail" | "softfail" | "temperror" | "permerror";

/** Client and sender of one message, with a resolver. */
interface SpfQuery {
  /** Address of the SMTP client. */
  readonly ip: string;
  /** MAIL FROM address. Empty for bounces; then the HELO name is the identity that is checked. */
  readonly mailFrom: string;
  readonly helo: string;
  readonly resolver: SpfResolver;
  /** Time that the t macro expands to. */
  readonly now: Date;
}

/** Result of an SPF check, with the record and mechanism that decided. */
export interface SpfEvaluation {
  readonly result: SpfResult;
  /** Explanation of a fail. Present only if the result is fail and the domain publishes a usable explanation. */
  readonly explanation?: string;
  /** Number of terms that caused a DNS lookup. */
  readonly lookups: number;
  /** Number of DNS lookups that returned no records. */
  readonly void_lookups: number;
  /** Domain whose record decided: the domain checked, or the target of the last redirect. */
  readonly domain: string;
  /** The mechanism that matched, verbatim; null if none matched. */
  readonly mechanism: string | null;
  /** Why the result is none, temperror or permerror; null for other results. */
  readonly reason: string | null;
}

interface Decision {
  readonly result: SpfResult;
  readonly domain: string;
  readonly mechanism: string | null;
  readonly reason: string | null;
  readonly exp: DomainSpec | null;
}

/** Maximum number of characters of an explanation. SMTP replies are shorter (RFC 5321 section 4.5.3.1.5). */
const MAX_CHARACTERS = 4096;

/** Reports whether an included domain passes the client. Throws SpfStop if the check ends there. */
type Include = (domain: string) => Promise<boolean>;

type Prefixes = Pick<Mechanism & { name: "a" | "mx" }, "prefix4" | "prefix6">;

/** Evaluates SPF (RFC 7208) for one client and sender. Never throws because of the content of records. */
export async function evaluateSpf({ ip, mailFrom, helo, resolver: given, now }: SpfQuery): Promise<SpfEvaluation> {
  // DNS names are case-insensitive (RFC 4343). Lower case spares a caching resolver from handling that.
  const resolver: SpfResolver = { query: (name, type) => given.query(lowerAscii(name), type) };
  const spent = { lookups: 0, voidLookups: 0 };
  const sender = parseSender(mailFrom, helo);
  const client = parseClient(ip);
  const check: Check | null =
    client === null ? null : { client, sender, helo: helo.replace(/\.$/, ""), now, resolver, spent, names: null };
  const decision =
    check === null
      ? decide("permerror", sender.domain, "the client address is not an IP address")
      : await checkHost(check, sender.domain).catch((error: unknown) => decisionOfStop(error, sender.domain));
  const { exp, ...outcome } = decision;
  const explanation =
    check === null || decision.result !== "fail" || exp === null ? null : await explain(check, decision.domain, exp);
  return {
    ...outcome,
    ...(explanation === null ? {} : { explanation }),
    lookups: spent.lookups,
    void_lookups: spent.voidLookups,
  };
}

function lowerAscii(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function decide(result: SpfResult, domain: string, reason: string | null): Decision {
  return { result, domain, mechanism: null, reason, exp: null };
}

/** Returns the decision that an SpfStop carries. Throws every other error again. */
function decisionOfStop(error: unknown, domain: string): Decision {
  if (error instanceof SpfStop) return decide(error.result, domain, error.message);
  throw error;
}

/** Runs check_host() of RFC 7208 section 4 for one domain. */
async function checkHost(check: Check, domain: string): Promise<Decision> {
  if (!isMailDomain(domain)) return decide("none", domain, "the domain is not a host name with two or more labels");
  const { status, records } = await check.resolver.query(domain, "TXT");
  if (status !== "NOERROR" && status !== "NXDOMAIN") {
    throw new SpfStop("temperror", `the TXT records of ${domain} could not be looked up (${status})`);
  }
  const policies = (status === "NOERROR" ? records : []).filter(isSpfRecord);
  const [policy] = policies;
  if (policy === undefined) return decide("none", domain, "the domain has no SPF record");
  if (policies.length > 1) throw new SpfStop("permerror", `${domain} has ${policies.length} SPF records`);
  const parsed = parseSpf(policy);
  if (!parsed.ok) throw new SpfStop("permerror", `${domain}: ${parsed.error}`);
  return evaluateRecord(check, domain, parsed.record);
}

async function evaluateRecord(check: Check, domain: string, record: SpfRecord): Promise<Decision> {
  for (const mechanism of record.mechanisms) {
    if (await matches(check, domain, mechanism, (target) => passesInclude(check, target))) {
      const { qualifier, text } = mechanism;
      return { result: qualifier, domain, mechanism: text, reason: null, exp: record.exp };
    }
  }
  // Without a match, redirect decides (section 6.1); without redirect, the result is neutral (section 4.7).
  if (record.redirect === null) return decide("neutral", domain, null);
  spendLookup(check.spent);
  const target = await expandTarget(check, domain, record.redirect);
  const decision = await checkHost(check, target);
  if (decision.result === "none") throw new SpfStop("permerror", `redirect to ${target}: ${decision.reason}`);
  return decision;
}

/** Reports whether an include matches, from the result of the included domain (section 5.2). */
async function passesInclude(check: Check, target: string): Promise<boolean> {
  const { result, reason } = await checkHost(check, target);
  if (result === "none") throw new SpfStop("permerror", `include of ${target}: ${reason}`);
  return result === "pass";
}

/**
 * Returns the domain's explanation of a fail (RFC 7208 section 6.2). Returns null if there is not exactly one text, if
 * the lookup fails, or if the text breaks the grammar. These lookups do not count against the limits.
 */
async function explain(check: Check, domain: string, exp: DomainSpec): Promise<string | null> {
  const name = await expandTarget(check, domain, exp);
  if (!isName(name)) return null;
  const { status, records } = await check.resolver.query(name, "TXT");
  const [text] = records;
  if (status !== "NOERROR" || text === undefined || records.length !== 1) return null;
  const parts = text.length > MAX_CHARACTERS ? null : parseMacros(text, "explanation");
  return parts === null ? null : (await expand(check, domain, parts)).slice(0, MAX_CHARACTERS);
}

/** Reports whether a mechanism matches (RFC 7208 section 5). Throws SpfStop if the check ends at this mechanism. */
async function matches(check: Check, domain: string, mechanism: Mechanism, include: Include): Promise<boolean> {
  const { client, resolver, spent } = check;
  switch (mechanism.name) {
    case "all":
      return true;
    case "ip4":
    case "ip6":
      return isWithinPrefix(client.ip, mechanism.address, mechanism.prefix);
    case "include":
      spendLookup(spent);
      return include(await expandTarget(check, domain, mechanism.domain));
    case "a":
      spendLookup(spent);
      return hasAddress(check, await expandTarget(check, domain, mechanism.domain), mechanism);
    case "mx":
      spendLookup(spent);
      return hasExchange(check, await expandTarget(check, domain, mechanism.domain), mechanism);
    case "ptr":
      spendLookup(spent);
      return hasName(check, await expandTarget(check, domain, mechanism.domain));
    case "exists":
      spendLookup(spent);
      // Section 5.7: the lookup is always for A records, also for IPv6 clients.
      return (await askRecords(resolver, spent, await expandTarget(check, domain, mechanism.domain), "A")).length > 0;
  }
}

async function hasAddress(check: Check, name: string, { prefix4, prefix6 }: Prefixes): Promise<boolean> {
  const { client, resolver, spent } = check;
  const [type, prefix] = client.ip.version === 4 ? (["A", prefix4] as const) : (["AAAA", prefix6] as const);
  const addresses = await askRecords(resolver, spent, name, type);
  return addresses.some((address) => isWithinPrefix(client.ip, address, prefix));
}

async function hasExchange(check: Check, name: string, prefixes: Prefixes): Promise<boolean> {
  const records = await askRecords(check.resolver, check.spent, name, "MX");
  if (records.length > LIMITS.names) throw new SpfStop("permerror", `${name} has more than 10 MX records`);
  for (const record of records) {
    // The host "." is the null MX of RFC 7505, which names no host.
    const host = record.replace(/^\s*\d+\s+/, "").replace(/\.$/, "");
    if (host !== "" && (await hasAddress(check, host, prefixes))) return true;
  }
  return false;
}

async function hasName(check: Check, domain: string): Promise<boolean> {
  const { names, found } = await getValidatedNames(check);
  if (!found) {
    check.spent.voidLookups += 1;
    if (check.spent.voidLookups > LIMITS.voidLookups) {
      throw new SpfStop("permerror", "more than 2 DNS lookups returned no records");
    }
  }
  return names.some((name) => isWithin(name, domain));
}

function isWithinPrefix(ip: IpNumber, network: string, prefix: number): boolean {
  const read = readIp(network);
  if (read?.version !== ip.version) return false;
  const bits = BigInt((ip.version === 4 ? 32 : 128) - prefix);
  const block: IpBlock = { ...read, value: (read.value >> bits) << bits, prefix };
  return isIn(ip, block);
}

/** State of one SPF check, shared by all records that it reads. */
interface Check {
  readonly client: Client;
  readonly sender: Sender;
  readonly helo: string;
  readonly now: Date;
  readonly resolver: SpfResolver;
  readonly spent: Spent;
  /** Validated names of the client, looked up once; null before the first use. */
  names: Promise<ValidatedNames> | null;
}

/** Returns the client's validated names. Looks them up on the first call. */
function getValidatedNames(check: Check): Promise<ValidatedNames> {
  check.names ??= validateNames(check.resolver, check.client);
  return check.names;
}

/** Expands macros for `domain`, the domain whose record is being read (RFC 7208 section 7.2). */
function expand(check: Check, domain: string, parts: readonly MacroPart[]): Promise<string> {
  const { client, sender, helo, now } = check;
  return expandMacros(parts, async (letter) => {
    switch (letter) {
      case "s":
        return `${sender.local}@${sender.domain}`;
      case "l":
        return sender.local;
      case "o":
        return sender.domain;
      case "d":
        return domain;
      case "i":
        return dottedAddress(client);
      case "p":
        return validatedName(await getValidatedNames(check), domain);
      case "v":
        return client.ip.version === 4 ? "in-addr" : "ip6";
      case "h":
        return helo;
      case "c":
        return client.text;
      case "t":
        return String(Math.floor(now.getTime() / 1000));
      default:
        // The macro r is the name of the checking mail host. This program is not a mail host and has no such name.
        return "unknown";
    }
  });
}

/** Returns the name that a term looks up: its expanded domain-spec, or `domain` if it has none. */
async function expandTarget(check: Check, domain: string, spec: DomainSpec | null): Promise<string> {
  return spec === null ? domain : truncateName(await expand(check, domain, spec.parts));
}
