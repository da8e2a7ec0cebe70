import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import { parseWhois, type WhoisRecord } from "#probe-agent/tools/whois/parse.ts";
import { readWhoisLines } from "#probe-agent/analysis/registry/whois/lines.ts";
import { parseNumberWhois, type NumberAnswer } from "#probe-agent/tools/whois/number-resource.ts";
import { quoteLimit } from "#probe-agent/analysis/registry/whois/verdict.ts";

/** The answer of a WHOIS server. `server` is its host name. */
interface WhoisInput {
  readonly text: string;
  readonly server: string;
}

/** A parsed answer. `limit` quotes the server if it refused to answer because of a rate limit, otherwise it is null. */
interface WhoisReading<T> {
  readonly answer: T;
  readonly limit: string | null;
}

/** Parses an answer about a domain. */
function readDomainWhois({ text, server }: WhoisInput): WhoisReading<WhoisRecord> {
  return { answer: parseWhois(text, server), limit: quoteLimit(readWhoisLines(text).prose) };
}

/** A WHOIS response about a domain. */
export const domainWhoisAnalysis = defineAnalysis("whois-domain", readDomainWhois);

/** Parses an answer about an address or an AS number. */
function readNumberWhois({ text, server }: WhoisInput): WhoisReading<NumberAnswer> {
  return { answer: parseNumberWhois(text, server), limit: quoteLimit(readWhoisLines(text).prose) };
}

/** A WHOIS response about a number resource. */
export const numberWhoisAnalysis = defineAnalysis("whois-number", readNumberWhois);
