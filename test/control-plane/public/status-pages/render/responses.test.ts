import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { policyOf } from "#control-plane/public/status-pages/render/html/frame.ts";
import { renderPage } from "#control-plane/public/status-pages/render/html/page.ts";
import type { PageView } from "#control-plane/public/status-pages/page.ts";
import {
  HOSTILE,
  hoursAgo,
  makeIncident,
  makeMaintenance,
  makeMonitor,
  makeView,
  responsesOf,
} from "#test/support/status-page-views.ts";

const render = (over: Partial<PageView>) => String(renderPage(makeView(over), "/status/acme"));

describe("the response times of a page", () => {
  it("are a chart for each monitor that has any", () => {
    const monitors = [makeMonitor(1, { name: "Shop" }), makeMonitor(2, { name: "Backup" })];
    const html = render({ groups: [{ name: null, monitors }], responses: responsesOf(1) });
    expect(html.match(/<figure class="cl">/g)).toHaveLength(1);
    expect(html).toContain(`<li><details><summary><h3 dir="auto">Shop</h3></summary><figure`);
    expect(html).toContain("Response time</b> last 103 ms, p50 92 ms, p95 200 ms");
    expect(html).toContain(`aria-label="Shop, 24 hours. Response time: p50 92 ms, p95 200 ms"`);
  });

  it("mark the incidents and the maintenance that the page shows, each with its monitors", () => {
    const html = render({
      groups: [{ name: null, monitors: [makeMonitor(1), makeMonitor(2)] }],
      responses: responsesOf(1, 2),
      incidents: [
        makeIncident(7, { title: "Slow shop", startedAt: hoursAgo(5), resolvedAt: null, monitorIds: [1] }),
        makeIncident(8, { title: "Long ago", startedAt: hoursAgo(50), resolvedAt: hoursAgo(49), monitorIds: [1] }),
      ],
      maintenance: [
        makeMaintenance(2, { title: "Upgrade", startsAt: hoursAgo(9), endsAt: hoursAgo(8), monitorIds: [2] }),
      ],
    });
    const [, first = "", second = ""] = html.split(`<figure class="cl">`);
    const marksOf = (chart: string) =>
      Array.from(chart.matchAll(/<path class="(c[iw])"[^>]*><title>([^<]*)/g), ([, name, title]) => [name, title]);
    expect(marksOf(first)).toEqual([["ci", "Slow shop"]]);
    expect(marksOf(second)).toEqual([["cw", "Upgrade"]]);
  });

  it.each([
    ["that does not show them", null],
    ["whose monitors have none", responsesOf()],
  ])("are left out of a page %s", (_, responses) => {
    expect(render({ responses })).not.toMatch(/Response times|<figure/);
  });

  it("have a style that the policy allows, and that other pages do not load", () => {
    const stylesOf = (html: string) => Array.from(html.matchAll(/<style>([^<]*)<\/style>/g), ([, style = ""]) => style);
    expect(stylesOf(render({}))).toHaveLength(1);
    const responses = responsesOf(1);
    const styles = stylesOf(render({ responses }));
    expect(styles).toHaveLength(2);
    for (const style of styles) {
      expect(policyOf(makeView({ responses }))).toContain(
        `'sha256-${createHash("sha256").update(style).digest("base64")}'`,
      );
    }
  });

  it("escape the names of monitors", () => {
    const hostile = HOSTILE.join("");
    const html = render({
      groups: [{ name: null, monitors: [makeMonitor(1, { name: hostile })] }],
      responses: responsesOf(1),
    });
    expect(html).not.toContain(hostile);
    expect(html).not.toMatch(/<script>|\sstyle=/);
  });
});
