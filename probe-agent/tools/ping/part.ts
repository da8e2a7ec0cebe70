import type { ParamsOf } from "#shared/tools/define.ts";
import type { ping, PingResult } from "#shared/tools/ping.ts";

/** Parsed parameters of the ping tool. */
export type PingParams = ParamsOf<typeof ping>;

/** Fields that one action adds to the result. */
export interface Part {
  readonly fields: Omit<
    PingResult,
    "action" | "host" | "ip" | "ip_version" | "resolve_ms" | "elapsed_ms" | "observed_at" | "limitations"
  >;
  readonly limitations: readonly string[];
}

/** Time of a check kept for sending the answer back, in milliseconds. */
export const RESERVE_MS = 150;
