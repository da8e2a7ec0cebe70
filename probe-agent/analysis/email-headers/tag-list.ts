/** A tag=value list (RFC 6376 section 3.2). */
export interface TagList {
  /** White space at both ends of a value removed; the first of repeated tags. */
  readonly tags: ReadonlyMap<string, string>;
  /** Tags that came more than once, which makes the list invalid. */
  readonly repeated: readonly string[];
  /** Something in it is no tag=value. */
  readonly malformed: boolean;
}

/** Tags kept of one list. */
const MAX_TAGS = 64;

/** Reads a list; tag names are case-sensitive. */
export function readTagList(value: string): TagList {
  const tags = new Map<string, string>();
  const repeated = new Set<string>();
  let malformed = false;
  const specs = value.split(";");
  // A semicolon may stand at the end.
  if (specs.at(-1)?.trim() === "") specs.pop();
  for (const spec of specs) {
    const equals = spec.indexOf("=");
    const name = spec.slice(0, Math.max(0, equals)).trim();
    if (!/^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(name)) malformed = true;
    else if (tags.has(name)) repeated.add(name);
    else if (tags.size < MAX_TAGS) tags.set(name, spec.slice(equals + 1).trim());
  }
  return { tags, repeated: [...repeated], malformed };
}

/** A value without any white space: base64 and lists may be folded anywhere. */
export function withoutSpace(value: string): string {
  return value.replaceAll(/\s+/g, "");
}

/** An unsigned decimal, null for anything else. */
export function decimal(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,12}$/.test(value) ? Number(value) : null;
}

/** Whether a value is base64 without white space. */
export function isBase64(value: string): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(value) && value.length % 4 === 0;
}
