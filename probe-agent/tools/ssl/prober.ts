import type { Net } from "#probe-agent/toolkit/net.ts";
import type { ClientHello, ServerHelloSeen } from "#probe-agent/port/tls.ts";

/** Answer to a ClientHello. */
export type Answer =
  | { readonly kind: "hello"; readonly hello: ServerHelloSeen; readonly certificates: readonly Uint8Array[] }
  /** Refused by a fatal alert, or by ending the connection without an alert (null). */
  | { readonly kind: "refused"; readonly alert: number | null }
  /** No answer in time, or no time or connections left. */
  | { readonly kind: "silent" };

/** Sends ClientHellos to one server, within limits. */
export interface Prober {
  readonly servername: string | null;
  /** Sends a hello; with `flight`, also waits for the server's certificates and key exchange. */
  ask(hello: ClientHello, flight?: boolean): Promise<Answer>;
  /** Returns the number of connections started. */
  spent(): number;
  /** Returns how many questions can be asked one after the other in `ms` milliseconds. */
  within(ms: number): number;
}

/** Limits of a prober. */
interface ProberBounds {
  /** Maximum number of connections. */
  readonly connections: number;
  /** Monotonic time in milliseconds after which no question is asked. */
  readonly until: number;
  /** Time limit for one question in milliseconds. */
  readonly questionMs: number;
  /** Expected time of one question in milliseconds. */
  readonly usualMs: number;
}

/** Address of the server. */
export interface ProbeTarget {
  readonly ip: string;
  readonly port: number;
  readonly servername: string | null;
}

const SILENT: Answer = { kind: "silent" };
/** After this number of questions in a row without an answer, the prober stops asking. */
const MAX_SILENCES = 8;

/** Creates a prober over the TLS port, which limits the number of concurrent connections. */
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
