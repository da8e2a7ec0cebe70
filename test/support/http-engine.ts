import type { Egress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { createDns } from "#probe-agent/net/dns/create.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import type { HttpRequest, PageSnapshot } from "#probe-agent/port/http.ts";
import type { Identity } from "#test/servers/http.ts";
import type { Issued } from "#test/servers/pki.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { loopbackEgress } from "#test/support/net.ts";

/** User-Agent of test engines. */
export const TEST_AGENT = "Vantage/test (+https://vantage.example/about)";

/** Options of a test engine. */
export interface EngineOptions {
  /** Default: loopback is allowed. */
  readonly egress?: Egress;
  /** DNS servers. Default: the system's (literals need none). */
  readonly dnsServers?: readonly string[];
  /** PEM texts of trusted roots. Default: Node's. */
  readonly roots?: readonly string[];
  /** The control plane's time. Default: this machine's. */
  readonly now?: () => Date;
}

/** Fetches once with the given options. The job ends at its deadline, or with `end` as an agent ends it. */
export type Fetch = (
  request: Partial<HttpRequest> & { readonly url: string },
  timeoutMs?: number,
  end?: Promise<unknown>,
) => Promise<Outcome<PageSnapshot>>;

/**
 * Creates the real engine with the real resolver. Each fetch is a separate job that ends at `timeoutMs` (default: one
 * minute, which nothing that ends by itself needs).
 */
export function httpEngine(options: EngineOptions = {}): Fetch {
  const egress = options.egress ?? loopbackEgress;
  const clock = systemClock;
  const dns = createDns({ servers: options.dnsServers ?? [], egress, clock, random: systemRandom });
  const roots = options.roots === undefined ? {} : { roots: options.roots };
  const http = createHttp({ clock, egress, userAgent: TEST_AGENT, ...roots });
  return async (request, timeoutMs = 60_000, end) => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), timeoutMs);
    void end?.then(() => abort.abort());
    const job = {
      signal: abort.signal,
      deadline: clock.monotonic() + timeoutMs,
      now: options.now ?? (() => clock.now()),
    };
    try {
      return await http(job, dns(job)).fetch({ method: "GET", follow: true, ...request });
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Returns the snapshot of a fetch that must succeed. */
export function pageOf(outcome: Outcome<PageSnapshot>): PageSnapshot {
  if (outcome.status !== "ok") throw new Error(`no page: ${JSON.stringify(outcome)}`);
  return outcome.data;
}

/** Returns "stage/source/reason" of a failure, or the status of any other outcome. */
export function failureOf(outcome: Outcome<unknown>): string {
  return outcome.status === "failed" ? `${outcome.stage}/${outcome.source}/${outcome.reason}` : outcome.status;
}

/** Returns what a TLS server presents: the certificate, then its issuers. */
export function identityOf(leaf: Issued, ...above: readonly Issued[]): Identity {
  return { cert: [leaf, ...above].map(({ pem }) => pem).join(""), key: leaf.keyPem };
}
