import { parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";

/** A reason why a domain cannot enter the preload list. Codes and conditions are those of hstspreload.org. */
export interface PreloadFault {
  readonly code: string;
  readonly message: string;
}

/** Observations of the registrable domain itself. Only whole domains can enter the list. */
export interface PreloadEvidence {
  /** null if the host is an IP address or a public suffix. */
  readonly domain: string | null;
  /** First response of https://domain; null if the probe could not find out for its own reasons. */
  readonly https: null | { readonly answered: false } | SecureAnswer;
  /** Redirect of http://domain; null as above. */
  readonly http: null | { readonly open: false } | { readonly open: true; readonly location: string | null };
}

interface SecureAnswer {
  readonly answered: true;
  readonly verified: boolean;
  /** Every Strict-Transport-Security line. */
  readonly hsts: readonly string[];
}

/** Minimum max-age in seconds: one year. */
const MINIMUM_MAX_AGE = 31_536_000;

/** Reports whether a domain can be submitted. `eligible` is null if no fault was found but not everything is known. */
export function evaluatePreload(evidence: PreloadEvidence): { eligible: boolean | null; faults: PreloadFault[] } {
  const { domain, https, http } = evidence;
  if (domain === null) {
    const message = "Only registrable domains can be listed, not IP addresses or public suffixes";
    return { eligible: false, faults: [{ code: "domain.name.cannot_compute_etld1", message }] };
  }
  const faults = [
    ...(https === null ? [] : secureFaults(https)),
    ...(http === null ? [] : redirectFaults(http, domain)),
  ];
  if (faults.length > 0) return { eligible: false, faults };
  return { eligible: https === null || http === null ? null : true, faults };
}

function secureFaults(https: NonNullable<PreloadEvidence["https"]>): PreloadFault[] {
  if (!https.answered)
    return [{ code: "domain.tls.cannot_connect", message: "https:// of the domain does not respond" }];
  const faults: PreloadFault[] = [];
  const add = (when: boolean, code: string, message: string): void => {
    if (when) faults.push({ code, message });
  };
  add(!https.verified, "domain.tls.invalid_cert_chain", "The domain's certificate is not trusted");
  const [value] = https.hsts;
  if (value === undefined) {
    add(true, "response.no_header", "The domain's first HTTPS response has no Strict-Transport-Security");
    return faults;
  }
  add(https.hsts.length > 1, "response.multiple_headers", "Strict-Transport-Security is sent more than once");
  const { maxAge, includeSubDomains, preload } = parseHsts(value);
  const low = maxAge === null || maxAge < MINIMUM_MAX_AGE;
  add(low, "header.preloadable.max_age.below_1_year", "max-age must be at least a year (31536000)");
  add(!includeSubDomains, "header.preloadable.include_sub_domains.missing", "includeSubDomains is missing");
  add(!preload, "header.preloadable.preload.missing", "preload is missing");
  return faults;
}

/** Returns the faults of the redirect. http://domain must first lead to https://domain, to deliver its HSTS. */
function redirectFaults(http: NonNullable<PreloadEvidence["http"]>, domain: string): PreloadFault[] {
  if (!http.open) return [];
  const next = http.location === null ? null : URL.parse(http.location);
  if (next === null) return [{ code: "redirects.http.no_redirect", message: "http:// does not redirect" }];
  if (next.hostname === `www.${domain}`) {
    return [
      { code: "redirects.http.www_first", message: "http:// redirects to www, not first to https:// of the domain" },
    ];
  }
  if (next.protocol === "https:" && next.hostname === domain) return [];
  const message = "The first redirect of http:// does not lead to https:// of the same host";
  return [{ code: "redirects.http.first_redirect.insecure", message }];
}
