import { printable } from "#probe-agent/analysis/text/printable.ts";

/** The start line of a response. */
export interface StatusLine {
  /** As written, e.g. 1.1. */
  readonly version: string;
  /** 100 to 999. */
  readonly code: number;
  /** Untrimmed. */
  readonly text: string;
}

const STATUS_LINE = /^HTTP\/(\d(?:\.\d)?)[ \t]+([1-9]\d\d)(?:[ \t]+([^]*))?$/;
/** Characters of a start line or of a code within a message. */
const MAX_SHOWN_LINE = 60;
const MAX_SHOWN_CODE = 16;

/**
 * Reads a status line (RFC 9112 section 4). Codes from 600 to 999 are read: servers send them, and RFC 9110 section 15
 * asks clients to take them for a 5xx. Null: not one that a client can go by; `statusLineFault` tells why.
 */
export function readStatusLine(line: string): StatusLine | null {
  const [, version, code, text = ""] = STATUS_LINE.exec(line) ?? [];
  return version === undefined || code === undefined ? null : { version, code: Number(code), text };
}

/** Why a line that begins with HTTP/ is no status line, with the line itself, one clause. */
export function statusLineFault(line: string): string {
  const shown = `the status line ${JSON.stringify(printable(line, MAX_SHOWN_LINE))} is not valid`;
  if (!/^HTTP\/\d(?:\.\d)?(?:[ \t]|$)/.test(line)) {
    return `${shown}: it does not start with an HTTP version (RFC 9112 section 4)`;
  }
  const code = line.split(/[ \t]+/, 2)[1] ?? "";
  if (code === "") return `${shown}: the status code is missing (RFC 9112 section 4)`;
  const quoted = JSON.stringify(printable(code, MAX_SHOWN_CODE));
  return /^\d{3}$/.test(code)
    ? `${shown}: the status code ${quoted} is not between 100 and 599 (RFC 9110 section 15)`
    : `${shown}: the status code ${quoted} is not three digits (RFC 9110 section 15)`;
}

/** Faults of a status line that is read all the same: a code above 599, a version that is not HTTP/1's. */
export function statusLineFaults({ version, code }: StatusLine): string[] {
  return [
    ...(code > 599 ? ["status_code_out_of_range"] : []),
    ...(version === "1.1" || version === "1.0" ? [] : [`status_line_version_${version}`]),
  ];
}

/** The version spoken on a connection without HTTP/2's framing, whatever the status line claims (RFC 9112 section 2.3). */
export function spokenVersion(claimed: string): "1.0" | "1.1" {
  return claimed === "1.0" || claimed.startsWith("0") ? "1.0" : "1.1";
}
