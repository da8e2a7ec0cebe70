import {
  addrSpec,
  findAddrSpec,
  insideAngle,
  type FoundAddress,
} from "#probe-agent/analysis/mail/email-headers/addr-spec.ts";
import { decodeWords } from "#probe-agent/analysis/mail/email-headers/encoded-words.ts";
import { tokenize, type Token } from "#probe-agent/analysis/mail/email-headers/lexer.ts";

/** One mailbox of an address field. */
interface Mailbox {
  /** Display name, encoded words decoded; a comment where the old form has the name there; null without one. */
  readonly name: string | null;
  /** addr-spec without white space and comments; "" for <>. */
  readonly address: string;
  /** What follows the last "@", lower case; null where there is none. */
  readonly domain: string | null;
  /** Display name of the group it is in. */
  readonly group: string | null;
}

/** What was wrong with an address field. malformed: text that is no address where only addresses and quoted names may be. */
export type AddressFault =
  | "unclosed"
  | "no_domain"
  | "obsolete_route"
  | "encoded_word_in_quotes"
  | "malformed_encoded_word"
  | "malformed";

/** An address field taken apart (RFC 5322 section 3.4, obsolete forms of 4.4). */
interface AddressList {
  readonly mailboxes: readonly Mailbox[];
  /** Groups by display name, empty ones ("undisclosed-recipients:;") included. */
  readonly groups: readonly string[];
  readonly faults: ReadonlySet<AddressFault>;
}

const GRAMMAR = { specials: "<>:;,@", literals: true };
const COMMENTED_ADDRESS = /<([^<>\s@]{1,256}@[^<>\s@]{1,255})>/;

/** Mailboxes kept of one field; a longer list is cut. */
const MAX_MAILBOXES = 1000;
/** Pairs of angle brackets looked at in one mailbox, and tokens kept of the text before a comma. */
const MAX_PAIRS = 8;
const MAX_UNPLACED = 100;

const isSpecial = ({ kind, text }: Token, ...texts: readonly string[]): boolean =>
  kind === "special" && texts.includes(text);

/**
 * Reads an address list. Never fails. An address is the text in angle brackets, or a bare local@domain; other text
 * is a display name. Text before a comma that is no address belongs to the next address: names with commas often lack
 * their quotes.
 */
export function readAddressList(value: string): AddressList {
  const { tokens, unclosed } = tokenize(value, GRAMMAR);
  const faults = new Set<AddressFault>(unclosed ? ["unclosed"] : []);
  const mailboxes: Mailbox[] = [];
  const groups: string[] = [];
  const hasGroups = endsGroups(tokens);
  let group: string | null = null;
  let pending: Token[] = [];
  let unplaced: Token[] = [];
  /** Takes what was gathered up to a comma (kept with the text before it), a semicolon or the end. */
  const finish = (separator: Token | null): void => {
    const mailbox = mailboxes.length < MAX_MAILBOXES ? readMailbox(pending, unplaced, group, faults) : null;
    if (mailbox !== null) mailboxes.push(mailbox);
    const isText = mailbox === null && pending.some(({ kind }) => kind !== "comment");
    if (isText || unplaced.length > 0) faults.add("malformed");
    const rest = isText && separator?.text === "," ? [...unplaced, ...pending, separator] : [];
    unplaced = rest.length > MAX_UNPLACED ? [] : rest;
    pending = [];
  };
  let inAngle = false;
  let holdsAddress = false;
  for (const [at, token] of tokens.entries()) {
    if (isSpecial(token, "<")) [inAngle, holdsAddress] = [true, false];
    if (isSpecial(token, ">")) inAngle = false;
    // A route begins with "@"; after any other "@", a comma shows that the bracket was never closed.
    const last = pending.at(-1);
    if (isSpecial(token, "@") && last !== undefined && !isSpecial(last, "<")) holdsAddress ||= last.kind !== "special";
    if (inAngle && isSpecial(token, ",") && holdsAddress) {
      faults.add("unclosed");
      inAngle = false;
    }
    if (!inAngle && isSpecial(token, ",", ";")) {
      finish(token);
      if (token.text === ";") group = null;
    } else if (!inAngle && group === null && isSpecial(token, ":") && (hasGroups || at === tokens.length - 1)) {
      group = phrase([...unplaced, ...pending], faults) ?? "";
      groups.push(group);
      unplaced = [];
      pending = [];
    } else pending.push(token);
  }
  finish(null);
  return { mailboxes, groups, faults };
}

