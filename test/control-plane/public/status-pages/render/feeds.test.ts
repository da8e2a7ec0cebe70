import { describe, expect, it } from "vitest";
import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { renderAtom } from "#control-plane/public/status-pages/render/feeds/atom.ts";
import { renderJsonFeed } from "#control-plane/public/status-pages/render/feeds/json-feed.ts";
import { renderRss } from "#control-plane/public/status-pages/render/feeds/rss.ts";
import { all, checkAtom, checkJsonFeed, checkRss, parseXml, textOf, type Element } from "#test/support/feed-rules.ts";
import {
  changeTexts,
  HOSTILE,
  hoursAgo,
  makeIncident,
  makeMaintenance,
  makeView,
  makeViews,
} from "#test/support/status-page-views.ts";

const SERVICE = "https://vantage.example";

const busy = makeView({
  incidents: [
    makeIncident(8, { resolvedAt: null, startedAt: hoursAgo(40), updates: [] }),
    makeIncident(7, { title: "Mail & more" }),
  ],
  maintenance: [
    makeMaintenance(1, { status: "completed", startsAt: hoursAgo(50), endsAt: hoursAgo(29) }),
    makeMaintenance(2, { status: "in_progress", startsAt: hoursAgo(1), endsAt: hoursAgo(-1) }),
    makeMaintenance(3),
  ],
});

describe("the Atom feed", () => {
  const feed = parseXml(renderAtom(busy, SERVICE));

  it("has what RFC 4287 requires of a feed", () => {
    expect([feed.name, feed.attributes["xmlns"]]).toEqual(["feed", "http://www.w3.org/2005/Atom"]);
    expect(textOf(feed, "id")).toBe("https://vantage.example/status/acme");
    expect(textOf(feed, "title")).toBe("Acme");
    expect(textOf(feed, "updated")).toBe(hoursAgo(1).toISOString());
    expect(all(feed, "author")).toHaveLength(1);
    expect(all(feed, "link").map(({ attributes }) => [attributes["rel"], attributes["href"]])).toEqual([
      ["self", "https://vantage.example/status/acme/feed.atom"],
      ["alternate", "https://vantage.example/status/acme"],
    ]);
  });

  it("has an entry for each incident and each maintenance, the last changed first", () => {
    const entries = all(feed, "entry").map((entry) => [textOf(entry, "id"), textOf(entry, "updated")]);
    const id = (name: string) => `https://vantage.example/status/acme#${name}`;
    const start = (hours: number) => hoursAgo(hours).getTime() / 1_000;
    expect(entries).toEqual([
      [id(`maintenance-2-${start(1)}`), hoursAgo(1).toISOString()],
      [id("incident-7"), hoursAgo(28).toISOString()],
      [id(`maintenance-1-${start(50)}`), hoursAgo(29).toISOString()],
      [id("incident-8"), hoursAgo(40).toISOString()],
      [id(`maintenance-3-${start(-20)}`), hoursAgo(100).toISOString()],
    ]);
    for (const entry of all(feed, "entry")) {
      for (const name of ["id", "title", "updated", "published", "content", "link"]) {
        expect(all(entry, name), name).toHaveLength(1);
      }
    }
  });

  it("has the updates in the content, the newest first, as HTML", () => {
    const [, incident] = all(feed, "entry");
    const content = (incident && all(incident, "content")[0]) ?? feed;
    expect(content.attributes["type"]).toBe("html");
    expect(content.text).toContain("Affects Service 1.<br>Noticed from eu-west, us-east.");
    expect(content.text).toMatch(
      /<strong>Resolved, [^<]*<\/strong><br>All requests succeed again\.<\/p>\s*<p><strong>Investigating, [^<]*<\/strong><br>Requests fail\.<br>We look for the cause\.<\/p>/,
    );
  });

  it("dates maintenance by its announcement, and then by its planned start and its end", () => {
    const starts = { startsAt: hoursAgo(5), endsAt: hoursAgo(1) };
    const view = makeView({
      incidents: [],
      maintenance: [
        makeMaintenance(1, { announcedAt: hoursAgo(3) }),
        makeMaintenance(2, { ...starts, status: "completed", announcedAt: hoursAgo(30) }),
        makeMaintenance(3, { ...starts, status: "in_progress", announcedAt: hoursAgo(30) }),
        makeMaintenance(4, { ...starts, status: "in_progress", announcedAt: hoursAgo(2) }),
      ],
    });
    const dates = all(parseXml(renderAtom(view, SERVICE)), "entry").map((entry) => [
      all(entry, "link")[0]?.attributes["href"]?.split("#")[1],
      textOf(entry, "published"),
      textOf(entry, "updated"),
    ]);
    const at = (hours: number) => hoursAgo(hours).toISOString();
    expect(dates).toEqual([
      ["maintenance-2", at(30), at(1)],
      ["maintenance-4", at(2), at(2)],
      ["maintenance-1", at(3), at(3)],
      ["maintenance-3", at(30), at(5)],
    ]);
    expect(renderRss(view, SERVICE)).toContain("Announced ");
  });

  it("of a page on its own domain links there, and keeps its ids", () => {
    const moved = parseXml(renderAtom({ ...busy, url: "https://status.acme.example" }, SERVICE));
    const ids = (from: Element) => all(from, "entry").map((entry) => textOf(entry, "id"));
    expect(ids(moved)).toEqual(ids(feed));
    const [first] = all(moved, "entry");
    expect(first && all(first, "link")[0]?.attributes["href"]).toBe("https://status.acme.example#maintenance-2");
  });

  it("without entries does not change within a day", () => {
    const quiet = { incidents: [], maintenance: [] };
    const later = { ...quiet, generatedAt: hoursAgo(3) };
    expect(renderAtom(makeView(later), SERVICE)).toBe(renderAtom(makeView(quiet), SERVICE));
  });
});

