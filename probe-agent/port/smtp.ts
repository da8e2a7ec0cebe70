import type { Outcome } from "#shared/contracts/outcome.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";

/** Violations of RFC 5321 in a reply that were tolerated. */
export type ReplyFault =
  /** A line ended in LF alone (section 2.3.8). */
  | "bare_line_feed"
  /** A line has more than 512 octets (section 4.5.3.1.5). */
  | "long_line"
  | "control_character"
  /** Octets above 127 before SMTPUTF8 was requested. */
  | "eight_bit"
  /** Lines of one reply have different codes (section 4.2.1). */
  | "mixed_codes"
  /** A line inside a reply has no code. */
  | "line_without_code"
  /** The digits of the code are outside those of section 4.2.1. */
  | "odd_code";

/** One reply, of one line or several (RFC 5321 section 4.2). */
export interface SmtpReply {
  /** Code of the last line. */
  readonly code: number;
  /** Texts without codes. Unprintable characters are replaced and long lines are cut. */
  readonly lines: readonly string[];
  /** Number of lines beyond those kept. */
  readonly omitted: number;
  readonly faults: readonly ReplyFault[];
}

/** All commands that are ever sent. MAIL, RCPT and DATA are not among them. */
export type SmtpVerb = "EHLO" | "HELO" | "STARTTLS" | "QUIT";

/** One connection to a mail server. */
interface SmtpRequest {
  readonly ip: string;
  readonly port: number;
  /** Limit for the connection attempt, in milliseconds. The job's deadline applies in any case. */
  readonly timeoutMs: number;
}

/** Why no reply arrived. too_long: more than 64 KB without an end. not_smtp: what arrived is not an SMTP reply. */
export type SmtpLoss = "timeout" | "cancelled" | "closed" | "reset" | "too_long" | "not_smtp";

/** A reply, or why there is none together with the part that arrived. */
export type SmtpAnswer =
  | { readonly kind: "reply"; readonly reply: SmtpReply }
  | { readonly kind: "lost"; readonly loss: SmtpLoss; readonly received: string; readonly bytes: number };

/** Start of TLS on a connection. */
export interface SmtpTls {
  /** As from TlsPort.inspect: ok with an `error` if the handshake failed after the certificate arrived. */
  readonly outcome: Outcome<TlsObservation>;
  /** Clear text that arrived after the reply to STARTTLS and before TLS, which RFC 3207 section 4.2 forbids. */
  readonly plaintext: { readonly bytes: number; readonly text: string } | null;
}

/** An established connection. It is closed at the job's deadline. */
export interface SmtpLink {
  readonly connectMs: number;
  /** Address of our end of the connection. */
  readonly localAddress: string;
  /** Sends one command and returns the line as sent. EHLO and HELO name us by our address (RFC 5321 section 4.1.3). */
  send(verb: SmtpVerb): string;
  /** Returns the next reply within `timeoutMs`. */
  read(timeoutMs: number): Promise<SmtpAnswer>;
  /** Starts TLS on the connection. If it is established, all later commands use it. `servername` null: no SNI. */
  secure(servername: string | null, timeoutMs: number): Promise<SmtpTls>;
  close(): void;
}

/** Conversations with mail servers that end before any mail is sent. */
export interface SmtpPort {
  /** Fails with stage connect and the reasons of HttpPort. Refused if the egress rules forbid the address. */
  connect(request: SmtpRequest): Promise<Outcome<SmtpLink>>;
}
