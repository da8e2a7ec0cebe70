import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { readable } from "#probe-agent/analysis/tls/certificate/der.ts";
import { attributeOf, ATTRIBUTE, readName } from "#probe-agent/analysis/tls/certificate/names.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { parseSetCookie } from "#probe-agent/analysis/web/cookies.ts";
import type { CmsReport } from "#probe-agent/analysis/page/cms-report.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { TechPage } from "#probe-agent/analysis/page/tech/subject.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TechUnknown } from "#probe-agent/toolkit/tech.ts";
import { limitationsOf, rawPageOf, type FetchedPage } from "#probe-agent/sources/page.ts";
import { overloadedBy } from "#probe-agent/sources/run-analysis.ts";
import { fetchSiteFile } from "#probe-agent/sources/site-file.ts";

/** Technologies found on a page. */
interface Fingerprint {
  readonly technologies: readonly Technology[];
  /** Evidence of the content management system. Null unless requested. */
  readonly system: CmsReport | null;
  /** Sources of evidence other than the page: robots, dns, certificate. */
  readonly sources: readonly string[];
  /** Number of patterns in the rules that could not be used. */
  readonly unusable: number;
  readonly limitations: readonly string[];
}

/** Time limits in milliseconds for robots and DNS, for the search, and time kept for the answer. */
const BESIDE_MS = 4000;
/** A question ends before the wait for all of them ends, so that the other answers count. */
const MARGIN_MS = 400;
const SEARCH_MS = 12_000;
const RESERVE_MS = 1500;
const ROBOTS_BYTES = 256 * 1024;
const MAX_RECORDS = 50;
const MAX_COOKIES = 200;
const MAX_NAMED = 5;

const FAILURES: Readonly<Record<Exclude<TechUnknown["reason"], "overloaded">, string>> = {
  busy: "the probe is examining too many pages at the same time",
  too_slow: "the page took too long to examine",
  out_of_memory: "the page needs too much memory to examine",
  cancelled: "the check ended first",
  broken: "the rules could not be run",
};

/**
 * Gathers the evidence of a page's technologies and matches it against the rules. Fails only if the search itself
 * fails. `withSystem` also returns the evidence of its content management system, from the same parse.
 */
export async function fingerprint(
  net: Net,
  seen: FetchedPage,
  { withSystem = false }: { readonly withSystem?: boolean } = {},
): Promise<Outcome<Fingerprint>> {
  const { snapshot } = seen;
  const { hostname, origin } = new URL(snapshot.finalUrl);
  const patience = Math.min(BESIDE_MS, net.remainingMs() / 3);
  const [robots, dns] = await Promise.all([
    waitAtMost(patience, fetchSiteFile(net, origin, "/robots.txt", ROBOTS_BYTES), null),
    waitAtMost(patience, gatherDns(net, hostname, patience - MARGIN_MS), null),
  ]);
  const issuer = issuerNames(snapshot.final.tls?.chain[0]);
  const page: TechPage = {
    url: snapshot.finalUrl,
    headers: snapshot.final.headers,
    cookies: cookiesOf(seen, net.now()),
    robots: robots?.known === true ? robots.text : null,
    dns: dns?.records ?? {},
    certIssuer: issuer,
  };
  const question = { page, raw: rawPageOf(seen), withSystem };
  const found = await net.tech.detect(question, Math.min(SEARCH_MS, net.remainingMs() - RESERVE_MS));
  if (!found.ok && found.reason === "overloaded") return overloadedBy(found);
  if (!found.ok) return failed("response", "probe", found.reason, FAILURES[found.reason]);
  const { technologies, system, truncated, suspended, unfinished, unusable } = found;
  const named = suspended.slice(0, MAX_NAMED).join(", ");
  return ok({
    technologies,
    system,
    unusable,
    sources: [
      ...(robots?.known === true && robots.text !== null ? ["robots"] : []),
      ...(dns !== null && Object.keys(dns.records).length > 0 ? ["dns"] : []),
      ...(issuer.length > 0 ? ["certificate"] : []),
    ],
    limitations: [
      ...limitationsOf(seen, truncated),
      "Scripts were read but not run, so technologies that show only in a browser's JavaScript are missing.",
      ...(suspended.length === 0
        ? []
        : [`Rules that took too long are suspended for a while (${suspended.length}): ${named}.`]),
      ...(unfinished === 0 ? [] : [`${unfinished} rules were not run, because the time was over.`]),
      ...(robots === null || !robots.known ? ["/robots.txt could not be read."] : []),
      ...(dns === null || !dns.complete ? ["The lookup of some DNS records timed out or failed."] : []),
    ],
  });
}

interface DnsEvidence {
  readonly records: Record<string, string[]>;
  readonly complete: boolean;
}

/** Field with the data of each type. It has no final dot. */
const FIELD = { MX: "exchange", NS: "nsdname", SOA: "mname", TXT: "text", CNAME: "cname" } as const;
type EvidenceRecord = keyof typeof FIELD;

/**
 * Looks up MX, NS, SOA and TXT of the registrable domain, and CNAME of the host itself. An address has none of them.
 */
async function gatherDns(net: Net, hostname: string, timeoutMs: number): Promise<DnsEvidence> {
  const domain = registrableDomain(hostname);
  const records: Record<string, string[]> = {};
  if (domain === null) return { records, complete: true };
  const ask = async (type: EvidenceRecord): Promise<boolean> => {
    const name = type === "CNAME" ? hostname : domain;
    const answer = await net.dns.query({ name, type, timeoutMs });
    const texts = answer.answers
      .filter((record) => record.type === type)
      .map(({ typed }) => typed[FIELD[type]])
      .filter((value) => typeof value === "string");
    if (texts.length > 0) records[type] = texts.slice(0, MAX_RECORDS);
    return answer.status === "NOERROR" || answer.status === "NXDOMAIN";
  };
  const answered = await Promise.all((Object.keys(FIELD) as EvidenceRecord[]).map(ask));
  return { records, complete: answered.every(Boolean) };
}

/**
 * Returns the cookies that the page's host set on the way. Rejected ones are included, because they also identify the
 * software.
 */
function cookiesOf({ snapshot }: FetchedPage, now: Date): Record<string, string> {
  const { host } = new URL(snapshot.finalUrl);
  const hops = snapshot.hops.filter(({ url }) => new URL(url).host === host);
  const lines = hops.flatMap(({ url, headers }) => headerValues(headers, "set-cookie").map((line) => ({ url, line })));
  const cookies = lines.slice(0, MAX_COOKIES).map(({ url, line }) => parseSetCookie(line, url, now));
  return Object.fromEntries(cookies.flatMap((cookie) => (cookie === null ? [] : [[cookie.name, cookie.value]])));
}

/** Returns the organization and the common name of the certificate's issuer. */
function issuerNames(der: Uint8Array | undefined): string[] {
  const certificate = der === undefined ? null : parseCertificate(der);
  if (certificate === null) return [];
  const name = readable(() => readName(certificate.issuer), []);
  const names = [attributeOf(name, ATTRIBUTE.organization), attributeOf(name, ATTRIBUTE.commonName)];
  return names.filter((one) => one !== null);
}
