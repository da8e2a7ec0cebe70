import type { MonitorEventData } from "#control-plane/notify/events/monitor-event.ts";
import type { NoticeText } from "#control-plane/notify/mail/content/notice-text.ts";

/** Writes about a monitor that is flapping, or no longer is; null for other events. `name` is that of the monitor. */
export function describeFlapping(
  type: string,
  { phase, status = "unknown" }: Pick<Partial<MonitorEventData>, "phase" | "status">,
  name: string,
): NoticeText | null {
  if (type !== "flapping") return null;
  const facts = [["Status", status]] as const;
  switch (phase) {
    case "ends":
      return {
        label: `No longer flapping, ${status}`,
        counted: "no longer flapping",
        headline: `${name} is no longer flapping. It is ${status}.`,
        facts,
      };
    case "lasts":
      return {
        label: "Still flapping",
        counted: "still flapping",
        headline: `${name} is still flapping. Now it is ${status}.`,
        facts,
      };
    default:
      return {
        label: "Flapping",
        counted: "flapping",
        headline: `${name} is flapping: it changed more than 4 times within an hour. Now it is ${status}.`,
        facts,
      };
  }
}
