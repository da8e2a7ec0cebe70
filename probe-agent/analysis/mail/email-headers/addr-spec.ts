import type { Token } from "#probe-agent/analysis/mail/email-headers/lexer.ts";

/** An address found among other tokens. */
export interface FoundAddress {
  readonly address: string;
  /** The tokens before and after it. */
  readonly around: readonly Token[];
}

const isComment = ({ kind }: Token): boolean => kind === "comment";
const isAt = (token: Token | undefined): boolean => token?.kind === "special" && token.text === "@";
const isPart = (token: Token | undefined): token is Token => token !== undefined && token.kind !== "special";

/** Joins the tokens of an address without white space and comments. A quoted local part keeps its quotation marks. */
export function joinAddrSpec(tokens: readonly Token[]): string {
  return tokens
    .filter((token) => !isComment(token))
    .map(({ kind, text }) => (kind === "quoted" ? `"${text.replaceAll(/["\\]/g, "\\$&")}"` : text))
    .join("");
}

/**
 * Removes from the tokens in angle brackets a route ("@a,@b:user@c", RFC 5322 section 4.4) and the "mailto:" that some
 * programs write before the address.
 */
export function trimAngle(tokens: readonly Token[]): { readonly inside: readonly Token[]; readonly route: boolean } {
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
export function findAddrSpec(tokens: readonly Token[]): FoundAddress | null {
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
