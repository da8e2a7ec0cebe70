import type { Settings } from "#shared/settings/settings.ts";

/** Entry of an agent's state folder that exists after the enrolment: a folder with ca.pem and other files. */
export const IDENTITY_ENTRY = "identity";

/** Returns the state folder of the agent with these settings; it may be relative to the agent's working directory. */
export function stateDirOf({ stateDir, dataDir, region }: Pick<Settings, "stateDir" | "dataDir" | "region">): string {
  return stateDir ?? `${dataDir}/agents/${region}`;
}
