import type { Redact } from "#shared/text/redact.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

/** Maximum length of an answer in a message, in characters. */
const MAX_SHOWN = 40;

/** First octets (latin1) by protocol: greetings of servers that send first, and answers to input that they reject. */
// oxlint-disable no-control-regex -- binary protocols are recognised by control characters
const STARTS: readonly (readonly [RegExp, name: string])[] = [
  [/^[\u0014-\u0018]\u0003[\u0000-\u0004]/, "TLS (use https://)"],
  [/^SSH-\d/, "SSH"],
  [/^ICY[ \t]/, "SHOUTcast (ICY)"],
  [/^HTTP\/\d/, "plain HTTP (use http://)"],
  [/^220[ -]/, "SMTP or FTP"],
  [/^[45]\d\d[ -]/, "SMTP or FTP"],
  [/^\+OK\b/, "POP3"],
  [/^\* (?:OK|PREAUTH|BYE)\b/, "IMAP"],
  [/^RTSP\/\d/, "RTSP"],
  [/^SIP\/\d/, "SIP"],
  [/^-ERR\b/, "Redis"],
  [/^RFB \d/, "VNC"],
  // A SETTINGS frame of stream 0 of at most 255 octets (RFC 9113 section 3.4).
  [/^\u0000\u0000[^]\u0004[^]\u0000{4}/, "HTTP/2 without TLS"],
  [/^\r?\n/, "an empty line where the status line should be"],
  [/^\s*</, "HTTP/0.9 or a bare page"],
];
// oxlint-enable no-control-regex

/** Returns the protocol of an answer by its first octets (latin1); null if they match none. */
export function protocolOf(start: string): string | null {
  return STARTS.find(([pattern]) => pattern.test(start))?.[1] ?? null;
}

/** Quotes the start of an answer for a message, truncated and printable. */
export function quotedStart(start: string, redact: Redact): string {
  return JSON.stringify(printable(redact(start).slice(0, MAX_SHOWN)));
}
