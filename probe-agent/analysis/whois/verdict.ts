import { readIp } from "#probe-agent/analysis/ip-numbers.ts";
import { hasNear, type Near } from "#probe-agent/analysis/whois/near.ts";

/** What an answer in words comes to: nobody has it, nobody may have it, or the server would not say. */
export type Spoken = "absent" | "reserved" | "limited" | null;

/** Words with which servers turn a client away. They must never be read as "not registered". */
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

const ABSENT: readonly RegExp[] = [
  /^no match(?:es|ing)?\b/i,
  /^no (?:such|data|object|objects|entries|entry|records?|found|information|domains?|answer)\b/i,
  /^sorry\b.{0,120}\bnot found\b/i,
  /^(?:nothing|not|none) found\b|^not (?:registered|exist)\b/i,
  /^[^.]{0,3}(?:the |this |above |your )?(?:requested |queried )?(?:domain|object|name|record|entry|query|data)\b.{0,120}\bnot (?:been |yet )?(?:found|registered|exist|assigned|delegated|known)\b/i,
  /^\S{1,253}(?: domain)?:? (?:is |was |has |does |-+ ?)?(?:not (?:been )?(?:found|registered|exist|assigned)|no match|free|available)\b[^:]{0,40}$/i,
  /^.{0,120}\bis (?:free|available|available for (?:registration|purchase)|not registered)\W*$/i,
  /^(?:domain |query |registration )?(?:status|state)\W+(?:\d+ )?(?:available|free|not registered|no object found|not found)\W*$/i,
  /^(?:available|free)\W*$/i,
  /^this query returned 0 objects/i,
  /no_se_encontro_el_objeto|object_not_found/i,
  /^we do not have an entry\b|^domain unknown\b/i,
  /\bnot (?:known )?in (?:the |our |this )?(?:\S+ )?(?:database|registry)\b/i,
  /\bno se encuentra registrado\b|\bno existe\b|^nincs talalat/i,
  /^(?:invalid query or )?domain name not known\b/i,
];

const RESERVED: readonly RegExp[] = [
  /\b(?:is|has been) (?:reserved|blocked|restricted)\b|^reserved (?:by|name|domain)\b|^(?:the )?(?:registry )?reserved\W*$/i,
  /\b(?:cannot|can not|may not|is not allowed to) be registered\b|\bnot available for registration\b|\bprohibited (?:name|string)\b/i,
];

// What counts is said at the start or, below a preamble of legal text, within a screenful or two.
const LOOKED_AT = 80;
const MAX_LINE = 300;
const MAX_QUOTE = 200;

/** The first line that says one of the three; for answers without a registration in them. */
export function readVerdict(prose: readonly string[]): Spoken {
  return findVerdict(prose)?.spoken ?? null;
}

/**
 * The words with which a server turned a client away, at most 200 characters; null where it did not. The client is the
 * probe, whose address is nobody's business.
 */
export function wordsOfLimit(prose: readonly string[]): string | null {
  const found = findVerdict(prose);
  if (found?.spoken !== "limited") return null;
  const words = found.line.replaceAll(ADDRESS_LIKE, (token) => (isAddress(token) ? "this probe" : token));
  return words.slice(0, MAX_QUOTE).trim().toWellFormed();
}

const ADDRESS_LIKE = /[\da-f][\da-f.:]{1,43}[\da-f]|::[\da-f]{1,4}/gi;

function isAddress(token: string): boolean {
  return readIp(token) !== null;
}

function findVerdict(prose: readonly string[]): { readonly spoken: NonNullable<Spoken>; readonly line: string } | null {
  for (const raw of prose.slice(0, LOOKED_AT)) {
    const line = raw.replace(/^error:?\s*\d*\s*:?\s*/i, "").slice(0, MAX_LINE);
    const says = (patterns: readonly (RegExp | Near)[]) => patterns.some((pattern) => fits(line, pattern));
    if (says(LIMITED)) return { spoken: "limited", line };
    // "This domain cannot be registered because ...": before the words it shares with a free one.
    if (says(RESERVED)) return { spoken: "reserved", line };
    if (says(ABSENT)) return { spoken: "absent", line };
  }
  return null;
}

function fits(line: string, pattern: RegExp | Near): boolean {
  return pattern instanceof RegExp ? pattern.test(line) : hasNear(line, pattern);
}

/** Whether a status word means that the name is free; "NOT AVAILABLE" of .be and .eu means the opposite. */
export function isFreeStatus(status: string): boolean {
  return /^(?:\d+ )?(?:available|free|not registered|no object found|unassigned)\W*$/i.test(status);
}
