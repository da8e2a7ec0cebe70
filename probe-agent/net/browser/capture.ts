import type { CDPSession, Page, Request } from "playwright-core";
import { mostHeight } from "#shared/monitor-checks/monitor-visual.ts";
import { MAX_ARTIFACT_BYTES } from "#shared/protocol/wire.ts";
import type { OpenBrowser } from "#probe-agent/net/browser/chromium.ts";
import type { BrowserOrder, FromBrowser } from "#probe-agent/net/browser/messages.ts";
import { navigate, watchEnd, type Ending } from "#probe-agent/net/browser/navigate.ts";
import { WORLD } from "#probe-agent/net/browser/page-script.ts";

/** Monotonic milliseconds and a wait. */
interface Time {
  now(): number;
  sleep(ms: number): Promise<void>;
}

type End = Exclude<FromBrowser, { readonly kind: "started" | "loaded" | "out_of_memory" }>;

/** Time that is kept for the picture itself, in milliseconds: the largest takes 3 s on a slow machine. */
const PICTURE_MS = 4_000;
/** How long no request may be open before the page counts as loaded, in milliseconds. */
const IDLE_MS = 300;
/** The same with a few open requests, because streams and long polls never end. */
const NEARLY_IDLE_MS = 2_000;
const NEARLY_IDLE_REQUESTS = 2;
const LOOK_EVERY_MS = 50;
/** Maximum time for scrolling, and for fonts and images, in milliseconds each. */
const SCRIPT_MS = 4_000;

/** Expression that waits for fonts and for images that have arrived, and puts media to their beginning. */
const SETTLE = `(async () => {
  for (const media of [...document.querySelectorAll("video, audio")].slice(0, 100)) {
    media.pause();
    try { media.currentTime = 0; } catch {}
  }
  const images = [...document.images].filter((image) => image.complete).slice(0, 1000);
  await Promise.all([document.fonts.ready, ...images.map((image) => image.decode().catch(() => undefined))]);
})()`;

/** Loads a page and takes its picture. A page that does not finish loading is shown as it is when its time ends. */
export async function capturePage(
  { page, devtools }: OpenBrowser,
  { url, conditions, picture }: Pick<BrowserOrder, "url" | "conditions" | "picture">,
  budgetMs: number,
  time: Time,
): Promise<End> {
  const { fullPage, waitMs } = picture ?? { fullPage: false, waitMs: 0 };
  const startedAt = time.now();
  const until = startedAt + budgetMs;
  const requests = watchRequests(page, time);
  const ending = watchEnd(page, time);
  const failure = await navigate(page, ending, { url, budgetMs, documentUrl: requests.documentUrl });
  if (failure !== null) return failure;
  const loadedBy = Math.max(time.now(), until - waitMs - PICTURE_MS);
  await Promise.race([waitForLoad(page, loadedBy - time.now()), ending.happened]);
  const responseMs = Math.round(time.now() - startedAt);
  const height = mostHeight(conditions.width);
  if (fullPage)
    await evaluate(devtools, ending, scrollThrough(height), Math.min(SCRIPT_MS, loadedBy - time.now()), time);
  while (time.now() < loadedBy && !requests.areIdle() && ending.now() === null) await time.sleep(LOOK_EVERY_MS);
  await Promise.race([time.sleep(Math.min(waitMs, until - PICTURE_MS - time.now())), ending.happened]);
  await evaluate(devtools, ending, SETTLE, Math.min(SCRIPT_MS, (until - time.now()) / 3), time);
  const early = ending.now();
  if (early !== null) return early;
  // Its scripts navigated to an address that could not be loaded, so the document is Chromium's own error page.
  if (!/^https?:/.test(page.url()))
    return { kind: "no_document", error: "net::ERR_ABORTED", url: requests.documentUrl() ?? url };
  const clip = { x: 0, y: 0, width: conditions.width, height };
  const png = await Promise.race([
    page
      .screenshot({
        type: "png",
        animations: "disabled",
        caret: "hide",
        scale: "css",
        timeout: Math.max(1, until - time.now()),
        ...(fullPage ? { fullPage, clip } : {}),
      })
      .catch(() => null),
    ending.happened,
  ]);
  if (png === null) return (await ending.afterFailure()) ?? { kind: "unresponsive" };
  if (png.length > MAX_ARTIFACT_BYTES) return { kind: "picture_too_large", bytes: png.length };
  return { kind: "captured", capture: { png, status: requests.status(), responseMs } };
}

async function waitForLoad(page: Page, timeoutMs: number): Promise<void> {
  // 0 would mean without limit.
  await page.waitForLoadState("load", { timeout: Math.max(1, timeoutMs) }).catch(() => undefined);
}

/** Runs a script in an isolated world, which the page cannot change, for a limited time. Its failure is ignored. */
async function evaluate(
  devtools: CDPSession,
  ending: Ending,
  expression: string,
  timeoutMs: number,
  time: Time,
): Promise<void> {
  if (timeoutMs <= 0) return;
  const run = async (): Promise<void> => {
    const { frameTree } = await devtools.send("Page.getFrameTree");
    const world = { frameId: frameTree.frame.id, worldName: WORLD };
    const { executionContextId } = await devtools.send("Page.createIsolatedWorld", world);
    await devtools.send("Runtime.evaluate", { expression, contextId: executionContextId, awaitPromise: true });
  };
  await Promise.race([run().catch(() => undefined), time.sleep(timeoutMs), ending.happened]);
}

/** The requests of a page. */
interface Requests {
  /** Reports whether the page loads nothing more, except for streams. */
  areIdle(): boolean;
  /** HTTP status of the newest document. */
  status(): number | null;
  readonly documentUrl: () => string | null;
}

function watchRequests(page: Page, time: Time): Requests {
  const open = new Set<Request>();
  let changed = time.now();
  let status: number | null = null;
  let documentUrl: string | null = null;
  const isDocument = (request: Request): boolean =>
    request.isNavigationRequest() && request.frame() === page.mainFrame();
  const ended = (request: Request): void => {
    if (open.delete(request)) changed = time.now();
  };
  page.on("request", (request) => {
    if (isDocument(request)) documentUrl = request.url();
    if (!/^https?:/.test(request.url())) return;
    open.add(request);
    changed = time.now();
  });
  page.on("response", (response) => {
    if (isDocument(response.request())) status = response.status();
  });
  page.on("requestfinished", ended);
  page.on("requestfailed", ended);
  return {
    areIdle() {
      const restedMs = time.now() - changed;
      return open.size === 0 ? restedMs >= IDLE_MS : open.size <= NEARLY_IDLE_REQUESTS && restedMs >= NEARLY_IDLE_MS;
    },
    status: () => status,
    documentUrl: () => documentUrl,
  };
}

/**
 * Expression that scrolls through the first `height` pixels of a page and back, so that images that load when they
 * become visible are loaded. It ends when the page does, after at most 50 steps.
 */
function scrollThrough(height: number): string {
  return `(async () => {
  const step = Math.max(200, innerHeight);
  const pause = () => new Promise((done) => setTimeout(done, 50));
  for (let y = step, steps = 0; y < Math.min(${height}, document.documentElement.scrollHeight) && steps < 50; y += step, steps += 1) {
    scrollTo({ top: y, behavior: "instant" });
    await pause();
  }
  scrollTo({ top: 0, behavior: "instant" });
  await pause();
})()`;
}
