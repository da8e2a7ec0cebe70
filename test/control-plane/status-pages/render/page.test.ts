import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { policyOf } from "#control-plane/status-pages/render/html/frame.ts";
import { renderPage } from "#control-plane/status-pages/render/html/page.ts";
import { readHtml } from "#test/support/read-html.ts";
import {
  changeTexts,
  HOSTILE,
  hoursAgo,
  makeDays,
  makeIncident,
  makeMaintenance,
  makeMonitor,
  makeView,
  makeViews,
} from "#test/support/status-page-views.ts";

const views = makeViews();

describe("the page", () => {
  it.each(["operational", "outage", "maintenance", "stale", "empty", "rtl"])(
    "has at most 60 KB for 10 monitors, and a tenth of it when compressed: %s",
    (name) => {
      const html = renderPage(views[name] ?? makeView(), "/status/acme");
      expect(Buffer.byteLength(html)).toBeLessThanOrEqual(60_000);
      expect(gzipSync(html).length).toBeLessThan(6_000);
    },
  );

  it("has a bar for each day of each monitor, with its date and its figures in words", () => {
    const html = renderPage(makeView(), "/status/acme");
    expect(html.match(/ data-day=\d{4}-\d\d-\d\d>/g)).toHaveLength(900);
    expect(html).toContain(`<li class="p" data-day=2026-11-16><p>16 Nov 2026: 99.95 % up, 43 s down`);
    expect(html).toContain(`<li data-day=2026-11-23><p>23 Nov 2026: 100 % up`);
  });

  it("shows the services first, then what is open, with what people write first, then maintenance, then the past", () => {
    const open = { resolvedAt: null, updates: [], cause: null };
    const view = makeView({
      incidents: [
        makeIncident(9, { ...open, title: "Reported by a check", isOutage: true }),
        makeIncident(8, { ...open, title: "Now", startedAt: hoursAgo(40) }),
        makeIncident(7, { title: "Before" }),
      ],
      maintenance: [
        makeMaintenance(1, { title: "Running", status: "in_progress", startsAt: hoursAgo(1) }),
        makeMaintenance(2, { title: "Planned" }),
        makeMaintenance(3, { title: "Done", status: "completed", startsAt: hoursAgo(60), endsAt: hoursAgo(30) }),
      ],
    });
    const { text } = readHtml(renderPage(view, "/status/acme"));
    const current = ["All systems operational", "Response", "Open incidents", "Now", "Reported by a check"];
    const order = [...current, "Running", "Planned", "Past 14 days", "Before", "Done"];
    const places = order.map((word) => text.indexOf(word));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    // The period of a day has the date once, another one twice.
    expect(text).toContain("22 Nov 2026, 13:58 UTC to 15:58 UTC");
    expect(text).toContain("21 Nov 2026, 07:58 UTC to 22 Nov 2026, 13:58 UTC");
  });

  it("has a line for an outage that nobody wrote about, and a link from the top to what is open", () => {
    const outage = { title: "API is down", isOutage: true, cause: "It answers too slowly.", regions: [], updates: [] };
    const over = renderPage(makeView({ incidents: [makeIncident(7, outage)] }), "");
    const line = /<li class="e a" id="incident-7">(.*?)<\/li>/s.exec(over)?.[1] ?? "";
    expect(readHtml(line).text).toMatch(
      /^\s*API is down\s*2\u00A0h · 13:58 UTC to 15:58 UTC · It answers too slowly\.\s*$/,
    );
    expect(over).not.toContain("#open");
    const open = renderPage(makeView({ incidents: [makeIncident(7, { ...outage, resolvedAt: null })] }), "");
    expect(open).toContain(`<a href="#open">1 open incident</a>`);
    expect(open).toContain(`<h2 id="open">Open incidents</h2>`);
  });

  it("says since when the uptime is if it is not of 90 days, and of each day without data that there is none", () => {
    const days = makeDays((index) => (index < 69 ? { uptime: null } : {}));
    const monitors = [makeMonitor(1, { days, uptime90: 99.989 }), makeMonitor(2, { days: makeDays() })];
    const html = renderPage(makeView({ groups: [{ name: null, monitors }] }), "");
    const { text } = readHtml(html);
    expect(text).toContain("Uptime\u00A099.98 % since 3 Nov");
    expect(text).toContain("Uptime\u00A099.95 % in 90 days");
    expect(html).toContain(`<li class="n" data-day=2026-11-02><p>2 Nov 2026: no data`);
  });

  it("has no word that only its operator knows", () => {
    const down = makeIncident(9, { isOutage: true, resolvedAt: null });
    for (const view of [...Object.values(makeViews()), makeView({ incidents: [down] })]) {
      expect(readHtml(renderPage(view, "")).text).not.toMatch(/monitor|observation|heartbeat|seen from|probe|stale/i);
    }
  });

  it("says that it is stale, and when the newest observation was", () => {
    const stale = readHtml(renderPage(views["stale"] ?? makeView(), "")).text;
    expect(stale).toMatch(/This page may be out of date\s*The status below can be wrong\.\s*The last check was at/);
    expect(stale).toContain("23 Nov 2026, 16:58 UTC");
    expect(readHtml(renderPage(makeView({ stale: { at: null } }), "")).text).toContain("Nothing has been checked yet.");
    expect(renderPage(makeView(), "")).not.toContain("out of date");
  });

  it("has the time of the newest check, or of the newest change if there was no check, to the minute", () => {
    const [newest, empty] = [renderPage(makeView(), ""), renderPage(views["empty"] ?? makeView(), "")];
    expect(newest).toContain(`Last checked <time datetime="2026-11-23T19:57Z">23 Nov 2026, 19:57 UTC</time>`);
    expect(empty).toContain(`Last change <time datetime="2026-11-11T07:58Z">11 Nov 2026, 07:58 UTC</time>`);
    expect(renderPage(makeView({ generatedAt: hoursAgo(-1) }), "")).toBe(newest);
    expect(renderPage(makeView({ checkedAt: hoursAgo(-1 / 60) }), "")).not.toBe(newest);
  });

  it("says how long an open incident has lasted, to the minute", () => {
    const factsOf = (durationSeconds: number, resolvedAt: Date | null) =>
      readHtml(renderPage(makeView({ incidents: [makeIncident(8, { durationSeconds, resolvedAt })] }), "")).text;
    expect(factsOf(3_725, null)).toContain("Major impact, 1\u00A0h\u00A02\u00A0min\u00A0so\u00A0far");
    expect(factsOf(59, null)).toContain("less\u00A0than\u00A01\u00A0min");
    expect(factsOf(125, hoursAgo(1))).toContain("Major impact, 2\u00A0min\u00A05\u00A0s");
  });

  it("has a form only if visitors can subscribe, and its policy allows the form only then", () => {
    const open = makeView();
    const closed = makeView({ canSubscribe: false });
    expect(renderPage(open, "/status/acme")).toContain(`<form method="post" action="/status/acme/subscribe">`);
    expect(renderPage(open, "")).toContain(`action="/subscribe"`);
    expect(renderPage(closed, "/status/acme")).not.toContain("<form");
    expect(policyOf(open)).toContain("form-action 'self'");
    expect(policyOf(closed)).toContain("form-action 'none'");
  });

  it("has no script, and the policy allows its style by the hash", () => {
    const html = renderPage(makeView(), "/status/acme");
    expect(html).not.toMatch(/<script|javascript:|\son\w+=|\sstyle=/);
    const style = /<style>([^<]*)<\/style>/.exec(html)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(policyOf(makeView())).toContain(`style-src 'sha256-${hash}';`);
    expect(policyOf(makeView())).not.toContain("unsafe");
  });

  it("names its feeds, its summary and its badge where programs look for them", () => {
    const html = renderPage(makeView(), "/status/acme");
    for (const [type, path] of [
      ["application/rss+xml", "feed.rss"],
      ["application/atom+xml", "feed.atom"],
      ["application/feed+json", "feed.json"],
      ["application/json", "summary.json"],
      ["image/svg+xml", "badge.svg"],
    ]) {
      expect(html).toMatch(
        new RegExp(
          `<link rel="alternate" type="${type?.replace("+", String.raw`\+`)}"[^>]* href="/status/acme/${path}">`,
        ),
      );
    }
  });

  it("has no element twice by the same id, and no empty group", () => {
    const view = makeView({ groups: [...makeView().groups, { name: "Nothing", monitors: [] }] });
    const { ids, text } = readHtml(renderPage(view, "/status/acme"));
    expect(new Set(ids).size).toBe(ids.length);
    expect(text).not.toContain("Nothing");
    expect(readHtml(renderPage(views["empty"] ?? view, "")).text).toContain("No service is listed yet.");
  });

  it.each(HOSTILE)("shows any text as text: %j", (text) => {
    const plain = readHtml(renderPage(changeTexts(makeView(), "plain"), "/status/acme"));
    const hostile = readHtml(renderPage(changeTexts(makeView(), text), "/status/acme"));
    expect(hostile.names).toEqual(plain.names);
    expect(hostile.ids).toEqual(plain.ids);
    // Title of the document, heading, description, footer, groups, monitors, events.
    expect(hostile.text.split(text).length).toBeGreaterThan(20);
  });
});
