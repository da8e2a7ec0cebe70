import { HeaderScanner } from "#probe-agent/analysis/http/header-scanner.ts";

/** A link as a Link header field says it (RFC 8288 section 3). */
export interface HeaderLink {
  /** As written between the angle brackets, trimmed; to be resolved against the URL of the response. */
  readonly target: string;
  /** Words of rel in lower case; of several rel parameters the first counts (section 3.3). */
  readonly rel: readonly string[];
  /** The resource it speaks of where that is another one than the page, as written; null without it. */
  readonly anchor: string | null;
  /** All parameters by lower-case name, the first of each; null for those without a value. */
  readonly parameters: ReadonlyMap<string, string | null>;
}

const MAX_LINKS = 200;
const MAX_CHARACTERS = 65_536;

/** The links of all Link fields, at most 200. What cannot be read ends its element, not the others. */
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
