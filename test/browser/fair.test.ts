import { afterAll, beforeAll, expect, it } from "vitest";
import { createBrowser } from "#probe-agent/net/browser.ts";
import { CHROMIUM, describeBrowser, FOREVER_MS, leftovers } from "#test/browser/chromium.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { systemClock } from "#test/support/clock.ts";
import { failureOf, TEST_AGENT } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";
import { until } from "#test/support/until.ts";

const ENDLESS =
  "<script>onload = () => setInterval(() => { for (const end = Date.now() + 900; Date.now() < end; ); }, 1000)</script>";

let site: HttpServer;
const asked: string[] = [];
beforeAll(async () => {
  site = await startHttpServer({
    handler: (_request, response, { path }) => {
      asked.push(path);
      response.writeHead(200, { "content-type": "text/html" }).end(path === "/endless" ? ENDLESS : "<p>page");
      return true;
    },
  });
});
afterAll(async () => {
  await site?.close();
  await leftovers();
});

describeBrowser("the browser of an agent", () => {
  it("takes the picture of one account while endless pages of another fill its queue", async () => {
    const browserFor = createBrowser({
      executable: CHROMIUM ?? "",
      slots: 2,
      clock: systemClock,
      egress: loopbackEgress,
      userAgent: TEST_AGENT,
      log: () => undefined,
    });
    const stop = new AbortController();
    const capture = (account: string, path: string, waitMs: number) => {
      const limits = { ...jobLimits(2 * FOREVER_MS, stop.signal), account };
      const dns = dnsPort(["127.0.0.1:9"], { limits });
      const request = { url: `${site.url}${path}`, width: 640, height: 400, fullPage: false, waitMs };
      return browserFor(limits, dns).capture({ ...request, timeoutMs: FOREVER_MS });
    };
    let ended = 0;
    const endless = Array.from({ length: 17 }, () =>
      capture("a", "/endless", FOREVER_MS / 2).finally(() => (ended += 1)),
    );
    await until(() => asked.includes("/endless"), "an endless page loads");
    expect((await capture("b", "/", 0)).status).toBe("ok");
    expect((await capture("c", "/", 0)).status).toBe("ok");
    // No picture of the first account was taken meanwhile, and its queue is full.
    expect(ended).toBe(0);
    expect(asked.filter((path) => path === "/endless")).toHaveLength(1);
    expect(failureOf(await capture("a", "/", 0))).toBe("request/probe/browser_busy");
    stop.abort();
    await Promise.all(endless);
  });
});
