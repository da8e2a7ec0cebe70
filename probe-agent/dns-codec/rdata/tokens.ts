import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { escapeOctet, unescapeAt } from "#probe-agent/dns-codec/names.ts";

// Inside quotes, only these two characters need a backslash. A space needs none.
const QUOTED_SPECIAL = new Set(['"'.charCodeAt(0), "\\".charCodeAt(0)]);

/** The words of one record's RDATA in presentation form, with quotes removed and escapes kept. Throws DecodeError. */
export class Tokens {
  readonly #words: readonly string[];
  #next = 0;

  constructor(text: string) {
    this.#words = splitWords(text);
  }

  get left(): number {
    return this.#words.length - this.#next;
  }

  peek(): string | undefined {
    return this.#words[this.#next];
  }

  take(): string {
    const word = this.peek();
    if (word === undefined) throw new DecodeError("a field is missing");
    this.#next += 1;
    return word;
  }

  /** Returns all remaining words. */
  rest(): readonly string[] {
    const words = this.#words.slice(this.#next);
    this.#next = this.#words.length;
    return words;
  }
}

function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quoted = false;
  for (let position = 0; position < text.length; position += 1) {
    const character = text.charAt(position);
    if (character === "\\") {
      word = (word ?? "") + character + text.charAt(position + 1);
      position += 1;
    } else if (character === '"') {
      quoted = !quoted;
      word ??= "";
    } else if (!quoted && /\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quoted) throw new DecodeError("a quote is not closed");
  if (word !== null) words.push(word);
  return words;
}

/** Decodes an escaped word into octets. Throws DecodeError for characters that do not fit in one octet. */
export function unescapeWord(word: string): Uint8Array {
  const octets: number[] = [];
  for (let position = 0; position < word.length;) {
    const read = unescapeAt(word, position);
    if (read === null) throw new DecodeError("bad escape, or a character that does not fit in one octet");
    octets.push(read.octet);
    position = read.next;
  }
  return Uint8Array.from(octets);
}

/** Formats a quoted word. `latin1` has one character per octet. */
export function quoteWord(latin1: string): string {
  return `"${escapeWord(latin1)}"`;
}

/**
 * Escapes the inside of a quoted word: \X for quote and backslash, \DDD for anything else that is not printable ASCII.
 */
export function escapeWord(latin1: string): string {
  let text = "";
  for (const octet of Buffer.from(latin1, "latin1")) text += octet === 0x20 ? " " : escapeOctet(octet, QUOTED_SPECIAL);
  return text;
}
