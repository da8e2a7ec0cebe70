import type { Check } from "#probe-agent/analysis/mail/spf/check.ts";
import { targetName } from "#probe-agent/analysis/mail/spf/check.ts";
import { isMailDomain, type DomainSpec } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { explain } from "#probe-agent/analysis/mail/spf/explain.ts";
import { clientOf, senderOf } from "#probe-agent/analysis/mail/spf/identity.ts";
import { spendLookup, SpfStop, type SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { matches } from "#probe-agent/analysis/mail/spf/mechanisms.ts";
import { isSpfRecord, parseSpf, type SpfRecord } from "#probe-agent/analysis/mail/spf/parse.ts";

/** Results of check_host() (RFC 7208 section 2.6). */
type SpfResult = "none" | "neutral" | "pass" | "fail" | "softfail" | "temperror" | "permerror";

/** One message's claim. */
interface SpfQuery {
  /** Address of the SMTP client. */
  readonly ip: string;
  /** MAIL FROM; empty for bounces: then HELO is the identity. */
  readonly mailFrom: string;
  readonly helo: string;
  readonly resolver: SpfResolver;
  /** For the t macro. */
  readonly now: Date;
}

/** What the check came to. */
export interface SpfEvaluation {
  readonly result: SpfResult;
  /** Only on fail, where the domain publishes a usable one. */
  readonly explanation?: string;
  /** Terms that asked the DNS, and look-ups of them that found nothing. */
  readonly lookups: number;
  readonly void_lookups: number;
  /** Domain whose record decided: the last one that a redirect led to. */
  readonly domain: string;
  /** The mechanism that matched, as written; null for none. */
  readonly mechanism: string | null;
  /** Why there is a none, temperror or permerror; null otherwise. */
  readonly reason: string | null;
}

interface Decision {
  readonly result: SpfResult;
  readonly domain: string;
  readonly mechanism: string | null;
  readonly reason: string | null;
  readonly exp: DomainSpec | null;
}

/** Evaluates SPF (RFC 7208) for one client and sender. Never throws, whatever the records hold. */
export async function evaluateSpf({ ip, mailFrom, helo, resolver: given, now }: SpfQuery): Promise<SpfEvaluation> {
  // Names have no case in DNS (RFC 4343); a resolver that remembers answers need not know that.
  const resolver: SpfResolver = { query: (name, type) => given.query(lowerAscii(name), type) };
  const spent = { lookups: 0, voidLookups: 0 };
  const sender = senderOf(mailFrom, helo);
  const client = clientOf(ip);
  const check: Check | null =
    client === null ? null : { client, sender, helo: helo.replace(/\.$/, ""), now, resolver, spent, names: null };
  const decision =
    check === null
      ? ending("permerror", sender.domain, "the client's address is no IP address")
      : await checkHost(check, sender.domain).catch((error: unknown) => asStop(error, sender.domain));
  const { exp, ...shown } = decision;
  const explanation =
    check === null || decision.result !== "fail" || exp === null ? null : await explain(check, decision.domain, exp);
  return {
    ...shown,
    ...(explanation === null ? {} : { explanation }),
    lookups: spent.lookups,
    void_lookups: spent.voidLookups,
  };
}

function lowerAscii(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function ending(result: SpfResult, domain: string, reason: string | null, mechanism: string | null = null): Decision {
  return { result, domain, mechanism, reason, exp: null };
}

function asStop(error: unknown, domain: string): Decision {
  if (error instanceof SpfStop) return ending(error.result, domain, error.message);
  throw error;
}

/** check_host() of section 4. */
async function checkHost(check: Check, domain: string): Promise<Decision> {
  if (!isMailDomain(domain)) return ending("none", domain, "the domain is no host name of several labels");
  const { status, records } = await check.resolver.query(domain, "TXT");
  if (status !== "NOERROR" && status !== "NXDOMAIN") {
    throw new SpfStop("temperror", `the TXT records of ${domain} could not be looked up (${status})`);
  }
  const policies = (status === "NOERROR" ? records : []).filter(isSpfRecord);
  const [policy] = policies;
  if (policy === undefined) return ending("none", domain, "the domain has no SPF record");
  if (policies.length > 1) throw new SpfStop("permerror", `${domain} has ${policies.length} SPF records`);
  const parsed = parseSpf(policy);
  if (!parsed.ok) throw new SpfStop("permerror", `${domain}: ${parsed.error}`);
  return evaluateRecord(check, domain, parsed.record);
}

async function evaluateRecord(check: Check, domain: string, record: SpfRecord): Promise<Decision> {
  for (const mechanism of record.mechanisms) {
    if (await matches(check, domain, mechanism, (target) => includes(check, target))) {
      const { qualifier, text } = mechanism;
      return { result: qualifier, domain, mechanism: text, reason: null, exp: record.exp };
    }
  }
  // Sections 6.1 and 4.7.
  if (record.redirect === null) return ending("neutral", domain, null);
  spendLookup(check.spent);
  const target = await targetName(check, domain, record.redirect);
  const decision = await checkHost(check, target);
  if (decision.result === "none") throw new SpfStop("permerror", `redirect to ${target}: ${decision.reason}`);
  return decision;
}

/** Section 5.2: what the included domain's result means for the mechanism. */
async function includes(check: Check, target: string): Promise<boolean> {
  const { result, reason } = await checkHost(check, target);
  if (result === "none") throw new SpfStop("permerror", `include of ${target}: ${reason}`);
  return result === "pass";
}
