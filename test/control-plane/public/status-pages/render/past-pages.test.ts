import { describe, expect, it } from "vitest";
import type { PageView, ShownIncident } from "#control-plane/public/status-pages/page.ts";
import { monthOf } from "#control-plane/public/status-pages/read/month.ts";
import { renderArchivePage, renderIncidentPage } from "#control-plane/public/status-pages/render/html/past-pages.ts";
import { readHtml } from "#test/support/read-html.ts";
import {
  changeTexts,
  HOSTILE,
  hoursAgo,
  makeIncident,
  makeMaintenance,
  makeView,
} from "#test/support/status-page-views.ts";

const incidentPage = (incident: ShownIncident, view: PageView = makeView(), month: string | null = "2026-11"): string =>
  String(renderIncidentPage({ view, incident, month, generatedAt: view.generatedAt }, "/status/acme"));

function archivePage(view: PageView, name: string, isCut = false): string {
  const month = monthOf(name, new Date("2026-09-20T00:00:00Z"), view.generatedAt);
  if (month === null) throw new Error("no such month");
  const { incidents, maintenance, generatedAt } = view;
  const archive = { month, incidents, maintenance, isCut };
  return String(renderArchivePage({ view, archive, generatedAt }, "/status/acme"));
}

describe("the page of an incident", () => {
  it("has its title, state, times, components and updates, and the way back", () => {
    const html = incidentPage(makeIncident(7, { title: "Slow search", cause: null, regions: [], monitorIds: [1, 3] }));
    const { text } = readHtml(html);
    for (const words of ["Acme", "Slow search", "Resolved · Major impact", "22 Nov 2026, 13:58 UTC to 15:58 UTC"]) {
      expect(text).toContain(words);
    }
    expect(text).toMatch(/Affects Service 1, Service 3/);
    expect(text).toMatch(/Resolved · 22 Nov 2026, 15:58 UTC\s*All requests succeed again\.\s*Investigating/);
    expect(html).toContain(`<a href="/status/acme" dir="auto">Acme</a>`);
    expect(html).toContain(`<a href="/status/acme/history?month=2026-11">`);
    expect(html).toContain(`<link rel="canonical" href="https://vantage.example/status/acme/incidents/7">`);
    expect(incidentPage(makeIncident(7), makeView(), null)).not.toContain("history?month");
  });

  it("says of an outage that nobody wrote about where it comes from, and since when it lasts", () => {
    const outage = { title: "API is down", isOutage: true, regions: [], updates: [], cause: "It answers too slowly." };
    const { text } = readHtml(incidentPage(makeIncident(7, { ...outage, status: "investigating", resolvedAt: null })));
    expect(text).toMatch(/Since 22 Nov 2026, 13:58 UTC\s*Affects Service 1\s*It answers too slowly\./);
    expect(text).toContain("An automatic check has found this.");
  });
});

describe("a month of the archive", () => {
  it("has what began in it by day, a link to each incident, and links to the months beside it", () => {
    const view = makeView({
      incidents: [makeIncident(7), makeIncident(6, { title: "API is down", isOutage: true, updates: [], regions: [] })],
      maintenance: [makeMaintenance(2, { status: "completed", startsAt: hoursAgo(60), endsAt: hoursAgo(58) })],
    });
    const html = archivePage(view, "2026-10");
    const { text } = readHtml(html);
    expect(text).toMatch(/October 2026\s*22 Nov 2026[^]*21 Nov 2026\s*Database upgrade/);
    expect(html).toContain(`<a href="/status/acme/incidents/7">API is down</a>`);
    expect(html).toContain(`<a href="/status/acme/history?month=2026-09" rel="prev">September 2026</a>`);
    expect(html).toContain(`<a href="/status/acme/history?month=2026-11" rel="next">November 2026</a>`);
    // Of the updates only the newest: the incident has a page with all.
    expect(text).toContain("All requests succeed again.");
    expect(text).not.toContain("We look for the cause.");
    expect(html).not.toContain("left out");
    expect(archivePage(view, "2026-10", true)).toContain("older ones of this month are left out");
  });

  it("says that there was nothing, and has no link to a month that the archive does not have", () => {
    const empty = makeView({ incidents: [], maintenance: [] });
    expect(readHtml(archivePage(empty, "2026-11")).text).toContain("No incident and no maintenance.");
    expect(archivePage(empty, "2026-11")).not.toContain(`rel="next"`);
    expect(archivePage(empty, "2026-09")).not.toContain(`rel="prev"`);
  });

  it("stays small with the longest updates", () => {
    const long = { id: 1, at: hoursAgo(28), status: "resolved", text: "word ".repeat(1_000) } as const;
    const incidents = Array.from({ length: 100 }, (_, index) => makeIncident(index + 1, { updates: [long] }));
    expect(archivePage(makeView({ incidents }), "2026-11").length).toBeLessThan(150_000);
  });
});

describe.each(HOSTILE)("any text is text: %j", (text) => {
  it("on the page of an incident, and in the archive", () => {
    const pagesOf = (given: string) => {
      const view = changeTexts(makeView(), given);
      return [incidentPage(view.incidents[0] ?? makeIncident(7), view), archivePage(view, "2026-10")].map(readHtml);
    };
    const [plain, hostile] = [pagesOf("plain"), pagesOf(text)];
    expect(hostile.map(({ names }) => names)).toEqual(plain.map(({ names }) => names));
    expect(hostile.map(({ ids }) => ids)).toEqual(plain.map(({ ids }) => ids));
  });
});
