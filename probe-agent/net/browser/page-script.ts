/** Name of the isolated world of the observers. The page's own scripts cannot access it. */
export const WORLD = "vantage";

/**
 * Script that runs at the start of every document in an isolated world, so that the page's changes to its globals do
 * not affect it. Layout shifts are summed as in Web Vitals: the largest session window, with gaps below 1 s, 5 s at
 * most, without shifts that follow input.
 */
export const OBSERVE = `(() => {
  if (globalThis.seen !== undefined) return;
  const seen = { fcp: null, lcp: null, cls: 0, tasks: [], lastTaskEnd: 0 };
  globalThis.seen = seen;
  let first = 0, last = 0, sum = 0;
  const take = {
    paint(entry) {
      if (entry.name === "first-contentful-paint") seen.fcp = entry.startTime;
    },
    "largest-contentful-paint"(entry) {
      seen.lcp = entry.startTime;
    },
    "layout-shift"(entry) {
      if (entry.hadRecentInput) return;
      if (sum > 0 && entry.startTime - last < 1000 && entry.startTime - first < 5000) sum += entry.value;
      else [first, sum] = [entry.startTime, entry.value];
      last = entry.startTime;
      seen.cls = Math.max(seen.cls, sum);
    },
    longtask(entry) {
      seen.lastTaskEnd = entry.startTime + entry.duration;
      if (seen.tasks.length < 5000) seen.tasks.push([entry.startTime, entry.duration]);
    },
  };
  for (const [type, read] of Object.entries(take)) {
    new PerformanceObserver((list) => list.getEntries().forEach(read)).observe({ type, buffered: true });
  }
})();`;

/** Expression that reads the observers' data, evaluated in the same world. */
export const READ = `(() => {
  const [navigation] = performance.getEntriesByType("navigation");
  return JSON.stringify({
    ...globalThis.seen,
    now: new Event("look").timeStamp,
    ttfb: navigation === undefined ? null : navigation.responseStart,
    load: navigation === undefined ? null : navigation.loadEventEnd,
    url: location.href,
  });
})()`;

/** A validated snapshot of the observers. All times are in milliseconds since the start of the navigation. */
export interface Observed {
  readonly now: number;
  readonly ttfb: number | null;
  readonly load: number | null;
  readonly fcp: number | null;
  readonly lcp: number | null;
  readonly cls: number;
  readonly tasks: readonly (readonly [start: number, duration: number])[];
  readonly lastTaskEnd: number;
  readonly url: string;
}

/** Parses a snapshot; null if it is not one (the document was being replaced). */
export function readObserved(json: unknown): Observed | null {
  if (typeof json !== "string") return null;
  const value = JSON.parse(json) as Record<string, unknown>;
  const time = (key: string): number | null => {
    const number = value[key];
    return typeof number === "number" && Number.isFinite(number) && number > 0 ? number : null;
  };
  const now = time("now");
  if (now === null || !Array.isArray(value["tasks"])) return null;
  return {
    now,
    ttfb: time("ttfb"),
    load: time("load"),
    fcp: time("fcp"),
    lcp: time("lcp"),
    cls: time("cls") ?? 0,
    tasks: value["tasks"] as [number, number][],
    lastTaskEnd: time("lastTaskEnd") ?? 0,
    url: String(value["url"]),
  };
}

/**
 * Computes the total blocking time: the part beyond 50 ms of each task after first contentful paint; null without that
 * paint.
 */
export function blockingTime({ fcp, tasks }: Pick<Observed, "fcp" | "tasks">): number | null {
  if (fcp === null) return null;
  return tasks.reduce((sum, [start, duration]) => {
    // If the paint happens during a task, the part after it counts (Lighthouse, total-blocking-time).
    const after = Math.min(duration, start + duration - fcp);
    return sum + Math.max(0, after - 50);
  }, 0);
}
