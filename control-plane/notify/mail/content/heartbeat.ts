import { writeDuration } from "#shared/text/duration.ts";
import type { Letter } from "#control-plane/notify/mail/content/letter.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** What is known about a heartbeat beyond its change. */
export interface HeartbeatFacts {
  readonly schedule: {
    /** Cron expression; null: every `period_seconds`. */
    readonly cron: string | null;
    readonly timezone: string;
    readonly period_seconds: number;
    readonly grace_seconds: number;
  };
  /** null: none is known. */
  readonly lastSuccessAt: Date | null;
  /** Body of the ping that reported a failure, untrusted; null: none, or it had none. */
  readonly failingBody: string | null;
}

/** Lines of a body that a mail has, and the characters of each. */
const MOST_LINES = 10;
const MOST_LINE = 200;

/** Returns when pings are expected, and when the last one came that reported a success. */
export function heartbeatFacts({ schedule, lastSuccessAt }: HeartbeatFacts): Letter["facts"] {
  const { cron, timezone, period_seconds: period, grace_seconds: grace } = schedule;
  return [
    ["Schedule", cron === null ? `every ${writeDuration(period)}` : `${toPlainLine(cron, MOST_LINE)} (${timezone})`],
    ["Grace", writeDuration(grace)],
    ["Last success", lastSuccessAt === null ? "none is known" : formatTime(lastSuccessAt)],
  ];
}

/** Returns the first lines of the failing ping's body as a list, each printable and bounded; null if it has none. */
export function failingLines({ failingBody }: HeartbeatFacts): Letter["list"] {
  const lines = (failingBody ?? "").trimEnd().split(/\r\n|[\r\n]/);
  if (lines.every((one) => toPlainLine(one, MOST_LINE) === "")) return null;
  const items = lines.slice(0, MOST_LINES).map((one) => toPlainLine(one, MOST_LINE));
  const isCut = lines.length > MOST_LINES;
  return { title: isCut ? `The first ${MOST_LINES} lines of the failing ping` : "The failing ping", items };
}
