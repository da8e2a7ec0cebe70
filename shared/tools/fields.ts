import { Type, type TSchema, type TUnsafe } from "typebox";

interface Described {
  readonly description: string;
  /** Example values as sent, for docs. */
  readonly examples?: readonly string[];
}

/** An http(s) URL, or a host that gets the prefix https:// (shared/internet/target-url.ts); checked by the egress rules first. */
export function Url({ description }: Described): TUnsafe<string> {
  return Type.Unsafe<string>({
    type: "string",
    minLength: 1,
    maxLength: 8192,
    "x-kind": "url",
    description: `${description}; example.org means https://example.org`,
  });
}

/** A host name or IP literal that is connected to. IDN in either form; parsed to lower-case A-label form. */
export function Host(options: Described): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", minLength: 1, maxLength: 1024, "x-kind": "host", ...options });
}

/** A domain name that is only looked up; may be a public suffix or the root. Parsed like Host, without IP literals. */
export function Domain(options: Described): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", minLength: 1, maxLength: 1024, "x-kind": "domain", ...options });
}

/** A web site: a host name or address, with an optional port, or any http(s) URL of it. */
export function Site(options: Described): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", minLength: 1, maxLength: 8192, "x-kind": "site", ...options });
}

/** An IPv4 or IPv6 address. */
export function IpAddress(options: Described): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", minLength: 1, maxLength: 64, "x-kind": "address", ...options });
}

/** A registered resource: a domain name, an IP address, or an AS number (AS64500 or 64500). */
export function Resource(options: Described): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", minLength: 1, maxLength: 1024, "x-kind": "resource", ...options });
}

/** Text with any number of lines and any characters; fields of plain Type.String reject control characters. */
export function Lines(
  options: Described & { readonly minLength: number; readonly maxLength: number },
): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", "x-kind": "text", ...options });
}

/** 0 or 1 on the wire (true and false are accepted), a boolean for the implementation. */
export function Flag(options: Described): TUnsafe<boolean> {
  return Type.Unsafe<boolean>({ type: "string", enum: ["0", "1"], "x-kind": "flag", ...options });
}

/** A word of a closed set, case-insensitive; the implementation gets the spelling of the set. */
export function Word<const W extends string>(words: readonly W[], options: Described): TUnsafe<W> {
  return Type.Unsafe<W>({ type: "string", enum: words, "x-kind": "word", ...options });
}

/** Maximum length of a list as text, in characters: as much as fits into a query. */
const LONGEST_LIST = 16_384;

/** A comma-separated list of words from a closed set, case-insensitive; an array without repeats for the implementation. */
export function WordList<const W extends string>(
  words: readonly W[],
  options: Described & { readonly maxItems: number },
): TUnsafe<readonly W[]> {
  const { maxItems, ...rest } = options;
  const items = { type: "string", enum: words };
  return Type.Unsafe<readonly W[]>({
    type: "string",
    maxLength: LONGEST_LIST,
    "x-kind": "list",
    "x-items": items,
    "x-max-items": maxItems,
    ...rest,
  });
}

/** A comma-separated list of integers within a range; an array without repeats for the implementation. */
export function IntegerList(
  range: { readonly minimum: number; readonly maximum: number },
  options: Described & { readonly maxItems: number },
): TUnsafe<readonly number[]> {
  const { maxItems, ...rest } = options;
  const items = { type: "integer", ...range };
  return Type.Unsafe<readonly number[]>({
    type: "string",
    maxLength: LONGEST_LIST,
    "x-kind": "list",
    "x-items": items,
    "x-max-items": maxItems,
    ...rest,
  });
}

/** A value that can be unknown: null with a reason in `limitations`, never 0 or omitted. */
export function Nullable<T extends TSchema>(schema: T): ReturnType<typeof nullable<T>> {
  return nullable(schema);
}

function nullable<T extends TSchema>(schema: T) {
  // Repeats the description at the field: readers of the published schema do not look into the alternatives.
  const { description } = schema as { readonly description?: string };
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** The reasons why parts of a result are null or uncertain, one sentence each. */
export function Limitations() {
  return Type.Array(Type.String(), {
    description: "What the check could not determine, one sentence each; empty if nothing is missing",
  });
}
