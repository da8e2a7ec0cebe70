import type { Scraped, ScrapedMonitor } from "#control-plane/surfaces/account-metrics/scraped.ts";
import { FAMILIES, INFO, OMITTED } from "#control-plane/surfaces/account-metrics/families.ts";
import { renderHead, renderPairs } from "#control-plane/surfaces/blackbox/metric-families.ts";

type Family = (typeof FAMILIES)[number];

/** A monitor with the beginnings of its samples, up to their last common label. */
interface NamedMonitor {
  readonly monitor: ScrapedMonitor;
  readonly start: string;
  /** In the order of its locations. */
  readonly starts: readonly string[];
}

/** Monitors in one part. Fifty locations of each have 2,000 samples of one family, a millisecond's work. */
const AT_ONCE = 8;

/**
 * Renders a scrape in Prometheus' text format 0.0.4, in parts of one family of AT_ONCE monitors at most, so that other
 * work can run between them; some are empty. `now` is Unix milliseconds. Labels are rendered once a monitor and location,
 * because a scrape of 1,000 monitors has 33,000 samples. An account without monitors has an empty scrape.
 */
export function* renderScrape({ monitors, omitted }: Scraped, now: number): Generator<string> {
  if (monitors.length === 0 && omitted === 0) return;
  if (monitors.length > 0) yield renderHead(INFO.name, INFO.help);
  const parts: (readonly NamedMonitor[])[] = [];
  for (let at = 0; at < monitors.length; at += AT_ONCE) {
    const part = monitors.slice(at, at + AT_ONCE).map(nameMonitor);
    parts.push(part);
    yield part.map(renderInfo).join("");
  }
  const samples = createSamples();
  for (const family of FAMILIES) {
    samples.begin(family.name);
    // A family without samples has no head.
    let head = renderHead(family.name, family.help);
    for (const part of parts) {
      for (const one of part) addSamples(family, one, samples, now);
      const text = samples.take();
      yield text === "" ? "" : head + text;
      if (text !== "") head = "";
    }
  }
  yield `${renderHead(OMITTED.name, OMITTED.help)}${OMITTED.name} ${omitted}\n`;
}

function nameMonitor(monitor: ScrapedMonitor): NamedMonitor {
  const start = `{${renderPairs({ monitor_id: String(monitor.id), monitor: monitor.name })}`;
  const starts = monitor.locations.map(({ location }) => `${start},${renderPairs({ location })}`);
  return { monitor, start, starts };
}

function renderInfo({ monitor, start }: NamedMonitor): string {
  return `${INFO.name}${start},${renderPairs(INFO.labelsOf(monitor))}} 1\n`;
}

/** Collects the text of samples. Its state is shared by all of them: a function for each costs more than its text. */
interface Samples {
  /** Begins a family. */
  begin(family: string): void;
  /** Sets the beginning of the labels of the next samples. */
  of(labels: string): void;
  readonly add: (value: number, label?: string, text?: string) => void;
  /** Returns what was added since the last call. */
  take(): string;
}

function createSamples(): Samples {
  let name = "";
  let start = "";
  let collected = "";
  return {
    begin(family) {
      name = family;
    },
    of(labels) {
      start = name + labels;
    },
    add(value, label, text) {
      collected += label === undefined ? `${start}} ${value}\n` : `${start},${label}="${text}"} ${value}\n`;
    },
    take() {
      const taken = collected;
      collected = "";
      return taken;
    },
  };
}

function addSamples(family: Family, { monitor, start, starts }: NamedMonitor, samples: Samples, now: number): void {
  if (family.of === "monitor") {
    samples.of(start);
    family.add(samples.add, monitor, now);
    return;
  }
  for (const [index, location] of monitor.locations.entries()) {
    samples.of(starts[index] ?? "");
    family.add(samples.add, location);
  }
}
