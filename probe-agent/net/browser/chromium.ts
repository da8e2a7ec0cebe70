import type { Browser, CDPSession, Page } from "playwright-core";
import type { Account } from "#shared/process/system-account.ts";
import type { BrowserOrder } from "#probe-agent/net/browser/messages.ts";

/** A running browser with one empty page under the requested conditions. */
export interface OpenBrowser {
  readonly page: Page;
  /** The page's DevTools session, for functions that playwright lacks. */
  readonly devtools: CDPSession;
  /** Version of the browser, e.g. "156.0.8078.79". */
  readonly version: string;
  /** Id of the main process, which leads its own process group. */
  readonly pid: number;
  /** Returns the ids of all processes of the browser. */
  processes(): Promise<number[]>;
  close(): Promise<void>;
}

/** Further flags of a browser that takes a picture: the same page gives the same pixels. */
const PICTURE_FLAGS: readonly string[] = [
  // An image is decoded before the frame that shows it is drawn.
  "--disable-checker-imaging",
  // Animated images (GIF, WebP, APNG) show their first frame (third_party/blink/public/mojom/webpreferences).
  "--blink-settings=imageAnimationPolicy=2",
  "--disable-lcd-text",
  "--font-render-hinting=none",
  "--force-color-profile=srgb",
];

/** Starts the program of an order in its sandbox. This process becomes the account of the order, too. */
export async function openBrowser(order: BrowserOrder): Promise<OpenBrowser> {
  // The import takes 0.5 s, so only this process loads it.
  const { chromium } = await import("playwright-core");
  // Only now, because another user may not be able to read the files of this program.
  if (order.account !== null) become(order.account);
  const browser = await chromium.launch({
    executablePath: order.executable,
    headless: true,
    chromiumSandbox: true,
    args: [...browserFlags(order.port), ...(order.picture === null ? [] : PICTURE_FLAGS)],
    env: browserEnvironment(order.folder),
    timeout: order.budgetMs,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const system = await browser.newBrowserCDPSession();
  const processes = async (): Promise<number[]> => {
    const { processInfo } = await system.send("SystemInfo.getProcessInfo");
    return processInfo.map(({ id }) => id);
  };
  const [pid = 0] = await processes();
  const page = await openPage(browser, order);
  const devtools = await page.context().newCDPSession(page);
  if (order.picture === null) await emulate(devtools, order);
  return { page, devtools, version: browser.version(), pid, processes, close: () => browser.close() };
}

/** Gives up the rights of root for good. */
function become({ uid, gid }: Account): void {
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/** What pages can adapt to is the same for every picture. */
const STEADY = { reducedMotion: "reduce", colorScheme: "light", timezoneId: "UTC" } as const;

async function openPage(browser: Browser, { conditions, userAgent, picture }: BrowserOrder): Promise<Page> {
  const { width, height, deviceScaleFactor, mobile } = conditions;
  const [major = ""] = browser.version().split(".");
  // The devices that Lighthouse names (core/config/constants.js), followed by our own product.
  const platform = mobile ? "Linux; Android 11; moto g power (2022)" : "Macintosh; Intel Mac OS X 10_15_7";
  const product = `Chrome/${major}.0.0.0${mobile ? " Mobile" : ""} Safari/537.36`;
  const context = await browser.newContext({
    viewport: { width, height },
    screen: { width, height },
    deviceScaleFactor,
    isMobile: mobile,
    hasTouch: mobile,
    userAgent: `Mozilla/5.0 (${platform}) AppleWebKit/537.36 (KHTML, like Gecko) ${product} ${userAgent}`,
    locale: "en-US",
    acceptDownloads: false,
    serviceWorkers: "block",
    // Sites with an invalid certificate are measured too; the ssl tool checks the certificate.
    ignoreHTTPSErrors: true,
    ...(picture === null ? {} : STEADY),
  });
  const page = await context.newPage();
  context.on("page", (other) => {
    if (other !== page) void other.close().catch(() => undefined);
  });
  return page;
}

const BITS = 8;

async function emulate(devtools: CDPSession, { conditions }: BrowserOrder): Promise<void> {
  const { requestLatencyMs, downloadKbps, uploadKbps, cpuSlowdown } = conditions;
  const bytesPerSecond = (kbps: number): number => Math.floor((kbps * 1024) / BITS);
  await devtools.send("Network.enable");
  await devtools.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: requestLatencyMs,
    downloadThroughput: bytesPerSecond(downloadKbps),
    uploadThroughput: bytesPerSecond(uploadKbps),
  });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: cpuSlowdown });
}

/**
 * Returns the flags of a browser that can reach only its gate (`port`, a SOCKS5 proxy on loopback) and stores nothing.
 * playwright adds other flags itself (profile, pipe, no extensions, sync, updates or background traffic).
 */
function browserFlags(port: number): string[] {
  return [
    // Sends all traffic to the gate, including loopback. Names are resolved only there (Chromium's own advice for
    // SOCKS).
    `--proxy-server=socks5://127.0.0.1:${port}`,
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    // UDP bypasses the proxy: QUIC, WebTransport, WebRTC, and discovery of devices by multicast.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--media-router=0",
    // Chromium's own requests to Google; the two that no flag turns off go to a port where it never connects.
    "--component-updater=url-source=http://127.0.0.1:9/",
    "--gaia-url=http://127.0.0.1:9/",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-gpu",
    "--disable-crash-reporter",
    "--no-first-run",
    "--no-pings",
    // Limits of one page.
    "--renderer-process-limit=4",
    "--js-flags=--max-old-space-size=512",
    "--disk-cache-size=1",
    "--media-cache-size=1",
  ];
}

/** Returns the environment of the browser and its wrapper script. It contains nothing of the agent's environment. */
function browserEnvironment(folder: string): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: folder,
    TMPDIR: folder,
    XDG_CONFIG_HOME: folder,
    XDG_CACHE_HOME: folder,
    LANG: "C.UTF-8",
  };
}
