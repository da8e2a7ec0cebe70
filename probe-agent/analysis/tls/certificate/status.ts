import type { CrlResult } from "#probe-agent/analysis/tls/certificate/crl.ts";
import type { OcspResult } from "#probe-agent/analysis/tls/certificate/ocsp-evaluate.ts";

/** Outcome of a request to an OCSP responder. */
export interface ResponderAnswer {
  readonly url: string;
  /** Null if no response arrived. */
  readonly result: OcspResult | null;
  /** Why no response arrived, as an error code of Fetches; null if one did. */
  readonly error: string | null;
}

/** Outcome of a look-up in a revocation list. */
export interface ListAnswer {
  readonly url: string;
  /** Null if no list was available. */
  readonly result: CrlResult | null;
  /** Why no list was available: an error code of Fetches, `malformed` or `busy`. Null if one was. */
  readonly error: string | null;
}
