import { decodeBytes, decodeWords } from "#probe-agent/tools/email-header/encoded-words.ts";
import { tokenize } from "#probe-agent/tools/email-header/lexer.ts";

/** A parsed field with a value and parameters, such as Content-Type. */
interface Parameterised {
  /** Value in lower case, e.g. multipart/mixed. */
  readonly value: string;
  /** Parameters in the order of first occurrence. Names are in lower case and unique. */
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
}

const GRAMMAR = { specials: ";=", literals: false };
/** Maximum number of parameters. */
const MAX_PARAMETERS = 200;
/** Maximum number of sections of one continued parameter. */
const MAX_SECTIONS = 1000;
// Name, section number, and the star of an extended value (RFC 2231 section 4.1).
const NAME = /^([^*]{1,100})(?:\*(\d{1,4}))?(\*)?$/;

interface Section {
  readonly text: string;
  readonly extended: boolean;
}

interface Gathered {
  readonly sections: Map<number, Section>;
  /** Value of name= without section number or star; null if absent. */
  plain: string | null;
}

/** Parses parameters (RFC 2045 section 5.1) with the extensions of RFC 2231: continuations, charsets, languages. */
export function readParameters(text: string): Parameterised {
  const { tokens } = tokenize(text, GRAMMAR);
  const gathered = new Map<string, Gathered>();
  let value = "";
  let name: string | null = null;
  let words: string[] = [];
  const finish = (): void => {
    if (name === null) value = value === "" ? words.join("") : value;
    else keep(gathered, name, words.join(""));
    name = null;
    words = [];
  };
  for (const { kind, text: word } of tokens) {
    if (kind === "comment") continue;
    if (kind === "special" && word === ";") finish();
    else if (kind === "special" && name === null) {
      name = words.join("").toLowerCase();
      words = [];
    } else words.push(word);
  }
  finish();
  const parameters = [...gathered].map(([key, parameter]) => ({ name: key, value: valueOf(parameter) }));
  return { value: value.toLowerCase(), parameters };
}

function keep(gathered: Map<string, Gathered>, written: string, text: string): void {
  const found = NAME.exec(written);
  if (found === null) return;
  const [, name = "", section, star] = found;
  const parameter = gathered.get(name) ?? { sections: new Map<number, Section>(), plain: null };
  if (!gathered.has(name) && gathered.size >= MAX_PARAMETERS) return;
  gathered.set(name, parameter);
  if (section === undefined && star === undefined) parameter.plain ??= text;
  const number = Number(section ?? "0");
  if (number < MAX_SECTIONS && (section !== undefined || star !== undefined) && !parameter.sections.has(number)) {
    parameter.sections.set(number, { text, extended: star !== undefined });
  }
}

/** Joins the sections of a parameter, numbered from 0 without a gap. The extended form wins (RFC 5987 section 4.2). */
function valueOf({ sections, plain }: Gathered): string {
  const first = sections.get(0);
  if (first === undefined) return decodeWords(plain ?? "").text;
  const [, charset = "", rest = first.text] = first.extended
    ? (/^([^']{0,100})'[^']*'(.*)$/s.exec(first.text) ?? [])
    : [];
  const chunks: Uint8Array[] = [octets(rest, first.extended)];
  for (let number = 1; ; number += 1) {
    const section = sections.get(number);
    if (section === undefined) break;
    chunks.push(octets(section.text, section.extended));
  }
  const bytes = Buffer.concat(chunks);
  return decodeBytes(bytes, charset === "" ? "utf-8" : charset) ?? bytes.toString("latin1");
}

function octets(text: string, extended: boolean): Uint8Array {
  if (!extended) return Buffer.from(text);
  const bytes = Buffer.from(text).toString("latin1");
  return Buffer.from(
    bytes.replaceAll(/%([0-9A-Fa-f]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}
