import type { Environment } from "#shared/settings/settings-parse.ts";

const CHECK_EVERY_MS = 500;

/**
 * Calls `gone` once after the parent npm process (`npm start`, or `npm exec` in the clone) died. npm forwards no signal
 * after kill -9 or a hangup, and `npm exec` forwards no SIGTERM either: only a changed parent pid shows its end.
 */
export function onNpmGone(environment: Environment, gone: () => void): void {
  const event = environment["npm_lifecycle_event"];
  if (event !== "start" && event !== "npx") return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, CHECK_EVERY_MS);
  timer.unref();
}
