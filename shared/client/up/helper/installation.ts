import type { Environment } from "#shared/settings/settings-parse.ts";
import type { Settings } from "#shared/settings/settings.ts";

/** What the helper knows of the installation. */
export interface Installation {
  readonly environment: Environment;
  /** The base of relative paths. */
  readonly directory: string;
  readonly dataDirectory: string;
  readonly settings: Settings;
  /** Settings as the agent reads them, with the checks that apply to agents only. */
  readonly agentSettings: Settings;
  /** The URL of the control plane's own listener. */
  readonly own: string;
}
