import type { ImageFormat } from "#probe-agent/analysis/page/image-size.ts";

/** A place where links are shown with a preview. */
export type PlatformName = "facebook" | "x" | "linkedin" | "slack";

/** What a platform documents about its previews; null where it documents nothing. */
export interface Platform {
  /** Characters of the title and the description that are shown. */
  readonly title: number | null;
  readonly description: number | null;
  /** Smallest image used at all, and smallest shown large. */
  readonly smallest: readonly [width: number, height: number] | null;
  readonly large: readonly [width: number, height: number] | null;
  readonly maxBytes: number | null;
  readonly formats: ReadonlySet<ImageFormat> | null;
  /** X card properties come before Open Graph ones; null: they are not read. */
  readonly cards: "first" | null;
  readonly reference: string;
}

const MEGABYTE = 1_000_000;

/** Each platform by its own documentation. */
export const PLATFORMS: Readonly<Record<PlatformName, Platform>> = {
  // "Images in Link Shares": at least 200 x 200, at least 600 x 315 for large ones, at most 8 MB. No limits on text.
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
  // "Cards markup": title 70 and description 200 characters, images under 5 MB, JPG, PNG, WEBP and GIF; the sizes stand
  // in "Summary Card" (144 x 144) and "Summary Card with Large Image" (300 x 157).
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
  // "Make your website shareable on LinkedIn": at most 5 MB, at least 1200 x 627 for the large form.
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
  // "Unfurling links in messages" turns a link into an attachment, whose text collapses at 700 characters and whose
  // images may be GIF, JPEG, PNG and BMP ("Secondary message attachments").
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
