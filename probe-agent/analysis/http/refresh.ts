/** A declarative refresh, from a Refresh header or a meta element. */
export interface Refresh {
  /** Whole seconds; the standard ignores fractions. */
  readonly delaySeconds: number;
  /** The target as sent, without its quotes; null if the page reloads itself. */
  readonly url: string | null;
}

/** Maximum number of characters that are read of a value. */
const MAX_CHARACTERS = 16_384;
const MAX_SECONDS = 2_147_483_647;
const SPACE = "[\\t\\n\\f\\r ]";
const TIME = new RegExp(`^${SPACE}*(\\d*)([\\d.]*)`);
const SEPARATOR = new RegExp(`^(?:${SPACE}+[;,]?|[;,])${SPACE}*`);
const URL_WORD = new RegExp(`^[Uu][Rr][Ll]${SPACE}*=${SPACE}*`);

/** Parses a value as browsers do (WHATWG HTML, shared declarative refresh steps). Null if browsers ignore it. */
export function parseRefresh(value: string): Refresh | null {
  const input = value.slice(0, MAX_CHARACTERS);
  const [read, digits = "", fraction = ""] = TIME.exec(input) ?? [""];
  if (digits === "" && !fraction.startsWith(".")) return null;
  const delaySeconds = Math.min(Number(digits), MAX_SECONDS);
  const rest = input.slice(read.length);
  if (rest === "") return { delaySeconds, url: null };
  const separator = SEPARATOR.exec(rest);
  if (separator === null) return null;
  const target = rest.slice(separator[0].length);
  return { delaySeconds, url: target === "" ? null : targetOf(target) };
}

/** Removes `url=` and a pair of quotes. A text that starts with "u" but not with `url=` is a relative address. */
function targetOf(text: string): string {
  const word = URL_WORD.exec(text);
  if (word === null && /^[Uu]/.test(text)) return text;
  const unnamed = text.slice(word?.[0].length ?? 0);
  const [quote = ""] = unnamed;
  if (quote !== '"' && quote !== "'") return unnamed;
  const end = unnamed.indexOf(quote, 1);
  return unnamed.slice(1, end === -1 ? undefined : end);
}
