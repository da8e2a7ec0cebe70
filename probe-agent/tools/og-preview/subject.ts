import type { GraphReading } from "#probe-agent/analysis/page/social-graph.ts";
import type { PlatformName } from "#probe-agent/tools/og-preview/platforms.ts";
import type { PreviewReport } from "#probe-agent/tools/og-preview/preview.ts";
import type { ImageFacts } from "#probe-agent/analysis/page/social-required.ts";
import type { XCard } from "#probe-agent/tools/og-preview/x-card.ts";
import type { SocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";

/** A fetched image. */
export interface FetchedImage extends ImageFacts {
  readonly url: string;
  /** HTTP status; null without a response. */
  readonly code: number | null;
  /** Why facts about the image are missing; null if they are complete. */
  readonly error: string | null;
}

/** Facts about a page's social tags that findings depend on. */
export interface SocialSubject {
  readonly pageUrl: string;
  readonly tags: Pick<SocialTags, "misplaced" | "inBody" | "truncated">;
  readonly reading: GraphReading;
  readonly card: XCard;
  /** The first og:image as fetched; null if there is none, or if it did not arrive in time. */
  readonly image: FetchedImage | null;
  readonly previews: Readonly<Record<PlatformName, PreviewReport>>;
}
