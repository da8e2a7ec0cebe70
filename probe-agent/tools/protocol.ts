import { literalFamily } from "#shared/egress/addresses.ts";
import { ok } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { protocol as contract } from "#shared/tools/protocol.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { parseAltSvc } from "#probe-agent/analysis/http/alt-svc.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { Hop } from "#probe-agent/port/http.ts";
import { askHttpsRecords, timedOutRecords, type HttpsRecords } from "#probe-agent/sources/https-record.ts";
import { attempt, firstAnswer, type Attempt } from "#probe-agent/tools/protocol/attempts.ts";
import { probeHttp3 } from "#probe-agent/tools/protocol/quic.ts";
import { probeTls } from "#probe-agent/tools/protocol/tls.ts";
import { readVersions, versionLimitations } from "#probe-agent/tools/protocol/versions.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";
import { protocolFindings } from "#probe-agent/analysis/web/protocol-findings.ts";

type Result = Untimed<ResultOf<typeof contract>>;
type Name = Attempt["name"];

/** Time limit for HTTPS records, with the aliases that they lead to. Each DNS query has a separate limit. */
const DNS_MS = 6000;
const SECURE: readonly Name[] = ["http/1.1", "h2", "no_alpn", "http/1.0"];
const CLEAR: readonly Name[] = ["http/1.0", "h2c_upgrade", "h2c_prior_knowledge"];

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
    ech: records === null ? false : isAnswered(records) ? records.records.some(({ ech }) => ech) : null,
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

function isAnswered({ status }: HttpsRecords): boolean {
  return status === "NOERROR" || status === "NXDOMAIN";
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