describe("the RSS feed", () => {
  const rss = parseXml(renderRss(busy, SERVICE));
  const channel = all(rss, "channel")[0] ?? rss;

  it("has what RSS 2.0 requires of a channel", () => {
    expect([rss.name, rss.attributes["version"]]).toEqual(["rss", "2.0"]);
    expect(textOf(channel, "title")).toBe("Acme");
    expect(textOf(channel, "link")).toBe("https://vantage.example/status/acme");
    expect(textOf(channel, "description")).toBe("Status of all services of Acme.");
    expect(textOf(channel, "lastBuildDate")).toBe(hoursAgo(1).toUTCString());
    expect(
      textOf(parseXml(renderRss(makeView({ description: null }), SERVICE)).children[0] ?? rss, "description"),
    ).toBe("Incidents and maintenance of Acme");
  });

  it("has an item for each entry, with a guid that is not an address", () => {
    const items = all(channel, "item");
    expect(items).toHaveLength(5);
    const incident = items[1] ?? rss;
    expect(textOf(incident, "title")).toBe("Mail & more");
    expect(textOf(incident, "link")).toBe("https://vantage.example/status/acme/incidents/7");
    expect(textOf(incident, "pubDate")).toBe("Sun, 22 Nov 2026 13:58:00 GMT");
    expect(all(incident, "guid")[0]).toMatchObject({
      attributes: { isPermaLink: "false" },
      text: "https://vantage.example/status/acme#incident-7",
    });
    expect(textOf(incident, "description")).toContain("<br>We look for the cause.");
  });
});

describe("the JSON Feed", () => {
  it("has what version 1.1 requires", () => {
    const feed = JSON.parse(renderJsonFeed(busy, SERVICE)) as { items: Record<string, unknown>[] };
    expect(feed).toMatchObject({
      version: "https://jsonfeed.org/version/1.1",
      title: "Acme",
      home_page_url: "https://vantage.example/status/acme",
      feed_url: "https://vantage.example/status/acme/feed.json",
    });
    expect(feed.items[1]).toMatchObject({
      id: "https://vantage.example/status/acme#incident-7",
      url: "https://vantage.example/status/acme/incidents/7",
      date_published: "2026-11-22T13:58:00.000Z",
      date_modified: "2026-11-22T15:58:00.000Z",
      tags: ["incident"],
    });
    expect(feed.items[1]?.["content_html"]).toContain("<br>We look for the cause.");
  });
});

/** Pages in all states, and pages whose texts try to break a feed. */
const PAGES: readonly (readonly [name: string, view: PageView])[] = [
  ["busy", busy],
  ["on its own domain", { ...busy, url: "https://status.acme.example" }],
  ["without a description", { ...busy, description: null }],
  ...Object.entries(makeViews()),
  ...HOSTILE.map((text) => [JSON.stringify(text.slice(0, 40)), changeTexts(busy, text)] as const),
];

