/** One tag of a list. Folding white space at both ends of the value is removed. */
interface Tag {
  /** Name verbatim. Names are case-sensitive in DKIM (RFC 6376 section 3.2). */
  readonly name: string;
  readonly value: string;
}

/** A parsed tag list. Parts that are not tags are reported in `faults`. */
export interface TagList {
  readonly tags: readonly Tag[];
  /** Parts without "=" or with an invalid name, cut to 40 characters. */
  readonly faults: readonly string[];
  /** Names that occur more than once. */
  readonly repeated: readonly string[];
}

// Maximum number of tags that are read. No registry has as many tags.
const MAX_TAGS = 200;
const MAX_SHOWN = 40;
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Parses `name=value; name=value;`, the syntax of DKIM key, DMARC, MTA-STS, TLSRPT and BIMI records. */
export function parseTagList(text: string): TagList {
  const tags: Tag[] = [];
  const faults: string[] = [];
  const counts = new Map<string, number>();
  for (const part of text.split(";", MAX_TAGS)) {
    const trimmed = trimSpace(part);
    if (trimmed === "") continue;
    const equals = trimmed.indexOf("=");
    const name = trimSpace(trimmed.slice(0, Math.max(0, equals)));
    if (!NAME.test(name)) {
      faults.push(trimmed.slice(0, MAX_SHOWN));
      continue;
    }
    tags.push({ name, value: trimSpace(trimmed.slice(equals + 1)) });
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return { tags, faults, repeated: [...counts].flatMap(([name, count]) => (count > 1 ? [name] : [])) };
}

/** Returns the first value of a tag; null if the tag is absent. */
export function tagValue({ tags }: TagList, name: string): string | null {
  return tags.find((tag) => tag.name === name)?.value ?? null;
}

/**
 * Removes FWS (RFC 6376) at both ends. Uses a loop because a pattern anchored at the end scans long white space
 * repeatedly.
 */
function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

/**
 * Makes untrusted text safe for a result: keeps up to `max` characters, adds "..." if text was cut, and replaces
 * control and non-ASCII characters with "?".
 */
export function toPrintableAscii(text: string, max: number): string {
  const shown = text.slice(0, max).replaceAll(/[^\x20-\x7e]/g, "?");
  return text.length > max ? `${shown}...` : shown;
}

/** Returns the advice to publish a TXT record. The text is quoted as in zone files; the name has no final dot. */
export function publishTxt(name: string, text: string): string {
  return `Publish this TXT record at ${name}: "${text}"`;
}
