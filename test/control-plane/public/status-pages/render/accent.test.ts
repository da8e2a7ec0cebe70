import { describe, expect, it } from "vitest";
import { accentOf, contrastOf, DARK_GROUND } from "#control-plane/public/status-pages/render/accent.ts";
import { TOKENS } from "#control-plane/core/pages/tokens.ts";

/** The values of a token in the order of the schemes: light, dark. */
function schemesOf(name: string): readonly string[] {
  return Array.from(TOKENS.matchAll(new RegExp(`--${name}:(#[0-9a-f]{3,6})`, "g")), ([, colour = ""]) =>
    colour.length === 7 ? colour : `#${colour.slice(1).replaceAll(/./g, "$&$&")}`,
  );
}

const GROUNDS = ["page", "card", "warn-soft"].map(schemesOf);
const LEVELS = [0, 1, 10, 40, 80, 110, 128, 150, 180, 220, 245, 254, 255];

/** Colours of all hues, pale, vivid and dark. */
const COLOURS = LEVELS.flatMap((red) =>
  LEVELS.flatMap((green) =>
    LEVELS.map((blue) => `#${[red, green, blue].map((level) => level.toString(16).padStart(2, "0")).join("")}`),
  ),
);

describe("the contrast of two colours", () => {
  it.each([
    // Of the definition, and the greys around 4.5 to white that WCAG's own tools name.
    ["#000000", "#ffffff", 21],
    ["#ffffff", "#ffffff", 1],
    ["#767676", "#ffffff", 4.54],
    ["#777777", "#ffffff", 4.48],
    ["#ff0000", "#ffffff", 4],
    ["#0000ff", "#ffffff", 8.59],
  ])("of %s and %s is %d, in either order", (one, other, expected) => {
    expect(contrastOf(one, other)).toBeCloseTo(expected, 2);
    expect(contrastOf(other, one)).toBe(contrastOf(one, other));
  });
});

describe("the colours of pages", () => {
  it.each(["ink", "faint", "accent", "good", "warn", "serious", "bad", "info"])(
    "can be read on pages and cards of both schemes: %s",
    (name) => {
      const contrasts = schemesOf(name).flatMap((colour, scheme) =>
        ["page", "card"].map((ground) => contrastOf(colour, schemesOf(ground)[scheme] ?? "")),
      );
      expect(contrasts).toHaveLength(4);
      expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(4.5);
    },
  );
});

describe("an accent colour", () => {
  it("can be read on every ground of both schemes, whatever it is, and so can the text on its buttons", () => {
    expect(GROUNDS.map((pair) => pair.length)).toEqual([2, 2, 2]);
    expect(GROUNDS[0]?.[1]).toBe(DARK_GROUND);
    const poor = COLOURS.flatMap((colour) => {
      const { light, dark } = accentOf(colour);
      const pairs = [
        ...GROUNDS.flatMap(([onLight = "", onDark = ""]) => [[light, onLight] as const, [dark, onDark] as const]),
        ["#ffffff", light] as const,
        [DARK_GROUND, dark] as const,
      ];
      return pairs.filter(([one, other]) => contrastOf(one, other) < 4.5).map((pair) => [colour, ...pair]);
    });
    expect(COLOURS.length).toBeGreaterThan(2_000);
    expect(poor).toEqual([]);
  });

  it("stays as it is where it can be read, and is changed no more than needed", () => {
    expect(accentOf("#0550ae").light).toBe("#0550ae");
    expect(accentOf("#79c0ff").dark).toBe("#79c0ff");
    for (const colour of COLOURS) {
      const { light, dark } = accentOf(colour);
      for (const [shown, column] of [
        [light, 0],
        [dark, 1],
      ] as const) {
        if (shown === colour) continue;
        const least = Math.min(...GROUNDS.map((pair) => contrastOf(shown, pair[column] ?? "")));
        expect(least, colour).toBeLessThan(4.75);
      }
    }
  });

  it("keeps its hue: the order of red, green and blue", () => {
    for (const colour of ["#ff0000", "#ffee00", "#00ff66", "#8250df", "#102040", "#ffc0cb"]) {
      const orderOf = (hex: string) =>
        [1, 3, 5].toSorted(
          (a, b) => Number.parseInt(hex.slice(a, a + 2), 16) - Number.parseInt(hex.slice(b, b + 2), 16),
        );
      const { light, dark } = accentOf(colour);
      for (const shown of [light, dark]) {
        expect(shown).toMatch(/^#[0-9a-f]{6}$/);
        expect(orderOf(shown).at(-1), colour).toBe(orderOf(colour).at(-1));
      }
    }
  });
});
