import type { CrlVerdict } from "#probe-agent/analysis/tls/certificate/crl/judge.ts";
import type { OcspVerdict } from "#probe-agent/analysis/tls/certificate/ocsp/judge.ts";

/** What asking an OCSP responder came to. */
export interface ResponderAnswer {
  readonly url: string;
  /** Null where no response came. */
  readonly verdict: OcspVerdict | null;
  /** Why none came: an error of Fetches; null where one did. */
  readonly error: string | null;
}

/** What looking into a revocation list came to. */
export interface ListAnswer {
  readonly url: string;
  /** Null where there was no list to look into. */
  readonly verdict: CrlVerdict | null;
  /** Why there was none: an error of Fetches, malformed, or busy; null where there was one. */
  readonly error: string | null;
}
