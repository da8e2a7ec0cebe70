import { Parser } from "htmlparser2";
import { describe, expect, it } from "vitest";
import type { PageView } from "#control-plane/status-pages/page.ts";
import { renderAtom } from "#control-plane/status-pages/render/feeds/atom.ts";
import { renderJsonFeed } from "#control-plane/status-pages/render/feeds/json-feed.ts";
import { renderRss } from "#control-plane/status-pages/render/feeds/rss.ts";
import {
  changeTexts,
  HOSTILE,
  hoursAgo,
  makeIncident,
  makeMaintenance,
  makeView,
} from "#test/support/status-page-views.ts";

const SERVICE = "https://vantage.example";

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** Parses XML without any of the leniency for HTML. Test/browser has it parsed by Chromium's XML parser too. */
function parseXml(xml: string): Element {
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const element = { name, attributes, children: [], text: "" };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      ontext(text) {
        const element = open.at(-1);
        if (element !== undefined) element.text += text;
      },
      onclosetag(name, isImplied) {
        const element = open.pop();
        if (element?.name !== name || (isImplied && element.children.length > 0)) throw new Error(`unclosed ${name}`);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  expect(open).toEqual([root]);
  expect(root.children).toHaveLength(1);
  return root.children[0] ?? root;
}

const all = ({ children }: Element, name: string): Element[] => children.filter((child) => child.name === name);
const textOf = (element: Element, name: string): string | undefined => all(element, name)[0]?.text;

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
      [id(`maintenance-3-${start(-20)}`), hoursAgo(14 * 24 - 20).toISOString()],
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
    expect(content.text).toContain("Affects Service 1.<br>Seen from eu-west, us-east.");
    expect(content.text).toMatch(
      /<strong>Resolved, [^<]*<\/strong><br>All requests succeed again\.<\/p>\s*<p><strong>Investigating, [^<]*<\/strong><br>Requests fail\.<br>We look for the cause\.<\/p>/,
    );
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
    expect(textOf(incident, "link")).toBe("https://vantage.example/status/acme#incident-7");
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
      url: "https://vantage.example/status/acme#incident-7",
      date_published: "2026-11-22T13:58:00.000Z",
      date_modified: "2026-11-22T15:58:00.000Z",
      tags: ["incident"],
    });
    expect(feed.items[1]?.["content_html"]).toContain("<br>We look for the cause.");
  });
});

describe("all feeds", () => {
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
