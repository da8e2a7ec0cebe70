/** A colour as a page uses it: each has a contrast of at least 4.5 to every ground of its scheme. */
interface Accent {
  /** On light grounds. White text on it has that contrast too. */
  readonly light: string;
  /** On dark grounds. DARK_GROUND as text on it has that contrast too. */
  readonly dark: string;
}

/** The darkest and the lightest ground of the dark scheme, and those of the light one, as in core/pages/tokens.ts. */
export const DARK_GROUND = "#0d1117";
const DARK_GROUNDS = [DARK_GROUND, "#161b22", "#3b2d04"];
const LIGHT_GROUNDS = ["#ffffff", "#f6f8fa", "#fff3c4"];

/** Least contrast of text (WCAG 2.2, success criterion 1.4.3); graphics need 3 (1.4.11). */
const LEAST_CONTRAST = 4.5;
/** Steps from a colour to black or white. */
const STEPS = 255;

/**
 * Returns the forms of a colour (#rrggbb) for both colour schemes: the colour itself where its contrast suffices, else
 * the first on the way from it to black or white. Pure.
 */
export function accentOf(colour: string): Accent {
  return { light: towards(colour, 0, LIGHT_GROUNDS), dark: towards(colour, 255, DARK_GROUNDS) };
}

/** Returns the contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). Pure. */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Mixes a colour with black (0) or white (255), as little as its contrast to all grounds needs. */
function towards(colour: string, end: number, grounds: readonly string[]): string {
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = toHex(channelsOf(colour).map((channel) => channel + ((end - channel) * step) / STEPS));
    if (grounds.every((ground) => contrastOf(mixed, ground) >= LEAST_CONTRAST)) return mixed;
  }
  return toHex([end, end, end]);
}

/** Returns the relative luminance of a colour, 0 to 1 (WCAG 2.2, "relative luminance"). */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(colour).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channelsOf(colour: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function toHex(channels: readonly number[]): string {
  return `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}
