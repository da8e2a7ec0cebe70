import type { Finding } from "#shared/contracts/findings.ts";
import type { SuiteFacts } from "#probe-agent/analysis/site/ciphers.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import type { Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";

/** Facts about the TLS of a host that the score uses. */
export interface TlsFacts {
  readonly known: true;
  /** Whether the server offers TLS. */
  readonly offered: boolean;
  /** Reason why TLS is not offered. "" if it is offered. */
  readonly why: string;
  /** Whether the certificate is trusted by the rules of the ssl tool: chain, dates, name, keys and revocation. */
  readonly trusted: boolean;
  /** Reasons not to trust the certificate, most severe first, as in trust_error of the ssl tool. */
  readonly errors: readonly string[];
  /** The same reasons as findings. */
  readonly reasons: readonly Finding[];
  /** Reasons why the revocation status is unknown. Empty if it is known. */
  readonly revocationLimits: readonly string[];
  /** Days until the certificate expires, rounded down. Negative if it has expired. */
  readonly daysLeft: number;
  readonly lifetimeDays: number;
  /** Key and signature, e.g. "rsa 2048". */
  readonly key: string;
  readonly keyStrong: boolean;
  readonly signatureStrong: boolean;
  /** Versions that the server offers. null if unknown. */
  readonly versions: {
    readonly ssl3: boolean | null;
    /** SSL 3, TLS 1.0 or 1.1. */
    readonly below1_2: boolean | null;
    readonly tls1_2: boolean | null;
    readonly tls1_3: boolean | null;
  };
  readonly suites: SuiteFacts | Unknown;
}

/** Response of the host at http://. */
export type HttpFacts =
  | { readonly known: true; readonly open: false }
  | { readonly known: true; readonly open: true; readonly route: readonly { url: string; status: number }[] }
  | Unknown;

/** A small file of the site. `text` is null if there is none (another status, or HTML in its place). */
type FileFacts =
  | { readonly known: true; readonly status: number; readonly url: string; readonly text: string | null }
  | Unknown;

/** Facts about the site's IPv6 address. `answers` says whether it accepts connections. */
export type Ipv6Facts =
  | { readonly known: true; readonly address: string | null; readonly answers: boolean; readonly why: string }
  | Unknown;

/** All facts from which the score is computed. The same snapshot always has the same score. */
export interface HealthSnapshot {
  readonly url: string;
  readonly finalUrl: string;
  readonly now: Date;
  readonly status: number;
  /** "1.0", "1.1" or "2". */
  readonly httpVersion: string;
  readonly headers: readonly HeaderPair[];
  /** Number of redirects before the page. */
  readonly redirects: number;
  readonly totalMs: number;
  /** Times to first byte, in milliseconds. At least one; the first is that of the page itself. */
  readonly ttfbSamplesMs: readonly number[];
  readonly body: {
    readonly transferredBytes: number;
    readonly decodedBytes: number;
    readonly encoding: string | null;
    /** Reason why the body is incomplete. null if it is complete. */
    readonly error: string | null;
    /** Whether reading stopped at our own limit. */
    readonly truncated: boolean;
  };
  /** null if the response is not HTML, or the body was left out. */
  readonly page: Page | null;
  /** Whether the body was left out, so that its content is unknown. */
  readonly unread?: boolean;
  readonly tls: TlsFacts | Unknown;
  readonly http: HttpFacts;
  /**
   * Whether the host is in the HSTS preload list, so that browsers never use http://. false if the probe has no list.
   */
  readonly preloaded: boolean;
  readonly robots: FileFacts;
  readonly securityTxt: FileFacts;
  readonly ipv6: Ipv6Facts;
}
