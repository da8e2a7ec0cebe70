import { decodeText, encodingOf } from "#probe-agent/analysis/text/encodings.ts";

/** A text with decoded encoded words (RFC 2047) and the number of malformed ones. */
interface DecodedText {
  readonly text: string;
  /** Number of encoded words that were decoded. */
  readonly decoded: number;
  /** Number of texts that look like encoded words and cannot be decoded. They are kept unchanged. */
  readonly malformed: number;
}

// encoded-word of RFC 2047 section 2. The charset can include a language (RFC 2231 section 5).
const ENCODED_WORD = /=\?([^?\s]{1,100})\?([^?\s]{1,10})\?([^?\s]*)\?=/g;
const BASE64 = /^[A-Za-z0-9+/]*={0,3}$/;
const HEX_PAIR = /^[0-9A-Fa-f]{2}$/;
// Start of an encoded word that is incomplete or contains white space.
const BROKEN_WORD = /=\?[^?\s]{1,100}\?[bq]\?/i;
const SPACE = 0x20;
const EQUALS = 0x3d;
const UNDERSCORE = 0x5f;

interface Word {
  /** WHATWG name of the encoding. */
  readonly encoding: string;
  readonly bytes: Uint8Array;
}

/**
 * Decodes the encoded words of an unfolded value. White space between two encoded words is removed (section 6.2).
 * Adjacent words of one charset are decoded together, because some senders split a character between them. Words
 * without space to other text are decoded too, as in mail programs.
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

/** Decodes bytes by the label of their charset (RFC 2231 values). Null if the charset is unknown. */
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

/** Decodes base64 of any length, as wrong lengths occur. Null if a character is outside the alphabet. */
function fromBase64(text: string): Uint8Array | null {
  return BASE64.test(text) ? Buffer.from(text, "base64") : null;
}

/** Decodes the Q encoding (RFC 2047 section 4.2). Unencoded characters that should be encoded count as UTF-8. */
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

/** Returns the encoding of a label. Null if it is unknown or is the WHATWG encoding "replacement". */
function decodableEncoding(label: string): string | null {
  const encoding = encodingOf(label);
  return encoding === "replacement" ? null : encoding;
}
