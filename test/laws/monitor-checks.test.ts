import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MONITOR_RESULT } from "#shared/monitor-checks/define.ts";
import { MONITOR_CHECKS } from "#shared/monitor-checks/list.ts";
import { TOOL_NAMES } from "#shared/tools/names.ts";
import type { Contract } from "#shared/tools/define.ts";
import { loadImplementation } from "#probe-agent/implementations.ts";
import { ROOT } from "#test/laws/source-files.ts";

const checks = Object.entries(MONITOR_CHECKS as unknown as Readonly<Record<string, Contract>>);

describe("the checks of monitors", () => {
  it("have a contract file, an implementation file and a test each, all of their name", () => {
    for (const folder of ["shared/monitor-checks", "probe-agent/monitor-checks"]) {
      const files = readdirSync(join(ROOT, folder)).filter((name) => name.startsWith("monitor-"));
      expect(files.map((name) => name.replace(".ts", "")).toSorted(), folder).toEqual(
        checks.map(([name]) => name).toSorted(),
      );
    }
    for (const [name] of checks) {
      expect(existsSync(join(ROOT, `test/probe-agent/monitor-checks/${name}.test.ts`)), name).toBe(true);
    }
  });

  it("are listed under their names, none of which is a tool's", () => {
    for (const [name, contract] of checks) expect(contract.name).toBe(name);
    expect(checks.filter(([name]) => (TOOL_NAMES as readonly string[]).includes(name))).toEqual([]);
  });

  it("are implemented by agents under the same contract", async () => {
    for (const [name, contract] of checks) expect((await loadImplementation(name))?.contract, name).toBe(contract);
  });
});

describe.each(checks)("the contract of %s", (_name, contract) => {
  it("has the result of all of them, the scope of monitors, and a target", () => {
    expect(contract.result).toBe(MONITOR_RESULT);
    expect(contract.scope).toBe("monitors");
    expect(Object.keys(contract.params.properties)).toContain(contract.target?.param);
    expect(contract.open).toBeUndefined();
    expect(contract.cacheMs).toBeUndefined();
  });

  it("keeps time for the agent's test of its own network after the time of the target", () => {
    const params = { timeout_seconds: 7 } as never;
    expect(contract.deadlineMs(params) - (contract.reserveMs ?? 0)).toBe(7_000);
    expect(contract.reserveMs).toBeGreaterThanOrEqual(2_000);
  });
});
