import type { Outcome } from "#shared/contracts/outcome.ts";

/** One question to a WHOIS server (RFC 3912). */
export interface WhoisRequest {
  /** Name or address of the server. */
  readonly host: string;
  readonly port: number;
  /** One line, sent verbatim: 1 to 255 visible ASCII characters and spaces between them. */
  readonly query: string;
  /** Skip the address rules. Only for the operator's own server, never for one from a referral. */
  readonly trusted?: boolean;
  /**
   * Limit for this question including the name lookup, in milliseconds. Default: 8000. The job's deadline applies in
   * any case.
   */
  readonly timeoutMs?: number;
}

/** Reply of a server. */
export interface WhoisReply {
  /** At most 256 KB of the reply: UTF-8 if it is valid UTF-8, else Latin-1. */
  readonly text: string;
  readonly charset: "utf-8" | "latin1";
  readonly ip: string;
  readonly bytes: number;
  /** Whether the reply is longer than the part that was read. */
  readonly truncated: boolean;
  /** Why the end of the reply may be missing; null if the server closed the connection normally. */
  readonly error: "timeout" | "reset" | null;
}

/** Queries to WHOIS servers. */
export interface WhoisPort {
  /**
   * Sends one question. Fails as DnsPort.resolve does, with stage connect as in HttpPort, with stage request and
   * bad_query (nothing was sent), and with stage response and timeout, reset or empty. Refused if the egress rules
   * forbid the host or all its addresses.
   */
  ask(request: WhoisRequest): Promise<Outcome<WhoisReply>>;
}
