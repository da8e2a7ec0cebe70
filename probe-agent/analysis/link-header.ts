/** One link of a Link header. */
export interface HeaderLink {
  /** As written between the angle brackets. */
  readonly target: string;
  /** Lower-case words of rel. */
  readonly rel: readonly string[];
  /** Other parameters by lower-case name, the first of each. */
  readonly parameters: ReadonlyMap<string, string>;
}

const TARGET = /[\s,]*<([^>]{0,8192})>/y;
const PARAMETER = /\s*;\s*([\w!#$&+.^`|~*-]{1,64})(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?/y;
const MAX_LINKS = 200;

/** The links of a Link header's value (RFC 8288 section 3 and appendix B.2); reading ends where it is malformed. */
export function parseLinkHeader(value: string): HeaderLink[] {
  const links: HeaderLink[] = [];
  let at = 0;
  while (links.length < MAX_LINKS) {
    TARGET.lastIndex = at;
    const target = TARGET.exec(value);
    if (target === null) break;
    at = TARGET.lastIndex;
    const parameters = new Map<string, string>();
    for (;;) {
      PARAMETER.lastIndex = at;
      const match = PARAMETER.exec(value);
      if (match === null) break;
      at = PARAMETER.lastIndex;
      const name = (match[1] ?? "").toLowerCase();
      if (!parameters.has(name)) parameters.set(name, (match[2] ?? match[3] ?? "").replaceAll(/\\(.)/g, "$1"));
    }
    const rel = (parameters.get("rel") ?? "")
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    links.push({ target: (target[1] ?? "").trim(), rel, parameters });
  }
  return links;
}
