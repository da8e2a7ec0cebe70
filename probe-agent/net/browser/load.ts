import type { CDPSession, Request } from "playwright-core";
import type { OpenBrowser } from "#probe-agent/net/browser/chromium.ts";
import type { FromBrowser, MeasuredLoad, PageEnd } from "#probe-agent/net/browser/messages.ts";
import { navigate, watchEnd } from "#probe-agent/net/browser/navigate.ts";
import {
  blockingTime,
  OBSERVE,
  READ,
  readObserved,
  WORLD,
  type Observed,
} from "#probe-agent/net/browser/page-script.ts";
import type { LoadedKind } from "#probe-agent/port/browser.ts";

/** Monotonic milliseconds and a wait. */
interface Time {
  now(): number;
  sleep(ms: number): Promise<void>;
}

type End = PageEnd | Extract<FromBrowser, { readonly kind: "loaded" | "no_document" }>;

/**
 * How long network and processor must be idle, in milliseconds. Lighthouse waits 5.25 s with real throttling; here a
 * caller waits.
 */
const QUIET_MS = 2000;
/** Maximum number of open requests of an idle page. Streams and long polls never end. */
const QUIET_REQUESTS = 2;
/** Time after the load event, in milliseconds, at which the measurement of a page that paints nothing ends. */
const NO_PAINT_MS = 5000;
const LOOK_EVERY_MS = 200;
/** Maximum number of requests counted. */
const MAX_REQUESTS = 5000;

/** Loads the page and observes it until it is idle or the time ends. */
export async function loadPage(browser: OpenBrowser, url: string, budgetMs: number, time: Time): Promise<End> {
  const { page, devtools } = browser;
  const until = time.now() + budgetMs;
  const traffic = watchTraffic(browser, time);
  await devtools.send("Page.enable");
  await devtools.send("Page.addScriptToEvaluateOnNewDocument", { source: OBSERVE, worldName: WORLD });
  const ending = watchEnd(page, time);
  const failure = await navigate(page, ending, { url, budgetMs, documentUrl: () => traffic.documentUrl() });
  if (failure !== null) return failure;
  const watched = { look: () => Promise.race([observe(devtools), ending.happened]), over: () => ending.now() !== null };
  const { seen, quiet } = await untilQuiet(watched, traffic, until, time);
  const early = ending.now();
  if (early !== null) return early;
  if (seen === null) return { kind: "no_document", error: "net::ERR_TIMED_OUT", url: page.url() };
  // Its scripts navigated to an address that could not be loaded, so the document is Chromium's own error page.
  if (!/^https?:/.test(seen.url))
    return { kind: "no_document", error: "net::ERR_ABORTED", url: traffic.documentUrl() ?? url };
  const load: MeasuredLoad = {
    finalUrl: seen.url,
    status: traffic.status(),
    ttfbMs: rounded(seen.ttfb),
    fcpMs: rounded(seen.fcp),
    lcpMs: rounded(seen.lcp),
    cls: seen.fcp === null ? null : Math.round(seen.cls * 10_000) / 10_000,
    tbtMs: rounded(blockingTime(seen)),
    loadMs: rounded(seen.load),
    loaded: traffic.loaded,
    failedRequests: traffic.failed(),
    quiet,
    browser: `Chromium ${browser.version}`,
  };
  return { kind: "loaded", load };
}

interface Traffic {
  readonly loaded: Record<LoadedKind, { requests: number; bytes: number }>;
  failed(): number;
  inFlight(): number;
  /** Returns the time of the last network activity. */
  lastChange(): number;
  /** Returns the HTTP status of the newest document. */
  status(): number | null;
  /** Returns the last URL that the main frame requested. */
  readonly documentUrl: () => string | null;
}

const KINDS: Readonly<Record<string, LoadedKind>> = {
  document: "document",
  stylesheet: "stylesheet",
  script: "script",
  image: "image",
  font: "font",
  media: "media",
  xhr: "fetch",
  fetch: "fetch",
};

function watchTraffic({ page, devtools }: OpenBrowser, time: Time): Traffic {
  const none = () => ({ requests: 0, bytes: 0 });
  const loaded = {
    document: none(),
    stylesheet: none(),
    script: none(),
    image: none(),
    font: none(),
    media: none(),
    fetch: none(),
    other: none(),
  };
  const open = new Set<Request>();
  let [seen, failed, changed] = [0, 0, time.now()];
  let documentUrl: string | null = null;
  let status: number | null = null;
  const ended = (request: Request): void => {
    open.delete(request);
    changed = time.now();
  };
  const isDocument = (request: Request): boolean =>
    request.isNavigationRequest() && request.frame() === page.mainFrame();
  // Data of a response is activity; a stream that sends nothing is not.
  devtools.on("Network.dataReceived", () => {
    changed = time.now();
  });
  page.on("response", (response) => {
    if (isDocument(response.request())) status = response.status();
  });
  page.on("request", (request) => {
    if (isDocument(request)) documentUrl = request.url();
    changed = time.now();
    seen += 1;
    if (seen <= MAX_REQUESTS && /^https?:/.test(request.url())) open.add(request);
  });
  page.on("requestfailed", (request) => {
    failed += 1;
    ended(request);
  });
  page.on("requestfinished", (request) => {
    if (!open.has(request)) return;
    const entry = loaded[KINDS[request.resourceType()] ?? "other"];
    entry.requests += 1;
    void count(request, entry).finally(() => ended(request));
  });
  return {
    loaded,
    failed: () => failed,
    inFlight: () => open.size,
    lastChange: () => changed,
    status: () => status,
    documentUrl: () => documentUrl,
  };
}

async function count(request: Request, entry: { bytes: number }): Promise<void> {
  // A closed page reports no sizes.
  const sizes = await request.sizes().catch(() => null);
  if (sizes !== null) entry.bytes += Math.max(0, sizes.responseHeadersSize) + Math.max(0, sizes.responseBodySize);
}

async function untilQuiet(
  page: { look(): Promise<Observed | null>; over(): boolean },
  traffic: Traffic,
  until: number,
  time: Time,
): Promise<{ readonly seen: Observed | null; readonly quiet: boolean }> {
  let seen: Observed | null = null;
  while (time.now() < until && !page.over()) {
    await time.sleep(LOOK_EVERY_MS);
    // A page that computes endlessly does not answer: the last snapshot counts.
    const look = await Promise.race([page.look(), time.sleep(until - time.now()).then(() => null)]);
    if (look === null) continue;
    seen = look;
    const { now, load, fcp, lastTaskEnd } = seen;
    const rested = time.now() - traffic.lastChange() >= QUIET_MS && traffic.inFlight() <= QUIET_REQUESTS;
    const painted = fcp === null ? load !== null && now - load > NO_PAINT_MS : now - fcp >= QUIET_MS;
    const loaded = load !== null && now - load >= QUIET_MS;
    if (loaded && painted && rested && now - lastTaskEnd >= QUIET_MS) return { seen, quiet: true };
  }
  return { seen, quiet: false };
}

/** Reads the observers of the current document; null while it is being replaced. */
async function observe(devtools: CDPSession): Promise<Observed | null> {
  try {
    const { frameTree } = await devtools.send("Page.getFrameTree");
    const world = { frameId: frameTree.frame.id, worldName: WORLD };
    const { executionContextId } = await devtools.send("Page.createIsolatedWorld", world);
    const { result } = await devtools.send("Runtime.evaluate", {
      expression: READ,
      contextId: executionContextId,
      returnByValue: true,
    });
    return readObserved(result.value);
  } catch {
    return null;
  }
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
