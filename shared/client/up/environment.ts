import { formatAddress } from "#shared/settings/address.ts";
import { SETTING_ROWS, type Environment } from "#shared/settings-parse.ts";
import type { Settings } from "#shared/settings.ts";

function without(environment: Environment, process: "control-plane" | "agent"): Record<string, string | undefined> {
  const others = SETTING_ROWS.filter((row) => row.secret && row.process !== process && row.process !== "both");
  const hidden = new Set(others.map((row) => row.name));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !hidden.has(name)));
}

/** The control plane's environment: the caller's, the database, and no secret of the agent. */
export function controlPlaneEnvironment(environment: Environment, dataDirectory: string, databaseUrl: string) {
  const rest = without(environment, "control-plane");
  return { ...rest, DATABASE_URL: databaseUrl, VANTAGE_DATA_DIR: dataDirectory };
}

/** The local agent's environment: the caller's, where to dial, and no secret of the control plane. */
export function agentEnvironment(environment: Environment, dataDirectory: string, settings: Settings) {
  const rest = without(environment, "agent");
  const dial = environment["VANTAGE_CONTROL_PLANE"]?.trim() || formatAddress(settings.grpcAddr);
  return { ...rest, VANTAGE_DATA_DIR: dataDirectory, VANTAGE_CONTROL_PLANE: dial };
}
