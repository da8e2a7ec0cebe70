import { HeaderScanner } from "#probe-agent/analysis/http/header-scanner.ts";

/** A link of a Link header field (RFC 8288 section 3). */
export interface HeaderLink {
  /** The text between the angle brackets, trimmed. Resolve it against the URL of the response. */
  readonly target: string;
  /** Relation types in lower case. The first of several rel parameters counts (section 3.3). */
  readonly rel: readonly string[];
  /** The `anchor` parameter, unchanged: the resource that the link starts from instead of the page; null if absent. */
  readonly anchor: string | null;
  /** Values by parameter name in lower case, the first of each name; null for a parameter without a value. */
  readonly parameters: ReadonlyMap<string, string | null>;
}

const MAX_LINKS = 200;
const MAX_CHARACTERS = 65_536;

/** Parses the links of all Link fields, up to 200. An element that cannot be parsed does not affect the others. */
export function parseLinkHeader(values: readonly string[]): HeaderLink[] {
  const scanner = new HeaderScanner(values.join(","), MAX_CHARACTERS);
  const links: HeaderLink[] = [];
  while (!scanner.atEnd() && links.length < MAX_LINKS) {
    scanner.blanks();
    if (scanner.take(",")) continue;
    const link = scanner.take("<") ? readLink(scanner) : null;
    if (link !== null) links.push(link);
    scanner.skipElement();
  }
  return links;
}

function readLink(scanner: HeaderScanner): HeaderLink | null {
  const target = scanner.until(">");
  if (target === null) return null;
  const parameters = new Map<string, string | null>();
  while (scanner.blanks().take(";")) {
    const name = scanner.blanks().token()?.toLowerCase();
    if (name === undefined) continue; // an empty parameter
    const value = scanner.blanks().take("=") ? (scanner.blanks().quoted() ?? scanner.token()) : null;
    if (!parameters.has(name)) parameters.set(name, value);
  }
  const rel = (parameters.get("rel") ?? "").toLowerCase().split(/\s+/);
  return {
    target: target.trim(),
    rel: rel.filter((word) => word !== ""),
    anchor: parameters.get("anchor") ?? null,
    parameters,
  };
}
