import type { Outcome } from "#shared/outcome.ts";

/** One question to a WHOIS server (RFC 3912). */
export interface WhoisRequest {
  /** Name or address of the server. */
  readonly host: string;
  readonly port: number;
  /** One line, sent as it is: 1 to 255 visible ASCII characters and spaces between them. */
  readonly query: string;
  /** For the operator's own server (never one that somebody referred to): skip the address rules. */
  readonly trusted?: boolean;
  /** For this question alone, name look-up included, milliseconds; default 8000. The job's deadline holds in any case. */
  readonly timeoutMs?: number;
}

/** What a server said before it closed. */
export interface WhoisReply {
  /** At most 256 KB of the answer: UTF-8 where it is valid UTF-8, else Latin-1. */
  readonly text: string;
  readonly charset: "utf-8" | "latin1";
  readonly ip: string;
  readonly bytes: number;
  /** More came than is read. */
  readonly truncated: boolean;
  /** Why the answer may lack its end though something came; null where the server closed in order. */
  readonly error: "timeout" | "reset" | null;
}

/** Questions to WHOIS servers. */
export interface WhoisPort {
  /**
   * failed: those of DnsPort.resolve; stage connect as in HttpPort; stage request with bad_query (nothing was sent);
   * stage response with timeout, reset, empty. refused: the host, or every address of it.
   */
  ask(request: WhoisRequest): Promise<Outcome<WhoisReply>>;
}
