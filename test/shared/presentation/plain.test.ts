import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { presentExample } from "#test/shared/tools/examples.ts";
import { writePlain } from "#shared/presentation/plain.ts";
import type { Presentation, Table } from "#shared/presentation/presentation.ts";
import { performance } from "#shared/tools/performance/contract.ts";
import { ssl } from "#shared/tools/ssl/contract.ts";

const WIDTHS = [20, 40, 80, 200];
/** Narrower terminals are written to as one of 30 columns. */
const LEAST = 30;

/** Everything that a target could bring into a presentation. */
const HOSTILE = "a\u001b[2J\r\n\u202eb\u2066\u0007\u009b1m\ue000\u{e0041}\ud800c";
const WORDS = "word ".repeat(60).trimEnd();
/** Chinese text has no spaces: each of its characters takes two columns, and a line can end after any. */
const WIDE = "国".repeat(150);
const TEXTS = [HOSTILE, WORDS, WIDE, "👨‍👩‍👧‍👦".repeat(40), "e\u0301e\u0301 ".repeat(100), "שלום ".repeat(60)];

function build(part: Partial<Presentation>): Presentation {
  return { verdict: "neutral", headline: "Headline", facts: [], tables: [], series: [], findings: [], ...part };
}

/** A presentation with a text in each place. */
function everywhere(text: string): Presentation {
  const table: Table = {
    title: text,
    columns: [{ label: text }, { label: text, numeric: true }, { label: "Third" }],
    rows: [{ cells: [text, text, "x"] }, { cells: ["", "1", text], tone: "bad" }, { cells: [] }],
    more: 7,
  };
  return build({
    verdict: "warning",
    headline: text,
    facts: [
      { label: text, value: text, unit: text },
      { label: "Short", value: text, tone: "bad" },
    ],
    tables: [table, { ...table, columns: [{ label: "One" }], rows: [{ cells: [text] }], more: 0 }],
    series: [{ title: text, unit: "ms", bars: [{ label: text, start: 0, length: 1 }] }],
    findings: [{ id: "x", severity: "critical", message: text, how: text, reference: text, where: text }],
  });
}

const widthsOf = (text: string) => text.split("\n").map((line) => stringWidth(line));

describe("a presentation as lines", () => {
  it.each(WIDTHS)("of %d columns has no line that is wider, whatever its texts are", (width) => {
    for (const text of TEXTS.slice(1)) {
      const lines = writePlain(everywhere(text), { width });
      expect(Math.max(...widthsOf(lines)), text.slice(0, 5)).toBeLessThanOrEqual(Math.max(LEAST, width));
    }
  });

  it.each(WIDTHS)("of %d columns neither controls a terminal nor turns text around", (width) => {
    const text = writePlain(everywhere(HOSTILE), { width });
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\p{Co}\p{Zl}\p{Zp}]/u);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain("\\u001b");
  });

  it.each(WIDTHS)("of %d columns keeps an address in one piece, so that it can be copied", (width) => {
    const url = `https://shop.test/${"path/".repeat(20)}`;
    const text = writePlain(build({ facts: [{ label: "Page", value: url }], findings: [] }), { width });
    expect(text).toContain(url);
  });

  it("is its headline alone if there is nothing else", () => {
    expect(writePlain(build({}), { width: 80 })).toBe("Headline");
    expect(writePlain(build({ verdict: "bad" }), { width: 80 })).toBe("BAD  Headline");
  });

  it("has no space at the end of a line and no two empty lines", () => {
    for (const width of WIDTHS) {
      const text = writePlain(everywhere(WORDS), { width });
      expect(text.split("\n").filter((line) => line !== line.trimEnd())).toEqual([]);
      expect(text).not.toContain("\n\n\n");
    }
  });

  it("has its values below each other, and cuts a label that leaves them no room", () => {
    const facts = [
      { label: "Short", value: "1" },
      { label: "A label that is longer than a value can stand", value: "2" },
    ];
    expect(writePlain(build({ facts }), { width: 40 }).split("\n").slice(2)).toEqual([
      "Short                     1",
      "A label that is longer …  2",
    ]);
  });

  it("has numbers to the right and text to the left, and shortens the widest text only", () => {
    const table = {
      title: "Files",
      columns: [{ label: "Size", numeric: true as const }, { label: "Name" }, { label: "Kind" }],
      rows: [{ cells: ["5", "x".repeat(48), "image"] }, { cells: ["1200", "short", "script"] }],
      more: 3,
    };
    expect(
      writePlain(build({ tables: [table] }), { width: 40 })
        .split("\n")
        .slice(2),
    ).toEqual([
      "Files",
      "Size  Name                        Kind",
      `   5  ${"x".repeat(25)}…  image`,
      "1200  short                       script",
      "and 3 more",
    ]);
  });

  it("writes a table that is too wide as lines with all of its text", () => {
    const table = {
      title: "Checks",
      columns: [{ label: "Check" }, { label: "Found" }, { label: "Wanted" }],
      rows: [{ cells: ["First of all", "none of the things that it needs", "all of the things that it needs"] }],
      more: 0,
    };
    expect(
      writePlain(build({ tables: [table] }), { width: 40 })
        .split("\n")
        .slice(2),
    ).toEqual([
      "Checks",
      "- Check: First of all",
      "  Found: none of the things that it",
      "  needs",
      "  Wanted: all of the things that it",
      "  needs",
    ]);
  });

  it("draws bars to scale if there is room for them, and times alone if there is none", () => {
    const bars = [
      { label: "Wait", start: 0, length: 30 },
      { label: "Read", start: 30, length: 10 },
    ];
    const shown = build({ series: [{ title: "Timing", unit: "ms", bars }] });
    expect(writePlain(shown, { width: 55 }).split("\n").slice(2)).toEqual([
      "Timing",
      `Wait  30 ms  ${"█".repeat(30)}`,
      `Read  10 ms  ${" ".repeat(30)}${"█".repeat(10)}`,
    ]);
    const long = bars.map((bar) => ({ ...bar, label: "A label with many words" }));
    expect(
      writePlain(build({ series: [{ title: "Timing", unit: "ms", bars: long }] }), { width: 30 }).split("\n")[3],
    ).toBe("A label with m…  30 ms");
  });

  it("draws times that no clock can measure", () => {
    const bars = [
      { label: "None", start: 0, length: 0 },
      { label: "All", start: 1e308, length: 1e308 },
      { label: "Below", start: -5, length: -1 },
    ];
    for (const width of WIDTHS) writePlain(build({ series: [{ title: "Timing", unit: "ms", bars }] }), { width });
    expect(writePlain(build({ series: [{ title: "Timing", unit: "ms", bars: [] }] }), { width: 80 })).toBe(
      "Headline\n\nTiming",
    );
  });

  it.each([ssl, performance])("of $name says the same with styles as without", (contract) => {
    // oxlint-disable-next-line no-control-regex
    const styles = /\u001b\[\d+m/g;
    for (const width of WIDTHS) {
      const shown = presentExample(contract);
      const painted = writePlain(shown, { width, paint: (text) => `\u001b[31m${text}\u001b[39m` });
      expect(painted.replaceAll(styles, "").replaceAll(/ +$/gm, "")).toBe(writePlain(shown, { width }));
    }
  });
});
