import type { OriginKind } from "#probe-agent/analysis/web/cors/origins.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** What came back; a reason where nothing did. */
export type CorsAnswer =
  | { readonly answered: true; readonly status: number; readonly headers: readonly HeaderPair[] }
  | { readonly answered: false; readonly reason: string };

/** One request with an Origin and its answer. */
export interface CorsExchange {
  readonly kind: OriginKind;
  readonly origin: string;
  /** An OPTIONS request for PREFLIGHTED, else a plain GET. */
  readonly preflight: boolean;
  readonly answer: CorsAnswer;
}

/** The request that preflights announce: the JSON that web applications send. */
export const PREFLIGHTED = { method: "POST", header: "content-type" } as const;
