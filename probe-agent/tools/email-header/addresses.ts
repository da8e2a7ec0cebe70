import { decodeWords } from "#probe-agent/tools/email-header/encoded-words.ts";
import { tokenize, type Token } from "#probe-agent/tools/email-header/lexer.ts";

/** One mailbox of an address field. */
interface Mailbox {
  /** Display name with decoded words, or the comment that has the name in the old form; null without a name. */
  readonly name: string | null;
  /** addr-spec without white space and comments; "" for <>. */
  readonly address: string;
  /** What follows the last "@", lower case; null where there is none. */
  readonly domain: string | null;
  /** Display name of the group it is in. */
  readonly group: string | null;
}

/**
 * What was wrong with an address field. malformed: text that is no address where only addresses and quoted names may
 * be.
 */
export type AddressFault =
  | "unclosed"
  | "no_domain"
  | "obsolete_route"
  | "encoded_word_in_quotes"
  | "malformed_encoded_word"
  | "malformed";

/** A parsed address field (RFC 5322 section 3.4, obsolete forms of section 4.4). */
interface AddressList {
  readonly mailboxes: readonly Mailbox[];
  /** Display names of the groups, including empty groups ("undisclosed-recipients:;"). */
  readonly groups: readonly string[];
  readonly faults: ReadonlySet<AddressFault>;
}

const GRAMMAR = { specials: "<>:;,@", literals: true };
const COMMENTED_ADDRESS = /<([^<>\s@]{1,256}@[^<>\s@]{1,255})>/;

/** Maximum number of mailboxes of one field. A longer list is cut. */
const MAX_MAILBOXES = 1000;
/** Maximum number of pairs of angle brackets that are read in one mailbox. */
const MAX_PAIRS = 8;
/** Maximum number of tokens that are kept of the text before a comma. */
const MAX_UNPLACED = 100;

const isSpecial = ({ kind, text }: Token, ...texts: readonly string[]): boolean =>
  kind === "special" && texts.includes(text);

/**
 * Parses an address list. Never fails. An address is the text in angle brackets or a bare local@domain; other text is a
 * display name. Text before a comma that is not an address belongs to the next address, because names with commas often
 * lack their quotation marks.
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
  /** Ends a mailbox at a comma, a semicolon or the end. Text without an address is kept for the next mailbox. */
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
    // A route begins with "@". After any other "@", a comma means that the bracket was not closed.
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

/**
 * Reports whether colons begin groups. A group ends in a semicolon; without one, a colon is part of an unquoted name.
 */
function endsGroups(tokens: readonly Token[]): boolean {
  return tokens.some((token) => isSpecial(token, ";"));
}

/**
 * Reads one address with the text around it as its name. `before` is text before the comma. Null without an address.
 */
function readMailbox(
  tokens: readonly Token[],
  before: readonly Token[],
  group: string | null,
  faults: Set<AddressFault>,
): Mailbox | null {
  const comments = tokens.filter(({ kind }) => kind === "comment");
  const found = findAngleAddress(tokens, faults) ?? findAddrSpec(tokens);
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

/** Finds the address in angle brackets, preferring the first pair with an "@". Null without angle brackets. */
function findAngleAddress(tokens: readonly Token[], faults: Set<AddressFault>): FoundAddress | null {
  const pairs = findAnglePairs(tokens);
  const pair = pairs.find(({ holdsAt }) => holdsAt) ?? pairs[0];
  if (pair === undefined) return null;
  const bare = pair.holdsAt ? null : findAddrSpec(tokens);
  if (bare !== null) return bare;
  const { open, close } = pair;
  if (close === tokens.length) faults.add("unclosed");
  const { inside, route } = trimAngle(tokens.slice(open + 1, close));
  if (route) faults.add("obsolete_route");
  return { address: joinAddrSpec(inside), around: [...tokens.slice(0, open), ...tokens.slice(close + 1)] };
}

interface AnglePair {
  readonly open: number;
  /** Index of ">", or of the next "<" if ">" is missing, otherwise the number of tokens. */
  close: number;
  holdsAt: boolean;
}

/** Finds the first pairs of angle brackets. No program writes more than a few. */
function findAnglePairs(tokens: readonly Token[]): AnglePair[] {
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

/** Joins the words of a display name with their spacing, without brackets and outer commas. Null for no words. */
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

/** An address found among other tokens. */
interface FoundAddress {
  readonly address: string;
  /** The tokens before and after it. */
  readonly around: readonly Token[];
}

const isComment = ({ kind }: Token): boolean => kind === "comment";
const isAt = (token: Token | undefined): boolean => token?.kind === "special" && token.text === "@";
const isPart = (token: Token | undefined): token is Token => token !== undefined && token.kind !== "special";

/** Joins the tokens of an address without white space and comments. A quoted local part keeps its quotation marks. */
function joinAddrSpec(tokens: readonly Token[]): string {
  return tokens
    .filter((token) => !isComment(token))
    .map(({ kind, text }) => (kind === "quoted" ? `"${text.replaceAll(/["\\]/g, "\\$&")}"` : text))
    .join("");
}

/**
 * Removes from the tokens in angle brackets a route ("@a,@b:user@c", RFC 5322 section 4.4) and the "mailto:" that some
 * programs write before the address.
 */
function trimAngle(tokens: readonly Token[]): { readonly inside: readonly Token[]; readonly route: boolean } {
  const colon = tokens.findIndex(({ kind, text }) => kind === "special" && text === ":");
  const [first] = tokens;
  const route = colon > 0 && isAt(first);
  const isScheme = colon === 1 && first?.text.toLowerCase() === "mailto";
  return { inside: route || isScheme ? tokens.slice(colon + 1) : tokens, route };
}

/**
 * Finds the first bare local@domain: the words on both sides of an "@" and the words that dots join to them (white
 * space around dots is obsolete, section 4.4). Null without one. An encoded word that contains an "@" is not an
 * address.
 */
function findAddrSpec(tokens: readonly Token[]): FoundAddress | null {
  const list = tokens.filter((token) => !isComment(token));
  for (const [at, token] of list.entries()) {
    const [left, right] = [list[at - 1], list[at + 1]];
    if (!isAt(token) || !isPart(left) || !isPart(right) || left.text.startsWith("=?")) continue;
    let from = at - 1;
    while (from > 0 && isPart(list[from - 1]) && joins(list[from - 1], list[from])) from -= 1;
    let to = at + 1;
    for (; to + 1 < list.length; to += 1) {
      const next = list[to + 1];
      // "a@b@c": the domain follows the last "@".
      const goesOn = next?.spaced === false && (isAt(next) || isAt(list[to]));
      if (!goesOn && !(isPart(next) && joins(list[to], next))) break;
    }
    const colon = list[from - 1];
    const isScheme = colon?.text === ":" && list[from - 2]?.text.toLowerCase() === "mailto";
    const around = [...list.slice(0, isScheme ? from - 2 : from), ...list.slice(to + 1)];
    return { address: joinAddrSpec(list.slice(from, to + 1)), around };
  }
  return null;
}

function joins(one: Token | undefined, other: Token | undefined): boolean {
  return one?.text.endsWith(".") === true || other?.text.startsWith(".") === true;
}
