import { decodeWords } from "#probe-agent/analysis/email-headers/encoded-words.ts";
import { tokenize, type Token } from "#probe-agent/analysis/email-headers/lexer.ts";

/** One mailbox of an address field. */
export interface Mailbox {
  /** Display name, encoded words decoded; a comment where the old form has the name there; null without one. */
  readonly name: string | null;
  /** addr-spec without white space and comments; "" for <>. */
  readonly address: string;
  /** What follows the last "@", lower case; null where there is none. */
  readonly domain: string | null;
  /** Display name of the group it is in. */
  readonly group: string | null;
}

/** What was wrong with an address field. */
export type AddressFault =
  | "unclosed"
  | "no_domain"
  | "obsolete_route"
  | "encoded_word_in_quotes"
  | "malformed_encoded_word";

/** An address field taken apart (RFC 5322 section 3.4, obsolete forms of 4.4). */
export interface AddressList {
  readonly mailboxes: readonly Mailbox[];
  /** Groups by display name, empty ones ("undisclosed-recipients:;") included. */
  readonly groups: readonly string[];
  readonly faults: ReadonlySet<AddressFault>;
}

const GRAMMAR = { specials: "<>:;,@", literals: true };

/** Mailboxes kept of one field; a longer list is cut. */
const MAX_MAILBOXES = 1000;

/** Reads an address list. Never fails: what has no "@" is an address without domain. */
export function readAddressList(value: string): AddressList {
  const { tokens, unclosed } = tokenize(value, GRAMMAR);
  const faults = new Set<AddressFault>(unclosed ? ["unclosed"] : []);
  const mailboxes: Mailbox[] = [];
  const groups: string[] = [];
  let group: string | null = null;
  let pending: Token[] = [];
  const finish = (): void => {
    const mailbox = mailboxes.length < MAX_MAILBOXES ? readMailbox(pending, group, faults) : null;
    if (mailbox !== null) mailboxes.push(mailbox);
    pending = [];
  };
  let inAngle = false;
  for (const token of tokens) {
    const special = token.kind === "special" ? token.text : "";
    if (special === "<") inAngle = true;
    if (special === ">") inAngle = false;
    if (!inAngle && (special === "," || special === ";")) {
      finish();
      if (special === ";") group = null;
    } else if (!inAngle && special === ":" && group === null) {
      group = phrase(pending, faults) ?? "";
      groups.push(group);
      pending = [];
    } else pending.push(token);
  }
  finish();
  return { mailboxes, groups, faults };
}

function readMailbox(tokens: readonly Token[], group: string | null, faults: Set<AddressFault>): Mailbox | null {
  const comments = tokens.filter(({ kind }) => kind === "comment");
  const open = tokens.findIndex(({ kind, text }) => kind === "special" && text === "<");
  const outside = open < 0 ? [] : tokens.slice(0, open);
  const angle = open < 0 ? tokens : insideAngle(tokens.slice(open + 1), faults);
  const address = addrSpec(angle);
  if (open < 0 && address === "") return null;
  const at = address.lastIndexOf("@");
  if (at < 0 && address !== "") faults.add("no_domain");
  const name = phrase(outside, faults) ?? phrase(comments, faults);
  return { name, address, domain: at < 0 ? null : address.slice(at + 1).toLowerCase(), group };
}

/** Up to ">"; a route before the address ("@a,@b:user@c", section 4.4) is dropped. */
function insideAngle(tokens: readonly Token[], faults: Set<AddressFault>): readonly Token[] {
  const close = tokens.findIndex(({ kind, text }) => kind === "special" && text === ">");
  const inside = close < 0 ? tokens : tokens.slice(0, close);
  if (close < 0) faults.add("unclosed");
  const colon = inside.findIndex(({ kind, text }) => kind === "special" && text === ":");
  const [first] = inside;
  if (colon < 0 || first?.kind !== "special" || first.text !== "@") return inside;
  faults.add("obsolete_route");
  return inside.slice(colon + 1);
}

/** Joined without white space and comments; a local part that needs its quotes keeps them. */
function addrSpec(tokens: readonly Token[]): string {
  return tokens
    .filter(({ kind }) => kind !== "comment")
    .map(({ kind, text }) => (kind === "quoted" ? `"${text.replaceAll(/["\\]/g, "\\$&")}"` : text))
    .join("");
}

/** Words of a display name with single blanks; null for none. */
function phrase(tokens: readonly Token[], faults: Set<AddressFault>): string | null {
  const words = tokens.filter(({ kind, text }) => kind !== "special" && text !== "");
  if (words.length === 0) return null;
  const named = words.filter(({ kind }) => kind !== "comment");
  const used = named.length > 0 ? named : words;
  if (used.some(({ kind, text }) => kind === "quoted" && text.includes("=?"))) faults.add("encoded_word_in_quotes");
  const written = used.map(({ text, spaced }, index) => (spaced && index > 0 ? ` ${text}` : text)).join("");
  const { text, malformed } = decodeWords(written);
  if (malformed > 0) faults.add("malformed_encoded_word");
  return text.trim() === "" ? null : text.trim();
}
