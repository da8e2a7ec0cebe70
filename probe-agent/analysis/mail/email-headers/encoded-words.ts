import { decodeText, encodingOf } from "#probe-agent/analysis/text/encodings.ts";

/** A text with its encoded words decoded (RFC 2047), and what was wrong with them. */
interface DecodedText {
  readonly text: string;
  /** Encoded words that were decoded. */
  readonly decoded: number;
  /** What looks like an encoded word and cannot be decoded; kept as written. */
  readonly malformed: number;
}

// encoded-word of RFC 2047 section 2; the charset may carry a language (RFC 2231 section 5).
const ENCODED_WORD = /=\?([^?\s]{1,100})\?([^?\s]{1,10})\?([^?\s]*)\?=/g;
const BASE64 = /^[A-Za-z0-9+/]*={0,3}$/;
const HEX_PAIR = /^[0-9A-Fa-f]{2}$/;
// The beginning of one that is not complete, or has white space in it.
const BROKEN_WORD = /=\?[^?\s]{1,100}\?[bq]\?/i;
const SPACE = 0x20;
const EQUALS = 0x3d;
const UNDERSCORE = 0x5f;

interface Word {
  /** WHATWG name. */
  readonly encoding: string;
  readonly bytes: Uint8Array;
}

/**
 * Decodes the encoded words of an unfolded value. White space between two of them is no part of the text (section 6.2);
 * neighbours of one charset are decoded together, for some senders cut characters in two. Words that stand against other
 * text are decoded too, as mail programs do.
 */
export function decodeWords(value: string): DecodedText {
  if (!value.includes("=?")) return { text: value, decoded: 0, malformed: 0 };
  const parts: string[] = [];
  let run: Word[] = [];
  let decoded = 0;
  let malformed = 0;
  let last = 0;
  const flush = (): void => {
    const [first] = run;
    if (first !== undefined) parts.push(decodeText(Buffer.concat(run.map(({ bytes }) => bytes)), first.encoding));
    run = [];
  };
  const plain = (text: string): void => {
    flush();
    if (BROKEN_WORD.test(text)) malformed += 1;
    parts.push(text);
  };
  for (const match of value.matchAll(ENCODED_WORD)) {
    const [whole, charset = "", encoding = "", text = ""] = match;
    const between = value.slice(last, match.index);
    const word = readWord(charset, encoding, text);
    const afterWord = run.length > 0;
    last = match.index + whole.length;
    if (word === null) {
      plain(between);
      malformed += 1;
      parts.push(whole);
      continue;
    }
    if (!afterWord || between.trim() !== "") plain(between);
    else if (run[0]?.encoding !== word.encoding) flush();
    run.push(word);
    decoded += 1;
  }
  plain(value.slice(last));
  return { text: parts.join(""), decoded, malformed };
}

/** Bytes in a charset by its label (RFC 2231 values); null where nobody knows the charset. */
export function decodeBytes(bytes: Uint8Array, charset: string): string | null {
  const encoding = decodableEncoding(charset);
  return encoding === null ? null : decodeText(bytes, encoding);
}

function readWord(charset: string, form: string, text: string): Word | null {
  const read = form.toUpperCase() === "B" ? fromBase64 : form.toUpperCase() === "Q" ? fromQ : null;
  const [label = ""] = charset.split("*");
  const encoding = read === null ? null : decodableEncoding(label);
  const bytes = encoding === null || read === null ? null : read(text);
  return encoding === null || bytes === null ? null : { encoding, bytes };
}

/** Lengths that are no multiple of four occur; characters outside the alphabet make it something else. */
function fromBase64(text: string): Uint8Array | null {
  return BASE64.test(text) ? Buffer.from(text, "base64") : null;
}

/** RFC 2047 section 4.2; characters that should have been encoded are taken as UTF-8. */
function fromQ(text: string): Uint8Array {
  const written = Buffer.from(text);
  const bytes: number[] = [];
  for (let at = 0; at < written.length; at += 1) {
    const octet = written[at] ?? 0;
    const pair = octet === EQUALS ? written.toString("latin1", at + 1, at + 3) : "";
    if (octet === UNDERSCORE) bytes.push(SPACE);
    else if (HEX_PAIR.test(pair)) {
      bytes.push(Number.parseInt(pair, 16));
      at += 2;
    } else bytes.push(octet);
  }
  return Uint8Array.from(bytes);
}

/** The encoding of a label; null where nobody knows it, or the standard replaces the text as a whole. */
function decodableEncoding(label: string): string | null {
  const encoding = encodingOf(label);
  return encoding === "replacement" ? null : encoding;
}
