import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ogPreview } from "#probe-agent/tools/og-preview.ts";
import type { HttpServer } from "#test/servers/http.ts";
import { gif, jpeg, png } from "#test/support/images.ts";
import { startSite, type SitePath } from "#test/support/page.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";
import { resultOf, runTool } from "#test/support/tool.ts";

const meta = (properties: Readonly<Record<string, string>>, name = "property"): string =>
  Object.entries(properties)
    .map(([property, content]) => `<meta ${name}="${property}" content="${content}">`)
    .join("\n");
const withImage = (image: string): string =>
  `<head>${meta({ "og:title": "T", "og:type": "website", "og:url": "/", "og:image": image })}`;

const PAGES: Readonly<Record<string, SitePath>> = {
  "/full":
    `<!doctype html><html><head><title>Plain title</title><base href="/img/"><link rel="shortcut icon" href="icon.png">` +
    meta({
      "og:title": "The Rock",
      "og:type": "article",
      "og:url": "https://movies.test/rock",
      "og:description": "d".repeat(250),
      "og:image": "rock.png",
      "og:image:width": "1200",
      "og:image:height": "630",
      "og:image:alt": "A rock",
    }) +
    `<meta property="og:image" content="//cdn.test/two.jpg"><meta property="og:image:url" content="//cdn.test/two.jpg">` +
    `<meta property="og:image:type" content="image/jpeg"><meta property="og:image:url" content="https://cdn.test/three.jpg">` +
    meta({
      "og:video": "https://v.test/v.mp4",
      "og:video:secure_url": "https://v.test/s.mp4",
      "article:tag": "a",
      "og:site_name": "Movies",
    }) +
    `<meta property="article:tag" content="b"><meta property="fb:app_id" content="1">` +
    `<meta name="twitter:card" content="summary_large_image"><meta name="twitter:title" content="${"é".repeat(80)}"></head></html>`,
  "/img/rock.png": { type: "image/png", body: png(1200, 630) },
  "/bare": `<title>Only a title</title><meta name=description content="About"><img src=/small.png width=20 height=20><img src=/unsized.png><img src=/big.png width=800 height=600>`,
  "/odd":
    `<head>${meta({ "og:image:width": "5", "og:title": "One" })}${meta({ "og:title": "Two", "og:type": "website" }, "name")}</head>` +
    `<body>${meta({ "og:image": "/lies.png", "og:image:width": "600", "og:image:height": "400", "og:url": "/relative" })}`,
  "/lies.png": { type: "image/png", body: jpeg(640, 480) },
  "/tiny": withImage("/tiny.gif"),
  "/tiny.gif": { type: "image/gif", body: gif(100, 100) },
  "/page-as-image": withImage("/bare"),
  "/lost-image": withImage("/nowhere.png"),
  "/data-image": withImage("data:image/png;base64,AAAA"),
  "/blocked-image": withImage("http://10.1.2.3/x.png"),
  "/big-image": withImage("/big.jpg"),
  "/big.jpg": { type: "image/jpeg", body: Buffer.concat([jpeg(4000, 2000, 200_000), Buffer.alloc(6_000_000)]) },
  "/endless-image": withImage("/chunked.jpg"),
  "/chunked.jpg": {
    type: "image/jpeg",
    headers: { "transfer-encoding": "chunked" },
    body: Buffer.concat([jpeg(1200, 630), Buffer.alloc(2_000_000)]),
  },
  "/silent-image": withImage("/silent"),
  "/empty": "<title></title>",
  "/hollow":
    `<head><title>Plain title</title><meta name=description content="About">` +
    meta({ "og:title": "", "og:description": " ", "og:type": "website", "og:url": "", "og:image": "" }) +
    meta({ "og:image:width": "600", "twitter:card": "summary", "twitter:title": "" }),
  "/text": { type: "text/plain", body: "x" },
  "/flood": `<head>${Array.from({ length: 3000 }, (_, n) => `<meta property="og:image" content="/${n}${"x".repeat(1500)}"><meta property="og:image:alt" content="${"é".repeat(3000)}"><meta property="book:isbn" content="${"é".repeat(3000)}">`).join("")}`,
};

let site: HttpServer;
beforeAll(async () => {
  site = await startSite(PAGES);
});
afterAll(() => site.close());

const previewOf = (path: string, timeoutMs?: number) =>
  resultOf(ogPreview, { url: `${site.url}${path}` }, timeoutMs === undefined ? {} : { timeoutMs });

