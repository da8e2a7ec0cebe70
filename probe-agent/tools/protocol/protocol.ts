import { isAnswer } from "#probe-agent/analysis/dns/propagation-failures.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import { ok } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { protocol as contract } from "#shared/tools/protocol/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { parseAltSvc } from "#probe-agent/analysis/http/alt-svc.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { Hop, HopTls } from "#probe-agent/port/http.ts";
import { askHttpsRecords, timedOutRecords, type HttpsRecords } from "#probe-agent/sources/https-record.ts";
import {
  attempt,
  firstAnswer,
  type Attempt,
  isSpoken,
  isUpgraded,
  probeHttp3,
} from "#probe-agent/tools/protocol/attempts.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";
import { protocolFindings } from "#probe-agent/tools/protocol/findings.ts";
import { VERSIONS } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { createProber, type ProbeTarget } from "#probe-agent/tools/ssl/prober.ts";
import { probeVersion } from "#probe-agent/tools/ssl/versions.ts";

type Result = Untimed<ResultOf<typeof contract>>;
type Name = Attempt["name"];

/** Time limit for HTTPS records, with the aliases that they lead to. Each DNS query has a separate limit. */
const DNS_MS = 6000;
const SECURE: readonly Name[] = ["http/1.1", "h2", "no_alpn", "http/1.0"];
const CLEAR: readonly Name[] = ["http/1.0", "h2c_upgrade", "h2c_prior_knowledge"];

type Tls = NonNullable<ResultOf<typeof contract>["tls"]>;

/** Maximum number of connections: three hellos for each version (common suites, rare ones, a short hello). */
const CONNECTIONS = 3 * VERSIONS.length;
const TLS_BUDGET_MS = 6000;
const HELLO_MS = 3000;

/**
 * Checks HTTP versions: one request first, then all other attempts with TLS versions and DNS in parallel, then QUIC.
 */
export const protocol = implement(contract, async (net, { url }) => {
  const observedAt = net.now().toISOString();
  const first = await firstAnswer(net, url);
  if (first.status !== "ok") return first;
  const { tried, page, row } = first.data;
  const { final } = page;
  const { ip, port } = final;
  const host = hostOf(new URL(url));
  const isSecure = final.tls !== null;
  const isLiteral = literalFamily(host) !== null;

  const [others, secured, records] = await Promise.all([
    Promise.all(remainingAttempts(tried, final).map((name) => attempt(net, url, name))),
    final.tls === null ? null : probeTls(net, { ip, port, servername: isLiteral ? null : host }, final.tls),
    isLiteral ? null : waitAtMost(DNS_MS, askHttpsRecords(net, host, port), timedOutRecords(host, port)),
  ]);
  const attempts = [...tried, ...others];
  const altSvc = parseAltSvc(headerValues(final.headers, "alt-svc"));
  const origin = { host, port, isSecure, addresses: inOrderOfUse(final) };
  const h3 = await probeHttp3(net, origin, altSvc?.services ?? [], records?.records ?? []);
  const spoken = readVersions(attempts, final);
  const tls = secured?.tls ?? null;
  const httpsRecords = recordsOf(records);
  const altSvcProblems = altSvc?.problems ?? [];
  return ok<Result>({
    url,
    host,
    port,
    ip,
    code: final.code,
    location: final.location,
    negotiated: final.httpVersion === "2" ? "h2" : final.httpVersion === "1.0" ? "http/1.0" : "http/1.1",
    alpn_offered: [...row.alpn_offered],
    alpn_selected: row.alpn_selected,
    ...spoken,
    h3,
    tls,
    alt_svc: (altSvc?.services ?? []).map((service) => ({
      alpn: service.alpn.slice(0, 255),
      host: service.host ?? host,
      port: service.port,
      max_age_s: service.maxAgeSeconds,
      persist: service.persist,
    })),
    alt_svc_clear: altSvc?.clear ?? false,
    https_rr: httpsRecords,
    ech: records === null ? false : isAnswer(records.status) ? records.records.some(({ ech }) => ech) : null,
    attempts: attempts.map((one) => one.row),
    findings: protocolFindings({ url, h2: spoken.h2, h3, tls, https_rr: httpsRecords, altSvcProblems }),
    source: ["page", ...(isSecure ? ["tls"] : []), ...(isLiteral ? [] : ["dns"]), "quic"],
    observed_at: observedAt,
    limitations: [
      ...(tried.length > 1
        ? [`The request with a browser's ALPN failed (${tried[0]?.row.reason}): see attempts.`]
        : []),
      ...versionLimitations(spoken, isSecure),
      ...(secured?.limitations ?? []),
      ...(records === null || records.why === null ? [] : [records.why]),
      ...quicLimitations(h3),
    ],
  });
});

/** HTTP versions that a server supports over TCP, and how they are negotiated. */
type SpokenVersions = Pick<
  ResultOf<typeof contract>,
  "http1_0" | "http1_1" | "h2" | "h2c_upgrade" | "h2c_prior_knowledge" | "without_alpn"
>;

