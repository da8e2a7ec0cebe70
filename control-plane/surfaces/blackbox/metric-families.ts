import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

/** One series of a probe's answer. */
export interface Sample {
  readonly name: string;
  readonly help: string;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Prometheus's text format 0.0.4, families by name as the exporter orders them. A scrape has gauges alone, made once and
 * read once: a registry of prom-client's for each took a tenth of the control plane's time.
 */
export function renderSamples(samples: readonly Sample[]): string {
  const families = new Map<string, { readonly help: string; lines: string }>();
  for (const { name, help, value, labels } of samples) {
    const line = `${name}${labels === undefined ? "" : renderLabels(labels)} ${renderValue(value)}\n`;
    const family = families.get(name);
    if (family === undefined) families.set(name, { help, lines: line });
    else family.lines += line;
  }
  let text = "";
  for (const name of Array.from(families.keys()).toSorted()) {
    const { help = "", lines = "" } = families.get(name) ?? {};
    text += `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} gauge\n${lines}`;
  }
  return text;
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** A label's value may hold any text of a target's: backslash, quote and line feed are escaped. */
function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function renderValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
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
