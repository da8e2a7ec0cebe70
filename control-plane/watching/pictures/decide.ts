/** What a monitor's new picture is compared with, as ids and hashes; null if there is none. */
export interface KnownPictures {
  readonly acceptedId: number | null;
  readonly acceptedSha256: string | null;
  readonly latestSha256: string | null;
  readonly latestRatio: number | null;
  readonly differenceId: number | null;
  /** The comparison from which `latestRatio` comes. */
  readonly compared: string | null;
  readonly announcedId: number | null;
  readonly announcedSha256: string | null;
}

/** What has to be done to know how a new picture differs from the accepted one. */
type Comparing =
  | { readonly kind: "first" }
  | { readonly kind: "same" }
  | { readonly kind: "known"; readonly ratio: number; readonly differenceId: number | null }
  | { readonly kind: "compare" };

/** Decides how to find the difference of a new picture from the accepted one. `comparison` names the comparison. */
export function decideComparing(known: KnownPictures, sha256: string, comparison: string): Comparing {
  if (known.acceptedId === null) return { kind: "first" };
  if (known.acceptedSha256 === sha256) return { kind: "same" };
  const isKnown = known.latestSha256 === sha256 && known.compared === comparison && known.latestRatio !== null;
  return isKnown
    ? { kind: "known", ratio: known.latestRatio ?? 0, differenceId: known.differenceId }
    : { kind: "compare" };
}

/**
 * Decides whether a change is announced. within: the page looks as accepted, so that the next change is news;
 * announced: the page still looks as it did when its change was announced; compare: it has to be compared with that
 * picture.
 */
export function decideAnnouncing(
  { announcedId, announcedSha256 }: Pick<KnownPictures, "announcedId" | "announcedSha256">,
  { sha256, ratio, threshold }: { readonly sha256: string; readonly ratio: number; readonly threshold: number },
): "within" | "announce" | "announced" | "compare" {
  if (ratio <= threshold) return "within";
  if (announcedId === null) return "announce";
  return announcedSha256 === sha256 ? "announced" : "compare";
}
