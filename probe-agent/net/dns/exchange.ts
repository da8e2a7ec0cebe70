import type { Clock } from "#shared/time/clock.ts";

/** Outcome of one query: the first reply that `accept` took, silence, or an unreachable server. */
export type Exchange =
  /** connectMs is the part of rttMs until the connection was open, including TLS. 0 over UDP. */
  | { readonly kind: "reply"; readonly bytes: Uint8Array; readonly rttMs: number; readonly connectMs: number }
  | { readonly kind: "silence" }
  /** `reason` is an errno name (ECONNREFUSED after an ICMP error or RST) or "closed". */
  | { readonly kind: "unreachable"; readonly reason: string };

/**
 * Returns the reason why a query did not reach a server: refused, unreachable, closed, certificate, or the cause's own
 * name.
 */
export function unreachableReason(reason: string): string {
  if (/CERT|ISSUER|SELF_SIGNED/.test(reason)) return "certificate";
  return WORDS[reason] ?? reason.toLowerCase();
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ECONNRESET: "closed",
};

/** An exchange: the query, the test of replies, and the maximum wait. */
export interface ExchangeRequest {
  readonly query: Uint8Array;
  /** Reports whether a reply is the answer; other replies are ignored. */
  accept(bytes: Uint8Array): boolean;
  readonly timeoutMs: number;
  /** Aborting ends the exchange with silence. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Over UDP: the address of our end. Default: the kernel chooses. */
  readonly source?: string;
  /** Called when the socket is ready, right before the query is sent over it. */
  readonly connected?: () => void;
}

/** Returns the errno name of an error, or its message if it has none. */
export function errorReason(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

/**
 * Creates a pending result. The first call of `finish` sets it and runs `ended`. The result is silence on timeout or
 * abort.
 */
export function awaitExchange(
  request: Pick<ExchangeRequest, "timeoutMs" | "signal">,
  ended: () => void,
): { readonly result: Promise<Exchange>; readonly finish: (exchange: Exchange) => void } {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  let open = true;
  const finish = (exchange: Exchange): void => {
    if (!open) return;
    open = false;
    clearTimeout(timer);
    request.signal.removeEventListener("abort", giveUp);
    ended();
    resolve(exchange);
  };
  const giveUp = (): void => finish({ kind: "silence" });
  const timer = setTimeout(giveUp, request.timeoutMs);
  request.signal.addEventListener("abort", giveUp, { once: true });
  return { result: promise, finish };
}
