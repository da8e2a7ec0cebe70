import { randomUUID } from "node:crypto";
import { afterAll, afterEach, expect, it } from "vitest";
import { MAX_ARTIFACT_BYTES } from "#shared/protocol/wire.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { createBrowser } from "#probe-agent/net/browser.ts";
import type { Capture, CaptureRequest } from "#probe-agent/port/browser.ts";
import { decodePng } from "#control-plane/watching/pictures/compare/png.ts";
import { CHROMIUM, describeBrowser, FOREVER_MS, leftovers, LOAD_MS } from "#test/browser/chromium.ts";
import { runningBrowser } from "#test/browser/running.ts";
import { startHttpServer, type Handler, type HttpServer } from "#test/servers/http.ts";
import { systemClock } from "#test/support/clock.ts";
import { failureOf, TEST_AGENT } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";

const open: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});
afterAll(async () => {
  await leftovers();
});

async function serve(handler: Handler): Promise<string> {
  const server = await startHttpServer({ handler });
  open.push(server);
  return `${server.url}/`;
}

const page = (html: string): Promise<string> =>
  serve((_request, response, { path }) => {
    if (path === "/")
      response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>x</title>${html}`);
    else response.writeHead(404).end();
    return true;
  });

const logged: string[] = [];
const browserFor = createBrowser({
  executable: CHROMIUM ?? "",
  slots: 2,
  clock: systemClock,
  egress: loopbackEgress,
  userAgent: TEST_AGENT,
  log: (line) => void logged.push(line),
});

async function capture(url: string, over: Partial<CaptureRequest> = {}): Promise<Outcome<Capture>> {
  // An account of its own: on a slow machine the pages of one test use up an account's time of the browser.
  const limits = { ...jobLimits((over.timeoutMs ?? LOAD_MS) + 10_000), account: randomUUID() };
  const dns = dnsPort(["127.0.0.1:9"], { egress: loopbackEgress, limits });
  const request = { url, width: 640, height: 400, fullPage: false, waitMs: 0, timeoutMs: LOAD_MS, ...over };
  return browserFor(limits, dns).capture(request);
}

async function picture(url: string, over: Partial<CaptureRequest> = {}) {
  const outcome = await capture(url, over);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  const pixels = decodePng(Buffer.from(outcome.data.png));
  if (pixels === null) throw new Error("the picture cannot be decoded");
  const at = (x: number, y: number) => [
    ...pixels.data.subarray((y * pixels.width + x) * 4, (y * pixels.width + x) * 4 + 3),
  ];
  return { ...outcome.data, ...pixels, at };
}

const RED = [255, 0, 0];

describeBrowser("a picture of a page", () => {
  it("has the size of the viewport, shows the page, and comes with its status", async () => {
    const shown = await picture(await page("<body style='margin:0;background:red'>"));
    expect(shown).toMatchObject({ width: 640, height: 400, status: 200 });
    expect([shown.at(0, 0), shown.at(639, 399)]).toEqual([RED, RED]);
    expect(shown.responseMs).toBeGreaterThan(0);
  });

  it("of the whole page has its height, at most 10,000 pixels, and shows images that load when scrolled to", async () => {
    const dot =
      "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='50' height='50'><rect width='50' height='50' fill='red'/></svg>";
    const html = `<body style="margin:0"><div style="height:3000px"></div><img loading=lazy style="display:block" src="${dot}">`;
    const shown = await picture(await page(html), { fullPage: true });
    expect(shown).toMatchObject({ width: 640, height: 3050 });
    expect(shown.at(10, 3020)).toEqual(RED);
    const endless = `<body style="margin:0"><script>setInterval(() => { document.body.append(Object.assign(document.createElement("div"), { style: "height:900px" })) }, 5)</script>`;
    expect(await picture(await page(endless), { fullPage: true })).toMatchObject({ width: 640, height: 10_000 });
  });

  it("waits as long as requested, and for requests that scripts make after the load", async () => {
    const redAfter = (ms: number) =>
      page(`<body><script>setTimeout(() => { document.body.style.background = 'red' }, ${ms})</script>`);
    expect((await picture(await redAfter(2 * LOAD_MS))).at(5, 300)).not.toEqual(RED);
    expect((await picture(await redAfter(500), { waitMs: 3_500 })).at(5, 300)).toEqual(RED);
    const fetching = await serve((_request, response, { path }) => {
      if (path === "/") {
        response
          .writeHead(200, { "content-type": "text/html" })
          .end(
            "<body><script>onload = () => fetch('/slow').then(() => { document.body.style.background = 'red' })</script>",
          );
      } else setTimeout(() => response.end("x"), 1_200);
      return true;
    });
    expect((await picture(fetching)).at(5, 300)).toEqual(RED);
  });

  it("shows animations at their end, endless ones and moving carets at their beginning, whatever the moment", async () => {
    const html = `<style>@keyframes a { from { background: blue } to { background: red } }
      @keyframes b { from { left: 0 } to { left: 500px } }
      #a { height: 50px; animation: a 60s forwards } #b { position: relative; width: 20px; height: 20px; background: green; animation: b 1s infinite }</style>
      <body style="margin:0"><div id=a></div><div id=b></div><input autofocus><textarea>text</textarea>`;
    const url = await page(html);
    const [one, other] = [await picture(url), await picture(url, { waitMs: 330 })];
    expect(one.at(5, 5)).toEqual(RED);
    expect(Buffer.compare(one.png, other.png)).toBe(0);
  });
});

describeBrowser("a hostile page", () => {
  it("with dialogs, pop-ups, prints and downloads has a picture", async () => {
    const html = `<body style="margin:0;background:red"><script>alert(1); confirm(2); prompt(3); window.close(); open("", "_self")?.close(); open("/popup"); print();
      onbeforeunload = () => "stay"; const a = document.createElement("a"); a.href = "data:application/octet-stream,x"; a.download = "x"; a.click();</script>`;
    expect((await picture(await page(html))).at(300, 300)).toEqual(RED);
  });

  it("whose fonts and images never arrive has a picture after its time", async () => {
    const url = await serve((_request, response, { path }) => {
      if (path === "/")
        response
          .writeHead(200, { "content-type": "text/html" })
          .end(
            "<!doctype html><style>@font-face { font-family: f; src: url(/font) } p { font-family: f }</style><body style='margin:0;background:red'><p>x<img src=/image>",
          );
      return true;
    });
    expect((await picture(url, { timeoutMs: 12_000 })).at(300, 300)).toEqual(RED);
  });

  it("that computes without end fails, and the next page has its picture", async () => {
    const busy = await page("<body><script>onload = () => { for (;;); }</script>");
    expect(failureOf(await capture(busy, { timeoutMs: 10_000 }))).toMatch(
      /^response\/target\/(page_unresponsive|timeout)$/,
    );
    expect((await picture(await page("<body style='background:red'>"))).status).toBe(200);
  });

  it("that crashes the browser or takes all memory fails, and the next page has its picture", async () => {
    const crash = await page("<body><script>location = 'chrome://crash'</script>");
    const first = await capture(crash);
    expect(first.status).toBe("ok"); // a page may not navigate there
    const greedy = await page(
      "<body><script>const all = []; const grow = () => { for (let i = 0; i < 8; i += 1) all.push(new Uint8Array(4e7).fill(1)); setTimeout(grow, 1); }; grow();</script>",
    );
    expect(failureOf(await capture(greedy, { waitMs: 10_000, timeoutMs: 30_000 }))).toMatch(
      /^response\/target\/(browser_memory|page_crashed|page_unresponsive|timeout)$/,
    );
    expect((await picture(await page("<body style='background:red'>"))).status).toBe(200);
  });

  it("whose scripts use up their heap crashes its renderer, and the next page has its picture", async () => {
    const greedy = await page("<body><script>const all = []; for (;;) all.push(new Array(1e6).fill(1.5));</script>");
    expect(await capture(greedy)).toMatchObject({ status: "failed", source: "target", reason: "page_crashed" });
    await expectSoundBrowser();
  });

  it.each([
    [
      "what is quick to read fails at the limit of one page",
      "<!--",
      "x".repeat(1024 * 1024),
      LOAD_MS,
      /page_too_large/,
    ],
    [
      "elements fails at the latest when its time ends",
      "<p>",
      "<p>x".repeat(256 * 1024),
      // A host has not built 256 MB of elements when the check ends.
      12_000,
      /page_unresponsive|page_too_large|memory|timeout/,
    ],
  ])(
    "that sends without end %s, and the next page has its picture",
    async (_what, start, chunk, timeoutMs, expected) => {
      const url = await serve((_request, response) => {
        response.writeHead(200, { "content-type": "text/html" });
        response.write(start);
        const more = (): void => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once("drain", more);
        };
        more();
        return true;
      });
      expect(failureOf(await capture(url, { timeoutMs }))).toMatch(expected);
      expect((await picture(await page("<body style='background:red'>"))).status).toBe(200);
    },
  );

  it("whose picture is larger than 4 MB fails with the size", async () => {
    const noise = `<body style="margin:0"><canvas width=1600 height=1200></canvas><script>
      const c = document.querySelector("canvas").getContext("2d"); const d = c.createImageData(1600, 1200);
      for (let i = 0; i < d.data.length; i += 1) d.data[i] = i % 4 === 3 ? 255 : Math.random() * 256; c.putImageData(d, 0, 0);</script>`;
    const outcome = await capture(await page(noise), { width: 1600, height: 1200 });
    expect(failureOf(outcome)).toBe("response/target/picture_too_large");
    expect(MAX_ARTIFACT_BYTES).toBe(4 * 1024 * 1024);
  });

  it("that is a download has no picture, which is no fault of the browser, and its address is in no log", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "application/zip", "content-disposition": "attachment" }).end("x");
      return true;
    });
    expect(failureOf(await capture(`${url}file.zip?token=secret`))).toBe("response/target/no_document");
    expect(logged.join("\n")).not.toContain("secret");
  });

  it("inside a private network has no picture", async () => {
    expect(failureOf(await capture("http://10.0.0.1/"))).toBe("refused");
  });
});

/** The next page has its picture, and nothing is left of the browsers before. */
async function expectSoundBrowser(): Promise<void> {
  expect((await picture(await page("<body style='margin:0;background:red'>"))).at(5, 5)).toEqual(RED);
  expect(await leftovers()).toEqual([]);
}

/** Moments of a check: before the document arrives, while the page loads, and while its picture is waited for. */
const MOMENTS = ["the document", "a script", "the wait"] as const;

/**
 * Takes a picture of a page during which `kill` is called once at this moment. The check and its wait may last longer
 * than the test: it ends because of the death.
 */
async function captureDuring(moment: (typeof MOMENTS)[number], kill: () => void) {
  let isKilled = false;
  const act = (): void => {
    if (isKilled) return;
    isKilled = true;
    kill();
  };
  const url = await serve((_request, response, { path }) => {
    if (path === "/" && moment === "the document") setTimeout(act, 100);
    else if (path === "/") {
      const script = moment === "a script" ? "<script src=/script></script>" : "";
      response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><p>x</p>${script}`);
      if (moment === "the wait") setTimeout(act, 2_000);
    } else if (path === "/script") setTimeout(act, 100);
    else response.writeHead(404).end();
    return true;
  });
  const waitMs = moment === "the wait" ? FOREVER_MS / 2 : 0;
  return capture(url, { waitMs, timeoutMs: FOREVER_MS });
}

