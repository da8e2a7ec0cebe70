import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Returns what to add to a crontab so that it runs a job and sends its exit code to a heartbeat: one line, at the times of
 * the cron expression or once a period. A comment stands above it if its times are in another zone than UTC: cron reads
 * them in the zone of the machine, and some crons in that of a CRON_TZ line. For a period that no crontab has, the call
 * that follows the job is returned alone, below a comment that says so.
 */
export function writeCronLine(
  { cron, period_seconds: period, timezone, methods }: HeartbeatSettings,
  url: string,
): string {
  // Retries: a ping that is lost on the way would be a false alarm.
  const ping = `curl -fsS -m 10 --retry 5 -o /dev/null ${methods === "post" ? "-X POST " : ""}${url}/$?`;
  const expression = cron ?? expressionOf(period);
  if (expression === null) {
    return `# No line for a crontab: cron cannot run a job every ${period} s. Call this right after the job, in the same shell:\n${ping}`;
  }
  const line = `${expression} /path/to/job; ${ping}`;
  const zone = exactName(timezone);
  return cron === null || zone === "UTC" ? line : `${explainZone(zone)}\n${line}`;
}

/**
 * Returns a script for sh that runs a job and reports its start, its exit code and the end of its output to a heartbeat,
 * and ends as the job did.
 */
export function writeJobScript({ methods }: Pick<HeartbeatSettings, "methods">, url: string): string {
  const start = `curl -fsS -m 10 -o /dev/null ${methods === "post" ? "-X POST " : ""}${url}/start`;
  return [
    "#!/bin/sh",
    start,
    "output=$(/path/to/job 2>&1)",
    "code=$?",
    `printf '%s' "$output" | tail -c 10000 | curl -fsS -m 10 --retry 5 -o /dev/null --data-binary @- ${url}/$code`,
    "exit $code",
  ].join("\n");
}

function explainZone(zone: string): string {
  return (
    `# The times are in the zone ${zone}. A cron that reads CRON_TZ, such as cronie, needs the line CRON_TZ=${zone} ` +
    `above; Debian's cron does not read it: convert the times if the machine is in another zone.`
  );
}

/** Returns the name of a time zone as files have it: cron knows no zone by a name in other letters. */
function exactName(zone: string): string {
  return new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone;
}

/** Returns the expression that runs once a period, which must divide an hour or a day, or be a week; else null. */
function expressionOf(seconds: number): string | null {
  if (seconds % MINUTE === 0 && HOUR % seconds === 0) return `${stepOf(seconds / MINUTE, 60)} * * * *`;
  if (seconds % HOUR === 0 && DAY % seconds === 0) return `0 ${stepOf(seconds / HOUR, 24)} * * *`;
  return seconds === 7 * DAY ? "0 0 * * 0" : null;
}

function stepOf(step: number, whole: number): string {
  return step === 1 ? "*" : step === whole ? "0" : `*/${step}`;
}
