import { describe, expect, it } from "vitest";
import { hiddenProblem, showHidden, showHiddenInLines } from "#shared/text/hidden-characters.ts";
import { renderCsv, renderText } from "#shared/contracts/render.ts";
import { createLog } from "#shared/process/log.ts";

const BIDI = [0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069].map(
  (codePoint) => String.fromCodePoint(codePoint),
);
/** First and last of the ignorable characters that words and emoji need. */
const KEPT = [
  [0x34f, 0x34f],
  [0x180b, 0x180d],
  [0x180f, 0x180f],
  [0x200c, 0x200d],
  [0xfe00, 0xfe0f],
  [0xe0100, 0xe01ef],
] as const;
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\ufff9-\ufffb]/u;

describe("a hidden character", () => {
  it("is one that the properties of Unicode name, but for those that words and emoji need", () => {
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      const character = String.fromCodePoint(codePoint);
      const isHidden = HIDDEN.test(character) && !KEPT.some(([first, last]) => codePoint >= first && codePoint <= last);
      if ((showHidden(character) === character) !== isHidden) continue;
      expect(`U+${codePoint.toString(16)}`, "hidden or not").toBe("otherwise");
    }
  });

  it.each(BIDI.map((one) => [one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0"), one]))(
    "U+%s is refused in a name, and the message says which one",
    (name, character) => {
      const problem = hiddenProblem(`Shop ${character} north`);
      expect(problem).toBe(
        `must not contain U+${name}, a character that reorders text; delete it, or type the text again`,
      );
    },
  );

  it.each(["\u0085", "\u009b31m", "\u200b", "\u2060", "\ufeff", "\u00ad", "\u3164", "\u2028", "\u{e0041}"])(
    "that is invisible or a C1 control is refused in a name: %j",
    (character) => expect(hiddenProblem(`a${character}b`)).toMatch(/^must not contain U\+/),
  );

  it.each(["Shop", "קניות", "متجر", "می\u200cخواهم", "👩\u200d💻 ❤\ufe0f", "ünï", "two\nlines"])(
    "is in none of the names that people write: %j",
    (name) => expect(hiddenProblem(name)).toBeNull(),
  );

  it("becomes the escape that JSON has for it, so that JSON stays the same", () => {
    const value = { text: "a\u001b[2Jb\u009bc\u202ed\u{e0041}e" };
    expect(JSON.parse(showHidden(JSON.stringify(value)))).toEqual(value);
    expect(showHidden("a\tb\nc\u001b\u202e\u{e0041}")).toBe("a\\tb\\nc\\u001b\\u202e\\udb40\\udc41");
    expect(showHiddenInLines("a\tb\nc\rd\u202e")).toBe("a\tb\nc\\rd\\u202e");
  });
});

describe("what reaches a terminal", () => {
  const evil = "a\u202eb\u009b2Jc\u2066";

  it("is free of them in the lines and the table of a result", () => {
    expect(renderText({ name: evil }, "x")).toBe("name: a\\u202eb\\u009b2Jc\\u2066\n# source: x\n");
    expect(renderCsv({ name: evil })).toContain("name,a\\u202eb\\u009b2Jc\\u2066");
  });

  it("is free of them in log lines, which stay JSON", () => {
    const lines: string[] = [];
    const log = createLog({ destination: { write: (line: string) => void lines.push(line) } });
    log.info({ target: evil }, evil);
    expect(lines[0]).toMatch(/^[ -~]*\n$/);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ target: evil, msg: evil });
  });
});
