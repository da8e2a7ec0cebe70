import type { HeartbeatSettings } from "#control-plane/monitors/monitor.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Returns what to add to a crontab so that it sends the pings of a heartbeat: at the times of its cron expression, else
 * at least once a period. It is one line, but for a cron expression in another time zone than UTC. cron reads a line in
 * the zone of the machine, and most crons in that of the newest CRON_TZ line above it.
 */
export function writeCronLine({ cron, period_seconds: period, timezone }: HeartbeatSettings, url: string): string {
  // Retries: a ping that is lost on the way would be a false alarm.
  const ping = `curl -fsS -m 10 --retry 5 -o /dev/null ${url}`;
  if (cron === null) {
    // cron has no shorter step than a minute. The first call runs beside the wait: its duration must not delay the second.
    return period < MINUTE ? `* * * * * ${ping} & sleep 30; ${ping}` : `${expressionOf(period)} ${ping}`;
  }
  const zone = exactName(timezone);
  return zone === "UTC" ? `${cron} ${ping}` : `${explainZone(zone)}\nCRON_TZ=${zone}\n${cron} ${ping}`;
}

function explainZone(zone: string): string {
  return (
    `# The times below are in the zone ${zone}. Keep these lines at the end of the crontab. A cron without CRON_TZ, such ` +
    `as Debian's, takes them as times of the machine's zone: convert them if that is another one.`
  );
}

/** Returns the name of a time zone as files have it: cron knows no zone by a name in other letters. */
function exactName(zone: string): string {
  return new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone;
}

/** Returns an expression that runs at least once a period of a minute or more, as rarely as steps of cron can say. */
function expressionOf(seconds: number): string {
  if (seconds >= DAY) return "0 0 * * *";
  if (seconds >= HOUR) {
    const hours = divisorOf(24, Math.floor(seconds / HOUR));
    return hours === 1 ? "0 * * * *" : hours === 24 ? "0 0 * * *" : `0 */${hours} * * *`;
  }
  const minutes = divisorOf(60, Math.floor(seconds / MINUTE));
  return minutes === 1 ? "* * * * *" : `*/${minutes} * * * *`;
}

/** Returns the largest divisor of a whole that is at most `most`, so that the steps are equal. */
function divisorOf(whole: number, most: number): number {
  for (let step = most; step > 1; step -= 1) if (whole % step === 0) return step;
  return 1;
}
