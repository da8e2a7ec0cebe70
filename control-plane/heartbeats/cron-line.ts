import type { HeartbeatSettings } from "#control-plane/monitors/monitor.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Returns a line for a crontab that sends the pings of a heartbeat: at the times of its cron expression, else about once
 * a period. cron reads it in the time zone of the machine.
 */
export function writeCronLine({ cron, period_seconds: period }: HeartbeatSettings, url: string): string {
  // Retries: a ping that is lost on the way would be a false alarm.
  return `${cron ?? expressionOf(period)} curl -fsS -m 10 --retry 5 -o /dev/null ${url}`;
}

/** Returns an expression that runs at least once a period, as rarely as steps of cron can say. */
function expressionOf(seconds: number): string {
  if (seconds >= DAY) return "0 0 * * *";
  if (seconds >= HOUR) {
    const hours = divisorOf(24, Math.floor(seconds / HOUR));
    return hours === 1 ? "0 * * * *" : hours === 24 ? "0 0 * * *" : `0 */${hours} * * *`;
  }
  const minutes = divisorOf(60, Math.max(1, Math.floor(seconds / MINUTE)));
  return minutes === 1 ? "* * * * *" : `*/${minutes} * * * *`;
}

/** Returns the largest divisor of a whole that is at most `most`, so that the steps are equal. */
function divisorOf(whole: number, most: number): number {
  for (let step = most; step > 1; step -= 1) if (whole % step === 0) return step;
  return 1;
}
