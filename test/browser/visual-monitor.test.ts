import { afterAll, beforeAll, expect, it } from "vitest";
import { createBrowser } from "#probe-agent/net/browser.ts";
import { VISUAL_DEFAULT } from "#control-plane/outages/kinds/visual.ts";
import { comparePictures } from "#control-plane/watching/pictures/compare/compare.ts";
import { decodePng } from "#control-plane/watching/pictures/compare/png.ts";
import { CHROMIUM, describeBrowser, leftovers, LOAD_MS } from "#test/browser/chromium.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { systemClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { TEST_AGENT } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";

interface Monitor {
  readonly status: string;
  readonly last_error: object | null;
  readonly visual: {
    readonly accepted: { readonly picture_id: number } | null;
    readonly latest: { readonly picture_id: number; readonly ratio: number } | null;
  };
}

/** An animated GIF of two frames, white and black. */
const GIF = Buffer.from(
  "R0lGODlhAQABAIAAAP///wAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQECgAAACwAAAAAAQABAAACAkQBACH5BAQKAAAALAAAAAABAAEAAAICTAEAOw==",
  "base64",
);
/** A page with what commonly moves or depends on the moment. */
const RICH = `<!doctype html><title>Shop</title><style>
  body { margin: 0; font: 17px/1.5 sans-serif; background: linear-gradient(#fff, #cde) }
  @keyframes spin { to { transform: rotate(360deg) } } @keyframes fade { from { opacity: 0 } to { opacity: 1 } }
  .s { width: 60px; height: 60px; background: conic-gradient(red, blue); animation: spin .7s linear infinite }
  .f { animation: fade 2s } .t { transition: all 3s; box-shadow: 0 0 20px #0008; border-radius: 9px; padding: 20px }
  img { width: 80px; height: 80px }
</style><h1>Shop</h1><div class=s></div><p class=f>Text that fades in, <b>bold</b> and <i>italic</i></p><p class=t id=t>Shadow</p>
<img src=/gif><svg width=90 height=90><circle cx=45 cy=45 r=40 fill=teal><animate attributeName=r from=10 to=40 dur=1s repeatCount=indefinite /></circle></svg>
<input autofocus value=caret><canvas width=99 height=99></canvas><div id=late></div>
<script>t.style.padding = "40px"; const c = document.querySelector("canvas").getContext("2d"); c.arc(50, 50, 40, 0, 6); c.fill();
setTimeout(() => { late.textContent = "later" }, 150); fetch("/gif").then(() => { late.style.color = "green" })</script>`;

let site: HttpServer;
let html = RICH;
let isBroken = false;

beforeAll(async () => {
  site = await startHttpServer({
    handler: (_request, response, { path }) => {
      if (isBroken) response.writeHead(500, { "content-type": "text/html" }).end(html);
      else if (path === "/gif") response.writeHead(200, { "content-type": "image/gif" }).end(GIF);
      else if (path === "/") response.writeHead(200, { "content-type": "text/html" }).end(html);
      else response.writeHead(404).end();
      return true;
    },
  });
});

afterAll(async () => {
  await site?.close();
  await leftovers();
});

/** With BROWSER=short ten pictures are taken of the same page, otherwise a hundred. */
const PICTURES = process.env["BROWSER"] === "short" ? 10 : 100;

