import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { describe } from "vitest";
import type { Egress } from "#shared/egress.ts";
import type { Outcome } from "#shared/outcome.ts";
import { findChromium, searchPathOf } from "#shared/process/chromium.ts";
import { conditionsOf, type Strategy } from "#probe-agent/analysis/page/pagespeed/conditions.ts";
import { createBrowser } from "#probe-agent/net/browser.ts";
import type { PageLoad } from "#probe-agent/port/browser.ts";
import { systemClock } from "#test/support/clock.ts";
import { TEST_AGENT } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";

/** The browser of these tests; null if there is none. */
export const CHROMIUM = findChromium(process.env["VANTAGE_CHROMIUM"] ?? null, searchPathOf(process.env["PATH"]));

if (CHROMIUM === null) console.log("skipped: no Chromium on PATH and none named by VANTAGE_CHROMIUM");

/** describe for tests that need Chromium. */
export const describeBrowser: typeof describe.skip = CHROMIUM === null ? describe.skip : describe;

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

/** Creates an agent's browser. Every load is a separate job. */
export function agentBrowser(setting: Setting = {}) {
  const egress = setting.egress ?? loopbackEgress;
  const browserFor = createBrowser({
    executable: setting.executable ?? CHROMIUM ?? "",
    clock: systemClock,
    egress,
    userAgent: TEST_AGENT,
    log: setting.log ?? (() => undefined),
  });
  return async (url: string, more: Setting = {}): Promise<Outcome<PageLoad>> => {
    const { timeoutMs = 40_000, signal, strategy = "desktop", dnsServers = ["127.0.0.1:9"] } = { ...setting, ...more };
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
 * Waits at most ten seconds for our browsers to end and returns what is left: processes, including zombies, and
 * folders.
 */
export async function leftovers(): Promise<readonly string[]> {
  for (let round = 0; round < 100 && findLeftovers().length > 0; round += 1) await sleep(100);
  return findLeftovers();
}

function findLeftovers(): string[] {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
      const ours = command.includes("vantage-browser-") || command.includes("net/browser/main.ts");
      // A child of this process that has ended and was not waited for has no command line.
      const [, state = "", parent = ""] = /\) (\S) (\d+) /.exec(read(`/proc/${pid}/stat`)) ?? [];
      return ours || (state === "Z" && Number(parent) === process.pid)
        ? [`${pid} ${state} ${command.slice(0, 120)}`]
        : [];
    });
  return [...processes, ...readdirSync(tmpdir()).filter((name) => name.startsWith("vantage-browser-"))];
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
