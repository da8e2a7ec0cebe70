import { isBlockedPort } from "#shared/egress/ports.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol } from "#shared/tools/protocol.ts";
import type { AlternativeService } from "#probe-agent/analysis/http/alt-svc.ts";
import { quicVersionName } from "#probe-agent/analysis/network/quic-versions.ts";
import type { ServiceBinding } from "#probe-agent/analysis/dns/service-binding.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address } from "#probe-agent/port/address.ts";

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
