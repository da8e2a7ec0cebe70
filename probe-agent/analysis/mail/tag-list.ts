/** One tag of a list, its value with folding white space at both ends removed. */
interface Tag {
  /** As written; names are case-sensitive in DKIM (RFC 6376 section 3.2). */
  readonly name: string;
  readonly value: string;
}

/** A tag list read; parts that are none are reported, not lost silently. */
export interface TagList {
  readonly tags: readonly Tag[];
  /** Parts without "=" or with a name that is none, cut to 40 characters. */
  readonly faults: readonly string[];
  /** Names that occur more than once. */
  readonly repeated: readonly string[];
}

// More tags than any registry has.
const MAX_TAGS = 200;
const MAX_SHOWN = 40;
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Reads `name=value; name=value;`, the syntax that DKIM keys, DMARC, MTA-STS, TLSRPT and BIMI records share. */
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

/** The first value of a tag; null without one. */
export function tagValue({ tags }: TagList, name: string): string | null {
  return tags.find((tag) => tag.name === name)?.value ?? null;
}

/** FWS of RFC 6376 at both ends; a loop, as a pattern anchored at the end goes over long white space again and again. */
function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

/** Text of a stranger as results may hold it: at most `max` characters, control characters and octets beyond ASCII replaced. */
export function toPrintableAscii(text: string, max: number): string {
  const shown = text.slice(0, max).replaceAll(/[^\x20-\x7e]/g, "?");
  return text.length > max ? `${shown}...` : shown;
}
