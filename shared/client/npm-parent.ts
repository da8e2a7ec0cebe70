import type { Environment } from "#shared/settings-parse.ts";

const LOOK_EVERY_MS = 500;

/**
 * Calls `gone` once when npm (`npm start`, or `npm exec` in the clone) has died above us. npm hands nothing on when it is
 * killed by kill -9 or a hangup, nor, as `npm exec`, by a plain SIGTERM: only our parent's number tells.
 */
export function onNpmGone(environment: Environment, gone: () => void): void {
  const event = environment["npm_lifecycle_event"];
  if (event !== "start" && event !== "npx") return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, LOOK_EVERY_MS);
  timer.unref();
}
