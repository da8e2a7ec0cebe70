import type { CrlResult } from "#probe-agent/analysis/tls/certificate/crl/evaluate.ts";
import type { OcspResult } from "#probe-agent/analysis/tls/certificate/ocsp/evaluate.ts";

/** What asking an OCSP responder came to. */
export interface ResponderAnswer {
  readonly url: string;
  /** Null where no response came. */
  readonly result: OcspResult | null;
  /** Why none came: an error of Fetches; null where one did. */
  readonly error: string | null;
}

/** What looking into a revocation list came to. */
export interface ListAnswer {
  readonly url: string;
  /** Null where there was no list to look into. */
  readonly result: CrlResult | null;
  /** Why there was none: an error of Fetches, malformed, or busy; null where there was one. */
  readonly error: string | null;
}
