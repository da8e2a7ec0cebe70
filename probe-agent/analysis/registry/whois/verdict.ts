import { readIp } from "#probe-agent/analysis/network/ip-numbers.ts";
import type { NameState, RegistryFormat } from "#probe-agent/analysis/registry/whois/registries.ts";

/**
 * Statement of an answer in words: the state of the name, or "limited" if the server refuses to answer. Null if there
 * is neither.
 */
export type WhoisStatement = NameState | "limited" | null;

/** Words with which servers refuse clients. They must never be read as "not registered". */
const LIMITED: readonly (RegExp | Near)[] = [
  {
    first: /\b(?:exceeded|reached)\b/gi,
    within: 80,
    second: /\b(?:limit|quota|quer(?:y|ies)|requests?|rate|lookups?)\b/gi,
  },
  { first: /\b(?:limit|quota|queries|requests?|lookups?|rate)\b/gi, within: 60, second: /\b(?:exceeded|reached)\b/gi },
  /\btoo many (?:requests|queries|connections|lookups)\b|\bexcessive (?:queries|query from|access from)\b/i,
  /\b(?:rate|access)[- ]?(?:control )?limit(?:ed|ing)?\b(?! of \d)/i,
  { first: /\bquer(?:y|ied|ies|ying)\b/gi, within: 30, second: /\btoo (?:short|frequent|often|fast)\b/gi },
  /\bexcessive querying\b|\bover (?:the |your )?quota\b/i,
  /^(?:throttled|rate[- ]?limit(?:ed)?)\W*$|\byou (?:have been|are) (?:banned|blocked|throttled)\b/i,
  { first: /\b(?:server|service|database)\b/gi, within: 40, second: /\bdown for maintenance\b/gi },
  /\btry again (?:later|in|after)\b|\bplease slow down\b|\bwait (?:a|\d+|for) /i,
  /\b(?:access|permission|connection|query) (?:is |was |has been )?(?:temporarily )?(?:denied|refused|blocked)\b/i,
  {
    first: /\brequests? (?:of|from) (?:this|your) (?:client|address|ip|host)\b/gi,
    within: 60,
    second: /\bnot (?:permitted|allowed)\b/gi,
  },
  {
    first: /\b(?:your|this) (?:ip|address|client|host)\b/gi,
    within: 60,
    second: /\b(?:blocked|banned|blacklisted|denied|restricted|suspended)\b/gi,
  },
  {
    first: /\b(?:server|service|database)\b/gi,
    within: 44,
    second: /\b(?:busy|temporarily unavailable|currently unavailable)\b/gi,
  },
  /^(?:the )?whois (?:service|server) .{0,40}(?:disabled|discontinued|unavailable)/i,
];

/**
 * Statements of registries about a name that they do not have (sources as in registries.ts, read on 2026-11-22). A
 * sentence about the name begins with a word for it, or with a name, an address or an AS number.
 */
