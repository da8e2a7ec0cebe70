// Program that runs one browser for one page. As it is a separate process, the agent can end it and the browser
// whatever the page does.
import { setTimeout as sleep } from "node:timers/promises";
import { capturePage } from "#probe-agent/net/browser/capture.ts";
import { openBrowser } from "#probe-agent/net/browser/chromium.ts";
import { loadPage } from "#probe-agent/net/browser/load.ts";
import type { BrowserOrder, FromBrowser } from "#probe-agent/net/browser/messages.ts";
import { readFile } from "node:fs/promises";

/** Maximum memory of one page. A heavy page uses 500 MB. */
const MAX_MEMORY_BYTES = 1.5 * 1024 ** 3;
const LOOK_EVERY_MS = 500;
/** Part of the time limit that is kept for the result, in milliseconds. */
const RESERVE_MS = 500;

const time = { now: () => performance.now(), sleep: (ms: number) => sleep(Math.max(0, ms)) };

function say(message: FromBrowser): void {
  if (process.connected) process.send?.(message);
}

async function run(order: BrowserOrder): Promise<void> {
  const browser = await openBrowser(order);
  say({ kind: "started", pid: browser.pid });
  const watch = setInterval(() => {
    void browser
      .processes()
      .then(anonymousMemory)
      .then((bytes) => (bytes > MAX_MEMORY_BYTES ? say({ kind: "out_of_memory" }) : undefined))
      .catch(() => undefined);
  }, LOOK_EVERY_MS);
  // The agent's limit counts from the start of this process, as performance.now() does. On a busy machine a second
  // passes before the order is read here.
  const left = order.budgetMs - RESERVE_MS - time.now();
  const budgetMs = Math.max(1, left);
  say(
    order.picture === null
      ? await loadPage(browser, order.url, budgetMs, time)
      : await capturePage(browser, order, budgetMs, time),
  );
  clearInterval(watch);
  await browser.close();
}

process.once("message", (order: BrowserOrder) => {
  run(order)
    .catch((error: unknown) => say({ kind: "broken", message: String(error).slice(0, 500) }))
    .finally(() => process.exit(0));
});
// The agent has exited, so this process exits too. playwright ends the browser at exit.
process.on("disconnect", () => process.exit(0));

/** Returns the private memory of some processes in bytes; 0 if the system does not report it (no /proc). */
async function anonymousMemory(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
      return 1024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