describe("a page with all social tags", () => {
  it("has its images in order with their properties (ogp.me, arrays and structured properties)", async () => {
    const { og, missing_required: missing, twitter } = await previewOf("/full");
    expect(og).toMatchObject({
      title: "The Rock",
      type: "article",
      site_name: "Movies",
      article: { tag: ["a", "b"], author: [], section: null },
      other: [{ property: "fb:app_id", content: "1" }],
      audio: [],
    });
    expect(og.image.map(({ url, width, height, alt, type }) => [url, width, height, alt, type])).toEqual([
      [`${site.url}/img/rock.png`, 1200, 630, "A rock", null],
      ["http://cdn.test/two.jpg", null, null, null, "image/jpeg"],
      ["https://cdn.test/three.jpg", null, null, null, null],
    ]);
    expect(og.video).toMatchObject([{ url: "https://v.test/v.mp4", secure_url: "https://v.test/s.mp4" }]);
    expect(missing).toEqual([]);
    expect(twitter).toMatchObject({ card: "summary_large_image", effective: "summary_large_image", site: null });
  });

  it("has a preview by the rules of each platform", async () => {
    const { preview, fallback } = await previewOf("/full");
    expect(preview.facebook).toMatchObject({
      title: "The Rock",
      domain: "movies.test",
      truncated: false,
      layout: "large",
    });
    expect(preview.x.title).toBe(`${"é".repeat(69)}…`);
    expect(Array.from(preview.x.description ?? "")).toHaveLength(200);
    expect(preview.x).toMatchObject({ truncated: true, layout: "large" });
    expect(preview.linkedin).toMatchObject({ title: "The Rock", layout: "large" });
    expect(preview.slack).toMatchObject({ truncated: false });
    expect(fallback).toMatchObject({ title: "Plain title", favicon: `${site.url}/img/icon.png` });
  });

  it("has its image checked", async () => {
    const { image_check: image, source } = await previewOf("/full");
    expect(image).toEqual({
      url: `${site.url}/img/rock.png`,
      code: 200,
      content_type: "image/png",
      format: "png",
      type_matches: true,
      bytes: png(1, 1).length,
      width: 1200,
      height: 630,
      ratio: 1.905,
      error: null,
    });
    expect(source).toEqual(["page", "image"]);
  });
});

describe("a page without social tags", () => {
  it("has previews of its title, description and first big image, and a bare link on X", async () => {
    const result = await previewOf("/bare");
    expect(result.fallback).toEqual({
      title: "Only a title",
      description: "About",
      image: `${site.url}/big.png`,
      favicon: null,
    });
    expect(result.preview.slack).toMatchObject({ title: "Only a title", description: "About", layout: "unknown" });
    expect(result.preview.x).toMatchObject({ title: null, image: null, layout: "no_card" });
    expect(result.missing_required).toEqual(["og:title", "og:type", "og:image", "og:url"]);
    expect(result.image_check).toBeNull();
  });
  it("can have no title, or be no HTML page", async () => {
    expect((await previewOf("/empty")).fallback.title).toBeNull();
    expect((await previewOf("/text")).limitations.join()).toMatch(/not HTML/);
  });
});

describe("tags with faults", () => {
  it("are read and have findings", async () => {
    const { og, findings } = await previewOf("/odd");
    expectWellFormed(findings);
    expect(og).toMatchObject({ title: "One", type: "website", image: [{ width: 600, height: 400 }] });
    for (const [id, part] of [
      ["og-in-name-attribute", /name instead of property.*og:title, og:type/],
      ["og-in-body", /in the body.*og:image/],
      ["og-repeated", /more than once.*og:title/],
      ["og-order", /ignore them: og:image:width/],
      ["image-relative", /relative address/],
      ["og-url-not-absolute", /og:url is not an absolute/],
      ["image-wrong-type", /is a jpeg file, but is served as image\/png/],
      ["image-size-differs", /640 x 480 pixels, but is declared as 600 x 400/],
      ["x-card-missing", /twitter:card is missing/],
    ] as const) {
      expect(findings.find((one) => one.id === id)?.message, id).toMatch(part);
    }
  });
});

