import type { Outcome } from "#shared/outcome.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";

/** What a reply does that RFC 5321 does not allow, and that was read over. */
export type ReplyFault =
  /** A line ended in LF alone (section 2.3.8). */
  | "bare_line_feed"
  /** A line has more than 512 octets (section 4.5.3.1.5). */
  | "long_line"
  | "control_character"
  /** Octets above 127 before SMTPUTF8 was asked for. */
  | "eight_bit"
  /** Lines of one reply have different codes (section 4.2.1). */
  | "mixed_codes"
  /** A line inside a reply has no code. */
  | "line_without_code"
  /** The code's digits are not those of section 4.2.1. */
  | "odd_code";

/** One reply, of one line or several (RFC 5321 section 4.2). */
export interface SmtpReply {
  /** Of the last line. */
  readonly code: number;
  /** Texts without codes, printable, long ones cut. */
  readonly lines: readonly string[];
  /** Lines beyond those kept. */
  readonly omitted: number;
  readonly faults: readonly ReplyFault[];
}

/** All that is ever said to a server: there is no MAIL, RCPT or DATA among it. */
export type SmtpVerb = "EHLO" | "HELO" | "STARTTLS" | "QUIT";

/** One connection to a mail server. */
interface SmtpRequest {
  readonly ip: string;
  readonly port: number;
  /** To connect, milliseconds; the job's deadline holds in any case. */
  readonly timeoutMs: number;
}

/** Why no reply came. too_long: more than 64 KB without an end; not_smtp: what came is no reply. */
export type SmtpLoss = "timeout" | "cancelled" | "closed" | "reset" | "too_long" | "not_smtp";

/** A reply, or why there is none, with what had come of it. */
export type SmtpAnswer =
  | { readonly kind: "reply"; readonly reply: SmtpReply }
  | { readonly kind: "lost"; readonly loss: SmtpLoss; readonly received: string; readonly bytes: number };

/** How TLS began. */
export interface SmtpTls {
  /** As TlsPort.inspect gives it: ok with an `error` where the handshake failed after the certificate had come. */
  readonly outcome: Outcome<TlsObservation>;
  /** Clear text that came after the answer to STARTTLS and before TLS: nobody may send any (RFC 3207 section 4.2). */
  readonly plaintext: { readonly bytes: number; readonly text: string } | null;
}

/** A standing connection. It ends by itself at the job's deadline. */
export interface SmtpLink {
  readonly connectMs: number;
  /** Our end of it. */
  readonly localAddress: string;
  /** Sends one command; EHLO and HELO name us by our address (RFC 5321 section 4.1.3). Gives the line as sent. */
  send(verb: SmtpVerb): string;
  /** The next reply, within `timeoutMs`. */
  read(timeoutMs: number): Promise<SmtpAnswer>;
  /** Begins TLS on the connection; all that follows goes through it where it stands. `servername` null: no SNI. */
  secure(servername: string | null, timeoutMs: number): Promise<SmtpTls>;
  close(): void;
}

/** Conversations with mail servers that stop before any mail. */
export interface SmtpPort {
  /** failed: stage connect, reasons as in HttpPort. refused: the address. */
  connect(request: SmtpRequest): Promise<Outcome<SmtpLink>>;
}
