// HTML is written with the tag `html`: each value is escaped unless it is HTML itself, and words are next to their markup.

/** Markup that is safe to send. Only `html` and `trusted` make it. */
class Markup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/** Markup that is safe to send. `String(html)` is its text. */
export type Html = Markup;

/** What a template can write. null, undefined and false write nothing; a list writes its items one after the other. */
type Written = string | number | Html | null | undefined | false | readonly Html[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Static parts by call site, without the indentation of the source. */
const cleaned = new WeakMap<TemplateStringsArray, readonly string[]>();

/**
 * Writes a template as HTML: `html`<p class="${tone}">${message}</p>``. Values are escaped for the content of an element or
 * a quoted attribute (HTML Living Standard, 13.3); do not write them into an unquoted attribute, <script> or <style>. Line
 * breaks stay, the indentation of lines and the breaks at both ends do not. A template closes each element that it opens
 * (a law checks it).
 */
export function html(strings: TemplateStringsArray, ...values: readonly Written[]): Html {
  const parts = cleaned.get(strings) ?? clean(strings);
  let text = parts[0] ?? "";
  // A page has thousands of values: an iterator over them would cost as much as they do.
  for (let index = 0; index < values.length; index += 1) text += write(values[index]) + (parts[index + 1] ?? "");
  return new Markup(text);
}

/** Takes a text of our own as HTML: a style, a drawing. Its argument is a constant of a module (a law checks it). */
export function trusted(text: string): Html {
  return new Markup(text);
}

function write(value: Written): string {
  if (typeof value === "string") return /[&<>"']/.test(value) ? value.replaceAll(/[&<>"']/g, entityOf) : value;
  if (typeof value === "number") return String(value);
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Markup) return value.toString();
  // Faster than join: the text is put together once, when the whole page is read.
  if (Array.isArray(value)) return value.reduce<string>((text, one) => text + write(one), "");
  throw new TypeError(`a template cannot write a value of type ${typeof value}`);
}

function entityOf(character: string): string {
  return ENTITIES[character] ?? "";
}

function clean(strings: TemplateStringsArray): readonly string[] {
  const parts = strings.map((part) => part.replaceAll(/\n\s*/g, "\n"));
  parts[0] = (parts[0] ?? "").replace(/^\n/, "");
  parts[parts.length - 1] = (parts.at(-1) ?? "").replace(/\n$/, "");
  cleaned.set(strings, parts);
  return parts;
}
