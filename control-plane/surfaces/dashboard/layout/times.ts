import { writeDuration } from "#shared/text/duration.ts";
import { viewerTimeIn, type ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { openTimeZone, toLocal, type TimeZone } from "#control-plane/core/time-zone.ts";

const UTC: TimeZone = { name: "UTC", offsetAt: () => 0 };

/** UTC as the time zone that a user has chosen; "UTC" is that of a user who has chosen none. */
export const CHOSEN_UTC = "Etc/UTC";

/** Returns the time of a member's zone, UTC if the runtime does not know the zone any more. */
export function viewerTimeOf({ timezone }: { readonly timezone: string }): ViewerTime {
  return viewerTimeIn(timezone === CHOSEN_UTC ? UTC : (openTimeZone(timezone) ?? UTC));
}

/** Renders an instant as the distance from now: "4 min ago". The exact time in the viewer's zone is its title. */
export function renderAgo(at: Date, now: Date, viewer: ViewerTime): Html {
  return renderTag(at, viewer, writeAgo(at, now));
}

/** Writes the distance of an instant from now: "4 min ago". */
export function writeAgo(at: Date, now: Date): string {
  return `${largestUnit(now.getTime() - at.getTime())} ago`;
}

/** Renders how long something has lasted since an instant: "4 min 3 s". Its title is the instant in the viewer's zone. */
export function renderSince(since: Date, now: Date, viewer: ViewerTime): Html {
  return renderTag(since, viewer, writeDuration((now.getTime() - since.getTime()) / 1_000));
}

/** Renders an instant in the viewer's zone: "26 Nov 14:30". */
export function renderTime(at: Date, viewer: ViewerTime): Html {
  return renderTag(at, viewer, viewer.format(at.getTime(), "minute"));
}

/** Renders an instant in the viewer's zone with its second: "26 Nov 14:30:05". */
export function renderSecond(at: Date, viewer: ViewerTime): Html {
  return renderTag(at, viewer, `${viewer.format(at.getTime(), "minute")}:${at.toISOString().slice(17, 19)}`);
}

/** Renders an instant to come in the viewer's zone as writePlanned writes it. */
export function renderPlanned(at: Date, now: Date, viewer: ViewerTime): Html {
  return renderTag(at, viewer, writePlanned(at, now, viewer.zone));
}

/** Writes an instant to come with its weekday, and its year if it is another one: "Sun 29 Nov 02:30". */
export function writePlanned(at: Date, now: Date, zone: TimeZone): string {
  const local = new Date(toLocal(zone, at.getTime()));
  const year = local.getUTCFullYear();
  const isThisYear = year === new Date(toLocal(zone, now.getTime())).getUTCFullYear();
  const { format } = viewerTimeIn(zone);
  const day = `${WEEKDAYS[local.getUTCDay()] ?? ""} ${format(at.getTime(), "day")}`;
  return `${day}${isThisYear ? "" : ` ${year}`} ${format(at.getTime(), "clock")}`;
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Writes how long something has lasted by its largest unit: "4 min". */
export function largestUnit(ms: number): string {
  const [count = "0", unit = "s"] = writeDuration(ms / 1_000).split(" ");
  return `${count} ${unit}`;
}

/** Renders a text in place of an instant, which is its title. */
function renderTag(at: Date, viewer: ViewerTime, text: string): Html {
  const iso = at.toISOString();
  const title = `${viewer.format(at.getTime(), "minute")} ${iso.slice(0, 4)}, ${viewer.zone.name}`;
  return html`<time datetime="${iso}" title="${title}">${text}</time>`;
}

/** What our own texts have of times: "2026-11-27 22:14 UTC", with a second or without, and "check at 22:14" of the same day. */
const TIMES = /\b(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})(:\d{2})? UTC\b|\bcheck at (\d{2}:\d{2})\b/g;

/** Writes the times in UTC that a text of ours has in the zone of a viewer. */
export function toLocalTimes(text: string, timezone: string): string {
  const [, ofText = ""] = /\b(\d{4}-\d{2}-\d{2}) \d{2}:\d{2}(?::\d{2})? UTC\b/.exec(text) ?? [];
  if (ofText === "") return text;
  return text.replace(TIMES, (found: string, day?: string, minute?: string, second?: string, bare?: string) => {
    const at = new Date(`${day ?? ofText}T${minute ?? bare}${second ?? ":00"}Z`);
    if (Number.isNaN(at.getTime())) return found;
    const local = formatLocal(at, timezone, second === undefined ? "minute" : "second");
    return bare === undefined ? local : `check at ${local}`;
  });
}

/** Formats a time in a zone of the IANA database, as in "2026-11-27 22:14" or "2026-11-27 22:14:05"; in UTC if there is no such zone. */
export function formatLocal(time: Date, timezone: string, precision: "minute" | "second" = "minute"): string {
  const zone = openTimeZone(timezone);
  const shown = zone === null ? time.getTime() : toLocal(zone, time.getTime());
  return new Date(shown)
    .toISOString()
    .slice(0, precision === "minute" ? 16 : 19)
    .replace("T", " ");
}
