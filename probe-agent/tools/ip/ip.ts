import { ok } from "#shared/contracts/outcome.ts";
import { ip as contract } from "#shared/tools/ip/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { addressType, type AddressType } from "#probe-agent/analysis/network/address-type.ts";
import { askCymru } from "#probe-agent/sources/cymru.ts";
import { askRdap } from "#probe-agent/sources/rdap.ts";
import { lookUpReverseName } from "#probe-agent/sources/reverse-name.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { continentOf, type Continent } from "#shared/internet/continents.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { AsRecord, Origin } from "#probe-agent/analysis/registry/cymru.ts";
import type { NetworkOwner, Place } from "#probe-agent/analysis/registry/geo.ts";
import { networkRow } from "#probe-agent/analysis/registry/rdap/rows.ts";
import type { RdapFinding } from "#probe-agent/analysis/registry/rdap.ts";

type Result = ResultOf<typeof contract>;

interface Address {
  readonly ip: string;
  readonly version: 4 | 6;
}

/** Data of all sources. Null means that a source was not asked or did not answer in time. */
interface IpEvidence {
  readonly host: string;
  readonly address: Address;
  readonly allowed: readonly Address[];
  readonly blocked: readonly Address[];
  readonly type: AddressType;
  /** Whether the address is public, so that registries were asked at all. */
  readonly outside: boolean;
  readonly reverse: { readonly hostname: string | null; readonly fcrdns: boolean | null } | null;
  readonly cymru: {
    readonly answered: boolean;
    readonly origin: Origin | null;
    readonly system: AsRecord | null;
  } | null;
  readonly rdap:
    | { readonly ok: true; readonly finding: RdapFinding; readonly url: string }
    | { readonly ok: false; readonly limitation: string }
    | null;
  /** Results from the operator's databases. Null if there is no database, or if nothing was looked up. */
  readonly geo: { readonly database: Database; readonly place: Place | null } | null;
  readonly network: { readonly owner: NetworkOwner | null } | null;
  /** Time at which the age of the database is measured. */
  readonly now: Date;
}

interface Database {
  readonly source: string;
  readonly build_epoch: number;
  readonly licence: string | null;
}

const DAY_S = 86_400;

const CONTINENT: Readonly<Record<Continent, { readonly code: string; readonly name: string }>> = {
  africa: { code: "AF", name: "Africa" },
  antarctica: { code: "AN", name: "Antarctica" },
  asia: { code: "AS", name: "Asia" },
  europe: { code: "EU", name: "Europe" },
  "north-america": { code: "NA", name: "North America" },
  oceania: { code: "OC", name: "Oceania" },
  "south-america": { code: "SA", name: "South America" },
};

const REGISTRIES = ["afrinic", "apnic", "arin", "lacnic", "ripencc"] as const;

const countryNames = new Intl.DisplayNames("en", { type: "region", fallback: "code" });

/** Builds the result from the evidence. Registration data takes precedence over routing data about the same field. */
function ipReport(evidence: IpEvidence): Omit<Result, "elapsed_ms" | "observed_at"> {
  const { address, reverse, cymru, rdap } = evidence;
  const place = evidence.geo?.place ?? null;
  const owner = evidence.network?.owner ?? null;
  const origin = cymru?.origin ?? null;
  const finding = rdap?.ok === true ? rdap.finding : null;
  const code = [finding?.network.country, origin?.country].find(
    (candidate) => typeof candidate === "string" && continentOf(candidate) !== null,
  );
  const registered = code === undefined || code === null ? null : { code, name: countryNames.of(code) ?? code };
  const country = place?.country ?? registered;
  const continent = country === null ? null : continentOf(country.code);
  const asn = origin?.asns[0] ?? owner?.asn ?? null;
  // Two sources can name different systems. A name belongs only to the number it came with.
  const named = owner !== null && owner.asn === asn ? owner.as_name : null;
  return {
    host: evidence.host,
    ip: address.ip,
    ip_version: address.version,
    type: evidence.type,
    hostname: reverse?.hostname ?? null,
    fcrdns: reverse?.fcrdns ?? null,
    continent: place?.continent ?? (continent === null ? null : CONTINENT[continent]),
    country: country && { ...country },
    country_source: country === null ? null : country === place?.country ? "geo_db" : "rir_registration",
    region: place?.region ?? null,
    city: place?.city ?? null,
    postal: place?.postal ?? null,
    location: place?.location ?? null,
    timezone: place?.timezone ?? null,
    asn,
    asns: origin === null ? (asn === null ? [] : [asn]) : [...origin.asns],
    as_name: cymru?.system?.name ?? named,
    isp: owner?.isp ?? cymru?.system?.holder ?? named ?? cymru?.system?.name ?? null,
    organization: finding?.network.organization ?? owner?.organization ?? null,
    network: finding?.cidr ?? origin?.prefix ?? null,
    announced_prefix: origin?.prefix ?? null,
    registry: registryOf(origin, finding),
    rdap: rdap?.ok === true ? networkRow(rdap.finding.network, rdap.url) : null,
    all_addresses: [...evidence.allowed.map(row(false)), ...evidence.blocked.map(row(true))],
    data: evidence.geo && describeDatabase(evidence.geo.database, evidence.now),
    source: [
      ...((reverse?.hostname ?? null) === null ? [] : (["dns"] as const)),
      ...(origin === null ? [] : (["cymru"] as const)),
      ...(finding === null ? [] : (["rdap"] as const)),
      ...(place === null ? [] : (["geo_db"] as const)),
      ...(owner === null ? [] : (["asn_db"] as const)),
    ],
    limitations: limitationsOf(evidence, country !== null && country !== place?.country),
  };
}

