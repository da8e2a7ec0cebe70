import { join } from "node:path";
import { CLONE } from "#shared/client/programs.ts";
import type { Environment } from "#shared/settings-parse.ts";

/**
 * Sets VANTAGE_DATA_DIR to the clone's `.vantage` if it is unset, so that the command finds the data of `npm start` from
 * any working directory.
 */
export function withDataDirectory(environment: Environment): Environment {
  const given = environment["VANTAGE_DATA_DIR"]?.trim() ?? "";
  return given === "" ? { ...environment, VANTAGE_DATA_DIR: join(CLONE, ".vantage") } : environment;
}
