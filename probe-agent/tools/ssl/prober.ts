import type { Net } from "#probe-agent/toolkit/net.ts";
import type { ClientHello, ServerHelloSeen } from "#probe-agent/port/tls.ts";

/** What a hello came to. */
export type Answer =
  | { readonly kind: "hello"; readonly hello: ServerHelloSeen; readonly certificates: readonly Uint8Array[] }
  /** By a fatal alert, or (null) by ending the connection without a word. */
  | { readonly kind: "refused"; readonly alert: number | null }
  /** No answer in time, or no time or connections left to ask. */
  | { readonly kind: "silent" };

/** Asks one server questions in ClientHellos, within bounds. */
export interface Prober {
  readonly servername: string | null;
  ask(hello: ClientHello, flight?: boolean): Promise<Answer>;
  /** Connections begun. */
  spent(): number;
  /** Questions that can be asked one after the other in so many milliseconds. */
  within(ms: number): number;
}

/** Bounds of one survey. */
interface ProberBounds {
  /** Connections at most. */
  readonly connections: number;
  /** Monotonic milliseconds after which nothing is asked. */
  readonly until: number;
  /** For one question, milliseconds. */
  readonly questionMs: number;
  /** What one question takes by all we know, milliseconds. */
  readonly usualMs: number;
}

/** Where the server is. */
export interface ProbeTarget {
  readonly ip: string;
  readonly port: number;
  readonly servername: string | null;
}

const SILENT: Answer = { kind: "silent" };
/** So many questions in a row without an answer: the server has stopped talking to us. */
const MAX_SILENCES = 8;

/** A prober over the TLS port, which lets few questions be under way at once. */
export function createProber(net: Net, target: ProbeTarget, bounds: ProberBounds): Prober {
  let spent = 0;
  let silences = 0;
  const left = (): number => (silences >= MAX_SILENCES ? 0 : bounds.connections - spent);
  return {
    servername: target.servername,
    spent: () => spent,
    within: (ms) => Math.floor(ms / Math.max(bounds.usualMs, 1)),
    async ask(hello, flight = false) {
      const timeoutMs = Math.min(bounds.questionMs, bounds.until - net.monotonic());
      if (left() <= 0 || timeoutMs <= 0) return SILENT;
      spent += 1;
      const outcome = await net.tls.hello({ ...hello, ...target, flight, timeoutMs });
      if (outcome.status !== "ok") {
        silences += 1;
        return SILENT;
      }
      silences = 0;
      const { serverHello, alert, certificates, ending } = outcome.data;
      if (serverHello !== null) return { kind: "hello", hello: serverHello, certificates };
      if (alert?.fatal === true) return { kind: "refused", alert: alert.description };
      return ending === "open" ? SILENT : { kind: "refused", alert: null };
    },
  };
}
