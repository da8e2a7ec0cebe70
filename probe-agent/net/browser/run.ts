import { fork, type ChildProcess } from "node:child_process";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BrowserOrder, FromBrowser } from "#probe-agent/net/browser/messages.ts";

/** How a run ended. timeout: the signal came first. lost: the process exited without a result. */
export type RunEnd = Exclude<FromBrowser, { readonly kind: "started" }> | { readonly kind: "timeout" | "lost" };

const ENTRY = fileURLToPath(new URL("main.ts", import.meta.url));
/**
 * Time for a normal exit after the result, in milliseconds. After it, or immediately on an abort, everything is killed.
 */
const CLOSING_MS = 1500;
/** Time for the process to notice that the browser exited, in milliseconds. */
const TAKING_NOTE_MS = 300;
const HEAP_MB = 256;

/** A browser that runs in its own process. */
interface Run {
  /** Resolves with the result, or immediately when the signal aborts. */
  readonly end: Promise<RunEnd>;
  /** Resolves after `end`, when process, browser and folder are gone; rejects if the folder cannot be removed. */
  readonly gone: Promise<void>;
}

/** Starts a browser for one page; it writes only into its own folder. */
export async function runBrowser(given: Omit<BrowserOrder, "folder">, signal: AbortSignal): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), "vantage-browser-"));
  if (given.account !== null) await chown(folder, given.account.uid, given.account.gid);
  const order: BrowserOrder = { ...given, folder };
  const child = fork(ENTRY, [], {
    // The browser's user may not be able to enter the agent's own.
    cwd: folder,
    // Contains nothing of the agent's environment: no token, key or setting.
    // playwright's own wait for fonts has no limit; the capture waits for a limited time.
    env: { TMPDIR: order.folder, PW_TEST_SCREENSHOT_NO_FONTS_READY: "1" },
    // JSON would turn a picture into text.
    serialization: "advanced",
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  let browser: number | null = null;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve()).once("error", () => resolve());
  });
  const end = new Promise<RunEnd>((resolve) => {
    child.on("message", (message: FromBrowser) => {
      if (message.kind === "started") browser = message.pid;
      else resolve(message);
    });
    void exited.then(() => resolve({ kind: "lost" }));
    const abort = (): void => resolve({ kind: "timeout" });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    child.send(order, () => undefined);
  });
  // If the agent ends first, this is the only clean-up.
  const atExit = (): void => {
    if (browser !== null) killGroup(browser);
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", atExit);
  return { end, gone: end.then((how) => clear(how)).finally(() => process.off("exit", atExit)) };

  async function clear({ kind }: RunEnd): Promise<void> {
    const orderly = kind === "loaded" || kind === "captured" || kind === "no_document" || kind === "crashed";
    const timer = setTimeout(() => kill(child, browser), orderly ? CLOSING_MS : 0);
    await exited;
    clearTimeout(timer);
    if (browser !== null) killGroup(browser);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function kill(child: ChildProcess, browser: number | null): void {
  // The browser is killed first, because its process must notice the exit.
  if (browser !== null) killGroup(browser);
  if (child.connected) child.disconnect();
  setTimeout(() => child.kill("SIGKILL"), TAKING_NOTE_MS);
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // It has already exited.
  }
}
