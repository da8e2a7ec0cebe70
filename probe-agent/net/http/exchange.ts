import type { Redact } from "#shared/text/redact.ts";
import type { Clock } from "#shared/time/clock.ts";
import type { Failed } from "#shared/contracts/outcome.ts";
import type { HttpBody } from "#probe-agent/port/http.ts";
import type { BodyCollector } from "#probe-agent/net/http/body.ts";
import type { ResponseHead } from "#probe-agent/net/http/response-head.ts";

/** Maximum number of informational responses before the final one. No genuine server sends more. */
export const MAX_INFORMATIONAL = 32;

/** The head of the final response, with the body still on the wire. */
export interface Exchange {
  readonly status: "ok";
  readonly head: ResponseHead;
  /** Arrival of the first octet of the final response on the monotonic clock, in milliseconds. */
  readonly firstByteAt: number;
  /** Codes of the 1xx responses before the final one. */
  readonly informational: readonly number[];
  /**
   * Reads the body once and closes the connection. A body that was cut short has the octets that arrived, and the
   * reason as its error (failure.ts, bodyBreak), "timeout" after `patienceMs`. Fails at the job's deadline.
   */
  readBody(maxBytes: number, patienceMs?: number): Promise<BodyRead | Failed>;
  /** Closes the connection without reading the body. */
  close(): void;
}

/** A body, possibly cut short. */
export interface BodyRead {
  readonly status: "ok";
  readonly body: HttpBody;
}

/** Inputs of an exchange other than the connection. */
export interface ExchangeContext {
  readonly clock: Clock;
  /** Name of the peer in messages. */
  readonly where: string;
  /** HttpRequest.redact. */
  readonly redact: Redact;
  /** Collects the body in place of the collector that decodes it by its Content-Encoding. */
  readonly collect?: () => BodyCollector;
}

/** The time limit of a body. */
interface Patience {
  isOver(): boolean;
  end(): void;
}

/** Starts the time limit of a body and calls `giveUp` when it expires. Undefined means no limit. */
export function startPatience(ms: number | undefined, giveUp: () => void): Patience {
  let over = false;
  const timer =
    ms === undefined
      ? undefined
      : setTimeout(() => {
          over = true;
          giveUp();
        }, ms);
  return { isOver: () => over, end: () => clearTimeout(timer) };
}
