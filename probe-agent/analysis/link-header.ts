/** A link as a Link header field says it (RFC 8288 section 3). */
export interface HeaderLink {
  /** As written between the angle brackets. */
  readonly target: string;
  /** Words of rel in lower case; of several rel parameters the first counts (section 3.3). */
  readonly rel: readonly string[];
  /** The resource it speaks of where that is another one than the page; null without it. */
  readonly anchor: string | null;
  /** All parameters by lower-case name, the first of each. */
  readonly parameters: ReadonlyMap<string, string>;
}

const TARGET = /[\s,]*<([^>]{0,8192})>/y;
const PARAMETER = /\s*;\s*([\w!#$&+.^`|~*-]{1,64})(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?/y;
/** White space and empty parameters after a link, which say nothing. */
const FILLER = /[\s;]*/y;
const MAX_LINKS = 200;
const MAX_CHARACTERS = 65_536;

/** The links of all Link fields (RFC 8288 appendix B.2), at most 200; a field is read up to where it is malformed. */
export function parseLinkHeader(values: readonly string[]): HeaderLink[] {
  const links: HeaderLink[] = [];
  for (const value of values) readField(value.slice(0, MAX_CHARACTERS), links);
  return links;
}

function readField(value: string, links: HeaderLink[]): void {
  let at = 0;
  while (links.length < MAX_LINKS) {
    TARGET.lastIndex = at;
    const target = TARGET.exec(value);
    if (target === null) return;
    const read = readParameters(value, TARGET.lastIndex);
    at = read.end;
    links.push({
      target: (target[1] ?? "").trim(),
      rel: words(read.parameters.get("rel") ?? ""),
      anchor: read.parameters.get("anchor") ?? null,
      parameters: read.parameters,
    });
  }
}

function readParameters(value: string, from: number): { parameters: Map<string, string>; end: number } {
  const parameters = new Map<string, string>();
  let end = from;
  for (;;) {
    PARAMETER.lastIndex = end;
    const match = PARAMETER.exec(value);
    if (match === null) break;
    end = PARAMETER.lastIndex;
    const name = (match[1] ?? "").toLowerCase();
    if (!parameters.has(name)) parameters.set(name, (match[2] ?? match[3] ?? "").replaceAll(/\\(.)/g, "$1"));
  }
  FILLER.lastIndex = end;
  FILLER.exec(value);
  return { parameters, end: FILLER.lastIndex };
}

function words(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
}
