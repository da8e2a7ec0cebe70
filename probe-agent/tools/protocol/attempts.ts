import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol } from "#shared/tools/protocol/contract.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { HttpRequest, PageSnapshot } from "#probe-agent/port/http.ts";
import { isBlockedPort } from "#shared/egress/ports.ts";
import type { AlternativeService } from "#probe-agent/analysis/http/alt-svc.ts";
import { quicVersionName } from "#probe-agent/tools/protocol/findings.ts";
import type { ServiceBinding } from "#probe-agent/analysis/dns/service-binding.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { Address } from "#probe-agent/port/address.ts";

type Row = ResultOf<typeof protocol>["attempts"][number];

/** One attempt to request the URL, and its outcome. */
export interface Attempt {
  readonly name: Row["name"];
  readonly outcome: Outcome<PageSnapshot>;
  readonly row: Row;
}

type Way = Pick<HttpRequest, "alpn" | "httpVersion" | "h2c">;

/** ALPN names that browsers offer. */
const BROWSER_ALPN = ["h2", "http/1.1"] as const;

const WAYS: Readonly<Record<Row["name"], Way>> = {
  default: { alpn: BROWSER_ALPN },
  "http/1.0": { httpVersion: "1.0", alpn: [] },
  "http/1.1": { alpn: ["http/1.1"] },
  h2: { alpn: ["h2"] },
  no_alpn: { alpn: [] },
  h2c_upgrade: { h2c: "upgrade" },
  h2c_prior_knowledge: { h2c: "prior_knowledge" },
};

/** Limit of the body in octets. Only the head of the answer is used. */
const BODY_BYTES = 1024;
/** Time limit of the body in milliseconds. */
const BODY_MS = 500;
/** Time limit of the first attempt in milliseconds. */
const FIRST_MS = 10_000;
/** Time limit of every other attempt in milliseconds. */
const ATTEMPT_MS = 5000;

/** Requests the URL in one way. */
export async function attempt(net: Net, url: string, name: Row["name"]): Promise<Attempt> {
  const startedAt = net.monotonic();
  const outcome = await net.http.fetch({
    url,
    method: "GET",
    follow: false,
    maxBodyBytes: BODY_BYTES,
    bodyTimeoutMs: BODY_MS,
    timeoutMs: name === "default" ? FIRST_MS : ATTEMPT_MS,
    ...WAYS[name],
  });
  const final = outcome.status === "ok" ? outcome.data.final : null;
  const row = {
    name,
    alpn_offered: url.startsWith("https:") ? [...(WAYS[name].alpn ?? [])] : [],
    alpn_selected: final?.tls?.alpn ?? null,
    http_version: final?.httpVersion ?? null,
    code: final?.code ?? null,
    reason: outcome.status === "failed" ? outcome.reason : outcome.status === "ok" ? null : "target_not_allowed",
    ms: Math.round(net.monotonic() - startedAt),
  };
  return { name, outcome, row };
}

/** The first successful answer, with the attempts up to it. */
interface FirstAnswer {
  readonly tried: readonly Attempt[];
  readonly page: PageSnapshot;
  readonly row: Row;
}

/**
 * Requests the URL as a browser does. If that fails for a reason that another attempt can avoid, makes one more
 * attempt: for a server that refuses all ALPN names offered, whose HTTP/2 is broken, or that supports only unencrypted
 * HTTP/2.
 */
export async function firstAnswer(net: Net, url: string): Promise<Outcome<FirstAnswer>> {
  const first = await attempt(net, url, "default");
  const { outcome } = first;
  if (outcome.status === "ok") return ok({ tried: [first], page: outcome.data, row: first.row });
  if (outcome.status !== "failed") return outcome;
  const isAnswer = (outcome.stage === "tls" || outcome.stage === "response") && outcome.reason !== "timeout";
  if (!isAnswer) return outcome;
  const refusesNames = outcome.reason === "no_application_protocol";
  const other = refusesNames ? "no_alpn" : url.startsWith("https:") ? "http/1.1" : "h2c_prior_knowledge";
  const second = await attempt(net, url, other);
  if (second.outcome.status !== "ok") return outcome;
  return ok({ tried: [first, second], page: second.outcome.data, row: second.row });
}

/** Status codes that refuse the HTTP version (RFC 9110 sections 15.5.22 and 15.6.6). */
const REFUSES_VERSION = new Set([426, 505]);
/** Status codes of an overloaded or failing server. They say nothing about the version. */
const UNRELATED_ERRORS = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Reports whether the server supports the version of an attempt: it answered below 400 or with the status of the first
 * answer. Another error status is a refusal. Null if unknown.
 */
export function isSpoken({ outcome }: Attempt, versions: readonly string[], usualCode: number): boolean | null {
  if (outcome.status === "failed") {
    const isRefusal = outcome.source === "target" && outcome.reason !== "timeout" && outcome.stage !== "connect";
    return isRefusal ? false : null;
  }
  if (outcome.status !== "ok") return null;
  const { code, httpVersion } = outcome.data.final;
  if (!versions.includes(httpVersion) || REFUSES_VERSION.has(code)) return false;
  if (code < 400 || code === usualCode) return true;
  return UNRELATED_ERRORS.has(code) ? null : false;
}

