import { afterAll, afterEach, expect, it } from "vitest";
import { browserAccount } from "#shared/process/chromium.ts";
import { openGate } from "#probe-agent/net/browser/gate.ts";
import { runBrowser } from "#probe-agent/net/browser/run.ts";
import { conditionsOf } from "#probe-agent/analysis/page/pagespeed-conditions.ts";
import { pagespeed } from "#probe-agent/tools/pagespeed/pagespeed.ts";
import { agentBrowser, CHROMIUM, describeBrowser, FOREVER_MS, leftovers, loadOf } from "#test/browser/chromium.ts";
import { runningBrowser } from "#test/browser/running.ts";
import { startHttpServer, type Handler, type HttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { systemClock } from "#test/support/clock.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf, identityOf } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";
import { resultOf } from "#test/support/tool.ts";

const open: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

afterAll(async () => {
  // Waits for the end of the last browser, because this process would not.
  await leftovers();
});

async function serve(handler: Handler, more: Parameters<typeof startHttpServer>[0] = {}): Promise<HttpServer> {
  const server = await startHttpServer({ handler, ...more });
  open.push(server);
  return server;
}

/** Serves one page, and other paths as given. */
async function page(html: string, others: Readonly<Record<string, string>> = {}): Promise<HttpServer> {
  return await serve((_request, response, { path }) => {
    const body = path === "/" ? html : others[path];
    const type = path.endsWith(".js") ? "text/javascript" : path.endsWith(".css") ? "text/css" : "text/html";
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": type }).end(body);
    return true;
  });
}

const TEXT = "<!doctype html><title>x</title><h1>Hello</h1><p>text";

describeBrowser("a page in the agent's browser", () => {
  it("is measured: first byte, paints, shifts, tasks and bytes", async () => {
    const script = `addEventListener("load", () => setTimeout(() => {
      const end = Date.now() + 200; while (Date.now() < end);
      document.getElementById("late").style.height = "300px"; }, 300));`;
    const { url, requests } = await page(
      `<!doctype html><link rel=stylesheet href=/a.css><h1>Hello</h1><div id=late></div><p>pushed down<script src=/a.js></script>`,
      { "/a.css": "h1 { color: red }", "/a.js": script },
    );
    const load = loadOf(await agentBrowser()(`${url}/`));
    expect(load).toMatchObject({ finalUrl: `${url}/`, status: 200, quiet: true, cut: false, refusedConnections: 0 });
    expect(load.browser).toMatch(/^Chromium \d+\./);
    const { ttfbMs, fcpMs, lcpMs, tbtMs, cls, loadMs } = load;
    expect(ttfbMs).toBeGreaterThan(0);
    expect(fcpMs).toBeGreaterThanOrEqual(ttfbMs ?? Infinity);
    expect(lcpMs).toBeGreaterThanOrEqual(fcpMs ?? Infinity);
    expect(loadMs).toBeGreaterThan(ttfbMs ?? Infinity);
    // One task of 200 ms after the first paint, of which 50 ms do not count.
    expect(tbtMs).toBeGreaterThanOrEqual(140);
    expect(cls).toBeGreaterThan(0);
    expect(cls).toBeLessThan(1);
    expect(load.loaded).toMatchObject({
      document: { requests: 1 },
      stylesheet: { requests: 1 },
      script: { requests: 1 },
      image: { requests: 0 },
    });
    expect(load.loaded.script.bytes).toBeGreaterThan(script.length);
    expect(requests[0]?.headers.find(([name]) => name === "User-Agent")?.[1]).toMatch(/Chrome\/\d+.*Vantage\/test/);
  });

  it("is slower on a phone over slow 4G than on a desktop, and is displayed on its screen", async () => {
    const { url, requests } = await page(
      `${TEXT}<script>fetch("/seen?" + innerWidth + "x" + devicePixelRatio)</script>`,
    );
    const load = agentBrowser();
    const mobile = loadOf(await load(`${url}/`, { strategy: "mobile" }));
    // A busy machine delays paints, but not those of every load; it never makes a slow connection fast.
    let desktopMs = Infinity;
    for (let attempt = 0; attempt < 5 && desktopMs > (mobile.fcpMs ?? 0) - 200; attempt += 1) {
      desktopMs = Math.min(desktopMs, loadOf(await load(`${url}/`)).fcpMs ?? Infinity);
    }
    expect(mobile.fcpMs).toBeGreaterThan(desktopMs + 200);
    // Without a viewport element a phone lays out 980 pixels.
    const [seenMobile, seenDesktop] = requests.map(({ path }) => path).filter((path) => path.startsWith("/seen"));
    expect(seenDesktop).toBe("/seen?1350x1");
    expect(seenMobile).toMatch(/^\/seen\?98\dx1\.75$/);
  });

  it("is measured by the tool if PageSpeed Insights has no answer", async () => {
    const { url } = await page(TEXT);
    const browser = { executable: CHROMIUM ?? "", slots: 2, log: () => undefined };
    const result = await resultOf(pagespeed, { url }, { browser });
    expect(result).toMatchObject({
      source: "local",
      scores: { performance: expect.any(Number) as number, seo: null },
      metrics: { speed_index_ms: null, cls: 0 },
      loaded: { requests: expect.any(Number) as number },
      conditions: { throttling: "applied", cpu_slowdown: 4, width: 412 },
      lighthouse_version: null,
    });
    expect(result.limitations[0]).toContain("PageSpeed Insights is unavailable");
  });

  it("is followed over redirects, by HTTP and by script, and reported with its newest status", async () => {
    const site = await serve((_request, response, { path }) => {
      if (path === "/") response.writeHead(302, { location: "/two" }).end();
      else if (path === "/two")
        response.writeHead(200, { "content-type": "text/html" }).end("<script>location = '/three'</script>");
      else if (path === "/three") response.writeHead(404, { "content-type": "text/html" }).end(TEXT);
      else response.writeHead(404).end();
      return true;
    });
    expect(loadOf(await agentBrowser()(`${site.url}/`))).toMatchObject({ finalUrl: `${site.url}/three`, status: 404 });
  });

  it("may have any certificate", async () => {
    const pki = await createPki();
    const leaf = await pki.issue({ ip: ["127.0.0.1"] });
    const site = await serve(
      (_request, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end(TEXT);
        return true;
      },
      { tls: identityOf(leaf), h2: true },
    );
    expect(loadOf(await agentBrowser()(`${site.url}/`)).status).toBe(200);
  });

  it("is not blocked by dialogs, pop-ups, prints and downloads", async () => {
    const { url } = await page(
      `${TEXT}<script>alert(1); confirm(2); prompt(3); open("/popup"); onbeforeunload = () => "stay"; print();
       const a = document.createElement("a"); a.href = "data:application/octet-stream,x"; a.download = "x"; a.click();</script>`,
    );
    expect(loadOf(await agentBrowser()(`${url}/`)).quiet).toBe(true);
  });

  it("cannot change the observers, which run in an isolated world", async () => {
    const { url } = await page(
      `${TEXT}<script>PerformanceObserver = undefined; performance.getEntriesByType = () => []; JSON.stringify = () => "{}";
       Object.defineProperty(globalThis, "seen", { value: { fcp: 1 } }); performance.now = () => -1;</script>`,
    );
    const load = loadOf(await agentBrowser()(`${url}/`));
    expect(load.fcpMs).toBeGreaterThan(1);
    expect(load.ttfbMs).toBeGreaterThan(0);
  });

  it("has no paint if it shows nothing", async () => {
    const { url } = await page("<!doctype html><body>");
    expect(loadOf(await agentBrowser()(`${url}/`))).toMatchObject({
      fcpMs: null,
      lcpMs: null,
      tbtMs: null,
      cls: null,
      quiet: true,
    });
  });
});

describeBrowser("a page that does not come", () => {
  it("fails for the reason that the gate reports", async () => {
    const load = agentBrowser();
    expect(failureOf(await load(`http://127.0.0.1:${await freePort()}/`))).toBe("connect/target/refused");
    expect(failureOf(await load("http://10.0.0.1/"))).toBe("refused");
  });

  it.each([
    ["closes at once", (socket: { destroy(): void }) => socket.destroy(), /^response\/target\/(closed|reset)$/],
    [
      "sends what is no page",
      (socket: { destroy(): void; end(text: string): void }) => socket.end("HTTP/1.1 204 No Content\r\n\r\n"),
      /no_document/,
    ],
    [
      "redirects to a file",
      (socket: { destroy(): void; end(text: string): void }) =>
        socket.end("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
      /bad_location/,
    ],
    [
      "redirects without end",
      (socket: { destroy(): void; end(text: string): void }) =>
        socket.end("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
      /too_many_redirects/,
    ],
  ])("fails if its server %s", async (_what, act, expected) => {
    const site = await serve((request) => {
      act(request.socket);
      return true;
    });
    expect(failureOf(await agentBrowser()(`${site.url}/`))).toMatch(expected);
  });

  it("fails if TLS fails", async () => {
    const site = await page(TEXT);
    expect(failureOf(await agentBrowser()(site.url.replace("http:", "https:")))).toMatch(/^tls\/target\//);
  });
});

describeBrowser("the browser itself", () => {
  it("requests nothing except the page", async () => {
    const { url, port } = await page(TEXT);
    const limits = jobLimits(30_000);
    const gate = await openGate({ egress: loopbackEgress, dns: dnsPort([], { limits }), clock: systemClock, limits });
    const program = { executable: CHROMIUM ?? "", account: browserAccount() };
    const order = { ...program, port: gate.port, url, userAgent: "x", picture: null, budgetMs: 25_000 };
    const run = await runBrowser({ ...order, conditions: conditionsOf("desktop") }, limits.signal);
    const end = await run.end;
    await run.gone;
    gate.close();
    expect(end.kind).toBe("loaded");
    expect(gate.asked()).toEqual([`127.0.0.1:${port}`]);
  });

  it("leaves no process and no folder behind", async () => {
    const { url } = await page(TEXT);
    loadOf(await agentBrowser()(`${url}/`));
    expect(await leftovers()).toEqual([]);
  });

  it.each(["/bin/false", "/bin/true", "/nonexistent/chromium"])(
    "fails as the probe's failure if the browser does not run: %s",
    async (executable) => {
      const lines: string[] = [];
      const { url } = await page(TEXT);
      expect(failureOf(await agentBrowser({ executable, log: (line) => lines.push(line) })(`${url}/`))).toBe(
        "request/probe/browser_failed",
      );
      expect(lines).toHaveLength(1);
      expect(await leftovers()).toEqual([]);
    },
  );

  it("is loaded alone, and a caller without time to wait is refused with the reason", async () => {
    const { url } = await page(TEXT);
    const load = agentBrowser();
    const first = load(`${url}/`);
    const [busy, second] = await Promise.all([load(`${url}/`, { timeoutMs: 5500 }), load(`${url}/`)]);
    expect(failureOf(busy)).toBe("request/probe/browser_busy");
    expect([loadOf(await first).quiet, loadOf(second).quiet]).toEqual([true, true]);
  });

  it("has a short queue", async () => {
    const { url } = await page(TEXT);
    const load = agentBrowser();
    const abort = new AbortController();
    const loads = Array.from({ length: 8 }, () => load(`${url}/`, { signal: abort.signal }));
    const early = await Promise.race(loads);
    expect(failureOf(early)).toBe("request/probe/browser_busy");
    abort.abort();
    await Promise.all(loads);
    expect(await leftovers()).toEqual([]);
  });
});

describeBrowser("a page that takes too much", () => {
  it.each([
    ["computes without end", "<h1>x</h1><script>for (;;);</script>"],
    [
      "computes without end once it is painted",
      `${TEXT}<script>addEventListener("load", () => setTimeout(() => { for (;;); }, 500))</script>`,
    ],
    [
      "floods the console",
      `${TEXT}<script>setInterval(() => { for (let n = 0; n < 2000; n++) console.log("x".repeat(1000)); }, 1)</script>`,
    ],
    [
      "requests without end",
      `${TEXT}<script>setInterval(() => { for (let n = 0; n < 100; n++) fetch("/" + Math.random()).catch(() => 0); }, 1)</script>`,
    ],
    ["navigates without end", "<script>setInterval(() => location.reload(), 1)</script>"],
    [
      "makes elements without end",
      `${TEXT}<script>setInterval(() => { for (let n = 0; n < 5000; n++) document.body.append(document.createElement("p")); }, 1)</script>`,
    ],
  ])("ends in time: %s", async (_what, html) => {
    const { url } = await page(html);
    const timeoutMs = 12_000;
    const outcome = await endsBy(timeoutMs, () => agentBrowser()(`${url}/`, { timeoutMs }));
    if (outcome.status !== "ok") expect(failureOf(outcome)).toMatch(/^response\/target\//);
    expect(await leftovers()).toEqual([]);
  });

  it("is ended before it uses up the machine's memory", async () => {
    const { url } = await page(
      `${TEXT}<script>const held = []; setInterval(() => { const piece = new Uint8Array(64 << 20); piece.fill(1); held.push(piece); }, 20)</script>`,
    );
    expect(failureOf(await agentBrowser()(`${url}/`, { timeoutMs: FOREVER_MS }))).toMatch(
      /^response\/target\/(browser_memory|page_crashed)$/,
    );
    expect(await leftovers()).toEqual([]);
  });

  it("is not idle while a response still arrives", async () => {
    let pieces = 0;
    const site = await serve((_request, response, { path }) => {
      response.writeHead(200, { "content-type": "text/html" });
      if (path === "/") response.end(`${TEXT}<script>fetch("/long").then((answer) => answer.arrayBuffer())</script>`);
      else if (path !== "/long") response.end();
      else {
        // Slowly, and for longer than a page is quiet before it counts as idle.
        const more = setInterval(() => {
          pieces += 1;
          response.write(Buffer.alloc(1 << 16));
          if (pieces < 100) return;
          clearInterval(more);
          response.end();
        }, 50);
        response.once("close", () => clearInterval(more));
      }
      return true;
    });
    expect(loadOf(await agentBrowser()(`${site.url}/`)).quiet).toBe(true);
    expect(pieces).toBe(100);
  });

  it("is idle although a silent stream is open", async () => {
    const site = await serve((_request, response, { path }) => {
      if (path === "/") {
        response
          .writeHead(200, { "content-type": "text/html" })
          .end(`${TEXT}<script>new EventSource("/events")</script>`);
      } else response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return true;
    });
    expect(loadOf(await agentBrowser()(`${site.url}/`)).quiet).toBe(true);
  });

  it("ends when the process of its browser dies, as the probe's failure", async () => {
    const site = await serve((_request, response, { path }) => {
      if (path === "/") response.writeHead(200, { "content-type": "text/html" }).end(`${TEXT}<script src=/x></script>`);
      else process.kill(runningBrowser().browser ?? expect.fail("no browser runs"), "SIGKILL");
      return true;
    });
    expect(failureOf(await agentBrowser()(`${site.url}/`, { timeoutMs: FOREVER_MS }))).toBe(
      "request/probe/browser_failed",
    );
    expect(await leftovers()).toEqual([]);
  });

  it("ends with its job, when that is cancelled and not when its time is over", async () => {
    const abort = new AbortController();
    const site = await serve((_request, response, { path }) => {
      if (path === "/") response.writeHead(200, { "content-type": "text/html" }).end(`${TEXT}<script src=/x></script>`);
      else abort.abort();
      return true;
    });
    const outcome = await agentBrowser()(`${site.url}/`, { signal: abort.signal, timeoutMs: FOREVER_MS });
    expect(outcome.status).not.toBe("ok");
    expect(await leftovers()).toEqual([]);
  });
});
