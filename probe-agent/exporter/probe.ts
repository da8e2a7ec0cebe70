import type { Clock, Random } from "#shared/time/clock.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { Pool } from "#probe-agent/threads/pool.ts";
import type { Thread } from "#probe-agent/threads/thread.ts";
import type { Samples } from "#probe-agent/exporter/samples.ts";

/** Values of one line of the log of a probe. */
export type Fields = Readonly<Record<string, string | number | boolean>>;

/** Writes the log of a probe, which `debug=true` and the page of recent probes show. It has no secret. */
export type ProbeLog = (level: "debug" | "info" | "warn" | "error", message: string, fields?: Fields) => void;

/** One probe of a target. */
export interface Probe {
  readonly target: string;
  /** The monotonic time at which it ends, in milliseconds. */
  readonly deadline: number;
  /** Aborted at the deadline, or when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly samples: Samples;
  readonly log: ProbeLog;
}

/** The expression that a body breaks, and how; null if it breaks none. */
export type BodyVerdict = { readonly regexp: string; readonly matched: boolean } | null;

/** Threads that match large bodies. */
export type BodyThreads = Pool<Thread<string, BodyVerdict>>;

/** Variables that name proxies: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in either case. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** What probers need from the process. */
export interface ProberContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Reports whether an address can be probed. */
  allows(ip: string): boolean;
  /** Reports whether the owner of a name has opted out of probes. */
  deniesName(name: string): boolean;
  /** Reports whether a redirect to a URL can be followed. Its addresses are checked in any case. */
  allowsRedirect(url: URL): boolean;
  readonly icmpHost: IcmpHost;
  readonly userAgent: string;
  /** For modules with proxy_from_environment. */
  readonly proxyEnvironment: ProxyEnvironment;
  readonly bodyThreads: BodyThreads;
  /** PEM texts of the certificates to trust where a module names none; null: the system's. */
  readonly roots: readonly string[] | null;
}

/** Result of a probe. refused: the target is not allowed, which says nothing of the target; the log names it. */
export type Verdict = "success" | "failure" | "refused";

/** Probes a target and sets its metrics. Failures of the target are data: it throws nothing but faults of ours. */
export type Prober<Options> = (probe: Probe, options: Options, context: ProberContext) => Promise<Verdict>;
