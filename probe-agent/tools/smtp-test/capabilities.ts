import type { SmtpReply } from "#probe-agent/port/smtp.ts";

/** Name and extensions of a server from its reply to EHLO (RFC 5321 section 4.1.1.1). */
export interface Capabilities {
  /** First line of the reply: the server's name and free text. */
  readonly greeting: string;
  /** The server's own name in lower case without a final dot; null if the first word is not a host name. */
  readonly hostname: string | null;
  /** Extensions by keyword in upper case. The value has the parameters, "" for none; those of repeats are joined. */
  readonly extensions: ReadonlyMap<string, string>;
}

// ehlo-keyword (section 4.1.1.1).
const KEYWORD = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;
const MAX_EXTENSIONS = 60;
const HOST_NAME = /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,253}[A-Za-z0-9])?\.?)$/;

/** Parses the reply to EHLO. */
export function readCapabilities({ lines }: SmtpReply): Capabilities {
  const [greeting = "", ...rest] = lines;
  const extensions = new Map<string, string>();
  for (const line of rest) {
    // Clients of 1998 expected "AUTH=LOGIN". Some servers still send both forms.
    const [, written = "", parameters = ""] = /^([^\s=]{1,64})[ =]?(.*)$/s.exec(line) ?? [];
    const keyword = written.toUpperCase();
    if (!KEYWORD.test(keyword) || (!extensions.has(keyword) && extensions.size >= MAX_EXTENSIONS)) continue;
    const words = new Set(`${extensions.get(keyword) ?? ""} ${parameters}`.split(" ").filter((word) => word !== ""));
    extensions.set(keyword, [...words].join(" "));
  }
  return { greeting, hostname: parseHostName(greeting), extensions };
}

/** Returns the host name at the start of a greeting; null if the first word is not a host name. */
export function parseHostName(greeting: string): string | null {
  const [first = ""] = greeting.trim().split(/\s/, 1);
  return HOST_NAME.test(first) && /[.:]/.test(first) ? first.toLowerCase().replace(/\.$/, "") : null;
}

/** Returns the limit of SIZE in octets; null if there is none. The value 0 also means no limit (RFC 1870 section 4). */
export function sizeLimit(extensions: ReadonlyMap<string, string>): number | null {
  const stated = extensions.get("SIZE") ?? "";
  return /^\d{1,15}$/.test(stated) && Number(stated) > 0 ? Number(stated) : null;
}

/** Returns the AUTH mechanisms (RFC 4954) in upper case. */
export function authMechanisms(extensions: ReadonlyMap<string, string>): string[] {
  return (extensions.get("AUTH") ?? "")
    .toUpperCase()
    .split(" ")
    .filter((word) => word !== "");
}
