import type { ImageFormat } from "#probe-agent/analysis/page/image-size.ts";

/** A platform that shows links with a preview. */
export type PlatformName = "facebook" | "x" | "linkedin" | "slack";

/** Documented rules of a platform for previews. null if the platform documents no rule. */
export interface Platform {
  /** Maximum length of the title, in characters. */
  readonly title: number | null;
  /** Maximum length of the description, in characters. */
  readonly description: number | null;
  /** Minimum size of an image that is shown, in pixels. */
  readonly smallest: readonly [width: number, height: number] | null;
  /** Minimum size of an image that is shown large, in pixels. */
  readonly large: readonly [width: number, height: number] | null;
  readonly maxBytes: number | null;
  readonly formats: ReadonlySet<ImageFormat> | null;
  /** "first" if X card properties take precedence over Open Graph properties; null if they are not read. */
  readonly cards: "first" | null;
  readonly reference: string;
}

const MEGABYTE = 1_000_000;

/** The rules of each platform, from its documentation. */
export const PLATFORMS: Readonly<Record<PlatformName, Platform>> = {
  // "Images in Link Shares": at least 200 x 200, at least 600 x 315 for a large preview, at most 8 MB. No limits on
  // text.
  facebook: {
    title: null,
    description: null,
    smallest: [200, 200],
    large: [600, 315],
    maxBytes: 8 * MEGABYTE,
    formats: null,
    cards: null,
    reference: "https://developers.facebook.com/docs/sharing/webmasters/images/",
  },
  // "Cards markup": title 70 and description 200 characters, images under 5 MB, JPG, PNG, WEBP and GIF. The sizes are
  // from "Summary Card" (144 x 144) and "Summary Card with Large Image" (300 x 157).
  x: {
    title: 70,
    description: 200,
    smallest: [144, 144],
    large: [300, 157],
    maxBytes: 5 * MEGABYTE,
    formats: new Set<ImageFormat>(["jpeg", "png", "webp", "gif"]),
    cards: "first",
    reference: "https://developer.x.com/en/docs/x-for-websites/cards/overview/markup",
  },
  // "Make your website shareable on LinkedIn": at most 5 MB, at least 1200 x 627 for a large preview.
  linkedin: {
    title: null,
    description: null,
    smallest: null,
    large: [1200, 627],
    maxBytes: 5 * MEGABYTE,
    formats: null,
    cards: null,
    reference: "https://www.linkedin.com/help/linkedin/answer/a521928",
  },
  // "Unfurling links in messages": a link becomes an attachment. The text of an attachment collapses at 700 characters,
  // and its images can be GIF, JPEG, PNG and BMP ("Secondary message attachments").
  slack: {
    title: null,
    description: 700,
    smallest: null,
    large: null,
    maxBytes: null,
    formats: new Set<ImageFormat>(["gif", "jpeg", "png", "bmp"]),
    cards: "first",
    reference: "https://docs.slack.dev/messaging/unfurling-links-in-messages",
  },
};