function describeDatabase(database: Database, now: Date): NonNullable<Result["data"]> {
  const age = Math.floor((now.getTime() / 1000 - database.build_epoch) / DAY_S);
  return { ...database, age_days: age };
}

function row(blocked: boolean): (address: Address) => Result["all_addresses"][number] {
  return ({ ip, version }) => ({ ip, ip_version: version, blocked });
}

function registryOf(origin: Origin | null, finding: RdapFinding | null): Result["registry"] {
  // Port 43 host, e.g. whois.ripe.net or whois.arin.net. A national registry below one of the five is not in the list.
  const [, host = ""] = /^whois\.(\w+)\.net$/.exec(finding?.network.port43?.toLowerCase() ?? "") ?? [];
  const word = origin?.registry ?? (host === "ripe" ? "ripencc" : host);
  return REGISTRIES.find((registry) => registry === word) ?? null;
}

function limitationsOf(
  { type, outside, reverse, cymru, rdap, blocked, allowed, geo, network }: IpEvidence,
  isRegistered: boolean,
): string[] {
  const said = (condition: boolean, sentence: string): string[] => (condition ? [sentence] : []);
  return [
    ...said(!outside, `A ${type.replace("_", "-")} address: registries and routing data do not cover it.`),
    ...said(
      outside && geo === null,
      "City, region, postal code, position and time zone are not known, because this probe has no location database.",
    ),
    ...said(geo !== null && geo.place === null, "The location database does not contain the address."),
    ...said(geo !== null && geo.place !== null, "The location is an estimate of the operator's database."),
    ...said(
      isRegistered,
      "The country is where the address block is registered, not necessarily where the host is located.",
    ),
    ...said(reverse === null, "The lookup of the reverse name timed out."),
    ...said(
      (reverse?.hostname ?? null) !== null && reverse?.fcrdns === null,
      "The reverse name could not be verified, because its own lookup failed.",
    ),
    ...said(
      outside && (cymru === null || !cymru.answered),
      (network?.owner?.asn ?? null) === null
        ? "The announcing network is not known, because Team Cymru's DNS zones did not answer."
        : "Team Cymru's DNS zones did not answer, so the network is taken from the operator's database.",
    ),
    ...said(cymru?.answered === true && cymru.origin === null, "No prefix in global routing contains the address."),
    ...said((cymru?.origin?.asns.length ?? 0) > 1, "Several networks announce the address; asn is the first of them."),
    ...said(outside && rdap === null, "RDAP: the registry did not answer in time."),
    ...(rdap?.ok === false ? [rdap.limitation] : []),
    ...said(allowed.length > 1, "The host has several addresses; only the first one was examined."),
    ...said(blocked.length > 0, "Addresses marked blocked were not examined."),
  ];
}

/** Time kept for sending the answer back after the sources have used their time, in milliseconds. */
const RESERVE_MS = 500;

/** Looks up the address of a host, then asks every source about it at the same time. Only the host itself can fail. */
export const ip = implement(contract, async (net, { host }) => {
  const observedAt = net.now().toISOString();
  const resolved = await net.dns.resolve(host);
  if (resolved.status !== "ok") return resolved;
  const { allowed, blocked } = resolved.data;
  const [address] = allowed;
  if (address === undefined) throw new Error("resolved to no allowed address");

  const type = addressType(address.ip);
  // An address outside the internet is in no registry, and outside services should not learn about it.
  const outside = type === "public" || type === "anycast";
  const patience = net.remainingMs() - RESERVE_MS;
  const [reverse, cymru, rdap] = await Promise.all([
    waitAtMost(patience, lookUpReverseName(net, address.ip), null),
    outside ? waitAtMost(patience, askCymru(net, address.ip), null) : null,
    outside ? waitAtMost(patience, askRdap(net, address.ip), null) : null,
  ]);
  const databases = {
    geo: outside ? net.data.geo(address.ip) : null,
    network: outside ? net.data.asn(address.ip) : null,
    now: new Date(observedAt),
  };
  return ok({
    ...ipReport({
      host: resolved.data.host,
      address,
      allowed,
      blocked,
      type,
      outside,
      reverse,
      cymru,
      rdap,
      ...databases,
    }),
    observed_at: observedAt,
  });
});
