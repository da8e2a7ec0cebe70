import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from "playwright-core";
import { describe } from "vitest";
import type { Egress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { findChromium, searchPathOf } from "#shared/process/chromium.ts";
import { conditionsOf, type Strategy } from "#probe-agent/analysis/page/pagespeed-conditions.ts";
import { createBrowser } from "#probe-agent/net/browser.ts";
import type { PageLoad } from "#probe-agent/port/browser.ts";
import { systemClock } from "#test/support/clock.ts";
import { TEST_AGENT } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";
import { PATIENCE } from "#test/support/patience.ts";
import { until } from "#test/support/until.ts";

/** The browser of these tests; null if there is none. */
export const CHROMIUM = findChromium(process.env["VANTAGE_CHROMIUM"] ?? null, searchPathOf(process.env["PATH"]));

if (CHROMIUM === null) console.log("skipped: no Chromium on PATH and none named by VANTAGE_CHROMIUM");

/** describe for tests that need Chromium. */
export const describeBrowser: typeof describe.skip = CHROMIUM === null ? describe.skip : describe;

/** Starts the browser of a test that looks at pages as a user does. */
export async function launchChromium(): Promise<Browser> {
  // Chromium has no sandbox for root.
  const chromiumSandbox = process.getuid?.() !== 0;
  return await chromium.launch({ executablePath: CHROMIUM ?? "", chromiumSandbox, timeout: PATIENCE.hookTimeout });
}

/** Opens a window with cookies of its own. It waits for pages and elements as long as all tests wait. */
export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE.expect.poll.timeout);
  return context;
}

/** How a page is loaded. All settings have defaults. */
export interface Setting {
  readonly egress?: Egress;
  readonly dnsServers?: readonly string[];
  readonly strategy?: Strategy;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly executable?: string;
  readonly log?: (line: string) => void;
}

/** Longer than a page needs until it is quiet on a machine that has half a core to give. */
export const LOAD_MS = 120_000;

/**
 * Longer than a test may take. A check with this time that ends, ended for another reason than the end of its time.
 */
export const FOREVER_MS = 900_000;

/** Creates an agent's browser. Every load is a separate job. */
export function agentBrowser(setting: Setting = {}) {
  const egress = setting.egress ?? loopbackEgress;
  const browserFor = createBrowser({
    executable: setting.executable ?? CHROMIUM ?? "",
    slots: 2,
    clock: systemClock,
    egress,
    userAgent: TEST_AGENT,
    log: setting.log ?? (() => undefined),
  });
  return async (url: string, more: Setting = {}): Promise<Outcome<PageLoad>> => {
    const { timeoutMs = LOAD_MS, signal, strategy = "desktop", dnsServers = ["127.0.0.1:9"] } = { ...setting, ...more };
    const limits = jobLimits(timeoutMs, signal);
    const dns = dnsPort(dnsServers, { egress, limits });
    return await browserFor(limits, dns).measure({ url, conditions: conditionsOf(strategy), timeoutMs });
  };
}

/** Returns the load of a page that must succeed. */
export function loadOf(outcome: Outcome<PageLoad>): PageLoad {
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

/**
 * Where this test file's browsers keep their folders, named in their environment too (probe-agent/net/browser/run.ts): other
 * test files run browsers at the same time. The account of the browser passes through it.
 */
const FOLDERS = mkdtempSync(join(tmpdir(), "browser-test-"));
chmodSync(FOLDERS, 0o755);
process.env["TMPDIR"] = FOLDERS;
process.once("exit", () => rmSync(FOLDERS, { recursive: true, force: true }));

/**
 * Waits for the browsers of this test file to end and returns what is left after a long time: processes, including
 * zombies, and folders.
 */
export async function leftovers(): Promise<readonly string[]> {
  await until(() => findLeftovers().length === 0, "the end of all browsers").catch(() => undefined);
  return findLeftovers();
}

function findLeftovers(): readonly string[] {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
      const isOurs = command.includes(FOLDERS) || read(`/proc/${pid}/environ`).includes(FOLDERS);
      // proc_pid_stat(5): state and parent after the command in parentheses.
      const [state = "", parent = ""] = read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
      // A child of this process that has ended and was not waited for has neither command line nor environment.
      return isOurs || (state === "Z" && Number(parent) === process.pid)
        ? [`${pid} ${state} ${command.slice(0, 120)}`]
        : [];
    });
  return [...processes, ...readdirSync(FOLDERS).filter((name) => name.startsWith("vantage-browser-"))];
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
