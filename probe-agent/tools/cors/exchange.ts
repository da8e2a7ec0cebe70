import type { OriginKind } from "#probe-agent/tools/cors/origins.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** The response to a request, or the reason why there is none. */
export type CorsAnswer =
  | { readonly answered: true; readonly status: number; readonly headers: readonly HeaderPair[] }
  | { readonly answered: false; readonly reason: string };

/** One request with an Origin, and its response. */
export interface CorsExchange {
  readonly kind: OriginKind;
  readonly origin: string;
  /** true: an OPTIONS request for PREFLIGHTED; false: a plain GET. */
  readonly preflight: boolean;
  readonly answer: CorsAnswer;
}

/** The request that our preflights announce: a POST of JSON, as web applications send it. */
export const PREFLIGHTED = { method: "POST", header: "content-type" } as const;
