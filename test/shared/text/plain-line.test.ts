import { describe, expect, it } from "vitest";
import { cutLine, toPlainLine, withoutControls } from "#shared/text/plain-line.ts";
import { seeded } from "#test/support/seeded.ts";

describe("untrusted text in a mail", () => {
  it.each([
    ["shop", "shop"],
    ["  shop \t of\r\nBcc: a@b.example ", "shop of Bcc: a@b.example"],
    ["a\u2028b\u2029c\u0085d\u0000e", "a b c d e"],
    ["\u202eevil\u202c \u2066x\u2069\u200f", "evil x"],
    ["Grüße 👩‍💻 می‌خواهم", "Grüße 👩‍💻 می‌خواهم"],
    ["a\ud800b", "a\ufffdb"],
    ["", ""],
    ["\r\n", ""],
  ])("%j becomes %j", (text, line) => expect(toPlainLine(text, 120)).toBe(line));

  it("is cut to a number of characters", () => {
    expect(toPlainLine("x".repeat(120), 120)).toBe("x".repeat(120));
    expect(toPlainLine("x".repeat(121), 120)).toBe(`${"x".repeat(119)}…`);
    expect(toPlainLine("💥".repeat(500), 120)).toBe(`${"💥".repeat(119)}…`);
    expect(toPlainLine(" ".repeat(1_000_000), 120)).toBe("…");
    expect(toPlainLine("two words", 5)).toBe("two…");
  });

  it("is one printable line, whatever it was", () => {
    const next = seeded(3);
    const points = [
      0x0a, 0x0d, 0x00, 0x1b, 0x20, 0x41, 0x85, 0xd800, 0xdc00, 0x200b, 0x200e, 0x202e, 0x2028, 0xfeff, 0x1f600,
      0xe0041,
    ];
    for (let run = 0; run < 300; run += 1) {
      const length = next() * 4;
      const text = Array.from({ length }, () => String.fromCodePoint(points[next() % points.length] ?? 0)).join("");
      const line = toPlainLine(text, 1 + (next() % 130));
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
      expect(line.isWellFormed()).toBe(true);
      expect(line).toBe(line.trim());
      expect(Array.from(line).length).toBeLessThanOrEqual(130);
    }
  });
});

it("a line is cut to code units between characters, without a space before the ellipsis", () => {
  expect(cutLine("12345", 5)).toBe("12345");
  expect(cutLine("💥💥💥💥", 6)).toBe("💥💥…");
  expect(cutLine("two words", 5)).toBe("two…");
});

it("a run of control characters is one space", () => {
  expect(withoutControls("a\r\n\u001b[31mb\u0085c")).toBe("a [31mb c");
});
