import { HeaderScanner } from "#probe-agent/analysis/http/header-scanner.ts";

/** An alternative service (RFC 7838 section 3). */
export interface AlternativeService {
  /** ALPN protocol name, percent-encoding undone, one character per octet. */
  readonly alpn: string;
  /** Null: the origin's own host. */
  readonly host: string | null;
  readonly port: number;
  /** `ma`, default 24 hours. */
  readonly maxAgeSeconds: number;
  /** Kept across changes of network (`persist=1`). */
  readonly persist: boolean;
}

/** What a response says of alternatives. */
interface AltSvc {
  /** In order of preference. */
  readonly services: readonly AlternativeService[];
  /** All alternatives known before are void, and those beside the word too. */
  readonly clear: boolean;
  /** What does not fit the grammar, one sentence each. */
  readonly problems: readonly string[];
}

const DEFAULT_MAX_AGE_S = 86_400;
const MAX_SERVICES = 50;
/** Larger delta-seconds count as this (RFC 9111 section 1.2.2). */
const MAX_SECONDS = 2_147_483_648;

/** Reads the values of all Alt-Svc fields of a response; null where there is none. */
export function parseAltSvc(values: readonly string[]): AltSvc | null {
  if (values.length === 0) return null;
  const scanner = new HeaderScanner(values.join(","));
  const services: AlternativeService[] = [];
  const problems: string[] = [];
  let clear = false;
  while (!scanner.atEnd() && services.length < MAX_SERVICES && problems.length < MAX_SERVICES) {
    scanner.blanks();
    if (scanner.atEnd() || scanner.take(",")) continue;
    const id = scanner.token();
    const hasAuthority = scanner.take("=");
    // The word is case-sensitive, and no protocol: it has no authority.
    if (id === "clear" && !hasAuthority) clear = true;
    else {
      const read = id === null ? "no protocol name" : hasAuthority ? readService(scanner, id) : "no authority";
      if (typeof read === "string") problems.push(`An element cannot be read: ${read}.`);
      else services.push(read);
    }
    scanner.skipElement();
  }
  return { services: clear ? [] : services, clear, problems };
}

function readService(scanner: HeaderScanner, id: string): AlternativeService | string {
  const alpn = percentDecoded(id);
  if (alpn === null) return "a protocol name with a wrong percent-encoding";
  const authority = scanner.quoted();
  if (authority === null) return "an authority without quotes";
  const match = /^(\[[0-9A-Fa-f:.]{2,45}\]|[^\s:/?#@[\]]{0,255}):(\d{1,5})$/.exec(authority);
  const port = Number(match?.[2]);
  if (match === null || port < 1 || port > 65_535) return "an authority that is no host and port";
  let maxAgeSeconds = DEFAULT_MAX_AGE_S;
  let persist = false;
  while (scanner.blanks().take(";")) {
    const name = scanner.blanks().token()?.toLowerCase();
    const value = scanner.take("=") ? (scanner.quoted() ?? scanner.token() ?? "") : "";
    if (name === "ma" && /^\d+$/.test(value)) maxAgeSeconds = Math.min(MAX_SECONDS, Number(value));
    // "MUST ignore persist parameters with values other than 1"
    else if (name === "persist") persist = value === "1";
  }
  const host = (match[1] ?? "").toLowerCase();
  return { alpn, host: host === "" ? null : host, port, maxAgeSeconds, persist };
}

/** Octets that a token cannot have, and the percent sign, stand as %XX (RFC 7838 section 3). */
function percentDecoded(token: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(token)) return null;
  return token.replaceAll(/%(..)/g, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