/** Whether colons begin groups: each ends in a semicolon, without which a colon is part of an unquoted name. */
function endsGroups(tokens: readonly Token[]): boolean {
  return tokens.some((token) => isSpecial(token, ";"));
}

/** One address with the text around it as its name; null where there is none. `before`: text up to the comma before it. */
function readMailbox(
  tokens: readonly Token[],
  before: readonly Token[],
  group: string | null,
  faults: Set<AddressFault>,
): Mailbox | null {
  const comments = tokens.filter(({ kind }) => kind === "comment");
  const found = angleAddress(tokens, faults) ?? findAddrSpec(tokens);
  if (found === null) {
    const commented = comments.map(({ text }) => COMMENTED_ADDRESS.exec(text)?.[1]).find((text) => text !== undefined);
    if (commented === undefined) return null;
    faults.add("malformed");
    const around = tokens.filter(({ kind }) => kind !== "comment");
    return { name: phrase([...before, ...around], faults), address: commented, domain: domainOf(commented), group };
  }
  const { address, around } = found;
  const domain = domainOf(address);
  if (domain === null && address !== "") faults.add("no_domain");
  const name = phrase([...before, ...around], faults) ?? phrase(comments, faults);
  return { name, address, domain, group };
}

/** The text in angle brackets, the first pair that holds an "@" before others; null without any. */
function angleAddress(tokens: readonly Token[], faults: Set<AddressFault>): FoundAddress | null {
  const pairs = anglePairs(tokens);
  const pair = pairs.find(({ holdsAt }) => holdsAt) ?? pairs[0];
  if (pair === undefined) return null;
  const bare = pair.holdsAt ? null : findAddrSpec(tokens);
  if (bare !== null) return bare;
  const { open, close } = pair;
  if (close === tokens.length) faults.add("unclosed");
  const { inside, route } = insideAngle(tokens.slice(open + 1, close));
  if (route) faults.add("obsolete_route");
  return { address: addrSpec(inside), around: [...tokens.slice(0, open), ...tokens.slice(close + 1)] };
}

interface AnglePair {
  readonly open: number;
  /** Place of ">", of the next "<" where it is missing, else the number of tokens. */
  close: number;
  holdsAt: boolean;
}

/** The first pairs of angle brackets; more than a few are nothing that a program writes. */
function anglePairs(tokens: readonly Token[]): AnglePair[] {
  const pairs: AnglePair[] = [];
  let current: AnglePair | null = null;
  for (const [at, token] of tokens.entries()) {
    if (current !== null && isSpecial(token, "@")) current.holdsAt = true;
    if (!isSpecial(token, "<", ">")) continue;
    if (current !== null) current.close = at;
    current = null;
    if (!isSpecial(token, "<")) continue;
    if (pairs.length === MAX_PAIRS) break;
    current = { open: at, close: tokens.length, holdsAt: false };
    pairs.push(current);
  }
  return pairs;
}

function domainOf(address: string): string | null {
  const at = address.lastIndexOf("@");
  return at < 0 ? null : address.slice(at + 1).toLowerCase();
}

/** Words of a display name as they are spaced, without brackets and outer commas; null for none. */
function phrase(tokens: readonly Token[], faults: Set<AddressFault>): string | null {
  const words = tokens.filter((token) => token.text !== "" && !isSpecial(token, "<", ">"));
  const named = words.filter(({ kind }) => kind !== "comment");
  const used = named.length > 0 ? named : words;
  if (used.some(({ kind, text }) => kind === "quoted" && text.includes("=?"))) faults.add("encoded_word_in_quotes");
  const written = used.map(({ text, spaced }, index) => (spaced && index > 0 ? ` ${text}` : text)).join("");
  const { text, malformed } = decodeWords(written);
  if (malformed > 0) faults.add("malformed_encoded_word");
  const name = withoutCommas(text);
  return name === "" ? null : name;
}

function withoutCommas(text: string): string {
  let from = 0;
  let to = text.length;
  const isOuter = (at: number): boolean => /[\s,]/.test(text.charAt(at));
  while (from < to && isOuter(from)) from += 1;
  while (to > from && isOuter(to - 1)) to -= 1;
  return text.slice(from, to);
}
