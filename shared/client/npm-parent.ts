import type { Environment } from "#shared/settings-parse.ts";

const LOOK_EVERY_MS = 500;

/**
 * Calls `gone` once when npm (`npm start`, `npx vantage ...`) has died above us. Killed itself, by kill -9, by a hangup or,
 * as npx, by a plain SIGTERM, npm hands nothing on: only our parent's number tells.
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
