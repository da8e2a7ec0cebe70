import type { GraphReading } from "#probe-agent/analysis/page/social/graph.ts";
import type { PlatformName } from "#probe-agent/analysis/page/social/platforms.ts";
import type { JudgedPreview } from "#probe-agent/analysis/page/social/preview.ts";
import type { SeenImage } from "#probe-agent/analysis/page/social/required.ts";
import type { XCard } from "#probe-agent/analysis/page/social/x-card.ts";
import type { SocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";

/** An image as it was fetched. */
export interface FetchedImage extends SeenImage {
  readonly url: string;
  /** HTTP status; null where nothing answered. */
  readonly code: number | null;
  /** Why it is not or only partly known. */
  readonly error: string | null;
}

/** Everything that social tags are judged by. */
export interface SocialSubject {
  readonly pageUrl: string;
  readonly tags: Pick<SocialTags, "misplaced" | "inBody" | "truncated">;
  readonly reading: GraphReading;
  readonly card: XCard;
  /** The first og:image as it was fetched; null where there is none, or it did not come in time. */
  readonly image: FetchedImage | null;
  readonly previews: Readonly<Record<PlatformName, JudgedPreview>>;
}
