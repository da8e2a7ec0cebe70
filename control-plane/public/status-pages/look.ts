import { logoPath } from "#control-plane/public/status-pages/logos/logo.ts";
import type { PageSettings } from "#control-plane/public/status-pages/settings/page-settings.ts";

/** A logo as pages show it. */
interface ShownLogo {
  /** Path below the page, or, in a preview, its data URI. */
  readonly src: string;
  /** Size on the page, pixels. */
  readonly width: number;
  readonly height: number;
}

/** How a page and those below it look, as its owner chose. */
export interface PageLook {
  /** #rrggbb in lower case; null: that of the service. */
  readonly accentColor: string | null;
  readonly logo: ShownLogo | null;
}

/** Largest size of a logo on a page, pixels. Smaller ones are shown as they are. */
const MOST_WIDTH = 240;
const MOST_HEIGHT = 40;

/** The look of what belongs to no page. */
export const PLAIN_LOOK: PageLook = { accentColor: null, logo: null };

/** Returns the look of a page. `dataUri`: the content of its logo, in place of its path, for a preview. */
export function lookOf(
  { accent_color: accentColor, logo }: Pick<PageSettings, "accent_color" | "logo">,
  dataUri: string | null = null,
): PageLook {
  if (logo === null) return { accentColor, logo };
  const scale = Math.min(1, MOST_WIDTH / logo.width, MOST_HEIGHT / logo.height);
  const shown = (pixels: number): number => Math.max(1, Math.round(pixels * scale));
  const [width, height] = [shown(logo.width), shown(logo.height)];
  return { accentColor, logo: { src: dataUri ?? logoPath(logo), width, height } };
}
