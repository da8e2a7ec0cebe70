import type { Config } from "#probe-agent/config.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";
import { openAiBots } from "#probe-agent/data/ai-bots.ts";
import { openCtLogs } from "#probe-agent/data/ct-logs.ts";
import { openHstsPreload } from "#probe-agent/data/hsts-preload.ts";
import type { Opened } from "#probe-agent/data/opened.ts";
import { openPlaces } from "#probe-agent/data/places.ts";
import { openResolvers } from "#probe-agent/data/resolvers.ts";
import { openTechRules } from "#probe-agent/data/tech-rules.ts";

/**
 * Reads every configured data file at the start. Files that may change while the agent runs are reloaded automatically;
 * a change that cannot be used is reported by `warn`.
 */
export function openData(
  { sources, files }: Pick<Config, "sources" | "files">,
  warn: (line: string) => void = () => {},
): Opened<DataPort> {
  const resolvers = openResolvers(sources.resolvers);
  if (!resolvers.ok) return resolvers;
  const preload = openHstsPreload(files.hstsPreload);
  if (!preload.ok) return preload;
  const techRules = openTechRules(files.techRulesDir);
  if (!techRules.ok) return techRules;
  const aiBots = openAiBots(files.aiBots);
  if (!aiBots.ok) return aiBots;
  const ctLogs = openCtLogs(files.ctLogList);
  if (!ctLogs.ok) return ctLogs;
  const places = openPlaces(files, warn);
  if (!places.ok) return places;
  return {
    ok: true,
    data: {
      ...places.data,
      resolvers: resolvers.data,
      hasHstsPreload: preload.data.loaded,
      hstsPreload: preload.data.find,
      techRules: techRules.data,
      aiBots: aiBots.data,
      ctLogs: ctLogs.data,
    },
  };
}
