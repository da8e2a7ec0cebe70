import { describe, expect, it } from "vitest";
import { ogPreview } from "#probe-agent/tools/og-preview/og-preview.ts";
import { jpeg, png } from "#test/support/images.ts";
import { startSite, type SitePath } from "#test/support/page.ts";
import { kinds } from "#test/support/findings.ts";
import { resultOf } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const meta = (properties: Readonly<Record<string, string>>): string =>
  Object.entries(properties)
    .map(([property, content]) => `<meta property="${property}" content="${content}">`)
    .join("\n");
const withImage = (image: string): string =>
  `<head>${meta({ "og:title": "T", "og:type": "website", "og:url": "/", "og:image": image })}`;

const PAGES: Readonly<Record<string, SitePath>> = {
  "/full":
    '<head><base href="/img/"><meta name="twitter:card" content="summary_large_image">' +
    meta({
      "og:title": "The Rock",
      "og:type": "article",
      "og:url": "https://movies.test/rock",
      "og:image": "rock.png",
    }) +
    meta({ "og:description": "d", "og:image:width": "1200", "og:image:height": "630" }),
  "/img/rock.png": { type: "image/png", body: png(1200, 630) },
  "/bare": "<title>Only a title</title><img src=/big.png width=800 height=600>",
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
  "/text": { type: "text/plain", body: "x" },
  "/flood": `<head>${Array.from({ length: 3000 }, (_, n) => `<meta property="og:image" content="/${n}${"x".repeat(1500)}"><meta property="og:image:alt" content="${"é".repeat(3000)}"><meta property="book:isbn" content="${"é".repeat(3000)}">`).join("")}`,
};

const site = await stopAfterAll(startSite(PAGES));

const previewOf = (path: string, timeoutMs?: number) =>
  resultOf(ogPreview, { url: `${site.url}${path}` }, timeoutMs === undefined ? {} : { timeoutMs });

describe("a page with all social tags", () => {
  it("has its graph, its previews and its image checked", async () => {
    const { og, twitter, preview, missing_required: missing, image_check: image, source } = await previewOf("/full");
    expect(og).toMatchObject({ title: "The Rock", type: "article", image: [{ url: `${site.url}/img/rock.png` }] });
    expect(missing).toEqual([]);
    expect(twitter).toMatchObject({ effective: "summary_large_image" });
    expect(Object.values(preview).map(({ layout }) => layout)).toEqual(["large", "large", "large", "unknown"]);
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
  it("has no image to check", async () => {
    const { fallback, preview, image_check: image, source } = await previewOf("/bare");
    expect(fallback).toMatchObject({ title: "Only a title", image: `${site.url}/big.png` });
    expect([preview.x.layout, image, source]).toEqual(["no_card", null, ["page"]]);
  });

  it("can be no HTML page", async () => {
    expect((await previewOf("/text")).limitations.join()).toMatch(/not HTML/);
  });
});

describe("an image with faults", () => {
  it("that is too large for some platforms has its size read from its beginning", async () => {
    const { preview, image_check: image, findings } = await previewOf("/big-image");
    expect(image).toMatchObject({ width: 4000, height: 2000, ratio: 2 });
    expect(preview.facebook.layout).toBe("large");
    expect(image?.bytes).toBe(jpeg(4000, 2000, 200_000).length + 6_000_000);
    expect(preview.x).toMatchObject({ layout: "no_card" });
    expect(preview.linkedin).toMatchObject({ layout: "no_image" });
    expect(findings.find(({ where }) => where === "preview.linkedin")?.id).toBe("image-too-large");
  });
  it("that is too large to read completely and has no length has an unknown size in bytes", async () => {
    const { image_check: image, limitations } = await previewOf("/endless-image");
    expect(image).toMatchObject({ width: 1200, height: 630, bytes: null, error: null });
    expect(limitations).toContain("The size of the image in bytes is unknown.");
  });
  it("that is a page, missing, inline or at a private address has an error and no facts", async () => {
    const page = await previewOf("/page-as-image");
    const error = "not an image of a known format";
    expect(page.image_check).toMatchObject({ code: 200, format: null, width: null, type_matches: false, error });
    expect(kinds(page.findings)).toContain("warning image-unknown-format");
    const lost = await previewOf("/lost-image");
    expect(lost.image_check).toMatchObject({ code: 404, width: null, error: "responds with status 404" });
    expect(kinds(lost.findings)).toContain("warning image-not-fetched");
    expect(lost.preview.facebook.layout).toBe("no_image");
    for (const [path, why] of [
      ["/data-image", "not an http or https address"],
      ["/blocked-image", "leads to an address that probes must not contact"],
    ] as const)
      expect((await previewOf(path)).image_check).toMatchObject({ code: null, error: why });
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
});
