import { join } from "node:path";
import { CLONE } from "#shared/client/programs.ts";
import type { Environment } from "#shared/settings-parse.ts";

/**
 * The environment with VANTAGE_DATA_DIR: where it is unset, the clone's own `.vantage`, so that the command finds what
 * `npm start` keeps there whichever directory it is called from.
 */
export function withDataDirectory(environment: Environment): Environment {
  const given = environment["VANTAGE_DATA_DIR"]?.trim() ?? "";
  return given === "" ? { ...environment, VANTAGE_DATA_DIR: join(CLONE, ".vantage") } : environment;
}
