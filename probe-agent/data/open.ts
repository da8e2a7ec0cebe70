import type { Config } from "#probe-agent/config.ts";
import type { DataPort } from "#probe-agent/net/port/data.ts";
import { openResolvers } from "#probe-agent/data/resolvers.ts";

/** Data that was read, or the one line with which the agent does not start. */
export type Opened<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly line: string };

/** Reads every data file the operator named, once at the start; what may change while the agent runs is read again by itself. */
export function openData({ sources }: Pick<Config, "sources" | "files">): Opened<DataPort> {
  const resolvers = openResolvers(sources.resolvers);
  if (!resolvers.ok) return resolvers;
  return { ok: true, data: { resolvers: resolvers.data } };
}
