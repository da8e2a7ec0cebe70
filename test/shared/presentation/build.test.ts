import { describe, expect, it } from "vitest";
import { existing, fact, oneLine, table, waterfall } from "#shared/presentation/build.ts";

/** What a target can put into a text: a line break, an escape sequence, a change of direction, an invisible character. */
const HOSTILE = "a\r\nb\u001b[31mc\u0000d\u202ee\u2066f\u200bg";
const CLEANED = "a b [31mc d e f g";

describe("the texts of a presentation", () => {
  it("are one line of printable characters", () => {
    expect(oneLine(HOSTILE)).toBe(CLEANED);
    expect(fact("Name", HOSTILE)?.value).toBe(CLEANED);
    expect(table(HOSTILE, [HOSTILE], [[HOSTILE]])).toEqual({
      title: CLEANED,
      columns: [{ label: CLEANED }],
      rows: [{ cells: [CLEANED] }],
      more: 0,
    });
    expect(waterfall(HOSTILE, "ms", [[HOSTILE, 1]])).toMatchObject({ title: CLEANED, bars: [{ label: CLEANED }] });
    expect(fact(HOSTILE, 1)?.label).toBe(CLEANED);
  });

  it("have at most 300 characters, of a megabyte too, and no half character", () => {
    const long = "𝒳".repeat(500_000);
    const texts = [
      oneLine(long),
      fact(long, long)?.label,
      fact("Name", long)?.value,
      table(long, ["Name"], [[long]])?.title,
      table("Names", ["Name"], [[long]])?.rows[0]?.cells[0],
    ];
    for (const text of texts) {
      expect(Array.from(text ?? "")).toHaveLength(300);
      expect(text?.isWellFormed()).toBe(true);
    }
  });
});

describe("a fact", () => {
  it("does not exist without a value, also if only invisible characters are left of it", () => {
    for (const value of [null, undefined, "", " ", "\u200b\u202e"]) expect(fact("Name", value)).toBeNull();
  });

  it("exists with a zero, and has a unit and a tone only if they are given", () => {
    expect(fact("Loss", 0)).toEqual({ label: "Loss", value: "0" });
    expect(fact("Loss", 0, { unit: "ms", tone: null })).toEqual({ label: "Loss", value: "0", unit: "ms" });
    expect(fact("Loss", 0, { tone: "bad" })).toEqual({ label: "Loss", value: "0", tone: "bad" });
  });
});

describe("a table", () => {
  it("shows 40 of 10,000 rows and counts the others, also those that the result itself leaves out", () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => [index]);
    expect(table("Rows", ["#Number"], rows)).toMatchObject({ more: 9_960 });
    expect(table("Rows", ["#Number"], rows)?.rows).toHaveLength(40);
    expect(table("Rows", ["#Number"], rows.slice(0, 3), 5)).toMatchObject({ more: 2 });
    expect(table("Rows", ["#Number"], rows.slice(0, 3), 1)).toMatchObject({ more: 0 });
  });

  it("leaves out columns without any value, and keeps the others where they were", () => {
    const made = table("Rows", ["One", "Two", "#Three"], [["a", null, 1], { cells: ["b", ""], tone: "bad" }]);
    expect(made).toEqual({
      title: "Rows",
      columns: [{ label: "One" }, { label: "Three", numeric: true }],
      rows: [{ cells: ["a", "1"] }, { cells: ["b", ""], tone: "bad" }],
      more: 0,
    });
  });

  it("does not exist without rows or without any value", () => {
    expect(table("Rows", ["One"], [])).toBeNull();
    expect(table("Rows", [], [[], []])).toBeNull();
    expect(table("Rows", ["One"], [[null], ["\u200b"]])).toBeNull();
  });
});

describe("a waterfall", () => {
  it("puts one phase after the other, without those that did not happen", () => {
    const phases = [
      ["DNS", 2.5],
      ["TCP", 0],
      ["TLS", null],
      ["Wait", 4],
      ["Download", undefined],
    ] as const;
    expect(waterfall("Timing", "ms", phases)?.bars).toEqual([
      { label: "DNS", start: 0, length: 2.5 },
      { label: "Wait", start: 2.5, length: 4 },
    ]);
  });

  it("does not exist if no phase happened", () => {
    expect(
      waterfall("Timing", "ms", [
        ["DNS", 0],
        ["TCP", -1],
        ["TLS", NaN],
      ]),
    ).toBeNull();
  });
});

describe("existing", () => {
  it("keeps a zero and an empty text, and drops null, undefined and false", () => {
    expect(existing<unknown>(0, "", null, undefined, false, "a")).toEqual([0, "", "a"]);
  });
});
