import { AGENT_SETTINGS } from "#shared/settings/agent.ts";
import { COMMON_SETTINGS } from "#shared/settings/common.ts";
import { CONTROL_PLANE_SETTINGS } from "#shared/settings/control-plane.ts";
import type { ValueOf } from "#shared/settings/row.ts";

/** Every setting. The key is the name in the typed result of `readSettings`. */
export const SETTINGS = { ...CONTROL_PLANE_SETTINGS, ...COMMON_SETTINGS, ...AGENT_SETTINGS };

/** The value of every setting; null if it is unset and has no default. */
export type Settings = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };
