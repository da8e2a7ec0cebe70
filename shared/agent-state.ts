import type { Settings } from "#shared/settings.ts";

/** Entry of an agent's state folder that is there once it has enrolled: a folder with ca.pem in it, among others. */
export const IDENTITY_ENTRY = "identity";

/** The state folder of the agent with these settings, as given: relative to its directory. */
export function stateDirOf({ stateDir, dataDir, region }: Pick<Settings, "stateDir" | "dataDir" | "region">): string {
  return stateDir ?? `${dataDir}/agents/${region}`;
}
