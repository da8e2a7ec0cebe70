import { describe, expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { socialFindings } from "#probe-agent/tools/og-preview/findings.ts";
import { makePreviews, readSocial } from "#probe-agent/tools/og-preview/preview.ts";
import { missingRequired } from "#probe-agent/analysis/page/social-required.ts";
import { messagesOf } from "#test/support/findings.ts";

const PAGE = "http://site.test/page";

const meta = (properties: Readonly<Record<string, string>>, name = "property"): string =>
  Object.entries(properties)
    .map(([property, content]) => `<meta ${name}="${property}" content="${content}">`)
    .join("\n");

type Checked = NonNullable<Parameters<typeof makePreviews>[0]["checked"]>;

/** Reads a page whose first image was fetched with these facts, or not at all. */
function see(html: string, fetched: Partial<Checked> | null = null) {
  const { tags, reading, card, fallback } = readSocial(readHtml(html), PAGE);
  const url = reading.graph.image[0]?.url ?? "";
  const image: Checked = { url, width: 1200, height: 630, bytes: 1000, format: "png", reachable: true, ...fetched };
  const checked = fetched === null ? null : image;
  const previews = makePreviews({ pageUrl: PAGE, graph: reading.graph, card, fallback, checked });
  const response = { ...image, code: image.reachable ? 200 : 404, content_type: "image/png", error: null };
  const seen = checked === null ? null : response;
  const findings = socialFindings({ pageUrl: PAGE, tags, reading, card, image: seen, previews });
  const { facebook, x, linkedin, slack } = previews;
  const preview = { facebook: facebook.preview, x: x.preview, linkedin: linkedin.preview, slack: slack.preview };
  return { og: reading.graph, card, fallback, preview, findings, missing: missingRequired(reading) };
}

describe("a page with all social tags", () => {
  const FULL =
    `<!doctype html><html><head><title>Plain title</title><base href="/img/"><link rel="shortcut icon" href="icon.png">` +
    meta({ "og:title": "The Rock", "og:type": "article", "og:url": "https://movies.test/rock" }) +
    meta({ "og:description": "d".repeat(250), "og:image": "rock.png", "og:image:width": "1200" }) +
    meta({ "og:image:height": "630", "og:image:alt": "A rock" }) +
    `<meta property="og:image" content="//cdn.test/two.jpg"><meta property="og:image:url" content="//cdn.test/two.jpg">` +
    `<meta property="og:image:type" content="image/jpeg"><meta property="og:image:url" content="https://cdn.test/three.jpg">` +
    meta({ "og:video": "https://v.test/v.mp4", "og:video:secure_url": "https://v.test/s.mp4", "article:tag": "a" }) +
    `<meta property="article:tag" content="b"><meta property="fb:app_id" content="1">` +
    `<meta name="twitter:card" content="summary_large_image"><meta name="twitter:title" content="${"é".repeat(80)}"></head></html>`;

  it("has its images in order with their properties (ogp.me, arrays and structured properties)", () => {
    const { og, card, missing } = see(FULL);
    expect(og).toMatchObject({
      title: "The Rock",
      type: "article",
      article: { tag: ["a", "b"], author: [], section: null },
      other: [{ property: "fb:app_id", content: "1" }],
      audio: [],
      video: [{ url: "https://v.test/v.mp4", secure_url: "https://v.test/s.mp4" }],
    });
    expect(og.image.map(({ url, width, height, alt, type }) => [url, width, height, alt, type])).toEqual([
      ["http://site.test/img/rock.png", 1200, 630, "A rock", null],
      ["http://cdn.test/two.jpg", null, null, null, "image/jpeg"],
      ["https://cdn.test/three.jpg", null, null, null, null],
    ]);
    expect(missing).toEqual([]);
    expect(card).toMatchObject({ card: "summary_large_image", effective: "summary_large_image", site: null });
  });

  it("has a preview by the rules of each platform", () => {
    const { preview, fallback } = see(FULL, {});
    expect(preview.facebook).toMatchObject({ title: "The Rock", domain: "movies.test", truncated: false });
    expect(preview.facebook.layout).toBe("large");
    expect(preview.x.title).toBe(`${"é".repeat(69)}…`);
    expect(Array.from(preview.x.description ?? "")).toHaveLength(200);
    expect(preview.x).toMatchObject({ truncated: true, layout: "large" });
    expect(preview.linkedin).toMatchObject({ title: "The Rock", layout: "large" });
    expect(preview.slack).toMatchObject({ truncated: false });
    expect(fallback).toMatchObject({ title: "Plain title", favicon: "http://site.test/img/icon.png" });
  });
});

describe("a page without social tags", () => {
  it("has previews of its title, description and first big image, and a bare link on X", () => {
    const { fallback, preview, missing } = see(
      `<title>Only a title</title><meta name=description content="About"><img src=/small.png width=20 height=20>` +
        `<img src=/unsized.png><img src=/big.png width=800 height=600>`,
    );
    expect(fallback).toEqual({
      title: "Only a title",
      description: "About",
      image: "http://site.test/big.png",
      favicon: null,
    });
    expect(preview.slack).toMatchObject({ title: "Only a title", description: "About", layout: "unknown" });
    expect(preview.x).toMatchObject({ title: null, image: null, layout: "no_card" });
    expect(missing).toEqual(["og:title", "og:type", "og:image", "og:url"]);
  });

  it("can have no title", () => {
    expect(see("<title></title>").fallback.title).toBeNull();
  });
});

describe("tags with faults", () => {
  it("are read", () => {
    const { og } = see(
      `<head>${meta({ "og:image:width": "5", "og:title": "One" })}${meta({ "og:title": "Two", "og:type": "website" }, "name")}</head>` +
        `<body>${meta({ "og:image": "/lies.png", "og:image:width": "600", "og:image:height": "400" })}`,
    );
    expect(og).toMatchObject({ title: "One", type: "website", image: [{ width: 600, height: 400 }] });
  });

  it("count as missing if they have no content, and previews fall back as platforms do", () => {
    const { og, preview, missing, findings } = see(
      `<head><title>Plain title</title><meta name=description content="About">` +
        meta({ "og:title": "", "og:description": " ", "og:type": "website", "og:url": "", "og:image": "" }) +
        meta({ "og:image:width": "600", "twitter:card": "summary", "twitter:title": "" }),
    );
    expect(og).toMatchObject({ title: null, description: null, url: null, image: [] });
    expect(preview.facebook).toMatchObject({ title: "Plain title", description: "About", image: null });
    expect(preview.slack.title).toBe("Plain title");
    expect(missing).toEqual(["og:title", "og:image", "og:url"]);
    expect(messagesOf(findings)).toContain(
      "Properties without content count as missing: og:title, og:description, og:url, og:image.",
    );
    expect(findings.find(({ id }) => id === "og-missing")?.how).toContain('<meta property="og:url" content="http://');
  });
});

describe("an image", () => {
  const page = (image: string) =>
    `<head>${meta({ "og:title": "T", "og:type": "website", "og:url": "/", "og:image": image })}`;

  it.each<[fetched: Partial<Checked>, where: string, layout: string, id: string]>([
    [{ width: 100, height: 100 }, "facebook", "no_image", "image-too-small"],
    [{ width: 100, height: 100 }, "linkedin", "small", "image-shown-small"],
    [{ bytes: 6_200_000 }, "linkedin", "no_image", "image-too-large"],
  ])("%j on %s is of layout %s: %s", (fetched, where, layout, id) => {
    const { preview, findings } = see(page("/i.png"), fetched);
    expect(preview[where as "facebook"].layout).toBe(layout);
    expect(findings).toContainEqual(expect.objectContaining({ id, where: `preview.${where}` }));
  });

  it("that cannot be fetched is not shown, and one at a data: address is none", () => {
    expect(see(page("/i.png"), { reachable: false }).preview.facebook.layout).toBe("no_image");
    expect(see(page("data:image/png;base64,AAAA")).preview.facebook).toMatchObject({ image: null, layout: "no_image" });
  });
});