describe("an image with faults", () => {
  it("that is too small is not shown or shown small", async () => {
    const { preview, image_check: image, findings } = await previewOf("/tiny");
    expect(image).toMatchObject({ width: 100, height: 100, ratio: 1 });
    expect(preview.facebook).toMatchObject({ layout: "no_image" });
    expect(findings).toContainEqual(
      expect.objectContaining({
        id: "image-too-small",
        severity: "warning",
        message: "The image is 100 x 100 pixels. Facebook shows no images smaller than 200 x 200 pixels.",
        where: "preview.facebook",
      }),
    );
    expect(preview.linkedin.layout).toBe("small");
    expect(findings.find(({ where }) => where === "preview.linkedin")).toMatchObject({
      id: "image-shown-small",
      severity: "info",
      message: "The image is 100 x 100 pixels. LinkedIn shows large previews only from 1200 x 627 pixels.",
    });
  });
  it("that is too large for some platforms has its size read from its beginning", async () => {
    const { preview, image_check: image, findings } = await previewOf("/big-image");
    expect(image).toMatchObject({ width: 4000, height: 2000, ratio: 2 });
    expect(preview.facebook.layout).toBe("large");
    expect(image?.bytes).toBe(jpeg(4000, 2000, 200_000).length + 6_000_000);
    expect(preview.x).toMatchObject({ layout: "no_card" });
    expect(preview.linkedin).toMatchObject({ layout: "no_image" });
    expect(findings.find(({ where }) => where === "preview.linkedin")).toMatchObject({
      id: "image-too-large",
      message: "The image is 6.2 MB. LinkedIn shows images of up to 5 MB.",
    });
  });
  it("that is too large to read completely and has no length has an unknown size in bytes", async () => {
    const { image_check: image, limitations } = await previewOf("/endless-image");
    expect(image).toMatchObject({ width: 1200, height: 630, bytes: null, error: null });
    expect(limitations).toContain("The size of the image in bytes is unknown.");
  });
  it("that is a page, missing, inline or at a private address has an error and no facts", async () => {
    expect((await previewOf("/page-as-image")).image_check).toMatchObject({
      code: 200,
      format: null,
      width: null,
      type_matches: false,
      error: "not an image of a known format",
    });
    expect((await previewOf("/lost-image")).image_check).toMatchObject({
      code: 404,
      width: null,
      error: "responds with status 404",
    });
    expect((await previewOf("/lost-image")).findings).toContainEqual(
      expect.objectContaining({ id: "image-not-fetched", message: "og:image responds with HTTP status 404." }),
    );
    expect(kinds((await previewOf("/page-as-image")).findings)).toContain("warning image-unknown-format");
    expect((await previewOf("/lost-image")).preview.facebook.layout).toBe("no_image");
    expect((await previewOf("/data-image")).image_check).toMatchObject({
      code: null,
      error: "not an http or https address",
    });
    expect((await previewOf("/blocked-image")).image_check).toMatchObject({
      code: null,
      error: "leads to an address that probes must not contact",
    });
  });
  it("that never arrives does not delay the rest of the result", async () => {
    const { image_check: image, limitations, og } = await previewOf("/silent-image", 3000);
    expect(image).toBeNull();
    expect(og.title).toBe("T");
    expect(limitations.join()).toMatch(/did not arrive in time/);
  });
});

describe("hostile pages", () => {
  it("fit into a result", async () => {
    const result = await previewOf("/flood");
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(256 * 1024);
    expect(result.og.image).toHaveLength(10);
    expect(kinds(result.findings)).toContain("info too-many-tags");
  });
  it("that cannot be fetched are a failure of the target", async () => {
    const gone = await startSite({});
    await gone.close();
    const { outcome } = await runTool(ogPreview, { url: gone.url });
    expect(outcome).toMatchObject({ status: "failed", stage: "connect", source: "target" });
  });
});

it("properties without content count as missing, and previews fall back as platforms do", async () => {
  const { og, preview, missing_required: missing, findings, image_check: check } = await previewOf("/hollow");
  expect(og).toMatchObject({ title: null, description: null, url: null, image: [] });
  expect(preview.facebook).toMatchObject({ title: "Plain title", description: "About", image: null });
  expect(preview.slack.title).toBe("Plain title");
  expect(missing).toEqual(["og:title", "og:image", "og:url"]);
  expect(check).toBeNull();
  expect(findings.map(({ message }) => message)).toContain(
    "Properties without content count as missing: og:title, og:description, og:url, og:image.",
  );
  expect(findings.find(({ id }) => id === "og-missing")?.how).toContain('<meta property="og:url" content="http://');
});

it("a data: address is not an image that a platform can fetch", async () => {
  const { preview, findings, image_check: check } = await previewOf("/data-image");
  expect(preview.facebook).toMatchObject({ image: null, layout: "no_image" });
  expect(check?.error).toBe("not an http or https address");
  expect(kinds(findings)).toContain("warning image-not-fetchable");
});
