import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PLAIN_LOOK } from "#control-plane/public/status-pages/look.ts";
import {
  NO_PLACE,
  renderMessagePage,
  renderQuestionPage,
} from "#control-plane/public/status-pages/render/html/messages.ts";
import { CHROMIUM, describeBrowser, launchChromium, openContext } from "#test/browser/chromium.ts";
import { MISFITS } from "#test/browser/misfits.ts";
import { dataUri, drawPng } from "#test/support/logos.ts";
import { startPublicPages, type PublicPageServer } from "#test/support/public-pages.ts";
import { changeTexts, HOSTILE, makeView, makeViews, responsesOf } from "#test/support/status-page-views.ts";

const LOGO = { src: dataUri(drawPng(400, 100)), width: 160, height: 40 };
const { outage, ...others } = makeViews();
const VIEWS = {
  ...others,
  // With all that a page can show.
  outage: makeView({ ...outage, responses: responsesOf(1, 2, 3, 4) }),
  // Colours that cannot be read as they are on one of the grounds.
  yellow: makeView({ accentColor: "#ffee00", logo: LOGO }),
  navy: makeView({ accentColor: "#000040", logo: { ...LOGO, width: 240, height: 12 } }),
};
/** Slugs of pages with a text that tries to break them. */
const HOSTILE_SLUGS = HOSTILE.map((_, index) => `hostile-${index}`);

let server: PublicPageServer;
let browser: Browser;

