import type { ScrapedMonitor, UptimeFacts } from "#control-plane/surfaces/account-metrics/scraped.ts";

type Location = ScrapedMonitor["locations"][number];

/** Adds a sample of the present monitor, with one more label if given; its text needs no escapes. */
type Add = (value: number, label?: string, text?: string) => void;

/** A gauge of monitors. A monitor without a known value has no sample. */
interface MonitorFamily {
  readonly name: string;
  readonly help: string;
  readonly of: "monitor";
  readonly add: (add: Add, monitor: ScrapedMonitor, now: number) => void;
}

/** A gauge of monitors at their locations; the label location is added. */
interface LocationFamily {
  readonly name: string;
  readonly help: string;
  readonly of: "location";
  readonly add: (add: Add, location: Location) => void;
}

/** Windows of the uptime in Prometheus' notation of durations. */
const WINDOWS: readonly (readonly [keyof UptimeFacts, string])[] = [
  ["d1", "1d"],
  ["d7", "7d"],
  ["d30", "30d"],
  ["d90", "90d"],
];

/**
 * Maximum number of samples of a scrape: some 12 MB of text. 1,000 monitors have 37,000 samples at three locations each,
 * and 400,000 at the 50 locations that the largest plan allows.
 */
export const MOST_SAMPLES = 100_000;

/**
 * Number of samples of a monitor, and of each of its locations, if every value is known. A scrape is limited by these
 * numbers, not by what is known at the moment: the monitors that it shows stay the same from one scrape to the next.
 */
export const SAMPLES = { perMonitor: 13, perLocation: 8 } as const;

/**
 * Every family of a scrape but vantage_monitor_info and vantage_metrics_omitted_monitors. Names and units follow
 * https://prometheus.io/docs/practices/naming/. A value that is not known has no sample, so that its series ends instead
 * of repeating an old value.
 */
export const FAMILIES: readonly (MonitorFamily | LocationFamily)[] = [
  {
    name: "vantage_monitor_active",
    help: "Whether the monitor is active: 0 while it is paused",
    of: "monitor",
    add: (add, { isActive }) => add(isActive ? 1 : 0),
  },
  {
    name: "vantage_monitor_up",
    help: "Whether the monitor is up by its confirmed status; without a sample while the status is unknown",
    of: "monitor",
    add(add, { status }) {
      if (status !== "unknown") add(status === "up" ? 1 : 0);
    },
  },
  {
    name: "vantage_monitor_degraded",
    help: "Whether the monitor is up and slower than its limit",
    of: "monitor",
    add(add, { status, isDegraded }) {
      if (status !== "unknown") add(isDegraded ? 1 : 0);
    },
  },
  {
    name: "vantage_monitor_flapping",
    help: "Whether the monitor changes its status too often",
    of: "monitor",
    add: (add, { isFlapping }) => add(isFlapping ? 1 : 0),
  },
  {
    name: "vantage_monitor_uptime_ratio",
    help: "Part of the known time that the monitor was up, 0 to 1; without maintenance and unknown time",
    of: "monitor",
    add(add, { uptime }) {
      for (const [key, window] of WINDOWS) {
        const percent = uptime?.[key] ?? null;
        // Rounded, so that a decimal fraction has no rest of its binary form.
        if (percent !== null) add(Math.round(percent * 1_000) / 1e5, "window", window);
      }
    },
  },
  {
    name: "probe_success",
    help: "Whether the newest check of the location succeeded; without a sample if it is too old",
    of: "location",
    add(add, { verdict }) {
      if (verdict !== null) add(verdict === "up" ? 1 : 0);
    },
  },
  {
    name: "probe_duration_seconds",
    help: "Duration of the newest check by phase; the phases of a location add up to its response time",
    of: "location",
    add(add, { verdict, responseSeconds, phases }) {
      if (verdict === null || responseSeconds === null) return;
      if (phases === null) add(responseSeconds, "phase", "total");
      else for (const [phase, seconds] of phases) add(seconds, "phase", phase);
    },
  },
  {
    name: "vantage_monitor_last_check_timestamp_seconds",
    help: "When the newest check of the location began, Unix time",
    of: "location",
    add: (add, { checkedAt }) => addTime(add, checkedAt),
  },
  {
    name: "vantage_monitor_schedule_lag_seconds",
    help: "How much later than planned the newest check of the location began",
    of: "location",
    add(add, { lagSeconds }) {
      if (lagSeconds !== null) add(lagSeconds);
    },
  },
  {
    name: "vantage_heartbeat_age_seconds",
    help: "Time since the newest ping of the heartbeat",
    of: "monitor",
    add(add, { pings }, now) {
      const at = pings?.lastPingAt?.getTime();
      if (at !== undefined) add(Math.max(0, now - at) / 1_000);
    },
  },
  {
    name: "vantage_heartbeat_deadline_timestamp_seconds",
    help: "When the heartbeat is late unless a ping comes, Unix time",
    of: "monitor",
    add: (add, { pings }) => addTime(add, pings?.deadlineAt),
  },
  {
    name: "vantage_certificate_expiry_timestamp_seconds",
    help: "When the first certificate of the chain of the target expires, Unix time",
    of: "monitor",
    add: (add, { expiry }) => addTime(add, expiry?.certificate),
  },
  {
    name: "vantage_domain_expiry_timestamp_seconds",
    help: "When the registration of the domain of the target expires, Unix time",
    of: "monitor",
    add: (add, { expiry }) => addTime(add, expiry?.domain),
  },
];

/** Facts about monitors, each a series whose value is 1. */
export const INFO = {
  name: "vantage_monitor_info",
  help: "Facts about the monitor; always 1. tags has a comma before and after each tag",
  labelsOf: ({ checkType, url, tags }: ScrapedMonitor) => ({
    check_type: checkType,
    target: targetLabel(url),
    tags: tags.length === 0 ? "" : `,${tags.join(",")},`,
  }),
};

/** How many monitors a scrape leaves out; a series without a monitor. */
export const OMITTED = {
  name: "vantage_metrics_omitted_monitors",
  help: `Number of monitors that are left out, the newest ones, because a scrape has at most ${MOST_SAMPLES} samples; ?tag= limits it to one tag`,
} as const;

function addTime(add: Add, at: Date | null | undefined): void {
  if (at !== null && at !== undefined) add(at.getTime() / 1_000);
}

/**
 * Returns the target of a monitor as a label: a URL without user, query and fragment, which can hold secrets that must
 * not reach every dashboard; other targets as they are.
 */
function targetLabel(url: string): string {
  const typed = url.trim();
  // A URL can be stored without its scheme, as it was typed.
  if (!/^https?:\/\//i.test(typed) || !URL.canParse(typed)) return typed.replace(/[?#].*$/s, "");
  const { origin, pathname } = new URL(typed);
  return `${origin}${pathname}`;
}
