import { existing, fact } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { date } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { asn as contract } from "#shared/tools/asn/contract.ts";

type Asn = ResultOf<typeof contract>;

const MOST_SYSTEMS = 6;

/** AS numbers that no network of the internet has, as the end of a sentence (IANA's special-purpose AS numbers). */
const PURPOSES = {
  private: "is for private use: any network can have it inside",
  documentation: "is for documentation",
  reserved: "is reserved",
  as_trans: "represents numbers that old routers cannot write",
  as112: "is shared by servers that answer queries about private addresses",
} as const;

/** asn: which network announces an address, or who holds a number, then its registration. */
export const asn = definePresenter(contract, (data, now) => {
  const { asn: number, asdot, rdap, allocated, prefixes } = data;
  const isRange = rdap !== null && rdap.start_asn !== rdap.end_asn;
  return {
    verdict: "neutral",
    headline: headlineOf(data),
    facts: existing(
      fact("Network", number === null ? "none" : `AS${number}`),
      fact("Holder", data.org),
      fact("Country", data.country),
      fact("Prefix", data.prefix),
      fact("Name", data.name),
      fact("Address", data.ip === data.query ? null : data.ip),
      fact("Registry", data.registry?.toUpperCase()),
      fact("Allocated", allocated === null ? null : date(allocated, now)),
      fact("Last change", rdap?.changed_at == null ? null : date(rdap.changed_at, now)),
      fact("Registered as", isRange ? `part of AS${rdap.start_asn} to AS${rdap.end_asn}` : null),
      fact("Also announced by", listSystems(data.origins.filter((origin) => origin !== number))),
      fact("Buys transit from", listSystems(data.upstreams ?? [])),
      fact("Neighbours", listSystems(data.peers ?? [])),
      fact("Prefixes", existing(count(prefixes.ipv4, "IPv4"), count(prefixes.ipv6, "IPv6")).join(", ")),
      fact("Written with a dot", asdot === null || !asdot.includes(".") ? null : `AS${asdot}`),
      fact("Report abuse to", data.abuse),
    ),
  };
});

function headlineOf(data: Asn): string {
  const { query, asn: number, use, org, name, host, ip } = data;
  const target = host !== null && ip !== null && host !== ip ? `${host} (${ip})` : query;
  if (number === null)
    return ip === null ? `Nothing is known about ${query}` : `No network is known to announce ${target}`;
  const system = `AS${number}`;
  const holder = existing(org, name === null || name === org ? null : org === null ? name : `(${name})`).join(" ");
  const what = holder === "" ? null : holder;
  if (ip !== null) return `${target} is in ${existing(system, what).join(", ")}`;
  if (use !== null && use !== "public") return `${system} ${PURPOSES[use]}`;
  return what === null ? `The holder of ${system} is not known` : `${system} belongs to ${what}`;
}

function listSystems(numbers: readonly number[]): string {
  return listFirst(
    numbers.map((number) => `AS${number}`),
    MOST_SYSTEMS,
  );
}

function count(value: number | null, family: string): string | null {
  return value === null ? null : `${value} ${family}`;
}