const ABSENT: readonly RegExp[] = [
  /^no (?:exact )?match(?:es|ing)?\b/i,
  /^no (?:such|data|objects?|entries|entry|records?|found|information|domains?|answer)\b/i,
  /^there is no (?:information|record|entry|data)\b/i,
  /^sorry\b.{0,120}\bnot found\b/i,
  /^(?:nothing|not|none|key not) found\b|^not (?:registered|exist)\b/i,
  /^[^.]{0,3}(?:the |this |above |your )?(?:requested |queried )?(?:domain|object|name|record|entry|query|data)\b.{0,120}\b(?:not|n't) (?:yet )?(?:been |yet )?(?:found|registe?red|a registe?re?d|exist|assigned|delegated|known)\b/i,
  /^(?:the |this )?(?:domain|object|name)\b.{0,120}\bdoesn't exist\b/i,
  /^(?:the )?(?:domain|object) \S{1,255} - available\W*$/i,
  /^["'[]?(?:[^\s.]{0,63}\.\S{1,190}|as ?\d{1,10})["'\]]?(?: domain)?:? (?:is |was |has |does |-+ ?)?(?:not (?:been )?(?:found|registered|exist|assigned)|no match|no existe|free|available)\b[^:]{0,40}$/i,
  /^.{0,120}\bis (?:still )?(?:free|available|available for (?:registration|purchase)|not registered)\W*$/i,
  /^(?:domain |query |registration )?(?:status|state)\W+(?:\d+ )?(?:available|free|not registered|no object found|not found)(?: \(no match\b.{0,270})?\W*$/i,
  /^(?:available|free)\W*$/i,
  /^this query returned 0 objects/i,
  /(?<!\bif )\bno results? (?:were |was )?found\b/i,
  /no_se_encontro_el_objeto|object_not_found/i,
  /^we do not have an entry\b|^domain unknown\b/i,
  /\b(?:object|domain) not exists\b/i,
  /\bnot (?:known |available )?in (?:the |our |this )?(?:\S+ )?(?:database|registry)\b/i,
  /\bno se encuentra registrado\b|\bno existe\b|^(?:el )?dominio\b.{0,120}\bno (?:est[aá] )?registrado\b/i,
  // Hungarian. The accent appears in several encodings.
  /^nincs tal.{1,3}lat\b/i,
  /^(?:invalid query or )?domain name not known\b/i,
];

const RESERVED: readonly RegExp[] = [
  /\b(?:is|has been) (?:reserved|blocked|restricted)\b|^reserved (?:by|name|domain)\b|^(?:the )?(?:registry )?reserved\W*$/i,
  /^(?:the |this )?(?:domain )?name (?:is )?reserved\b|^domain reserved\b|\bis in the reserved list\b/i,
  /^(?:the |this )?domain(?: name)?(?: you requested)? is prohibited\b/i,
  /\b(?:cannot|can not|may not|is not allowed to) be registered\b|\bnot available for (?:second level )?registration\b|\bprohibited (?:name|string)\b/i,
  // Names that a trade mark holder has blocked: Identity Digital's DPML, UNR's Uni EPS, AdultBlock.
  /\bprotected by a dpml\b|\bdpml (?:brand )?(?:block|protection)\b|\bsubscribes to the (?:uni eps|adultblock)\b/i,
];

/** Unregistered names that the registry sells above the common price (Identity Digital's "platinum", CentralNic). */
const PREMIUM: readonly RegExp[] = [
  /^(?:the |this )(?:domain(?: name)? is (?:a |available as a )?)?(?:registry )?(?:premium|platinum)(?: domain| name|\W*$)/i,
  /^(?:registry )?premium (?:domain )?name\b|^(?:premium|platinum)\W*$/i,
];

const NOT_ASSIGNED = /^(?:the |this )?(?:domain |name |top-level domain )?(?:is )?(?:not|un)[ -]?assigned\W*$/i;
const UNASSIGNABLE = /^(?:the |this )?(?:domain |name )?(?:is )?(?:unassignable|not assignable)\W*$/i;

// The statement is at the start or, after a preamble of legal text, within a screenful or two.
const LOOKED_AT = 80;
const MAX_LINE = 300;
const MAX_QUOTE = 200;

/**
 * Two phrases, of which the second begins at most `within` characters after the end of the first. Both expressions are
 * global.
 */
interface Near {
  readonly first: RegExp;
  readonly within: number;
  readonly second: RegExp;
}

/** Returns the statement of the first line that makes one. Meant for answers that contain no registration. */
export function readVerdict(prose: readonly string[], format: RegistryFormat | null = null): WhoisStatement {
  return findVerdict(prose, format)?.statement ?? null;
}

/**
 * Quotes the words with which a server refused a client, up to 200 characters. Null if it did not refuse. The client is
 * the probe, and its address is replaced because it must stay private.
 */
export function quoteLimit(prose: readonly string[]): string | null {
  const found = findVerdict(prose);
  if (found?.statement !== "limited") return null;
  const words = found.line.replaceAll(ADDRESS_LIKE, (token) => (isAddress(token) ? "this probe" : token));
  return words.slice(0, MAX_QUOTE).trim().toWellFormed();
}

const ADDRESS_LIKE = /[\da-f][\da-f.:]{1,43}[\da-f]|::[\da-f]{1,4}/gi;

function isAddress(token: string): boolean {
  return readIp(token) !== null;
}

function findVerdict(
  prose: readonly string[],
  format: RegistryFormat | null = null,
): { readonly statement: NonNullable<WhoisStatement>; readonly line: string } | null {
  for (const raw of prose.slice(0, LOOKED_AT)) {
    const line = raw.replace(/^%?error:?\s*\d*\s*:?\s*/i, "").slice(0, MAX_LINE);
    const statement = classifyLine(line, format);
    if (statement !== null) return { statement, line };
  }
  return null;
}

function classifyLine(line: string, format: RegistryFormat | null): WhoisStatement {
  const says = (patterns: readonly (RegExp | Near)[]) => patterns.some((pattern) => matchesPhrase(line, pattern));
  if (says(LIMITED)) return "limited";
  const own = format?.says?.find(([, pattern]) => pattern.test(line));
  if (own !== undefined) return own[0];
  // "This platinum domain is available" and "This domain cannot be registered because ..." must be matched before the
  // words that they share with an unregistered name.
  if (says(PREMIUM)) return "premium";
  if (UNASSIGNABLE.test(line)) return "unassignable";
  if (NOT_ASSIGNED.test(line)) return "not_assigned";
  if (says(RESERVED)) return "reserved";
  return says(ABSENT) ? "absent" : null;
}

function matchesPhrase(line: string, pattern: RegExp | Near): boolean {
  return pattern instanceof RegExp ? pattern.test(line) : hasNear(line, pattern);
}

/** Status words of a name that nobody holds. "NOT AVAILABLE" of .be and .eu means the opposite. */
const STATUSES: readonly (readonly [NameState, RegExp])[] = [
  ["absent", /^(?:\d+ )?(?:available|free|not registered|no object found|not found)\W*$/i],
  ["reserved", /^(?:registry[- ]?)?(?:reserved|blocked|restricted|prohibited)(?: (?:by|name|domain)\b.{0,60})?\W*$/i],
  ["premium", /^(?:registry[- ]?)?(?:premium|platinum)(?: (?:name|domain))?\W*$/i],
  ["unassignable", UNASSIGNABLE],
  ["not_assigned", NOT_ASSIGNED],
];

/** Returns the state that a status word gives to a name that nobody holds. Null for the status of a registration. */
export function stateOfStatus(status: string): NameState | null {
  return STATUSES.find(([, pattern]) => pattern.test(status))?.[0] ?? null;
}

/**
 * Reports whether a text contains both phrases in that order and distance. The work is linear. The single expression
 * `first.{0,within}second` would read up to `within` characters again for each place where `first` matches.
 */
export function hasNear(text: string, { first, within, second }: Near): boolean {
  const ends = Array.from(text.matchAll(first), (match) => match.index + match[0].length);
  let next = 0;
  let latest: number | undefined;
  for (const { index } of text.matchAll(second)) {
    for (let end = ends[next]; end !== undefined && end <= index; end = ends[next]) {
      latest = end;
      next += 1;
    }
    if (latest !== undefined && index - latest <= within) return true;
  }
  return false;
}
