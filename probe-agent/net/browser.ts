import type { Clock } from "#shared/clock.ts";
import type { Egress } from "#shared/egress.ts";
import { failed, ok, refused, type Outcome } from "#shared/outcome.ts";
import { documentFailure } from "#probe-agent/net/browser/failure.ts";
import { openGate, type Gate } from "#probe-agent/net/browser/gate.ts";
import { runBrowser, type RunEnd } from "#probe-agent/net/browser/run.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { BrowserPort, LoadRequest, PageLoad } from "#probe-agent/port/browser.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import { createTurns } from "#probe-agent/threads/turns.ts";

/** Options of the agent's browser. */
interface BrowserOptions {
  /** Path of the browser program. */
  readonly executable: string;
  readonly clock: Clock;
  readonly egress: Egress;
  readonly userAgent: string;
  /** Logs one line when a browser fails. */
  readonly log: (line: string) => void;
}

/** One page at a time, because concurrent pages would distort each other's measurements. */
const AT_ONCE = 1;
/** Maximum number of waiting jobs. Each may take half a minute. */
const MAX_WAITING = 4;
/** Minimum time to start a browser and load a page, in milliseconds. */
const LEAST_MS = 5000;
/** Time kept for closing the browser, in milliseconds. */
const RESERVE_MS = 500;

/** Creates the browser queue of an agent. Each job's port ends with its job. No browser starts before there is work. */
export function createBrowser(options: BrowserOptions): (limits: JobLimits, dns: DnsPort) => BrowserPort {
  const { clock, egress } = options;
  const turns = createTurns(AT_ONCE);
  let waiting = 0;

  /** Loads a page. `leave` is called when the browser has exited, which may be a moment after the result. */
  async function load(request: LoadRequest, job: Job, until: number, leave: () => void): Promise<Outcome<PageLoad>> {
    const { limits, dns } = job;
    const gate = await openGate({ egress, dns, clock, limits });
    const budgetMs = until - clock.monotonic() - RESERVE_MS;
    const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(Math.max(0, Math.floor(budgetMs)))]);
    const { executable, userAgent } = options;
    const { url, conditions } = request;
    const run = await runBrowser({ executable, port: gate.port, url, conditions, userAgent, budgetMs }, signal);
    void run.gone.catch((error: unknown) => options.log(`browser: ${String(error)}`)).finally(leave);
    const end = await run.end;
    gate.close();
    return readEnd(end, gate, url, options.log);
  }

  return (limits, dns) => ({
    async measure(request) {
      const check = egress.checkUrl(request.url);
      if (!check.ok) return check.code === "target_not_allowed" ? refused : INVALID;
      const until = Math.min(limits.deadline, clock.monotonic() + request.timeoutMs);
      const patience = Math.floor(until - clock.monotonic() - LEAST_MS);
      if (waiting >= MAX_WAITING || patience < 0) return busy();
      waiting += 1;
      const leave = await turns.take(AbortSignal.any([limits.signal, AbortSignal.timeout(patience)]));
      waiting -= 1;
      if (leave === null) return busy();
      try {
        return await load({ ...request, url: check.url.href }, { limits, dns }, until, leave);
      } catch (error) {
        leave();
        throw error;
      }
    },
  });
}

const INVALID = { status: "invalid", field: "url", message: "must be an http or https URL" } as const;

interface Job {
  readonly limits: JobLimits;
  readonly dns: DnsPort;
}

function busy(): Outcome<never> {
  return failed("request", "probe", "browser_busy", "the agent's browser was busy with other pages; try again later");
}

function readEnd(end: RunEnd, gate: Gate, url: string, log: (line: string) => void): Outcome<PageLoad> {
  switch (end.kind) {
    case "loaded":
      return ok({ ...end.load, refusedConnections: gate.refusals(), cut: gate.cut() });
    case "no_document":
      return documentFailure(end.error, end.url, gate);
    case "timeout":
      return documentFailure("net::ERR_TIMED_OUT", url, gate);
    case "crashed":
      return failed("response", "target", "page_crashed", "the page crashed the browser process");
    case "out_of_memory":
      return failed("response", "target", "browser_memory", "the page needs more memory than the browser may use");
    default: {
      log(`browser: ${end.kind === "broken" ? end.message : "its process ended without a result"}`);
      return failed("request", "probe", "browser_failed", "the agent's browser did not start, or it failed");
    }
  }
}
