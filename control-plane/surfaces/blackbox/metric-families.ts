import { isIPv4 } from "node:net";
import { hashAddress } from "#shared/internet/address-hash.ts";

/** One series of the answer to a scrape. */
export interface Sample {
  readonly name: string;
  readonly help: string;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Renders Prometheus' text format 0.0.4, families sorted by name as in the exporter. All samples of a scrape are gauges
 * that are read once; a prom-client registry for each scrape took a tenth of the control plane's time.
 */
export function renderSamples(samples: readonly Sample[]): string {
  const families = new Map<string, string>();
  for (const { name, help, value, labels } of samples) {
    const line = `${name}${labels === undefined ? "" : renderLabels(labels)} ${renderValue(value)}\n`;
    families.set(name, (families.get(name) ?? renderHead(name, help)) + line);
  }
  return Array.from(families.keys())
    .toSorted()
    .map((name) => families.get(name))
    .join("");
}

/** Renders the two lines before the samples of a gauge. */
export function renderHead(name: string, help: string): string {
  return `# HELP ${name} ${escapeText(help)}\n# TYPE ${name} gauge\n`;
}

/** Escapes backslash and line feed. Almost no text has one, and the test is faster than two replacements. */
function escapeText(text: string): string {
  return /[\\\n]/.test(text) ? text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n") : text;
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = renderPairs(labels);
  return pairs === "" ? "" : `{${pairs}}`;
}

/** Renders labels without their braces. Values can contain any text. */
export function renderPairs(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");
}

/** Escapes backslash, quote and line feed: label values can contain any text of a target. */
function escapeLabel(value: string): string {
  return escapeText(value).replaceAll('"', '\\"');
}

function renderValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

/** Returns the metrics of the address, 0 if none was reached. Names and help texts are those of the exporter. */
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

/** Returns the metrics of success and duration, seconds. */
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

/** Returns one family with a series for each phase, seconds. */
export function phaseSamples(name: string, help: string, phases: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(phases).map(([phase, value]) => ({ name, help, value, labels: { phase } }));
}
