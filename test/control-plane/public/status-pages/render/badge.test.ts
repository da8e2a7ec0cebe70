import { Parser } from "htmlparser2";
import { describe, expect, it } from "vitest";
import { renderBadge, renderErrorBadge, type BadgeChoice } from "#control-plane/public/status-pages/render/badge.ts";
import { HOSTILE, hoursAgo, makeDays, makeMonitor, makeView, makeViews } from "#test/support/status-page-views.ts";

const PAGE: BadgeChoice = { label: null, monitorId: null, isUptime: false };

/** Width of a badge, its accessible name, and the names of its elements. */
function readBadge(svg: string | null) {
  const names: string[] = [];
  let label = "";
  let width = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        names.push(name);
        if (name !== "svg") return;
        label = attributes["aria-label"] ?? "";
        width = Number(attributes["width"]);
      },
    },
    { xmlMode: true },
  );
  parser.end(svg ?? "");
  return { names, label, width };
}

describe("the badge", () => {
  it("has the status of the page, for the eye and for a screen reader", () => {
    const views = makeViews();
    expect(readBadge(renderBadge(makeView(), PAGE)).label).toBe("status: all systems operational");
    expect(readBadge(renderBadge(views["outage"] ?? makeView(), PAGE)).label).toBe("status: partial outage");
    expect(renderBadge(makeView(), PAGE)).toContain("<title>status: all systems operational</title>");
    expect(readBadge(renderBadge(makeView({ stale: { at: hoursAgo(3) } }), PAGE)).label).toBe("status: out of date");
    expect(readBadge(renderErrorBadge("not found")).label).toBe("status: not found");
  });

  it("has the status or the uptime of one monitor", () => {
    const view = makeView({
      groups: [{ name: null, monitors: [makeMonitor(1, { status: "down", uptime90: 98.5 }), makeMonitor(2)] }],
    });
    const labelOf = (over: Partial<BadgeChoice>) => readBadge(renderBadge(view, { ...PAGE, ...over })).label;
    expect(labelOf({ monitorId: 1 })).toBe("status: down");
    expect(labelOf({ monitorId: 1, isUptime: true, label: "API" })).toBe("API: 98.5 % since 4 Sep");
    expect(labelOf({ isUptime: true })).toBe("uptime: 99.22 % since 4 Sep");
    expect(renderBadge(view, { ...PAGE, monitorId: 3 })).toBeNull();
    const whole = makeView({
      groups: [{ name: null, monitors: [makeMonitor(1, { days: makeDays() }), makeMonitor(2)] }],
    });
    expect(readBadge(renderBadge(whole, { ...PAGE, isUptime: true })).label).toBe("uptime: 99.95 %");
    const quiet = makeView({ groups: [{ name: null, monitors: [makeMonitor(1, { uptime90: null })] }] });
    expect(readBadge(renderBadge(quiet, { ...PAGE, isUptime: true })).label).toBe("uptime: unknown");
  });

  it("is as wide as its texts", () => {
    const widthOf = (label: string) => readBadge(renderBadge(makeView(), { ...PAGE, label })).width;
    expect(widthOf("WWWWWWWWWW") - widthOf("iiiiiiiiii")).toBeGreaterThan(50);
    expect(widthOf("x".repeat(40))).toBeGreaterThan(350);
  });

  it.each(HOSTILE)("has any label as text, without characters that hide or turn it: %j", (text) => {
    const label = text.slice(0, 40);
    const svg = renderBadge(makeView(), { ...PAGE, label });
    expect(readBadge(svg).names).toEqual(readBadge(renderBadge(makeView(), { ...PAGE, label: "x" })).names);
    expect(readBadge(svg).label).toBe(`${label.replaceAll(/\p{C}/gu, "").trim() || "status"}: all systems operational`);
  });

  it("loads nothing from anywhere", () => {
    expect(renderBadge(makeView(), PAGE)).not.toMatch(/<(?:script|style|image|use|a)\b|href|url\((?!#)/);
  });
});
