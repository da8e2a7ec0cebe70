import { refuse, type Read } from "#shared/schema/problem.ts";

type Headers = Readonly<Record<string, string>>;

/** What a list of header fields may hold. */
interface HeaderRules {
  /** Name of the parameter that holds them. */
  readonly field: string;
  /** Maximum number of fields. */
  readonly most: number;
  /** Returns why a field cannot be set; null if it can. `name` is in lower case. */
  readonly reserved: (name: string) => string | null;
  /** What answers show in place of a value. A value that is this text keeps the stored one. */
  readonly mask: string;
}

/** Maximum length of the value of a header field, in characters. */
export const LONGEST_VALUE = 4_096;
// A token of RFC 9110, section 5.6.2.
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const VALUE = /^[\u0020-\u007e]*$/;

/** Reads header fields that a user sets. A masked value keeps the stored value of that name, in any case. */
export function readHeaderFields(given: Headers, stored: Headers, rules: HeaderRules): Read<Headers> {
  const { field: list, most, reserved, mask } = rules;
  const entries = Object.entries(given);
  if (entries.length > most) return refuse(list, "range", `must have at most ${most} fields`);
  const kept = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const names = new Set<string>();
  const headers: [string, string][] = [];
  for (const [name, raw] of entries) {
    const key = name.toLowerCase();
    if (!NAME.test(name)) return refuse(list, "type", "names consist of 1 to 100 letters, digits and !#$%&'*+-.^_`|~");
    const field = `${list}.${name}`;
    const problem = reserved(key);
    if (problem !== null) return refuse(field, "unknown", problem);
    if (names.has(key)) return refuse(field, "duplicate", "was given twice, in different case");
    names.add(key);
    const value = raw === mask ? kept.get(key) : raw.trim();
    if (value === undefined) {
      return refuse(field, "type", `${mask} is what responses show in place of a secret; give the value itself`);
    }
    if (value.length > LONGEST_VALUE) return refuse(field, "range", `must have at most ${LONGEST_VALUE} characters`);
    if (!VALUE.test(value)) return refuse(field, "type", "must consist of visible ASCII characters and spaces");
    headers.push([name, value]);
  }
  return { ok: true, value: Object.fromEntries(headers) };
}
