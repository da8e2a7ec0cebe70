import { writeDuration } from "#shared/text/duration.ts";
import type { MonitorEventData } from "#control-plane/notify/events/monitor-event.ts";
import type { NoticeText } from "#control-plane/notify/mail/content/notice-text.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

const MOST_TEXT = 300;

/** Writes about a monitor that has no data, or has data again; null for other events. `name` is that of the monitor. */
export function describeNoData(type: string, data: Partial<MonitorEventData>, name: string): NoticeText | null {
  const { started_at: since, duration_seconds: seconds, cause, previous_status: previous, status } = data;
  const lasted = seconds == null ? "" : ` after ${writeDuration(seconds)}`;
  const sinceFact = since == null ? [] : ([["Not checked since", formatTime(new Date(since))]] as const);
  switch (type) {
    case "monitor.unwatched":
      return {
        label: "Not being checked",
        counted: "not being checked",
        headline: `${name} is not being checked. Whether it works is not known.`,
        facts: [
          ...(cause == null ? [] : ([["Cause", toPlainLine(cause.message, MOST_TEXT)]] as const)),
          ...sinceFact,
          ["Last known", previous === undefined || previous === "unknown" ? "nothing" : previous],
        ],
      };
    case "monitor.watched":
      return {
        label: "Checked again",
        counted: "checked again",
        headline: `${name} is checked again${lasted}.`,
        facts: [...sinceFact, ["Status", status ?? "unknown"]],
      };
    default:
      return null;
  }
}
