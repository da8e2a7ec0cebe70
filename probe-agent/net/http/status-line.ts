import type { Redact } from "#shared/text/redact.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

/** The start line of a response. */
interface StatusLine {
  /** As sent, e.g. 1.1. */
  readonly version: string;
  /** 100 to 999. */
  readonly code: number;
  /** Reason phrase, not trimmed. */
  readonly text: string;
}

const STATUS_LINE = /^HTTP\/(\d(?:\.\d)?)[ \t]+([1-9]\d\d)(?:[ \t]+([^]*))?$/;
/** Maximum length of a start line, and of a code, in a message, in characters. */
const MAX_SHOWN_LINE = 60;
const MAX_SHOWN_CODE = 16;

/**
 * Parses a status line (RFC 9112 section 4). Codes from 600 to 999 are accepted: servers send them, and RFC 9110
 * section 15 asks clients to treat them as 5xx. Returns null if the line is not usable; `statusLineFault` returns the
 * cause.
 */
export function readStatusLine(line: string): StatusLine | null {
  const [, version, code, text = ""] = STATUS_LINE.exec(line) ?? [];
  return version === undefined || code === undefined ? null : { version, code: Number(code), text };
}

/** Describes why a line that starts with HTTP/ is not a status line, in one clause with the line itself. */
export function statusLineFault(line: string, redact: Redact): string {
  const shown = `the status line ${JSON.stringify(printable(redact(line), MAX_SHOWN_LINE))} is not valid`;
  if (!/^HTTP\/\d(?:\.\d)?(?:[ \t]|$)/.test(line)) {
    return `${shown}: it does not start with an HTTP version (RFC 9112 section 4)`;
  }
  const code = line.split(/[ \t]+/, 2)[1] ?? "";
  if (code === "") return `${shown}: the status code is missing (RFC 9112 section 4)`;
  const quoted = JSON.stringify(printable(redact(code), MAX_SHOWN_CODE));
  return /^\d{3}$/.test(code)
    ? `${shown}: the status code ${quoted} is not between 100 and 599 (RFC 9110 section 15)`
    : `${shown}: the status code ${quoted} is not three digits (RFC 9110 section 15)`;
}

/** Returns the faults of a usable status line: a code above 599, or a version other than HTTP/1. */
export function statusLineFaults({ version, code }: StatusLine): string[] {
  return [
    ...(code > 599 ? ["status_code_out_of_range"] : []),
    ...(version === "1.1" || version === "1.0" ? [] : [`status_line_version_${version}`]),
  ];
}

/**
 * Returns the version in use on a connection without HTTP/2 framing. It can differ from that of the status line (RFC
 * 9112 section 2.3).
 */
export function spokenVersion(claimed: string): "1.0" | "1.1" {
  return claimed === "1.0" || claimed.startsWith("0") ? "1.0" : "1.1";
}