describe("all feeds", () => {
  it.each(PAGES)("have what their formats require: %s", (_name, view) => {
    expect(checkRss(renderRss(view, SERVICE))).toEqual([]);
    expect(checkAtom(renderAtom(view, SERVICE))).toEqual([]);
    expect(checkJsonFeed(renderJsonFeed(view, SERVICE))).toEqual([]);
  });

  it.each([
    ["<title>", "<titel>", "</title>", "</titel>", "the channel has 0 <title> instead of one"],
    ["<link>https:", "<link>//", "", "", `<link> of the channel cannot be "////vantage.example/status/acme"`],
    [/<description>[^<]*/, "<description>", "", "", `<description> of the channel cannot be ""`],
    [/<guid.*<\/guid>/g, "", "", "", "item 0 has 0 <guid> instead of one"],
    [/ isPermaLink="false">[^<]*/g, ">7", "", "", "the guid of item 1 is no address"],
    [/maintenance-\d+-\d+</g, "x<", "", "", "the guid of an item is not unique"],
    [/ GMT<\/pubDate>/g, "Z</pubDate>", "", "", `<pubDate> of item 1 cannot be "Sun, 22 Nov 2026 13:58:00Z"`],
    ['version="2.0"', 'version="1.0"', "", "", "the root is not <rss version=2.0>"],
  ] as const)("a broken RSS feed is found: %s", (part, wrong, end, wrongEnd, rule) => {
    const xml = renderRss(busy, SERVICE).replace(part, wrong).replace(end, wrongEnd);
    expect(checkRss(xml)).toContain(rule);
  });

  it.each([
    [/<author>.*<\/author>/, "", "neither entry 0 nor the feed has an author"],
    [/<link rel="self"[^>]*>/, "", "the feed has not one link to itself"],
    [/<updated>[^<]*/, "<updated>yesterday", `<updated> of the feed cannot be "yesterday"`],
    [/#incident-7</, " incident 7<", `<id> of entry 1 cannot be "https://vantage.example/status/acme incident 7"`],
    [/#incident-[78]</g, "<", "the id of an entry is not unique"],
    [/<category term="[^"]*"/, "<category", "a category of entry 0 has no term"],
    [/<content type="html">/, `<content type="html"><p/>`, "the content of entry 0 has elements that are not text"],
    [/ xmlns="[^"]*"/, "", "the root is not <feed> of Atom"],
  ] as const)("a broken Atom feed is found: %s", (part, wrong, rule) => {
    expect(checkAtom(renderAtom(busy, SERVICE).replace(part, wrong))).toContain(rule);
  });

  it.each([
    [/version\/1.1/, "version/1", "the version is not 1.1"],
    [/"title":"Acme",/, "", "the feed has no title"],
    [/"id":"[^"]*"/, `"id":7`, "item 0 has no id that is a string"],
    [/#incident-[78]","url/g, `","url`, "the id of an item is not unique"],
    [/content_html/, "content", "item 0 has no content"],
    [/("date_published":"[^"]*)Z"/, `$1"`, "date_published of item 0 is not RFC 3339"],
    [/"items":/, `"entries":`, "the feed has no items"],
  ] as const)("a broken JSON Feed is found: %s", (part, wrong, rule) => {
    expect(checkJsonFeed(renderJsonFeed(busy, SERVICE).replace(part, wrong))).toContain(rule);
  });

  it("have at most 40 entries", () => {
    const full = makeView({
      incidents: Array.from({ length: 20 }, (_, id) => makeIncident(id)),
      maintenance: Array.from({ length: 30 }, (_, id) => makeMaintenance(id)),
    });
    expect(renderAtom(full, SERVICE).match(/<entry>/g)).toHaveLength(40);
    expect(renderRss(full, SERVICE).match(/<item>/g)).toHaveLength(40);
    expect((JSON.parse(renderJsonFeed(full, SERVICE)) as { items: object[] }).items).toHaveLength(40);
  });

  it.each(HOSTILE)("have any title as text: %j", (text) => {
    const view: PageView = changeTexts(busy, text);
    // XML has no way to write these characters.
    const shown = text.replaceAll(/[\p{Cs}\p{Cc}\uFFFE]/gu, "\uFFFD");
    const feed = parseXml(renderAtom(view, SERVICE));
    expect(all(feed, "entry").map((entry) => textOf(entry, "title"))).toEqual(Array(5).fill(shown));
    const rss = parseXml(renderRss(view, SERVICE));
    const titles = (rss.children[0] ?? rss).children.flatMap((item) => textOf(item, "title") ?? []);
    expect(titles).toEqual(Array(5).fill(shown));
    const json = JSON.parse(renderJsonFeed(view, SERVICE)) as { items: { title: string }[] };
    expect(json.items.map(({ title }) => title)).toEqual(Array(5).fill(text));
  });
});
