import { describe, expect, it } from "vitest";
import { renderBars, toStrip, type Cell, type Strip } from "#control-plane/core/charts/bars.ts";
import { viewerTimeIn } from "#control-plane/core/charts/viewer-time.ts";
import { BERLIN, UTC } from "#test/control-plane/core/charts/zones.ts";

const HALF_HOUR_MS = 1_800_000;
const START = Date.parse("2026-11-26T12:30:00Z");
const TIME = viewerTimeIn(BERLIN);

const QUIET = Array.from({ length: 48 }, (_, index) => ({
  from: START + index * HALF_HOUR_MS,
  to: START + (index + 1) * HALF_HOUR_MS,
  upMs: HALF_HOUR_MS,
  downMs: 0,
  unknownMs: 0,
  maintenanceMs: 0,
  isSlow: false,
}));

type Change = Partial<(typeof QUIET)[number]>;

/** A day of which some half hours were another way. */
function stripOf(changes: Readonly<Record<number, Change>>): string {
  const steps = QUIET.map((step, index) => ({ ...step, ...changes[index] }));
  return String(renderBars(toStrip("24 hours", "minute", steps), TIME));
}

function titlesOf(svg: string): readonly string[] {
  return Array.from(svg.matchAll(/<title>([^<]*)<\/title>/g), ([, title = ""]) => title);
}

describe("a strip", () => {
  it("of a quiet day is one bar, and has at most 400 bytes", () => {
    const svg = stripOf({});
    expect(titlesOf(svg)).toEqual(["26 Nov 13:30 to 27 Nov 13:30: up"]);
    expect(svg).toContain(`role="img" aria-label="24 hours: down 0, degraded 0, no data 0"`);
    expect(Buffer.byteLength(svg)).toBeLessThan(400);
  });

  it("sums the time in each state up for readers that see no bars", () => {
    const down = { upMs: HALF_HOUR_MS - 1_050_000, downMs: 1_050_000 };
    const svg = stripOf({
      4: { upMs: 0, unknownMs: HALF_HOUR_MS },
      5: { upMs: 0, unknownMs: HALF_HOUR_MS },
      10: down,
      11: down,
      20: { isSlow: true },
      30: { upMs: 0, maintenanceMs: HALF_HOUR_MS },
    });
    expect(svg).toContain(`aria-label="24 hours: down 35 min, degraded 30 min, no data 1 h, maintenance 30 min"`);
  });

  it("has a bar of its own for each state, with an outline that no other state has", () => {
    const svg = stripOf({
      0: { upMs: 0 },
      1: { upMs: 0, unknownMs: HALF_HOUR_MS },
      2: { downMs: 60_000 },
      3: { isSlow: true },
      4: { upMs: 0, maintenanceMs: HALF_HOUR_MS },
    });
    const outlines = Array.from(svg.matchAll(/class="(\w+)" d="M\d+ ([^"]+)"/g), ([, name = "", d = ""]) => {
      return [name, d.replace(/M\d+/, "M").replaceAll(/h-?\d+/g, "h")];
    });
    expect(outlines.map(([name]) => name)).toEqual(["cn", "cd", "cg", "cm", "cu"]);
    expect(new Set(outlines.map(([, d]) => d)).size).toBe(5);
  });

  it("leaves the time before a monitor empty", () => {
    const svg = stripOf({ 0: { upMs: 0 }, 1: { upMs: 0 } });
    expect(titlesOf(svg)).toEqual(["26 Nov 14:30 to 27 Nov 13:30: up"]);
    expect(svg).toContain(`d="M2 20h46`);
  });

  it("shows a step as down that was down for a moment, and each length of downtime apart", () => {
    const svg = stripOf({ 7: { downMs: 1 }, 8: { downMs: 1_000 }, 9: { downMs: 90_000 } });
    expect(titlesOf(svg)).toEqual([
      "26 Nov 13:30 to 26 Nov 17:00: up",
      "26 Nov 17:00 to 26 Nov 18:00: down 1 s",
      "26 Nov 18:00 to 26 Nov 18:30: down 1 min 30 s",
      "26 Nov 18:30 to 27 Nov 13:30: up",
    ]);
  });

  it("by days names days, from the first to the last", () => {
    const day = 86_400_000;
    const begin = Date.parse("2026-11-01T00:00:00Z");
    const none = { upMs: 0, downMs: 0, unknownMs: 0, maintenanceMs: 0, isSlow: false };
    const steps = Array.from({ length: 4 }, (_, index) => {
      const time = index === 2 ? { ...none, downMs: day } : { ...none, upMs: day };
      // The running day is not over.
      return { ...time, from: begin + index * day, to: begin + index * day + (index === 3 ? 1 : day) };
    });
    const svg = String(renderBars(toStrip("4 days", "day", steps), viewerTimeIn(UTC)));
    expect(titlesOf(svg)).toEqual(["1 Nov to 2 Nov: up", "3 Nov: down 1 d", "4 Nov: up"]);
  });

  it("escapes titles and its label", () => {
    const hostile = `"><script>alert(1)</script><a href='x'>&`;
    const cell: Cell = { from: START, to: START + 1, steps: 1, state: "up", title: hostile };
    const strip: Strip = { ...toStrip(hostile, "minute", []), cells: [cell] };
    const svg = String(renderBars(strip, TIME));
    expect(svg.match(/<\/?\w+/g)).toEqual(["<svg", "<path", "<title", "</title", "</path", "</svg"]);
    expect(svg).toContain("&lt;script&gt;");
  });

  it("of no cells is an empty picture", () => {
    const svg = String(renderBars(toStrip("24 hours", "minute", []), TIME));
    expect(svg).toMatch(/^<svg [^>]*viewBox="0 0 0 20"[^>]*><\/svg>$/);
  });

  it("needs no style attribute and no script", () => {
    const svg = stripOf({ 3: { downMs: 5_000 }, 9: { isSlow: true }, 12: { upMs: 0, maintenanceMs: 1 } });
    expect(svg).not.toMatch(/\sstyle=|\son\w+=|<script|<style|NaN|undefined/);
  });
});