/** Reports whether the server accepted the upgrade to unencrypted HTTP/2; null if unknown. */
export function isUpgraded({ outcome }: Attempt): boolean | null {
  if (outcome.status === "ok") return outcome.data.final.code === 101;
  return outcome.status === "failed" && outcome.reason === "protocol_error" ? false : null;
}

type H3 = ResultOf<typeof protocol>["h3"];
type ProbeRow = H3["probes"][number];
type Place = Pick<ProbeRow, "source" | "host" | "port">;

/** The origin whose QUIC is probed. */
interface Origin {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Addresses allowed by the rules on targets; the one that answered first. */
  readonly addresses: readonly Address[];
}

const MAX_PLACES = 3;
const PROBE_MS = 2500;

/** Probes QUIC at every place that is advertised for HTTP/3; at the origin's own port if none is advertised. */
export async function probeHttp3(
  net: Net,
  origin: Origin,
  services: readonly AlternativeService[],
  records: readonly ServiceBinding[],
): Promise<H3> {
  const alternatives = services.filter(({ alpn }) => isHttp3(alpn));
  const bindings = records.filter(({ alpn, compatible }) => compatible && alpn.some(isHttp3));
  const places = distinct([
    ...alternatives.map(({ host, port }): Place => ({ source: "alt_svc", host: bare(host ?? origin.host), port })),
    ...bindings.map(({ target, port }): Place => ({ source: "https_rr", host: target, port: port ?? origin.port })),
  ]);
  // HTTP/3 requires https, so the port of an http URL is not probed.
  const own: Place[] = origin.isSecure ? [{ source: "origin", host: origin.host, port: origin.port }] : [];
  const probed = await Promise.all((places.length > 0 ? places : own).map((place) => probePlace(net, place, origin)));
  const rows = probed.flat();
  const versions = [...new Set(rows.flatMap((row) => row.versions))];
  return {
    advertised_alt_svc: alternatives.length > 0,
    advertised_https_rr: bindings.length > 0,
    quic_reachable: isReachable(rows.map(({ probe }) => probe)),
    quic_versions: versions,
    quic_version_names: versions.map(quicVersionName),
    probes: rows.map(({ probe }) => probe),
  };
}

interface PlaceResult {
  readonly probe: ProbeRow;
  readonly versions: readonly string[];
}

async function probePlace(net: Net, place: Place, origin: Origin): Promise<PlaceResult[]> {
  const notProbed = (ip: string | null, reason: string): PlaceResult => ({
    probe: { ...place, ip, reachable: "unknown", rtt_ms: null, reason },
    versions: [],
  });
  // The site chooses the port, so it must not make us contact a port that browsers block.
  if (isBlockedPort(String(place.port))) return [notProbed(null, "blocked_port")];
  const isOwn = place.host.toLowerCase() === origin.host.toLowerCase();
  const resolved = isOwn ? null : await net.dns.resolve(place.host);
  if (resolved !== null && resolved.status !== "ok") {
    return [notProbed(null, resolved.status === "failed" ? resolved.reason : "target_not_allowed")];
  }
  const addresses = oneOfEach(resolved === null ? origin.addresses : resolved.data.allowed);
  return Promise.all(
    addresses.map(async ({ ip }): Promise<PlaceResult> => {
      const outcome = await net.quic.probe(ip, place.port, PROBE_MS);
      if (outcome.status === "failed") return notProbed(ip, outcome.reason);
      if (outcome.status !== "ok") return notProbed(ip, "target_not_allowed");
      const { reachable, versions, rttMs } = outcome.data;
      const rtt_ms = rttMs === null ? null : toMicroseconds(rttMs);
      return { probe: { ...place, ip, reachable, rtt_ms, reason: null }, versions };
    }),
  );
}

/** Returns true if one place answers, false if all places that were probed are closed, else unknown. */
function isReachable(probes: readonly ProbeRow[]): H3["quic_reachable"] {
  const sent = probes.filter(({ reason }) => reason === null);
  if (sent.some(({ reachable }) => reachable === true)) return true;
  return sent.length > 0 && sent.every(({ reachable }) => reachable === false) ? false : "unknown";
}

/** Reports whether an ALPN name is h3 or one of its drafts. */
function isHttp3(alpn: string): boolean {
  return /^h3(-\d{1,3})?$/.test(alpn);
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

function distinct(places: readonly Place[]): Place[] {
  const byAddress = new Map<string, Place>();
  for (const place of places) {
    const key = `${place.host.toLowerCase()} ${place.port}`;
    if (!byAddress.has(key) && byAddress.size < MAX_PLACES) byAddress.set(key, place);
  }
  return [...byAddress.values()];
}

/** Returns the first address of each family. */
function oneOfEach(addresses: readonly Address[]): Address[] {
  return ([4, 6] as const).flatMap((family) => addresses.find(({ version }) => version === family) ?? []);
}
