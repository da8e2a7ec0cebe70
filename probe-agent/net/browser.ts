import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { failed, ok, refused, type Outcome, type Stage } from "#shared/contracts/outcome.ts";
import { browserAccount } from "#shared/process/chromium.ts";
import { createFairTurns, turnsOfOne } from "#probe-agent/net/browser/fair-turns.ts";
import { GATE_BOUNDS, openGate, type Gate } from "#probe-agent/net/browser/gate.ts";
import type { BrowserOrder } from "#probe-agent/net/browser/messages.ts";
import { runBrowser, type RunEnd } from "#probe-agent/net/browser/run.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { BrowserConditions, BrowserPort } from "#probe-agent/port/browser.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";

/** Options of the agent's browser. */
interface BrowserOptions {
  /** Path of the browser program. */
  readonly executable: string;
  /** Pages at the same time. Each takes processor time from the others, which shows in measurements. */
  readonly slots: number;
  readonly clock: Clock;
  readonly egress: Egress;
  readonly userAgent: string;
  /** Logs one line when a browser fails. */
  readonly log: (line: string) => void;
}

/**
 * Time of the browser that an account has in any minute for each of the turns it can have at once, in milliseconds.
 * Pictures of ordinary pages take 2 to 5 s each.
 */
const BUDGET_MS = 45_000;
/** Maximum number of waiting jobs of one account. A measurement may take half a minute, a picture takes a few seconds. */
const MAX_WAITING = { measure: 4, capture: 16 } as const;
/** Minimum time to start a browser and load a page, in milliseconds. */
const LEAST_MS = { measure: 5000, capture: 3000 } as const;
/** Time kept for closing the browser, in milliseconds. */
const RESERVE_MS = 500;

/** What a job asks of the browser. */
interface Task extends Pick<BrowserOrder, "url" | "conditions" | "picture"> {
  readonly timeoutMs: number;
}

/** Creates the browser queue of an agent. Each job's port ends with its job. No browser starts before there is work. */
export function createBrowser(options: BrowserOptions): (limits: JobLimits, dns: DnsPort) => BrowserPort {
  const { clock, egress } = options;
  const turns = createFairTurns({ slots: options.slots, budgetMs: BUDGET_MS * turnsOfOne(options.slots), clock });
  const account = browserAccount();

  /** Loads a page. `leave` is called when the browser has exited, which may be a moment after the result. */
  async function load(task: Task, job: Job, until: number, leave: () => void): Promise<Ended> {
    const { limits, dns } = job;
    // A measurement shows the load until the limit; a picture of a part of a page says nothing.
    const cut = new AbortController();
    const onCut = task.picture === null ? undefined : () => cut.abort();
    const gate = await openGate({ egress, dns, clock, limits, ...(onCut === undefined ? {} : { onCut }) });
    const budgetMs = until - clock.monotonic() - RESERVE_MS;
    const signal = AbortSignal.any([limits.signal, cut.signal, AbortSignal.timeout(Math.max(0, Math.floor(budgetMs)))]);
    const { executable, userAgent } = options;
    const { url, conditions, picture } = task;
    const order = { executable, account, port: gate.port, url, conditions, picture, userAgent, budgetMs };
    try {
      const run = await runBrowser(order, signal);
      void run.gone.catch((error: unknown) => options.log(`browser: ${String(error)}`)).finally(leave);
      return { end: await run.end, gate, url };
    } catch (error) {
      // No folder or no process: the disk is full, or the host has no more of them.
      leave();
      return { end: { kind: "broken", message: String(error) }, gate, url };
    } finally {
      gate.close();
    }
  }

  /** Waits for a turn and loads a page. */
  async function take(task: Task, job: Job): Promise<{ readonly status: "ended"; readonly ended: Ended } | NotRun> {
    const { limits } = job;
    const kind = task.picture === null ? "measure" : "capture";
    const check = egress.checkUrl(task.url);
    if (!check.ok) return check.code === "target_not_allowed" ? refused : INVALID;
    const until = Math.min(limits.deadline, clock.monotonic() + task.timeoutMs);
    const patience = Math.floor(until - clock.monotonic() - LEAST_MS[kind]);
    const { account: name = "" } = limits;
    if (turns.waiting(name) >= MAX_WAITING[kind] || patience < 0) return busy(turns.isSpent(name));
    const leave = await turns.take(name, AbortSignal.any([limits.signal, AbortSignal.timeout(patience)]));
    if (leave === null) return busy(turns.isSpent(name));
    try {
      return { status: "ended", ended: await load({ ...task, url: check.url.href }, job, until, leave) };
    } catch (error) {
      leave();
      throw error;
    }
  }

  return (limits, dns) => ({
    async measure(request) {
      const taken = await take({ ...request, picture: null }, { limits, dns });
      if (taken.status !== "ended") return taken;
      const { end, gate } = taken.ended;
      if (end.kind !== "loaded") return failureOf(taken.ended, options.log);
      return ok({ ...end.load, refusedConnections: gate.refusals(), cut: gate.cut() });
    },
    async capture({ url, width, height, fullPage, waitMs, timeoutMs }) {
      const conditions = { ...FULL_SPEED, width, height };
      const taken = await take({ url, conditions, picture: { fullPage, waitMs }, timeoutMs }, { limits, dns });
      if (taken.status !== "ended") return taken;
      const { end, gate } = taken.ended;
      // What is missing of the page depends on chance, so its picture says nothing.
      if (gate.cut()) return failed("response", "target", "page_too_large", TOO_LARGE);
      return end.kind === "captured" ? ok(end.capture) : failureOf(taken.ended, options.log);
    },
  });
}

