import type { MonitorEventData } from "#control-plane/notify/events/monitor-event.ts";
import type { NoticeText } from "#control-plane/notify/mail/content/notice-text.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

const MOST_TEXT = 300;

/** Writes about what people should know about a monitor that is up. `name` is that of the monitor. */
export function describeAdvisory({ advisory, cause }: Partial<MonitorEventData>, name: string): NoticeText {
  const message = advisory === undefined ? "" : toPlainLine(advisory.message, MOST_TEXT);
  return {
    label: "Advisory",
    counted: "advisories",
    headline: `${name} is up, with an advisory. ${message}`.trim(),
    facts: [
      ...(cause == null ? [] : ([["Cause", toPlainLine(cause.message, MOST_TEXT)]] as const)),
      ...(advisory === undefined ? [] : ([["Since", formatTime(new Date(advisory.since))]] as const)),
    ],
  };
}
