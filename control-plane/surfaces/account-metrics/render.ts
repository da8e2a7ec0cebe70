import type { ScrapedMonitor } from "#control-plane/surfaces/account-metrics/facts.ts";
import { FAMILIES, INFO } from "#control-plane/surfaces/account-metrics/families.ts";
import { renderHead, renderPairs } from "#control-plane/surfaces/blackbox/metric-families.ts";

/** A monitor with the beginnings of its samples, up to their last common label. */
interface NamedMonitor {
  readonly monitor: ScrapedMonitor;
  readonly start: string;
  /** In the order of its locations. */
  readonly starts: readonly string[];
}

/**
 * Renders a scrape in Prometheus' text format 0.0.4. `now` is Unix milliseconds. Labels are rendered once a monitor and
 * location, because a scrape of 1,000 monitors has 33,000 samples.
 */
export function renderScrape(monitors: readonly ScrapedMonitor[], now: number): string {
  if (monitors.length === 0) return "";
  const named = monitors.map(nameMonitor);
  let text = renderInfo(named);
  for (const family of FAMILIES) {
    const { name } = family;
    let samples = "";
    let start = "";
    const add = (value: number, label?: string, labelText?: string): void => {
      samples +=
        label === undefined ? `${name}${start}} ${value}\n` : `${name}${start},${label}="${labelText}"} ${value}\n`;
    };
    for (const one of named) {
      if (family.of === "monitor") {
        start = one.start;
        family.add(add, one.monitor, now);
        continue;
      }
      for (const [index, location] of one.monitor.locations.entries()) {
        start = one.starts[index] ?? "";
        family.add(add, location);
      }
    }
    if (samples !== "") text += renderHead(name, family.help) + samples;
  }
  return text;
}

function nameMonitor(monitor: ScrapedMonitor): NamedMonitor {
  const start = `{${renderPairs({ monitor_id: String(monitor.id), monitor: monitor.name })}`;
  const starts = monitor.locations.map(({ location }) => `${start},${renderPairs({ location })}`);
  return { monitor, start, starts };
}

function renderInfo(monitors: readonly NamedMonitor[]): string {
  const samples = monitors.map(
    ({ monitor, start }) => `${INFO.name}${start},${renderPairs(INFO.labelsOf(monitor))}} 1\n`,
  );
  return renderHead(INFO.name, INFO.help) + samples.join("");
}
