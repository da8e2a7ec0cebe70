import type { ParamsOf } from "#shared/tools/define.ts";
import type { ping, PingResult } from "#shared/tools/ping.ts";

/** The parsed parameters of the ping tool. */
export type PingParams = ParamsOf<typeof ping>;

/** What one action adds to the result. */
export interface Part {
  readonly fields: Omit<
    PingResult,
    "action" | "host" | "ip" | "ip_version" | "resolve_ms" | "elapsed_ms" | "observed_at" | "limitations"
  >;
  readonly limitations: readonly string[];
}

/** Left of a check's time for the answer's way back, milliseconds. */
export const RESERVE_MS = 150;