beforeAll(async () => {
  if (CHROMIUM === null) return;
  const hostile = HOSTILE.map((text, index) => [`hostile-${index}`, changeTexts(makeView(), text)] as const);
  server = await startPublicPages({ ...VIEWS, ...Object.fromEntries(hostile) });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens a page of the server; `complaints` are the messages of its console. */
async function open(
  path: string,
  options: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly complaints: string[]; readonly close: () => Promise<void> }> {
  // A test loads more pages than the limit of one minute allows.
  server.clock.advance(60_000);
  const context = await openContext(browser, {
    viewport: { width: 1280, height: 900 },
    javaScriptEnabled: false,
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("requestfailed", (request) => complaints.push(request.url()));
  await page.goto(`${server.url}${path}`);
  return { page, complaints, close: () => context.close() };
}

/** Expression for the name of the focused element, and whether a reader sees that it has the focus. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  const { top, bottom, width } = element.getBoundingClientRect();
  const isSeen = getComputedStyle(element).outlineStyle !== "none" && width > 0 && bottom > 0 && top < innerHeight;
  return (element.textContent || element.id).trim() + (isSeen ? "" : " (not visible)");
})()`;

/** Parses XML as Chromium does and returns the name of the root element, or the error. */
const rootOf = (xml: string): string => `(() => {
  const parsed = new DOMParser().parseFromString(${JSON.stringify(xml)}, "application/xml");
  return parsed.querySelector("parsererror")?.textContent ?? parsed.documentElement.nodeName;
})()`;

const DAY = `[data-day="2026-10-25"]`;
/** Expression for the visibility of the words of a day. */
const CLIP = `getComputedStyle(document.querySelector('${DAY} p')).clipPath`;

/** Returns what axe finds in both colour schemes, on a small and a large screen. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const all: string[] = [];
  for (const width of [320, 1280]) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      const found = await page.evaluate(async () => {
        const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run();
        return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
      });
      all.push(...found.map((violation) => `${colorScheme}, ${width} pixels: ${violation}`));
    }
  }
  return all;
}

describeBrowser("a status page in a browser", () => {
  it.each(Object.keys(VIEWS))(
    "is accessible in both colour schemes and on small and large screens: %s",
    async (slug) => {
      // axe needs the engine.
      const { page, close } = await open(`/status/${slug}`, { javaScriptEnabled: true });
      expect(await violationsOf(page)).toEqual([]);
      await close();
    },
  );

  it.each([...Object.keys(VIEWS), ...HOSTILE_SLUGS])(
    "fits its window and breaks no rule of its policy: %s",
    async (slug) => {
      const { page, complaints, close } = await open(`/status/${slug}`);
      for (const width of [320, 390, 768, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        expect(await page.evaluate(MISFITS)).toEqual([]);
      }
      expect(complaints).toEqual([]);
      expect(await page.locator("script:not([type=module]), img:not(.logo), iframe").count()).toBe(0);
      await close();
    },
  );

  it.each(["/status/outage/incidents/8", "/status/operational/incidents/7", "/status/operational/history"])(
    "has pages of its past that are accessible: %s",
    async (path) => {
      const { page, close } = await open(path, { javaScriptEnabled: true });
      expect(await violationsOf(page)).toEqual([]);
      await close();
    },
  );

  it("has a logo in its size at once, on a light ground in both schemes, and everything else as without one", async () => {
    const sizesOf = `JSON.stringify(Array.from(document.querySelectorAll(".c, .d li, .l i, section.b"), (one) => {
      const { left, width, height } = one.getBoundingClientRect();
      return [left, width, height, getComputedStyle(one).backgroundColor, getComputedStyle(one).backgroundImage];
    }))`;
    for (const colorScheme of ["light", "dark"] as const) {
      const sizes: unknown[] = [];
      for (const slug of ["operational", "yellow"]) {
        const { page, close } = await open(`/status/${slug}`, { colorScheme });
        sizes.push(await page.evaluate(sizesOf));
        if (slug === "yellow") {
          expect(await page.getByRole("heading", { level: 1 }).getByRole("img", { name: "Acme" }).count()).toBe(1);
          const [width, height, ground] = await page.evaluate<readonly string[]>(
            `(({ width, height, backgroundColor }) => [width, height, backgroundColor])(getComputedStyle(document.querySelector(".logo")))`,
          );
          expect([width, height]).toEqual(["160px", "40px"]);
          expect(ground).toBe(colorScheme === "dark" ? "rgb(246, 248, 250)" : "rgba(0, 0, 0, 0)");
        }
        await close();
      }
      expect(sizes[1]).toBe(sizes[0]);
    }
  });

  it("has messages and questions for subscribers that are accessible", async () => {
    const place = { site: "Acme", base: "/status/acme", look: PLAIN_LOOK };
    const question = { heading: "Unsubscribe", text: "Nothing is mailed to", email: "me@example.com", button: "Stop" };
    const { page, close } = await open("/status/operational", { javaScriptEnabled: true });
    for (const html of [
      renderQuestionPage(place, question),
      renderMessagePage(NO_PLACE, "Not found", "Nothing here."),
    ]) {
      await page.setContent(String(html));
      expect(await violationsOf(page)).toEqual([]);
    }
    await close();
  });

  it("says right below its banner what is wrong, and has its charts folded below the services", async () => {
    const { page, close } = await open("/status/outage", { viewport: { width: 390, height: 844 } });
    const topOf = async (found: Locator) => (await found.boundingBox())?.y ?? 0;
    const banner = await page.locator("section.b").boundingBox();
    const words = page.getByText("A payment provider does not answer.");
    const services = page.getByRole("heading", { name: "Services" });
    const charts = page.getByRole("heading", { name: "Response times" });
    expect(await topOf(words)).toBeLessThan((banner?.y ?? 0) + (banner?.height ?? 0) + 400);
    expect(await topOf(services)).toBeGreaterThan(await topOf(words));
    expect(await topOf(charts)).toBeGreaterThan(await topOf(services));
    const chart = page.locator("figure").first();
    expect([await page.locator("figure").count(), await chart.isVisible()]).toEqual([4, false]);
    await page.locator("summary").first().click();
    expect(await chart.isVisible()).toBe(true);
    await close();
  });

  it("can be used with the keyboard: every stop is visible and marked", async () => {
    const { page, close } = await open("/status/outage", { javaScriptEnabled: true });
    const stops: string[] = [];
    for (let count = 0; count < 30; count += 1) {
      await page.keyboard.press("Tab");
      const stop = await page.evaluate<string | null>(FOCUSED);
      if (stop === null) break;
      stops.push(stop);
    }
    expect(stops).toEqual([
      "Skip to the status",
      "www.acme.example",
      "Get updates",
      "1 open incident",
      "Payments fail for some customers",
      "v",
      "Service 1",
      "Service 2",
      "Service 3",
      "Service 4",
      "API is down",
      "Earlier incidents and maintenance",
      "email",
      "Subscribe",
      "RSS",
      "Atom",
      "JSON Feed",
      "Status as JSON",
      "Badge",
    ]);
    await close();
  });

  it("shows the words of a day below the bars, and those of all days on request, without a script", async () => {
    const { page, close } = await open("/status/operational");
    const day = page.locator(`${DAY} >> nth=0`);
    expect(await page.evaluate(CLIP)).toBe("inset(50%)");
    await day.hover();
    expect(await page.evaluate(CLIP)).toBe("none");
    await page.getByLabel("Show every day as text").check();
    await page.mouse.move(0, 0);
    expect(await page.evaluate(CLIP)).toBe("none");
    expect(await day.textContent()).toBe("25 Oct 2026: 87.5 % up, 3 h down");
    await close();
  });

  it("has feeds and badges that an XML parser accepts, whatever their texts are", async () => {
    const { page, close } = await open("/status/operational", { javaScriptEnabled: true });
    for (const slug of ["operational", "empty", ...HOSTILE_SLUGS]) {
      for (const file of ["feed.rss", "feed.atom", "badge.svg?label=%3Cb%3E%26"]) {
        server.clock.advance(60_000);
        const xml = await (await fetch(`${server.url}/status/${slug}/${file}`)).text();
        const root = await page.evaluate<string>(rootOf(xml));
        expect(["rss", "feed", "svg"], `${slug}/${file}`).toContain(root);
      }
    }
    await close();
  });

  it.each(["unsafe-none", "require-corp"])(
    "has badges that a page of another site can show, which embeds other origins by %s",
    async (embedder) => {
      const badges = ["outage/badge.svg", "operational/badge.svg?metric=uptime", "nothing/badge.svg"];
      const images = badges.map((badge) => `<p><img src="${server.url}/status/${badge}" alt="${badge}"></p>`).join("");
      const readme = createServer((_request, response) => {
        response.writeHead(200, { "content-type": "text/html", "cross-origin-embedder-policy": embedder });
        response.end(`<!doctype html><title>Readme</title><link rel="icon" href="data:,">${images}`);
      });
      await new Promise<void>((resolve) => readme.listen(0, "127.0.0.1", resolve));
      server.clock.advance(60_000);
      const context = await openContext(browser);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("console", (message) => complaints.push(`${message.text()} ${message.location().url}`));
      page.on("requestfailed", (request) => complaints.push(request.url()));
      await page.goto(`http://localhost:${(readme.address() as AddressInfo).port}/`);
      const widths = await page.evaluate<number[]>("Array.from(document.images, (image) => image.naturalWidth)");
      expect(widths.map((width) => width > 50)).toEqual([true, true, true]);
      // A badge that says "not found" is an image too; Chromium notes its status.
      expect(complaints).toEqual([
        `Failed to load resource: the server responded with a status of 404 (Not Found) ${server.url}/status/nothing/badge.svg`,
      ]);
      await context.close();
      await new Promise((resolve) => readme.close(resolve));
    },
  );
});
