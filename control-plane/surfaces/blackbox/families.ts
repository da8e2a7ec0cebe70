import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";
import { Gauge, Registry } from "prom-client";

/** One series of a probe's answer. */
export interface Sample {
  readonly name: string;
  readonly help: string;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Prometheus's text format 0.0.4, families by name as the exporter orders them. */
export function renderSamples(samples: readonly Sample[]): Promise<string> {
  const registry = new Registry();
  const names = [...new Set(samples.map(({ name }) => name))].toSorted();
  for (const name of names) {
    const family = samples.filter((sample) => sample.name === name);
    const labelNames = [...new Set(family.flatMap(({ labels = {} }) => Object.keys(labels)))];
    const gauge = new Gauge({ name, help: family[0]?.help ?? name, labelNames, registers: [registry] });
    for (const { labels = {}, value } of family) gauge.set({ ...labels }, value);
  }
  return registry.metrics();
}

/** What every module says of the address, 0 where none was reached. Names and texts are the exporter's own. */
export function addressSamples(ip: string | null, resolveSeconds: number): readonly Sample[] {
  return [
    {
      name: "probe_dns_lookup_time_seconds",
      help: "Returns the time taken for probe dns lookup in seconds",
      value: resolveSeconds,
    },
    {
      name: "probe_ip_addr_hash",
      help: "Specifies the hash of IP address. It's useful to detect if the IP address changes.",
      value: ip === null ? 0 : hashAddress(ip),
    },
    {
      name: "probe_ip_protocol",
      help: "Specifies whether probe ip protocol is IP4 or IP6",
      value: ip === null ? 0 : isIPv4(ip) ? 4 : 6,
    },
  ];
}

/** How it ended and how long it took, seconds. */
export function outcomeSamples(success: boolean, seconds: number): readonly Sample[] {
  return [
    {
      name: "probe_duration_seconds",
      help: "Returns how long the probe took to complete in seconds",
      value: seconds,
    },
    {
      name: "probe_success",
      help: "Displays whether or not the probe was a success",
      value: success ? 1 : 0,
    },
  ];
}

/** One family with a series for each phase, seconds. */
export function phaseSamples(name: string, help: string, phases: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(phases).map(([phase, value]) => ({ name, help, value, labels: { phase } }));
}

/** FNV-1a, 32 bits, over the address's octets (prometheus/blackbox_exporter, prober/utils.go, ipHash). */
export function hashAddress(ip: string): number {
  let hash = 0x811c9dc5;
  for (const octet of ipaddr.parse(ip).toByteArray()) hash = Math.imul(hash ^ octet, 0x01000193) >>> 0;
  return hash;
}
