import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { BrowserOrder, FromBrowser } from "#probe-agent/net/browser/messages.ts";

/** How a run ended. timeout: the signal came first. lost: the process went away without a word. */
export type RunEnd = Exclude<FromBrowser, { readonly kind: "started" }> | { readonly kind: "timeout" | "lost" };

const ENTRY = fileURLToPath(new URL("main.ts", import.meta.url));
/** Time for an orderly end once the answer is there; after it, and on an abort at once, everything is killed. */
const CLOSING_MS = 1500;
const HEAP_MB = 256;

/** Runs one browser in a process of its own. When this resolves, process and browser are gone. */
export async function runBrowser(order: BrowserOrder, signal: AbortSignal): Promise<RunEnd> {
  const child = fork(ENTRY, [], {
    // Nothing of the agent's environment: no token, no key, no setting.
    env: { TMPDIR: order.folder },
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  let browser: number | null = null;
  const exited = once(child, "exit").catch(() => undefined);
  const end = await new Promise<RunEnd>((resolve) => {
    child.on("message", (message: FromBrowser) => {
      if (message.kind === "started") browser = message.pid;
      else resolve(message);
    });
    child.once("error", () => resolve({ kind: "lost" }));
    child.once("exit", () => resolve({ kind: "lost" }));
    const abort = (): void => resolve({ kind: "timeout" });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    child.send(order, () => undefined);
  });
  const orderly = end.kind === "loaded" || end.kind === "no_document";
  const timer = setTimeout(() => kill(child, browser), orderly ? CLOSING_MS : 0);
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) await exited;
  clearTimeout(timer);
  if (browser !== null) killGroup(browser);
  return end;
}

function kill(child: ChildProcess, browser: number | null): void {
  // The browser first: its process is there to take note of its death.
  if (browser !== null) killGroup(browser);
  if (child.connected) child.disconnect();
  setTimeout(() => child.kill("SIGKILL"), 300);
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
