import { registrableDomain } from "#shared/registrable-domain.ts";
import { failed, ok, type Outcome } from "#shared/outcome.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { attributeOf, ATTRIBUTE, readName } from "#probe-agent/analysis/tls/certificate/names.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { parseSetCookie } from "#probe-agent/analysis/cookies.ts";
import type { CmsReport } from "#probe-agent/analysis/page/cms/report.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { TechPage } from "#probe-agent/analysis/page/tech/subject.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TechUnknown } from "#probe-agent/toolkit/tech.ts";
import { limitationsOf, rawPageOf, type SeenPage } from "#probe-agent/sources/page.ts";
import { fetchSiteFile } from "#probe-agent/sources/site-file.ts";

/** What a page was found to use. */
interface Fingerprint {
  readonly technologies: readonly Technology[];
  /** What shows the content management system; null unless asked for. */
  readonly system: CmsReport | null;
  /** Where evidence was looked for beside the page: robots, dns, certificate. */
  readonly sources: readonly string[];
  /** Patterns of the rules that could not be used. */
  readonly unusable: number;
  readonly limitations: readonly string[];
}

/** Robots and DNS may take so long, the search so long, and so much is left for the answer. */
const BESIDE_MS = 4000;
/** A question ends before the wait for all of them: the other answers count. */
const MARGIN_MS = 400;
const SEARCH_MS = 12_000;
const RESERVE_MS = 1500;
const ROBOTS_BYTES = 256 * 1024;
const MAX_RECORDS = 50;
const MAX_COOKIES = 200;
const MAX_NAMED = 5;

const FAILURES: Readonly<Record<TechUnknown["reason"], string>> = {
  busy: "the probe is looking at too many pages at once",
  too_slow: "the page took too long to look at",
  out_of_memory: "the page takes too much memory to look at",
  cancelled: "the check ended first",
  broken: "the rules could not be run",
};

/**
 * Gathers what shows the technologies of a page and holds it against the rules. Fails only where the search itself does.
 * `withSystem`: also what shows its content management system, from the same parse.
 */
export async function fingerprint(
  net: Net,
  seen: SeenPage,
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
      "Scripts were read, not run: technologies that show only in a browser's JavaScript are missing.",
      ...(suspended.length === 0
        ? []
        : [`Rules that took too long are left out for a while (${suspended.length}): ${named}.`]),
      ...(unfinished === 0 ? [] : [`There was no time for ${unfinished} rules.`]),
      ...(robots === null || !robots.known ? ["/robots.txt could not be read."] : []),
      ...(dns === null || !dns.complete ? ["Some DNS records could not be had in time."] : []),
    ],
  });
}

interface DnsEvidence {
  readonly records: Record<string, string[]>;
  readonly complete: boolean;
}

/** Where the data of each type stands: the parsed field, without final dot. */
const FIELD = { MX: "exchange", NS: "nsdname", SOA: "mname", TXT: "text", CNAME: "cname" } as const;
type EvidenceRecord = keyof typeof FIELD;

/** MX, NS, SOA and TXT of the registrable domain, CNAME of the host itself. An address has none of them. */
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

/** Cookies that the page's host set on the way, rejected ones too: they tell of the software all the same. */
function cookiesOf({ snapshot }: SeenPage, now: Date): Record<string, string> {
  const { host } = new URL(snapshot.finalUrl);
  const hops = snapshot.hops.filter(({ url }) => new URL(url).host === host);
  const lines = hops.flatMap(({ url, headers }) => headerValues(headers, "set-cookie").map((line) => ({ url, line })));
  const cookies = lines.slice(0, MAX_COOKIES).map(({ url, line }) => parseSetCookie(line, url, now));
  return Object.fromEntries(cookies.flatMap((cookie) => (cookie === null ? [] : [[cookie.name, cookie.value]])));
}

/** Organization and common name of whoever issued the certificate. */
function issuerNames(der: Uint8Array | undefined): string[] {
  const certificate = der === undefined ? null : parseCertificate(der);
  if (certificate === null) return [];
  try {
    const name = readName(certificate.issuer);
    const names = [attributeOf(name, ATTRIBUTE.organization), attributeOf(name, ATTRIBUTE.commonName)];
    return names.filter((one) => one !== null);
  } catch (error) {
    if (error instanceof MalformedDer) return [];
    throw error;
  }
}