/** Returns the host name without a final dot, or the address without brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$|\.$/g, "");
}

/** Returns the attempts that earlier answers do not make redundant. Without ALPN a server cannot have HTTP/2. */
function remainingAttempts(tried: readonly Attempt[], { tls, httpVersion }: Hop): Name[] {
  const isKnown = (name: Name): boolean =>
    tried.some((one) => one.name === name) ||
    (name === "h2" && (httpVersion === "2" || tls?.alpn === null)) ||
    (name === "http/1.1" && httpVersion === "1.1");
  return (tls === null ? CLEAR : SECURE).filter((name) => !isKnown(name));
}

/** Returns the addresses with the one that answered first, so that it represents its family. */
function inOrderOfUse({ ip, ipVersion, addresses }: Hop): Hop["addresses"] {
  return [{ ip, version: ipVersion }, ...addresses];
}

function recordsOf(found: HttpsRecords | null): Result["https_rr"] {
  if (found === null) return null;
  const { name, status, aliases, records } = found;
  return plain({ name, status, aliases, records });
}

function quicLimitations({ quic_reachable: reachable, probes }: Result["h3"]): string[] {
  if (reachable !== "unknown") return [];
  if (probes.length === 0) {
    return ["HTTP/3 was not checked over UDP: it requires https, and no response or record advertises it."];
  }
  if (probes.every(({ reason }) => reason !== null)) return ["No QUIC probe could be sent: see probes."];
  return ["No answer over UDP: there is no QUIC server, or a firewall drops the packets."];
}

/** Describes the session, and probes all other versions with one ClientHello each. */
async function probeTls(
  net: Net,
  target: ProbeTarget,
  { protocol: negotiated, cipher, group, authorized, error }: HopTls,
): Promise<{ readonly tls: Tls; readonly limitations: readonly string[] }> {
  const until = net.monotonic() + Math.min(TLS_BUDGET_MS, net.remainingMs() / 2);
  const bounds = { connections: CONNECTIONS, until, questionMs: HELLO_MS, usualMs: HELLO_MS };
  const prober = createProber(net, target, bounds);
  const seen = await Promise.all(
    VERSIONS.map(async (version) => {
      const offered = version.name === negotiated || (await probeVersion(prober, version)).offered;
      return { ...version, offered };
    }),
  );
  const versions = Object.fromEntries(seen.map(({ key, offered }) => [key, offered])) as Tls["versions"];
  const limitations = seen.flatMap(({ label, offered }) =>
    offered === null ? [`Whether the server accepts ${label} could not be determined.`] : [],
  );
  return { tls: { versions, protocol: negotiated, cipher, group, authorized, error }, limitations };
}

/** Derives the versions from the attempts. `final` is the first successful answer. */
function readVersions(attempts: readonly Attempt[], final: Hop): SpokenVersions {
  const isSecure = final.tls !== null;
  const found = (name: Attempt["name"]): Attempt | undefined => attempts.find((one) => one.name === name);
  const isSupported = (name: Attempt["name"], versions: readonly string[]): boolean | null => {
    const one = found(name);
    return one === undefined ? null : isSpoken(one, versions, final.code);
  };
  const upgrade = found("h2c_upgrade");
  const h2cUpgrade = upgrade === undefined ? null : isUpgraded(upgrade);
  const h2cPrior = isSupported("h2c_prior_knowledge", ["2"]);
  const isHttp2 = final.httpVersion === "2" || isSupported("h2", ["2"]) === true;
  const isHttp11 = final.httpVersion === "1.1";
  return {
    // An HTTP/1.1 server answers an HTTP/1.0 request with version 1.1 (RFC 9110 section 6.2).
    http1_0: isSupported("http/1.0", ["1.0", "1.1"]),
    http1_1: isHttp11 ? true : isSecure ? isSupported("http/1.1", ["1.1"]) : false,
    h2: isHttp2 || h2cUpgrade === true || h2cPrior === true,
    h2c_upgrade: h2cUpgrade,
    h2c_prior_knowledge: h2cPrior,
    without_alpn: isSecure ? withoutAlpn(attempts, final) : null,
  };
}

/** Returns the version that the server uses without ALPN; null if it does not answer such a request. */
function withoutAlpn(attempts: readonly Attempt[], final: Hop): SpokenVersions["without_alpn"] {
  const spoken = (version: string) => (version === "1.0" ? "http/1.0" : "http/1.1");
  const one = attempts.find(({ name }) => name === "no_alpn");
  if (one === undefined || isSpoken(one, ["1.0", "1.1"], final.code) !== true) return null;
  return one.outcome.status === "ok" ? spoken(one.outcome.data.final.httpVersion) : null;
}

/** Returns one sentence for each value that could not be determined. */
function versionLimitations(spoken: SpokenVersions, isSecure: boolean): string[] {
  const rows: readonly (readonly [value: boolean | null, what: string])[] = [
    [spoken.http1_0, "answers HTTP/1.0"],
    [spoken.http1_1, "supports HTTP/1.1"],
    ...(isSecure
      ? []
      : ([
          [spoken.h2c_upgrade, "supports HTTP/2 by Upgrade"],
          [spoken.h2c_prior_knowledge, "supports unencrypted HTTP/2"],
        ] as const)),
  ];
  return rows.flatMap(([value, what]) =>
    value === null ? [`Whether the server ${what} could not be determined: see attempts.`] : [],
  );
}
