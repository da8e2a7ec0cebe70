import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { reverseNameFact } from "#shared/presentation/reverse-name.ts";
import { date } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ip as contract } from "#shared/tools/ip/contract.ts";

type Ip = ResultOf<typeof contract>;

const MOST_SYSTEMS = 4;

/** Addresses that are not on the internet, as the end of a sentence. */
const PURPOSES = {
  private: "is a private address: it exists only inside a network",
  cgnat: "is an address inside a provider's network",
  loopback: "is a loopback address: it never leaves a machine",
  link_local: "is a link-local address: it never leaves a cable",
  multicast: "is a multicast address: many machines receive it",
  reserved: "is a reserved address",
  documentation: "is an address for documentation",
} as const;

/** ip: who holds an address and where it is, then its registration. */
export const ip = definePresenter(contract, (data, now) => {
  const { country, city, region, location, rdap, all_addresses: all } = data;
  const isEstimate = data.country_source === "geo_db";
  const place = existing(city, region?.name === city ? null : region?.name, country?.name).join(", ");
  return {
    verdict: "neutral",
    headline: headlineOf(data),
    facts: existing(
      fact("Address", data.ip),
      fact(isEstimate ? "Location (estimate)" : "Registered in", place),
      fact("Network", describeNetwork(data)),
      fact("Holder", data.organization),
      reverseNameFact({ name: data.hostname, exists: null, leadsBack: data.fcrdns }),
      fact(
        "Also announced by",
        listFirst(
          data.asns.filter((asn) => asn !== data.asn).map((asn) => `AS${asn}`),
          MOST_SYSTEMS,
        ),
      ),
      fact("Block", existing(data.network, rdap?.name === null ? null : rdap?.name).join(", ")),
      fact("Announced prefix", data.announced_prefix === data.network ? null : data.announced_prefix),
      fact("Registry", data.registry?.toUpperCase()),
      fact("Registered", rdap?.registered_at == null ? null : date(rdap.registered_at, now)),
      fact("Report abuse to", rdap?.abuse_email),
      fact("Position", location === null ? null : describePosition(location)),
      fact("Time zone", data.timezone),
      fact("Location data", data.data === null || !isEstimate ? null : date(readEpoch(data.data.build_epoch), now)),
    ),
    tables: existing(
      table(
        "Addresses of the host",
        ["Address", "Note"],
        all.length < 2
          ? []
          : all.map((one) => [
              one.ip,
              one.blocked ? "not allowed as a target" : one.ip === data.ip ? "shown here" : null,
            ]),
      ),
    ),
  };
});

function headlineOf(data: Ip): string {
  const { type, host, organization, country, country_source: source } = data;
  const name = host === data.ip ? data.ip : `${host} (${data.ip})`;
  if (type !== "public" && type !== "anycast") return `${name} ${PURPOSES[type]}`;
  const network = data.asn === null ? null : `AS${data.asn}${data.as_name === null ? "" : ` ${data.as_name}`}`;
  const holder = organization ?? data.isp ?? network;
  const place = country === null ? null : `${source === "geo_db" ? "" : "registered in "}${country.name}`;
  if (holder === null) return `${name}: ${place ?? "nothing is known about this address"}`;
  return existing(`${name} belongs to ${holder}`, holder === network ? null : network, place).join(", ");
}

function describeNetwork({ asn, as_name: name, isp }: Ip): string | null {
  return asn === null ? null : existing(`AS${asn}`, isp ?? name).join(" ");
}

function describePosition({ latitude, longitude, accuracy_radius_km: radius }: NonNullable<Ip["location"]>): string {
  return `${latitude}, ${longitude}${radius === null ? "" : ` (within ${radius} km)`}`;
}

/** Returns a time in Unix seconds as a date; as a number, if it is beyond all dates. */
function readEpoch(seconds: number): string {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? String(seconds) : time.toISOString();
}