/** A desktop without any slowdown. */
const FULL_SPEED: BrowserConditions = {
  width: 0,
  height: 0,
  deviceScaleFactor: 1,
  mobile: false,
  cpuSlowdown: 1,
  requestLatencyMs: 0,
  downloadKbps: 0,
  uploadKbps: 0,
};

const TOO_LARGE = `the page loads more than ${GATE_BOUNDS.bytes / 1024 ** 2} MB or opens more than ${GATE_BOUNDS.connections} connections, the limits of one page`;

const INVALID = { status: "invalid", field: "url", message: "must be an http or https URL" } as const;

interface Job {
  readonly limits: JobLimits;
  readonly dns: DnsPort;
}

/** A run with the gate that it used. */
interface Ended {
  readonly end: RunEnd;
  readonly gate: Gate;
  readonly url: string;
}

/** The result of a job for which no browser was started. */
type NotRun = typeof INVALID | ReturnType<typeof busy>;

function busy(isSpent: boolean): Outcome<never> {
  const message = isSpent
    ? "the account has used up its time of the agent's browser for this minute; try again later"
    : "the agent's browser was busy with other pages; try again later";
  return failed("request", "probe", "browser_busy", message);
}

/** Returns the first line of a message, in which no URL is named: a user's URL can contain secrets. */
function withoutUrls(message: string): string {
  return (message.split("\n", 1)[0] ?? "").replaceAll(/\bhttps?:[^\s"']*/g, "(URL)");
}

/** Returns why a run has no result. */
function failureOf({ end, gate, url }: Ended, log: (line: string) => void): Outcome<never> {
  switch (end.kind) {
    case "no_document":
      return documentFailure(end.error, end.url, gate);
    case "timeout":
      return documentFailure("net::ERR_TIMED_OUT", url, gate);
    case "crashed":
      return failed("response", "target", "page_crashed", "the page crashed the browser process");
    case "out_of_memory":
      return failed("response", "target", "browser_memory", "the page needs more memory than the browser may use");
    case "unresponsive":
      return failed("response", "target", "page_unresponsive", "the page computes without end, so it has no picture");
    case "picture_too_large": {
      const size = `${(end.bytes / 1024 ** 2).toFixed(1)} MB`;
      const message = `the picture has ${size}; the limit is 4 MB: use a smaller viewport, or full_page false`;
      return failed("response", "target", "picture_too_large", message);
    }
    default: {
      log(`browser: ${end.kind === "broken" ? withoutUrls(end.message) : "its process ended without a result"}`);
      return failed("request", "probe", "browser_failed", "the agent's browser did not start, or it failed");
    }
  }
}

/** Chromium's errors (net/base/net_error_list.h) with stage, reason and message; the first match counts. */
const REASONS: readonly (readonly [word: RegExp, stage: Stage, reason: string, message: string])[] = [
  [/TIMED_OUT/, "response", "timeout", "the document did not load in time"],
  [/SSL_PROTOCOL|SSL_VERSION/, "tls", "protocol_version", "browser and server support no common TLS version"],
  [/CLIENT_AUTH/, "tls", "certificate_required", "the server requires a client certificate"],
  [/SSL|CERT|ECH/, "tls", "handshake", "the TLS handshake failed"],
  [
    /EMPTY_RESPONSE|CONNECTION_CLOSED|INCOMPLETE/,
    "response",
    "closed",
    "the connection closed before the document arrived",
  ],
  [/CONNECTION_RESET|SOCKET_NOT/, "response", "reset", "the connection was lost"],
  [/TOO_MANY_REDIRECTS/, "response", "too_many_redirects", "too many redirects"],
  [
    /UNSAFE_REDIRECT|UNKNOWN_URL_SCHEME|DISALLOWED_URL/,
    "response",
    "bad_location",
    "the page redirects to something other than a web page",
  ],
  [/ABORTED|INVALID_RESPONSE|BLOCKED/, "response", "no_document", "the response is not a page that a browser can show"],
];

/** Returns why a document did not load: the gate's failure for its destination, otherwise Chromium's error. */
export function documentFailure(error: string, url: string, gate: Pick<Gate, "obstacle">): Outcome<never> {
  const { hostname, port, protocol } = URL.parse(url) ?? { hostname: "", port: "", protocol: "" };
  // Chromium itself refuses redirects to other schemes and to blocked ports. That is reported as refused too.
  if (/UNSAFE_PORT/.test(error)) return refused;
  const obstacle = gate.obstacle(hostname.replace(/^\[|\]$/g, ""), Number(port || (protocol === "https:" ? 443 : 80)));
  if (obstacle !== null) return obstacle;
  const [, stage, reason, message] = REASONS.find(([word]) => word.test(error)) ?? [];
  return failed(
    stage ?? "response",
    "target",
    reason ?? "protocol_error",
    `${hostname}: ${message ?? "the document did not load"} (${error.replace("net::", "")})`,
  );
}
