import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createBrowser } from "#probe-agent/net/browser.ts";
import { systemClock } from "#test/support/clock.ts";
import { failureOf, TEST_AGENT } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";
import { until } from "#test/support/until.ts";

const { TMPDIR } = process.env;
afterEach(() => {
  if (TMPDIR === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = TMPDIR;
});

/** Counts the servers of this process that listen. */
const listening = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;

it("a browser that has no folder fails plainly, and keeps neither its turn nor its gate", async () => {
  const lines: string[] = [];
  const browserFor = createBrowser({
    executable: "/bin/false",
    slots: 2,
    clock: systemClock,
    egress: loopbackEgress,
    userAgent: TEST_AGENT,
    log: (line) => lines.push(line),
  });
  const capture = async (): Promise<string> => {
    const limits = jobLimits(20_000);
    const dns = dnsPort(["127.0.0.1:9"], { limits });
    const request = { url: "http://127.0.0.1:8089/", width: 640, height: 400, fullPage: false, waitMs: 0 };
    return failureOf(await browserFor(limits, dns).capture({ ...request, timeoutMs: 15_000 }));
  };
  const before = listening();
  const folder = mkdtempSync(join(tmpdir(), "vantage-test-"));
  // As on a full disk, no folder can be created.
  process.env["TMPDIR"] = join(folder, "missing");
  for (let job = 1; job <= 3; job += 1) {
    expect(await capture()).toBe("request/probe/browser_failed");
    expect(lines).toHaveLength(job);
    expect(lines.at(-1)).toContain("ENOENT");
  }
  await until(() => listening() === before, "every gate is closed");
  process.env["TMPDIR"] = folder;
  // It is the turn of the next one: its browser starts, and fails for its own reason.
  expect(await capture()).toBe("request/probe/browser_failed");
  expect(lines.at(-1)).not.toContain("ENOENT");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
