import type { Finding } from "#shared/findings.ts";
import type { SuiteFacts } from "#probe-agent/analysis/site/health/ciphers.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import type { Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";

/** TLS of the host, as far as it bears on the score. */
export interface TlsFacts {
  readonly known: true;
  /** Nothing speaks TLS there. */
  readonly offered: boolean;
  /** Why not, where it is not offered. */
  readonly why: string;
  /** As the ssl tool decides it: chain, dates, name, keys and revocation. */
  readonly trusted: boolean;
  /** Reasons not to trust it, the gravest first: words of the ssl tool's trust_error. */
  readonly errors: readonly string[];
  /** The same as findings. */
  readonly reasons: readonly Finding[];
  /** Why it is not known whether the certificate was revoked; empty where it is. */
  readonly revocationLimits: readonly string[];
  /** Floored; negative when expired. */
  readonly daysLeft: number;
  readonly lifetimeDays: number;
  /** E.g. "rsa 2048". */
  readonly key: string;
  readonly keyStrong: boolean;
  readonly signatureStrong: boolean;
  /** Null where it could not be told. */
  readonly versions: {
    readonly ssl3: boolean | null;
    /** SSL 3, TLS 1.0 or 1.1. */
    readonly below1_2: boolean | null;
    readonly tls1_2: boolean | null;
    readonly tls1_3: boolean | null;
  };
  readonly suites: SuiteFacts | Unknown;
}

/** What answers at http://. */
export type HttpFacts =
  | { readonly known: true; readonly open: false }
  | { readonly known: true; readonly open: true; readonly route: readonly { url: string; status: number }[] }
  | Unknown;

/** A small file of the site. `text` is null where none came (another status, or HTML in its place). */
type FileFacts =
  | { readonly known: true; readonly status: number; readonly url: string; readonly text: string | null }
  | Unknown;

/** Whether the site answers over IPv6. */
export type Ipv6Facts =
  | { readonly known: true; readonly address: string | null; readonly answers: boolean; readonly why: string }
  | Unknown;

/** All that the score is made from. Pure data: the same snapshot always scores the same. */
export interface HealthSnapshot {
  readonly url: string;
  readonly finalUrl: string;
  readonly now: Date;
  readonly status: number;
  /** "1.0", "1.1" or "2". */
  readonly httpVersion: string;
  readonly headers: readonly HeaderPair[];
  /** Redirects before the page. */
  readonly redirects: number;
  readonly totalMs: number;
  /** At least one, the page's own first. */
  readonly ttfbSamplesMs: readonly number[];
  readonly body: {
    readonly transferredBytes: number;
    readonly decodedBytes: number;
    readonly encoding: string | null;
    /** Why it did not arrive whole, null where it did. */
    readonly error: string | null;
    /** Reading stopped at a limit of ours. */
    readonly truncated: boolean;
  };
  /** Null where the body is no HTML, or was left out. */
  readonly page: Page | null;
  /** The body was left out: what it says is not known. */
  readonly unread?: boolean;
  readonly tls: TlsFacts | Unknown;
  readonly http: HttpFacts;
  /** Browsers never ask the host over http://: it is in their HSTS preload list, as far as the probe has one. */
  readonly preloaded: boolean;
  readonly robots: FileFacts;
  readonly securityTxt: FileFacts;
  readonly ipv6: Ipv6Facts;
}