describeBrowser("a process that dies during a check", () => {
  it.each(["a script", "the wait"] as const)(
    "if it is the renderer, during %s, the page has crashed, and the next page has its picture",
    async (moment) => {
      const outcome = await captureDuring(moment, () => {
        const { renderers } = runningBrowser();
        expect(renderers.length).toBeGreaterThan(0);
        // Each is the first process of a namespace, which survives other signals whose handler raises them again.
        for (const pid of renderers) process.kill(pid, "SIGKILL");
      });
      expect(outcome).toMatchObject({
        status: "failed",
        source: "target",
        reason: "page_crashed",
        message: "the page crashed the browser process",
      });
      await expectSoundBrowser();
    },
  );

  it.each(MOMENTS)(
    "if it is the browser, during %s, the check fails at once as the probe's, and the next page has its picture",
    async (moment) => {
      const outcome = await captureDuring(moment, () => {
        process.kill(runningBrowser().browser ?? expect.fail("no browser runs"), "SIGKILL");
      });
      expect(outcome).toMatchObject({
        status: "failed",
        source: "probe",
        reason: "browser_failed",
        message: "the agent's browser did not start, or it failed",
      });
      await expectSoundBrowser();
    },
  );

  it("if it is the one that drives the browser, no browser is left, and the next page has its picture", async () => {
    const outcome = await captureDuring("the wait", () => {
      process.kill(runningBrowser().driver ?? expect.fail("no browser runs"), "SIGKILL");
    });
    expect(failureOf(outcome)).toBe("request/probe/browser_failed");
    await expectSoundBrowser();
  });
});
