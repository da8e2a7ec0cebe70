import type { Failed, Source } from "#shared/outcome.ts";

/** Who can fail where a service of others is asked about the target. */
export type ServiceSource = Exclude<Source, "target">;

/** Who failed: the network's "target" is the service that was asked, never the target of the check. */
export function serviceSource({ source }: Pick<Failed, "source">): ServiceSource {
  return source === "target" ? "service" : source;
}