describeBrowser("the same page", () => {
  it(`gives the same picture ${PICTURES} times, and a block of 0.2 % is found`, { timeout: 900_000 }, async () => {
    html = RICH;
    // Two agents beside each other: what one does takes processor time from the other.
    const browsers = Array.from({ length: 2 }, () =>
      createBrowser({
        executable: CHROMIUM ?? "",
        slots: 2,
        clock: systemClock,
        egress: loopbackEgress,
        userAgent: TEST_AGENT,
        log: () => undefined,
      }),
    );
    const capture = async (waitMs: number, browserFor = browsers[0]) => {
      const limits = jobLimits(LOAD_MS + 10_000);
      const dns = dnsPort(["127.0.0.1:9"], { egress: loopbackEgress, limits });
      const request = { url: `${site.url}/`, width: 1_280, height: 800, fullPage: false, waitMs, timeoutMs: LOAD_MS };
      const outcome = (await browserFor?.(limits, dns).capture(request)) ?? expect.fail("there is no browser");
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      return Buffer.from(outcome.data.png);
    };
    const pixelsOf = (png: Buffer) => decodePng(png) ?? expect.fail("the picture cannot be decoded");
    const first = await capture(0);
    const ratios = new Map<number, number>();
    let n = 0;
    const repeat = async (browserFor: (typeof browsers)[number]) => {
      while (n < PICTURES - 1) {
        n += 1;
        const png = await capture((n * 37) % 300, browserFor);
        const { ratio } = png.equals(first) ? { ratio: 0 } : comparePictures(pixelsOf(first), pixelsOf(png), []);
        ratios.set(ratio, (ratios.get(ratio) ?? 0) + 1);
      }
    };
    await Promise.all(browsers.map(repeat));
    console.log(`differences of ${PICTURES - 1} pictures, percent:`, Object.fromEntries(ratios));
    expect(Math.max(...ratios.keys())).toBe(0);
    // 64 x 32 of 1280 x 800 pixels are 0.2 %.
    html = `${RICH}<div style="position:fixed;left:600px;top:300px;width:64px;height:32px;background:#135"></div>`;
    const { ratio } = comparePictures(pixelsOf(first), pixelsOf(await capture(0)), []);
    // A few pixels at its edges count as anti-aliasing.
    expect(ratio).toBeGreaterThan(0.19);
    expect(ratio).toBeGreaterThan(VISUAL_DEFAULT.threshold_percent);
    expect(ratio).toBeLessThanOrEqual(0.2);
  });
});

describeBrowser("a visual monitor", () => {
  let plane: TestControlPlane;
  let agent: AgentProcess;

  beforeAll(async () => {
    plane = await startControlPlane();
    agent = await startAgent(plane, "eu-west", { VANTAGE_CHROMIUM: CHROMIUM ?? "" });
  });
  afterAll(async () => {
    await agent?.stop();
    await plane?.stop();
  });

  it("accepts its first picture, announces a change once, and shows both", async () => {
    html = RICH;
    const key = await plane.createKey("captain");
    const made = await plane.call("/api/v4/monitors", {
      key,
      body: { url: `${site.url}/`, check_type: "visual", visual: { full_page: true } },
    });
    expect(made.status).toBe(201);
    const { id } = made.body.data as { id: number };
    const read = async () => (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data as Monitor;
    const settles = { interval: 200 };
    const { sql } = plane.app;
    // The check before it must be recorded: its picture is stored a moment earlier.
    const checkNow = async (): Promise<void> => {
      const makeDue = () => sql`
        update monitor_slots set planned_at = now(), due_at = now() where monitor_id = ${id} and lease = 0
        returning 1`;
      await expect.poll(makeDue, settles).toHaveLength(1);
    };
    await expect.poll(async () => (await read()).status, settles).toBe("up");
    const { accepted } = (await read()).visual;

    html = RICH.replace("<h1>Shop", "<h1 style='background:red'>Sale");
    await checkNow();
    await expect.poll(async () => (await read()).visual.latest?.ratio, settles).toBeGreaterThan(0.1);
    const changed = await read();
    expect(changed).toMatchObject({ status: "up", last_error: null, visual: { accepted } });
    const [{ events }] = await sql<[{ events: number }]>`
      select count(*) as events from events where monitor_id = ${id} and type = 'visual.changed'`;
    expect(events).toBe(1);
    for (const picture of [accepted?.picture_id, changed.visual.latest?.picture_id]) {
      const path = `/api/v4/monitors?id=${id}&action=picture&picture_id=${picture}`;
      const response = await fetch(`${plane.url}${path}`, { headers: { "x-api-key": key } });
      const pixels = decodePng(Buffer.from(await response.arrayBuffer()));
      expect(pixels?.width).toBe(1_280);
      expect(pixels?.height).toBeGreaterThanOrEqual(800);
    }

    isBroken = true;
    await checkNow();
    await expect.poll(async () => (await read()).status, settles).toBe("unknown");
    expect(await read()).toMatchObject({
      last_error: { source: "target", reason: "http_error" },
      visual: { accepted, latest: { picture_id: changed.visual.latest?.picture_id } },
    });
  });
});
