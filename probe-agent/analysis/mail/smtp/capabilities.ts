import type { SmtpReply } from "#probe-agent/port/smtp.ts";

/** What a server offers in its answer to EHLO (RFC 5321 section 4.1.1.1). */
export interface Capabilities {
  /** The first line: its name and whatever it likes to say. */
  readonly greeting: string;
  /** Name the server gives itself, lower case without final dot; null where the first word is none. */
  readonly hostname: string | null;
  /** Keywords in upper case with their parameters; "" for none. Repeats are joined. */
  readonly extensions: ReadonlyMap<string, string>;
}

// ehlo-keyword of section 4.1.1.1.
const KEYWORD = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;
const MAX_EXTENSIONS = 60;
const HOST_NAME = /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,253}[A-Za-z0-9])?\.?)$/;

/** Reads the reply to EHLO. */
export function readCapabilities({ lines }: SmtpReply): Capabilities {
  const [greeting = "", ...rest] = lines;
  const extensions = new Map<string, string>();
  for (const line of rest) {
    // "AUTH=LOGIN" is how clients of 1998 wanted it; servers still say both.
    const [, written = "", parameters = ""] = /^([^\s=]{1,64})[ =]?(.*)$/s.exec(line) ?? [];
    const keyword = written.toUpperCase();
    if (!KEYWORD.test(keyword) || (!extensions.has(keyword) && extensions.size >= MAX_EXTENSIONS)) continue;
    const words = new Set(`${extensions.get(keyword) ?? ""} ${parameters}`.split(" ").filter((word) => word !== ""));
    extensions.set(keyword, [...words].join(" "));
  }
  return { greeting, hostname: hostNameIn(greeting), extensions };
}

/** The name a greeting begins with; null where its first word is none. */
export function hostNameIn(greeting: string): string | null {
  const [first = ""] = greeting.trim().split(/\s/, 1);
  return HOST_NAME.test(first) && /[.:]/.test(first) ? first.toLowerCase().replace(/\.$/, "") : null;
}

/** SIZE's limit in octets; 0 and none mean that no limit is stated (RFC 1870 section 4). */
export function sizeLimit(extensions: ReadonlyMap<string, string>): number | null {
  const stated = extensions.get("SIZE") ?? "";
  return /^\d{1,15}$/.test(stated) && Number(stated) > 0 ? Number(stated) : null;
}

/** Mechanisms after AUTH (RFC 4954), upper case. */
export function authMechanisms(extensions: ReadonlyMap<string, string>): string[] {
  return (extensions.get("AUTH") ?? "")
    .toUpperCase()
    .split(" ")
    .filter((word) => word !== "");
}
