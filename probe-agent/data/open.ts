import type { Config } from "#probe-agent/config.ts";
import type { DataPort } from "#probe-agent/net/port/data.ts";
import { openHstsPreload } from "#probe-agent/data/hsts-preload.ts";
import type { Opened } from "#probe-agent/data/opened.ts";
import { openResolvers } from "#probe-agent/data/resolvers.ts";
import { openTechRules } from "#probe-agent/data/tech-rules.ts";

/** Reads every data file the operator named, once at the start; what may change while the agent runs is read again by itself. */
export function openData({ sources, files }: Pick<Config, "sources" | "files">): Opened<DataPort> {
  const resolvers = openResolvers(sources.resolvers);
  if (!resolvers.ok) return resolvers;
  const preload = openHstsPreload(files.hstsPreload);
  if (!preload.ok) return preload;
  const techRules = openTechRules(files.techRulesDir);
  if (!techRules.ok) return techRules;
  return {
    ok: true,
    data: {
      resolvers: resolvers.data,
      hasHstsPreload: preload.data.atHand,
      hstsPreload: preload.data.find,
      techRules: techRules.data,
    },
  };
}
