import { HeaderScanner } from "#probe-agent/analysis/http/header-scanner.ts";

/** An alternative service (RFC 7838 section 3). */
export interface AlternativeService {
  /** ALPN protocol name, percent-decoded, one character per octet. */
  readonly alpn: string;
  /** null for the origin's own host. */
  readonly host: string | null;
  readonly port: number;
  /** The `ma` parameter; 24 hours if it is absent. */
  readonly maxAgeSeconds: number;
  /** Whether clients keep the alternative when their network changes (`persist=1`). */
  readonly persist: boolean;
}

/** Alternative services that a response announces. */
interface AltSvc {
  /** In order of preference. */
  readonly services: readonly AlternativeService[];
  /** Whether the field withdraws all alternatives: those known before and those listed with the word `clear`. */
  readonly clear: boolean;
  /** Elements that do not fit the grammar, one sentence each. */
  readonly problems: readonly string[];
}

const DEFAULT_MAX_AGE_S = 86_400;
const MAX_SERVICES = 50;
/** Larger delta-seconds are read as this value (RFC 9111 section 1.2.2). */
const MAX_SECONDS = 2_147_483_648;

/** Parses the values of all Alt-Svc fields of a response. Returns null if there are none. */
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
    // `clear` is case-sensitive. With an authority it is a protocol name.
    if (id === "clear" && !hasAuthority) clear = true;
    else {
      const read =
        id === null ? "it has no protocol name" : hasAuthority ? readService(scanner, id) : "it has no authority";
      if (typeof read === "string") problems.push(`An element is invalid: ${read}.`);
      else services.push(read);
    }
    scanner.skipElement();
  }
  return { services: clear ? [] : services, clear, problems };
}

function readService(scanner: HeaderScanner, id: string): AlternativeService | string {
  const alpn = percentDecoded(id);
  if (alpn === null) return "its protocol name has an invalid percent-encoding";
  const authority = scanner.quoted();
  if (authority === null) return "its authority has no quotes";
  const match = /^(\[[0-9A-Fa-f:.]{2,45}\]|[^\s:/?#@[\]]{0,255}):(\d{1,5})$/.exec(authority);
  const port = Number(match?.[2]);
  if (match === null || port < 1 || port > 65_535) return "its authority is not a host and a port";
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

/**
 * Decodes a protocol name, in which the percent sign and octets that are not allowed in a token are written as %XX
 * (RFC 7838 section 3). Returns null for an invalid encoding.
 */
function percentDecoded(token: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(token)) return null;
  return token.replaceAll(/%(..)/g, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
