import type { Failed, Source } from "#shared/contracts/outcome.ts";

/** Who can fail when a foreign service is asked about the target. */
export type ServiceSource = Exclude<Source, "target">;

/**
 * Converts the source of a failure. The network's "target" is the service that was asked, never the target of the
 * check.
 */
export function serviceSource({ source }: Pick<Failed, "source">): ServiceSource {
  return source === "target" ? "service" : source;
}
