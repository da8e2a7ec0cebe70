import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { policyOf, previewPolicyOf } from "#control-plane/public/status-pages/render/html/frame.ts";
import { renderPage } from "#control-plane/public/status-pages/render/html/page.ts";
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

const render = (...given: Parameters<typeof renderPage>): string => String(renderPage(...given));
const views = makeViews();
const stylesOf = (html: string) => Array.from(html.matchAll(/<style>([^<]*)<\/style>/g), ([, style = ""]) => style);

describe("the page", () => {
  it.each(["operational", "outage", "maintenance", "stale", "empty", "rtl"])(
    "has at most 64 KB for 10 monitors, and a tenth of it when compressed: %s",
    (name) => {
      const html = render(views[name] ?? makeView(), "/status/acme");
      expect(Buffer.byteLength(html)).toBeLessThanOrEqual(64_000);
      expect(gzipSync(html).length).toBeLessThan(6_000);
    },
  );

  it("has at most 60 KB when compressed for 50 services and 14 days of incidents", () => {
    const text = (seed: number): string =>
      Array.from({ length: 60 }, (_, index) => ((seed * 31 + index * 7) % 9_973).toString(36)).join(" ");
    const groups = Array.from({ length: 5 }, (_, group) => ({
      name: `Region ${text(group).slice(0, 40)}`,
      monitors: Array.from({ length: 10 }, (_unused, index) => {
        const id = group * 10 + index + 1;
        const days = makeDays((day) => {
          const downSeconds = (id * 7_919 + day * 104_729) % 9_000;
          // Out of order on every fourth day.
          return day % 4 > 0 ? {} : { uptime: Math.floor((1 - downSeconds / 86_400) * 100_000) / 1_000, downSeconds };
        });
        return makeMonitor(id, { name: `Service ${text(id).slice(0, 60)}`, days });
      }),
    }));
    const updates = (id: number) =>
      Array.from({ length: 20 }, (_, index) => ({
        id: id * 100 + index,
        at: hoursAgo(id),
        status: "identified" as const,
        text: text(id * 20 + index),
      }));
    const incidents = Array.from({ length: 20 }, (_, index) =>
      makeIncident(index + 1, {
        title: text(index).slice(0, 100),
        startedAt: hoursAgo(index * 16),
        updates: updates(index),
      }),
    );
    const html = render(makeView({ groups, incidents }), "/status/acme");
    expect(html.match(/ data-day=/g)).toHaveLength(4_500);
    expect(gzipSync(html).length).toBeLessThan(60_000);
  });

  it("has a bar for each day of each monitor, with its date and its figures in words", () => {
    const html = render(makeView(), "/status/acme");
    expect(html.match(/ data-day="\d{4}-\d\d-\d\d">/g)).toHaveLength(900);
    expect(html).toContain(`<li class="p" data-day="2026-11-16"><p>16 Nov 2026: 99.95 % up, 43 s down`);
    expect(html).toContain(`<li data-day="2026-11-23"><p>23 Nov 2026: 100 % up`);
  });

  it("shows what is open first, with what people write before what monitors report, then the services, then plans and the past", () => {
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
    const { text } = readHtml(render(view, "/status/acme"));
    const current = ["All systems operational", "Open incidents", "Now", "Reported by a check", "Running"];
    const order = [...current, "Response", "Planned", "Past 14 days", "Before", "Done"];
    const places = order.map((word) => text.indexOf(word));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    // The period of a day has the date once, another one twice.
    expect(text).toContain("22 Nov 2026, 13:58 UTC to 15:58 UTC");
    expect(text).toContain("21 Nov 2026, 07:58 UTC to 22 Nov 2026, 13:58 UTC");
  });

  it("has a line for an outage that nobody wrote about, and a link from the top to what is open", () => {
    const outage = { title: "API is down", isOutage: true, cause: "It answers too slowly.", regions: [], updates: [] };
    const over = render(makeView({ incidents: [makeIncident(7, outage)] }), "");
    const line = /<li class="e a" id="incident-7">(.*?)<\/li>/s.exec(over)?.[1] ?? "";
    expect(readHtml(line).text).toMatch(
      /^\s*API is down\s*2\u00A0h · 13:58 UTC to 15:58 UTC · It answers too slowly\.\s*$/,
    );
    expect(over).not.toContain("#open");
    const open = render(makeView({ incidents: [makeIncident(7, { ...outage, resolvedAt: null })] }), "");
    expect(open).toContain(`<a href="#open">1 open incident</a>`);
    expect(open).toContain(`<h2 id="open">Open incidents</h2>`);
    // Its title is an English sentence, whatever the first letters of the name are; what a person wrote is as it begins.
    const sentence = { ...outage, title: "\u05e9\u05d9\u05e8\u05d5\u05ea is down", resolvedAt: null };
    const named = (isOutage: boolean) =>
      render(makeView({ incidents: [makeIncident(7, { ...sentence, isOutage })] }), "");
    expect(named(true)).not.toMatch(/dir="auto">(?:<a [^>]*>)?\u05e9/);
    expect(named(false)).toMatch(/dir="auto">(?:<a [^>]*>)?\u05e9/);
  });

  it("says since when the uptime is if it is not of 90 days, and of each day without data that there is none", () => {
    const days = makeDays((index) => (index < 69 ? { uptime: null } : {}));
    const monitors = [makeMonitor(1, { days, uptime90: 99.989 }), makeMonitor(2, { days: makeDays() })];
    const html = render(makeView({ groups: [{ name: null, monitors }] }), "");
    const { text } = readHtml(html);
    expect(text).toContain("Uptime\u00A099.98 % since\u00A03\u00A0Nov");
    expect(text).toContain("Uptime\u00A099.95 % in\u00A090\u00A0days");
    expect(html).toContain(`<li class="n" data-day="2026-11-02"><p>2 Nov 2026: no data`);
  });

  it("has no word that only its operator knows", () => {
    const down = makeIncident(9, { isOutage: true, resolvedAt: null });
    for (const view of [...Object.values(makeViews()), makeView({ incidents: [down] })]) {
      expect(readHtml(render(view, "")).text).not.toMatch(/monitor|observation|heartbeat|seen from|probe|stale/i);
    }
  });

  it("says that it is stale, and when the newest observation was", () => {
    const stale = readHtml(render(views["stale"] ?? makeView(), "")).text;
    expect(stale).toMatch(/This page may be out of date\s*The status below can be wrong\.\s*The last check was at/);
    expect(stale).toContain("23 Nov 2026, 16:58 UTC");
    expect(readHtml(render(makeView({ stale: { at: null } }), "")).text).toContain("Nothing has been checked yet.");
    expect(render(makeView(), "")).not.toContain("out of date");
  });

  it("has the time of the newest check, or of the newest change if there was no check, to the minute", () => {
    const [newest, empty] = [render(makeView(), ""), render(views["empty"] ?? makeView(), "")];
    expect(newest).toContain(`Last checked <time datetime="2026-11-23T19:57Z">23 Nov 2026, 19:57 UTC</time>`);
    expect(empty).toContain(`Last change <time datetime="2026-11-11T07:58Z">11 Nov 2026, 07:58 UTC</time>`);
    expect(render(makeView({ generatedAt: hoursAgo(-1) }), "")).toBe(newest);
    expect(render(makeView({ checkedAt: hoursAgo(-1 / 60) }), "")).not.toBe(newest);
  });

  it("says how long an open incident has lasted, to the minute", () => {
    const factsOf = (durationSeconds: number, resolvedAt: Date | null) =>
      readHtml(render(makeView({ incidents: [makeIncident(8, { durationSeconds, resolvedAt })] }), "")).text;
    expect(factsOf(3_725, null)).toContain("Major impact, 1\u00A0h\u00A02\u00A0min\u00A0so\u00A0far");
    expect(factsOf(59, null)).toContain("less\u00A0than\u00A01\u00A0min");
    expect(factsOf(125, hoursAgo(1))).toContain("Major impact, 2\u00A0min\u00A05\u00A0s");
  });

  it("has a form only if visitors can subscribe, and its policy allows the form only then", () => {
    const open = makeView();
    const closed = makeView({ canSubscribe: false });
    expect(render(open, "/status/acme")).toContain(`<form method="post" action="/status/acme/subscribe">`);
    expect(render(open, "")).toContain(`action="/subscribe"`);
    expect(render(closed, "/status/acme")).not.toContain("<form");
    expect(policyOf(open)).toContain("form-action 'self'");
    expect(policyOf(closed)).toContain("form-action 'none'");
  });

  it("has one script, a file of the service, and the policy allows its style by the hash", () => {
    const html = render(makeView(), "/status/acme");
    expect(html.match(/<script[^>]*>[^<]*<\/script>/g)).toEqual([
      expect.stringMatching(/^<script type="module" src="\/assets\/status-page-[\w-]{16}\/refresh\.js"><\/script>$/),
    ]);
    expect(html).not.toMatch(/javascript:|\son\w+=|\sstyle=/);
    expect(html).toContain(`<noscript><meta http-equiv="refresh" content="300"></noscript>`);
    expect(policyOf(makeView())).toContain("default-src 'none'; script-src 'self'; connect-src 'self'; style-src");
    const style = /<style>([^<]*)<\/style>/.exec(html)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(policyOf(makeView())).toContain(`style-src 'sha256-${hash}';`);
    expect(policyOf(makeView())).not.toContain("unsafe");
  });

  it("has the accent colour of its owner in a style of its own, which its policy and that of its preview allow", () => {
    const accented = makeView({ accentColor: "#ffee00" });
    const [plain = "", ...none] = stylesOf(render(makeView(), ""));
    const [first, accent = "", ...others] = stylesOf(render(accented, ""));
    // Of everything else, the states among it, the colours stay.
    expect([none, first, others]).toEqual([[], plain, []]);
    expect(accent).toMatch(/^:root{--accent:#[0-9a-f]{6}}body{border-top:[^}]*}@media screen and /);
    expect(accent).not.toMatch(/--(?:good|warn|serious|bad|info|b):/);
    const hash = `'sha256-${createHash("sha256").update(accent).digest("base64")}'`;
    for (const policy of [policyOf(accented), previewPolicyOf(accented)]) expect(policy).toContain(hash);
    expect(policyOf(makeView())).not.toContain(hash);
  });

  it("names its feeds, its summary and its badge where programs look for them", () => {
    const html = render(makeView(), "/status/acme");
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

  it("has an icon of the state by shape and colour, which its policy allows", () => {
    const icons = new Map(
      Object.entries(makeViews()).map(([name, view]) => {
        const [, icon = ""] =
          /<link rel="icon" type="image\/svg\+xml" href="data:image\/svg\+xml,([^"]*)">/.exec(render(view, "")) ?? [];
        return [name, decodeURIComponent(icon)];
      }),
    );
    const factsOf = (name: string) =>
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 16 16"><path fill="(#[0-9a-f]{6})" fill-rule="evenodd" d="([^"]+)"\/><\/svg>$/.exec(
        icons.get(name) ?? "",
      );
    expect(["operational", "outage", "maintenance", "stale"].map((name) => factsOf(name)?.[1])).toEqual([
      "#1a7f37",
      "#bc4c00",
      "#0969da",
      "#59636e",
    ]);
    expect(new Set([...icons.keys()].map((name) => factsOf(name)?.[2])).size).toBe(4);
    expect(policyOf(makeView())).toContain("img-src 'self' data:;");
  });

  it("links to the site that it is about, if there is one", () => {
    expect(render(makeView(), "")).toContain(`<a href="https://www.acme.example/">www.acme.example</a>`);
    expect(render(makeView({ homepageUrl: null }), "")).not.toContain("www.acme.example");
  });

  it("has the newest five updates of an incident, and a link to the others", () => {
    const updates = Array.from({ length: 6 }, (_, index) => {
      return { id: index, at: hoursAgo(index), status: "identified" as const, text: `Text ${index}.` };
    });
    const html = render(makeView({ incidents: [makeIncident(7, { updates })] }), "/status/acme");
    expect(html).toContain("Text 4.");
    expect(html).not.toContain("Text 5.");
    expect(html).toContain(`<a href="/status/acme/incidents/7">All updates</a>`);
    expect(render(makeView(), "")).not.toContain("All updates");
  });

  it("has no element twice by the same id, and no empty group", () => {
    const view = makeView({ groups: [...makeView().groups, { name: "Nothing", monitors: [] }] });
    const { ids, text } = readHtml(render(view, "/status/acme"));
    expect(new Set(ids).size).toBe(ids.length);
    expect(text).not.toContain("Nothing");
    expect(readHtml(render(views["empty"] ?? view, "")).text).toContain("No service is listed yet.");
  });

  it.each(HOSTILE)("shows any text as text: %j", (text) => {
    const plain = readHtml(render(changeTexts(makeView(), "plain"), "/status/acme"));
    const hostile = readHtml(render(changeTexts(makeView(), text), "/status/acme"));
    expect(hostile.names).toEqual(plain.names);
    expect(hostile.ids).toEqual(plain.ids);
    // Title of the document, heading, description, footer, groups, monitors, events.
    expect(hostile.text.split(text).length).toBeGreaterThan(20);
  });
});
